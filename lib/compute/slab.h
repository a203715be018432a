/* slab.h - cuts a weight into slabs of 64 columns and some steps of k, as kernels read them. */
#ifndef ATTN_COMPUTE_SLAB_H
#define ATTN_COMPUTE_SLAB_H

#include "compute/vec.h"

enum { ATTN_SLAB = 128 };               /* most steps of a slab that is copied: 32 KB, in the L1 cache */

/* Columns j .. j + cols (at most 64, but where it is only prefetched), steps k .. k + K. */
struct attn_slab { size_t j, cols, k, K; };

/* The slab of a panel that begins at step k, of at most `depth` steps. */
struct attn_slab attn_slab_of(const struct attn_mat *w, size_t panel, size_t k, size_t depth);
/* The memory of the slab's stored rows, or of one part of `parts` of them, for prefetching.  It is exact only where rows are
 * evenly spaced, not where a matrix is interleaved (weights.h). */
struct attn_prefetch attn_slab_memory(const struct attn_mat *w, const struct attn_slab *s, size_t part, size_t parts);

/* Copies the slab to copy[K, 64] in float32, with zeros to the right of the last column; rounded to bf16 if `round`. */
void attn_slab_copy(float *copy, const struct attn_mat *w, const struct attn_slab *s, bool round);
/* The same without a copy if the slab can be read in the file. */
struct attn_floats { const float *at; size_t ld; };
struct attn_floats attn_slab_floats(float *copy, const struct attn_mat *w, const struct attn_slab *s, bool round);

#endif
