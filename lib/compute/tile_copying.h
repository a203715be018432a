/* tile_copying.h - tile.h for w in the file: the first rows read it there and make a float32 copy for the others.
 *
 * Included by vec_body.h alone. */
#ifndef ATTN_COMPUTE_TILE_COPYING_H
#define ATTN_COMPUTE_TILE_COPYING_H

#include "compute/tile.h"

static inline v16 from_f16s(const void *w) { return from_f16(w); }
static inline v16 from_bf16s(const void *w) { return from_bf16(w); }

/* The first TILE_ROWS rows of n.  They prefetch their share of what is ahead if they are a large part of the work. */
#define PANEL_COPY(name, size, from) \
static void name(float *y, size_t ldy, const float *x, size_t ldx, float *copy, const void *w, size_t ldw, size_t K, bool more, \
                 size_t n, struct attn_ahead *ahead) \
{ \
    struct attn_ahead none = {0}; \
    size_t tiles = parts_of(n, TILE_ROWS), steps = ATTN_PANEL / TILE * K, rate = tiles <= 2 ? ask_rate(ahead, tiles * steps) : 0; \
    for (size_t j = 0; j < ATTN_PANEL; j += TILE) { \
        const char *at = (const char *)w + j * size; \
        if (rate > 0) \
            tile(y + j, ldy, x, ldx, 1, at, ldw * size, size, from, true, copy + j, TILE_ROWS, K, more, ahead, rate); \
        else \
            tile(y + j, ldy, x, ldx, 1, at, ldw * size, size, from, true, copy + j, TILE_ROWS, K, more, &none, 0); \
    } \
}
PANEL_COPY(panel_copy_f32, 4, from_floats) PANEL_COPY(panel_copy_f16, 2, from_f16s) PANEL_COPY(panel_copy_bf16, 2, from_bf16s)
#undef PANEL_COPY

#endif
