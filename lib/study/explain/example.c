/* example.c - the examples of an article: numbers drawn from its seed or given, and attention computed from them by the
 * library that runs models. */
#include "explain/article.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "compute/gemm.h"

/* ---- numbers --------------------------------------------------------------------------- */

float *attn_lesson_floats(struct attn_lesson *r, size_t n)
{
    float *x = r->room + r->used;
    assert(n <= ATTN_LESSON_ROOM - r->used);
    r->used += n;
    return x;
}

static float *uniform(struct attn_lesson *r, size_t n, float lo, float hi)
{
    float *x = attn_lesson_floats(r, n);
    attn_rng_uniform(&r->rng, x, n, lo, hi);
    return x;
}

static float *normal(struct attn_lesson *r, size_t n)
{
    float *x = attn_lesson_floats(r, n);
    attn_rng_normal(&r->rng, x, n, 0, 1);
    return x;
}

/* ---- drawing ---------------------------------------------------------------------------- */

/* The map that a letter stands for, and of one head how many numbers it reads and gives. */
static struct attn_projection *map_of(struct attn_example *e, char letter, size_t *in, size_t *out)
{
    *in = letter == 'o' ? e->dv : e->d;
    *out = letter == 'o' ? e->out : letter == 'v' ? e->dv : e->dk;
    return letter == 'q' ? &e->q : letter == 'k' ? &e->k : letter == 'v' ? &e->v : &e->o;
}

static void draw_linear(struct attn_lesson *r, struct attn_example *e, char letter, bool bias)
{
    size_t in, out;
    struct attn_projection *p = map_of(e, letter, &in, &out);
    *(letter == 'o' ? &in : &out) *= e->H;
    float bound = attn_rng_linear_bound(in);
    p->w = uniform(r, in * out, -bound, bound);
    p->b = bias ? uniform(r, out, -bound, bound) : NULL;
    p->transposed = true;
}

static void draw_heads(struct attn_lesson *r, struct attn_example *e, const struct attn_draw_step *how)
{
    float *w[4];
    size_t in, out;
    for (size_t i = 0; how->of[i]; i++) {
        struct attn_projection *p = map_of(e, how->of[i], &in, &out);
        p->w = w[i] = attn_lesson_floats(r, e->H * in * out);
    }
    for (size_t h = 0; h < e->H; h++)
        for (size_t i = 0; how->of[i]; i++) {
            map_of(e, how->of[i], &in, &out);
            attn_rng_uniform(&r->rng, w[i] + h * in * out, in * out, how->lo, how->hi);
        }
}

static void draw_input(struct attn_lesson *r, struct attn_example *e, char letter, bool gauss)
{
    const size_t batch = e->batch ? e->batch : 1, Tk = e->Tk ? e->Tk : e->T;
    const struct { char letter; const float **to; size_t tokens, n; } inputs[] = {
        {'x', &e->x, e->T, e->d}, {'y', &e->y, Tk, e->d}, {'q', &e->queries, e->T, e->dk}, {'k', &e->keys, Tk, e->dk},
        {'v', &e->values, Tk, e->dv}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const size_t n = batch * inputs[i].tokens * inputs[i].n;
        if (inputs[i].letter == letter)
            *inputs[i].to = gauss ? normal(r, n) : uniform(r, n, 0, 1);
    }
}

static void embed(struct attn_lesson *r, struct attn_example *e, const size_t *ids, size_t rows)
{
    const float *table = normal(r, rows * e->d);
    float *x = attn_lesson_floats(r, e->T * e->d);
    for (size_t t = 0; t < e->T; t++)
        memcpy(x + t * e->d, table + ids[t] * e->d, e->d * sizeof *x);
    e->x = x;
}

static void draw_letters(struct attn_lesson *r, struct attn_example *e, const struct attn_draw_step *how)
{
    for (const char *letter = how->of; *letter; letter++)
        if (how->how == ATTN_DRAW_LINEAR || how->how == ATTN_DRAW_UNBIASED)
            draw_linear(r, e, *letter, how->how == ATTN_DRAW_LINEAR);
        else
            draw_input(r, e, *letter, how->how == ATTN_DRAW_RANDN);
}

