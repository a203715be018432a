/* cut.h - divides a product into items for the threads: some rows of x times some panels of a weight.
 *
 * Large items read x and the weights less often; many small items keep all threads busy.  So items are as large as the
 * caches allow, except the last ones of each worker's share, which are smaller: workers that finish early take some of
 * these from others, and all finish at about the same time. */
#ifndef ATTN_COMPUTE_CUT_H
#define ATTN_COMPUTE_CUT_H

#include "compute/weights.h"

/* One weight and where its product goes.  prepacked: whether its panels are read (panels.h); panels: how many it has; strip: panels
 * of a strip; first: number of its first strip among those of all outputs. */
struct attn_gemm_output { float *y; size_t ldy; const struct attn_mat *w; bool prepacked; size_t panels, strip, first; };

/* The most an item may have: rows (whole tiles of `tile` rows), panels of a strip, steps of k at a time.  items: how many each
 * worker should get at least; fine: into how many parts the last strip of its share is cut.  least: how few rows an item may have
 * where there are too few panels for all workers; 0: then some have nothing to do. */
struct attn_cut_sizes { size_t rows, tile, strip, depth, items, fine, least; };

struct attn_cut {
    const struct attn_cut_sizes *most;
    struct attn_gemm_output *out; size_t outs;
    size_t n, workers;                  /* rows of x; threads */

    size_t rows, strips;                /* rows of an item; strips side by side, of all outputs */
    size_t shares, parts, items;        /* shares of workers; parts of the last strip of each share; items in all */
};
/* Computes the members below the empty line from those above it, and how each output is cut. */
void attn_cut_share(struct attn_cut *c);

/* Item n: rows i0..i1 and panels j0..j1 (perhaps none) of one output. */
struct attn_gemm_item { size_t n /* -th */; const struct attn_gemm_output *to; size_t i0, i1, j0, j1; };
struct attn_gemm_item attn_cut_item(const struct attn_cut *c, size_t n);
/* Whether item n is the last of a worker's share. */
bool attn_cut_ends_share(const struct attn_cut *c, size_t n);
/* How many columns its panels have: the weight's last panel may be incomplete. */
size_t attn_item_columns(const struct attn_gemm_item *it);

#endif
