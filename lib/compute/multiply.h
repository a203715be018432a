/* multiply.h - products of numbers that are in the cache, or arrive there meanwhile: by libxsmm's kernels, else by
 * plain loops.
 *
 *     y[n, cols] (+)= x[n, K] w[K, cols]
 *
 * A kernel is looked up once for many rows.  Between the calls for them, `prefetch` is fetched; for few rows
 * there is no time for that, and kernels prefetch what lies like w themselves. */
#ifndef ATTN_COMPUTE_MULTIPLY_H
#define ATTN_COMPUTE_MULTIPLY_H

#include "compute/vec.h"

/* The operands; ld in floats or, in bf16, in words of two (bf16.h), as K below.  more: y is added to.
 * next: what is multiplied later and lies like w, to be prefetched; NULL: there is none.
 * by_loops: by plain loops in any case, which prefetch in every step. */
struct attn_operands {
    float *y; size_t ldy; const float *x; size_t ldx; const float *w; size_t ldw;
    bool more, in_bf16, by_loops;
    const float *next;
};

/* cols is 64 or, in float32, for what is narrower, a multiple of 16.  Plain loops read and write 64 columns in any
 * case. */
void attn_multiply(const struct attn_operands *o, size_t n, size_t cols, size_t K, struct attn_prefetch *prefetch);

/* Whether kernels, where there are any, multiply n rows.  One row waits for memory.  In bf16, between the calls for
 * less than MANY rows there is too little time to prefetch: 16 rows take 1.2 times as long as by plain loops; and for
 * AMX, libxsmm 1.17 has no kernels. */
enum { ATTN_MANY_BF16 = 32 };
bool attn_multiply_by_kernels(size_t n, bool in_bf16);

/* Counts multiply-adds of two rows and more (attn_products_by_libxsmm); the functions above do so themselves. */
void attn_multiply_counts(bool by_kernel, uint64_t multiply_adds);

#endif
