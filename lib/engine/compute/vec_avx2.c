/* vec.h for AVX2 with FMA and F16C. */
#define TABLE attn_vec_avx2
#include "compute/vec_body.h"
