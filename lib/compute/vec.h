/* vec.h - arithmetic on rows of numbers: the one room that knows SIMD.
 *
 * Every function exists in three builds of the same source (vec_body.h): AVX-512, AVX2 with FMA,
 * and SSE2; the processor chooses when the first is called (ATTN_SIMD=avx512, avx2 or generic
 * in the environment asks for less).  All work on 16 lanes in the same order, so that AVX2 and
 * AVX-512 give the same bits; SSE2 has no fused multiply-add and differs in the last one.  Sums
 * are kept in double.
 *
 * Errors, measured against double precision: exp in softmax 1.5 units in the last place; GELU
 * (both) and SiLU 1.1e-7 * (1 + |x|). */
#ifndef ATTN_COMPUTE_VEC_H
#define ATTN_COMPUTE_VEC_H

#include "compute/mat.h"

const char *attn_vec_target(void);      /* "avx512", "avx2", "generic" */
bool attn_vec_fused(void);              /* products are fused: the chain rule holds (gemm.h) */

/* y[n] = s * x[n] */
void attn_vec_scale(float *y, const float *x, float s, size_t n);
/* y[n] += x[n] */
void attn_vec_add(float *y, const float *x, size_t n);
/* exp(s x - max) / sum over s x[n], in place, s > 0.  All -inf gives NaN: callers bound rows first. */
void attn_vec_softmax(float *x, float s, size_t n);
/* The largest of s x[n]; of none -inf. */
float attn_vec_max(const float *x, float s, size_t n);
/* x[n] = exp(s x - max), at most 1; returns their sum. */
double attn_vec_exps(float *x, float s, float max, size_t n);
/* y[n] = elu(x) + 1: x + 1 above 0, else exp(x) */
void attn_vec_feature(float *y, const float *x, size_t n);
/* y[n] = (x - mean) / sqrt(var + eps) * w + b; b may be NULL */
void attn_vec_layernorm(float *y, const float *x, const float *w, const float *b, float eps, size_t n);
/* y[n] = x / sqrt(mean(x^2) + eps) * w */
void attn_vec_rmsnorm(float *y, const float *x, const float *w, float eps, size_t n);
/* y[n] = x * Phi(x), Phi the normal distribution */
void attn_vec_gelu(float *y, const float *x, size_t n);
/* y[n] = x / (1 + exp(-2 u)), u = sqrt(2/pi) (x + 0.044715 x^3): the tanh form GPT-2 was trained with */
void attn_vec_gelu_new(float *y, const float *x, size_t n);
/* y[n] = g / (1 + exp(-g)) * x */
void attn_vec_silu_mul(float *y, const float *g, const float *x, size_t n);
/* y[n] in f32 from element `first` on */
void attn_vec_widen(float *y, const void *x, enum attn_dtype type, size_t first, size_t n);
/* y[n] = x[n] rounded to bf16, to nearest even; NaN stays NaN */
void attn_vec_round(float *y, const float *x, size_t n);
/* Turns pairs (i, i + r/2) of x[r] by the angles whose cosines and sines are c, s [r/2]. */
void attn_vec_rotate(float *x, const float *c, const float *s, size_t r);
bool attn_vec_finite(const float *x, size_t n);
/* sum over x[n]^2 */
double attn_vec_squares(const float *x, size_t n);
/* One step of AdamW for x[n] with gradient g: of g * scale a moving mean m and mean square v, then
 * x = x * keep - rate * m / (sqrt(v) * spread + eps).  The corrections of m and v are in rate and spread. */
struct attn_adamw { float beta1, beta2, scale, keep, rate, spread, eps; };
void attn_vec_adamw(const struct attn_adamw *a, float *x, float *m, float *v, const float *g, size_t n);
/* Memory that will be read soon: so many rows of some bytes, `step` bytes apart, of whose first ones `done` bytes were asked
 * for, and what comes after them.  Functions that take an `ahead` ask for it, a little at a time, while they do their own
 * work. */
