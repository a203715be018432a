/* vec.h - arithmetic on rows of numbers, in SIMD.
 *
 * Every function is compiled from the same source (vec_body.h) once for each set of instructions of
 * base/simd.h: AVX-512, AVX2 with FMA, and SSE2 on x86-64, where the first call finds out which of them the
 * processor has; NEON on AArch64.  All work on 16 lanes in the same order, so that AVX2, AVX-512 and NEON give
 * the same bits; the generic one, SSE2 or NEON without fused multiply-add, differs in the last bits.  Sums over
 * rows are kept in double.
 *
 * Errors, measured against double precision: exp in softmax 1.5 units in the last place; GELU
 * (both) and SiLU 1.1e-7 * (1 + |x|).
 *
 * The lists below say once what each operation takes; from them come struct attn_vec_ops, which one instruction set
 * fills in, and the functions to call: attn_vec_scale(y, x, s, n) and so on. */
#ifndef ATTN_COMPUTE_VEC_H
#define ATTN_COMPUTE_VEC_H

#include "base/simd.h"
#include "compute/weights.h"

enum {
    ATTN_PANEL = 64,                    /* columns of w in a panel */
    ATTN_TRANSPOSE = 16,                /* rows that are transposed at a time */
    ATTN_STREAM = 6,                    /* most rows of x for which w is streamed */
    ATTN_ABREAST = 8,                   /* rows that are prefetched side by side, line after line */
    ATTN_AT_ONCE = 2                    /* most panels that one row of x is multiplied with side by side */
};

/* Memory that will be read soon: `rows` rows of `bytes` bytes, `step` bytes apart.  Functions that take a `prefetch`
 * fetch it, a little at a time, while they do their own work; of the first rows, `done` bytes are prefetched already,
 * and `due` is a fraction of a line owed to the next part of the work (prefetch.h). */
struct attn_prefetch { uintptr_t at; size_t rows, bytes, step, done, due; };
struct attn_prefetch attn_prefetch_rows(const void *at, size_t rows, size_t bytes, size_t step);

struct attn_norm_backward { float *dx, *dw, *db; const float *w; float eps; bool rms; };
struct attn_drop { uint64_t key; uint32_t below; float scale; };    /* below: so many of 2^32 become 0 */
/* decay: 1 - lr * weight decay; lr: corrected for the bias of m; bias2: 1 / sqrt(the bias correction of v). */
struct attn_adamw { float beta1, beta2, scale, decay, lr, bias2, eps; };

