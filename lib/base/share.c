#include "base/share.h"

__extension__ typedef unsigned __int128 wide;

/* N * i / n for i <= n: the product may overflow 64 bits, the result does not. */
static uint64_t cut(uint64_t N, uint64_t i, uint64_t n)
{
    return (uint64_t)((wide)N * i / n);
}

void attn_share_range(const struct attn_share *s, uint64_t N, uint64_t *from, uint64_t *to)
{
    *from = s->count ? cut(N, s->index, s->count) : 0;
    *to = s->count ? cut(N, s->index + 1, s->count) : N;
}

uint64_t attn_share_size(const struct attn_share *s, uint64_t N)
{
    uint64_t from, to;
    if (s->stride && s->count)
        return N / s->count + (s->index < N % s->count);
    attn_share_range(s, N, &from, &to);
    return to - from;
}
