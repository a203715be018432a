/* multiply.c - rows of a product, cut into calls of kernels. */
#include "compute/multiply.h"

#include "attn_tools.h"
#include "base/format.h"
#include "base/size.h"
#include "compute/microkernel.h"
#include "compute/bf16.h"

#include <assert.h>
#include <immintrin.h>
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
    atomic_fetch_add_explicit(by_kernel ? &counted[mine].kernels : &counted[mine].loops, multiply_adds, memory_order_relaxed);
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

/* What the calls of a product have in common: columns and steps of w; whether in bf16; how many lines are prefetched for a row, in
 * 65536ths; and the kernels for each number of rows, once they are looked up. */
struct calls { size_t cols, K, rate; bool bf16, known; attn_microkernel *kernel[3]; };

static attn_microkernel *look_up(const struct attn_operands *o, size_t rows, const struct calls *c)
{
    enum { FARTHEST = INT_MAX / 4 };            /* floats from an operand's first to its last: kernels count bytes in 32 bits */
    if (larger(larger(o->ldx, o->ldy), larger(o->ldw, c->K)) > FARTHEST ||
        larger(rows * larger(o->ldx, o->ldy), c->K * o->ldw) > FARTHEST)
        return NULL;
    return attn_microkernel_of(&(struct attn_shape){
        .rows = (uint32_t)rows, .K = (uint32_t)c->K, .ldx = (uint32_t)o->ldx, .ldw = (uint32_t)o->ldw, .ldy = (uint32_t)o->ldy,
        .cols = (uint16_t)c->cols, .flags = (o->more ? ATTN_KERNEL_ADDS : 0) | (c->bf16 ? ATTN_KERNEL_BF16 : 0) |
                                             (o->next ? ATTN_KERNEL_FETCHES : 0)});
}

/* Kernels leave the upper halves of registers in use, which makes older instructions slow. */
static __attribute__((target("avx"))) void leave_kernels(void) { _mm256_zeroupper(); }

/* Rows i .. i + n by plain loops: the same bits. */
static void loops(const struct attn_operands *o, size_t i, size_t n, const struct calls *c, struct attn_prefetch *prefetch)
{
    float *y = o->y + i * o->ldy;
    const float *x = o->x + i * o->ldx;
    if (c->bf16)
        attn_bf16_dots.panel(y, o->ldy, x, o->ldx, o->w, n, c->K, o->more, prefetch);
    else
        attn_vec_panel(y, o->ldy, x, o->ldx, o->w, o->ldw, n, c->K, o->more, prefetch);
}

/* The same by calls of kernel `which`, which takes `rows` rows; n is a multiple of that. */
static void call(const struct attn_operands *o, size_t i, size_t n, size_t rows, struct calls *c, size_t which,
                 struct attn_prefetch *prefetch)
{
    if (n == 0)
        return;
    if (!c->known)
        c->kernel[which] = look_up(o, rows, c);
    attn_microkernel *f = c->kernel[which];
    attn_multiply_counts(f, n * c->K * c->cols * (c->bf16 ? 2 : 1));
    if (!f) {
        loops(o, i, n, c, prefetch);
        return;
    }
    for (size_t end = i + n; i < end; i += rows) {
        prefetch_some(prefetch, c->rate * rows);
        f(o->w, o->x + i * o->ldx, o->y + i * o->ldy, o->next);
    }
    leave_kernels();
}

/* Kernels for few rows exist for each number of them; more rows are cut into calls of whole tiles, so that there are few shapes. */
static void call_for_all(const struct attn_operands *o, size_t n, struct calls *c, struct attn_prefetch *prefetch)
{
    const bool seven = n == 7 && o->next;               /* libxsmm 1.17's kernel for seven rows prefetches nothing */
    const size_t tall = seven ? 4 : c->rate ? TILE : TALL, few = 2 * (size_t)TILE;
    const size_t last = n < few ? n - (seven ? tall : 0) : n % TILE ? TILE + n % TILE : 0;
    const size_t whole = (n - last) / tall * tall;
    call(o, 0, whole, tall, c, 0, prefetch);
    call(o, whole, n - last - whole, n - last - whole, c, 1, prefetch);
    call(o, n - last, last, last, c, 2, prefetch);
}

/* The steps of a call: fewer if far too many lines would be prefetched before it, where lines that cannot be asked for yet may be
 * dropped. */
static size_t depth_of(size_t n, size_t K, const struct attn_prefetch *prefetch)
{
    size_t depth = K, lines = prefetch_rate(prefetch, 1) / ONE, tiles = parts_of(n, TILE);
    while (depth > SHORTEST && lines > BURST * tiles * parts_of(K, depth))
        depth = up(depth / 2, SHORTEST);
    return depth;
}

static void multiply(const struct attn_operands *o, size_t n, size_t cols, size_t K, bool bf16, struct attn_prefetch *prefetch)
{
    const size_t depth = depth_of(n, K, prefetch);
    struct calls c = {.cols = cols, .rate = prefetch_rate(prefetch, n * parts_of(K, depth)), .bf16 = bf16};
    struct attn_operands part = *o;
    assert(!o->next || depth == K);     /* for few rows, kernels prefetch all of it */
    for (size_t k = 0; k < K; k += depth, part.x += depth, part.w += depth * o->ldw, part.more = true) {
        const size_t left = smaller(K - k, depth);
        c.known = k > depth && left == c.K;     /* the first ones may not add */
        c.K = left;
        call_for_all(&part, n, &c, prefetch);
    }
}

void attn_multiply(const struct attn_operands *o, size_t n, size_t cols, size_t K, struct attn_prefetch *prefetch)
{
    if (n == 1 || K == 0)               /* one row waits for memory */
        loops(o, 0, n, &(struct calls){.K = K}, prefetch);
    else
        multiply(o, n, cols, K, false, prefetch);
}

void attn_multiply_by_loops(const struct attn_operands *o, size_t n, size_t K, struct attn_prefetch *prefetch)
{
    if (n > 1)
        attn_multiply_counts(false, n * K * ATTN_PANEL);
    loops(o, 0, n, &(struct calls){.K = K}, prefetch);
}

/* Between the calls for fewer rows, there is too little time to prefetch: 16 rows take 1.2 times as long as by plain loops. */
void attn_multiply_bf16(const struct attn_operands *o, size_t n, size_t words, struct attn_prefetch *prefetch)
{
    const bool tiles = attn_bf16_kind() == ATTN_BF16_TILES;
    if (!tiles && n >= ATTN_MANY_BF16 && words > 0) {
        multiply(o, n, ATTN_PANEL, words, true, prefetch);
        return;
    }
    if (n > 1)
        attn_multiply_counts(false, 2 * n * words * ATTN_PANEL);
    if (tiles)
        attn_bf16_tiles.panel(o->y, o->ldy, o->x, o->ldx, o->w, n, words, o->more, prefetch);
    else
        loops(o, 0, n, &(struct calls){.K = words, .bf16 = true}, prefetch);
}
