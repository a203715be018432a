/* sparse.h - attention of kinds that pick some keys: each row gathers its own keys, so the others cost nothing.
 *
 * For observers, rows are written out over all keys.  The results are the same, since contexts are computed from the
 * numbers of the picked keys, gathered from these rows. */
#ifndef ATTN_COMPUTE_SPARSE_H
#define ATTN_COMPUTE_SPARSE_H

#include "compute/attention.h"

/* How many floats are needed in spare.x; spare.list and spare.swaps need room for all positions. */
size_t attn_sparse_spare(size_t keys, size_t dh, size_t dv);

/* Computes contexts from queries in one step; returns the rows that see nothing. */
struct attn_found attn_sparse_rows(const struct attn_head *h, const struct attn_band *b);

/* For observers: the steps that follow the dots and scores of attention.h. */
struct attn_found attn_sparse_pattern(const struct attn_head *h, const struct attn_band *b);
void attn_sparse_context(const struct attn_head *h, const struct attn_band *b);

#endif
