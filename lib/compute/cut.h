/* cut.h - a product cut into items that threads take: some rows of x with some panels of a weight.
 *
 * Large items read x and weights less often, many items keep all threads busy.  So items are as large as caches like, but
 * for the last ones of each worker's share, which are finer: whoever is early takes some of them from another, and all end
 * at about the same time. */
#ifndef ATTN_COMPUTE_CUT_H
#define ATTN_COMPUTE_CUT_H

#include "compute/mat.h"

/* One weight and what it gives: its panels, those of a strip, the number of its first strip. */
struct attn_output { float *y; size_t ldy; const struct attn_mat *w; size_t panels, strip, first; };

/* How large an item may be: rows in whole tiles, a strip of panels, steps of k at a time; how many a worker should find at
 * least, and into how many parts the last of its share is cut. */
struct attn_cut_sizes { size_t rows, tile, strip, depth, items, fine; };

struct attn_cut {
    const struct attn_cut_sizes *most;
    struct attn_output *out; size_t outs;
    size_t n, workers;                  /* rows */

    size_t rows, strips;                /* rows of an item; strips side by side */
    size_t shares, parts, items;        /* of workers; of the last strip of each; all of them */
};
/* From what is above the empty line what is below it, and how each output is cut. */
void attn_cut_share(struct attn_cut *c);

/* Rows i0..i1, panels j0..j1 of an output: perhaps none. */
struct attn_item { size_t n /* -th */; const struct attn_output *to; size_t i0, i1, j0, j1; };
struct attn_item attn_cut_item(const struct attn_cut *c, size_t n);
/* Whoever has done it has no next one of its own. */
bool attn_cut_ends_share(const struct attn_cut *c, size_t n);
/* The columns that there are of those panels. */
size_t attn_item_columns(const struct attn_item *it);

#endif
