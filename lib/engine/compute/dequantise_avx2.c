/* dequantise.h for AVX2 with FMA and F16C. */
#define TABLE attn_dequantise_avx2
#include "compute/dequantise_body.h"
