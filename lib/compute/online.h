/* online.h - exact attention with an online softmax: one block of keys at a time, as FlashAttention does it.
 *
 *     m' = max(m, scores of the block)        the largest so far
 *     s  = s exp(m - m') + sum exp(scores - m')
 *     y  = y exp(m - m') + exp(scores - m') v
 *
 * After the last block the context is y / s, or 0 where all scores were -inf.  A band's scratch holds one block of
 * scores, so memory does not grow with the text.  The order of sums differs from that of other kinds, so the result is
 * theirs up to the rounding of float32. */
#ifndef ATTN_COMPUTE_ONLINE_H
#define ATTN_COMPUTE_ONLINE_H

#include "compute/attention.h"

/* How many columns the scratch of a band needs for Tk keys; how many floats are needed in spare.x. */
size_t attn_online_columns(size_t block, size_t Tk);
size_t attn_online_spare(size_t dv);

/* Computes contexts from queries in one step; returns what it found. */
struct attn_found attn_online_rows(const struct attn_head *h, const struct attn_band *b);

#endif
