#include "compute/pairs_body.h"

/* Products of one or two rows of x by vdpbf16ps, with w read where it is stored: see stream_body.h and stream_turned_body.h. */
static inline v16 dots16(v16 x, v32 w, v16 sum)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)w);
}

/* ---- w [in, out] ---- */

/* Callers pass constants for size, from and rows. */
static inline __attribute__((always_inline))
void eight_steps(float *y, size_t ldy, const float *x, size_t ldx, const struct rows *w, struct rows_to_come *next, size_t cols,
                 size_t size, v32_from *from, size_t rows)
{
    v16 f[ATTN_PAIRS_LONE][DEEP / 2];
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t k = 0; k < DEEP / 2; k++)
            f[r][k] = all(x[r * ldx + k]);
    for (size_t c = 0; c < cols; c += BOTH) {
        struct paired words[DEEP / 2];
        for (size_t line = 0; line < BOTH * size; line += LINE_BYTES)
            ask_for_rows(next);
        UNROLL for (size_t k = 0; k < DEEP / 2; k++)
            words[k] = pair(from(w->at[2 * k] + c * size), from(w->at[2 * k + 1] + c * size));
        UNROLL for (size_t r = 0; r < rows; r++) {
            float *to = y + r * ldy + c;
            v16 left = load(to), right = load(to + LANES);
            UNROLL for (size_t k = 0; k < DEEP / 2; k++) {
                left = dots16(f[r][k], words[k].left, left);
                right = dots16(f[r][k], words[k].right, right);
            }
            store(to, left);
            store(to + LANES, right);
        }
    }
}

/* All words of x count, also those of the padding: adding their zero products turns a sum of -0 into 0. */
#define STREAM(name, size, from) \
static inline __attribute__((always_inline)) \
void name##_rows(float *y, size_t ldy, const float *x, size_t ldx, const char *w, size_t bytes, size_t K, size_t cols, \
                 size_t rows) \
{ \
    struct rows_to_come next = rows_to_come(w, bytes, cols * size); \
    for (size_t k = 0; k < 2 * attn_pairs_words(K); k += DEEP) { \
        struct rows eight = rows_at(w, bytes, k, K); \
        eight_steps(y, ldy, x + k / 2, ldx, &eight, &next, cols, size, from, rows); \
    } \
} \
static void name(float *y, size_t ldy, const float *x, size_t ldx, const char *w, size_t bytes, size_t n, size_t K, size_t cols) \
{ \
    if (n == 1) \
        name##_rows(y, ldy, x, ldx, w, bytes, K, cols, 1); \
    else \
        name##_rows(y, ldy, x, ldx, w, bytes, K, cols, ATTN_PAIRS_LONE); \
}
STREAM(stream_f32, 4, v32_from_f32) STREAM(stream_f16, 2, v32_from_f16) STREAM(stream_bf16, 2, v32_from_bf16)
#undef STREAM

void attn_pairs_stream_dots(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                            size_t ldw, size_t n, size_t K, size_t cols)
{
    static void (*const by_type[])(float *, size_t, const float *, size_t, const char *, size_t, size_t, size_t, size_t) = {
        [ATTN_F32] = stream_f32, [ATTN_F16] = stream_f16, [ATTN_BF16] = stream_bf16};
    size_t size = attn_dtype_size(type);
    by_type[type](y, ldy, x, ldx, (const char *)w + first * size, ldw * size, n, K, cols);
}

/* ---- w [out, in] ---- */

#define TURNED(name, size, from) \
static inline __attribute__((always_inline)) \
void name##_rows(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t K, struct attn_ahead *ahead, \
                 size_t rows) \
{ \
    struct turn t; \
    v16 sum[ATTN_PAIRS_LONE], out[4]; \
    size_t rate = ask_rate(ahead, attn_pairs_words(K) / 4); \
    UNROLL for (size_t r = 0; r < rows; r++) \
        sum[r] = load(y + r * ldy); \
    for (size_t k = 0; k < K; k += BOTH) { \
        make_words(&t, w, k, K, size, from); \
        for (size_t i = 0; i < LANES; i += 4, x += 4) { \
            turn4(out, t.row, i * sizeof *x); \
            UNROLL for (size_t r = 0; r < rows; r++) \
                UNROLL for (size_t l = 0; l < 4; l++) \
                    sum[r] = dots16(all(x[r * ldx + l]), (v32)out[l], sum[r]); \
            ask_some(ahead, rate); \
        } \
    } \
    UNROLL for (size_t r = 0; r < rows; r++) \
        store(y + r * ldy, sum[r]); \
} \
static void name(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t n, size_t K, \
                 struct attn_ahead *ahead) \
{ \
    if (n == 1) \
        name##_rows(y, ldy, x, ldx, w, K, ahead, 1); \
    else \
        name##_rows(y, ldy, x, ldx, w, K, ahead, ATTN_PAIRS_LONE); \
}
TURNED(turned_f32, 4, v32_from_f32) TURNED(turned_f16, 2, v32_from_f16) TURNED(turned_bf16, 2, v32_from_bf16)
#undef TURNED

void attn_pairs_stream_turned_dots(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type,
                                   size_t n, size_t K, struct attn_ahead *ahead)
{
    static void (*const by_type[])(float *, size_t, const float *, size_t, const void *const *, size_t, size_t,
                                   struct attn_ahead *) = {
        [ATTN_F32] = turned_f32, [ATTN_F16] = turned_f16, [ATTN_BF16] = turned_bf16};
    by_type[type](y, ldy, x, ldx, w, n, K, ahead);
}
