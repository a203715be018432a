/* products_small.h - products_body.h's products in little code, for WebAssembly, which is in each page: all by way of
 * float32, a block of w at a time.  add_products multiplies, with the bits of fused multiply-adds (products_fused.h) or
 * without (here).  Included by products_body.h alone. */
#ifndef ATTN_COMPUTE_PRODUCTS_SMALL_H
#define ATTN_COMPUTE_PRODUCTS_SMALL_H

#include "base/size.h"

typedef v16 from_stored(const void *w);
static inline v16 from_stored_f32(const void *w) { return load(w); }

#if !defined(ATTN_WASM)
enum { BLOCK_STEPS = 64, IN_TILE = LANES / IN };

/* Callers pass a constant for rows; see tile.h. */
static inline __attribute__((always_inline))
void small_tile(float *y, size_t ldy, const float *x, size_t row, size_t step, const float *w, size_t ldw, size_t rows,
                size_t K)
{
    vf sum[TILE_ROWS][IN_TILE];
    UNROLL_SUMS for (size_t r = 0; r < rows; r++)
        UNROLL_SUMS for (size_t c = 0; c < IN_TILE; c++)
            sum[r][c] = *(const anywhere *)(y + r * ldy + c * IN);
    for (size_t k = 0; k < K; k++, x += step, w += ldw)
        UNROLL_SUMS for (size_t r = 0; r < rows; r++) {
            const vf f = (vf)wasm_v128_load32_splat(x + r * row);
            UNROLL_SUMS for (size_t c = 0; c < IN_TILE; c++)
                sum[r][c] = vf_fma(f, *(const anywhere *)(w + c * IN), sum[r][c]);
        }
    UNROLL_SUMS for (size_t r = 0; r < rows; r++)
        UNROLL_SUMS for (size_t c = 0; c < IN_TILE; c++)
            *(anywhere *)(y + r * ldy + c * IN) = sum[r][c];
}

/* y[n, cols] += x w; row, step: floats from a row of x, and from a step of k, to the next. */
static void add_products(float *y, size_t ldy, const float *x, size_t row, size_t step, size_t n, const float *w,
                         size_t ldw, size_t cols, size_t K)
{
    for (size_t c = 0; c < cols; c += LANES)
        for (size_t r = 0, left = parts_of(n, TILE_ROWS), rows; r < n; r += rows, left--) {
            rows = parts_of(n - r, left);
            switch (rows) {
            case 1:  small_tile(y + r * ldy + c, ldy, x + r * row, row, step, w + c, ldw, 1, K); break;
            case 2:  small_tile(y + r * ldy + c, ldy, x + r * row, row, step, w + c, ldw, 2, K); break;
            default: small_tile(y + r * ldy + c, ldy, x + r * row, row, step, w + c, ldw, TILE_ROWS, K); break;
            }
        }
}
#endif

static void begin(float *y, size_t ldy, size_t n, size_t cols, bool more)
{
    for (size_t r = 0; r < n && !more; r++)
        memset(y + r * ldy, 0, cols * sizeof *y);
}

static void vec_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K,
                      bool more)
{
    begin(y, ldy, n, ATTN_PANEL, more);
    add_products(y, ldy, x, ldx, 1, n, w, ldw, ATTN_PANEL, K);
}

static void vec_outer(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K)
{
    add_products(y, ldy, x, 1, ldx, n, w, ldw, ATTN_PANEL, K);
}

/* Those of a type. */
#define SMALL_PRODUCTS(t, type) \
static void panel_copy_##t(float *y, size_t ldy, const float *x, size_t ldx, float *copy, const void *w, size_t ldw, \
                           size_t K, bool more, struct attn_prefetch *prefetch) \
{ \
    (void)prefetch; \
    block_##t(copy, w, ldw, K); \
    vec_panel(y, ldy, x, ldx, copy, ATTN_PANEL, TILE_ROWS, K, more); \
} \
static void row_panels_##t(float *y, const float *x, const void *w, size_t next, size_t n, size_t K) \
{ \
    float floats[BLOCK_STEPS * ATTN_PANEL]; \
    begin(y, 0, 1, n * ATTN_PANEL, false); \
    for (size_t p = 0; p < n; p++, y += ATTN_PANEL) \
        for (size_t k = 0; k < K; k += BLOCK_STEPS) { \
            block_##t(floats, (const type *)w + p * next + k * ATTN_PANEL, ATTN_PANEL, smaller(K - k, BLOCK_STEPS)); \
            add_products(y, 0, x + k, 0, 1, 1, floats, ATTN_PANEL, ATTN_PANEL, smaller(K - k, BLOCK_STEPS)); \
        } \
} \
static void stream_##t(float *y, size_t ldy, const float *x, size_t ldx, const void *w, size_t ldw, size_t n, \
                       size_t K, size_t cols) \
{ \
    float floats[BLOCK_STEPS * ATTN_PANEL]; \
    for (size_t k = 0; k < K; k += BLOCK_STEPS) \
        for (size_t c = 0; c < cols; c += ATTN_PANEL) { \
            const size_t deep = smaller(K - k, BLOCK_STEPS), wide = smaller(cols - c, ATTN_PANEL); \
            for (size_t i = 0; i < deep; i++) \
                widen_##t(floats + i * ATTN_PANEL, (const type *)w + (k + i) * ldw + c, wide); \
            add_products(y + c, ldy, x + k, ldx, 1, n, floats, ATTN_PANEL, wide, deep); \
        } \
} \
static void stream_transposed_##t(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t n, \
                                  size_t K, struct attn_prefetch *prefetch) \
{ \
    float floats[BLOCK_STEPS * ATTN_PANEL]; \
    const void *at[ATTN_TRANSPOSE]; \
    (void)prefetch; \
    for (size_t k = 0; k < K; k += BLOCK_STEPS) { \
        for (size_t l = 0; l < ATTN_TRANSPOSE; l++) \
            at[l] = (const type *)w[l] + k; \
        transpose_##t(floats, at, smaller(K - k, BLOCK_STEPS)); \
        add_products(y, ldy, x + k, ldx, 1, n, floats, ATTN_PANEL, ATTN_TRANSPOSE, smaller(K - k, BLOCK_STEPS)); \
    } \
}

#endif
