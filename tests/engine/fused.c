/* fused.c - the fused multiply-adds of WebAssembly for fused.mjs: products of a panel, of vectors, and of doubles. */
#define TABLE attn_vec_of_tests
#include "compute/vec_body.h"

#define EXPORT(name) __attribute__((export_name(#name)))
enum { ROWS = 4, MOST = 4096 };
static float y[ROWS * ATTN_PANEL], x[ROWS * MOST], w[MOST * ATTN_PANEL];

EXPORT(y) float *y_at(void) { return y; }
EXPORT(x) float *x_at(void) { return x; }
EXPORT(w) float *w_at(void) { return w; }
EXPORT(panel) void panel(size_t n, size_t K) { vec_panel(y, ATTN_PANEL, x, MOST, w, ATTN_PANEL, n, K, true); }
EXPORT(vectors) void vectors(size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        store(y + i, fma16(load(x + i), load(w + i), load(y + i)));
}
EXPORT(doubles) double doubles(double a, double b, double c) { return dfma(dall(a), dall(b), dall(c)).v[3][1]; }