/* DO(name, parameters, arguments) is a function without a result, GET(type, ...) one with a result of that type. */
#define ATTN_VEC_OPS(DO, GET) \
    /* y[n] = s * x[n] */ \
    DO(scale, (float *y, const float *x, float s, size_t n), (y, x, s, n)) \
    /* y[n] += x[n] */ \
    DO(add, (float *y, const float *x, size_t n), (y, x, n)) \
    /* y[n] = a[n] + b[n]; y[n] += a[n] + b[n] */ \
    DO(sum, (float *y, const float *a, const float *b, size_t n), (y, a, b, n)) \
    DO(add_sum, (float *y, const float *a, const float *b, size_t n), (y, a, b, n)) \
    /* The largest of s x[n]; -inf if n is 0.  *finite: whether all of them are; only then is the maximum exact, as \
     * NaN may or may not win. */ \
    GET(float, max, (const float *x, float s, size_t n, bool *finite), (x, s, n, finite)) \
    /* x[n] = exp(s x - max), where max is no smaller than any s x; returns their sum.  If max is not finite it is \
     * NaN. */ \
    GET(double, exp_and_sum, (float *x, float s, float max, size_t n), (x, s, max, n)) \
    /* x[n] /= (float)sum, correctly rounded: exponentials and their sum become a softmax. */ \
    DO(normalise, (float *x, double sum, size_t n), (x, sum, n)) \
    /* sum over exp(x[n] - top), in double precision; top is the largest of x.  NaN stays. */ \
    GET(double, exp_sum, (const float *x, double top, size_t n), (x, top, n)) \
    /* y[n] = elu(x) + 1: x + 1 above 0, else exp(x) */ \
    DO(feature, (float *y, const float *x, size_t n), (y, x, n)) \
    /* y[n] = (x - mean) / sqrt(var + eps) * w + b; b may be NULL */ \
    DO(layernorm, (float *y, const float *x, const float *w, const float *b, float eps, size_t n), \
        (y, x, w, b, eps, n)) \
    /* y[n] = x / sqrt(mean(x^2) + eps) * w */ \
    DO(rmsnorm, (float *y, const float *x, const float *w, float eps, size_t n), (y, x, w, eps, n)) \
    /* y[n] = x * Phi(x), Phi being the cumulative normal distribution: the erf form of GELU */ \
    DO(gelu, (float *y, const float *x, size_t n), (y, x, n)) \
    /* y[n] = x / (1 + exp(-2 u)), u = sqrt(2/pi) (x + 0.044715 x^3): the tanh form of GELU, with which GPT-2 was \
     * trained */ \
    DO(gelu_new, (float *y, const float *x, size_t n), (y, x, n)) \
    /* y[n] = x above 0, else 0 */ \
    DO(relu, (float *y, const float *x, size_t n), (y, x, n)) \
    DO(relu2, (float *y, const float *x, size_t n), (y, x, n)) \
    /* y[n] = x / (1 + exp(-x)); of a gate, times x */ \
    DO(silu, (float *y, const float *x, size_t n), (y, x, n)) \
    DO(silu_mul, (float *y, const float *g, const float *x, size_t n), (y, g, x, n)) \
    /* y[n] = gelu(g) * x, in either form */ \
    DO(gelu_mul, (float *y, const float *g, const float *x, size_t n), (y, g, x, n)) \
    DO(gelu_new_mul, (float *y, const float *g, const float *x, size_t n), (y, g, x, n)) \
    /* x[n] = cap * tanh(x / cap) */ \
    DO(cap, (float *x, float cap, size_t n), (x, cap, n)) \
    /* y[n] = x[n] rounded to bf16, to nearest even; NaN stays NaN */ \
    DO(round, (float *y, const float *x, size_t n), (y, x, n)) \
    /* Rotates the pairs (i, i + r/2) of x[r] by the angles whose cosines and sines are c, s [r/2]. */ \
    DO(rotate, (float *x, const float *c, const float *s, size_t r), (x, c, s, r)) \
    /* The same for the pairs (2i, 2i + 1). */ \
    DO(rotate_interleaved, (float *x, const float *c, const float *s, size_t r), (x, c, s, r)) \
    /* Whether no number of x[n] is inf or NaN. */ \
    GET(bool, finite, (const float *x, size_t n), (x, n)) \
    /* sum over x[n]^2 */ \
    GET(double, squares, (const float *x, size_t n), (x, n)) \
    \
    /* What attention weights x[n] say: *entropy = -sum x ln x over those above 0, *distance = sum x |i - at|.  x ln x \
     * is exact to 2.5 units of 2^-52, and NaN stays. */ \
    DO(attention_stats, (double *entropy, double *distance, const float *x, double at, size_t n), (entropy, distance, \
        x, at, n)) \
    \
    /* y[n, 64] (+)= x[n, K] w[K, 64], each element one chain of fused multiply-adds over k ascending \
     * from 0, or from y when `more`.  ld in floats. */ \
    DO(panel, (float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K, \
               bool more), (y, ldy, x, ldx, w, ldw, n, K, more)) \
    /* y[n, 64] += x[K, n]' w[K, 64]; each chain continues from y. */ \
    DO(outer, (float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K), \
       (y, ldy, x, ldx, w, ldw, n, K)) \
    \
    /* The backward pass.  dy is the gradient of the loss with respect to the output of a function and becomes that \
     * with respect to its input, x.  x, which is not needed any more, becomes the output of the function, so that \
     * nobody has to keep it. */ \
    DO(gelu_backward, (float *dy, float *x, size_t n), (dy, x, n)) \
    DO(gelu_new_backward, (float *dy, float *x, size_t n), (dy, x, n)) \
    /* dy becomes the gradient with respect to g, x that with respect to x, and g the output of silu_mul. */ \
    DO(silu_mul_backward, (float *dy, float *g, float *x, size_t n), (dy, g, x, n)) \
    DO(gelu_mul_backward, (float *dy, float *g, float *x, size_t n), (dy, g, x, n)) \
    DO(gelu_new_mul_backward, (float *dy, float *g, float *x, size_t n), (dy, g, x, n)) \
    DO(relu_backward, (float *dy, float *x, size_t n), (dy, x, n)) \
    DO(relu2_backward, (float *dy, float *x, size_t n), (dy, x, n)) \
    DO(silu_backward, (float *dy, float *x, size_t n), (dy, x, n)) \
    /* dy becomes the gradient with respect to the input of cap; y[n] is its output. */ \
    DO(cap_backward, (float *dy, const float *y, float cap, size_t n), (dy, y, cap, n)) \
    /* dp becomes the gradient with respect to the dots, before they were scaled by s; p[n] is the output of the \
     * softmax. */ \
    DO(softmax_backward, (float *dp, const float *p, float s, size_t n), (dp, p, s, n)) \
    /* Adds the gradients of a norm with respect to x, weight and bias to dx, dw and db [n]; db may be NULL. */ \
    DO(norm_backward, (const struct attn_norm_backward *b, const float *dy, const float *x, size_t n), (b, dy, x, n)) \
    /* Returns -log softmax(x)[target]; x becomes weight times its gradient.  If a number is not finite, the result is \
     * not either. */ \
    GET(double, loss, (float *x, size_t target, float weight, size_t n), (x, target, weight, n)) \
    /* Dropout: y = x * scale or, for random numbers of the row, 0.  Which ones depends on key, row and position in \
     * the row alone. */ \
    DO(drop, (float *y, const float *x, const struct attn_drop *d, uint64_t row, size_t n), (y, x, d, row, n)) \
    /* One step of AdamW for x[n] with gradient g: updates the moving averages of g * scale (m) and of its square (v), \
     * then x = x * decay - lr * m / (sqrt(v) * bias2 + eps). */ \
    DO(adamw, (const struct attn_adamw *a, float *x, float *m, float *v, const float *g, size_t n), (a, x, m, v, g, n))

