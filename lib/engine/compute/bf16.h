/* bf16.h - products of numbers rounded to bf16, by instructions that take two steps of k at once.
 *
 * A pair is two neighbouring steps of k in one 32-bit word, the first in its lower half.  Rows of x are rows of words
 * and blocks of w are [K/2, 64] words (the VNNI layout), so that a product of words looks like one of floats.  The last
 * words are padded with zeros to a multiple of 32 steps.  For tiles, x is stored in the order in which it is loaded: 16
 * words of each of 16 rows, then the next 16 words of these rows, since rows far apart are slow to load.  The processor
 * determines which instruction multiplies (base/simd.h), and that determines the bits:
 *
 *   dots    vdpbf16ps: adds the product of the second step, then that of the first, to the sum
 *   tiles   tdpbf16ps: within 32 steps, the first and the second steps of all pairs are two chains that
 *           start from 0; then the sum of both is added to the sum
 *
 * Both treat numbers below 2^-126 as 0.
 *
 * A weight is converted into pairs a chunk at a time, in the L2 cache.  With vdpbf16ps a chunk is a part of a panel;
 * if the weight is stored [in, out], the first rows of x make its words while they multiply.  For tiles, the next
 * chunk is prefetched while one is multiplied.  Memory is fastest in long stretches from several rows on different
 * pages, so a chunk is several panels wide if the weight is stored [in, out], and as many steps of k deep as fit if it
 * is [out, in]. */
#ifndef ATTN_COMPUTE_BF16_H
#define ATTN_COMPUTE_BF16_H

#include "base/simd.h"
#include "compute/vec.h"

enum {
    ATTN_BF16_ROWS = 16,                /* rows of x and y that are read and written at once, even beyond the last */
    ATTN_BF16_TILE = 256,               /* words of a tile: 16 rows of 16 */
    ATTN_BF16_WIDTH = 16 * ATTN_PANEL, /* most columns that are converted, or streamed, at a time */
    ATTN_BF16_LONE = 2,                 /* most rows of x for which w is streamed */
    ATTN_BF16_FIRST = 6,                /* rows of x that make the words of a weight while they multiply */
    ATTN_CHUNK = 1 << 16                /* words of a chunk: 256 KB */
};

/* The instruction in use; ATTN_BF16_FLOATS: this machine has none, so products must be computed in float32. */
enum attn_bf16 attn_bf16_kind(void);
/* Chooses another one, for tests.  False: this machine does not have it. */
bool attn_bf16_choose(enum attn_bf16 kind);

/* What each of the two instructions computes. */
struct attn_bf16_ops {
    /* y[n, 64] (+)= x[n, words] w[words, 64], while `prefetch` is fetched; x from attn_bf16_at, ldx in words.  Of
     * more rows, libxsmm's kernels do what vdpbf16ps does here (multiply.h). */
    void (*panel)(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more,
                  struct attn_prefetch *prefetch);
    /* The same for FIRST rows of x and w[K, 64] as it is stored, [in, out]; K is a multiple of 32.  Leaves its words.
     * NULL: words are made beforehand. */
    void (*panel_copy)(float *y, size_t ldy, const float *x, size_t ldx, float *words, const void *w,
                       enum attn_dtype type, size_t ldw, size_t K, bool more, struct attn_prefetch *prefetch);
    /* The same bits for one or two rows of x, at the speed of memory, as w is read where it is stored: see `stream`
     * in vec.h (here of at most WIDTH columns) and `stream_transposed` (of ATTN_TRANSPOSE outputs). */
    void (*stream)(float *y, size_t ldy, const float *x, size_t ldx, const void *w, enum attn_dtype type, size_t ldw,
                   size_t n, size_t K, size_t cols);
    void (*stream_transposed)(float *y, size_t ldy, const float *x, size_t ldx, const void *const *w,
                              enum attn_dtype type, size_t n, size_t K, struct attn_prefetch *prefetch);
    /* The same bits for one row of x and n panels of words, `next` words apart: y[n * 64] = x[words] w.  NULL: w is
     * streamed as it is stored. */
    void (*row_panels)(float *y, const float *x, const float *w, size_t next, size_t n, size_t words);

    /* Converts x[n] to words; each sixteen of them go to y, `step` words further on. */
    void (*row_words)(float *y, size_t step, const float *x, size_t n);
    /* Makes words[cols / 64][words(K), 64] from w[K, cols] as it is stored: whole panels, at most WIDTH columns. */
    void (*rows_words)(float *words, const void *w, enum attn_dtype type, size_t ldw, size_t K, size_t cols);
    /* Makes sixteen columns of words[words(K), 64] from sixteen stored rows of K numbers, to which w[16] points. */
    void (*transpose)(float *words, const void *const *w, enum attn_dtype type, size_t K,
                      struct attn_prefetch *prefetch);
};
const struct attn_bf16_ops *attn_bf16_ops(void);       /* of the instruction in use; NULL: there is none */

/* words(n): how many words n steps take, padding included. */
static inline size_t attn_bf16_words(size_t n) { return (n + 31) / 32 * 16; }
/* Converts x[n] into row i of words, from step k (a multiple of 32) on; ld: words of a row. */
void attn_bf16_put(float *words, size_t ld, size_t i, size_t k, const float *x, size_t n);
/* Row `to` becomes what row `from` is. */
void attn_bf16_move(float *words, size_t ld, size_t to, size_t from);
/* The address of word k of row i; both must be multiples of 16. */
const float *attn_bf16_at(const float *words, size_t ld, size_t i, size_t k);

/* Panels j0..j1 of a weight, K steps from step k on. */
struct attn_chunk { size_t j0, j1, k, K; };
/* The chunk that begins at panel j0 and step k and ends before panel `end`; if the weight is stored [in, out], it has
 * at most `depth` steps. */
struct attn_chunk attn_chunk_of(const struct attn_mat *w, size_t j0, size_t end, size_t k, size_t depth);
/* Makes words[j1 - j0][words(K), 64]. */
void attn_chunk_words(float *words, const struct attn_mat *w, const struct attn_chunk *c);

/* What the two instructions of x86 have in common (bf16_words.c), for their tables. */
extern const struct attn_bf16_ops attn_bf16_dots, attn_bf16_tiles;
void attn_bf16_row_words(float *y, size_t step, const float *x, size_t n);
void attn_bf16_rows_words(float *words, const void *w, enum attn_dtype type, size_t ldw, size_t K, size_t cols);
void attn_bf16_transpose(float *words, const void *const *w, enum attn_dtype type, size_t K,
                         struct attn_prefetch *prefetch);

#endif
