/* gemm.h - products with a weight as it lies in the file.
 *
 * The chain rule: each element of a product is one chain of fused multiply-adds over k, ascending,
 * from 0; the bias is added once, afterwards.  That is what a plain loop over fmaf computes, and
 * neither tile, number of rows, threads, copy of a panel or none, libxsmm kernel or our own, AVX2 or
 * AVX-512 changes a bit of it.  (Processors without fused multiply-add round twice in each step.)
 *
 * How: 64 columns of W are a panel, some 128 steps of k a slab of it, copied to the thread's stack: by the
 * first rows of x, which read it where it lies.  While the slabs of some panels side by side are multiplied
 * the next steps of all of them are fetched, in stretches as long as they lie together, and what comes next
 * of x and y.  For very few rows of x whole rows of W are read instead, in the order they lie (stream.h): few
 * rows run at the speed of memory, many at that of arithmetic.  The inner loop is in kernel.h, what threads take in
 * cut.h.
 *
 * In bf16, x and w are rounded to it, to nearest even; a weight that is stored so loses nothing.
 * Then the chain goes over the rounded numbers, in float32 as before, or pairs.h multiplies them where
 * the processor is faster at that, a chunk of W at a time (chunk.h).  Either way an element's bits depend on its
 * row and column alone. */
#ifndef ATTN_COMPUTE_GEMM_H
#define ATTN_COMPUTE_GEMM_H

#include "base/team.h"
#include "compute/mat.h"

/* What becomes of s = x w + bias while it is still at hand. */
enum attn_tail {
    ATTN_STORE,                         /* y = s */
    ATTN_ADD,                           /* y = y + s */
    ATTN_THEN_GELU, ATTN_THEN_GELU_NEW, /* y = gelu(s) */
    ATTN_THEN_SILU                      /* y = silu(y) * s */
};
/* y[n, out] from x[n, in]; ld in floats.  rounded: room for [n + MORE, in + MORE], to compute in bf16; NULL: in
 * float32. */
enum { ATTN_GEMM_MORE = 15 };
void attn_gemm(struct attn_team *t, float *y, size_t ldy, const float *x, size_t ldx,
               size_t n, const struct attn_mat *w, enum attn_tail tail, float *rounded);

/* The same of several weights, at most EACH, that read the same x, at once. */
enum { ATTN_GEMM_EACH = 3 };
struct attn_product { float *y; size_t ldy; const struct attn_mat *w; };
void attn_gemm_each(struct attn_team *t, const struct attn_product *each, size_t outs, const float *x, size_t ldx, size_t n,
                    enum attn_tail tail, float *rounded);

#endif
