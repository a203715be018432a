/* vec.h - arithmetic on rows of numbers, in SIMD.
 *
 * Every function is compiled three times from the same source (vec_body.h): for AVX-512, for AVX2
 * with FMA, and for SSE2.  The first call finds out which of them the processor has (the environment
 * variable ATTN_SIMD=avx512, avx2 or generic asks for less).  All work on 16 lanes in the same order,
 * so that AVX2 and AVX-512 give the same bits; SSE2 has no fused multiply-add, and its results differ
 * in the last bits.  Sums over rows are kept in double.
 *
 * Errors, measured against double precision: exp in softmax 1.5 units in the last place; GELU
 * (both) and SiLU 1.1e-7 * (1 + |x|). */
#ifndef ATTN_COMPUTE_VEC_H
#define ATTN_COMPUTE_VEC_H

#include "compute/mat.h"

const char *attn_vec_target(void);      /* "avx512", "avx2", "generic" */
bool attn_vec_fused(void);              /* there is a fused multiply-add: the chain rule holds (gemm.h) */

/* y[n] = s * x[n] */
void attn_vec_scale(float *y, const float *x, float s, size_t n);
/* y[n] += x[n] */
void attn_vec_add(float *y, const float *x, size_t n);
/* The largest of s x[n]; -inf if n is 0.  *finite: whether all of them are; only then is the maximum exact, as NaN may or may
 * not win. */
float attn_vec_max(const float *x, float s, size_t n, bool *finite);
/* x = softmax(s x[n]), s > 0, where max, their maximum, is subtracted.  If it is not finite the result is NaN. */
void attn_vec_softmax(float *x, float s, float max, size_t n);
/* x[n] = exp(s x - max), where max is no smaller than any s x; returns their sum. */
double attn_vec_exps(float *x, float s, float max, size_t n);
/* y[n] = elu(x) + 1: x + 1 above 0, else exp(x) */
void attn_vec_feature(float *y, const float *x, size_t n);
/* y[n] = (x - mean) / sqrt(var + eps) * w + b; b may be NULL */
void attn_vec_layernorm(float *y, const float *x, const float *w, const float *b, float eps, size_t n);
/* y[n] = x / sqrt(mean(x^2) + eps) * w */
void attn_vec_rmsnorm(float *y, const float *x, const float *w, float eps, size_t n);
/* y[n] = x * Phi(x), Phi being the cumulative normal distribution: the erf form of GELU */
void attn_vec_gelu(float *y, const float *x, size_t n);
/* y[n] = x / (1 + exp(-2 u)), u = sqrt(2/pi) (x + 0.044715 x^3): the tanh form of GELU, with which GPT-2 was trained */
void attn_vec_gelu_new(float *y, const float *x, size_t n);
/* y[n] = g / (1 + exp(-g)) * x */
void attn_vec_silu_mul(float *y, const float *g, const float *x, size_t n);
/* y[n] = n stored numbers of x from element `first` on, converted to float32 */
void attn_vec_widen(float *y, const void *x, enum attn_dtype type, size_t first, size_t n);
/* y[n] = x[n] rounded to bf16, to nearest even; NaN stays NaN */
void attn_vec_round(float *y, const float *x, size_t n);
/* Rotates the pairs (i, i + r/2) of x[r] by the angles whose cosines and sines are c, s [r/2]. */
void attn_vec_rotate(float *x, const float *c, const float *s, size_t r);
bool attn_vec_finite(const float *x, size_t n);
/* sum over x[n]^2 */
double attn_vec_squares(const float *x, size_t n);
/* One step of AdamW for x[n] with gradient g: updates the moving averages of g * scale (m) and of its square (v), then
 * x = x * keep - rate * m / (sqrt(v) * spread + eps).  rate and spread include the bias corrections of m and v, keep the
 * weight decay. */
struct attn_adamw { float beta1, beta2, scale, keep, rate, spread, eps; };
void attn_vec_adamw(const struct attn_adamw *a, float *x, float *m, float *v, const float *g, size_t n);
/* Memory that will be read soon: `rows` rows of `bytes` bytes, `step` bytes apart, and after them *then.  Functions that take
 * an `ahead` prefetch it, a little at a time, while they do their own work; of the first rows, `done` bytes are prefetched
 * already, and `due` is a fraction of a line owed to the next part of the work (ahead.h). */
