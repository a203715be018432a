/* k_block.h - cuts a weight into K blocks of 64 columns and some steps of k, as kernels read them. */
#ifndef ATTN_COMPUTE_K_BLOCK_H
#define ATTN_COMPUTE_K_BLOCK_H

#include "compute/vec.h"

enum { ATTN_K_BLOCK = 128 };               /* most steps of a K block that is copied: 32 KB, in the L1 cache */

/* Columns j .. j + cols (at most 64, but where it is only prefetched), steps k .. k + K. */
struct attn_k_block { size_t j, cols, k, K; };

/* The K block of a panel that begins at step k, of at most `depth` steps. */
struct attn_k_block attn_k_block_of(const struct attn_mat *w, size_t panel, size_t k, size_t depth);
/* The memory of the K block's stored rows, or of one part of `parts` of them, for prefetching.  It is exact only
 * where rows are evenly spaced, not where a matrix is interleaved (weights.h). */
struct attn_prefetch attn_k_block_memory(const struct attn_mat *w, const struct attn_k_block *s, size_t part,
                                         size_t parts);

/* Copies the K block to copy[K, 64] in float32, or rounded to bf16 if `round`; columns right of the last are 0. */
void attn_k_block_copy(float *copy, const struct attn_mat *w, const struct attn_k_block *s, bool round);
/* The same without a copy if the K block can be read in the file. */
struct attn_floats { const float *at; size_t ld; };
struct attn_floats attn_k_block_floats(float *copy, const struct attn_mat *w, const struct attn_k_block *s, bool round);

#endif
