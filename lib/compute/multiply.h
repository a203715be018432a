/* multiply.h - products of numbers that are in the cache, or arrive there meanwhile: by libxsmm's kernels, else by plain loops.
 *
 *     y[n, cols] (+)= x[n, K] w[K, cols]
 *
 * A kernel is looked up once for many rows.  Between the calls for them, `prefetch` is fetched; for few rows
 * there is no time for that, and kernels prefetch what lies like w themselves. */
#ifndef ATTN_COMPUTE_MULTIPLY_H
#define ATTN_COMPUTE_MULTIPLY_H

#include "compute/vec.h"

/* The operands; ld in floats or, in bf16, in words of two (bf16.h).  more: y is added to.
 * next: what is multiplied later and lies like w, to be prefetched; NULL: there is none. */
struct attn_operands { float *y; size_t ldy; const float *x; size_t ldx; const float *w; size_t ldw; bool more; const float *next; };

/* In float32; cols is 64 or, for what is narrower, a multiple of 16.  Plain loops read and write 64 columns in any case. */
void attn_multiply(const struct attn_operands *o, size_t n, size_t cols, size_t K, struct attn_prefetch *prefetch);
/* The same of 64 columns by plain loops, which prefetch in every step. */
void attn_multiply_by_loops(const struct attn_operands *o, size_t n, size_t K, struct attn_prefetch *prefetch);
/* The same in bf16, of 64 columns: by kernels from MANY rows on; by AMX, for which libxsmm 1.17 has none, where that multiplies
 * (bf16.h). */
enum { ATTN_MANY_BF16 = 32 };
void attn_multiply_bf16(const struct attn_operands *o, size_t n, size_t words, struct attn_prefetch *prefetch);

/* Counts multiply-adds of two rows and more (attn_products_by_libxsmm); the functions above do so themselves. */
void attn_multiply_counts(bool by_kernel, uint64_t multiply_adds);

#endif
