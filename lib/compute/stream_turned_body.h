/* stream_turned_body.h - the product for few rows of x where w is stored by outputs: sixteen of its rows are read side by
 * side and turned in registers, so that lanes are outputs and each sum is a chain over k.
 *
 * Included by vec_body.h alone. */
#ifndef ATTN_COMPUTE_STREAM_TURNED_BODY_H
#define ATTN_COMPUTE_STREAM_TURNED_BODY_H

enum { WORDS = 4, WORD = 4, AT_ONCE = WORDS * WORD };   /* so many bytes of each row are turned at a time */

/* Step k of the turned words: a word each, or two in each. */
static inline v16 step_f32(const v16 *w, size_t k) { return w[k]; }
static inline v16 step_f16(const v16 *w, size_t k) { return k % 2 ? odd_f16(w[k / 2]) : even_f16(w[k / 2]); }
static inline v16 step_bf16(const v16 *w, size_t k) { return k % 2 ? odd_bf16(w[k / 2]) : even_bf16(w[k / 2]); }

/* The first steps of one turn; rows, sets (of 16 outputs) and steps are constants where it is called, but for the last ones. */
#define STREAM_TURNED(name, size, sets, step) \
static inline __attribute__((always_inline)) \
void name##_turn(v16 (*sum)[sets], const float *x, size_t ldx, const void *const *w, size_t byte, size_t rows, size_t steps) \
{ \
    v16 words[sets][WORDS]; \
    UNROLL for (size_t s = 0; s < sets; s++) \
        turn4(words[s], w + s * ATTN_TURN, byte); \
    UNROLL for (size_t i = 0; i < AT_ONCE / size; i++) { \
        v16 row[sets]; \
        UNROLL for (size_t s = 0; s < sets; s++) \
            row[s] = step(words[s], i); \
        if (i < steps) \
            UNROLL for (size_t r = 0; r < rows; r++) \
                UNROLL for (size_t s = 0; s < sets; s++) \
                    sum[r][s] = fma16(all(x[r * ldx + i]), row[s], sum[r][s]); \
    } \
} \
static inline __attribute__((always_inline)) \
void name##_rows(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t rows, size_t K, \
                 struct attn_ahead *ahead) \
{ \
    enum { STEPS = AT_ONCE / size }; \
    v16 sum[ATTN_STREAM][sets]; \
    size_t k = 0, rate = ask_rate(ahead, K / STEPS + 1); \
    UNROLL for (size_t r = 0; r < rows; r++) \
        UNROLL for (size_t s = 0; s < sets; s++) \
            sum[r][s] = load(y + r * ldy + s * LANES); \
    for (; k + STEPS <= K; k += STEPS) { \
        name##_turn(sum, x + k, ldx, w, k * size, rows, STEPS); \
        ask_some(ahead, rate); \
    } \
    if (k < K) { \
        char room[sets * ATTN_TURN][AT_ONCE] = {{0}}; \
        const void *row[sets * ATTN_TURN]; \
        for (size_t s = 0; s < sets * ATTN_TURN; s += ATTN_TURN) \
            last_bytes(row + s, room + s, w + s, k * size, (K - k) * size); \
        name##_turn(sum, x + k, ldx, row, 0, rows, K - k); \
    } \
    UNROLL for (size_t r = 0; r < rows; r++) \
        UNROLL for (size_t s = 0; s < sets; s++) \
            store(y + r * ldy + s * LANES, sum[r][s]); \
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
/* Two steps are in a word of bf16, and one chain waits for itself: two of them.  Float16 becomes floats meanwhile. */
STREAM_TURNED(stream_turned_f32, 4, 1, step_f32) STREAM_TURNED(stream_turned_f16, 2, 1, step_f16)
STREAM_TURNED(stream_turned_bf16, 2, ATTN_SIDE / ATTN_TURN, step_bf16)
#undef STREAM_TURNED

#endif
