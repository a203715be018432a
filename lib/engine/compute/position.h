/* position.h - positions of models that do not learn them: they rotate queries and keys, or add to scores or to the
 * embedding of each token. */
#ifndef ATTN_COMPUTE_POSITION_H
#define ATTN_COMPUTE_POSITION_H

#include "compute/weights.h"

/* Radians from each position to the next of pair i, in a text of so many tokens. */
double attn_rope_inv_freq(const struct attn_weights *w, const struct attn_rope *rope, size_t i, size_t tokens);
/* Cosines and sines [n, rotary/2] of positions from `pos` on, times the attention factor. */
void attn_rope_cos_sin(float *cosines, float *sines, const struct attn_weights *w, const struct attn_rope *rope,
                       size_t pos, size_t n, size_t tokens);
/* Whether keys of the first `have` tokens, rotated when these were the whole text, fit a text of `tokens` as well. */
bool attn_rope_cache_valid(const struct attn_weights *w, size_t have, size_t tokens);

/* The vector of a position, [d], d at least 4: with h = d / 2, sines and then cosines of p * 10000^(-i / (h - 1)) for i
 * below h, where p is 2 more than the position, and a last 0 if d is odd. */
void attn_sinusoid(float *to, size_t d, size_t pos);

/* What ALiBi adds to the score of a key; and to those of `keys` keys, for every head: to[H, ld].  scale: what dots
 * are multiplied by. */
float attn_alibi_at(const struct attn_weights *w, float scale, size_t head, size_t key);
void attn_alibi_fill(float *to, size_t ld, const struct attn_weights *w, float scale, size_t keys);

#endif
