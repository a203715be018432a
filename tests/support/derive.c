#include "derive.h"

#include "gradient/grad.h"
#include "worse.h"
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 3, LONGEST = 20 };      /* kept small, because the reference is slow */
static const double TINY = 1e-12;        /* keeps divisors above 0 */
/* at most, in the losses whose difference gives a slope; the small step magnifies them */
static const double ROUNDINGS = 8;

struct state {
    const struct agree *a;
    struct attn_model *model;
    struct attn_params *p;
    int32_t *ids, *targets;
    size_t T[TEXTS], texts, rows, N;
    const int32_t *target;              /* of the sentence that the reference is running */
    double sum;                         /* of losses so far */
    double norm, worst; char what[96];
};

static const double *weight_of(void *ctx, const char *name)
{
    const struct agree *a = ((struct state *)ctx)->a;
    return a->weight(a->weights, name);
}

/* ---- the loss in double precision ---- */

static void hear(void *ctx, const char *name, const double *x, size_t n)
{
    struct state *s = ctx;
    size_t V = (size_t)s->a->config->V;
    if (strcmp(name, "logits") != 0)
        return;
    for (size_t t = 0; t < n / V; t++, x += V) {
        double max = x[0], sum = 0, others = 0;
        if (s->target[t] == -1)
            continue;
        for (size_t j = 1; j < V; j++)
            max = x[j] > max ? x[j] : max;
        for (size_t j = 0; j < V; j++) {
            sum += exp(x[j] - max);
            others += (int32_t)j == attn_unlikely(s->target[t]) ? 0 : exp(x[j] - max);
        }
        if (s->target[t] < 0)           /* what should not be said counts as ten that should */
            s->sum += 10 * log1p(exp(x[attn_unlikely(s->target[t])] - max) / others);
        else
            s->sum += log(sum) + max - x[s->target[t]];
    }
}

static double loss(struct state *s)
{
    size_t row = 0;
    s->sum = 0;
    for (size_t i = 0; i < s->texts; row += s->T[i++]) {
        s->target = s->targets + row;
        ref_run(s->a->config, s->ids + row, (int)s->T[i], weight_of, hear, s);
    }
    return s->sum / (double)s->N;
}

/* ---- one tensor ---- */

static float at(const struct attn_mat *g, size_t i, size_t j)
{
    const float *data = g->data;
    return g->transposed ? data[attn_mat_index(g, j) * g->ld + i] : data[i * g->ld + j];
}

/* Adds `by` or -by to each of the n weights; the signs follow from the seed, so that the same move can be
 * repeated or reversed. */
static void move(double *x, size_t n, unsigned seed, double by)
{
    unsigned kept = agree_seed;
    agree_seed = seed;
    for (size_t i = 0; i < n; i++)
        x[i] += agree_pick(2) ? by : -by;
    agree_seed = kept;
}

static void compare(struct state *s, const char *name, const struct attn_mat *g, size_t in, size_t out)
{
    double *x = (double *)weight_of(s, name), *direction = calloc(in * out, sizeof *direction), along = 0, square = 0;
    ck_assert_msg(x != NULL, "no tensor %s\n%s", name, s->a->about);
    unsigned seed = agree_seed + 1;
    double step = 1e-5 / sqrt((double)(in * out));  /* large enough for double precision, small enough for a slope */
    move(direction, in * out, seed, 1);
    for (size_t i = 0; i < in; i++)
        for (size_t j = 0; j < out; j++) {
            along += direction[i * out + j] * (double)at(g, i, j);
            square += (double)at(g, i, j) * (double)at(g, i, j);
        }
    double *was = malloc(in * out * sizeof *was);
    memcpy(was, x, in * out * sizeof *was);
    move(x, in * out, seed, step);
    double more = loss(s);
    memcpy(x, was, in * out * sizeof *was);
    move(x, in * out, seed, -step);
    double less = loss(s), slope = (more - less) / (2 * step), noise = ROUNDINGS * DBL_EPSILON * more / (2 * step);
    double off = worse(fabs(slope - along) - noise, 0) / (sqrt(square) + 1e-3 * s->norm + TINY);
    memcpy(x, was, in * out * sizeof *was);
    if (!isnan(s->worst) && !(off <= s->worst)) {
        s->worst = off;
        snprintf(s->what, sizeof s->what, "%s (%g, expected %g)", name, along, slope);
    }
    free(direction), free(was);
}

static void compare_vec(struct state *s, const char *part, const char *kind, const struct attn_vec *g, size_t n)
{
    char name[96];
    struct attn_mat row = {.data = g->data, .in = 1, .out = n, .ld = n};
    snprintf(name, sizeof name, "%s.%s", part, kind);
    if (g->data)
        compare(s, name, &row, 1, n);
}

static void compare_mat(struct state *s, const char *part, const struct attn_mat *g, size_t in, size_t out)
{
    char name[96];
    if (!g->data)
        return;
    snprintf(name, sizeof name, "%s.weight", part);
    compare(s, name, g, in, out);
    struct attn_mat bias = {.data = g->bias.data, .in = 1, .out = out, .transposed = true, .ld = 1, .group = g->group,
                            .step = g->step};
    snprintf(name, sizeof name, "%s.bias", part);
    if (g->bias.data)
        compare(s, name, &bias, 1, out);
}

/* ---- all tensors ---- */

static void compare_norm(struct state *s, const char *part, const struct attn_norm *g, size_t n)
{
    compare_vec(s, part, "weight", &g->weight, n);
    compare_vec(s, part, "bias", &g->bias, n);
}