struct attn_ahead { uintptr_t at; size_t rows, bytes, step, done, due; const struct attn_ahead *then; };
enum { ATTN_ABREAST = 8 };              /* rows that are asked for side by side, line after line */
struct attn_ahead attn_vec_ahead(const void *at, size_t rows, size_t bytes, size_t step);

/* y[K, 64] in f32 from K rows of 64 numbers of x, ld elements apart, from element `first` on. */
enum { ATTN_PANEL = 64 };
void attn_vec_block(float *y, const void *x, enum attn_dtype type, size_t first, size_t ld, size_t K);
/* y[n, 64] in f32, of which it fills 16 columns with what x[16] points to in rows: y[k * 64 + l] = x[l][k] */
enum { ATTN_TURN = 16 };
void attn_vec_turn(float *y, const void *const *x, enum attn_dtype type, size_t n);

/* y[n, 64] (+)= x[n, K] w[K, 64], each element one chain of fused multiply-adds over k ascending
 * from 0, or from y when `more`.  ld in floats. */
void attn_vec_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                    size_t n, size_t K, bool more, struct attn_ahead *ahead);
/* The same of x's first rows, at most six, with w[K, 64] as it is stored, from element `first` on, which it leaves in
 * copy[K, 64].  Returns how many rows those are, of n: as many as the inner loop takes at once. */
size_t attn_vec_panel_copy(float *y, size_t ldy, const float *x, size_t ldx, float *copy, const void *w, enum attn_dtype type,
                           size_t first, size_t ldw, size_t K, bool more, size_t n, struct attn_ahead *ahead);
/* y[n, 64] += x[K, n]' w[K, 64]: the chain goes on from y. */
void attn_vec_outer(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K);

/* Backwards: dy is the gradient of the loss by what a function gave, and becomes that by what it read, x; where
 * x is not needed any more it becomes what the function gave, so that nobody has to keep that. */
void attn_vec_gelu_back(float *dy, float *x, size_t n);
void attn_vec_gelu_new_back(float *dy, float *x, size_t n);
/* dy by g; x becomes the gradient by x, g what silu_mul gave. */
void attn_vec_silu_mul_back(float *dy, float *g, float *x, size_t n);
/* dp by the scores before they were scaled by s; p[n] is what softmax gave. */
void attn_vec_softmax_back(float *dp, const float *p, float s, size_t n);
/* Adds the gradients of a norm by x, weight and bias to dx, dw and db[n]; db may be NULL. */
struct attn_norm_back { float *dx, *dw, *db; const float *w; float eps; bool rms; };
void attn_vec_norm_back(const struct attn_norm_back *b, const float *dy, const float *x, size_t n);
/* -log softmax(x)[target]; x becomes weight times its gradient.  What is not finite makes it NaN or infinite. */
double attn_vec_loss(float *x, size_t target, float weight, size_t n);
/* y = x * scale, or 0 for numbers that chance picks; it depends on key, row and place in the row alone. */
struct attn_drop { uint64_t key; uint32_t below; float scale; };    /* below: of 2^32 so many */
void attn_vec_drop(float *y, const float *x, const struct attn_drop *d, uint64_t row, size_t n);

/* y[n, cols] += x[n, K] w[K, cols] for few rows, n at most STREAM and cols whole sixteens, of w's elements from `first` on:
 * the same chains, at the speed of memory. */
enum { ATTN_STREAM = 6 };
void attn_vec_stream(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                     size_t ldw, size_t n, size_t K, size_t cols);
/* The same of a weight stored by outputs, so many at a time: y[n, side] += x[n, K] w', the rows of w being what w[side]
 * points to. */
enum { ATTN_SIDE = 2 * ATTN_TURN };
static inline size_t attn_vec_side(enum attn_dtype type) { return type == ATTN_BF16 ? ATTN_SIDE : ATTN_TURN; }
void attn_vec_stream_turned(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type, size_t n,
                            size_t K, struct attn_ahead *ahead);

#endif
