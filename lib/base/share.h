/* share.h - the part of N things that a share (struct attn_share of attn.h) selects. */
#ifndef ATTN_BASE_SHARE_H
#define ATTN_BASE_SHARE_H

#include "attn.h"

/* The range [*from, *to) of N that a share without stride selects. */
void attn_share_range(const struct attn_share *s, uint64_t N, uint64_t *from, uint64_t *to);
uint64_t attn_share_size(const struct attn_share *s, uint64_t N);   /* how many of N, with or without stride */

#endif
