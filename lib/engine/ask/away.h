/* away.h - which head tells most of a text: the one whose rows look most at other tokens than themselves and the first,
 * where attention gathers that means nothing.
 *
 *     away(head) = mean over rows i >= 2 of  1 - w[i,0] - w[i,i]
 *
 * Of several with the largest it is the one of the lowest layer and number.  A text of fewer than three tokens has
 * none, nor has one whose heads all stay below 0.1. */
#ifndef ATTN_ASK_AWAY_H
#define ATTN_ASK_AWAY_H

#include "attn_tools.h"

struct attn_away { size_t heads; double *sum; size_t *rows; };  /* [L * heads] */
int attn_away_new(struct attn_away *a, size_t L, size_t heads, struct attn_err *err);
void attn_away_free(struct attn_away *a);               /* zeroed is fine */
/* Adds row i of a pattern, of `keys` weights. */
void attn_away_add(struct attn_away *a, size_t layer, size_t head, size_t i, const float *weight, size_t keys);
/* That of a head; NaN: no row gave one. */
double attn_away_of(const struct attn_away *a, size_t layer, size_t head);
/* The head that tells most, and how much; false: none does, and it is the first. */
bool attn_away_most(const struct attn_away *a, size_t L, size_t *layer, size_t *head, double *away);
/* The largest weight of a run on another key than the first and the query itself; of several the first, by layer, head,
 * query and key.  weight 0: there is none. */
void attn_telling_add(struct attn_telling *t, size_t layer, size_t head, size_t i, const float *weight, size_t keys);

#endif