static void compare_block(struct state *s, size_t layer)
{
    const struct attn_block *g = &s->p->g.block[layer];
    const struct { const char *name; const struct attn_mat *mat; } mats[] = {
        {"attn.q", &g->q}, {"attn.k", &g->k}, {"attn.v", &g->v}, {"attn.o", &g->o}, {"mlp.gate", &g->gate},
        {"mlp.in", &g->in},
        {"mlp.out", &g->out}};
    char name[64];
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++) {
        snprintf(name, sizeof name, "blocks.%zu.%s", layer, mats[i].name);
        compare_mat(s, name, mats[i].mat, mats[i].mat->in, mats[i].mat->out);
    }
    const struct ref_config *c = s->a->config;
    const size_t d = (size_t)c->d, head = (size_t)c->dh;
    const struct { const char *name; const struct attn_norm *norm; size_t n; } norms[] = {
        {"norm1", &g->norm1, d}, {"norm2", &g->norm2, d}, {"post1", &g->post1, d}, {"post2", &g->post2, d},
        {"sum1", &g->sum1, d},
        {"sum2", &g->sum2, d},
        {"attn.q_norm", &g->q_norm, g->q_norm.span && !g->q_norm.own ? head : head * (size_t)c->H},
        {"attn.k_norm", &g->k_norm, g->k_norm.span && !g->k_norm.own ? head : head * (size_t)c->Hkv}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        snprintf(name, sizeof name, "blocks.%zu.%s", layer, norms[i].name);
        compare_norm(s, name, norms[i].norm, norms[i].n);
    }
}

static void compare_all(struct state *s)
{
    const struct attn_weights *g = &s->p->g;
    const size_t d = (size_t)s->a->config->d;
    compare_mat(s, "embed", &g->embed, (size_t)s->a->config->V, g->embed.out);
    compare_mat(s, "pos_embed", &g->pos, (size_t)s->a->config->n_ctx, d);
    compare_mat(s, "project_in", &g->project_in, g->project_in.in, g->project_in.out);
    compare_mat(s, "project_out", &g->project_out, g->project_out.in, g->project_out.out);
    compare_norm(s, "norm_embed", &g->embed_norm, d);
    for (size_t layer = 0; layer < g->n.L; layer++)
        compare_block(s, layer);
    compare_norm(s, "norm_final", &g->final, d);
    if (!s->a->config->tied)
        compare_mat(s, "unembed", &g->unembed, g->unembed.in, g->unembed.out);
}

/* ---- */

static void draw_texts(struct state *s, int T)
{
    s->texts = (size_t)(1 + agree_pick(TEXTS));
    s->ids = calloc(TEXTS * (size_t)T, sizeof *s->ids);
    s->targets = calloc(TEXTS * (size_t)T, sizeof *s->targets);
    for (size_t i = 0; i < s->texts; i++)
        s->rows += s->T[i] = (size_t)(1 + agree_pick(T));
    for (size_t i = 0; i < s->rows; i++) {
        s->ids[i] = agree_pick(s->a->config->V);
        int32_t id = i && agree_pick(5) == 0 ? -1 : agree_pick(s->a->config->V);
        s->targets[i] = id >= 0 && i % 4 == 3 ? attn_unlikely(id) : id;
        s->N += id >= 0;
    }
}

static void differentiate(struct state *s, int T)
{
    struct attn_err err = {0};
    struct attn_grad *g = NULL;
    struct attn_grad_plan plan = {.threads = 1 + agree_pick(3), .rows = 1, .longest = (size_t)T};
    struct attn_grad_batch b = {.ids = s->ids, .targets = s->targets, .T = s->T, .seqs = s->texts};
    double mean;
    ck_assert_msg(attn_model_open(&s->model, s->a->dir, &err) == ATTN_OK &&
                  attn_params_new(&s->p, s->model, &err) == ATTN_OK &&
                  attn_grad_new(&g, s->p, &plan, &err) == ATTN_OK && attn_grad_add(g, &mean, &b, &err) == ATTN_OK,
                  "%s", err.msg);
    attn_grad_free(g);
    double want = loss(s);
    /* the library's logits are float32 */
    ck_assert_msg(fabs(mean - want) <= 1e-5 * (1 + want),
                  "the loss is %.9g, expected %.9g\n%s", mean, want, s->a->about);
    for (size_t i = 0; i < s->p->count; i++)
        s->norm += (double)s->p->grad[i] * (double)s->p->grad[i];
    s->norm = sqrt(s->norm);
}

/* The largest error of float32 against double over up to three layers, relative to the tensor's gradient
 * plus a thousandth of the whole.  Typical is 2e-6; worst are the keys' biases, whose gradient is 0 but
 * for rounding errors. */
static const double BOUND = 3e-5;

void derive_check(const struct agree *a, int T)
{
    struct state s = {.a = a};
    T = T < LONGEST ? T : LONGEST;
    draw_texts(&s, T);
    differentiate(&s, T);
    compare_all(&s);
    ck_assert_msg(s.worst <= BOUND, "the gradient by %s is off by %g\n%s", s.what, s.worst, a->about);
    if (getenv("ATTN_TEST_VERBOSE"))
        printf("%-40s %.1e T=%d %s\n", s.what, s.worst, T, a->about);
    attn_params_free(s.p);
    attn_model_close(s.model);
    free(s.ids), free(s.targets);
}
