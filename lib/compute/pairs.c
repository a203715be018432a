#include "compute/pairs.h"

#include <stdatomic.h>

static _Atomic(int) forced = -1;

enum attn_bf16 attn_pairs_kind(void)
{
    int kind = atomic_load_explicit(&forced, memory_order_relaxed);
    return kind < 0 ? attn_cpu_bf16() : (enum attn_bf16)kind;
}

bool attn_pairs_choose(enum attn_bf16 kind)
{
    if (!attn_cpu_can(kind))
        return false;
    atomic_store(&forced, (int)kind);
    return true;
}

enum { SIDE = ATTN_PAIRS_ROWS };

void attn_pairs_put(float *words, size_t ld, size_t i, const float *x, size_t n)
{
    if (attn_pairs_kind() == ATTN_BF16_TILES)
        attn_pairs_of_row(words + i / SIDE * SIDE * ld + i % SIDE * SIDE, ATTN_PAIRS_TILE, x, n);
    else
        attn_pairs_of_row(words + i * ld, SIDE, x, n);
}

const float *attn_pairs_at(const float *words, size_t ld, size_t i, size_t k)
{
    return words + i * ld + (attn_pairs_kind() == ATTN_BF16_TILES ? k * SIDE : k);
}

void attn_pairs_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more)
{
    if (attn_pairs_kind() == ATTN_BF16_TILES)
        attn_pairs_tiles(y, ldy, x, ldx, w, n, words, more);
    else
        attn_pairs_dots(y, ldy, x, ldx, w, n, words, more);
}

void attn_pairs_stream(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                       size_t ldw, size_t n, size_t K, size_t cols)
{
    if (attn_pairs_kind() == ATTN_BF16_TILES)
        attn_pairs_stream_tiles(y, ldy, x, ldx, w, type, first, ldw, n, K, cols);
    else
        attn_pairs_stream_dots(y, ldy, x, ldx, w, type, first, ldw, n, K, cols);
}

void attn_pairs_stream_turned(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type,
                              size_t n, size_t K, struct attn_ahead *ahead)
{
    if (attn_pairs_kind() == ATTN_BF16_TILES)
        attn_pairs_stream_turned_tiles(y, ldy, x, ldx, w, type, n, K, ahead);
    else
        attn_pairs_stream_turned_dots(y, ldy, x, ldx, w, type, n, K, ahead);
}
