/* clue.c - what the search for a cause asks: of the activations around the first difference, and of the weights. */
#include "compare/diff.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"

#include "compute/position.h"
#include "compute/vec.h"
#include "model/model.h"

bool attn_clue_say(struct clue *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (attn_vasprintf(&c->d->cause, fmt, ap) < 0)
        c->d->cause = NULL;
    va_end(ap);
    return true;
}

bool attn_clue_other(const struct clue *c, int act, struct attn_pair *out)
{
    return attn_diff_pair(c->d, act, attn_act_per_layer(act) ? c->layer : -1, out);
}

/* The output of the last block, which everything after the blocks reads. */
static bool last_block(const struct clue *c, struct attn_pair *x)
{
    for (size_t i = c->d->n; i-- > 0;)
        if (c->d->row[i].act == ATTN_ACT_RESID_POST)
            return attn_diff_pair(c->d, ATTN_ACT_RESID_POST, c->d->row[i].layer, x);
    return false;
}

bool attn_clue_input(const struct clue *c, struct attn_pair *x)
{
    switch (c->act) {
    case ATTN_ACT_NORM1:
        return attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_Q: case ATTN_ACT_K: case ATTN_ACT_V:
        return attn_clue_other(c, ATTN_ACT_NORM1, x) || attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_OUT:
        return attn_clue_other(c, ATTN_ACT_CONTEXT, x);
    case ATTN_ACT_NORM2:
        return attn_clue_other(c, ATTN_ACT_RESID_MID, x) || attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_MLP_PRE: case ATTN_ACT_MLP_LINEAR:
        return attn_clue_other(c, ATTN_ACT_NORM2, x) || attn_clue_other(c, ATTN_ACT_RESID_MID, x);
    case ATTN_ACT_MLP_POST:
        return attn_clue_other(c, ATTN_ACT_MLP_PRE, x);
    case ATTN_ACT_MLP_OUT:
        return attn_clue_other(c, ATTN_ACT_MLP_POST, x);
    case ATTN_ACT_NORM_FINAL:
        return last_block(c, x);
    case ATTN_ACT_LOGITS:
        return attn_clue_other(c, ATTN_ACT_NORM_FINAL, x) || last_block(c, x);
    default:
        return false;
    }
}

static size_t head_width(const struct clue *c)
{
    struct attn_pair p, context;
    if (attn_clue_other(c, ATTN_ACT_Q, &p) || attn_clue_other(c, ATTN_ACT_K, &p))
        return p.n;
    if (c->model)
        return c->model->w.n.dh;
    size_t H = attn_clue_heads(c);
    return H && attn_clue_other(c, ATTN_ACT_CONTEXT, &context) ? context.n / H : 0;
}

size_t attn_clue_heads(const struct clue *c)
{
    static const int with_heads[] = {ATTN_ACT_Q, ATTN_ACT_DOTS, ATTN_ACT_SCORES, ATTN_ACT_PATTERN};
    struct attn_pair p;
    for (size_t i = 0; i < sizeof with_heads / sizeof *with_heads; i++)
        if (attn_clue_other(c, with_heads[i], &p))
            return p.H;
    return c->model ? c->model->w.n.H : 0;
}

double attn_clue_theta(const struct clue *c)
{
    return c->model && c->model->w.rotary ? c->model->config.rope_theta : 0;
}

const char *attn_clue_factor(const struct clue *c, double factor, char buf[64])
{
    struct attn_pair x;
    double dh = (double)head_width(c), layer = c->layer + 1;
    double d = attn_clue_other(c, ATTN_ACT_EMBED, &x) || attn_clue_input(c, &x) ? (double)x.n : 0;
    const struct { const char *name; double x; } known[] = {
        {"sqrt(d_head)", sqrt(dh)}, {"1/sqrt(d_head)", 1 / sqrt(dh)}, {"d_head", dh}, {"1/d_head", 1 / dh},
        {"sqrt(d_model)", sqrt(d)}, {"1/sqrt(d_model)", 1 / sqrt(d)}, {"the number of the layer from 1", layer},
        {"1 over the number of the layer from 1", 1 / layer}, {"log2(e)", M_LOG2E}, {"ln(2)", M_LN2},
        {"sqrt((d - 1)/d): the variance of a sample", sqrt((d - 1) / d)},
        {"sqrt(d/(d - 1)): the variance of a sample", sqrt(d / (d - 1))}};
    buf[0] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known && !buf[0]; i++)
        if (fabs(known[i].x - 1) > 1e-9 && fabs(factor / known[i].x - 1) < 2e-5)
            snprintf(buf, 64, " = %s", known[i].name);
    return buf;
}

