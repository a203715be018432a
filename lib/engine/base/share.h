/* share.h - the part of N things that a share (struct attn_share of attn_tools.h) selects. */
#ifndef ATTN_BASE_SHARE_H
#define ATTN_BASE_SHARE_H

#include "attn_tools.h"

/* N * i / n for i <= n: the product may overflow 64 bits, the result does not. */
static inline uint64_t attn_share_cut(uint64_t N, uint64_t i, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)N * i / n);
}

/* The range [*from, *to) of N that a share without stride selects. */
static inline void attn_share_range(const struct attn_share *s, uint64_t N, uint64_t *from, uint64_t *to)
{
    *from = s->count ? attn_share_cut(N, s->index, s->count) : 0;
    *to = s->count ? attn_share_cut(N, s->index + 1, s->count) : N;
}

/* How many of N, with or without stride. */
static inline uint64_t attn_share_size(const struct attn_share *s, uint64_t N)
{
    uint64_t from, to;
    if (s->stride && s->count)
        return N / s->count + (s->index < N % s->count);
    attn_share_range(s, N, &from, &to);
    return to - from;
}

/* Whether it selects the one of this number. */
static inline bool attn_share_has(const struct attn_share *s, uint64_t N, uint64_t number)
{
    uint64_t from, to;
    attn_share_range(s, N, &from, &to);
    return s->stride && s->count ? number < N && number % s->count == s->index : number >= from && number < to;
}

#endif
