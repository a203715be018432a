/* logits.h - the probabilities that a row of logits stands for, for those who compare rows. */
#ifndef ATTN_RUN_LOGITS_H
#define ATTN_RUN_LOGITS_H

#include <stddef.h>

/* The logarithm of the sum of exp(x[n]); NaN where x stands for no probabilities: one is NaN or inf, or all are -inf,
 * which rules a token out. */
double attn_logits_log_sum(const float *x, size_t n);
/* The Kullback-Leibler divergence of q from p, KL(p || q) in nats, from logits and the logarithms of their sums; NaN if
 * either stands for no probabilities. */
double attn_logits_divergence(const float *p, double sum_p, const float *q, double sum_q, size_t n);

#endif
