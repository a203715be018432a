/* drop.h - dropout of attention weights, as in training: some become 0, the others grow by 1 / (1 - p), so that
 * sums stay what they are on average.  Which ones depends on their place alone (attn.h says how). */
#ifndef ATTN_COMPUTE_DROP_H
#define ATTN_COMPUTE_DROP_H

#include "attn.h"

struct attn_head_drop { double p; uint64_t head; };          /* probability, 0: no dropout; hash of seed, layer and head */

struct attn_head_drop attn_drop_of(const struct attn_kind *k, int layer, size_t head);
/* Drops among the weights of query q for n keys: those in `list` or, if it is NULL, the keys from `first` on. */
void attn_drop_keys(const struct attn_head_drop *d, float *weight, size_t q, const size_t *list, size_t first, size_t n);

#endif
