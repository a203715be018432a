#include "gradient/grad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/err.h"
#include "base/size.h"
#include "base/splitmix.h"
#include "compute/gemm.h"
#include "gradient/work.h"

enum {
    ROWS = 512,                         /* of a group: enough for fast products, few enough to stay in the cache */
    BAND = 96,                          /* rows of logits computed at a time */
    LANES = 8,                          /* most lanes */
    CHUNK = 1 << 16                     /* numbers that an item adds up over the lanes */
};
static const size_t SMALL = (size_t)1 << 24;    /* parameters up to which LANES copies of the gradients are kept */

/* The groups of a batch are distributed over lanes, independently of the number of threads.  A lane takes its groups
 * one after the other and sums their gradients; then the lanes are summed in order.  A thread that takes a whole lane
 * finds its data in its own cache; with more threads than lanes, all of them work together on one lane at a time. */
struct lane {
    float *grad;                        /* the first lane uses that of the parameters */
    struct attn_weights g;              /* views of grad */
    double loss;
    struct attn_err err;
};

struct attn_grad {
    struct attn_params *p;
    struct attn_dropout dropout;
    struct attn_team *team; int threads;
    struct attn_work work[LANES]; int works;            /* one for each thread that takes lanes */
    struct attn_team *alone[LANES];     /* what each of these has while the others work: a team of one */
    struct lane lane[LANES]; size_t lanes;
    struct attn_arena arena;
};

/* ---- memory ---- */

static void lay_out(struct attn_grad *g)
{
    for (int i = 0; i < g->works; i++)
        attn_work_lay_out(&g->arena, &g->work[i]);
    for (size_t i = 1; i < g->lanes; i++) {
        g->lane[i].grad = attn_arena_f32(&g->arena, g->p->count, 1, 1);
        g->lane[i].g.block = attn_arena_bytes(&g->arena, g->p->w.n.L, sizeof *g->lane[i].g.block);
    }
}

static int make_memory(struct attn_grad *g, struct attn_err *err)
{
    lay_out(g);
    int rc = attn_arena_make(&g->arena, err);
    if (rc)
        return rc;
    attn_arena_large_pages(&g->arena);
    lay_out(g);
    for (int i = 0; i < g->works; i++)
        attn_work_place(&g->work[i]);
    g->lane[0].grad = g->p->grad;
    g->lane[0].g = g->p->g;
    for (size_t i = 1; i < g->lanes; i++)
        attn_params_bind(g->p, &g->lane[i].g, g->lane[i].grad);
    return ATTN_OK;
}

/* ---- planning ---- */

static int check_plan(const struct attn_grad_plan *plan, const struct attn_model *m, struct attn_err *err)
{
    if (!m->config.unembed)
        return attn_fail(err, ATTN_EFORMAT, "model %s has no output layer (\"unembed\": false): it predicts no tokens, "
                                            "so there is no loss", m->source.name);
    if (plan->longest > m->w.n.n_ctx)
        return attn_fail(err, ATTN_EFORMAT, "a sentence of %zu tokens is planned, but model %s takes at most %zu "
                                            "(n_ctx)",
                         plan->longest, m->source.name, m->w.n.n_ctx);
    const float p[] = {plan->dropout.embed, plan->dropout.pattern, plan->dropout.branch};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (!(p[i] >= 0 && p[i] < 1))
            return attn_fail(err, ATTN_EUSAGE, "dropout %g, expected a number from 0 to below 1", (double)p[i]);
    return ATTN_OK;
}

/* Only a team that shares a lane needs scratch memory for each of its threads. */
static void size_up(struct attn_grad *g, const struct attn_grad_plan *plan)
{
    size_t longest = plan->longest ? plan->longest : g->p->w.n.n_ctx,
    R = larger(plan->rows ? plan->rows : ROWS, longest);
    g->lanes = g->p->count <= SMALL ? LANES : 1;
    g->works = (int)smaller(g->lanes, (size_t)g->threads);
    for (int i = 0; i < g->works; i++)
        g->work[i] = (struct attn_work){
            .w = &g->p->w, .threads = i ? 1 : g->threads, .R = R, .longest = longest, .band = smaller(BAND, R)};
}

