#include "compute/pairs.h"

#include <string.h>

#include "compute/lanes.h"
#include "compute/ahead.h"
#include "compute/turn4.h"

/* Pairs made of rows of a weight that are read in stretches as long as they lie together, some rows side by side. */
typedef __m512i v32;                    /* numbers in bf16 */
enum { BOTH = 2 * LANES, DEEP = ATTN_ABREAST };

static inline v32 two(v16 first, v16 second) { return (v32)_mm512_cvtne2ps_pbh(second, first); }

typedef v32 from_type(const void *w);
static inline v32 from_f32s(const void *w) { return two(load(w), load((const float *)w + LANES)); }
static inline v32 from_f16s(const void *w) { return two(from_f16(w), from_f16((const uint16_t *)w + LANES)); }
static inline v32 from_bf16s(const void *w) { return _mm512_loadu_si512(w); }

/* ---- w [in, out] ---- */

/* Rows k.. of w; zeros where there is none. */
struct rows { const char *at[DEEP]; };

static inline struct rows rows_at(const char *w, size_t bytes, size_t k, size_t K)
{
    static const _Alignas(64) float zeros[ATTN_PAIRS_WIDTH];
    struct rows r;
    for (size_t i = 0; i < DEEP; i++)
        r.at[i] = k + i < K ? w + (k + i) * bytes : (const char *)zeros;
    return r;
}

/* Two rows of 32 columns become one of words. */
static inline void pair(float *words, v32 first, v32 second)
{
    const v32 left = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8,
                                      39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const v32 right = _mm512_add_epi16(left, _mm512_set1_epi16(LANES));
    _mm512_storeu_si512(words, _mm512_permutex2var_epi16(first, left, second));
    _mm512_storeu_si512(words + LANES, _mm512_permutex2var_epi16(first, right, second));
}

/* size and from are constants where it is called. */
static inline __attribute__((always_inline))
void rows(float *words, const char *w, size_t bytes, size_t K, size_t cols, size_t size, from_type *from)
{
    struct rows_to_come next = rows_to_come(w, bytes, cols * size);
    size_t panel = attn_pairs_words(K) * ATTN_PANEL;
    for (size_t k = 0; k < attn_pairs_words(K) * 2; k += DEEP) {
        struct rows r = rows_at(w, bytes, k, K);
        for (size_t c = 0; c < cols; c += BOTH) {
            float *to = words + c / ATTN_PANEL * panel + k / 2 * ATTN_PANEL + c % ATTN_PANEL;
            for (size_t line = 0; line < BOTH * size && k < K; line += LINE_BYTES)
                ask_for_rows(&next);
            UNROLL for (size_t i = 0; i < DEEP; i += 2)
                pair(to + i / 2 * ATTN_PANEL, from(r.at[i] + c * size), from(r.at[i + 1] + c * size));
        }
    }
}

void attn_pairs_rows(float *words, const void *w, enum attn_dtype type, size_t first, size_t ldw, size_t K, size_t cols)
{
    size_t size = attn_dtype_size(type), bytes = ldw * size;
    const char *at = (const char *)w + first * size;
    switch (type) {
    case ATTN_F32: rows(words, at, bytes, K, cols, 4, from_f32s); break;
    case ATTN_F16: rows(words, at, bytes, K, cols, 2, from_f16s); break;
    case ATTN_BF16: rows(words, at, bytes, K, cols, 2, from_bf16s); break;
    }
}

/* ---- w [out, in] ---- */

/* 32 steps of sixteen rows, which become sixteen rows of words, 16 columns of each. */
static inline void turn_words(float *words, const void *const *row, size_t byte)
{
    v16 out[4];
    for (size_t i = 0; i < LANES; i += 4) {
        turn4(out, row, byte + i * sizeof *words);
        UNROLL for (size_t l = 0; l < 4; l++)
            store(words + (i + l) * ATTN_PANEL, out[l]);
    }
}

static inline __attribute__((always_inline))
void turned(float *words, const void *const *w, size_t K, struct attn_ahead *ahead, size_t size, from_type *from)
{
    char room[ATTN_TURN][BOTH * sizeof(float)];
    v32 made[ATTN_TURN];
    const void *pairs[ATTN_TURN];
    size_t rate = ask_rate(ahead, K / BOTH + 1);
    for (size_t l = 0; l < ATTN_TURN; l++)
        pairs[l] = &made[l];
    for (size_t k = 0; k < K; k += BOTH, words += LANES * ATTN_PANEL) {
        size_t steps = smaller(K - k, BOTH);
        for (size_t l = 0; l < ATTN_TURN; l++) {
            const char *at = (const char *)w[l] + k * size;
            if (steps < BOTH) {         /* zeros behind the last one */
                memset(room[l], 0, sizeof room[l]);
                at = memcpy(room[l], at, steps * size);
            }
            made[l] = from(at);
        }
        turn_words(words, pairs, 0);
        ask_some(ahead, rate);
    }
}

void attn_pairs_turn(float *words, const void *const *w, enum attn_dtype type, size_t K, struct attn_ahead *ahead)
{
    switch (type) {
    case ATTN_F32: turned(words, w, K, ahead, 4, from_f32s); break;
    case ATTN_F16: turned(words, w, K, ahead, 2, from_f16s); break;
    case ATTN_BF16: turned(words, w, K, ahead, 2, from_bf16s); break;
    }
}
