/* chunk.h - the part of a weight that is converted into pairs (pairs.h) at a time, in the L2 cache.
 *
 * Memory is fastest in long stretches from several rows on different pages.  So a chunk is several panels wide if the
 * weight is stored [in, out], and as many steps of k deep as there is room if it is stored [out, in]. */
#ifndef ATTN_COMPUTE_CHUNK_H
#define ATTN_COMPUTE_CHUNK_H

#include "compute/mat.h"

enum { ATTN_CHUNK = 1 << 16 };          /* words: 256 KB */

/* Panels j0..j1, K steps from step k on. */
struct attn_chunk { size_t j0, j1, k, K; };

/* The chunk that begins at panel j0 and step k and ends before panel `end`; if the weight is stored [in, out], it has at
 * most `depth` steps. */
struct attn_chunk attn_chunk_of(const struct attn_mat *w, size_t j0, size_t end, size_t k, size_t depth);
/* Makes words[j1 - j0][words(K), 64], where words(K) is attn_pairs_words(K). */
void attn_chunk_words(float *words, const struct attn_mat *w, const struct attn_chunk *c);

#endif
