/* products_body.h - products with a weight as it is stored: float32, float16 or bf16; [in, out] or [out, in].
 *
 * Numbers are converted on the way into registers (widened), sixteen stored rows [out, in] are transposed there.  For
 * many rows of x a tile (tile.h) reads panels of 64 columns; for few, w is streamed: read where it is stored, in long
 * stretches and each number once.  Included by vec_body.h alone. */
#ifndef ATTN_COMPUTE_PRODUCTS_BODY_H
#define ATTN_COMPUTE_PRODUCTS_BODY_H

#if defined(ATTN_WASM)
#include "compute/products_fused.h"
#endif
#if defined(__wasm__)
#include "compute/products_small.h"
#else
#include "compute/tile.h"
#endif

/* How weights are stored. */
#define EACH_TYPE(DO) DO(f32, float) DO(f16, uint16_t) DO(bf16, uint16_t)

static inline v16 from_stored_f16(const void *w) { return from_f16(w); }
static inline v16 from_stored_bf16(const void *w) { return from_bf16(w); }

/* ---- stored numbers as float32 ---- */

static inline __attribute__((always_inline))
void widen(float *y, const uint16_t *x, size_t n, from_stored *from)
{
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES)
        store(y + i, from(x + i));
    uint16_t part[LANES] = {0};
    memcpy(part, x + whole, (n - whole) * sizeof *part);
    put(y + whole, from(part), n - whole);
}

static void widen_f32(float *y, const void *x, size_t n) { memcpy(y, x, n * sizeof *y); }
static void widen_f16(float *y, const void *x, size_t n) { widen(y, x, n, from_stored_f16); }
static void widen_bf16(float *y, const void *x, size_t n) { widen(y, x, n, from_stored_bf16); }

#define BLOCK(t, type) static void block_##t(float *y, const void *x, size_t ld, size_t K) \
{ \
    const type *row = x; \
    for (size_t k = 0; k < K; k++, row += ld, y += ATTN_PANEL) \
        UNROLL for (size_t c = 0; c < ATTN_PANEL; c += LANES) \
            store(y + c, from_stored_##t(row + c)); \
}
EACH_TYPE(BLOCK)
#undef BLOCK

/* ---- transposing ---- */

enum { WORDS = 4, PART = 16 };          /* words, and bytes, of each row in a part of its line */

/* Step k of the transposed words, each of which has one step (float32) or two. */
static inline v16 step_f32(const v16 *w, size_t k) { return w[k]; }
static inline v16 step_f16(const v16 *w, size_t k) { return k % 2 ? odd_f16(w[k / 2]) : even_f16(w[k / 2]); }
static inline v16 step_bf16(const v16 *w, size_t k) { return k % 2 ? odd_bf16(w[k / 2]) : even_bf16(w[k / 2]); }

/* The last n bytes of 16 rows, too few for a line, and zeros. */
static struct lines last_lines(const void *const *row, size_t byte, size_t n)
{
    struct lines lines;
    char padded[ATTN_TRANSPOSE][LINE_BYTES] = {{0}};
    const void *at[ATTN_TRANSPOSE];
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++)
        at[l] = memcpy(padded[l], (const char *)row[l] + byte, n);
    take_lines(&lines, at, 0);
    return lines;
}

