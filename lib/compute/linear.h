/* linear.h - attention without a softmax, in time that grows with the text and not with its square.
 *
 *     weight(q, k) = phi(q).phi(k) / sum over keys j of phi(q).phi(j),     phi(x) = elu(x) + 1
 *     context(q)   = phi(q) S / phi(q).z,    S = sum of phi(k) v' [dh, dv],    z = sum of phi(k) [dh]
 *
 * Keys are added to S and z one after the other, so that a causal query finds there what it may see, and a text
 * that grows keeps both in its cache.  Where the sum is below FLT_MIN the row is lost: weights and context are 0.
 * The pattern is formed only for who looks at it; who edits it, or drops some of it out, makes the context come of
 * it as in other kinds. */
#ifndef ATTN_COMPUTE_LINEAR_H
#define ATTN_COMPUTE_LINEAR_H

#include "compute/attention.h"

struct attn_heads;
struct attn_team;

/* Numbers of S and z of one key/value head; in spare.x for the steps below. */
size_t attn_linear_size(size_t dh, size_t dv);
size_t attn_linear_spare(size_t dh, size_t dv);

/* Contexts of all queries of all sentences. */
void attn_linear_run(struct attn_heads *a, struct attn_team *team);

/* phi of n keys from `first` on; room for one of them. */
void attn_linear_put(const struct attn_keys *to, size_t first, const struct attn_keys *from, size_t n, float *room);

/* As in attention.h, where the pattern is needed. */
void attn_linear_dots(const struct attn_head *h, const struct attn_band *b);
struct attn_empty attn_linear_pattern(const struct attn_head *h, const struct attn_band *b);

#endif
