/* logits.h - looking at one row of logits. */
#ifndef ATTN_LOGITS_H
#define ATTN_LOGITS_H

#include "attn.h"

/* The likeliest of V > 0 tokens, of equals the lowest.  What is not finite is an error that names it. */
int attn_logits_best(int32_t *best, const float *logits, size_t V, struct attn_err *err);

#endif
