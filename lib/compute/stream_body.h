/* stream_body.h - the product for few rows of x and a weight stored [in, out]: w is read where it is stored, in
 * long stretches and each number once, while the sums stay in the L1 cache.
 *
 * Included by vec_body.h alone. */
#ifndef ATTN_COMPUTE_STREAM_BODY_H
#define ATTN_COMPUTE_STREAM_BODY_H

/* How many steps of k are added each time the sums are read and written: so many rows of w are read side by side.  With more
 * rows of x, their numbers need more registers, hence fewer steps; and as arithmetic then takes as long as reading, it is
 * enough to prefetch just the next rows. */
enum { DEEP = ATTN_ABREAST, LESS_DEEP = 4 };

/* y[rows, cols] += x[rows, deep] w[deep, cols]; callers pass constants for rows and deep; cols: a multiple of LANES */
#define STREAM(name, type, from) \
static inline __attribute__((always_inline)) \
void name##_steps(float *y, size_t ldy, const float *x, size_t ldx, const type *w, size_t ldw, size_t rows, size_t deep, \
                  size_t cols, struct rows_to_come *next) \
{ \
    v16 f[ATTN_STREAM][DEEP]; \
    UNROLL for (size_t r = 0; r < rows; r++) \
        UNROLL for (size_t k = 0; k < deep; k++) \
            f[r][k] = all(x[r * ldx + k]); \
    for (size_t c = 0; c < cols; c += LANES) { \
        v16 row[DEEP]; \
        if (deep == DEEP && c % (LINE_BYTES / sizeof *w) == 0) \
            ask_for_rows(next); \
        UNROLL for (size_t k = 0; k < deep; k++) { \
            row[k] = from(w + k * ldw + c); \
            if (deep < DEEP) \
                _mm_prefetch((const char *)((uintptr_t)w + ((deep + k) * ldw + c) * sizeof *w), _MM_HINT_T0); \
        } \
        UNROLL for (size_t r = 0; r < rows; r++) { \
            v16 sum = load(y + r * ldy + c); \
            UNROLL for (size_t k = 0; k < deep; k++) \
                sum = fma16(f[r][k], row[k], sum); \
            store(y + r * ldy + c, sum); \
        } \
    } \
} \
static inline __attribute__((always_inline)) \
void name##_rows(float *y, size_t ldy, const float *x, size_t ldx, const type *w, size_t ldw, size_t rows, size_t deep, \
                 size_t K, size_t cols) \
{ \
    size_t k = 0; \
    struct rows_to_come next = rows_to_come(w, ldw * sizeof *w, cols * sizeof *w); \
    for (; k + deep <= K; k += deep) \
        name##_steps(y, ldy, x + k, ldx, w + k * ldw, ldw, rows, deep, cols, &next); \
    for (; k < K; k++) \
        name##_steps(y, ldy, x + k, ldx, w + k * ldw, ldw, rows, 1, cols, &next); \
} \
static void name(float *y, size_t ldy, const float *x, size_t ldx, const void *w, size_t ldw, size_t n, size_t K, size_t cols) \
{ \
    switch (n) { \
    case 1: name##_rows(y, ldy, x, ldx, w, ldw, 1, DEEP, K, cols); break; \
    case 2: name##_rows(y, ldy, x, ldx, w, ldw, 2, DEEP, K, cols); break; \
    case 3: name##_rows(y, ldy, x, ldx, w, ldw, 3, LESS_DEEP, K, cols); break; \
    case 4: name##_rows(y, ldy, x, ldx, w, ldw, 4, LESS_DEEP, K, cols); break; \
    case 5: name##_rows(y, ldy, x, ldx, w, ldw, 5, LESS_DEEP, K, cols); break; \
    default: name##_rows(y, ldy, x, ldx, w, ldw, ATTN_STREAM, LESS_DEEP, K, cols); break; \
    } \
}
STREAM(stream_f32, float, load) STREAM(stream_f16, uint16_t, from_f16) STREAM(stream_bf16, uint16_t, from_bf16)
#undef STREAM

#endif
