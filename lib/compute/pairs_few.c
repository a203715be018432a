#include "compute/pairs.h"

#include "compute/lanes.h"
#include "compute/ahead.h"

enum { COLS = ATTN_PANEL / LANES, WORDS = LANES };              /* vectors of a panel; words of x at a time */
enum { TO_ZERO = 0x8040 };                                      /* of MXCSR: denormal numbers are 0, as operands and as results */

/* x[rows, 32], as floats: first and second steps of the words. */
struct steps { float first[ATTN_PAIRS_FEW][WORDS], second[ATTN_PAIRS_FEW][WORDS]; };

static inline __attribute__((always_inline))
void spread(struct steps *s, const float *x, size_t row, size_t rows)
{
    for (size_t r = 0; r < rows; r++) {
        v16 words = load(x + r * row);
        store(s->first[r], even_bf16(words));
        store(s->second[r], odd_bf16(words));
    }
}

/* One chain for each element or, of tiles, two, which begin anew every 32 steps. */
struct chains { v16 sum[ATTN_PAIRS_FEW][COLS], first[ATTN_PAIRS_FEW][COLS], second[ATTN_PAIRS_FEW][COLS]; };

static inline __attribute__((always_inline))
void step_twice(struct chains *c, const struct steps *s, size_t p, const v16 *first, const v16 *second, size_t rows, bool tiles)
{
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++) {
            v16 x = all(s->first[r][p]), next = all(s->second[r][p]);
            if (tiles) {
                c->first[r][j] = fma16(x, first[j], c->first[r][j]);
                c->second[r][j] = fma16(next, second[j], c->second[r][j]);
            } else {
                c->sum[r][j] = fma16(x, first[j], fma16(next, second[j], c->sum[r][j]));
            }
        }
}

static inline __attribute__((always_inline)) void round_panel(v16 *to, const float *w)
{
    UNROLL for (size_t j = 0; j < COLS; j++)
        to[j] = nearest_bf16(load(w + j * LANES));
}

/* Up to 32 steps.  Words that are missing are zeros, which take -0 to 0, once. */
static inline __attribute__((always_inline))
void step(struct chains *c, const float *x, size_t row, const float *w, size_t ldw, size_t rows, size_t K, bool tiles,
          struct attn_ahead *ahead, size_t rate)
{
    struct steps s;
    v16 first[COLS], second[COLS], nothing[COLS];
    UNROLL for (size_t j = 0; j < COLS; j++)
        nothing[j] = all(0);
    spread(&s, x, row, rows);
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++)
            c->first[r][j] = c->second[r][j] = all(0);
    size_t p = 0;
    for (; p < K / 2; p++, w += 2 * ldw) {
        round_panel(first, w);
        round_panel(second, w + ldw);
        step_twice(c, &s, p, first, second, rows, tiles);
        ask_some(ahead, rate);
    }
    if (K % 2) {
        round_panel(first, w);
        step_twice(c, &s, p++, first, nothing, rows, tiles);
    }
    if (p < WORDS)
        step_twice(c, &s, p, nothing, nothing, rows, tiles);
    UNROLL for (size_t r = 0; tiles && r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++)
            c->sum[r][j] = add(c->sum[r][j], add(c->first[r][j], c->second[r][j]));
}

static inline __attribute__((always_inline))
void panel(float *y, size_t ldy, const float *x, size_t row, size_t next, const float *w, size_t ldw, size_t rows, size_t K, bool more,
           bool tiles, struct attn_ahead *ahead)
{
    struct chains c;
    size_t rate = ask_rate(ahead, K / 2 + 1);
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++)
            c.sum[r][j] = more ? load(y + r * ldy + j * LANES) : all(0);
    for (size_t k = 0; k < K; k += 2 * WORDS, x += next)
        step(&c, x, row, w + k * ldw, ldw, rows, K - k < 2 * WORDS ? K - k : 2 * WORDS, tiles, ahead, rate);
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++)
            store(y + r * ldy + j * LANES, c.sum[r][j]);
}

void attn_pairs_few(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t ldw, size_t n, size_t K, bool more,
                    struct attn_ahead *ahead)
{
    enum { TILE = WORDS * ATTN_PAIRS_ROWS };
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | TO_ZERO);
    if (attn_pairs_kind() == ATTN_BF16_TILES && n == 1)
        panel(y, ldy, x, WORDS, TILE, w, ldw, 1, K, more, true, ahead);
    else if (attn_pairs_kind() == ATTN_BF16_TILES)
        panel(y, ldy, x, WORDS, TILE, w, ldw, ATTN_PAIRS_FEW, K, more, true, ahead);
    else if (n == 1)
        panel(y, ldy, x, ldx, WORDS, w, ldw, 1, K, more, false, ahead);
    else
        panel(y, ldy, x, ldx, WORDS, w, ldw, ATTN_PAIRS_FEW, K, more, false, ahead);
    _mm_setcsr(before);
}
