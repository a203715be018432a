/* linear.h - attention without a softmax, in time that grows with the text and not with its square.
 *
 *     weight(q, k) = phi(q).phi(k) / sum over keys j of phi(q).phi(j),     phi(x) = elu(x) + 1
 *     context(q)   = phi(q) S / phi(q).z,    S = sum of phi(k) v' [dh, dv],    z = sum of phi(k) [dh]
 *
 * Keys are added to S and z one after the other: at each query, both hold just what it may see if attention is causal.
 * A sentence that grows keeps both in its cache.  Where the sum is below FLT_MIN the row is lost: weights and context
 * are 0.  The pattern is computed only for observers.  But if one edits it, or with dropout, contexts are computed from
 * the pattern, as in other kinds. */
#ifndef ATTN_COMPUTE_LINEAR_H
#define ATTN_COMPUTE_LINEAR_H

#include "compute/attention.h"

struct attn_heads;
struct attn_team;

/* How many floats S and z of one key/value head take; how many the functions below need in spare.x. */
size_t attn_linear_size(size_t dh, size_t dv);
size_t attn_linear_spare(size_t dh, size_t dv);

/* Computes the contexts of all queries of all sentences. */
void attn_linear_run(struct attn_heads *a, struct attn_team *team);

/* Puts phi of n keys, from number `first` on, into `to`; `room` is scratch for one key. */
void attn_linear_put(const struct attn_keys *to, size_t first, const struct attn_keys *from, size_t n, float *room);

/* The steps of attention.h, for when the pattern is needed. */
void attn_linear_dots(const struct attn_head *h, const struct attn_band *b);
struct attn_found attn_linear_pattern(const struct attn_head *h, const struct attn_band *b);

#endif