/* ---- products recomputed with the weights of a model, as they are and otherwise -------- */

enum { ROWS = 4 };                      /* of the activations: more would prove no more */

static const struct attn_mat *matrix_of(const struct clue *c)
{
    const struct attn_weights *w = &c->model->w;
    if (c->layer >= 0 && (size_t)c->layer >= w->n.L)
        return NULL;
    const struct attn_block *b = &w->block[c->layer < 0 ? 0 : c->layer];
    switch (c->act) {
    case ATTN_ACT_Q:          return &b->q;
    case ATTN_ACT_K:          return &b->k;
    case ATTN_ACT_V:          return &b->v;
    case ATTN_ACT_OUT:        return &b->o;
    case ATTN_ACT_MLP_PRE:    return b->gate.data ? &b->gate : &b->in;
    case ATTN_ACT_MLP_LINEAR: return &b->in;
    case ATTN_ACT_MLP_OUT:    return &b->out;
    default:                  return NULL;
    }
}

/* y[out] += x[in] w, or x times the transposed w, which must be square; line: one stored row. */
static void multiply(double *y, const float *x, const struct attn_mat *w, bool transposed, float *line)
{
    size_t rows = w->out_in ? w->out : w->in, columns = w->out_in ? w->in : w->out;
    for (size_t i = 0; i < rows; i++) {
        size_t at = w->out_in ? attn_mat_index(w, i) : i;
        attn_vec_widen(line, w->data, w->type, at * w->ld, columns);
        for (size_t j = 0; j < columns; j++)
            if (w->out_in != transposed)
                y[i] += (double)x[j] * (double)line[j];
            else
                y[j] += (double)x[i] * (double)line[j];
    }
}

static void add_bias(double *y, const struct attn_mat *w, float *line)
{
    for (size_t j = 0; j < w->out && w->bias.data; j++) {
        attn_vec_widen(line, w->bias.data, w->bias.type, attn_mat_index(w, j), 1);
        y[j] += (double)*line;
    }
}

static double element(const struct attn_vec *v, size_t i)
{
    float x;
    attn_vec_widen(&x, v->data, v->type, i, 1);
    return (double)x;
}

/* The norm of queries or keys, over each head or all of them. */
static void normalise(double *y, size_t n, const struct attn_norm *norm, double eps)
{
    size_t span = norm->span ? norm->span : n;
    for (size_t at = 0; at < n; at += span) {
        double mean = 0, square = 0;
        for (size_t j = 0; j < span && !norm->rms; j++)
            mean += y[at + j] / (double)span;
        for (size_t j = 0; j < span; j++)
            square += (y[at + j] - mean) * (y[at + j] - mean) / (double)span;
        for (size_t j = 0; j < span; j++) {
            size_t own = norm->own ? at + j : j;
            y[at + j] = (y[at + j] - mean) / sqrt(square + eps) * element(&norm->weight, own) +
                        (norm->bias.data ? element(&norm->bias, own) : 0);
        }
    }
}

static void rotate(double *y, const struct attn_weights *w, const struct attn_turn *turn, const struct attn_pair *p, size_t t)
{
    size_t half = w->rotary / 2;
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < half; i++) {
            double angle = (double)t * attn_turn_speed(w, turn, i, p->T), c = turn->grow * cos(angle), s = turn->grow * sin(angle);
            double *u = y + h * w->n.dh + (w->neighbours ? 2 * i : i), *v = u + (w->neighbours ? 1 : half), first = *u;
            *u = first * c - *v * s;
            *v = first * s + *v * c;
        }
}

