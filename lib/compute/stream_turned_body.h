/* stream_turned_body.h - the product for few rows of x where w is stored by outputs: sixteen of its rows are read side by
 * side and turned in registers, so that lanes are outputs and each sum is a chain over k.
 *
 * Included by vec_body.h alone. */
#ifndef ATTN_COMPUTE_STREAM_TURNED_BODY_H
#define ATTN_COMPUTE_STREAM_TURNED_BODY_H

enum { WORDS = 4, WORD = 4, AT_ONCE = WORDS * WORD };   /* so many bytes of each row are turned at a time */

/* Step k of the turned words: a word each, or two in each. */
static inline v16 step_f32(const v16 *w, size_t k) { return w[k]; }
static inline v16 step_bf16(const v16 *w, size_t k) { return k % 2 ? odd_bf16(w[k / 2]) : even_bf16(w[k / 2]); }

/* rows is a constant where it is called. */
#define STREAM_TURNED(name, size, step) \
static inline __attribute__((always_inline)) \
void name##_rows(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t rows, size_t K, \
                 struct attn_ahead *ahead) \
{ \
    enum { STEPS = AT_ONCE / size }; \
    v16 sum[ATTN_STREAM], words[WORDS]; \
    size_t k = 0, rate = ask_rate(ahead, K / STEPS + 1); \
    UNROLL for (size_t r = 0; r < rows; r++) \
        sum[r] = load(y + r * ldy); \
    for (; k + STEPS <= K; k += STEPS) { \
        turn4(words, w, k * size); \
        UNROLL for (size_t i = 0; i < STEPS; i++) \
            UNROLL for (size_t r = 0; r < rows; r++) \
                sum[r] = fma16(all(x[r * ldx + k + i]), step(words, i), sum[r]); \
        ask_some(ahead, rate); \
    } \
    if (k < K) { \
        char room[ATTN_TURN][AT_ONCE] = {{0}}; \
        const void *row[ATTN_TURN]; \
        last_bytes(row, room, w, k * size, (K - k) * size); \
        turn4(words, row, 0); \
        for (size_t i = 0; i < K - k; i++) \
            UNROLL for (size_t r = 0; r < rows; r++) \
                sum[r] = fma16(all(x[r * ldx + k + i]), step(words, i), sum[r]); \
    } \
    UNROLL for (size_t r = 0; r < rows; r++) \
        store(y + r * ldy, sum[r]); \
} \
static void name(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t n, size_t K, \
                 struct attn_ahead *ahead) \
{ \
    switch (n) { \
    case 1: name##_rows(y, ldy, x, ldx, w, 1, K, ahead); break; \
    case 2: name##_rows(y, ldy, x, ldx, w, 2, K, ahead); break; \
    case 3: name##_rows(y, ldy, x, ldx, w, 3, K, ahead); break; \
    case 4: name##_rows(y, ldy, x, ldx, w, 4, K, ahead); break; \
    case 5: name##_rows(y, ldy, x, ldx, w, 5, K, ahead); break; \
    default: name##_rows(y, ldy, x, ldx, w, ATTN_STREAM, K, ahead); break; \
    } \
}
STREAM_TURNED(stream_turned_f32, 4, step_f32) STREAM_TURNED(stream_turned_bf16, 2, step_bf16)
#undef STREAM_TURNED

/* Made float32 first. */
static void stream_turned_f16(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t n, size_t K,
                              struct attn_ahead *ahead)
{
    enum { PART = 64 };
    float wide[ATTN_TURN][PART];
    const void *row[ATTN_TURN];
    struct attn_ahead none = {0};
    size_t rate = ask_rate(ahead, K / PART + 1);
    for (size_t k = 0, m; k < K; k += m) {
        m = K - k < PART ? K - k : PART;
        for (size_t l = 0; l < ATTN_TURN; l++) {
            widen_f16(wide[l], (const uint16_t *)w[l] + k, m);
            row[l] = wide[l];
        }
        ask_some(ahead, rate);
        stream_turned_f32(y, ldy, x + k, ldx, row, n, m, &none);
    }
}

#endif
