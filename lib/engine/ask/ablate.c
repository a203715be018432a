/* ablate.c - what comes next without each head?  A run for each head, in which its context is 0, begun at its layer.
 *
 * The run of the text is kept: what each block reads.  The heads of a layer change nothing before it, so their runs
 * begin there, several in a pass.  Restarted runs have the bits of whole ones: a head's result is that of `run --edit
 * 'L1H2 = 0'`, after all other edits. */
#include "ask/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/editor.h"
#include "base/err.h"
#include "base/size.h"
#include "model/model.h"
#include "trace/select.h"

enum { ROWS = 512, SEQS = 64 };         /* of a pass: enough for fast products */

struct ablation {
    const struct attn_model *model;
    const struct attn_ablate_opts *o;
    struct attn_info info;
    size_t T, width;
    int32_t *ids;
    float *x;                           /* [L, T, width] what blocks read, before edits */
    float *logits;                      /* [V] of the last row, with all heads */
    struct attn_ablated *head; size_t n;
    bool last;                          /* no metric reads another row of logits */
    size_t first, seqs;                 /* of the pass that runs: its first head, its sentences at most */
    struct attn_run *run; size_t planned;       /* for heads of this layer */
};

/* ---- which heads ---- */

/* The heads of a layer that any of its matrices is selected of; NULL: the first *n, all of them or none. */
static const size_t *heads_of(const struct ablation *a, int layer, size_t *n)
{
    static const int acts[] = {ATTN_ACT_PATTERN, ATTN_ACT_SCORES, ATTN_ACT_DOTS, ATTN_ACT_NORMS};
    *n = a->o->heads ? 0 : a->info.H;
    for (size_t i = 0; i < sizeof acts / sizeof *acts && a->o->heads; i++)
        if (attn_select_wants(a->o->heads, acts[i], layer))
            return attn_select_heads(a->o->heads, acts[i], layer, n);
    return NULL;
}

static int list_heads(struct ablation *a, struct attn_err *err)
{
    a->head = calloc(a->info.L * a->info.H + 1, sizeof *a->head);
    if (!a->head)
        return attn_no_memory(err, NULL, "for %zu heads", a->info.L * a->info.H);
    for (size_t layer = 0, n; layer < a->info.L; layer++) {
        const size_t *heads = heads_of(a, (int)layer, &n);
        for (size_t i = 0; i < n; i++)
            a->head[a->n++] = (struct attn_ablated){.layer = layer, .head = heads ? heads[i] : i, .kl = NAN};
    }
    return ATTN_OK;
}

/* ---- metrics ---- */

static int prepare_metrics(struct ablation *a, struct attn_err *err)
{
    int rc = ATTN_OK;
    a->last = true;
    for (size_t i = 0; i < a->o->n_metrics && !rc; i++) {
        struct attn_ablated_metric *x = &a->o->metric[i];
        rc = attn_metric_fits(x->metric, a->model, a->T, err);
        if (!rc && attn_metric_refers(x->metric) && !x->metric->reference)
            rc = attn_fail(err, ATTN_EUSAGE, "metric '%s' has no reference", x->metric->text);
        if (!rc && !(x->after = calloc(a->n + 1, sizeof *x->after)))
            rc = attn_no_memory(err, NULL, "for %zu heads", a->n);
        a->last &= !rc && attn_metric_first(x->metric) + 1 == a->T;
    }
    return rc;
}

static unsigned wants_logits(const struct ablation *a)
{
    return ATTN_WATCH | (a->last ? ATTN_LAST : 0);
}

/* Adds what these rows of logits say to each metric: of the run without head number `head`, or with all heads. */
static void measure(const struct ablation *a, const struct attn_probe *p, const size_t *head)
{
    for (size_t k = 0; k < a->o->n_metrics; k++) {
        struct attn_ablated_metric *x = &a->o->metric[k];
        double *to = head ? &x->after[*head] : &x->before;
        for (size_t i = 0; i < p->rows; i++)
            if (attn_metric_reads(x->metric, p->row0 + i))
                *to += attn_metric_part(x->metric, p->row0 + i, p->data + i * p->ld);
    }
}

/* ---- the run of the text ---- */

static float *reads(const struct ablation *a, size_t layer)
{
    return a->x + layer * a->T * a->width;
}

/* What blocks read, before anybody edits it: a restarted run edits it again. */
static unsigned whole_wants(void *self, int act, int layer)
{
    (void)layer;
    return act == ATTN_ACT_RESID_PRE ? ATTN_EDIT : act == ATTN_ACT_LOGITS ? wants_logits(self) : 0;
}

static int whole_edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    (void)data, (void)err;
    const struct ablation *a = self;
    for (size_t t = 0; t < p->rows; t++)
        memcpy(reads(a, (size_t)p->layer) + (p->row0 + t) * p->cols, p->data + t * p->ld, p->cols * sizeof *a->x);
    return ATTN_OK;
}

static const float *last_row(const struct attn_probe *p)
{
    return p->row0 + p->rows == p->shape[0] ? p->data + (p->rows - 1) * p->ld : NULL;
}

static int whole_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    const struct ablation *a = self;
    const float *row = last_row(p);
    if (row)
        memcpy(a->logits, row, a->info.V * sizeof *row);
    measure(a, p, NULL);
    return ATTN_OK;
}

static struct attn_observer editor_of(const struct ablation *a)
{
    return a->o->editor ? attn_editor_observer(a->o->editor) : (struct attn_observer){.wants = NULL};
}

