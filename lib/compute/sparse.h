/* sparse.h - kinds that pick some keys: each row gathers its own, and keys that were not picked cost nothing.
 *
 * Where somebody looks, rows are written out over all keys, and the numbers are the same: those that were picked
 * are gathered from them again. */
#ifndef ATTN_COMPUTE_SPARSE_H
#define ATTN_COMPUTE_SPARSE_H

#include "compute/attention.h"

/* Numbers in spare.x; spare.list and spare.swaps have room for all positions. */
size_t attn_sparse_spare(size_t keys, size_t dh, size_t dv);

/* From queries to contexts; rows that see nothing. */
struct attn_empty attn_sparse_rows(const struct attn_head *h, const struct attn_band *b);

/* The steps of attention.h, after dots and scores. */
struct attn_empty attn_sparse_pattern(const struct attn_head *h, const struct attn_band *b);
void attn_sparse_context(const struct attn_head *h, const struct attn_band *b);

#endif
