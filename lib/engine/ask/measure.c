/* measure.c - how large is a metric, and how does it change with each logit?
 *
 * Everything here is in double precision.  With p the softmax of a row of logits z, the derivatives with respect to
 * z[j] are
 *
 *     logit(i):    [i = j]
 *     logprob(i):  [i = j] - p[j]
 *     prob(i):     p[i] ([i = j] - p[j])
 *     kl:          p[j] - r[j],  r the softmax of the reference
 *
 * and a loss is the mean of -logprob of the next token. */
#include "ask/metric.h"

#include "base/elementary.h"
#include "base/err.h"
#include "compute/vec.h"
#include "run/logits.h"

#include <math.h>

struct softmax { double top, sum, log; };               /* p[j] = exp(z[j] - top) / sum; log is that of the sum */

static struct softmax softmax_of(const float *logits, size_t V)
{
    struct softmax s = {.top = -INFINITY};
    for (size_t j = 0; j < V; j++)
        if (!((double)logits[j] <= s.top))                          /* NaN stays */
            s.top = logits[j];
    s.sum = attn_vec_exp_sum(logits, s.top, V);
    s.log = attn_log(s.sum);
    return s;
}

static double logprob(const struct softmax *s, const float *logits, int32_t id)
{
    return (double)logits[id] - s->top - s->log;
}

static double prob(const struct softmax *s, const float *logits, size_t j)
{
    return attn_exp((double)logits[j] - s->top) / s->sum;
}

size_t attn_metric_first(const struct attn_metric *m)
{
    size_t first = m->form == ATTN_METRIC_LOSS ? 0 : m->T - 1;
    for (size_t i = 0; i < m->n; i++)
        first = m->term[i].row < first ? m->term[i].row : first;
    return first;
}

bool attn_metric_reads(const struct attn_metric *m, size_t row)
{
    if (m->form != ATTN_METRIC_TERMS)
        return m->form == ATTN_METRIC_LOSS ? row + 1 < m->T : row + 1 == m->T;
    for (size_t i = 0; i < m->n; i++)
        if (m->term[i].row == row)
            return true;
    return false;
}

/* ---- values ---- */

static double rank(const float *logits, size_t V, int32_t id)
{
    size_t above = 0;
    bool ordered = true;
    for (size_t j = 0; j < V; j++) {
        above += logits[j] > logits[id];
        ordered &= !isnan(logits[j]);
    }
    return ordered ? 1 + (double)above : NAN;
}

static double divergence(const struct softmax *s, const float *logits, const float *reference, size_t V)
{
    return attn_logits_divergence(reference, attn_logits_log_sum(reference, V), logits, s->top + s->log, V);
}

static double term(const struct attn_metric_term *t, const struct softmax *s, const float *logits, size_t V)
{
    switch (t->of) {
    case ATTN_TERM_LOGIT:   return t->factor * (double)logits[t->id];
    case ATTN_TERM_LOGPROB: return t->factor * logprob(s, logits, t->id);
    case ATTN_TERM_PROB:    return t->factor * prob(s, logits, (size_t)t->id);
    case ATTN_TERM_RANK:    return t->factor * rank(logits, V, t->id);
    case ATTN_TERMS:        break;
    }
    return 0;
}

/* The softmax of a row, where the metric needs it: of a logit or a rank it does not. */
static struct softmax softmax_for(const struct attn_metric *m, size_t row, const float *logits)
{
    bool needed = m->form != ATTN_METRIC_TERMS;
    for (size_t i = 0; i < m->n; i++)
        needed |= m->term[i].row == row && (m->term[i].of == ATTN_TERM_LOGPROB || m->term[i].of == ATTN_TERM_PROB);
    return needed ? softmax_of(logits, m->V) : (struct softmax){0};
}

double attn_metric_part(const struct attn_metric *m, size_t row, const float *logits)
{
    struct softmax s = softmax_for(m, row, logits);
    double sum = 0;
    if (m->form == ATTN_METRIC_LOSS)
        return -logprob(&s, logits, m->ids[row + 1]) / (double)(m->T - 1);
    if (m->form == ATTN_METRIC_KL)
        return divergence(&s, logits, m->reference, m->V);
    for (size_t i = 0; i < m->n; i++)
        if (m->term[i].row == row)
            sum += term(&m->term[i], &s, logits, m->V);
    return sum;
}

/* ---- derivatives ---- */