static double distance(const struct attn_pair *p, const float *side, size_t t, const double *y)
{
    double left = 0, all = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t j = 0; j < p->n; j++) {
            double have = side[h * p->ld_head + t * p->ld + j], want = y[h * p->n + j];
            left += (have - want) * (have - want);
            all += want * want;
        }
    return all > 0 ? sqrt(left / all) : INFINITY;
}

/* The largest gap of A and of B to the recomputed product, over the first rows. */
static bool gaps(const struct clue *c, const struct attn_pair *x, const struct attn_mat *w, bool transposed, double gap[2])
{
    const struct attn_weights *all = &c->model->w;
    bool q = c->act == ATTN_ACT_Q, k = c->act == ATTN_ACT_K;
    int turn = all->rotary && (q || k) ? all->block[c->layer].turn : -1;
    const struct attn_norm *norm = q ? &all->block[c->layer].q_norm : k ? &all->block[c->layer].k_norm : NULL;
    size_t widest = w->in > w->out ? w->in : w->out;
    double *y = calloc(w->out + 1, sizeof *y);
    float *line = malloc((widest + 1) * sizeof *line);
    gap[0] = gap[1] = 0;
    for (size_t t = 0; y && line && t < x->T && t < ROWS; t++) {
        for (size_t j = 0; j < w->out; j++)
            y[j] = 0;
        multiply(y, x->a + t * x->ld, w, transposed, line);
        add_bias(y, w, line);
        if (norm && attn_has(norm))
            normalise(y, w->out, norm, (double)all->eps);
        if (turn >= 0)
            rotate(y, all, &all->turn[turn], &c->p, t);
        gap[0] = fmax(gap[0], distance(&c->p, c->p.a, t, y));
        gap[1] = fmax(gap[1], distance(&c->p, c->p.b, t, y));
    }
    bool done = y && line;
    free(y);
    free(line);
    return done;
}

static bool fits(const struct clue *c, const struct attn_pair *x, const struct attn_mat *w)
{
    const struct attn_weights *all = &c->model->w;
    bool bent = c->act == ATTN_ACT_LOGITS && (all->logit_scale != 0 || all->logit_cap != 0 || all->project_out.data);
    bool turned = c->act == ATTN_ACT_Q || c->act == ATTN_ACT_K;         /* head by head */
    if (!w)
        return false;
    bool heads = c->p.H * c->p.n == w->out && (!turned || c->p.n == all->n.dh);
    return w->data && !bent && x->n == w->in && x->T == c->p.T && heads;
}

bool attn_clue_transposed(struct clue *c)
{
    struct attn_pair x;
    double as_is[2], transposed[2];
    const struct attn_mat *w = c->model ? matrix_of(c) : NULL;
    if (!w || !attn_clue_input(c, &x) || !fits(c, &x, w) || w->in != w->out || !gaps(c, &x, w, false, as_is) ||
        !gaps(c, &x, w, true, transposed))
        return false;
    bool a = attn_gap_explained(transposed[0], as_is[0]) && attn_gap_explained(as_is[1], transposed[1]);
    bool b = attn_gap_explained(transposed[1], as_is[1]) && attn_gap_explained(as_is[0], transposed[0]);
    return (a || b) && attn_clue_say(c, "%c multiplies by the transpose of the weight that %c uses",
                                     attn_clue_side(a), attn_clue_side(!a));
}

bool attn_clue_tied(struct clue *c)
{
    struct attn_pair x;
    double gap[2];
    if (!c->model || !c->model->w.embed.data || !attn_clue_input(c, &x))
        return false;
    struct attn_mat w = c->model->w.embed;              /* as the output layer: bind.c ties it in the same way */
    w.in = c->model->w.embed.out;
    w.out = c->model->w.embed.in;
    w.out_in = true;
    if (!fits(c, &x, &w) || !gaps(c, &x, &w, false, gap))
        return false;
    bool a = attn_gap_explained(gap[0], gap[1]), b = attn_gap_explained(gap[1], gap[0]);
    return (a || b) && attn_clue_say(c, "%c's output layer is the embedding (tied), %c's is separate", attn_clue_side(a),
                                     attn_clue_side(!a));
}
