/* array.h - numbers with a shape, as readers of dumps give them: row-major float32, owned. */
#ifndef ATTN_IO_ARRAY_H
#define ATTN_IO_ARRAY_H

#include "attn.h"

enum { ATTN_ARRAY_DIMS = 8 };

struct attn_array { int ndim; size_t shape[ATTN_ARRAY_DIMS], n; float *data; };     /* data: free() */

#endif
