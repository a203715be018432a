/* vec.h for any x86-64. */
#define TABLE attn_vec_generic
#include "compute/vec_body.h"