int attn_grad_new(struct attn_grad **out, struct attn_params *p, const struct attn_grad_plan *plan,
                  struct attn_err *err)
{
    *out = NULL;
    int rc = check_plan(plan, p->model, err);
    if (rc)
        return rc;
    struct attn_grad *g = calloc(1, sizeof *g);
    if (!g)
        return attn_no_memory(err, NULL, "for gradients");
    g->p = p;
    g->dropout = plan->dropout;
    g->threads = plan->threads > 0 ? plan->threads : attn_cpu_count();
    size_up(g, plan);
    rc = attn_team_new(&g->team, g->threads, err);
    for (int i = 0; i < g->works && !rc && g->works > 1; i++)
        rc = attn_team_new(&g->alone[i], 1, err);
    if (!rc)
        rc = make_memory(g, err);
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
    attn_team_free(g->team);
    for (int i = 0; i < g->works; i++)
        attn_team_free(g->alone[i]);
    attn_arena_free(&g->arena);
    free(g);
}

/* ---- checking a batch ---- */

static int check_sentences(const struct attn_grad *g, const struct attn_grad_batch *b, size_t *rows,
                           struct attn_err *err)
{
    size_t longest = g->work[0].longest;
    *rows = 0;
    for (size_t i = 0; i < b->seqs; i++) {
        if (b->T[i] == 0 || b->T[i] > longest)
            return attn_fail(err, ATTN_EFORMAT, "sentence %zu has %zu tokens, expected 1 to %zu", i, b->T[i], longest);
        *rows += b->T[i];
    }
    return ATTN_OK;
}

/* Checks a batch and counts its targets. */
static int check(const struct attn_grad *g, const struct attn_grad_batch *b, size_t *targets, struct attn_err *err)
{
    size_t rows, V = g->p->w.n.V;
    int rc = check_sentences(g, b, &rows, err);
    if (!rc)
        rc = attn_model_check_ids(g->p->model, b->ids, rows, err);
    *targets = 0;
    for (size_t i = 0; !rc && i < rows; i++) {
        int32_t id = b->targets[i] < -1 ? attn_unlikely(b->targets[i]) : b->targets[i];
        *targets += id >= 0;
        if (id >= 0 && (size_t)id >= V)
            rc = attn_fail(err, ATTN_EFORMAT, "token %zu should predict id %d, but model %s has ids 0 to %zu "
                                              "(vocab_size %zu)", i, (int)id, g->p->model->source.name, V - 1, V);
    }
    if (!rc && *targets == 0)
        rc = attn_fail(err, ATTN_EFORMAT,
                       "no token has another after it to predict, so there is no loss: give at least 2");
    return rc;
}

/* ---- groups ---- */

struct pass {
    struct attn_grad *g;
    const struct attn_grad_batch *b;
    double each;                        /* weight of a target in the mean */
    bool learn;
    size_t groups, lanes;               /* groups of this batch; lanes that have some */
};

/* Goes on to the next group: as many sentences as fit its rows. */
static void gather(struct attn_work *t, const struct attn_grad_batch *b)
{
    t->first += t->rows;
    t->first_seq += t->seqs;
    t->rows = t->seqs = 0;
    for (size_t i = t->first_seq; i < b->seqs && b->T[i] <= t->R - t->rows; i++) {
        t->seq[t->seqs++] = (struct attn_work_seq){t->rows, b->T[i]};
        t->rows += b->T[i];
    }
}

static void start(struct attn_work *t, const struct attn_grad_batch *b)
{
    t->first = t->first_seq = t->rows = t->seqs = 0;
    gather(t, b);
}

