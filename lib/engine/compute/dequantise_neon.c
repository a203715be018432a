/* dequantise.h for NEON, with fused multiply-adds. */
#define TABLE attn_dequantise_neon
#include "compute/dequantise_body.h"