/* STEPS: of k in a part. */
#define TRANSPOSE(t, type) static void transpose_##t(float *y, const void *const *x, size_t n) \
{ \
    enum { STEPS = PART / sizeof(type), LINE = LINE_BYTES / sizeof(type) }; \
    v16 out[WORDS]; \
    size_t k = 0; \
    for (; k + LINE <= n; k += LINE) { \
        struct lines lines; \
        take_lines(&lines, x, k * sizeof(type)); \
        UNROLL for (size_t p = 0; p < PARTS; p++, y += STEPS * ATTN_PANEL) { \
            transpose4(out, lines.part[p]); \
            UNROLL for (size_t i = 0; i < STEPS; i++) \
                store(y + i * ATTN_PANEL, step_##t(out, i)); \
        } \
    } \
    if (k == n) \
        return; \
    struct lines last = last_lines(x, k * sizeof(type), (n - k) * sizeof(type)); \
    for (size_t p = 0; k < n; p++, k += STEPS) { \
        transpose4(out, last.part[p]); \
        for (size_t i = 0; i < STEPS && k + i < n; i++, y += ATTN_PANEL) \
            store(y, step_##t(out, i)); \
    } \
}
EACH_TYPE(TRANSPOSE)
#undef TRANSPOSE

#if defined(__wasm__)
EACH_TYPE(SMALL_PRODUCTS)
#else

/* ---- panels ---- */

static inline void columns_f16(v16 *col, const char *w, size_t next)
{
    (void)next, columns(col, w, 2, from_stored_f16);
}
static inline void columns_bf16(v16 *col, const char *w, size_t next)
{
    (void)next, columns(col, w, 2, from_stored_bf16);
}

/* TILE_ROWS rows of x, which leave w in float32. */
#define PANEL_COPY(t, type) \
static void panel_copy_##t(float *y, size_t ldy, const float *x, size_t ldx, float *copy, const void *w, size_t ldw, \
                           size_t K, bool more, struct attn_prefetch *prefetch) \
{ \
    enum { SIZE = sizeof(type) }; \
    const size_t rate = prefetch_rate(prefetch, ATTN_PANEL / TILE * K); \
    for (size_t j = 0; j < ATTN_PANEL; j += TILE) \
        tile(y + j, ldy, x, ldx, 1, (const char *)w + j * SIZE, ldw * SIZE, columns_##t, true, copy + j, TILE_ROWS, K, \
             more, prefetch, rate); \
}
EACH_TYPE(PANEL_COPY)
#undef PANEL_COPY

#define ROW_PANELS(t, type) \
static void row_panels_##t(float *y, const float *x, const void *w, size_t next, size_t n, size_t K) \
{ \
    row_times(y, x, w, next * sizeof(type), n, K, sizeof(type), from_stored_##t); \
}
EACH_TYPE(ROW_PANELS)
#undef ROW_PANELS

/* Of transposed x, whose rows are steps of k.  x and w are activations in the cache already: nothing is prefetched. */
#define OUTER_OF(n) \
    static void outer##n(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t K) \
{ \
    struct attn_prefetch none = {0}; \
    tile(y, ldy, x, 1, ldx, (const char *)w, ldw * sizeof *w, columns_f32, false, y, n, K, true, &none, 0); \
}
OUTER_OF(1) OUTER_OF(2) OUTER_OF(3)
#if TILE_ROWS == 6
OUTER_OF(4) OUTER_OF(5) OUTER_OF(6)
#define OUTER outer1, outer2, outer3, outer4, outer5, outer6
#else
#define OUTER outer1, outer2, outer3
#endif
#undef OUTER_OF

static void vec_outer(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K)
{
    static void (*const tiles[])(float *, size_t, const float *, size_t, const float *, size_t, size_t) = {OUTER};
    for (size_t j = 0; j < ATTN_PANEL; j += TILE)
        for (size_t i = 0, rows; i < n; i += rows) {
            rows = n - i < TILE_ROWS ? n - i : TILE_ROWS;
            tiles[rows - 1](y + i * ldy + j, ldy, x + i, ldx, w + j, ldw, K);
        }
}

/* ---- few rows of x, w stored [in, out] ---- */

/* How many steps of k are added each time the sums are read and written: so many rows of w are read side by side. */
enum { DEEP = ATTN_ABREAST };

/* y[rows, cols] += x[rows, deep] w[deep, cols]; callers pass constants for rows and deep; cols: a multiple of LANES */
#define STREAM(t, type) \
static inline __attribute__((always_inline)) \
void steps_##t(float *y, size_t ldy, const float *x, size_t ldx, const type *w, size_t ldw, size_t rows, size_t deep, \
                  size_t cols, struct coming_rows *next) \
{ \
    v16 f[ATTN_STREAM][DEEP]; \
    UNROLL for (size_t r = 0; r < rows; r++) \
        UNROLL for (size_t k = 0; k < deep; k++) \
            f[r][k] = all(x[r * ldx + k]); \
    for (size_t c = 0; c < cols; c += LANES) { \
        v16 row[DEEP]; \
        if (deep == DEEP && c % (LINE_BYTES / sizeof *w) == 0) \
            prefetch_rows(next); \
        UNROLL for (size_t k = 0; k < deep; k++) \
            row[k] = from_stored_##t(w + k * ldw + c); \
        UNROLL for (size_t r = 0; r < rows; r++) { \
            v16 sum = load(y + r * ldy + c); \
            UNROLL for (size_t k = 0; k < deep; k++) \
                sum = fma16(f[r][k], row[k], sum); \
            store(y + r * ldy + c, sum); \
        } \
    } \
} \
static inline __attribute__((always_inline)) \
void stream_rows_##t(float *y, size_t ldy, const float *x, size_t ldx, const type *w, size_t ldw, size_t rows, \
                     size_t K, size_t cols) \
{ \
    size_t k = 0; \
    struct coming_rows next = coming_rows(w, ldw * sizeof *w, cols * sizeof *w); \
    for (; k + DEEP <= K; k += DEEP) \
        steps_##t(y, ldy, x + k, ldx, w + k * ldw, ldw, rows, DEEP, cols, &next); \
    for (; k < K; k++) \
        steps_##t(y, ldy, x + k, ldx, w + k * ldw, ldw, rows, 1, cols, &next); \
} \
static void stream_##t(float *y, size_t ldy, const float *x, size_t ldx, const void *w, size_t ldw, size_t n, \
                       size_t K, size_t cols) \
{ \
    switch (n) { \
    case 1: stream_rows_##t(y, ldy, x, ldx, w, ldw, 1, K, cols); break; \
    case 2: stream_rows_##t(y, ldy, x, ldx, w, ldw, 2, K, cols); break; \
    case 3: stream_rows_##t(y, ldy, x, ldx, w, ldw, 3, K, cols); break; \
    case 4: stream_rows_##t(y, ldy, x, ldx, w, ldw, 4, K, cols); break; \
    case 5: stream_rows_##t(y, ldy, x, ldx, w, ldw, 5, K, cols); break; \
    default: stream_rows_##t(y, ldy, x, ldx, w, ldw, ATTN_STREAM, K, cols); break; \
    } \
}
EACH_TYPE(STREAM)
#undef STREAM

