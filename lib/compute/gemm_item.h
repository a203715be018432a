/* gemm_item.h - one item of a product is summed up: some rows of x times some panels of a weight.
 *
 * There is a way for each form in which a weight is read, and one for few rows.  Each adds up the same chains (gemm.h), and asks
 * for the memory of what comes next while it multiplies.  gemm.c chooses the way, cuts the product and finishes its items. */
#ifndef ATTN_COMPUTE_GEMM_ITEM_H
#define ATTN_COMPUTE_GEMM_ITEM_H

#include "compute/cut.h"
#include "compute/gemm.h"

enum { ATTN_FEW = 12 };                 /* most rows for which kernels prefetch a weight themselves */

/* Whether a weight stays in the cache from one pass to the next, so that no product waits for it. */
static inline bool attn_mat_small(const struct attn_mat *w)
{
    return w->in * w->out * attn_dtype_size(w->type) <= 256 << 10;
}

struct attn_item_sums;

/* How a product is cut into items, the way one of them is summed up, whether x is in pairs, and how many steps of a panel that is
 * a copy already are multiplied at a time. */
struct attn_blocking {
    struct attn_cut_sizes sizes;
    void (*sum_up)(const struct attn_item_sums *o);
    bool in_bf16;
    size_t panelled;                    /* 0: only a single row reads copies, all at once */
};

/* The product of the same x with some weights. */
struct attn_joint_product {
    const struct attn_blocking *blocking;
    struct attn_cut cut;
    const float *x; size_t ldx;         /* in pairs: counted in words */
    size_t in;                          /* steps of k */
    enum attn_epilogue epilogue;
    bool bf16;
    float *y_bf16;                      /* rounded numbers in place of y; NULL: y */
};

/* One item and its sums so far, [i1 - i0, ld].  They are not kept in y, whose rows may be so far apart that they map to the
 * same cache sets and evict each other. */
struct attn_item_sums { const struct attn_joint_product *p; struct attn_gemm_item it; float *sum; size_t ld; };

void attn_sum_up_slabs(const struct attn_item_sums *o);     /* of a weight as it is stored, in float32 ... */
void attn_sum_up_bf16(const struct attn_item_sums *o);      /* ... and in pairs */
void attn_sum_up_panels(const struct attn_item_sums *o);    /* of a weight's panels */
void attn_sum_up_few(const struct attn_item_sums *o);       /* of few rows: as fast as memory gives the weight */

#endif
