/* logits.h - finds the likeliest token in a row of logits. */
#ifndef ATTN_LOGITS_H
#define ATTN_LOGITS_H

#include "attn.h"

/* The likeliest of V > 0 tokens; of equally likely ones, that with the lowest id.  A logit that is not finite is an error. */
int attn_logits_best(int32_t *best, const float *logits, size_t V, struct attn_err *err);

#endif
