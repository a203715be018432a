/* lens.c - what would the model predict if it ended here?  The final norm and the output layer are applied to the
 * residual stream at each point, and compared with what the model does predict.
 *
 * One run: the stream is copied at each point as it flows by, and each band of the final logits is compared, as it is
 * announced, with those of the same rows at all points.  So memory grows with points and tokens, never with tokens
 * times the vocabulary. */
#include "answers/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/metric.h"
#include "base/elementary.h"
#include "base/err.h"
#include "base/size.h"
#include "compute/block.h"
#include "compute/gemm.h"
#include "run/logits.h"

/* Scratch to compute the logits of a band of rows at one point. */
struct bench {
    struct attn_team *team;
    size_t rows;                        /* most rows of a band so far */
    float *y, *logits, *embed_proj, *rounded;   /* [rows, d], [rows, V]; for project_out; for bf16 */
    float *norm_w, *norm_b;             /* [d] */
};

struct reading { struct attn_lens *s; struct bench b; struct attn_info info; };

/* ---- numbers of one row ---------------------------------------------------------------- */

/* Of a softmax: -sum p log p; NaN where there is none. */
static double entropy_of(const float *x, double log_sum_x, size_t n)
{
    double entropy = isnan(log_sum_x) ? NAN : 0;
    for (size_t i = 0; i < n; i++) {
        double log_p = (double)x[i] - log_sum_x, p = attn_exp(log_p);
        entropy -= p > 0 ? p * log_p : 0;
    }
    return entropy;
}

static void look_for_target(struct attn_lens_cell *c, const float *logits, double log_sum_logits, size_t n,
                            int32_t target)
{
    c->logit = (double)logits[target];
    c->logprob = c->logit - log_sum_logits;
    c->rank = !isnan(log_sum_logits);
    for (size_t i = 0; i < n && c->rank; i++)
        c->rank += logits[i] > logits[target];
}

/* A band of logits at a point, beside the final ones. */
struct band { struct attn_lens *s; const float *logits; size_t V, point; const struct attn_probe *final; };

static void measure_row(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct band *b = ctx;
    struct attn_lens *s = b->s;
    size_t at = b->point * s->tokens->n + b->final->row0 + i;
    const float *logits = b->logits + i * b->V, *final = b->final->data + i * b->final->ld;
    struct attn_lens_cell *c = &s->cell[at];
    double sum = attn_logits_log_sum(logits, b->V), final_sum = attn_logits_log_sum(final, b->V);
    *c = (struct attn_lens_cell){.logit = NAN, .logprob = NAN};
    c->entropy = entropy_of(logits, sum, b->V);
    c->kl = attn_logits_divergence(final, final_sum, logits, sum, b->V);
    if (attn_logits_top(s->best + at * s->top, &c->n_top, s->top, logits, b->V, NULL))
        c->n_top = 0;
    if (s->o->target)
        look_for_target(c, logits, sum, b->V, *s->o->target);
}

/* ---- the logits at a point ------------------------------------------------------------- */

static int make_room(struct reading *r, size_t rows, struct attn_err *err)
{
    const struct attn_dims *n = &r->s->model->w.n;
    struct bench *b = &r->b;
    if (rows <= b->rows)
        return ATTN_OK;
    free(b->y);
    free(b->logits);
    free(b->rounded);
    free(b->embed_proj);
    *b = (struct bench){.team = b->team, .rows = rows, .norm_w = b->norm_w, .norm_b = b->norm_b};
    b->y = calloc(rows * n->d, sizeof *b->y);
    b->logits = calloc(rows, n->V * sizeof *b->logits);
    b->rounded = r->s->o->bf16 ?
                 calloc((rows + ATTN_GEMM_MORE) * (larger(n->d, r->s->model->w.project_in.in) + ATTN_GEMM_MORE),
                        sizeof *b->rounded) : NULL;
    b->embed_proj = calloc(rows + 1, (r->s->model->w.project_in.in + 1) * sizeof *b->embed_proj);
    return b->y && b->logits && b->embed_proj && (b->rounded || !r->s->o->bf16) ? ATTN_OK
           : attn_no_memory(err, NULL, "for %zu rows of logits", rows);
}

static void measure_point(struct reading *r, size_t point, const struct attn_probe *final)
{
    const struct attn_weights *w = &r->s->model->w;
    size_t d = w->n.d, V = w->n.V;
    struct attn_rows x = {r->s->point[point].x + final->row0 * d, d, final->rows, d}, y = {r->b.y, d, final->rows, d};
    struct band band = {r->s, r->b.logits, V, point, final};
    if (attn_has(&w->final))
        attn_rows_norm(r->b.team, &y, &x, &w->final, w->eps, r->b.norm_w, r->b.norm_b, NULL);
    else
        y = x;
    attn_unembed_rows(r->b.team, w, r->b.logits, &y, r->b.embed_proj, r->b.rounded);
    attn_team_run(r->b.team, final->rows, 60.0 * (double)(final->rows * V), measure_row, &band);
}

/* ---- the run --------------------------------------------------------------------------- */

static struct attn_lens_point *point_of(const struct attn_lens *s, int act, int layer)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].act == act && s->point[i].layer == layer)
            return &s->point[i];
    return NULL;
}

static unsigned wants(void *self, int act, int layer)
{
    const struct reading *r = self;
    return act == ATTN_ACT_LOGITS || point_of(r->s, act, layer) ? ATTN_WATCH : 0;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct reading *r = self;
    const struct attn_lens_point *point = point_of(r->s, p->act, p->layer);
    for (size_t t = 0; t < p->rows && point; t++)
        memcpy(point->x + (p->row0 + t) * p->cols, p->data + t * p->ld, p->cols * sizeof *point->x);
    int rc = point ? ATTN_OK : make_room(r, p->rows, err);
    for (size_t i = 0; i < r->s->n && !point && !rc; i++)
        measure_point(r, i, p);
    return rc;
}

