/* tile_turned.h - tile.h for transposed x, whose rows are steps of k: y[n, 64] += x[K, n]' w[K, 64].
 *
 * Included by vec_body.h alone.  Both x and w are activations, in the cache already, so nothing is prefetched. */
#ifndef ATTN_COMPUTE_TILE_TURNED_H
#define ATTN_COMPUTE_TILE_TURNED_H

#include "compute/tile.h"

#define TURNED_OF(n) static void turned##n(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t K) \
{ \
    struct attn_ahead none = {0}; \
    tile(y, ldy, x, 1, ldx, (const char *)w, ldw * sizeof *w, sizeof *w, from_floats, false, NULL, n, K, true, &none, 0); \
}
TURNED_OF(1) TURNED_OF(2) TURNED_OF(3)
#if TILE_ROWS == 6
TURNED_OF(4) TURNED_OF(5) TURNED_OF(6)
#define TURNED turned1, turned2, turned3, turned4, turned5, turned6
#else
#define TURNED turned1, turned2, turned3
#endif
#undef TURNED_OF

static void outer(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K)
{
    static void (*const tiles[])(float *, size_t, const float *, size_t, const float *, size_t, size_t) = {TURNED};
    for (size_t j = 0; j < ATTN_PANEL; j += TILE)
        for (size_t i = 0, rows; i < n; i += rows) {
            rows = n - i < TILE_ROWS ? n - i : TILE_ROWS;
            tiles[rows - 1](y + i * ldy + j, ldy, x + i, ldx, w + j, ldw, K);
        }
}

#endif