static int run_text(struct ablation *a, struct attn_err *err)
{
    const struct attn_observer obs[] = {{.wants = whole_wants, .edit = whole_edit, .watch = whole_watch, .self = a},
                                        editor_of(a)};
    return attn_run_tokens(a->model, &a->o->plan, a->o->tokens, NULL, obs, sizeof obs / sizeof *obs, err);
}

/* ---- the runs without a head ---- */

static unsigned without_wants(void *self, int act, int layer)
{
    const struct ablation *a = self;
    if (act == ATTN_ACT_CONTEXT && (size_t)layer == a->planned)
        return ATTN_EDIT;
    return act == ATTN_ACT_LOGITS ? wants_logits(a) : 0;
}

static int without_edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    (void)err;
    const struct ablation *a = self;
    size_t dv = a->info.dv, head = a->head[a->first + p->seq].head;
    for (size_t t = 0; t < p->rows; t++)
        memset(data + t * p->ld + head * dv, 0, dv * sizeof *data);
    return ATTN_OK;
}

static int without_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    const struct ablation *a = self;
    const float *row = last_row(p);
    const size_t head = a->first + p->seq;
    struct attn_ablated *to = &a->head[head];
    struct attn_metric kl = {.form = ATTN_METRIC_KL, .T = 1, .V = a->info.V, .reference = a->logits};
    if (row && !attn_logits_top(to->after, &to->n, ATTN_COMPARED, row, a->info.V, NULL))
        to->kl = attn_metric_part(&kl, 0, row);
    measure(a, p, &head);
    return ATTN_OK;
}

static int plan_layer(struct ablation *a, size_t layer, struct attn_err *err)
{
    struct attn_plan plan = a->o->plan;
    const struct attn_observer obs[] = {editor_of(a),
                                        {.wants = without_wants, .edit = without_edit, .watch = without_watch,
                                         .self = a}};
    plan.seqs = a->seqs;
    plan.rows = a->seqs * a->T;
    attn_run_free(a->run);
    a->run = NULL;
    a->planned = layer;
    return attn_run_new(&a->run, a->model, &plan, obs, sizeof obs / sizeof *obs, err);
}

/* Runs n sentences, each without one of the heads from a->first on. */
static int run_pass(struct ablation *a, size_t n, struct attn_err *err)
{
    const float *x[SEQS];
    struct attn_seq seq[SEQS];
    size_t layer = a->head[a->first].layer;
    int rc = a->run && a->planned == layer ? ATTN_OK : plan_layer(a, layer, err);
    for (size_t i = 0; i < n && !rc; i++) {
        x[i] = reads(a, layer);
        seq[i] = (struct attn_seq){.T = a->T};
        if (a->o->editor)
            rc = attn_editor_text(a->o->editor, i, a->ids, a->T, false, err);
    }
    return rc ? rc : attn_run_restart(a->run, layer, x, seq, n, err);
}

static int run_heads(struct ablation *a, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t n; a->first < a->n && !rc; a->first += n) {
        for (n = 1; n < a->seqs && a->first + n < a->n && a->head[a->first + n].layer == a->head[a->first].layer; n++)
            ;
        rc = run_pass(a, n, err);
        if (!rc && a->o->step)
            rc = a->o->step(a->o->self, a->first + n, a->n, err);
    }
    return rc;
}

/* ---- all of it ---- */

static int prepare(struct ablation *a, struct attn_err *err)
{
    attn_model_info(a->model, &a->info);
    if (!a->info.unembed)
        return attn_fail(err, ATTN_EFORMAT,
                         "model %s has no output layer: nothing comes next, with or without a head", a->info.name);
    int rc = attn_run_check_tokens(a->model, a->o->tokens, NULL, err);
    if (rc || (rc = list_heads(a, err)))
        return rc;
    a->T = a->o->tokens->n;
    if ((rc = prepare_metrics(a, err)))
        return rc;
    a->width = larger(a->model->w.n.width, a->model->w.n.d);
    a->seqs = smaller(smaller(SEQS, a->info.H), larger(1, ROWS / a->T));
    a->x = calloc(a->info.L * a->T, a->width * sizeof *a->x);
    a->logits = calloc(a->info.V, sizeof *a->logits);
    if (!a->x || !a->logits)
        return attn_no_memory(err, NULL, "to keep %zu layers of %zu tokens", a->info.L, a->T);
    return attn_tokens_to_ids(&a->ids, a->o->tokens, err);
}

static void drop_metrics(const struct attn_ablate_opts *o)
{
    for (size_t i = 0; i < o->n_metrics; i++) {
        free(o->metric[i].after);
        o->metric[i].after = NULL;
    }
}

int attn_ablate_heads(struct attn_ablated **out, size_t *n, const struct attn_model *m,
                      const struct attn_ablate_opts *o, struct attn_err *err)
{
    struct ablation a = {.model = m, .o = o};
    for (size_t i = 0; i < o->n_metrics; i++) {
        o->metric[i].before = 0;
        o->metric[i].after = NULL;
    }
    int rc = prepare(&a, err);
    if (!rc)
        rc = run_text(&a, err);
    if (!rc)
        rc = run_heads(&a, err);
    attn_run_free(a.run);
    free(a.ids);
    free(a.x);
    free(a.logits);
    *out = rc ? NULL : a.head;
    *n = rc ? 0 : a.n;
    if (rc) {
        drop_metrics(o);
        free(a.head);
    }
    return rc;
}
