/* vec.h for WebAssembly, with the bits of fused multiply-adds (fused.h). */
#define TABLE attn_vec_wasm
#include "compute/vec_body.h"
