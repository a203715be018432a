/* vec.h for any processor. */
#define TABLE attn_vec_generic
#include "compute/vec_body.h"
