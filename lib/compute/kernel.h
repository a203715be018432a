/* kernel.h - the micro-kernel of products in float32, libxsmm's or our own: both follow the chain rule (gemm.h).
 *
 * libxsmm's kernels follow it if they are asked for exactly 64 columns.  In large passes they take most of the rows.  Our
 * own kernel takes the others, or all where libxsmm is not started; it also prefetches for all rows what comes next. */
#ifndef ATTN_COMPUTE_KERNEL_H
#define ATTN_COMPUTE_KERNEL_H

#include "compute/vec.h"

/* Call this before the products of a run, with the operations they take.  Starting libxsmm costs 1 to 5 ms
 * and 16 MB of address space, so it is started only when that pays. */
void attn_kernel_prepare(double flops);

/* y[n, 64] (+)= x[n, K] w[K, 64], while `ahead` is prefetched. */
void attn_kernel_multiply(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                          size_t n, size_t K, bool more, struct attn_ahead *ahead);
/* Whether libxsmm would take some of n rows. */
bool attn_kernel_shares(size_t n);

enum attn_kernel { ATTN_KERNEL_AUTO, ATTN_KERNEL_OWN, ATTN_KERNEL_LIBXSMM };
/* Forces one kernel, for tests and benches.  False: libxsmm has no kernels for this machine. */
bool attn_kernel_choose(enum attn_kernel k);

#endif
