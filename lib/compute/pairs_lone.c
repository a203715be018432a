#include "compute/pairs.h"

#include "compute/lanes.h"
#include "compute/ahead.h"

/* What tdpbf16ps does, for one row of x or two: it takes 16 of them in the same time, and pairs of w to be made. */
enum { COLS = ATTN_PANEL / LANES };                     /* vectors of a panel */
/* MXCSR as the instruction has it: to nearest, no exceptions, denormal numbers are 0 as operands and as results. */
enum { AS_TILES = 0x1f80 | 0x8040 };

/* The words of x for 32 steps, as floats: the first of each, and the second. */
struct words { float first[ATTN_PAIRS_LONE][ATTN_PAIRS_ROWS], second[ATTN_PAIRS_LONE][ATTN_PAIRS_ROWS]; };
/* An element's sum, and two chains that begin anew every 32 steps. */
struct sums { v16 all[ATTN_PAIRS_LONE][COLS], first[ATTN_PAIRS_LONE][COLS], second[ATTN_PAIRS_LONE][COLS]; };

static inline v16 rounded(const float *w)
{
    __m512i bits = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(load(w)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}

static inline __attribute__((always_inline)) void begin(struct words *x, struct sums *s, const float *from, size_t rows)
{
    UNROLL for (size_t r = 0; r < rows; r++) {
        v16 words = load(from + r * ATTN_PAIRS_ROWS);
        store(x->first[r], even_bf16(words));
        store(x->second[r], odd_bf16(words));
        UNROLL for (size_t j = 0; j < COLS; j++)
            s->first[r][j] = s->second[r][j] = all(0);
    }
}

static inline __attribute__((always_inline)) void end(struct sums *s, size_t rows)
{
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++)
            s->all[r][j] = add(s->all[r][j], add(s->first[r][j], s->second[r][j]));
}

/* w's next row, or zeros where there is none: the instruction has them, too, and they take -0 to 0. */
static inline __attribute__((always_inline))
void add_row(v16 (*sum)[COLS], float (*x)[ATTN_PAIRS_ROWS], size_t word, const float *w, size_t rows)
{
    v16 row[COLS];
    UNROLL for (size_t j = 0; j < COLS; j++)
        row[j] = w ? rounded(w + j * LANES) : all(0);
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++)
            sum[r][j] = fma16(all(x[r][word]), row[j], sum[r][j]);
}

/* rows is a constant where it is called. */
static inline __attribute__((always_inline))
void panel(float *y, size_t ldy, const float *x, const float *w, size_t ldw, size_t rows, size_t K, bool more, struct attn_ahead *ahead)
{
    enum { STEPS = 2 * ATTN_PAIRS_ROWS };
    struct sums s;
    struct words words;
    size_t rate = ask_rate(ahead, K / 2 + 1);
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++)
            s.all[r][j] = more ? load(y + r * ldy + j * LANES) : all(0);
    for (size_t k = 0; k < K; k += STEPS, x += ATTN_PAIRS_TILE) {
        size_t steps = K - k < STEPS ? K - k : STEPS, word = 0;
        begin(&words, &s, x, rows);
        for (; word < steps / 2; word++, w += 2 * ldw) {
            add_row(s.first, words.first, word, w, rows);
            add_row(s.second, words.second, word, w + ldw, rows);
            ask_some(ahead, rate);
        }
        if (steps < STEPS) {
            add_row(s.first, words.first, word, steps % 2 ? w : NULL, rows);
            add_row(s.second, words.second, word, NULL, rows);
        }
        end(&s, rows);
    }
    UNROLL for (size_t r = 0; r < rows; r++)
        UNROLL for (size_t j = 0; j < COLS; j++)
            store(y + r * ldy + j * LANES, s.all[r][j]);
}

void attn_pairs_lone_tiles(float *y, size_t ldy, const float *x, const float *w, size_t ldw, size_t n, size_t K, bool more,
                           struct attn_ahead *ahead)
{
    unsigned before = _mm_getcsr();
    _mm_setcsr(AS_TILES);
    __asm__ volatile("" : : : "memory");    /* what is computed stays between the two */
    if (n == 1)
        panel(y, ldy, x, w, ldw, 1, K, more, ahead);
    else
        panel(y, ldy, x, w, ldw, ATTN_PAIRS_LONE, K, more, ahead);
    __asm__ volatile("" : : : "memory");
    _mm_setcsr(before);
}
