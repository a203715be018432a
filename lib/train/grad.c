#include "train/grad.h"

#include "base/cpu.h"
#include "base/err.h"
#include "compute/gemm.h"
#include "compute/slopes.h"
#include "train/wild.h"
#include "train/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 1024,                        /* of a group: many enough for products, few enough to find them in a cache again */
    BAND = 192                          /* rows of logits at once */
};

struct attn_grad {
    struct attn_params *p;
    struct attn_grad_plan plan;
    struct attn_work work;
    struct attn_arena arena;
};

/* ---- planning ---- */

static size_t most(size_t a, size_t b) { return a > b ? a : b; }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void lay_out_layer(struct attn_arena *a, struct attn_kept *k, const struct attn_work *t)
{
    const struct attn_weights *w = t->w;
    const struct attn_dims *n = &w->n;
    k->x = attn_arena_f32(a, t->R, n->d, 1);
    k->q = attn_arena_f32(a, t->R, n->H, n->dh);
    k->k = attn_arena_f32(a, t->R, n->Hkv, n->dh);
    k->v = attn_arena_f32(a, t->R, n->Hkv, n->dv);
    k->context = attn_arena_f32(a, t->R, n->H, n->dv);
    k->mid = w->parallel ? k->x : attn_arena_f32(a, t->R, w->mlp ? n->d : 0, 1);
    k->pre = attn_arena_f32(a, t->R, w->mlp ? n->m : 0, 1);
    k->linear = attn_arena_f32(a, t->R, w->mlp == ATTN_SWIGLU ? n->m : 0, 1);
}

static void lay_out(struct attn_arena *a, struct attn_work *t)
{
    const struct attn_weights *w = t->w;
    const struct attn_dims *n = &w->n;
    size_t R = t->R, half = w->rotary / 2, m = w->mlp ? n->m : 0;
    struct attn_kept counted;
    t->layer = attn_arena_bytes(a, n->L + 1, sizeof *t->layer);
    for (size_t i = 0; i < n->L; i++)
        lay_out_layer(a, t->layer ? &t->layer[i] : &counted, t);
    (t->layer ? &t->layer[n->L] : &counted)->x = attn_arena_f32(a, R, n->d, 1);
    t->text = attn_arena_bytes(a, R, sizeof *t->text);
    t->y = attn_arena_f32(a, R, n->d, 1);
    t->post = attn_arena_f32(a, R, m, 1);
    t->branch = attn_arena_f32(a, R, n->d, 1);
    t->dx = attn_arena_f32(a, R, n->d, 1);
    t->saved = attn_arena_f32(a, R, w->parallel ? n->d : 0, 1);
    t->dy = attn_arena_f32(a, R, n->d, 1);
    t->dq = attn_arena_f32(a, R, n->H, n->dh);
    t->dk = attn_arena_f32(a, R, n->Hkv, n->dh);
    t->dv = attn_arena_f32(a, R, n->Hkv, n->dv);
    t->dcontext = attn_arena_f32(a, R, n->H, n->dv);
    t->dpre = attn_arena_f32(a, R, m, 1);
    t->cos = attn_arena_f32(a, R, half, 1);
    t->sin = attn_arena_f32(a, R, half, 1);
    t->back = attn_arena_f32(a, R, half, 1);
    t->turns = attn_arena_f32(a, 2, t->longest, half);
    t->norm_w = attn_arena_f32(a, n->d, 1, 1);
    t->norm_b = attn_arena_f32(a, n->d, 1, 1);
    t->sums = attn_arena_f32(a, attn_slopes_room(R, n->d), 1, 1);
    t->desks = attn_arena_f32(a, (size_t)t->threads, t->desk, 1);
    t->logits = attn_arena_f32(a, t->band, n->V, 1);
    t->loss = attn_arena_bytes(a, R, sizeof *t->loss);
}

/* Floating point operations of a group, roughly: three products for each of the forward pass. */
static double work(const struct attn_grad *g)
{
    return 6.0 * (double)g->work.R * (double)g->p->count;
}

/* In double, as compute/ends.c does. */
static void fill_turns(struct attn_work *t)
{
    size_t half = t->w->rotary / 2;
    for (size_t i = 0; i < t->longest; i++)
        for (size_t j = 0; j < half; j++) {
            double angle = (double)i * t->w->speed[j];
            t->turns[i * half + j] = (float)cos(angle);
            t->turns[(t->longest + i) * half + j] = (float)sin(angle);
        }
}

static int make_room(struct attn_grad *g, struct attn_err *err)
{
    struct attn_work *t = &g->work;
    int rc = attn_team_new(&t->team, t->threads, err);
    if (rc)
        return rc;
    t->desk = attn_work_desk(t);
    lay_out(&g->arena, t);
    rc = attn_arena_make(&g->arena, err);
    if (rc)
        return rc;
    lay_out(&g->arena, t);
    fill_turns(t);
    attn_gemm_prepare(work(g));
    return ATTN_OK;
}