/* ---- few rows of x, w stored [out, in] ---- */

/* part_TYPE adds the first `steps` steps of a part.  Callers pass constants for rows and, but at a row's end, steps. */
#define STREAM_TRANSPOSED(t, type) \
static inline __attribute__((always_inline)) \
void part_##t(v16 *sum, const float *x, size_t ldx, const v16 part[4], size_t rows, size_t steps) \
{ \
    v16 words[WORDS]; \
    transpose4(words, part); \
    UNROLL_OUTER for (size_t i = 0; i < PART / sizeof(type); i++) { \
        v16 row = step_##t(words, i); \
        if (i < steps) \
            UNROLL for (size_t r = 0; r < rows; r++) \
                sum[r] = fma16(all(x[r * ldx + i]), row, sum[r]); \
    } \
} \
static inline __attribute__((always_inline)) \
void transposed_rows_##t(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t rows, \
                         size_t K, \
                     struct attn_prefetch *prefetch) \
{ \
    enum { STEPS = PART / sizeof(type), LINE = LINE_BYTES / sizeof(type) }; \
    v16 sum[ATTN_STREAM]; \
    size_t k = 0, rate = prefetch_rate(prefetch, K / LINE + 1); \
    UNROLL for (size_t r = 0; r < rows; r++) \
        sum[r] = load(y + r * ldy); \
    for (; k + LINE <= K; k += LINE) { \
        struct lines lines; \
        take_lines(&lines, w, k * sizeof(type)); \
        UNROLL_OUTER for (size_t p = 0; p < PARTS; p++) \
            part_##t(sum, x + k + p * STEPS, ldx, lines.part[p], rows, STEPS); \
        prefetch_some(prefetch, rate); \
    } \
    if (k < K) { \
        struct lines last = last_lines(w, k * sizeof(type), (K - k) * sizeof(type)); \
        for (size_t p = 0; k < K; p++, k += STEPS) \
            part_##t(sum, x + k, ldx, last.part[p], rows, K - k); \
    } \
    UNROLL for (size_t r = 0; r < rows; r++) \
        store(y + r * ldy, sum[r]); \
} \
static void stream_transposed_##t(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t n, \
                                  size_t K, \
                 struct attn_prefetch *prefetch) \
{ \
    switch (n) { \
    case 1: transposed_rows_##t(y, ldy, x, ldx, w, 1, K, prefetch); break; \
    case 2: transposed_rows_##t(y, ldy, x, ldx, w, 2, K, prefetch); break; \
    case 3: transposed_rows_##t(y, ldy, x, ldx, w, 3, K, prefetch); break; \
    case 4: transposed_rows_##t(y, ldy, x, ldx, w, 4, K, prefetch); break; \
    case 5: transposed_rows_##t(y, ldy, x, ldx, w, 5, K, prefetch); break; \
    default: transposed_rows_##t(y, ldy, x, ldx, w, ATTN_STREAM, K, prefetch); break; \
    } \
}
EACH_TYPE(STREAM_TRANSPOSED)
#undef STREAM_TRANSPOSED

#endif
#endif
