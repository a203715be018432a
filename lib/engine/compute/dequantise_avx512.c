/* dequantise.h for AVX-512. */
#define TABLE attn_dequantise_avx512
#include "compute/dequantise_body.h"
