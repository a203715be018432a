/* pairs.h - products of numbers rounded to bf16, by instructions that take two steps of k at once.
 *
 * A pair is two neighbouring steps of k in one word, the first in its lower half.  Rows of x are rows of
 * words and blocks of w are [K/2, 64] words, so that a product of words looks like one of floats.
 * Zeros fill up the last words, to a multiple of 32 steps.  For tiles, x lies as they are loaded: 16 words of
 * 16 rows side by side, then the next 16 words of these rows, as rows far apart are slow to load.  Which
 * instruction multiplies is up to the processor (base/cpu.h), because it decides the bits:
 *
 *   dots    vdpbf16ps: sum + second step + first step
 *   tiles   tdpbf16ps: over 32 steps, first and second ones are two chains from 0, of which the sum is
 *           added to the sum
 *
 * Both take numbers below 2^-126 for 0. */
#ifndef ATTN_COMPUTE_PAIRS_H
#define ATTN_COMPUTE_PAIRS_H

#include "base/cpu.h"
#include "compute/vec.h"

/* ATTN_BF16_FLOATS: there are no pairs on this machine. */
enum attn_bf16 attn_pairs_kind(void);
/* For tests.  False: this machine cannot. */
bool attn_pairs_choose(enum attn_bf16 kind);

enum {
    ATTN_PAIRS_ROWS = 16,               /* rows of x and y that are read and written at once, also where n ends before */
    ATTN_PAIRS_TILE = 256               /* words of a tile: 16 of each */
};

static inline size_t attn_pairs_words(size_t n) { return (n + 31) / 32 * 16; }
/* Row i of x in words from x[n]; ld words a row. */
void attn_pairs_put(float *words, size_t ld, size_t i, const float *x, size_t n);
/* Where row i, of whole sixteens, begins at word k, of whole sixteens. */
const float *attn_pairs_at(const float *words, size_t ld, size_t i, size_t k);
/* words[cols / 64][words(K), 64] from w[K, cols] as it is stored, from element `first` on: whole panels side by side, at most
 * WIDTH columns. */
enum { ATTN_PAIRS_WIDTH = 16 * ATTN_PANEL };
void attn_pairs_rows(float *words, const void *w, enum attn_dtype type, size_t first, size_t ldw, size_t K, size_t cols);
/* Sixteen columns of words[words(K), 64] from what w[16] points to in rows of K numbers. */
void attn_pairs_turn(float *words, const void *const *w, enum attn_dtype type, size_t K, struct attn_ahead *ahead);
/* y[n, 64] (+)= x[n, words] w[words, 64]; x as attn_pairs_at gives it, ld in words */
void attn_pairs_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more);

/* The same bits of one row or two, with w as it lies, at the speed of memory: see attn_vec_stream, of at most WIDTH columns,
 * and attn_vec_stream_turned, of TURN outputs. */
enum { ATTN_PAIRS_LONE = 2 };
void attn_pairs_stream(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t first,
                       size_t ldw, size_t n, size_t K, size_t cols);
void attn_pairs_stream_turned(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w, enum attn_dtype type,
                              size_t n, size_t K, struct attn_ahead *ahead);

/* y in sixteens of words, `step` apart, from x[n] */
void attn_pairs_of_row(float *y, size_t step, const float *x, size_t n);
/* The two that each may be. */
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
