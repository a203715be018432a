/* attention_f64.h - attention in double precision, step by step: the definition, for numbers that somebody gives
 * (attend/attend_run.c).  scaled_dot_product.c is that of models, in float32; tests compare both, for every kind.
 *
 * Each step takes the row of one query: dots with all keys, scores, weights, a mean of values.  `seen` says which keys
 * the query sees. */
#ifndef ATTN_COMPUTE_ATTENTION_F64_H
#define ATTN_COMPUTE_ATTENTION_F64_H

#include "attn_tools.h"

/* A weight [in, out]: number (i, j) is x[i * next_in + j * next_out]; b[out], NULL: nothing is added. */
struct attn_f64_weight { const double *x, *b; size_t in, out, next_in, next_out; };
/* y[out] = x[in] w + b */
void attn_f64_project(double *y, const double *x, const struct attn_f64_weight *w);
/* dots[Tk] of q[dh] and k[Tk, dh]. */
void attn_f64_dots(double *dots, const double *q, const double *k, size_t Tk, size_t dh);
/* Dots times the scale; then, unless cap is 0, cap * tanh(score / cap). */
void attn_f64_scores(double *scores, const double *dots, double scale, double cap, size_t Tk);
/* Scores of keys that are not seen become -inf. */
void attn_f64_hide(double *scores, const bool *seen, size_t Tk);
/* Scores, of which -inf hides, to weights.  False: their sum is 0, so that there is nothing to divide by. */
bool attn_f64_weights(double *weights, const double *scores, enum attn_weighing how, size_t Tk);
/* The weights of linear attention: phi(q).phi(k) of the keys seen, divided by their sum. */
bool attn_f64_linear(double *weights, const double *q, const double *k, const bool *seen, size_t Tk, size_t dh);
/* Weights of keys that are not seen become 0, and the others are divided by their sum, where `divide` says so. */
bool attn_f64_keep(double *weights, const bool *seen, bool divide, size_t Tk);
/* context[dv] = the sum of weights[Tk] times rows of v[Tk, dv]. */
void attn_f64_mix(double *context, const double *weights, const double *v, size_t Tk, size_t dv);

#endif
