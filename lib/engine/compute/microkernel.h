/* microkernel.h - small matrix products by libxsmm, whose generator writes machine code for each shape in some
 * microseconds.
 *
 *     y[rows, cols] (+)= x[rows, K] w[K, cols]
 *
 * They are batch-reduce kernels: K is a multiple of the steps they are made for, and sums stay in registers from the
 * first step to the last.  A kernel keeps the summation order (gemm.h): libxsmm 1.17 does so for these widths on AVX2,
 * for 32 columns and more on AVX-512, and with vdpbf16ps for 64 columns.  Kernels need no libxsmm_init, which would map
 * 10 MB and open a file in /tmp.  They are written through one mapping of memory and run through another, so that no
 * page is ever both writable and executable.  A process keeps every kernel it has made, up to a bound, and a forked
 * child goes on in memory of its own. */
#ifndef ATTN_COMPUTE_MICROKERNEL_H
#define ATTN_COMPUTE_MICROKERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* y += x w; x and w are words of two bf16 numbers (bf16.h). */
enum { ATTN_KERNEL_ADDS = 1, ATTN_KERNEL_BF16 = 2 };

/* cols: 16, 32, 48 or 64.  steps, ldx and ldw count floats or words. */
struct attn_shape { uint32_t rows, steps, ldx, ldw, ldy; uint16_t cols, flags; };
/* times: K / steps, one or more. */
typedef void attn_microkernel(const float *w, const float *x, float *y, const unsigned long long *times);

/* The kernel of a shape, made when it is first asked for, by any thread.  NULL: there is none on this machine, or the
 * bound is reached; plain loops compute the same bits wherever there is fused multiply-add. */
attn_microkernel *attn_microkernel_of(const struct attn_shape *s);
/* Called when kernels were, before anything else computes. */
void attn_microkernel_leave(void);

/* The instructions of kernels: "avx512" or "avx2"; NULL: there are none, and *why says why. */
const char *attn_microkernel_target(const char **why);
const char *attn_microkernel_library(void);     /* whose kernels they are, with its version */
/* How many kernels there are, and the bytes of memory they take. */
struct attn_microkernel_count { size_t kernels, bytes; };
struct attn_microkernel_count attn_microkernel_counted(void);
/* Lets products have kernels or not, for tests.  False: this machine has none. */
bool attn_microkernel_choose(bool kernels);

#endif
