/* vec.h for NEON, with fused multiply-adds. */
#define TABLE attn_vec_neon
#include "compute/vec_body.h"
