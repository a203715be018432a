/* ahead.h - asking for memory before it is needed.  Included by vec_body.h and by the products in pairs alone. */
#ifndef ATTN_COMPUTE_AHEAD_H
#define ATTN_COMPUTE_AHEAD_H

#include "compute/vec.h"

/* The next n stretches. */
static inline void ask(struct attn_ahead *a, size_t n)
{
    for (; n; n--, a->left--) {
        while (a->left == 0 && a->then) {
            size_t due = a->due;
            *a = *a->then;
            a->due = due;
        }
        if (a->left == 0)
            return;
        for (uintptr_t at = a->at; at < a->at + a->bytes; at += 64)
            _mm_prefetch((const char *)at, _MM_HINT_T1);
        a->at += a->step;
    }
}

/* How many in each of so many parts of the work, in 65536ths. */
enum { ONE = 65536 };
static inline size_t ask_rate(const struct attn_ahead *a, size_t parts)
{
    size_t all = 0;
    for (const struct attn_ahead *p = a; p; p = p->then)
        all += p->left;
    return (all * ONE + parts - 1) / parts;
}

/* One part is done. */
static inline void ask_some(struct attn_ahead *a, size_t rate)
{
    a->due += rate;
    if (__builtin_expect(a->due >= ONE, 0)) {   /* registers are for those who work */
        ask(a, a->due / ONE);
        a->due %= ONE;
    }
}

#endif
