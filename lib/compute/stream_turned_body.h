/* stream_turned_body.h - the product for few rows of x and a weight stored [out, in]: sixteen of its rows are read side by
 * side and transposed in registers, so that lanes are outputs and each sum is a chain over k.
 *
 * Included by vec_body.h alone. */
#ifndef ATTN_COMPUTE_STREAM_TURNED_BODY_H
#define ATTN_COMPUTE_STREAM_TURNED_BODY_H

enum { WORDS = 4, WORD = 4, AT_ONCE = WORDS * WORD };   /* words, and bytes, of each row that are transposed at a time */

/* Step k of the transposed words, each of which has one step (float32) or two. */
static inline v16 step_f32(const v16 *w, size_t k) { return w[k]; }
static inline v16 step_f16(const v16 *w, size_t k) { return k % 2 ? odd_f16(w[k / 2]) : even_f16(w[k / 2]); }
static inline v16 step_bf16(const v16 *w, size_t k) { return k % 2 ? odd_bf16(w[k / 2]) : even_bf16(w[k / 2]); }

/* name_turn adds the first `steps` steps of one transposition.  Callers pass constants for rows, sets (of 16 outputs) and,
 * except at the end of the rows, steps. */
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
/* In bf16 arithmetic is the bottleneck, and a single chain would wait for its own latency: two sets of outputs run side by
 * side.  Float16 needs only one, since conversions fill the waiting time. */
STREAM_TURNED(stream_turned_f32, 4, 1, step_f32) STREAM_TURNED(stream_turned_f16, 2, 1, step_f16)
STREAM_TURNED(stream_turned_bf16, 2, ATTN_SIDE / ATTN_TURN, step_bf16)
#undef STREAM_TURNED

#endif
