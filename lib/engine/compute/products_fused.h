/* products_fused.h - products_body.h's products for WebAssembly, with the bits of fused multiply-adds.
 *
 * Each sum stays in double precision and is rounded to a float at every step (fused.h says why that is not enough at
 * 2^29th of them).  To round bits without asking how large a number is, weights and sums are 2^-896 times what they
 * are: then the bits of a float moved up by 29 places are those of the double, denormal or not.  A sum is rounded by
 * adding half a unit and cutting; if nothing was left to cut, it lay halfway, and the step is repeated exactly.
 *
 * So much holds where no product or sum is too large, and no product too small to have a sign; blocks in which one may
 * be are multiplied exactly.  Included by products_body.h and dequantise_body.h alone. */
#ifndef ATTN_COMPUTE_PRODUCTS_FUSED_H
#define ATTN_COMPUTE_PRODUCTS_FUSED_H

#include "base/size.h"
#include "compute/lanes.h"


enum { BLOCK_STEPS = 64, BLOCK_COLS = 64, STRIP = 4 /* doubles: */, IN_STRIP = 2 * STRIP };

/* The smallest and largest of numbers that are not 0, as bits without the sign; least: less 1. */
struct range { vu least, most; };
static inline struct range no_range(void) { return (struct range){~(vu){0}, (vu){0}}; }
static inline struct range ranged(struct range r, vf x)
{
    const vu bits = (vu)x & 0x7fffffff;
    return (struct range){vu_min(r.least, bits - 1), (vu)wasm_u32x4_max((v128_t)r.most, (v128_t)bits)};
}
static inline double smallest_of(struct range r)
{
    const uint32_t least = vu_smallest(r.least)[0];
    const vf x = (vf)((vu){0} + (least == UINT32_MAX ? 0x7f7fffff : least + 1));
    return (double)x[0];
}
static inline double largest_of(struct range r)
{
    const vu m = r.most;
    uint32_t most = 0;
    for (int i = 0; i < IN; i++)
        most = most > m[i] ? most : m[i];
    return (double)((vf)((vu){0} + most))[0];
}

/* Whether each product is, and K of them and a sum up to 2^125 are, where rounding by bits is right. */
static inline bool is_tame(struct range x, struct range w, size_t K)
{
    return smallest_of(x) * smallest_of(w) > 0x1p-170 && largest_of(x) * largest_of(w) * (double)K < 0x1p125;
}
static inline bool too_large(vf sum) { return any((vu)(((vu)sum & 0x7fffffff) > 0x7e000000 /* 2^125 */)); }

/* Two floats as doubles 2^-896 as large, and back. */
static inline vd scaled(v128_t two)
{
    const vl bits = (vl)wasm_i64x2_shl(wasm_i64x2_extend_low_i32x4(two), 29);
    return (vd)(bits & 0x8fffffffe0000000);
}
static inline vf unscaled(vd a, vd b)
{
    const vl sign = {0x80000000, 0x80000000};
    const vl x = ((vl)a >> 29 & 0x7fffffff) | ((vl)a >> 32 & sign);
    const vl y = ((vl)b >> 29 & 0x7fffffff) | ((vl)b >> 32 & sign);
    return __builtin_shufflevector((vf)x, (vf)y, 0, 2, 4, 6);
}

/* A block of w, in strips of eight columns; one row of x, each number twice. */
struct weights { vd w[BLOCK_COLS / IN_STRIP][BLOCK_STEPS][STRIP]; struct range range; };

static void take_weights(struct weights *to, const float *w, size_t ldw, size_t cols, size_t K)
{
    to->range = no_range();
    for (size_t k = 0; k < K; k++, w += ldw)
        for (size_t c = 0; c < cols; c += 4) {
            const vf four = *(const anywhere *)(w + c);
            vd *at = &to->w[c / IN_STRIP][k][c % IN_STRIP / 2];
            to->range = ranged(to->range, four);
            at[0] = scaled((v128_t)four);
            at[1] = scaled(wasm_i32x4_shuffle((v128_t)four, (v128_t)four, 2, 3, 2, 3));
        }
}

/* One step of a strip, exactly. */
static __attribute__((noinline)) void exact_step(vd sum[STRIP], vd x, const vd w[STRIP])
{
    const vf wide = {(float)x[0], (float)x[0], (float)x[0], (float)x[0]};
    for (int i = 0; i < STRIP; i += 2) {
        const vf to = vf_fma_exact(wide, unscaled(w[i], w[i + 1]), unscaled(sum[i], sum[i + 1]));
        sum[i] = scaled((v128_t)to);
        sum[i + 1] = scaled(wasm_i32x4_shuffle((v128_t)to, (v128_t)to, 2, 3, 2, 3));
    }
}

