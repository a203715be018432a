/* decode.h for AVX-512. */
#define TABLE attn_decode_avx512
#include "compute/decode_body.h"
