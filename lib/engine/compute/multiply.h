/* multiply.h - products of numbers that are in the cache, or that the hardware fetches: by libxsmm's kernels, else by
 * plain loops.
 *
 *     y[n, cols] (+)= x[n, K] w[K, cols] */
#ifndef ATTN_COMPUTE_MULTIPLY_H
#define ATTN_COMPUTE_MULTIPLY_H

#include "compute/microkernel.h"
#include "compute/vec.h"

/* The operands; ld in floats or, in bf16, in words of two (bf16.h), as K below.  more: y is added to. */
struct attn_operands {
    float *y; size_t ldy; const float *x; size_t ldx; const float *w; size_t ldw;
    bool more, in_bf16;
};

/* Whether kernels, where there are any, multiply n rows: one waits for memory, and for AMX libxsmm 1.17 has none. */
bool attn_multiply_by_kernels(size_t n, bool in_bf16);
/* Counts multiply-adds of two rows and more (attn_products_by_libxsmm); attn_multiply does so itself. */
void attn_multiply_counts(bool by_kernel, uint64_t multiply_adds);

/* The kernels for n rows: TALL at a time, and those that are left.  False: there are none for such operands. */
enum { ATTN_TALL = 48 };
struct attn_kernels { attn_microkernel *tall, *last; };
bool attn_multiply_kernels(struct attn_kernels *k, const struct attn_operands *o, size_t n, size_t cols, size_t steps);
/* The same bits by plain loops, which read and write 64 columns in any case. */
void attn_multiply_by_loops(const struct attn_operands *o, size_t n, size_t cols, size_t K);

/* cols is 64 or, in float32, for what is narrower, a multiple of 16.  Kernels take few numbers of steps at a time, so
 * that there are few of them. */
static inline void attn_multiply(const struct attn_operands *o, size_t n, size_t cols, size_t K)
{
    enum { DEEP = 64, SHALLOW = 16 };
    const bool kernels = attn_multiply_by_kernels(n, o->in_bf16);
    const size_t tall = n - n % ATTN_TALL;
    struct attn_operands left = *o;
    struct attn_kernels by;
    for (size_t steps; K > 0; K -= steps, left.x += steps, left.w += steps * o->ldw, left.more = true) {
        const size_t at_once = K >= DEEP ? DEEP : K >= SHALLOW ? SHALLOW : K;
        const unsigned long long times = K / at_once;
        if (!kernels || !attn_multiply_kernels(&by, &left, n, cols, at_once))
            break;
        for (size_t i = 0; i < tall; i += ATTN_TALL)
            by.tall(left.w, left.x + i * o->ldx, left.y + i * o->ldy, &times);
        if (tall < n)
            by.last(left.w, left.x + tall * o->ldx, left.y + tall * o->ldy, &times);
        attn_microkernel_leave();
        steps = times * at_once;
        attn_multiply_counts(true, n * cols * steps * (o->in_bf16 ? 2 : 1));
    }
    if (K > 0 || !left.more)
        attn_multiply_by_loops(&left, n, cols, K);
}

#endif
