/* vec.h for AVX-512 (F, BW, DQ, VL). */
#define TABLE attn_vec_avx512
#include "compute/vec_body.h"