static void exact_strip(float *y, const vd *x, const vd (*w)[STRIP], size_t K)
{
    vf low = *(const anywhere *)y, high = *(const anywhere *)(y + 4);
    for (size_t k = 0; k < K; k++) {
        const vf wide = {(float)x[k][0], (float)x[k][0], (float)x[k][0], (float)x[k][0]};
        low = vf_fma_exact(wide, unscaled(w[k][0], w[k][1]), low);
        high = vf_fma_exact(wide, unscaled(w[k][2], w[k][3]), high);
    }
    *(anywhere *)y = low;
    *(anywhere *)(y + 4) = high;
}

static inline vl halfway(vl rounded, vl cut) { return (vl)wasm_i64x2_eq((v128_t)rounded, (v128_t)cut); }

static void strip(float *y, const vd *x, const vd (*w)[STRIP], size_t K)
{
    const vl half = {HALF_FLOAT, HALF_FLOAT}, mask = {~BELOW_FLOAT, ~BELOW_FLOAT};
    const vf low = *(const anywhere *)y, high = *(const anywhere *)(y + 4);
    vd a = scaled((v128_t)low), b = scaled(wasm_i32x4_shuffle((v128_t)low, (v128_t)low, 2, 3, 2, 3)),
       c = scaled((v128_t)high), d = scaled(wasm_i32x4_shuffle((v128_t)high, (v128_t)high, 2, 3, 2, 3));
    for (size_t k = 0; k < K; k++) {
        const vl e = (vl)(x[k] * w[k][0] + a) + half, f = (vl)(x[k] * w[k][1] + b) + half,
                 g = (vl)(x[k] * w[k][2] + c) + half, h = (vl)(x[k] * w[k][3] + d) + half,
                 e0 = e & mask, f0 = f & mask, g0 = g & mask, h0 = h & mask,
                 none = (halfway(e, e0) | halfway(f, f0)) | (halfway(g, g0) | halfway(h, h0));
        if (__builtin_expect(wasm_v128_any_true((v128_t)none), 0)) {
            vd sum[STRIP] = {a, b, c, d};
            exact_step(sum, x[k], w[k]);
            a = sum[0], b = sum[1], c = sum[2], d = sum[3];
        } else
            a = (vd)e0, b = (vd)f0, c = (vd)g0, d = (vd)h0;
    }
    *(anywhere *)y = unscaled(a, b);
    *(anywhere *)(y + 4) = unscaled(c, d);
}

/* A row of x, `step` floats apart: each number twice, as a double. */
static struct range take_row(vd *to, const float *x, size_t step, size_t K)
{
    struct range range = no_range();
    for (size_t k = 0; k < K; k++) {
        const v128_t four = wasm_v128_load32_splat(x + k * step);
        range = ranged(range, (vf)four);
        to[k] = lower((vf)four);
    }
    return range;
}

/* y[n, cols] += x w, K at most BLOCK_STEPS and cols at most BLOCK_COLS, a multiple of IN_STRIP. */
static void add_block(float *y, size_t ldy, const float *x, size_t row, size_t step, size_t n, const float *w,
                      size_t ldw, size_t cols, size_t K)
{
    struct weights weights;
    vd one[BLOCK_STEPS];
    take_weights(&weights, w, ldw, cols, K);
    for (size_t r = 0; r < n; r++, y += ldy, x += row) {
        const bool tame = is_tame(take_row(one, x, step, K), weights.range, K);
        for (size_t c = 0; c < cols; c += IN_STRIP) {
            const vd (*of)[STRIP] = (const vd (*)[STRIP])weights.w[c / IN_STRIP];
            const vf low = *(const anywhere *)(y + c), high = *(const anywhere *)(y + c + 4);
            (!tame || too_large(low) || too_large(high) ? exact_strip : strip)(y + c, one, of, K);
        }
    }
}

/* y[n, cols] += x w for any K and cols; row, step: floats from a row of x, and from a step of k, to the next. */
static void add_products(float *y, size_t ldy, const float *x, size_t row, size_t step, size_t n, const float *w,
                         size_t ldw, size_t cols, size_t K)
{
    for (size_t k = 0; k < K; k += BLOCK_STEPS)
        for (size_t c = 0; c < cols; c += BLOCK_COLS)
            add_block(y + c, ldy, x + k * step, row, step, n, w + k * ldw + c, ldw, smaller(cols - c, BLOCK_COLS),
                      smaller(K - k, BLOCK_STEPS));
}

#endif
