/* metric.h - what is measured of a run, one number of its logits, and how that number changes with each logit.
 *
 *     metric = sum of terms c * f(row, token),   f: logit, log-probability, probability, rank
 *            | loss                              mean of -log p(token | those before it)
 *            | kl                                KL(reference || this) at the last position
 *
 * A new f is a value of enum attn_term_of before ATTN_TERMS, its name in kinds[] of metric.c, and in measure.c its
 * value (term) and derivative (attn_metric_gradient); a new metric of a whole text is a value of enum attn_metric_form,
 * read by attn_metric_new and measured beside loss.
 *
 * A metric is read once (metric.c) and bound to each text: tokens get their ids, positions their rows.  Its value is a
 * sum over rows of logits (measure.c), so that whoever has one row at a time never needs all of them. */
#ifndef ATTN_ASK_METRIC_H
#define ATTN_ASK_METRIC_H

#include "attn_ask.h"

enum attn_metric_form { ATTN_METRIC_TERMS, ATTN_METRIC_LOSS, ATTN_METRIC_KL };
enum attn_term_of { ATTN_TERM_LOGIT, ATTN_TERM_LOGPROB, ATTN_TERM_PROB, ATTN_TERM_RANK, ATTN_TERMS };

struct attn_metric_term {
    double factor;
    enum attn_term_of of;
    char *token; size_t len;            /* as text, or the name of a field; NULL: the id says all */
    bool field;
    int64_t pos;                        /* as written: negative ones count from the end */
    size_t column;                      /* where its token is written, from 1 */
    int32_t id; size_t row;             /* once it is bound */
};

struct attn_metric {
    char *text;
    enum attn_metric_form form;
    struct attn_metric_term *term; size_t n;
    /* of the text it is bound to */
    const int32_t *ids; size_t T, V;
    float *reference;                   /* [V] kl: the last row of the reference's logits */
};

/* The i-th form that a metric may have, as in "logit(TOKEN)" or "loss"; NULL: there are no more.  Returns text. */
enum { ATTN_METRIC_FORM = 24 };
const char *attn_metric_form(char text[ATTN_METRIC_FORM], size_t i);
/* What is wrong with it for any text: no logits, words that are not one token.  If it has no words, t may be NULL. */
int attn_metric_check(const struct attn_metric *m, const struct attn_model *model, const struct attn_tokenizer *t,
                      struct attn_err *err);
/* Whether that is the kind of text it was bound to. */
int attn_metric_fits(const struct attn_metric *m, const struct attn_model *model, size_t T, struct attn_err *err);
/* Whether the model has a token of that id. */
int attn_token_check(const struct attn_model *m, int64_t id, struct attn_err *err);
/* The first row it reads, of a text of T tokens: those before it need no logits. */
size_t attn_metric_first(const struct attn_metric *m);
bool attn_metric_reads(const struct attn_metric *m, size_t row);
/* What one row of logits, which it reads, adds to its value. */
double attn_metric_part(const struct attn_metric *m, size_t row, const float *logits);
/* As attn_metric_refer_to; `also` observes that run, too. */
int attn_metric_refer_run(struct attn_metric *m, const struct attn_model *model, const struct attn_tokens *tokens,
                          const struct attn_plan *plan, const struct attn_observer *also, struct attn_err *err);
/* gradient[V] = the derivative of the metric with respect to the logits of one row, which it reads. */
void attn_metric_gradient(const struct attn_metric *m, float *gradient, size_t row, const float *logits);

#endif
