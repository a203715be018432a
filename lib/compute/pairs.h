/* pairs.h - products of numbers rounded to bf16, by instructions that take two steps of k at once.
 *
 * A pair is two neighbouring steps of k in one word, the first in its lower half.  Rows of x are rows of
 * words and blocks of w are [K/2, 64] words, so that a product of words looks like one of floats.
 * Zeros fill up the last words, to a multiple of 32 steps.  Which instruction multiplies is up to the
 * processor (base/cpu.h), because it decides the bits:
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

enum { ATTN_PAIRS_ROWS = 16 };          /* rows of x and y that are read and written at once, also where n ends before */

static inline size_t attn_pairs_words(size_t n) { return (n + 31) / 32 * 16; }
/* y[words(n)] from x[n] */
void attn_pairs_row(float *y, const float *x, size_t n);
/* y[words(K), 64] from x[K, 64] */
void attn_pairs_block(float *y, const float *x, size_t ldx, size_t K, struct attn_ahead *ahead);
/* y[n, 64] (+)= x[n, words] w[words, 64]; ld in words */
void attn_pairs_panel(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more,
                      struct attn_ahead *ahead);

/* The two that it may be. */
void attn_pairs_dots(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more,
                     struct attn_ahead *ahead);
void attn_pairs_tiles(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more,
                      struct attn_ahead *ahead);

#endif
