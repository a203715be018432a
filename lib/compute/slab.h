/* slab.h - a weight cut into slabs of 64 columns and some steps of k, as the inner loops want them. */
#ifndef ATTN_COMPUTE_SLAB_H
#define ATTN_COMPUTE_SLAB_H

#include "compute/mat.h"
#include "compute/vec.h"

enum {
    ATTN_SLAB = 128,                    /* steps at most of one that is copied: 32 KB, in the first-level cache */
    /* Rows of x whose products take less time than the copy saves: rows of a weight often lie so far apart that a slab's
     * push each other out of the cache, where those of a copy stay. */
    ATTN_SLAB_FEW = 6
};

/* Columns j.. of a panel, steps k.. of the chain. */
struct attn_slab { size_t j, cols, k, K; };

/* Of at most `depth` steps. */
struct attn_slab attn_slab_of(const struct attn_mat *w, size_t panel, size_t k, size_t depth);
/* Where part `part` of so many of its rows lie, but for places that are not side by side. */
struct attn_ahead attn_slab_memory(const struct attn_mat *w, const struct attn_slab *s, size_t part, size_t parts);

/* It has all 64 columns, in rows, and is not `round`ed to bf16. */
bool attn_slab_whole(const struct attn_mat *w, const struct attn_slab *s, bool round);
/* [K, 64] of float32, zeros to the right of the last column: where it lies in the file or, where that would not do or not pay
 * for `rows` rows, in copy[ATTN_SLAB * 64], rounded to bf16 when `round`. */
struct attn_floats { const float *at; size_t ld; };
struct attn_floats attn_slab_floats(float *copy, const struct attn_mat *w, const struct attn_slab *s, size_t rows, bool round);

#endif
