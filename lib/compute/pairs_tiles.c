#include "compute/pairs.h"

#include <immintrin.h>

enum { SIDE = 16, SECOND = 16, THIRD = 32, FOURTH = 48 };   /* a tile is 16 x 16 words; columns where a panel's tiles begin */

/* What ldtilecfg reads. */
static const struct { uint8_t palette, start, unused[14]; uint16_t bytes[16]; uint8_t rows[16]; } eight_tiles = {
    .palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE}};

/* Loads sums into tiles 0 to 3.  Sums and x are loaded with a streaming hint, so that w stays in the L1 cache. */
static void load_sums(const float *y, size_t bytes)
{
    _tile_stream_loadd(0, y, bytes);
    _tile_stream_loadd(1, y + SECOND, bytes);
    _tile_stream_loadd(2, y + THIRD, bytes);
    _tile_stream_loadd(3, y + FOURTH, bytes);
}

static void zero_sums(void)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

static void store_sums(float *y, size_t bytes)
{
    _tile_stored(0, y, bytes);
    _tile_stored(1, y + SECOND, bytes);
    _tile_stored(2, y + THIRD, bytes);
    _tile_stored(3, y + FOURTH, bytes);
}

/* Adds the products of 16 words (32 steps).  Tile 4 has x; tiles 5 to 7 take turns with w, so that one is loaded while another
 * is multiplied. */
static void add_products(const float *x, const float *w)
{
    const size_t panel = ATTN_PANEL * sizeof *w;
    _tile_stream_loadd(4, x, SIDE * sizeof *x);
    _tile_loadd(5, w, panel);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(6, w + SECOND, panel);
    _tile_dpbf16ps(1, 4, 6);
    _tile_loadd(7, w + THIRD, panel);
    _tile_dpbf16ps(2, 4, 7);
    _tile_loadd(5, w + FOURTH, panel);
    _tile_dpbf16ps(3, 4, 5);
}

void attn_pairs_tiles(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more)
{
    __asm__ volatile("" : : : "memory");    /* gcc's intrinsics do not say that they read memory */
    _tile_loadconfig(&eight_tiles);
    for (size_t i = 0; i < n; i += SIDE, y += SIDE * ldy, x += SIDE * ldx) {
        if (more)
            load_sums(y, ldy * sizeof *y);
        else
            zero_sums();
        for (size_t k = 0; k < words; k += SIDE)
            add_products(x + k * SIDE, w + k * ATTN_PANEL);
        store_sums(y, ldy * sizeof *y);
    }
    _tile_release();                    /* else the operating system saves the tiles at every context switch */
}
