/* dequantise.h for WebAssembly, with the bits of fused multiply-adds (fused.h). */
#define TABLE attn_dequantise_wasm
#include "compute/dequantise_body.h"
