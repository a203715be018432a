/* decode.h for AVX2 with FMA and F16C. */
#define TABLE attn_decode_avx2
#include "compute/decode_body.h"
