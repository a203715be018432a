/* gemm_item.h - one work item of a product: some rows of x times some panels of a weight.
 *
 * Kernels read a panel prepacked (panels.h), or packed K block by K block, or, if it is small, where it is stored; few
 * rows stream a large weight (stream.c).  Each way adds up the same chains (gemm.h).  gemm.c chooses the blocking and
 * cuts the product into items; epilogue.c finishes an item. */
#ifndef ATTN_COMPUTE_GEMM_ITEM_H
#define ATTN_COMPUTE_GEMM_ITEM_H

#include "compute/cut.h"
#include "compute/gemm.h"

enum {
    ATTN_ITEM_PANELS = 64,              /* most panels of an item */
    ATTN_ITEM_PACKED = 256 * ATTN_PANEL /* floats, or words, of a panel that are packed at a time: 64 KB */
};

/* Whether a weight stays in the cache from one pass to the next, so that no product waits for it. */
static inline bool attn_mat_small(const struct attn_mat *w)
{
    return attn_dtype_bytes(w->type, w->in * w->out) <= 256 << 10;
}

/* How a product is cut into items, whether x is in pairs, and for AMX, whether so few rows stream a weight that is not
 * prepacked, and how many steps of a prepacked panel are multiplied at a time. */
struct attn_blocking {
    struct attn_cut_sizes sizes;
    bool in_bf16, amx, streamed;
    size_t prepacked_depth;             /* 0: all */
};

/* The product of the same x with some weights. */
struct attn_joint_product {
    const struct attn_team *team;       /* has room for sums */
    const struct attn_blocking *blocking;
    struct attn_cut cut;
    const float *x; size_t ldx;         /* in pairs: counted in words */
    size_t in;                          /* steps of k */
    enum attn_epilogue epilogue;
    bool bf16;
    float *y_bf16;                      /* rounded numbers in place of y; NULL: y */
};

/* One item and its sums so far, [i1 - i0, ld].  They are not kept in y, whose rows may be so far apart that they map
 * to the same cache sets and evict each other.  depth: steps of a panel that are multiplied at a time. */
struct attn_item_sums { const struct attn_joint_product *p; struct attn_gemm_item it; float *sum; size_t ld, depth; };

/* Computes item n of the joint product that ctx points to, for a team. */
void attn_gemm_item(void *ctx, size_t n, int worker);
/* Sums up the item's first panels where that is faster than by kernels; returns how many these are. */
size_t attn_item_stream(const struct attn_item_sums *o);
/* Adds bias, activates, adds or stores the sums. */
void attn_item_epilogue(const struct attn_item_sums *o);

#endif
