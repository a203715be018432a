/* prefetch.h - memory is asked for before it is needed.  Included by what multiplies alone. */
#ifndef ATTN_COMPUTE_PREFETCH_H
#define ATTN_COMPUTE_PREFETCH_H

#include "base/size.h"
#include "compute/vec.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LINE_BYTES = 64 };

static inline void prefetch_line(uintptr_t at)
{
#if defined(__x86_64__)                 /* gcc inlines the builtin otherwise, into code that is a twentieth longer */
    _mm_prefetch((const char *)at, _MM_HINT_T1);
#else
    enum { TO_READ, L2 = 2 };
    __builtin_prefetch((const void *)at, TO_READ, L2);
#endif
}

/* Prefetches the next n cache lines, from several rows in turn: the hardware prefetcher then follows several long
 * stretches at once, and memory comes almost twice as fast as with one stretch after the other. */
static inline void prefetch_lines(struct attn_prefetch *a, size_t n)
{
    for (; n; n--) {
        if (a->rows == 0)
            return;
        size_t rows = smaller(a->rows, ATTN_ABREAST);
        for (size_t r = 0; r < rows; r++)
            prefetch_line(a->at + r * a->step + a->done);
        a->done += LINE_BYTES;
        if (a->done >= a->bytes) {
            a->at += rows * a->step;
            a->rows -= rows;
            a->done = 0;
        }
    }
}

/* How many lines to prefetch in each of `parts` equal parts of the work, in 65536ths; 0 where there is no work. */
enum { ONE = 65536 };
static inline size_t prefetch_rate(const struct attn_prefetch *a, size_t parts)
{
    const size_t all = parts_of(a->rows, ATTN_ABREAST) * parts_of(a->bytes, LINE_BYTES);
    return parts ? parts_of(all * ONE, parts) : 0;
}

/* Called before or after each part of the work. */
static inline void prefetch_some(struct attn_prefetch *a, size_t rate)
{
    a->due += rate;
    if (__builtin_expect(a->due >= ONE, 0)) {   /* rare: the compiler should keep registers for the arithmetic */
        prefetch_lines(a, a->due / ONE);
        a->due %= ONE;
    }
}

/* Where to prefetch in a weight whose rows are read in order, ATTN_ABREAST of them side by side.  The hardware
 * prefetcher follows only one stretch per page, so rows prefetched side by side are a page or more apart. */
struct coming_rows { uintptr_t at; size_t step, bytes, apart /* rows */, line, row; };

static inline struct coming_rows coming_rows(const void *w, size_t step, size_t bytes)
{
    enum { PAGE = 4096, LEAD = 16384 };         /* bytes ahead: with less, lines come too late; with twice as much,
                                                 * they are evicted before they are read */
    size_t apart = parts_of(PAGE, step), rows = ATTN_ABREAST * apart,
           times = (LEAD + rows * bytes / 2) / (rows * bytes);
    struct coming_rows r = {(uintptr_t)w + larger(1, times) * rows * step, step, bytes, apart, 0, 0};
    if (bytes == step) {                        /* no gaps between the rows: treat them as rows of one page each */
        r.step = r.bytes = PAGE;
        r.apart = 1;
    }
    return r;
}

/* Prefetches the next line of each of those rows.  A prefetch beyond the end of the weight does nothing. */
static inline __attribute__((always_inline)) void prefetch_rows(struct coming_rows *r)
{
    for (size_t i = 0; i < ATTN_ABREAST; i++)
        prefetch_line(r->at + r->line + i * r->apart * r->step);
    r->line += LINE_BYTES;
    if (r->line < r->bytes)
        return;
    r->line = 0;
    r->at += r->step;
    if (++r->row < r->apart)
        return;
    r->row = 0;
    r->at += (ATTN_ABREAST - 1) * r->apart * r->step;
}

#endif