void attn_example_draw(struct attn_lesson *r, struct attn_example *e, const struct attn_setup *s)
{
    struct attn_example before;
    *e = s->e;
    if (s->after) {
        attn_example_draw(r, &before, s->after);
        e->x = before.x;
        e->queries = before.queries;
        e->keys = before.keys;
        e->values = before.values;
    } else
        attn_rng_seed(&r->rng, s->seed);
    for (const struct attn_draw_step *how = s->draw; how < s->draw + ATTN_DRAW_STEPS && how->how; how++)
        if (how->how == ATTN_DRAW_SEED)
            attn_rng_seed(&r->rng, s->seed);
        else if (how->how == ATTN_DRAW_EMBEDDED)
            embed(r, e, s->ids, how->rows);
        else if (how->how == ATTN_DRAW_HEADS)
            draw_heads(r, e, how);
        else
            draw_letters(r, e, how);
}

/* ---- attention ------------------------------------------------------------------------- */

/* y[T, n], of one head, from x[T, d]. */
static void project(struct attn_team *team, float *y, const float *x, size_t T, size_t d, size_t n,
                    const struct attn_projection *p, size_t head)
{
    if (!p->w) {
        memcpy(y, x, T * d * sizeof *y);
        return;
    }
    struct attn_mat m = {.data = p->w + head * d * n, .in = d, .out = n, .ld = p->transposed ? d : n,
                         .transposed = p->transposed,
                         .bias = {.data = p->b ? p->b + head * n : NULL}};
    attn_gemm(team, y, n, x, d, T, &m, ATTN_STORE, NULL);
}

static float *project_all(struct attn_lesson *r, const struct attn_example *e, const float *x, size_t T, size_t n,
                          const struct attn_projection *p)
{
    float *y = attn_lesson_floats(r, e->batch * e->H * T * n);
    for (size_t b = 0; b < e->batch; b++)
        for (size_t h = 0; h < e->H; h++)
            project(r->team, y + (b * e->H + h) * T * n, x + b * T * e->d, T, e->d, n, p, h);
    return y;
}

static int attend(struct attn_example *e, struct attn_err *err)
{
    struct attn_lost overflow;
    struct attn_attention a = {
        .batch = e->batch, .H = e->H, .Hkv = e->H, .Tq = e->T, .Tk = e->Tk, .dh = e->dk, .dv = e->dv,
        .scale = e->unscaled ? 1 : 1 / sqrtf((float)e->dk), .kind = e->kind, .mask = e->mask,
        .dots = e->kind.form == ATTN_LINEAR ? NULL : e->dots, .scores = e->kind.form == ATTN_LINEAR ? NULL : e->scores,
        .pattern = e->pattern, .threads = 1, .overflow = &overflow};
    return attn_attention(e->context, e->queries, e->keys, e->values, &a, err);
}

/* The contexts of all heads side by side, and what the output projection makes of them. */
static void join(struct attn_team *team, struct attn_example *e)
{
    size_t width = e->H * e->dv;
    for (size_t b = 0; b < e->batch; b++)
        for (size_t h = 0; h < e->H; h++)
            for (size_t t = 0; t < e->T; t++)
                memcpy(e->joined + (b * e->T + t) * width + h * e->dv, e->context + ((b * e->H + h) * e->T + t) * e->dv,
                       e->dv * sizeof *e->joined);
    if (e->out)
        project(team, e->output, e->joined, e->batch * e->T, width, e->out, &e->o, 0);
}

static int attend_and_join(struct attn_team *team, struct attn_example *e, struct attn_err *err)
{
    if (attend(e, err))
        return err->code;
    join(team, e);
    return ATTN_OK;
}

