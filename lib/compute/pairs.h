/* pairs.h - products of numbers rounded to bf16, by instructions that take two steps of k at once.
 *
 * A pair is two neighbouring steps of k in one 32-bit word, the first in its lower half.  Rows of x are rows
 * of words and blocks of w are [K/2, 64] words, so that a product of words looks like one of floats.  The
 * last words are padded with zeros to a multiple of 32 steps.  For tiles, x is stored in the order in which it is
 * loaded: 16 words of each of 16 rows, then the next 16 words of these rows, since rows far apart are slow to
 * load.  The processor determines which instruction multiplies (base/cpu.h), and that determines the bits:
 *
 *   dots    vdpbf16ps: adds the product of the second step, then that of the first, to the sum
 *   tiles   tdpbf16ps: within 32 steps, the first and the second steps of all pairs are two chains that
 *           start from 0; then the sum of both is added to the sum
 *
 * Both treat numbers below 2^-126 as 0. */
#ifndef ATTN_COMPUTE_PAIRS_H
#define ATTN_COMPUTE_PAIRS_H

#include "base/cpu.h"
#include "compute/vec.h"

/* The instruction in use; ATTN_BF16_FLOATS: this machine has none, so products must be computed in float32. */
enum attn_bf16 attn_pairs_kind(void);
/* Chooses another one, for tests.  False: this machine does not have it. */
bool attn_pairs_choose(enum attn_bf16 kind);

enum {
    ATTN_PAIRS_ROWS = 16,               /* rows of x and y are read and written so many at once, even if n ends before */
    ATTN_PAIRS_TILE = 256               /* words of a tile: 16 rows of 16 */
};

/* words(n): how many words n steps take, padding included. */
static inline size_t attn_pairs_words(size_t n) { return (n + 31) / 32 * 16; }
/* Converts x[n] into row i of words; ld: words of a row. */
void attn_pairs_put(float *words, size_t ld, size_t i, const float *x, size_t n);
/* The address of word k of row i; both must be multiples of 16. */
const float *attn_pairs_at(const float *words, size_t ld, size_t i, size_t k);
/* Makes words[cols / 64][words(K), 64] from w[K, cols] as it is stored, from element `first` on: whole panels, at most WIDTH
 * columns. */
enum { ATTN_PAIRS_WIDTH = 16 * ATTN_PANEL };
void attn_pairs_rows(float *words, const void *w, enum attn_dtype type, size_t first, size_t ldw, size_t K, size_t cols);
/* Makes sixteen columns of words[words(K), 64] from sixteen stored rows of K numbers, to which w[16] points. */
void attn_pairs_turn(float *words, const void *const *w, enum attn_dtype type, size_t K, struct attn_ahead *ahead);
/* y[n, 64] (+)= x[n, words] w[words, 64]; x from attn_pairs_at, ldx in words */
void attn_pairs_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more);

/* The same bits for one or two rows of x, at the speed of memory, as w is read where it is stored: see attn_vec_stream (here of
 * at most WIDTH columns) and attn_vec_stream_turned (of ATTN_TURN outputs). */
enum { ATTN_PAIRS_LONE = 2 };
void attn_pairs_stream(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                       size_t ldw, size_t n, size_t K, size_t cols);
void attn_pairs_stream_turned(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type,
                              size_t n, size_t K, struct attn_ahead *ahead);

/* Converts x[n] to words; each sixteen of them go to y, `step` words further on. */
void attn_pairs_of_row(float *y, size_t step, const float *x, size_t n);
/* What the functions above call, for each of the two instructions. */
void attn_pairs_dots(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more);
void attn_pairs_tiles(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more);
void attn_pairs_stream_dots(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                            size_t ldw, size_t n, size_t K, size_t cols);
void attn_pairs_stream_tiles(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                             size_t ldw, size_t n, size_t K, size_t cols);
void attn_pairs_stream_turned_dots(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type,
                                   size_t n, size_t K, struct attn_ahead *ahead);
void attn_pairs_stream_turned_tiles(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type,
                                    size_t n, size_t K, struct attn_ahead *ahead);

#endif