/* The coefficients of [i = j] for the token j. */
static double named(const struct attn_metric *m, size_t row, int32_t id, const struct softmax *s, const float *logits)
{
    double sum = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct attn_metric_term *t = &m->term[i];
        if (t->row == row && t->id == id && t->of != ATTN_TERM_RANK)
            sum += t->factor * (t->of == ATTN_TERM_PROB ? prob(s, logits, (size_t)id) : 1);
    }
    return sum;
}

void attn_metric_gradient(const struct attn_metric *m, float *gradient, size_t row, const float *logits)
{
    struct softmax s = softmax_for(m, row, logits), r = {0};
    /* by_p: the coefficient of -p[j] */
    double by_p = 0, each = m->form == ATTN_METRIC_LOSS ? 1 / (double)(m->T - 1) : 0;
    if (m->form == ATTN_METRIC_KL)
        r = softmax_of(m->reference, m->V);
    for (size_t i = 0; i < m->n; i++) {
        const struct attn_metric_term *t = &m->term[i];
        if (t->row == row && t->of == ATTN_TERM_LOGPROB)
            by_p += t->factor;
        if (t->row == row && t->of == ATTN_TERM_PROB)
            by_p += t->factor * prob(&s, logits, (size_t)t->id);
    }
    for (size_t j = 0; j < m->V; j++) {
        double d = m->form == ATTN_METRIC_LOSS ? each * (prob(&s, logits, j) - ((size_t)m->ids[row + 1] == j))
                 : m->form == ATTN_METRIC_KL ? prob(&s, logits, j) - prob(&r, m->reference, j)
                 : by_p != 0 ? -by_p * prob(&s, logits, j) : 0;
        gradient[j] = (float)d;
    }
    for (size_t i = 0; i < m->n; i++) {
        int32_t id = m->term[i].id;     /* where p is almost 1, 1 - p must not be rounded before it is a difference */
        if (m->term[i].row == row)
            gradient[id] = (float)(named(m, row, id, &s, logits) - (by_p != 0 ? by_p * prob(&s, logits, (size_t)id) :
                                                                    0));
    }
}

/* ---- measuring a run ---- */

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_metric *m = ((struct attn_measure *)self)->metric;
    (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH | (attn_metric_first(m) + 1 == m->T ? ATTN_LAST : 0) : 0;
}

static int check_bound(const struct attn_metric *m, const struct attn_probe *p, struct attn_err *err)
{
    size_t end = p->row0 + p->rows;
    bool early = end < m->T && end < p->shape[0];       /* an observer before may make the last row the reference */
    if (m->T && m->V == p->cols && (m->form != ATTN_METRIC_KL || m->reference || early))
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "metric '%s' is not bound to a text of this model%s", m->text,
                     m->T && m->V == p->cols ? ", or has no reference" : "");
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct attn_measure *x = self;
    if (p->seq != x->seq)
        return ATTN_OK;
    if (check_bound(x->metric, p, err))
        return err->code;
    for (size_t i = 0; i < p->rows; i++)
        if (attn_metric_reads(x->metric, p->row0 + i))
            x->value += attn_metric_part(x->metric, p->row0 + i, p->data + i * p->ld);
    return ATTN_OK;
}

struct attn_observer attn_measure_observer(struct attn_measure *x)
{
    x->value = 0;
    return (struct attn_observer){.wants = wants, .watch = watch, .self = x};
}

/* ---- the reference of kl ---- */

static unsigned refer_wants(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH | ATTN_LAST : 0;
}

static int refer_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    bool last = !p->seq && p->row0 + p->rows == p->shape[0];
    return last ? attn_metric_refer(self, p->data + (p->rows - 1) * p->ld, err) : ATTN_OK;
}

struct attn_observer attn_metric_refer_observer(struct attn_metric *m)
{
    return (struct attn_observer){.wants = refer_wants, .watch = refer_watch, .self = m};
}

int attn_metric_refer_run(struct attn_metric *m, const struct attn_model *model, const struct attn_tokens *tokens,
                          const struct attn_plan *plan, const struct attn_observer *also, struct attn_err *err)
{
    const struct attn_observer observers[] = {attn_metric_refer_observer(m), *also};
    return attn_metric_refers(m) ? attn_run_tokens(model, plan, tokens, NULL, observers, 2, err) : ATTN_OK;
}

int attn_metric_refer_to(struct attn_metric *m, const struct attn_model *model, const struct attn_tokens *tokens,
                         const struct attn_plan *plan, struct attn_err *err)
{
    return attn_metric_refer_run(m, model, tokens, plan, &(struct attn_observer){.wants = NULL}, err);
}