struct attn_ahead { uintptr_t at; size_t rows, bytes, step, done, due; const struct attn_ahead *then; };
enum { ATTN_ABREAST = 8 };              /* rows that are prefetched side by side, line after line */
struct attn_ahead attn_vec_ahead(const void *at, size_t rows, size_t bytes, size_t step);

/* Converts K rows of 64 numbers of x, ld elements apart, from element `first` on, to float32: y[K, 64]. */
enum { ATTN_PANEL = 64 };
void attn_vec_block(float *y, const void *x, enum attn_dtype type, size_t first, size_t ld, size_t K);
/* Transposes 16 rows of n numbers, to which x[16] points, into 16 columns of y[n, 64] in float32: y[k * 64 + l] = x[l][k]. */
enum { ATTN_TURN = 16 };
void attn_vec_turn(float *y, const void *const *x, enum attn_dtype type, size_t n);

/* y[n, 64] (+)= x[n, K] w[K, 64], each element one chain of fused multiply-adds over k ascending
 * from 0, or from y when `more`.  ld in floats. */
void attn_vec_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw,
                    size_t n, size_t K, bool more, struct attn_ahead *ahead);
/* The same for the first rows of x (of n, which are more than six), with w[K, 64] as it is stored, from element `first` on.
 * Leaves w as float32 in copy[K, 64].  Returns how many rows were multiplied: those of one tile, at most six. */
size_t attn_vec_panel_copy(float *y, size_t ldy, const float *x, size_t ldx, float *copy, const void *w, enum attn_dtype type,
                           size_t first, size_t ldw, size_t K, bool more, size_t n, struct attn_ahead *ahead);
/* y[n, 64] += x[K, n]' w[K, 64]; each chain continues from y. */
void attn_vec_outer(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K);

/* The backward pass.  dy is the gradient of the loss with respect to the output of a function and becomes that with respect to
 * its input, x.  x, which is not needed any more, becomes the output of the function, so that nobody has to keep it. */
void attn_vec_gelu_back(float *dy, float *x, size_t n);
void attn_vec_gelu_new_back(float *dy, float *x, size_t n);
/* dy becomes the gradient with respect to g, x that with respect to x, and g the output of silu_mul. */
void attn_vec_silu_mul_back(float *dy, float *g, float *x, size_t n);
/* dp becomes the gradient with respect to the dots, before they were scaled by s; p[n] is the output of the softmax. */
void attn_vec_softmax_back(float *dp, const float *p, float s, size_t n);
/* Adds the gradients of a norm with respect to x, weight and bias to dx, dw and db [n]; db may be NULL. */
struct attn_norm_back { float *dx, *dw, *db; const float *w; float eps; bool rms; };
void attn_vec_norm_back(const struct attn_norm_back *b, const float *dy, const float *x, size_t n);
/* Returns -log softmax(x)[target]; x becomes weight times its gradient.  If a number is not finite, the result is not either. */
double attn_vec_loss(float *x, size_t target, float weight, size_t n);
/* Dropout: y = x * scale or, for random numbers of the row, 0.  Which ones depends on key, row and place in the row alone. */
struct attn_drop { uint64_t key; uint32_t below; float scale; };    /* below: so many of 2^32 become 0 */
void attn_vec_drop(float *y, const float *x, const struct attn_drop *d, uint64_t row, size_t n);

/* y[n, cols] += x[n, K] w[K, cols] for few rows: n is at most ATTN_STREAM, cols a multiple of 16, and w begins at its element
 * `first`.  The chains are the same, at the speed of memory. */
enum { ATTN_STREAM = 6 };
void attn_vec_stream(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                     size_t ldw, size_t n, size_t K, size_t cols);
/* The same for a weight stored [out, in], with attn_vec_side outputs at a time: y[n, side] += x[n, K] w', where w[side] points
 * to the rows. */
enum { ATTN_SIDE = 2 * ATTN_TURN };
static inline size_t attn_vec_side(enum attn_dtype type) { return type == ATTN_BF16 ? ATTN_SIDE : ATTN_TURN; }
void attn_vec_stream_turned(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type, size_t n,
                            size_t K, struct attn_ahead *ahead);

#endif
