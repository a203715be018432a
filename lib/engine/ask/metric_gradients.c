/* metric_gradients.c - how does a metric change with each activation?  One run, whose logits are differentiated as they
 * come, and one backward pass through what was kept of it. */
#include "ask/editor.h"
#include "ask/whole.h"
#include "ask/metric.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/err.h"
#include "gradient/activations.h"
#include "model/model.h"
#include "run/run.h"

enum { FIRST, EDITOR, KEEPER, METRIC, VALUES, OURS };   /* our observers; those of the caller come after the editor */

struct attn_slopes {
    const struct attn_metric *metric;
    struct attn_editor *editor;         /* NULL: nothing is edited */
    double value;
    size_t rows;                        /* of the logits that the metric reads: the last ones */
    struct attn_whole gradient, activation;              /* activation: only for gradients times activations */
    struct attn_backward *back;
    struct attn_run *run;
    atomic_int failed;                  /* a code of the editor on the way back */
    atomic_bool told[ATTN_ACTS];        /* those that the way back has led past */
};

/* ---- the logits ---- */

static unsigned logits_wants(void *self, int act, int layer)
{
    const struct attn_slopes *s = self;
    (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH | (s->rows == 1 ? ATTN_LAST : 0) : 0;
}

static int logits_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    struct attn_slopes *s = self;
    size_t V = p->cols, first = p->shape[0] - s->rows;
    for (size_t i = 0; i < p->rows; i++) {
        size_t row = p->row0 + i;
        if (row < first)
            continue;
        float *gradient = attn_backward_logits(s->back) + (row - first) * V;
        memset(gradient, 0, V * sizeof *gradient);
        if (!attn_metric_reads(s->metric, row))
            continue;
        s->value += attn_metric_part(s->metric, row, p->data + i * p->ld);
        attn_metric_gradient(s->metric, gradient, row, p->data + i * p->ld);
    }
    return ATTN_OK;
}

static void keep(struct attn_slopes *s, float *to, const struct attn_probe *p)
{
    attn_probe_copy(to, p);
    atomic_store_explicit(&s->told[p->act], true, memory_order_relaxed);
}

static void pass(void *self, const struct attn_probe *p, float *data)
{
    struct attn_slopes *s = self;
    struct attn_probe band = *p;
    float *to = attn_whole_at(&s->gradient, p->act, p->layer);
    band.data = data;
    if (to)
        keep(s, to, &band);
    if (!s->editor || !attn_editor_reaches(s->editor, p->act, p->layer))
        return;
    int rc = attn_editor_backward(s->editor, &band, data, NULL);
    if (rc)
        s->failed = rc;
}

/* Each head's result is added to the output of attention, before that is edited: it has the same gradient. */
static void pass_results(struct attn_slopes *s, const struct attn_probe *p, const float *data)
{
    float *to = attn_whole_at(&s->gradient, ATTN_ACT_RESULT, p->layer);
    struct attn_probe head = *p;
    head.act = ATTN_ACT_RESULT;
    head.data = data;
    for (size_t h = 0; to && h < s->gradient.info.H; h++)
        keep(s, to + h * p->rows * p->cols, &head);
}

static void tap(void *self, const struct attn_probe *p, float *data)
{
    pass(self, p, data);
    if (p->act == ATTN_ACT_OUT)
        pass_results(self, p, data);
}

static unsigned taps_wants(void *self, int act, int layer)
{
    const struct attn_slopes *s = self;
    bool edited = s->editor && attn_editor_reaches(s->editor, act, layer);
    bool shown = attn_whole_at(&s->gradient, act, layer) || (act == ATTN_ACT_OUT
                                                            && attn_whole_at(&s->gradient, ATTN_ACT_RESULT, layer));
    return (shown ? ATTN_WATCH : 0) | (edited ? ATTN_EDIT : 0);
}

