/* sparse.h - the steps of attention.h for kinds that pick some keys: each row gathers its own.
 *
 * Unless somebody looks, a row of m holds as many numbers as keys were picked, one beside the other, and keys
 * that were not cost nothing.  Where somebody does, rows are written out over all keys in between, and the numbers
 * are the same. */
#ifndef ATTN_COMPUTE_SPARSE_H
#define ATTN_COMPUTE_SPARSE_H

#include "compute/attention.h"

/* Numbers in spare.x; spare.list and spare.swaps have room for all positions. */
size_t attn_sparse_spare(size_t keys, size_t dh, size_t dv);

void attn_sparse_dots(const struct attn_head *h, const struct attn_band *b);
void attn_sparse_scores(const struct attn_head *h, const struct attn_band *b);
struct attn_empty attn_sparse_pattern(const struct attn_head *h, const struct attn_band *b);
void attn_sparse_context(const struct attn_head *h, const struct attn_band *b);

#endif