static int add_point(struct attn_lens *s, int act, int layer, struct attn_err *err)
{
    size_t d = s->model->w.n.d;
    struct attn_lens_point *p = &s->point[s->n];
    *p = (struct attn_lens_point){.act = act, .layer = layer, .x = calloc(s->tokens->n, d * sizeof *p->x)};
    attn_act_name(p->name, act, layer);
    s->n++;
    return p->x ? ATTN_OK : attn_no_memory(err, NULL, "to keep %s of %zu tokens", p->name, s->tokens->n);
}

/* Lists the points, and makes room for what is found there. */
static int lay_out(struct attn_lens *s, struct attn_err *err)
{
    size_t L = s->model->w.n.L, cells;
    bool mid = s->o->all && s->model->hooks.has[ATTN_ACT_RESID_MID];
    s->point = calloc(2 * L + 1, sizeof *s->point);
    if (!s->point)
        return attn_no_memory(err, NULL, "for %zu layers", L);
    int rc = L ? add_point(s, ATTN_ACT_RESID_PRE, 0, err) : ATTN_OK;
    for (size_t layer = 0; layer < L && !rc; layer++) {
        if (mid)
            rc = add_point(s, ATTN_ACT_RESID_MID, (int)layer, err);
        if (!rc)
            rc = add_point(s, ATTN_ACT_RESID_POST, (int)layer, err);
    }
    if (rc)
        return rc;
    cells = s->n * s->tokens->n;
    s->cell = calloc(cells + 1, sizeof *s->cell);
    s->best = calloc(cells + 1, s->top * sizeof *s->best);
    return s->cell && s->best ? ATTN_OK : attn_no_memory(err, NULL,
                                                         "for %zu tokens at each of %zu points", s->top, cells);
}

static int read_stream(struct attn_lens *s, struct attn_err *err)
{
    size_t n = s->o->n_observers, d = s->model->w.n.d;
    struct reading r = {.s = s};
    struct attn_plan plan = {.threads = s->o->threads, .bf16 = s->o->bf16, .kind = s->o->kind};
    struct attn_observer *all = calloc(n + 1, sizeof *all);
    r.b.norm_w = calloc(d, sizeof *r.b.norm_w);
    r.b.norm_b = calloc(d, sizeof *r.b.norm_b);
    int rc = all && r.b.norm_w && r.b.norm_b ? ATTN_OK : attn_no_memory(err, NULL, "for a norm");
    if (!rc)
        rc = attn_team_new(&r.b.team, plan.threads, err);
    if (!rc) {
        if (n)
            memcpy(all, s->o->observers, n * sizeof *all);
        all[n] = (struct attn_observer){.wants = wants, .watch = watch, .self = &r};
        rc = attn_run_tokens(s->model, &plan, s->tokens, NULL, all, n + 1, err);
    }
    attn_team_free(r.b.team);
    free(r.b.y);
    free(r.b.logits);
    free(r.b.rounded);
    free(r.b.embed_proj);
    free(r.b.norm_w);
    free(r.b.norm_b);
    free(all);
    return rc;
}

/* ---- from request to output ------------------------------------------------------------ */

enum { TOP = 5 };                       /* tokens listed for programs; people get one */

static int check(const struct attn_lens *s, const char *format, struct attn_err *err)
{
    int rc = attn_format_check(format, ATTN_FORMAT_TABLE | ATTN_FORMAT_PICTURE, err);
    if (!rc && !strcmp(format, "term"))
        rc = attn_fail(err, ATTN_EUSAGE, "format 'term' has no room for the words of a lens");
    if (!rc && !s->model->w.unembed.data)
        rc = attn_fail(err, ATTN_EFORMAT, "model '%s' has no output layer: there is nothing to look through",
                       s->model->source.name);
    if (!rc && s->o->target)
        rc = attn_token_check(s->model, *s->o->target, err);
    return rc ? rc : attn_run_check_tokens(s->model, s->tokens, NULL, err);
}

static int carry_out(struct attn_lens *s, struct attn_out *to, struct attn_err *err)
{
    struct attn_out *out;
    const char *format = s->o->format ? s->o->format : "text";
    int rc = check(s, format, err);
    bool listed = !strcmp(format, "json") || attn_subject_is_table(format);
    s->top = s->o->top ? s->o->top : listed ? TOP : 1;
    s->top = s->top < s->model->w.n.V ? s->top : s->model->w.n.V;
    if (!rc)
        rc = lay_out(s, err);
    if (!rc)
        rc = read_stream(s, err);
    if (!rc)
        rc = attn_out_open_into(&out, to, s->o->path, err);
    return rc ? rc : attn_out_end_into(out, to, attn_lens_write(out, s, err), err);
}

int attn_lens_into(struct attn_out *to, const struct attn_model *m, const struct attn_tokens *tokens,
                   const struct attn_lens_opts *o, struct attn_err *err)
{
    struct attn_lens s = {.model = m, .tokens = tokens, .o = o};
    int rc = carry_out(&s, to, err);
    for (size_t i = 0; i < s.n; i++)
        free(s.point[i].x);
    free(s.point);
    free(s.cell);
    free(s.best);
    return rc;
}

int attn_lens(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_lens_opts *o,
              struct attn_err *err)
{
    return attn_lens_into(NULL, m, tokens, o, err);
}
