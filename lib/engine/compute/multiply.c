/* multiply.c - which kernels multiply, and how much they do. */
#include "compute/multiply.h"

#include "attn_tools.h"
#include "base/format.h"
#include "base/size.h"
#include "compute/bf16.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>

enum { COUNTERS = 16 };

/* ---- counting ---- */

/* Multiply-adds of products of two rows and more; in several places, so that threads seldom share one. */
static struct { _Alignas(64) _Atomic(uint64_t) kernels, loops; } counted[COUNTERS];

void attn_multiply_counts(bool by_kernel, uint64_t multiply_adds)
{
    const size_t stack = (uintptr_t)&multiply_adds >> 20, mine = (stack ^ stack >> 4) % COUNTERS;
    atomic_fetch_add_explicit(by_kernel ? &counted[mine].kernels : &counted[mine].loops, multiply_adds,
                              memory_order_relaxed);
}

void attn_products_count(void)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        atomic_store(&counted[i].kernels, 0);
        atomic_store(&counted[i].loops, 0);
    }
}

double attn_products_by_libxsmm(void)
{
    uint64_t kernels = 0, all = 0;
    for (size_t i = 0; i < COUNTERS; i++) {
        kernels += atomic_load(&counted[i].kernels);
        all += atomic_load(&counted[i].kernels) + atomic_load(&counted[i].loops);
    }
    return all > 0 ? (double)kernels / (double)all : NAN;
}

void attn_products_say(char *out, size_t size)
{
    const char *why, *target = attn_microkernel_target(&why);
    if (target)
        attn_snprintf(out, size, "%s, %s, kernels made in this process", attn_microkernel_library(), target);
    else
        attn_snprintf(out, size, "plain loops, %s: %s", attn_vec_target(), why);
}

/* ---- for attn_multiply ---- */

bool attn_multiply_by_kernels(size_t n, bool in_bf16)
{
    return n > 1 && (!in_bf16 || attn_bf16_kind() == ATTN_BF16_DOTS);
}

void attn_multiply_by_loops(const struct attn_operands *o, size_t n, size_t cols, size_t K)
{
    if (n > 1)
        attn_multiply_counts(false, n * cols * K * (o->in_bf16 ? 2 : 1));
    if (!o->in_bf16)
        attn_vec_panel(o->y, o->ldy, o->x, o->ldx, o->w, o->ldw, n, K, o->more);
    else
        attn_bf16_ops()->panel(o->y, o->ldy, o->x, o->ldx, o->w, n, K, o->more, &(struct attn_prefetch){0});
}

static attn_microkernel *kernel_of(const struct attn_operands *o, size_t rows, size_t cols, size_t steps)
{
    enum { FARTHEST = INT_MAX / 4 };            /* most floats in an operand: kernels count bytes in 32 bits */
    if (larger(larger(o->ldx, o->ldy), larger(o->ldw, steps)) > FARTHEST ||
        larger(rows * larger(o->ldx, o->ldy), steps * o->ldw) > FARTHEST)
        return NULL;
    return attn_microkernel_of(&(struct attn_shape){
        .rows = (uint32_t)rows, .steps = (uint32_t)steps, .ldx = (uint32_t)o->ldx, .ldw = (uint32_t)o->ldw,
        .ldy = (uint32_t)o->ldy, .cols = (uint16_t)cols,
        .flags = (o->more ? ATTN_KERNEL_ADDS : 0) | (o->in_bf16 ? ATTN_KERNEL_BF16 : 0)});
}

bool attn_multiply_kernels(struct attn_kernels *k, const struct attn_operands *o, size_t n, size_t cols, size_t steps)
{
    const size_t last = n % ATTN_TALL;
    *k = (struct attn_kernels){n >= ATTN_TALL ? kernel_of(o, ATTN_TALL, cols, steps) : NULL,
                               last ? kernel_of(o, last, cols, steps) : NULL};
    return (n < ATTN_TALL || k->tall) && (!last || k->last);
}
