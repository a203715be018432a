/* chunk.h - part of a weight of which pairs (pairs.h) are made in one go, in the second-level cache.
 *
 * Memory comes fast in long stretches of rows that lie in pages of their own: a chunk is some panels wide where rows are
 * inputs, and as deep as there is room where they are outputs. */
#ifndef ATTN_COMPUTE_CHUNK_H
#define ATTN_COMPUTE_CHUNK_H

#include "compute/mat.h"

enum { ATTN_CHUNK = 1 << 16 };          /* words: 256 KB */

/* Panels j0..j1, steps k.. of the chain. */
struct attn_chunk { size_t j0, j1, k, K; };

/* The chunk that begins at panel j0, of those before `end`, and at step k; of `depth` steps if it is wide. */
struct attn_chunk attn_chunk_of(const struct attn_mat *w, size_t j0, size_t end, size_t k, size_t depth);
/* words[j1 - j0][words(K), 64] */
void attn_chunk_words(float *words, const struct attn_mat *w, const struct attn_chunk *c);

#endif
