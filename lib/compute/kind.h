/* kind.h - which keys a query sees under each kind of attention.
 *
 * q and k are positions.  Most kinds see all keys between two bounds; strided and random pick some of those, and
 * the list of them is what their arithmetic goes by. */
#ifndef ATTN_COMPUTE_KIND_H
#define ATTN_COMPUTE_KIND_H

#include "attn.h"

/* What is asked for, in a layer that is causal and looks back `window` keys (0: all) where nothing is. */
struct attn_kind attn_kind_in(const struct attn_kind *asked, bool causal, size_t window);
/* In place of the layer's own scale. */
float attn_kind_scale(const struct attn_kind *k, float own, size_t dh);

bool attn_kind_past(const struct attn_kind *k);         /* no query sees a later key */
bool attn_kind_picks(const struct attn_kind *k);        /* some keys between the bounds are hidden */

struct attn_range { size_t lo, hi; };                   /* lo <= k < hi */
/* Of Tk keys, those that q sees lie in here. */
struct attn_range attn_kind_bounds(const struct attn_kind *k, size_t q, size_t Tk);

/* The keys that q sees, ascending, of a kind that picks; returns how many.  Both have room for q + 1, whatever
 * Tk; `swaps` is all zeros before and after. */
size_t attn_kind_pick(size_t *list, size_t *swaps, const struct attn_kind *k, size_t q, size_t Tk);

#endif
