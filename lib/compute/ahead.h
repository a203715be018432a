/* ahead.h - asking for memory before it is needed.  Included by vec_body.h alone. */
#ifndef ATTN_COMPUTE_AHEAD_H
#define ATTN_COMPUTE_AHEAD_H

#include "compute/vec.h"

/* The next n lines. */
static inline void ask(struct attn_ahead *a, size_t n)
{
    for (; n && a->left; n--, a->left--) {
        _mm_prefetch((const char *)a->at, _MM_HINT_T1);
        a->at += 64;
        if (--a->row == 0) {
            a->row = a->width;
            a->at += a->jump;
        }
    }
}

#endif
