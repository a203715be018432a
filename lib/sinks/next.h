/* next.h - the likeliest next tokens: the softmax of the last row of logits, in double precision. */
#ifndef ATTN_SINKS_NEXT_H
#define ATTN_SINKS_NEXT_H

#include "attn.h"

enum { ATTN_NEXT_MAX = 5 };
struct attn_next {
    size_t n; struct { int32_t id; double p; } best[ATTN_NEXT_MAX];
    size_t bad; float nonfinite;             /* if none is likeliest: the token whose logit is in the way, and that logit */
};

/* Finds the likeliest tokens, in descending order; of equally likely ones the lower id comes first.  A logit of -inf rules a
 * token out.  One that is NaN or inf, or -inf for all tokens, ranks none: then n is 0. */
void attn_next_find(struct attn_next *out, const float *logits, size_t V);
/* Says why none is likeliest. */
enum { ATTN_NEXT_WHY = 192 };
void attn_next_why(char buf[ATTN_NEXT_WHY], const struct attn_next *next);

#endif
