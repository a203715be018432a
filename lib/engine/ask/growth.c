/* growth.c - a text that grows token by token, each run once, for its prediction of the next. */
#include "attn_ask.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

struct attn_growth {
    int32_t *ids; size_t n, room;
    const struct attn_model *model;
    size_t seen, scored;                /* ids that went through the model; those that have a log-probability */
    float *logits;                      /* [V] for the token after those */
    double *logprob;                    /* [room] for each token but the first; NULL: not asked for */
    struct attn_kv *kv;
    struct attn_run *run;
    struct attn_editor *editor;         /* NULL: nothing is edited */
    size_t V;
};

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_growth *g = self;
    (void)layer;
    return act != ATTN_ACT_LOGITS ? 0 : g->logprob ? ATTN_WATCH : ATTN_WATCH | ATTN_LAST;
}

/* A token's row predicts the next one: it gives the log-probability of that if it is known, else the logits. */
static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct attn_growth *g = self;
    for (size_t i = 0; i < p->rows; i++) {
        size_t next = g->seen + p->row0 + i + 1;
        const float *row = p->data + i * p->ld;
        if (next == g->n)
            memcpy(g->logits, row, g->V * sizeof *row);
        else if (g->logprob && next >= g->scored && attn_logprob(&g->logprob[next], row, g->V, g->ids[next], err))
            return err->code;
    }
    return ATTN_OK;
}

static int new_lists(struct attn_growth *g, const struct attn_tokens *prompt, bool logprobs, struct attn_err *err)
{
    g->ids = calloc(g->room, sizeof *g->ids);
    g->logits = calloc(g->V, sizeof *g->logits);
    g->logprob = logprobs ? calloc(g->room, sizeof *g->logprob) : NULL;
    if (!g->ids || !g->logits || (logprobs && !g->logprob))
        return attn_no_memory(err, NULL, "for %zu tokens", g->room);
    for (g->n = 0; g->n < prompt->n; g->n++)
        g->ids[g->n] = prompt->tok[g->n].id;
    return ATTN_OK;
}

/* So many tokens to come repay copies of the weights: with 40 of 124M float32 numbers either way takes as long. */
enum { REPAYS_COPIES = 48 };

static int new_run(struct attn_growth *g, const struct attn_growth_opts *o, struct attn_err *err)
{
    struct attn_plan plan = o->plan;
    plan.rows = attn_model_keeps(g->model, 1, g->room) ? o->prompt->n : g->room;
    plan.seqs = 1;
    plan.keys = g->room;
    plan.copies = g->room - o->prompt->n < REPAYS_COPIES ? ATTN_COPY_NEVER : ATTN_COPY_FIRST;
    struct attn_observer *all = calloc(o->n_observers + 2, sizeof *all);
    size_t n = 0;
    if (!all)
        return attn_no_memory(err, NULL, "for %zu observers", o->n_observers);
    if (o->editor)
        all[n++] = attn_editor_observer(o->editor);
    for (size_t i = 0; i < o->n_observers; i++)
        all[n++] = o->observers[i];
    all[n++] = (struct attn_observer){.wants = wants, .watch = watch, .self = g};
    int rc = attn_run_new(&g->run, g->model, &plan, all, n, err);
    free(all);
    return rc;
}

int attn_growth_new(struct attn_growth **out, const struct attn_model *m, const struct attn_growth_opts *o,
                    struct attn_err *err)
{
    struct attn_info info;
    struct attn_growth *g = calloc(1, sizeof *g);
    *out = NULL;
    if (!g)
        return attn_no_memory(err, NULL, "for a text that grows");
    attn_model_info(m, &info);
    g->V = info.V;
    g->room = o->room > o->prompt->n ? o->room : o->prompt->n;
    g->model = m;
    g->editor = o->editor;
    int rc = o->prompt->n ? new_lists(g, o->prompt, o->logprobs, err)
             : attn_fail(err, ATTN_EFORMAT, "the prompt is empty: there is no token to continue");
    if (!rc)
        rc = new_run(g, o, err);
    if (!rc)
        rc = attn_kv_new(&g->kv, m, g->room, err);
    if (rc)
        attn_growth_free(g);
    else
        *out = g;
    return rc;
}

void attn_growth_free(struct attn_growth *g)
{
    if (!g)
        return;
    attn_run_free(g->run);
    attn_kv_free(g->kv);
    free(g->ids);
    free(g->logits);
    free(g->logprob);
    free(g);
}

/* The keys of the tokens seen so far do not fit any more, as their angles depend on the length of the text. */
static int start_again(struct attn_growth *g, struct attn_err *err)
{
    int rc = g->editor ? attn_editor_replay(g->editor, 0, err) : ATTN_OK;
    if (!rc)
        rc = attn_kv_copy(g->kv, g->kv, 0, err);
    if (!rc)
        g->seen = 0;
    return rc;
}

/* Runs the ids not seen yet, of which there are some. */
static int read_on(struct attn_growth *g, struct attn_err *err)
{
    int rc = ATTN_OK;
    if (g->editor && g->seen)
        rc = attn_editor_more(g->editor, 0, g->ids + g->seen, g->n - g->seen, err);
    if (!rc && !attn_model_keeps(g->model, g->seen, g->n))
        rc = start_again(g, err);
    struct attn_seq seq = {.T = g->n - g->seen, .kv = g->kv};
    if (!rc)
        rc = attn_run_forward(g->run, g->ids + g->seen, &seq, 1, err);
    if (!rc)
        g->seen = g->scored = g->n;
    return rc;
}

int attn_growth_logits(struct attn_growth *g, const float **logits, struct attn_err *err)
{
    int rc = g->n > g->seen ? read_on(g, err) : ATTN_OK;
    *logits = g->logits;
    return rc;
}

int attn_growth_add(struct attn_growth *g, int32_t id, struct attn_err *err)
{
    if (g->n == g->room)
        return attn_fail(err, ATTN_EUSAGE, "the text has %zu tokens already, as many as there is room for", g->n);
    int rc = g->logprob ? attn_logprob(&g->logprob[g->n], g->logits, g->V, id, err) : ATTN_OK;
    if (rc)
        return rc;
    g->ids[g->n++] = id;
    g->scored = g->n;
    return ATTN_OK;
}

const int32_t *attn_growth_ids(const struct attn_growth *g, size_t *n)
{
    *n = g->n;
    return g->ids;
}

size_t attn_growth_seen(const struct attn_growth *g)
{
    return g->seen;
}

const double *attn_growth_logprobs(const struct attn_growth *g)
{
    return g->logprob;
}