/* What reads numbers as they are stored one by one, for each type: attn_vec_of(type)->widen(y, x, n) and so on. */
#define ATTN_VEC_TYPED_OPS(DO) \
    /* y[n] = x[n] */ \
    DO(widen, (float *y, const void *x, size_t n)) \
    /* y[K, 64] = K rows of 64 numbers of x, ld elements apart */ \
    DO(block, (float *y, const void *x, size_t ld, size_t K)) \
    /* Transposes 16 rows of n numbers, to which x[16] points, into 16 columns of y[n, 64]: y[k * 64 + l] = x[l][k]. \
     * */ \
    DO(transpose, (float *y, const void *const *x, size_t n)) \
    /* The same as panel for `tile_rows` rows of x, while `prefetch` is fetched.  Leaves w as float32 in \
     * copy[K, 64]. */ \
    DO(panel_copy, (float *y, size_t ldy, const float *x, size_t ldx, float *copy, const void *w, size_t ldw, \
                    size_t K, bool more, struct attn_prefetch *prefetch)) \
    /* y[n * 64] = x[K] times n panels w[K, 64], `next` elements apart: the same chains, at the speed of memory. */ \
    DO(row_panels, (float *y, const float *x, const void *w, size_t next, size_t n, size_t K)) \
    /* y[n, cols] += x[n, K] w[K, cols] for few rows: n is at most ATTN_STREAM, cols a multiple of 16.  The chains are \
     * the same as panel's, at the speed of memory. */ \
    DO(stream, (float *y, size_t ldy, const float *x, size_t ldx, const void *w, size_t ldw, size_t n, size_t K, \
        size_t cols)) \
    /* The same for a weight stored [out, in], with 16 outputs at a time: y[n, 16] += x[n, K] w', where w[16] points \
     * to the rows. */ \
    DO(stream_transposed, (float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t n, size_t K, \
                       struct attn_prefetch *prefetch))

