/* mask.h - what a kind of attention says of a query: its scale, the keys it sees, the weights that are dropped.
 *
 * q and k are positions.  In most kinds a query sees all keys between two bounds.  Strided and random pick some of
 * these, and their arithmetic goes through the list of picked keys. */
#ifndef ATTN_COMPUTE_MASK_H
#define ATTN_COMPUTE_MASK_H

#include "attn.h"

/* The kind of attention of a layer: `asked`, with ATTN_MODEL replaced by the layer's own mask, which is causal or not
 * and has a window of so many keys (0: none). */
struct attn_kind attn_kind_in(const struct attn_kind *asked, bool causal, size_t window);
/* What dots are multiplied by; own: the layer's own scale. */
double attn_kind_scale_f64(const struct attn_kind *k, double own, size_t dh);
float attn_kind_scale(const struct attn_kind *k, float own, size_t dh);         /* the same, rounded */

bool attn_kind_past(const struct attn_kind *k);         /* no query sees a later key */
bool attn_kind_picks(const struct attn_kind *k);        /* some keys between the bounds are hidden */

struct attn_range { size_t lo, hi; };                   /* lo <= k < hi */
/* Bounds of the keys that q sees, of Tk keys. */
struct attn_range attn_kind_bounds(const struct attn_kind *k, size_t q, size_t Tk);

/* Lists the keys that q sees, ascending, for a kind that picks; returns how many.  `list` and `swaps` must hold
 * q + 1 numbers, whatever Tk is; `swaps` is scratch that must be all zeros and is left so. */
size_t attn_kind_pick(size_t *list, size_t *swaps, const struct attn_kind *k, size_t q, size_t Tk);

/* Adds the keys to which q may give a weight, of Tk, to seen: those it sees, but causal-renorm hides later ones after
 * its softmax.  `list` and `swaps` as above; NULL for a kind that does not pick. */
void attn_kind_mark(bool *seen, size_t *list, size_t *swaps, const struct attn_kind *k, size_t q, size_t Tk);

/* Dropout of weights, as in training: some become 0, the others grow by 1 / (1 - p), so that sums stay what they are on
 * average.  Which ones depends on seed, layer, head, query and key alone (attn.h says how). */
struct attn_head_drop { double p; uint64_t head; };     /* probability, 0: none; hash of seed, layer and head */
/* Drops among the weights of query q for n keys: those in `list` or, if it is NULL, the keys from `first` on. */
void attn_drop_keys(const struct attn_head_drop *d, float *weight, size_t q, const size_t *list, size_t first,
                    size_t n);
/* The same among the weights of query q for the keys from 0 on, in double precision. */
void attn_drop_f64(const struct attn_head_drop *d, double *weight, size_t q, size_t n);
/* Of a head of a layer, for a kind of attention. */
struct attn_head_drop attn_kind_drop(const struct attn_kind *k, int layer, size_t head);

#endif