static size_t count_groups(struct attn_work *t, const struct attn_grad_batch *b)
{
    size_t n = 0;
    for (start(t, b); t->seqs; gather(t, b))
        n++;
    return n;
}

static int one_group(const struct pass *p, struct attn_work *t, struct lane *lane)
{
    attn_work_forward(t, p->b->ids + t->first);
    double sum = attn_work_loss(t, p->b->targets + t->first, p->each, p->learn);
    if (!isfinite(sum))
        return attn_work_nonfinite(t, &lane->err);
    if (p->learn)
        attn_work_backward(t, p->b->ids + t->first);
    lane->loss += sum;
    return ATTN_OK;
}

static void one_lane(void *ctx, size_t item, int worker)
{
    const struct pass *p = ctx;
    struct lane *lane = &p->g->lane[item];
    struct attn_work *t = &p->g->work[worker];
    size_t end = (item + 1) * p->groups / p->lanes, group = 0;
    lane->loss = 0;
    lane->err = (struct attn_err){0};
    t->g = &lane->g;
    if (p->learn && item)
        memset(lane->grad, 0, p->g->p->count * sizeof *lane->grad);
    for (start(t, p->b); group < end; gather(t, p->b), group++)
        if (group >= item * p->groups / p->lanes && one_group(p, t, lane))
            return;
}

/* ---- lanes ---- */

static void add_chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct pass *p = ctx;
    size_t at = item * CHUNK, n = smaller(p->g->p->count - at, CHUNK);
    for (size_t i = 1; i < p->lanes; i++)
        attn_vec_add(p->g->p->grad + at, p->g->lane[i].grad + at, n);
}

static int add_up(const struct pass *p, double *loss, struct attn_err *err)
{
    struct attn_grad *g = p->g;
    *loss = 0;
    for (size_t i = 0; i < p->lanes; i++) {
        if (g->lane[i].err.code)
            return attn_fail_as(err, &g->lane[i].err);
        *loss += g->lane[i].loss;
    }
    if (p->learn && p->lanes > 1)
        attn_team_run(g->team, parts_of(g->p->count, CHUNK), 4.0 * (double)(p->lanes * g->p->count), add_chunk,
                      (void *)p);
    return ATTN_OK;
}

static void run_lanes(struct pass *p)
{
    struct attn_grad *g = p->g;
    bool apart = g->works > 1 && p->lanes >= (size_t)g->threads;
    for (int i = 0; i < g->works; i++)
        g->work[i].team = apart ? g->alone[i] : g->team;
    if (apart)
        attn_team_run(g->team, p->lanes, 6.0 * (double)(p->groups * g->work[0].R) * (double)g->p->count, one_lane, p);
    else
        for (size_t i = 0; i < p->lanes; i++)
            one_lane(p, i, 0);
}

static void set_dropout(struct attn_work *t, const struct attn_dropout *d, const struct attn_grad_batch *b)
{
    t->drop_embed = d->embed;
    t->drop_pattern = d->pattern;
    t->drop_branch = d->branch;
    t->seed = attn_splitmix(attn_splitmix(b->seed) + b->step);
}

static int run(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, bool learn, struct attn_err *err)
{
    struct attn_dropout none = {0};
    size_t targets;
    int rc = attn_team_check(g->team, "this training", err);
    if (!rc)
        rc = check(g, b, &targets, err);
    if (rc)
        return rc;
    for (int i = 0; i < g->works; i++)
        set_dropout(&g->work[i], learn ? &g->dropout : &none, b);
    struct pass p = {.g = g, .b = b, .each = 1 / (double)(b->N ? b->N : targets), .learn = learn,
                     .groups = count_groups(&g->work[0], b)};
    p.lanes = smaller(g->lanes, p.groups);
    run_lanes(&p);
    return add_up(&p, loss, err);
}

int attn_grad_add(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, struct attn_err *err)
{
    return run(g, loss, b, true, err);
}

int attn_grad_loss(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, struct attn_err *err)
{
    return run(g, loss, b, false, err);
}