static void make_results(struct attn_lesson *r, struct attn_example *e)
{
    size_t square = e->batch * e->H * e->T * e->Tk, wide = e->batch * e->H * e->T * e->dv;
    e->dots = attn_lesson_floats(r, square);
    e->scores = attn_lesson_floats(r, square);
    e->pattern = attn_lesson_floats(r, square);
    e->context = attn_lesson_floats(r, wide);
    e->joined = attn_lesson_floats(r, wide);
    e->output = attn_lesson_floats(r, e->batch * e->T * e->out);
}

int attn_example_run(struct attn_lesson *r, struct attn_example *e, struct attn_err *err)
{
    const float *y = e->y ? e->y : e->x;
    e->batch = e->batch ? e->batch : 1;
    e->Tk = e->Tk ? e->Tk : e->T;
    e->queries = e->queries ? e->queries : project_all(r, e, e->x, e->T, e->dk, &e->q);
    e->keys = e->keys ? e->keys : project_all(r, e, y, e->Tk, e->dk, &e->k);
    e->values = e->values ? e->values : project_all(r, e, y, e->Tk, e->dv, &e->v);
    make_results(r, e);
    return attend_and_join(r->team, e, err);
}

/* ---- one weight, step by step ---------------------------------------------------------- */

static struct attn_number number(const struct attn_lesson *r, double x)
{
    return attn_explain_number(&r->e, x);
}

/* exp of each score, less the largest, and their sum. */
static double exponentials(double *largest, const float *scores, size_t n)
{
    double sum = 0;
    *largest = -INFINITY;
    for (size_t j = 0; j < n; j++)
        *largest = fmax(*largest, (double)scores[j]);
    for (size_t j = 0; j < n; j++)
        sum += exp((double)scores[j] - *largest);
    return sum;
}

void attn_example_weight(struct attn_lesson *r, const struct attn_example *e, size_t query, size_t key)
{
    struct attn_derivation *d = &r->e.d;
    const float *q = e->queries + query * e->dk, *k = e->keys + key * e->dk, *v = e->values;
    const float *dots = e->dots + query * e->Tk, *scores = e->scores + query * e->Tk,
    *weights = e->pattern + query * e->Tk;
    double largest, sum = exponentials(&largest, scores, e->Tk);
    attn_derive_sum(d, number(r, (double)dots[key]), "q·k");
    for (size_t c = 0; c < e->dk; c++)
        attn_derive_term(d, ATTN_ADDEND_PRODUCT, number(r, (double)q[c]), number(r, (double)k[c]));
    if (!e->unscaled) {
        attn_derive_sum(d, number(r, (double)scores[key]), "score");
        attn_derive_term(d, ATTN_ADDEND_QUOTIENT, number(r, (double)dots[key]), number(r, sqrt((double)e->dk)));
    }
    attn_derive_sum(d, number(r, (double)weights[key]), "weight");
    attn_derive_term(d, ATTN_ADDEND_QUOTIENT, number(r, exp((double)scores[key] - largest)), number(r, sum));
    attn_derive_sum(d, number(r, (double)e->context[query * e->dv]), "context[0]");
    for (size_t j = 0; j < e->Tk; j++)
        if (isfinite(scores[j]))
            attn_derive_term(d, ATTN_ADDEND_PRODUCT, number(r, (double)weights[j]), number(r, (double)v[j * e->dv]));
    attn_derive_words(d, e->unscaled
                      ? "(The weight is exp(score - largest score) divided by the sum of these over the row; "
                        "context[0] adds up the first number of each value, times its weight.)"
                      : "(The score is divided by √d_k.  The weight is exp(score - largest score) divided by the sum "
                        "of these over the row; context[0] adds up the first number of each value, times its weight.)");
}

/* ---- another kind ---------------------------------------------------------------------- */

int attn_example_again(struct attn_lesson *r, struct attn_example *e, enum attn_form form, struct attn_err *err)
{
    e->kind.form = form;
    make_results(r, e);
    return attend_and_join(r->team, e, err);
}
