/* kernel.h - the inner loop of products in float32, libxsmm's or our own: both keep the chain (gemm.h).
 *
 * In large passes libxsmm's kernels, which keep it when they are asked for exactly 64 columns, take many of the rows; the
 * rest, and all where it is not started, is our own loop's, which fetches for all what comes next. */
#ifndef ATTN_COMPUTE_KERNEL_H
#define ATTN_COMPUTE_KERNEL_H

#include "compute/vec.h"

/* Starting libxsmm costs 1 to 5 ms and 16 MB of address space.  Call once before the products of a
 * run with the operations they take: it is started when that pays. */
void attn_kernel_prepare(double flops);

/* y[n, 64] (+)= x[n, K] w[K, 64], while `ahead` comes nearer */
void attn_kernel_multiply(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                          size_t n, size_t K, bool more, struct attn_ahead *ahead);
/* libxsmm would take some of so many rows. */
bool attn_kernel_shares(size_t n);

enum attn_kernel { ATTN_KERNEL_AUTO, ATTN_KERNEL_OWN, ATTN_KERNEL_LIBXSMM };
/* For tests and benches.  False: libxsmm has no kernels here. */
bool attn_kernel_choose(enum attn_kernel k);

#endif
