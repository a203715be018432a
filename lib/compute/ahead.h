/* ahead.h - asking for memory before it is needed.  Included by vec_body.h and by the products in pairs alone. */
#ifndef ATTN_COMPUTE_AHEAD_H
#define ATTN_COMPUTE_AHEAD_H

#include "compute/vec.h"

enum { LINE_BYTES = 64 };

/* The next n lines of rows side by side: in a few long stretches at a time a processor goes on fetching by itself, and memory
 * comes almost twice as fast as in one stretch after the other. */
static inline void ask(struct attn_ahead *a, size_t n)
{
    for (; n; n--) {
        while (a->rows == 0 && a->then) {
            size_t due = a->due;
            *a = *a->then;
            a->due = due;
        }
        if (a->rows == 0)
            return;
        size_t rows = a->rows < ATTN_ABREAST ? a->rows : ATTN_ABREAST;
        for (size_t r = 0; r < rows; r++)
            _mm_prefetch((const char *)(a->at + r * a->step + a->done), _MM_HINT_T1);
        a->done += LINE_BYTES;
        if (a->done >= a->bytes) {
            a->at += rows * a->step;
            a->rows -= rows;
            a->done = 0;
        }
    }
}

/* How many in each of so many parts of the work, in 65536ths. */
enum { ONE = 65536 };
static inline size_t ask_rate(const struct attn_ahead *a, size_t parts)
{
    size_t all = 0;
    for (const struct attn_ahead *p = a; p; p = p->then)
        all += (p->rows + ATTN_ABREAST - 1) / ATTN_ABREAST * ((p->bytes + LINE_BYTES - 1) / LINE_BYTES);
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

/* What lies ahead of where a weight is read, some of its rows side by side.  A processor goes on fetching by itself what is
 * read line after line, but of each page in one place only: lines that are asked for side by side have pages of their own. */
struct ahead_of { uintptr_t at; size_t step, bytes, apart /* rows */, line, row; };

static inline struct ahead_of ahead_of(const void *w, size_t step, size_t bytes, size_t abreast)
{
    enum { PAGE = 4096, LEAD = 16384 };         /* less comes too late; more than that twice, and it is gone again */
    size_t apart = (PAGE + step - 1) / step, rows = abreast * apart, times = (LEAD + rows * bytes / 2) / (rows * bytes);
    struct ahead_of a = {(uintptr_t)w + (times ? times : 1) * rows * step, step, bytes, apart, 0, 0};
    if (bytes == step) {                        /* nothing between them: pages instead of rows */
        a.step = a.bytes = PAGE;
        a.apart = 1;
    }
    return a;
}

/* The next line of each; abreast is a constant where it is called.  Asking beyond the end does nothing. */
static inline __attribute__((always_inline)) void ask_abreast(struct ahead_of *a, size_t abreast)
{
    for (size_t i = 0; i < abreast; i++)
        _mm_prefetch((const char *)(a->at + a->line + i * a->apart * a->step), _MM_HINT_T0);
    a->line += LINE_BYTES;
    if (a->line < a->bytes)
        return;
    a->line = 0;
    a->at += a->step;
    if (++a->row < a->apart)
        return;
    a->row = 0;
    a->at += (abreast - 1) * a->apart * a->step;
}

#endif
