#include "compute/pairs.h"

#include "compute/lanes.h"

/* The inner loop of float32 with another instruction. */
static inline v16 dots16(v16 x, v16 w, v16 sum)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)w);
}
#define fma16 dots16
#include "compute/ahead.h"
#include "compute/tile.h"

enum { BOTH = 2 * LANES };
/* 32 numbers rounded, the first sixteen in the lower half. */
static inline __m512i two(v16 first, v16 second)
{
    return (__m512i)_mm512_cvtne2ps_pbh(second, first);
}

void attn_pairs_row(float *y, size_t step, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += BOTH, y += step) {
        v16 second = n - i > LANES ? get(x + i + LANES, n - i - LANES, 0) : all(0);
        _mm512_storeu_si512(y, two(get(x + i, n - i, 0), second));
    }
}

/* Sixteen words from as many numbers of two rows. */
static inline v16 pairs_of(const float *first, const float *second)
{
    const __m512i beside = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,
                                            23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(beside, two(load(first), load(second))));
}

/* One step of words. */
static inline void pair_rows(float *y, const float *first, const float *second)
{
    UNROLL for (size_t c = 0; c < ATTN_PANEL; c += LANES)
        store(y + c, pairs_of(first + c, second + c));
}

void attn_pairs_block(float *y, const float *x, size_t ldx, size_t K)
{
    static const float none[ATTN_PANEL];
    size_t words = attn_pairs_words(K), k = 0;
    for (; k < (K + 1) / 2; k++, y += ATTN_PANEL)
        pair_rows(y, x + 2 * k * ldx, 2 * k + 1 < K ? x + (2 * k + 1) * ldx : none);
    memset(y, 0, (words - k) * ATTN_PANEL * sizeof *y);
}

void attn_pairs_dots(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more)
{
    struct attn_ahead none = {0};
    panel(y, ldy, x, ldx, w, ATTN_PANEL, n, words, more, &none);
}

static const float zeros[ATTN_PANEL];

/* One step of words, of rows that are a constant where it is called. */
static inline __attribute__((always_inline))
void lone_step(v16 (*sum)[ATTN_PANEL / LANES], const float *x, size_t ldx, const float *first, const float *second, size_t rows)
{
    UNROLL for (size_t c = 0; c < ATTN_PANEL / LANES; c++) {
        v16 words = pairs_of(first + c * LANES, second + c * LANES);
        UNROLL for (size_t r = 0; r < rows; r++)
            sum[r][c] = dots16(all(x[r * ldx]), words, sum[r][c]);
    }
}

static inline __attribute__((always_inline))
void lone_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t rows, size_t K, bool more,
                struct attn_ahead *ahead)
{
    v16 sum[ATTN_PAIRS_LONE][ATTN_PANEL / LANES];
    size_t k = 0, rate = ask_rate(ahead, K / 2 + 1);
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t c = 0; c < ATTN_PANEL / LANES; c++)
            sum[r][c] = more ? load(y + r * ldy + c * LANES) : all(0);
    for (; k + 2 <= K; k += 2, x++, w += 2 * ldw) {
        lone_step(sum, x, ldx, w, w + ldw, rows);
        ask_some(ahead, rate);
    }
    if (k < K)
        lone_step(sum, x++, ldx, w, zeros, rows);
    if (K % BOTH && K % BOTH < BOTH - 1)                /* words that are zeros on both sides take -0 to 0 */
        lone_step(sum, x, ldx, zeros, zeros, rows);
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t c = 0; c < ATTN_PANEL / LANES; c++)
            store(y + r * ldy + c * LANES, sum[r][c]);
}

void attn_pairs_lone_dots(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K,
                          bool more, struct attn_ahead *ahead)
{
    if (n == 1)
        lone_panel(y, ldy, x, ldx, w, ldw, 1, K, more, ahead);
    else
        lone_panel(y, ldy, x, ldx, w, ldw, ATTN_PAIRS_LONE, K, more, ahead);
}
