/* gemm.h - matrix products with a weight that is read where it is stored in the mapped file, or from a copy in panels.
 *
 * The summation order: each element of a product is one chain of fused multiply-adds over k, ascending,
 * from 0; the bias is added once, afterwards.  That is what a plain loop over fmaf computes, and no
 * bit of it depends on tiles, the number of rows, threads, whether a panel is copied, libxsmm's kernels
 * or plain loops, AVX2 or AVX-512.  (Processors without fused multiply-add round twice in each step.)
 *
 * How: 64 columns of W are a panel.  A work item is some rows of x times one panel (cut.h, gemm_item.h).  libxsmm's
 * kernels (multiply.h) keep sums in registers from the first step of k to the last where the panel was copied
 * beforehand (panels.h); else some steps at a time are packed and multiplied.  The first of some rows pack a large
 * weight stored [in, out] while they multiply, and prefetch what is packed next.  Very few rows wait for memory, and
 * read whole rows of a large W in the order of the file (stream.c).
 *
 * In bf16, x and w are rounded to nearest even; a weight stored in bf16 loses nothing.  The rounded
 * numbers are multiplied by the same chains in float32 or, where the processor has faster instructions
 * for bf16, by bf16.h, a chunk of W at a time.  Either way the bits of an element depend only on
 * its row of x and its column of w. */
#ifndef ATTN_COMPUTE_GEMM_H
#define ATTN_COMPUTE_GEMM_H

#include "base/team.h"
#include "compute/vec.h"

/* What is done with s = x w + bias while it is still in the cache. */
enum attn_epilogue {
    ATTN_STORE,                         /* y = s */
    ATTN_ADD,                           /* y = y + s */
#define ATTN_THEN(id, ...) ATTN_THEN_##id,
    ATTN_MLPS(ATTN_THEN, ATTN_THEN)     /* y = op(s), or op(y, s) with a gate (mlp.h) */
#undef ATTN_THEN
};
static inline enum attn_epilogue attn_epilogue_of(enum attn_mlp_kind kind)
{
    return kind ? ATTN_ADD + kind : ATTN_STORE;
}
static inline enum attn_mlp_kind attn_epilogue_mlp(enum attn_epilogue epilogue)
{
    return epilogue > ATTN_ADD ? epilogue - ATTN_ADD : ATTN_MLP_NONE;
}

/* Computes y[n, out] from x[n, in], with a team, if of one; ld in floats.  rounded: scratch for [n + MORE, in + MORE]
 * floats, to compute in bf16; NULL: computes in float32. */
enum { ATTN_GEMM_MORE = 15 };
void attn_gemm(struct attn_team *t, float *y, size_t ldy, const float *x, size_t ldx,
               size_t n, const struct attn_mat *w, enum attn_epilogue epilogue, float *rounded);

/* In bf16, numbers that only products read are best rounded as soon as they are made, and kept only so, in scratch
 * like `rounded`, but another.  x_bf16: x, rounded already.  y_bf16: where the product puts y rounded, after an
 * activation; what is in y does not count then.  NULL: not so. */
struct attn_bf16_operands { const float *x_bf16; float *y_bf16; };

/* The same for several weights (at most EACH) that are multiplied with the same x: threads share all of it in one go.
 * bf16: NULL: neither x nor y is rounded beforehand. */
enum { ATTN_GEMM_EACH = 3 };
struct attn_product { float *y; size_t ldy; const struct attn_mat *w; };
void attn_gemm_each(struct attn_team *t, const struct attn_product *each, size_t outs, const float *x, size_t ldx,
                    size_t n, enum attn_epilogue epilogue, float *rounded, const struct attn_bf16_operands *bf16);

/* Which share of the products of n rows with such a weight libxsmm's kernels compute: most or none. */
double attn_gemm_share(size_t n, const struct attn_mat *w, bool bf16);

/* Puts n rounded numbers into row i of scratch for x [.., in], from column k on, which is a multiple of STEP; the
 * last ones of a row must be put in one go with those before them from such a multiple on. */
enum { ATTN_ROUND_STEP = 32 };
void attn_gemm_round(float *rounded, size_t in, size_t i, size_t k, const float *x, size_t n);
/* Row `to` becomes what row `from` is. */
void attn_gemm_move(float *rounded, size_t in, size_t to, size_t from);

#endif
