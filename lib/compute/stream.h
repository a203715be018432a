/* stream.h - products of few rows, as in decoding, which take as long as it takes to read the weight from memory.
 *
 * The weight is read once, in the longest possible stretches, as memory is faster so than in panels of 64 columns.
 * Sums follow the chain rule of gemm.h. */
#ifndef ATTN_COMPUTE_STREAM_H
#define ATTN_COMPUTE_STREAM_H

#include "compute/mat.h"

/* sum[n, ld] = x w for the columns of panels j0..j1, n at most ATTN_STREAM; with x in pairs (pairs.h), n at most
 * ATTN_PAIRS_LONE and at most ATTN_PAIRS_WIDTH columns.  Returns how many panels it summed: not the incomplete last panel of a
 * weight that is stored [in, out]. */
size_t attn_stream_sum(float *sum, size_t ld, const float *x, size_t ldx, size_t n, const struct attn_mat *w, size_t j0, size_t j1,
                       bool in_pairs);

#endif