static int check_plan(const struct attn_grad_plan *plan, const struct attn_model *m, struct attn_err *err)
{
    if (!m->config.unembed)
        return attn_fail(err, ATTN_EFORMAT, "model %s has no output layer (\"unembed\": false): it predicts no tokens, so there is "
                         "no loss", m->source.name);
    if (plan->longest > m->w.n.n_ctx)
        return attn_fail(err, ATTN_EFORMAT, "a sentence of %zu tokens is planned, but model %s takes at most %zu (n_ctx)",
                         plan->longest, m->source.name, m->w.n.n_ctx);
    const float p[] = {plan->dropout.embed, plan->dropout.pattern, plan->dropout.branch};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (!(p[i] >= 0 && p[i] < 1))
            return attn_fail(err, ATTN_EUSAGE, "dropout %g, expected a number from 0 to below 1", (double)p[i]);
    return ATTN_OK;
}

int attn_grad_new(struct attn_grad **out, struct attn_params *p, const struct attn_grad_plan *plan, struct attn_err *err)
{
    *out = NULL;
    int rc = check_plan(plan, p->model, err);
    if (rc)
        return rc;
    struct attn_grad *g = calloc(1, sizeof *g);
    if (!g)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for gradients");
    size_t longest = plan->longest ? plan->longest : p->w.n.n_ctx, R = most(plan->rows ? plan->rows : ROWS, longest);
    g->p = p;
    g->plan = *plan;
    g->work = (struct attn_work){.w = &p->w, .g = &p->g, .threads = plan->threads > 0 ? plan->threads : attn_cpu_count(),
                                 .R = R, .longest = longest, .band = least(BAND, R)};
    rc = make_room(g, err);
    if (rc) {
        attn_grad_free(g);
        return rc;
    }
    *out = g;
    return ATTN_OK;
}

void attn_grad_free(struct attn_grad *g)
{
    if (!g)
        return;
    attn_team_free(g->work.team);
    attn_arena_free(&g->arena);
    free(g);
}

/* ---- a batch ---- */

static int check_sentences(const struct attn_grad *g, const struct attn_grad_batch *b, size_t *rows, struct attn_err *err)
{
    *rows = 0;
    for (size_t i = 0; i < b->sentences; i++) {
        if (b->T[i] == 0 || b->T[i] > g->work.longest)
            return attn_fail(err, ATTN_EFORMAT, "sentence %zu has %zu tokens, expected 1 to %zu", i, b->T[i], g->work.longest);
        *rows += b->T[i];
    }
    return ATTN_OK;
}

/* How many targets there are. */
static int check(const struct attn_grad *g, const struct attn_grad_batch *b, size_t *targets, struct attn_err *err)
{
    size_t rows, V = g->p->w.n.V;
    int rc = check_sentences(g, b, &rows, err);
    if (!rc)
        rc = attn_model_check_ids(g->p->model, b->ids, rows, err);
    *targets = 0;
    for (size_t i = 0; !rc && i < rows; i++) {
        *targets += b->targets[i] >= 0;
        if (b->targets[i] >= 0 && (size_t)b->targets[i] >= V)
            rc = attn_fail(err, ATTN_EFORMAT, "token %zu should predict id %d, but model %s has ids 0 to %zu (vocab_size %zu)", i,
                           (int)b->targets[i], g->p->model->source.name, V - 1, V);
    }
    if (!rc && *targets == 0)
        rc = attn_fail(err, ATTN_EFORMAT, "no token has another after it to predict, so there is no loss: give at least 2");
    return rc;
}

/* The next sentences that fit the rows. */
static void gather(struct attn_work *t, const struct attn_grad_batch *b)
{
    t->first += t->rows;
    t->first_text += t->texts;
    t->rows = t->texts = 0;
    for (size_t i = t->first_text; i < b->sentences && b->T[i] <= t->R - t->rows; i++) {
        t->text[t->texts++] = (struct attn_stretch){t->rows, b->T[i]};
        t->rows += b->T[i];
    }
}

static int one_group(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, double each, bool learn, struct attn_err *err)
{
    struct attn_work *t = &g->work;
    attn_work_forward(t, b->ids + t->first);
    double sum = attn_work_loss(t, b->targets + t->first, each, learn);
    if (!isfinite(sum))
        return attn_work_wild(t, err);
    if (learn)
        attn_work_backward(t, b->ids + t->first);
    *loss += sum;
    return ATTN_OK;
}

static int run(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, bool learn, struct attn_err *err)
{
    struct attn_work *t = &g->work;
    size_t targets;
    int rc = check(g, b, &targets, err);
    if (rc)
        return rc;
    double each = 1 / (double)(b->N ? b->N : targets);
    struct attn_dropout none = {0}, drop = learn ? g->plan.dropout : none;
    t->drop_embed = drop.embed;
    t->drop_pattern = drop.pattern;
    t->drop_branch = drop.branch;
    attn_work_seed(t, b->seed, b->step);
    t->first = t->first_text = t->rows = t->texts = 0;
    *loss = 0;
    for (gather(t, b); t->texts && !rc; gather(t, b))
        rc = one_group(g, loss, b, each, learn, err);
    return rc;
}

int attn_grad_add(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, struct attn_err *err)
{
    return run(g, loss, b, true, err);
}

int attn_grad_loss(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, struct attn_err *err)
{
    return run(g, loss, b, false, err);
}
