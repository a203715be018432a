/* bf16_dots.c - products in pairs by vdpbf16ps. */
#include "compute/bf16_body.h"

/* The tile of float32 (tile.h), with another instruction in place of the fused multiply-add. */
static inline v16 dots16(v16 x, v16 w, v16 sum)
{
    return (v16){{_mm512_dpbf16_ps(sum.v[0], (__m512bh)x.v[0], (__m512bh)w.v[0])}};
}
#define fma16 dots16
#include "compute/tile.h"

static void panel_dots(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words,
                       bool more, struct attn_prefetch *prefetch)
{
    (void)prefetch;
    vec_panel(y, ldy, x, ldx, w, ATTN_PANEL, n, words, more);
}

/* ---- the first rows of x, which make the words of w [in, out] while they multiply ---- */

#define COPY(name, size, from) \
static inline void name##_columns(v16 *col, const char *w, size_t next) \
{ \
    const size_t half = (size_t)BOTH * size; \
    const char *second = w + next / 2;  /* of two rows in a step */ \
    struct paired near = pair(from(w), from(second)), far = pair(from(w + half), from(second + half)); \
    col[0] = words16(near.left), col[1] = words16(near.right); \
    col[2] = words16(far.left), col[3] = words16(far.right); \
} \
static void name(float *y, size_t ldy, const float *x, size_t ldx, float *words, const char *w, size_t ldw, size_t K, \
                 bool more, struct attn_prefetch *prefetch, size_t rate) \
{ \
    tile(y, ldy, x, ldx, 1, w, 2 * ldw * size, name##_columns, true, words, TILE_ROWS, K / 2, more, prefetch, rate); \
}
COPY(copy_f32, 4, v32_from_f32) COPY(copy_f16, 2, v32_from_f16) COPY(copy_bf16, 2, v32_from_bf16)
#undef COPY
_Static_assert(TILE_ROWS == ATTN_BF16_FIRST && TILE_COLS == 4, "a tile has the first rows and all columns");

static void panel_copy(float *y, size_t ldy, const float *x, size_t ldx, float *words, const void *w,
                       enum attn_dtype type, size_t ldw, size_t K, bool more, struct attn_prefetch *prefetch)
{
    static void (*const by_type[])(float *, size_t, const float *, size_t, float *, const char *, size_t, size_t, bool,
                                   struct attn_prefetch *, size_t) = {
        [ATTN_F32] = copy_f32, [ATTN_F16] = copy_f16, [ATTN_BF16] = copy_bf16};
    by_type[type](y, ldy, x, ldx, words, w, ldw, K, more, prefetch, prefetch_rate(prefetch, K / 2));
}

static void row_dots(float *y, const float *x, const float *w, size_t next, size_t n, size_t words)
{
    row_times(y, x, (const char *)w, next * sizeof *w, n, words, sizeof *w, from_stored_f32);
}

/* ---- one or two rows of x, w stored [in, out]: see products_body.h ---- */

/* Callers pass constants for size, from and rows. */
static inline __attribute__((always_inline))
void eight_steps(float *y, size_t ldy, const float *x, size_t ldx, const struct rows *w, struct coming_rows *next,
                 size_t cols, size_t size, v32_from *from, size_t rows)
{
    v16 f[ATTN_BF16_LONE][DEEP / 2];
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t k = 0; k < DEEP / 2; k++)
            f[r][k] = all(x[r * ldx + k]);
    for (size_t c = 0; c < cols; c += BOTH) {
        struct paired words[DEEP / 2];
        for (size_t line = 0; line < BOTH * size; line += LINE_BYTES)
            prefetch_rows(next);
        UNROLL for (size_t k = 0; k < DEEP / 2; k++)
            words[k] = pair(from(w->at[2 * k] + c * size), from(w->at[2 * k + 1] + c * size));
        UNROLL for (size_t r = 0; r < rows; r++) {
            float *to = y + r * ldy + c;
            v16 left = load(to), right = load(to + LANES);
            UNROLL for (size_t k = 0; k < DEEP / 2; k++) {
                left = dots16(f[r][k], words16(words[k].left), left);
                right = dots16(f[r][k], words16(words[k].right), right);
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
    struct coming_rows next = coming_rows(w, bytes, cols * size); \
    for (size_t k = 0; k < 2 * attn_bf16_words(K); k += DEEP) { \
        struct rows eight = rows_at(w, bytes, k, K); \
        eight_steps(y, ldy, x + k / 2, ldx, &eight, &next, cols, size, from, rows); \
    } \
} \
static void name(float *y, size_t ldy, const float *x, size_t ldx, const char *w, size_t bytes, size_t n, size_t K, \
                 size_t cols) \
{ \
    if (n == 1) \
        name##_rows(y, ldy, x, ldx, w, bytes, K, cols, 1); \
    else \
        name##_rows(y, ldy, x, ldx, w, bytes, K, cols, ATTN_BF16_LONE); \
}
STREAM(stream_f32, 4, v32_from_f32) STREAM(stream_f16, 2, v32_from_f16) STREAM(stream_bf16, 2, v32_from_bf16)
#undef STREAM

static void stream_dots(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type,
                        size_t ldw, size_t n, size_t K, size_t cols)
{
    static void (*const by_type[])(float *, size_t, const float *, size_t, const char *, size_t, size_t, size_t,
                                   size_t) = {
        [ATTN_F32] = stream_f32, [ATTN_F16] = stream_f16, [ATTN_BF16] = stream_bf16};
    by_type[type](y, ldy, x, ldx, w, ldw * attn_dtype_size(type), n, K, cols);
}

/* ---- one or two rows of x, w stored [out, in] ---- */

#define TRANSPOSED(name, size, from) \
static inline __attribute__((always_inline)) \
void name##_rows(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t K, \
                 struct attn_prefetch *prefetch, size_t rows) \
{ \
    struct sixteen_rows t; \
    struct lines lines; \
    v16 sum[ATTN_BF16_LONE], out[4]; \
    size_t rate = prefetch_rate(prefetch, attn_bf16_words(K) / 4); \
    UNROLL for (size_t r = 0; r < rows; r++) \
        sum[r] = load(y + r * ldy); \
    for (size_t k = 0; k < K; k += BOTH) { \
        make_words(&t, w, k, K, size, from); \
        take_lines(&lines, t.row, 0); \
        UNROLL for (size_t p = 0; p < PARTS; p++, x += 4) { \
            transpose4(out, lines.part[p]); \
            UNROLL for (size_t r = 0; r < rows; r++) \
                UNROLL for (size_t l = 0; l < 4; l++) \
                    sum[r] = dots16(all(x[r * ldx + l]), out[l], sum[r]); \
            prefetch_some(prefetch, rate); \
        } \
    } \
    UNROLL for (size_t r = 0; r < rows; r++) \
        store(y + r * ldy, sum[r]); \
} \
static void name(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, size_t n, size_t K, \
                 struct attn_prefetch *prefetch) \
{ \
    if (n == 1) \
        name##_rows(y, ldy, x, ldx, w, K, prefetch, 1); \
    else \
        name##_rows(y, ldy, x, ldx, w, K, prefetch, ATTN_BF16_LONE); \
}
TRANSPOSED(transposed_f32, 4, v32_from_f32)
TRANSPOSED(transposed_f16, 2, v32_from_f16) TRANSPOSED(transposed_bf16, 2, v32_from_bf16)
#undef TRANSPOSED

static void stream_transposed_dots(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w,
                                   enum attn_dtype type,
                                   size_t n, size_t K, struct attn_prefetch *prefetch)
{
    static void (*const by_type[])(float *, size_t, const float *, size_t, const void *const *, size_t, size_t,
                                   struct attn_prefetch *) = {
        [ATTN_F32] = transposed_f32, [ATTN_F16] = transposed_f16, [ATTN_BF16] = transposed_bf16};
    by_type[type](y, ldy, x, ldx, w, n, K, prefetch);
}

const struct attn_bf16_ops attn_bf16_dots = {
    panel_dots, panel_copy, stream_dots, stream_transposed_dots, row_dots,
    attn_bf16_row_words, attn_bf16_rows_words, attn_bf16_transpose};
