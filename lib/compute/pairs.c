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

void attn_pairs_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more,
                      struct attn_ahead *ahead)
{
    if (attn_pairs_kind() == ATTN_BF16_TILES)
        attn_pairs_tiles(y, ldy, x, ldx, w, n, words, more, ahead);
    else
        attn_pairs_dots(y, ldy, x, ldx, w, n, words, more, ahead);
}