#define ATTN_MEMBER(name, parameters) void (*name) parameters;
#define ATTN_DO(name, parameters, arguments) void (*name) parameters;
#define ATTN_GET(type, name, parameters, arguments) type (*name) parameters;
struct attn_vec_typed { ATTN_VEC_TYPED_OPS(ATTN_MEMBER) };
struct attn_vec_ops {
    const char *target;                 /* its name in base/simd.h */
    bool fused;                         /* there is a fused multiply-add: the summation order holds (gemm.h) */
    size_t tile_rows;                   /* most rows of x that share what is read of w: at most six */
    ATTN_VEC_OPS(ATTN_DO, ATTN_GET)
    struct attn_vec_typed of[ATTN_PLAIN_DTYPES];
};
#undef ATTN_MEMBER
#undef ATTN_DO
#undef ATTN_GET

#define ATTN_VEC_SET(id, name) extern const struct attn_vec_ops attn_vec_##name;
ATTN_SIMD_SETS(ATTN_VEC_SET)
#undef ATTN_VEC_SET
const struct attn_vec_ops *attn_vec_ops(void);      /* the one in use */
static inline const struct attn_vec_typed *attn_vec_of(enum attn_dtype type) { return &attn_vec_ops()->of[type]; }

#define ATTN_DO(name, parameters, arguments) \
    static inline void attn_vec_##name parameters { attn_vec_ops()->name arguments; }
#define ATTN_GET(type, name, parameters, arguments) \
    static inline type attn_vec_##name parameters { return attn_vec_ops()->name arguments; }
ATTN_VEC_OPS(ATTN_DO, ATTN_GET)
#undef ATTN_DO
#undef ATTN_GET

static inline const char *attn_vec_target(void) { return attn_vec_ops()->target; }
static inline bool attn_vec_fused(void) { return attn_vec_ops()->fused; }

/* x = softmax(s x[n]), where max, their maximum, is subtracted. */
static inline void attn_vec_softmax(float *x, float s, float max, size_t n)
{
    attn_vec_normalise(x, attn_vec_exp_and_sum(x, s, max, n), n);
}

/* y[n] = op(pre), or op(pre, x) with a gate (mlp.h); y may be pre. */
static inline void attn_vec_activate(float *y, const float *pre, const float *x, enum attn_mlp_kind kind, size_t n)
{
#define ATTN_PLAIN(id, op, ...) case ATTN_MLP_##id: attn_vec_##op(y, pre, n); break;
#define ATTN_GATED(id, op, ...) case ATTN_MLP_##id: attn_vec_##op(y, pre, x, n); break;
    switch (kind) {
    ATTN_MLPS(ATTN_PLAIN, ATTN_GATED)
    case ATTN_MLP_NONE: break;
    }
#undef ATTN_PLAIN
#undef ATTN_GATED
}

/* The same backwards: op_backward says what becomes of what. */
static inline void attn_vec_activate_backward(float *dy, float *pre, float *x, enum attn_mlp_kind kind, size_t n)
{
#define ATTN_PLAIN(id, op, ...) case ATTN_MLP_##id: attn_vec_##op##_backward(dy, pre, n); break;
#define ATTN_GATED(id, op, ...) case ATTN_MLP_##id: attn_vec_##op##_backward(dy, pre, x, n); break;
    switch (kind) {
    ATTN_MLPS(ATTN_PLAIN, ATTN_GATED)
    case ATTN_MLP_NONE: break;
    }
#undef ATTN_PLAIN
#undef ATTN_GATED
}

/* Element `first` of x, as it is stored; in blocks, one that begins a block. */
static inline const void *attn_element(const void *x, enum attn_dtype type, size_t first)
{
    return (const char *)x + attn_dtype_bytes(type, first);
}

/* y[n] = n stored numbers of x from element `first` on, any element, converted to float32 */
static inline void attn_vec_widen(float *y, const void *x, enum attn_dtype type, size_t first, size_t n)
{
    if (attn_dtype_in_blocks(type))
        attn_blocks_decode(y, x, type, first, n);
    else
        attn_vec_of(type)->widen(y, attn_element(x, type, first), n);
}

#endif