static void pass_logits(struct attn_slopes *s, size_t T)
{
    size_t V = s->gradient.info.V;
    struct attn_probe p = {.act = ATTN_ACT_LOGITS, .layer = -1, .ndim = 2, .shape = {T, V}, .heads = 1,
                           .row0 = T - s->rows,
                           .rows = s->rows, .cols = V, .ld = V};
    if (taps_wants(s, ATTN_ACT_LOGITS, -1))
        pass(s, &p, attn_backward_logits(s->back));
}

/* ---- gradients times activations ---- */

/* Where the gradient is 0 so is the product, also at scores of -inf. */
static void multiply(const struct attn_slopes *s)
{
    for (int layer = -1; layer < (int)s->gradient.info.L; layer++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            float *g = attn_whole_at(&s->gradient, act, layer);
            const float *x = g ? attn_whole_at(&s->activation, act, layer) : NULL;
            for (size_t i = 0, n = x ? attn_whole_count(&s->gradient, act) : 0; i < n; i++)
                g[i] = g[i] == 0 ? 0 : g[i] * x[i];
        }
}

/* ---- one run ---- */

int attn_slopes_check(const struct attn_model *m, const struct attn_slopes_opts *o, struct attn_err *err)
{
    if (!attn_metric_is_smooth(o->metric))
        return attn_fail(err, ATTN_EUSAGE, "metric '%s': a rank moves in steps, so it has no gradient: take logit, "
                                           "logprob or prob", o->metric->text);
    if (o->plan.bf16)
        return attn_fail(err, ATTN_EUSAGE, "gradients are computed in float32, not in bf16: leave --compute out");
    for (int layer = 0; layer < (int)m->w.n.L; layer++)
        for (int act = ATTN_ACT_DERIVED; act < ATTN_ACTS; act++)
            if (act != ATTN_ACT_RESULT && attn_select_wants(o->select, act, layer))
                return attn_fail(err, ATTN_EUSAGE, "%s is only looked at: nothing is computed from it, so it has no "
                                 "gradient; of what is derived, attn.result has one", attn_act_tail(act));
    return attn_backward_check(m, &o->plan.kind, err);
}

static int plan(struct attn_slopes *s, const struct attn_model *m, size_t T, const struct attn_slopes_opts *o,
                struct attn_err *err)
{
    struct attn_backward_plan back = {.T = T, .rows = s->rows, .kind = o->plan.kind, .threads = o->plan.threads,
                                  .taps = {.wants = taps_wants, .pass = tap, .self = s}};
    int rc;
    if (back.threads <= 0)
        back.threads = attn_cpu_count();
    rc = attn_whole_make(&s->gradient, m, &o->plan.kind, o->select, T, err);
    if (!rc && o->times)
        rc = attn_whole_make(&s->activation, m, &o->plan.kind, o->select, T, err);
    if (!rc)
        rc = attn_backward_new(&s->back, m, &back, err);
    if (rc)
        return rc;
    struct attn_plan run = {.rows = T, .seqs = 1, .threads = back.threads, .kind = o->plan.kind};
    size_t n = o->n_observers;
    struct attn_observer *obs = calloc(OURS + n, sizeof *obs);
    if (!obs)
        return attn_no_memory(err, NULL, "for %zu observers", n);
    obs[FIRST] = attn_backward_first(s->back);
    if (o->editor)
        obs[EDITOR] = attn_editor_observer(o->editor);
    if (n)
        memcpy(obs + KEEPER, o->observers, n * sizeof *obs);
    obs[KEEPER + n] = attn_backward_keeper(s->back);
    obs[METRIC + n] = (struct attn_observer){.wants = logits_wants, .watch = logits_watch, .self = s};
    if (o->times)
        obs[VALUES + n] = attn_whole_observer(&s->activation);
    rc = attn_run_new(&s->run, m, &run, obs, OURS + n, err);
    free(obs);
    return rc;
}

/* What the way back does not lead past would be shown as zeros. */
static int check_told(const struct attn_slopes *s, struct attn_err *err)
{
    for (int act = 0; act < ATTN_ACTS; act++)
        for (int layer = -1; layer < (int)s->gradient.info.L && !s->told[act]; layer++)
            if (attn_whole_at(&s->gradient, act, layer))
                return attn_fail(err, ATTN_EUSAGE, "%s has no gradient: the backward pass does not compute one for it, "
                                 "so leave it out", attn_act_tail(act));
    return ATTN_OK;
}

