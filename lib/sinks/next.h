/* next.h - the likeliest next tokens: the softmax of the last row of logits, in double precision. */
#ifndef ATTN_SINKS_NEXT_H
#define ATTN_SINKS_NEXT_H

#include "attn.h"

enum { ATTN_NEXT_MAX = 5 };
struct attn_next { size_t n; struct { int32_t id; double p; } best[ATTN_NEXT_MAX]; };

/* Finds the likeliest tokens, in descending order; of equally likely ones the lower id comes first. */
void attn_next_find(struct attn_next *out, const float *logits, size_t V);

#endif
