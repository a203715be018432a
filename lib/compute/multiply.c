/* multiply.c - rows of a product, cut into calls of kernels. */
#include "compute/multiply.h"

#include "attn_tools.h"
#include "base/format.h"
#include "base/size.h"
#include "compute/microkernel.h"
#include "compute/bf16.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>

#include "compute/prefetch.h"

enum {
    TALL = 48, TILE = 6,                /* rows of a call; the same while something is prefetched */
    SHORTEST = 32, BURST = 32,          /* steps of the shortest call; most lines that are prefetched before one */
    COUNTERS = 16
};

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

/* ---- calls ---- */

bool attn_multiply_by_kernels(size_t n, bool in_bf16)
{
    return in_bf16 ? n >= ATTN_MANY_BF16 && attn_bf16_kind() == ATTN_BF16_DOTS : n > 1;
}

/* The same bits by plain loops. */
static void by_loops(const struct attn_operands *o, size_t n, size_t K, struct attn_prefetch *prefetch)
{
    if (!o->in_bf16)
        attn_vec_panel(o->y, o->ldy, o->x, o->ldx, o->w, o->ldw, n, K, o->more, prefetch);
    else
        attn_bf16_ops()->panel(o->y, o->ldy, o->x, o->ldx, o->w, n, K, o->more, prefetch);
}

/* NULL: there is none for such operands. */
static attn_microkernel *kernel_of(const struct attn_operands *o, size_t rows, size_t cols, size_t K)
{
    enum { FARTHEST = INT_MAX / 4 };            /* floats from an operand's first to its last: kernels count bytes in 32
                                                 * bits */
    if (larger(larger(o->ldx, o->ldy), larger(o->ldw, K)) > FARTHEST ||
        larger(rows * larger(o->ldx, o->ldy), K * o->ldw) > FARTHEST)
        return NULL;
    return attn_microkernel_of(&(struct attn_shape){
        .rows = (uint32_t)rows, .K = (uint32_t)K, .ldx = (uint32_t)o->ldx, .ldw = (uint32_t)o->ldw,
        .ldy = (uint32_t)o->ldy,
        .cols = (uint16_t)cols, .flags = (o->more ? ATTN_KERNEL_ADDS : 0) | (o->in_bf16 ? ATTN_KERNEL_BF16 : 0) |
                                         (o->next ? ATTN_KERNEL_FETCHES : 0)});
}

/* The steps of a call: fewer if far too many lines would be prefetched before it, where lines that cannot be asked
 * for yet may be dropped. */
static size_t depth_of(size_t n, size_t K, const struct attn_prefetch *prefetch)
{
    size_t depth = K, lines = prefetch_rate(prefetch, 1) / ONE, tiles = parts_of(n, TILE);
    while (depth > SHORTEST && lines > BURST * tiles * parts_of(K, depth))
        depth = up(depth / 2, SHORTEST);
    return depth;
}

/* Rows up to `end` of a product that calls of so many rows each compute, and their kernel for the last shape asked
 * for. */
struct calls { size_t end, rows; attn_microkernel *kernel; };
enum { GROUPS = 3 };

/* Kernels for few rows exist for each number of them; more rows are cut into calls of whole tiles, so that there are
 * few shapes. */
static void cut_rows(struct calls *c, size_t n, bool prefetches, bool kernels_prefetch)
{
    const bool seven = n == 7 && kernels_prefetch;      /* libxsmm 1.17's kernel for seven rows prefetches nothing */
    const size_t tall = seven ? 4 : prefetches ? TILE : TALL, few = 2 * (size_t)TILE;
    const size_t last = n < few ? n - (seven ? tall : 0) : n % TILE ? TILE + n % TILE : 0,
    whole = (n - last) / tall * tall;
    c[0] = (struct calls){whole, tall, NULL};
    c[1] = (struct calls){n - last, n - last - whole, NULL};
    c[2] = (struct calls){n, last, NULL};
}

void attn_multiply(const struct attn_operands *o, size_t n, size_t cols, size_t K, struct attn_prefetch *prefetch)
{
    const size_t multiply_adds = K * cols * (o->in_bf16 ? 2 : 1);
    if (o->by_loops || K == 0 || !attn_multiply_by_kernels(n, o->in_bf16)) {
        if (n > 1)
            attn_multiply_counts(false, n * multiply_adds);
        by_loops(o, n, K, prefetch);
        return;
    }
    const size_t depth = depth_of(n, K, prefetch), rate = prefetch_rate(prefetch, n * parts_of(K, depth));
    struct calls calls[GROUPS];
    struct attn_operands part = *o;
    assert(!o->next || depth == K);     /* for few rows, kernels prefetch all of it */
    bool kernels = false;
    cut_rows(calls, n, rate > 0, o->next);
    for (size_t k = 0, steps = 0; k < K; k += depth, part.w += depth * o->ldw, part.more = true) {
        const bool known = k > depth && smaller(K - k, depth) == steps;         /* the first ones may not add */
        steps = smaller(K - k, depth);
        size_t i = 0;
        for (struct calls *c = calls; c < calls + GROUPS; c++) {
            if (i == c->end)
                continue;
            if (!known)
                c->kernel = kernel_of(&part, c->rows, cols, steps);
            attn_multiply_counts(c->kernel, (c->end - i) * steps * cols * (o->in_bf16 ? 2 : 1));
            part.x = o->x + i * o->ldx + k;
            part.y = o->y + i * o->ldy;
            kernels |= c->kernel != NULL;
            if (!c->kernel)
                by_loops(&part, c->end - i, steps, prefetch);
            for (; c->kernel && i < c->end; i += c->rows) {
                prefetch_some(prefetch, rate * c->rows);
                c->kernel(part.w, o->x + i * o->ldx + k, o->y + i * o->ldy, o->next);
            }
            i = c->end;
        }
    }
    if (kernels)
        attn_microkernel_leave();
}