static int forward_and_back(struct attn_slopes *s, const struct attn_tokens *tokens, struct attn_err *err)
{
    struct attn_seq seq = {.T = tokens->n};
    int32_t *ids = NULL;
    int rc = attn_tokens_to_ids(&ids, tokens, err);
    if (!rc)
        rc = attn_run_forward(s->run, ids, &seq, 1, err);
    free(ids);
    if (rc)
        return rc;
    pass_logits(s, tokens->n);
    attn_backward_run(s->back, s->run->pass.team);
    return s->failed ? attn_fail(err, (enum attn_status)s->failed,
                                 "the edits could not be differentiated: is there memory?")
        : ATTN_OK;
}

int attn_slopes_new(struct attn_slopes **out, const struct attn_model *m, const struct attn_tokens *tokens,
                    const struct attn_slopes_opts *o, struct attn_err *err)
{
    *out = NULL;
    int rc = attn_slopes_check(m, o, err);
    if (!rc)
        rc = attn_run_check_tokens(m, tokens, NULL, err);
    if (!rc)
        rc = attn_metric_fits(o->metric, m, tokens->n, err);
    if (!rc && attn_metric_refers(o->metric) && !o->metric->reference)
        rc = attn_fail(err, ATTN_EUSAGE, "metric '%s' has no reference", o->metric->text);
    if (rc)
        return rc;
    struct attn_slopes *s = calloc(1, sizeof *s);
    if (!s)
        return attn_no_memory(err, NULL, "for gradients");
    s->metric = o->metric;
    s->editor = o->editor;
    s->rows = tokens->n - attn_metric_first(o->metric);
    rc = plan(s, m, tokens->n, o, err);
    if (!rc)
        rc = forward_and_back(s, tokens, err);
    if (!rc)
        rc = check_told(s, err);
    if (!rc && o->times)
        multiply(s);
    attn_backward_free(s->back);        /* what is left are the gradients */
    attn_run_free(s->run);
    attn_whole_free(&s->activation);
    s->back = NULL;
    s->run = NULL;
    if (rc)
        attn_slopes_free(s);
    else
        *out = s;
    return rc;
}

void attn_slopes_free(struct attn_slopes *s)
{
    if (!s)
        return;
    attn_whole_free(&s->gradient);
    free(s);
}

double attn_slopes_value(const struct attn_slopes *s)
{
    return s->value;
}

static int show(const struct attn_whole *h, int act, int layer, const struct attn_observer *to, struct attn_err *err)
{
    char name[ATTN_NAME_MAX];
    const float *data = attn_whole_at(h, act, layer);
    struct attn_probe p = {.name = name, .act = act, .layer = layer, .data = data, .heads = 1};
    if (!data || !(to->wants(to->self, act, layer) & ATTN_WATCH))
        return ATTN_OK;
    attn_act_name(name, act, layer);
    p.ndim = attn_act_shape(p.shape, &h->info, act, h->T, h->T);
    p.rows = p.shape[p.ndim - 2];
    p.cols = p.ld = p.shape[p.ndim - 1];
    p.ld_head = p.rows * p.cols;
    if (p.ndim == 3)
        p.heads = p.shape[0];
    return to->watch(to->self, &p, err);
}

int attn_slopes_show(const struct attn_slopes *s, const struct attn_observer *to, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (int act = 0; act < ATTN_ACT_RESID_PRE && !rc; act++)
        rc = show(&s->gradient, act, -1, to, err);
    for (int layer = 0; layer < (int)s->gradient.info.L && !rc; layer++)
        for (int act = 0; act < ATTN_ACTS && !rc; act++)
            if (attn_act_per_layer(act))
                rc = show(&s->gradient, act, layer, to, err);
    for (int act = ATTN_ACT_RESID_PRE; act < ATTN_ACTS && !rc; act++)
        if (!attn_act_per_layer(act))
            rc = show(&s->gradient, act, -1, to, err);
    return rc;
}
