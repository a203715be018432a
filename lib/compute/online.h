/* online.h - exact attention some keys at a time, as it is done where a row of scores would be too long to keep.
 *
 *     m' = max(m, scores of the block)        the largest so far
 *     s  = s exp(m - m') + sum exp(scores - m')
 *     y  = y exp(m - m') + exp(scores - m') v
 *
 * and in the end the context is y / s, or 0 where all scores were -inf.  A band's scratch holds one block of scores,
 * so memory does not grow with the text.  Another order of sums: the result is that of the other kinds to float32's
 * error. */
#ifndef ATTN_COMPUTE_ONLINE_H
#define ATTN_COMPUTE_ONLINE_H

#include "compute/attention.h"

/* Columns of the scratch for Tk keys; numbers in spare.x. */
size_t attn_online_columns(size_t block, size_t Tk);
size_t attn_online_spare(size_t dv);

/* From queries to contexts in one step; rows that see nothing. */
struct attn_empty attn_online_rows(const struct attn_head *h, const struct attn_band *b);

#endif
