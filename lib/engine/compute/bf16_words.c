/* bf16_words.c - makes pairs from rows of x and of a weight, whose rows are read in the longest possible stretches,
 * several rows side by side. */
#include "compute/bf16_body.h"

void attn_bf16_row_words(float *y, size_t step, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += BOTH, y += step) {
        v16 second = n - i > LANES ? get(x + i + LANES, n - i - LANES, 0) : all(0);
        _mm512_storeu_si512(y, two(get(x + i, n - i, 0), second));
    }
}

/* Makes four rows of words from eight rows of w, in as many panels (of `panel` words each) as there are columns.
 * Callers pass constants for size and from. */
static inline __attribute__((always_inline))
void eight_rows(float *words, size_t panel, const struct rows *w, size_t cols, struct coming_rows *next, size_t size,
                v32_from *from)
{
    for (size_t c = 0; c < cols; c += BOTH) {
        float *to = words + c / ATTN_PANEL * panel + c % ATTN_PANEL;
        for (size_t line = 0; line < BOTH * size; line += LINE_BYTES)
            prefetch_rows(next);
        UNROLL for (size_t i = 0; i < DEEP; i += 2, to += ATTN_PANEL) {
            struct paired made = pair(from(w->at[i] + c * size), from(w->at[i + 1] + c * size));
            _mm512_storeu_si512(to, made.left);
            _mm512_storeu_si512(to + LANES, made.right);
        }
    }
}

#define ROWS(name, size, from) \
static void name(float *words, const char *w, size_t bytes, size_t K, size_t cols) \
{ \
    struct coming_rows next = coming_rows(w, bytes, cols * size); \
    size_t all = attn_bf16_words(K), panel = all * ATTN_PANEL; \
    for (size_t k = 0; k < 2 * all; k += DEEP) { \
        struct rows eight = rows_at(w, bytes, k, K); \
        eight_rows(words + k / 2 * ATTN_PANEL, panel, &eight, cols, &next, size, from); \
    } \
}
ROWS(rows_f32, 4, v32_from_f32) ROWS(rows_f16, 2, v32_from_f16) ROWS(rows_bf16, 2, v32_from_bf16)
#undef ROWS

void attn_bf16_rows_words(float *words, const void *w, enum attn_dtype type, size_t ldw, size_t K, size_t cols)
{
    static void (*const by_type[])(float *, const char *, size_t, size_t, size_t) = {
        [ATTN_F32] = rows_f32, [ATTN_F16] = rows_f16, [ATTN_BF16] = rows_bf16};
    by_type[type](words, w, ldw * attn_dtype_size(type), K, cols);
}

#define TRANSPOSED(name, size, from) \
static void name(float *words, const void *const *w, size_t K, struct attn_prefetch *prefetch) \
{ \
    struct sixteen_rows t; \
    struct lines lines; \
    v16 out[4]; \
    size_t rate = prefetch_rate(prefetch, attn_bf16_words(K) / LANES); \
    for (size_t k = 0; k < K; k += BOTH) { \
        make_words(&t, w, k, K, size, from); \
        take_lines(&lines, t.row, 0); \
        UNROLL for (size_t p = 0; p < PARTS; p++) { \
            transpose4(out, lines.part[p]); \
            UNROLL for (size_t l = 0; l < 4; l++, words += ATTN_PANEL) \
                store(words, out[l]); \
        } \
        prefetch_some(prefetch, rate); \
    } \
}
TRANSPOSED(transposed_f32, 4, v32_from_f32)
TRANSPOSED(transposed_f16, 2, v32_from_f16) TRANSPOSED(transposed_bf16, 2, v32_from_bf16)
#undef TRANSPOSED

void attn_bf16_transpose(float *words, const void *const *w, enum attn_dtype type, size_t K,
                         struct attn_prefetch *prefetch)
{
    static void (*const by_type[])(float *, const void *const *, size_t, struct attn_prefetch *) = {
        [ATTN_F32] = transposed_f32, [ATTN_F16] = transposed_f16, [ATTN_BF16] = transposed_bf16};
    by_type[type](words, w, K, prefetch);
}
