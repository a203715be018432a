/* question_run.c - one call for one question whose answer is numbers. */
#include "answers/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* ---- activations ------------------------------------------------------------------------- */

int attn_ask_run(struct attn_dump **out, const struct attn_question *q, const char *show, struct attn_err *err)
{
    struct attn_asked_of a;
    struct attn_select *select = NULL;
    *out = NULL;
    int rc = attn_asked_open(&a, q, ATTN_ASKED_TEXT, err);
    if (!rc)
        rc = attn_select_new(&select, q->model, &a.plan.kind, show, NULL, NULL, err);
    if (!rc)
        rc = attn_dump_run_with(out, q->model, a.tokens, a.cross, select, &a.plan, a.observers, a.n, err);
    attn_select_free(select);
    attn_asked_close(&a);
    return rc;
}

/* ---- a metric ---------------------------------------------------------------------------- */

/* A metric, bound to the text; kl has its reference. */
static int bind_metric(struct attn_metric **out, struct attn_asked_of *a, const char *text, struct attn_err *err)
{
    int rc = attn_metric_new(out, text, err);
    if (!rc && attn_metric_has_words(*out))
        rc = attn_asked_tokenizer(a, false, err);
    const struct attn_metric_of of = {.model = a->q->model, .tokenizer = a->tokenizer, .ids = a->ids,
                                      .T = a->tokens->n};
    if (!rc)
        rc = attn_metric_bind(*out, &of, err);
    return rc ? rc : attn_metric_refer_to(*out, a->q->model, a->tokens, &a->plan, err);
}

int attn_ask_metric(double *out, const struct attn_question *q, const char *metric, struct attn_err *err)
{
    struct attn_asked_of a;
    struct attn_metric *m = NULL;
    struct attn_measure measure = {0};
    int rc = attn_asked_open(&a, q, ATTN_ASKED_TEXT, err);
    if (!rc)
        rc = bind_metric(&m, &a, metric, err);
    if (!rc) {
        measure.metric = m;
        a.observers[a.n] = attn_measure_observer(&measure);
        rc = attn_run_tokens(q->model, &a.plan, a.tokens, a.cross, a.observers, a.n + 1, err);
    }
    *out = measure.value;
    attn_metric_free(m);
    attn_asked_close(&a);
    return rc;
}

/* ---- scores ------------------------------------------------------------------------------ */

int attn_ask_score(double **out, size_t *n, const struct attn_question *q, struct attn_err *err)
{
    struct attn_asked_of a;
    *out = NULL;
    *n = 0;
    int rc = attn_asked_open(&a, q, ATTN_ASKED_WINDOWS, err);
    double *score = rc ? NULL : calloc(a.tokens->n, sizeof *score);
    if (!rc && !score)
        rc = attn_no_memory(err, NULL, "for %zu scores", a.tokens->n);
    if (!rc) {
        const struct attn_score_opts o = {.kind = a.plan.kind, .threads = a.plan.threads, .bf16 = a.plan.bf16,
                                          .observers = a.observers, .n_observers = a.n};
        rc = attn_score(score, q->model, a.ids, a.tokens->n, &o, err);
    }
    if (!rc) {
        *out = score;
        *n = a.tokens->n;
        score = NULL;
    }
    free(score);
    attn_asked_close(&a);
    return rc;
}

/* ---- a continuation ---------------------------------------------------------------------- */

static int go_on(struct attn_growth *g, struct attn_sampler *s, const struct attn_model *m, size_t room,
                 struct attn_err *err)
{
    int rc = ATTN_OK;
    int32_t id = -1;
    size_t n;
    for (attn_growth_ids(g, &n); n < room && !rc && !attn_model_ends(m, id); n++) {
        const float *logits;
        rc = attn_growth_logits(g, &logits, err);
        if (!rc)
            rc = attn_sampler_next(s, &id, logits, err);
        if (!rc)
            rc = attn_growth_add(g, id, err);
    }
    return rc;
}

static int take_ids(int32_t **out, size_t *n, const struct attn_growth *g, struct attn_err *err)
{
    size_t all;
    const int32_t *ids = attn_growth_ids(g, &all);
    *out = calloc(all, sizeof **out);
    if (!*out)
        return attn_no_memory(err, NULL, "for %zu tokens", all);
    memcpy(*out, ids, all * sizeof *ids);
    *n = all;
    return ATTN_OK;
}

static int grow(int32_t **ids, size_t *n, struct attn_asked_of *a, size_t most, const struct attn_sampling *sampling,
                struct attn_err *err)
{
    const struct attn_sampling likeliest = {.top_p = 1};
    struct attn_growth *g = NULL;
    struct attn_sampler *s = NULL;
    struct attn_info info;
    attn_model_info(a->q->model, &info);
    size_t left = info.n_ctx > a->tokens->n ? info.n_ctx - a->tokens->n : 0;
    size_t room = a->tokens->n + (most < left ? most : left);
    const struct attn_growth_opts o = {.prompt = a->tokens, .room = room, .plan = a->plan, .editor = a->editor,
                                       .observers = a->q->observers, .n_observers = a->q->n_observers};
    int rc = attn_sampler_new(&s, info.V, sampling ? sampling : &likeliest, err);
    if (!rc)
        rc = attn_growth_new(&g, a->q->model, &o, err);
    if (!rc)
        rc = go_on(g, s, a->q->model, room, err);
    if (!rc)
        rc = take_ids(ids, n, g, err);
    attn_sampler_free(s);
    attn_growth_free(g);
    return rc;
}

int attn_ask_generate(int32_t **ids, size_t *n, const struct attn_question *q, size_t most,
                      const struct attn_sampling *sampling, struct attn_err *err)
{
    struct attn_asked_of a;
    *ids = NULL;
    *n = 0;
    int rc = attn_asked_open(&a, q, ATTN_ASKED_PROMPT, err);
    if (!rc)
        rc = attn_model_continues(q->model, &a.plan.kind, err);
    if (!rc)
        rc = attn_model_check_tokens(q->model, a.tokens, err);
    if (!rc)
        rc = grow(ids, n, &a, most, sampling, err);
    attn_asked_close(&a);
    return rc;
}

/* ---- a grid of patches ------------------------------------------------------------------- */

int attn_asked_patch(struct attn_patch **out, struct attn_asked_of *a, const struct attn_patch_opts *ask,
                     const char *metric, struct attn_err *err)
{
    struct attn_metric *m = NULL;
    struct attn_patch_opts o = *ask;
    if (!ask->what || !ask->over || !metric || !a->from)
        return attn_fail(err, ATTN_EUSAGE, "patch: expected from, the other text, and what, over and metric");
    if (a->q->n_observers)
        return attn_fail(err, ATTN_EUSAGE, "patch: its runs take no observers");
    int rc = bind_metric(&m, a, metric, err);
    o.tokens = a->tokens;
    o.from = a->from;
    o.metric = m;
    o.plan = a->plan;
    o.editor = a->editor;
    if (!rc)
        rc = attn_patch_new(out, a->q->model, &o, err);
    attn_metric_free(m);
    return rc;
}

int attn_ask_patch(struct attn_patch **out, const struct attn_question *q, const char *what, const char *over,
                   const char *method, const char *metric, struct attn_err *err)
{
    struct attn_asked_of a;
    const struct attn_patch_opts ask = {.what = what, .over = over, .method = method};
    *out = NULL;
    int rc = attn_asked_open(&a, q, ATTN_ASKED_TEXT, err);
    if (!rc)
        rc = attn_asked_patch(out, &a, &ask, metric, err);
    attn_asked_close(&a);
    return rc;
}
