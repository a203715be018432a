/* stream.h - products of few rows, which take as long as the weight takes to come from memory: decoding.
 *
 * A weight is read once, as it lies, in stretches as long as there are: memory is faster so than in panels of 64
 * columns.  Sums are the chains of gemm.h. */
#ifndef ATTN_COMPUTE_STREAM_H
#define ATTN_COMPUTE_STREAM_H

#include "compute/mat.h"

/* sum[n, ld] = x w, n at most ATTN_STREAM, for columns of panels j0..j1; or of x in pairs (pairs.h), n at
 * most ATTN_PAIRS_LONE, and at most ATTN_PAIRS_WIDTH columns.  Returns how many panels those are that it summed: of a weight
 * whose rows are its inputs, columns that fill none are left. */
size_t attn_stream_sum(float *sum, size_t ld, const float *x, size_t ldx, size_t n, const struct attn_mat *w, size_t j0, size_t j1,
                       bool in_pairs);

#endif
