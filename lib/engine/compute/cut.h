/* cut.h - divides a product into work items for the threads: macro tiles, some rows of x times some panels of a weight,
 * or parts of them.
 *
 * Large items read x and the weights less often; many small items keep all threads busy.  So items are as large as the
 * caches allow, except the last ones of each worker's share, which are smaller: workers that finish early take some of
 * these from others, and all finish at about the same time. */
#ifndef ATTN_COMPUTE_CUT_H
#define ATTN_COMPUTE_CUT_H

#include "compute/weights.h"

/* One weight and where its product goes.  prepacked: whether its panels are read (panels.h); panels: how many it has;
 * width: panels of a macro tile; first: number of its first macro tile among those of all outputs. */
struct attn_gemm_output {
    float *y; size_t ldy; const struct attn_mat *w;
    bool prepacked;
    size_t panels, width, first;
};

/* The most a macro tile may have: rows (whole tiles of `tile` rows), panels, steps of k at a time.  items: how many
 * each worker should get at least; fine: into how many parts the last macro tile of its share is cut.  least: how few
 * rows an item may have where there are too few panels for all workers; 0: then some have nothing to do. */
struct attn_cut_sizes { size_t rows, tile, panels, depth, items, fine, least; };

struct attn_cut {
    const struct attn_cut_sizes *most;
    struct attn_gemm_output *out; size_t outs;
    size_t n, workers;                  /* rows of x; threads */

    size_t rows, macro_tiles;           /* rows of a macro tile; macro tiles side by side, of all outputs */
    size_t shares, parts, items;        /* shares of workers; parts of each share's last macro tile; all items */
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
