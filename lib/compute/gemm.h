/* gemm.h - products with a weight as it lies in the file.
 *
 * The chain rule: each element of a product is one chain of fused multiply-adds over k, ascending,
 * from 0; the bias is added once, afterwards.  That is what a plain loop over fmaf computes, and
 * neither tile, number of rows, threads, copy of a panel or none, libxsmm kernel or our own, AVX2 or
 * AVX-512 changes a bit of it.  (Processors without fused multiply-add round twice in each step.)
 *
 * How: 64 columns of W are a panel.  libxsmm's kernels keep the chain when they are asked for
 * exactly 64, so what is narrower, transposed or 16 bits wide is copied to a zero-padded panel in
 * the thread's stack, some hundred rows of k at a time; few rows read a plain f32 weight in place. */
#ifndef ATTN_COMPUTE_GEMM_H
#define ATTN_COMPUTE_GEMM_H

#include "base/team.h"
#include "compute/mat.h"

/* y[n, out] = x[n, in] w + bias; ld in floats. */
void attn_gemm(struct attn_team *t, float *y, size_t ldy, const float *x, size_t ldx,
               size_t n, const struct attn_mat *w);

/* Starting libxsmm costs 1 to 5 ms and 16 MB of address space.  Call once before the products of a
 * run with the operations they take: it is started when that pays.  Without it our own loop
 * serves, with the same bits. */
void attn_gemm_prepare(double flops);

enum attn_gemm_kernel { ATTN_KERNEL_AUTO, ATTN_KERNEL_OWN, ATTN_KERNEL_LIBXSMM };
/* For tests and benches.  False: libxsmm has no kernels here. */
bool attn_gemm_choose(enum attn_gemm_kernel k);

#endif
