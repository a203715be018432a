#include "compare/recompute.h"

#include <math.h>
#include <stdlib.h>

#include "compute/position.h"
#include "compute/vec.h"
#include "model/model.h"

enum { ROWS = 4 };                      /* of the activations: more would prove no more */

/* The matrix of a product; NULL: it is none. */
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
    case ATTN_ACT_LOGITS:     return &w->unembed;
    default:                  return NULL;
    }
}

const struct attn_norm *attn_remake_norm(const struct clue *c)
{
    const struct attn_weights *w = &c->model->w;
    if (c->layer >= 0 && (size_t)c->layer >= w->n.L)
        return NULL;
    const struct attn_block *b = &w->block[c->layer < 0 ? 0 : c->layer];
    const struct attn_norm *norm = NULL;
    switch (c->act) {
    case ATTN_ACT_NORM1:      norm = &b->norm1; break;
    case ATTN_ACT_NORM2:      norm = &b->norm2; break;
    case ATTN_ACT_NORM_FINAL: norm = &w->final; break;
    case ATTN_ACT_Q:          norm = &b->q_norm; break;
    case ATTN_ACT_K:          norm = &b->k_norm; break;
    case ATTN_ACT_ADDED:      norm = &b->post1; break;
    case ATTN_ACT_MLP_ADDED:  norm = &b->post2; break;
    case ATTN_ACT_RESID_MID:  norm = &b->sum1; break;
    case ATTN_ACT_RESID_POST: norm = &b->sum2; break;
    default:                  break;
    }
    return norm && attn_has(norm) ? norm : NULL;
}

/* ---- steps of a row -------------------------------------------------------------------- */

static double element(const struct attn_vec *v, size_t i)
{
    float x = 0;
    attn_vec_widen(&x, v->data, v->type, i, 1);
    return (double)x;
}

/* y[out] = x[in] w, or x times the transposed w, which must be square; line: one stored row. */
static void multiply(double *y, const double *x, const struct attn_mat *w, bool transposed, float *line)
{
    size_t rows = w->transposed ? w->out : w->in, columns = w->transposed ? w->in : w->out;
    for (size_t j = 0; j < w->out; j++)
        y[j] = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t at = w->transposed ? attn_mat_index(w, i) : i;
        attn_vec_widen(line, w->data, w->type, at * w->ld, columns);
        for (size_t j = 0; j < columns; j++)
            if (w->transposed != transposed)
                y[i] += x[j] * (double)line[j];
            else
                y[j] += x[i] * (double)line[j];
    }
}

void attn_remake_add_bias(double *y, const struct attn_mat *w, int times)
{
    for (size_t j = 0; j < w->out && w->bias.data; j++)
        y[j] += times * element(&w->bias, attn_mat_index(w, j));
}

void attn_remake_multiply(double *y, const double *x, const struct attn_mat *w, float *line)
{
    multiply(y, x, w, false, line);
    attn_remake_add_bias(y, w, 1);
}

/* What a number is multiplied by; stored weights may have been made from what is 1 less. */
static double weight_of(const struct attn_norm *norm, size_t i, const struct attn_how *how, bool model_from_one)
{
    double stored = element(&norm->weight, i) + (norm->from_one ? 1 : 0);
    if (how->slip == ATTN_SLIP_NO_WEIGHTS)
        return 1;
    return stored + (how->slip != ATTN_SLIP_FROM_ONE ? 0 : model_from_one ? -1 : 1);
}

static double over_spread(const double *y, size_t n, double mean, double eps, const struct attn_how *how)
{
    double square = 0, terms = (double)n - (how->slip == ATTN_SLIP_OF_SAMPLE ? 1 : 0);
    for (size_t j = 0; j < n; j++)
        square += (y[j] - mean) * (y[j] - mean) / terms;
    if (how->slip == ATTN_SLIP_EPS)
        eps = how->eps;
    return 1 / (how->slip == ATTN_SLIP_EPS_OUTSIDE ? sqrt(square) + eps : sqrt(square + eps));
}

/* Over each head, or all n numbers. */
static void normalise(double *y, size_t n, const struct attn_norm *norm, const struct clue *c,
                      const struct attn_how *how)
{
    size_t span = norm->span ? norm->span : n;
    bool rms = norm->rms != (how->slip == ATTN_SLIP_OTHER_KIND), kept = rms || how->slip == ATTN_SLIP_NO_MEAN;
    for (size_t at = 0; at + span <= n; at += span) {
        double mean = 0;
        for (size_t j = 0; j < span && !kept; j++)
            mean += y[at + j] / (double)span;
        double over = over_spread(y + at, span, mean, (double)c->model->w.eps, how);
        for (size_t j = 0; j < span; j++) {
            size_t own = norm->own ? at + j : j;
            y[at + j] = (y[at + j] - mean) * over * weight_of(norm, own, how, c->model->config.norm_from_one) +
                        (norm->bias.data && rms == norm->rms ? element(&norm->bias, own) : 0);
        }
    }
}

static void rotate(double *y, const struct attn_weights *w, const struct attn_rope *rope, const struct attn_pair *p,
                   size_t t)
{
    size_t half = w->rotary / 2;
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < half; i++) {
            double angle = (double)t * attn_rope_inv_freq(w, rope, i, p->T);
            double c = rope->attention_factor * cos(angle), s = rope->attention_factor * sin(angle);
            double *u = y + h * w->n.dh + (w->interleaved ? 2 * i : i), *v = u + (w->interleaved ? 1 : half),
            first = *u;
            *u = first * c - *v * s;
            *v = first * s + *v * c;
        }
}

/* ---- a row ----------------------------------------------------------------------------- */

struct remaking {
    const struct clue *c;
    const struct attn_how *how;
    const struct attn_mat *w;           /* NULL: the activation is no product */
    const struct attn_norm *norm;
    double *x, *y; float *line;         /* the input and the result of a row, both as wide as the wider of them */
};

static const struct attn_how as_is = {0};

static void finish_queries(struct remaking *r, size_t t)
{
    const struct attn_weights *all = &r->c->model->w;
    int rope = all->rotary ? all->block[r->c->layer].rope : -1;
    bool normed = r->norm && r->how->slip != ATTN_SLIP_LEFT_OUT;
    bool late = all->late_norms != (r->how->slip == ATTN_SLIP_LATE);
    if (normed && !late)
        normalise(r->y, r->w->out, r->norm, r->c, r->how);
    if (rope >= 0)
        rotate(r->y, all, &all->rope[rope], &r->c->p, t);
    if (normed && late)
        normalise(r->y, r->w->out, r->norm, r->c, r->how);
}

static void finish_logits(struct remaking *r)
{
    const struct attn_weights *all = &r->c->model->w;
    for (size_t j = 0; j < r->w->out; j++) {
        r->y[j] *= all->logit_scale != 0 ? (double)all->logit_scale : 1;
        if (all->logit_cap != 0)
            r->y[j] = (double)all->logit_cap * tanh(r->y[j] / (double)all->logit_cap);
    }
}

static void make_product(struct remaking *r, size_t t)
{
    const struct attn_mat *embed_proj = &r->c->model->w.project_out;
    if (r->how->first)
        normalise(r->x, r->c->model->w.n.d, r->how->first, r->c, &as_is);
    if (r->c->act == ATTN_ACT_LOGITS && embed_proj->data) {
        multiply(r->y, r->x, embed_proj, false, r->line);
        for (size_t j = 0; j < embed_proj->out; j++)
            r->x[j] = r->y[j];
    }
    if (r->how->make) {
        r->how->make(r->y, r->x, r->how->self);
    } else {
        multiply(r->y, r->x, r->w, r->how->transposed, r->line);
        attn_remake_add_bias(r->y, r->w, 1 + r->how->biases);
    }
    const double most = (double)r->c->model->w.clip;
    bool heads = r->c->act == ATTN_ACT_Q || r->c->act == ATTN_ACT_K || r->c->act == ATTN_ACT_V;
    for (size_t j = 0; j < r->w->out && heads && most > 0; j++)
        r->y[j] = fmax(fmin(r->y[j], most), -most);
    if (r->c->act == ATTN_ACT_Q || r->c->act == ATTN_ACT_K)
        finish_queries(r, t);
    if (r->c->act == ATTN_ACT_LOGITS)
        finish_logits(r);
}

static void make_norm(struct remaking *r)
{
    const struct attn_weights *all = &r->c->model->w;
    bool branch = r->c->act == ATTN_ACT_ADDED || r->c->act == ATTN_ACT_MLP_ADDED;
    for (size_t j = 0; j < r->c->p.n; j++)
        r->y[j] = r->x[j];
    if (r->norm && r->how->slip != ATTN_SLIP_LEFT_OUT)
        normalise(r->y, r->c->p.n, r->norm, r->c, r->how);
    for (size_t j = 0; j < r->c->p.n && branch && all->branch_scale != 0; j++)
        r->y[j] *= (double)all->branch_scale;
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
    return all > 0 && isfinite(left) ? sqrt(left / all) : INFINITY;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static bool fits(const struct remaking *r, const struct attn_pair *x)
{
    const struct attn_pair *p = &r->c->p;
    const struct attn_mat *embed_proj = &r->c->model->w.project_out;
    bool turned = r->c->act == ATTN_ACT_Q || r->c->act == ATTN_ACT_K, logits = r->c->act == ATTN_ACT_LOGITS;
    bool square = r->w && r->w->in == r->w->out;
    if (x->H != 1 || x->T != p->T || !p->T)
        return false;
    if (!r->w)
        return r->norm && p->H == 1 && x->n == p->n;
    size_t in = logits && embed_proj->data ? embed_proj->in : r->w->in;
    return r->w->data && x->n == in && (!embed_proj->data || !logits || embed_proj->out == r->w->in) &&
           p->H * p->n == r->w->out && (!turned || p->n == r->c->model->w.n.dh) && (!r->how->transposed || square) &&
           (!r->how->first || x->n == r->c->model->w.n.d);
}

double attn_remake_gap(const struct clue *c, bool a, const struct attn_pair *x, const struct attn_how *how)
{
    const float *from = a ? x->a : x->b;
    if (!c->model || !from)
        return INFINITY;
    struct remaking r = {.c = c, .how = how, .w = how->w ? how->w : matrix_of(c), .norm = attn_remake_norm(c)};
    if (!fits(&r, x))
        return INFINITY;
    size_t widest = larger(larger(x->n, c->p.H * c->p.n), r.w ? larger(r.w->in, r.w->out) : 0);
    double gap = 0;
    r.x = calloc(2 * widest + 1, sizeof *r.x);
    r.y = r.x ? r.x + widest : NULL;
    r.line = malloc((widest + 1) * sizeof *r.line);
    for (size_t i = 0, rows = x->T < ROWS ? x->T : ROWS; r.x && r.line && i < rows; i++) {
        size_t t = rows > 1 ? i * (x->T - 1) / (rows - 1) : 0;
        for (size_t j = 0; j < x->n; j++)
            r.x[j] = from[t * x->ld + j];
        if (r.w)
            make_product(&r, t);
        else
            make_norm(&r);
        gap = fmax(gap, distance(&c->p, a ? c->p.a : c->p.b, t, r.y));
    }
    bool done = r.x && r.line;
    free(r.x);
    free(r.line);
    return done ? gap : INFINITY;
}

bool attn_remade_with(const struct clue *c, const struct attn_pair *x, const struct attn_how *mistake, bool *a_has_it)
{
    double right[2], wrong[2];
    for (int s = 0; s < 2; s++) {
        right[s] = attn_remake_gap(c, s == 0, x, &as_is);
        wrong[s] = attn_remake_gap(c, s == 0, x, mistake);
    }
    *a_has_it = attn_gap_explained(wrong[0], right[0]);
    int has = *a_has_it ? 0 : 1;
    return attn_gap_explained(wrong[has], right[has]) && attn_gap_explained(right[!has], wrong[!has]);
}

bool attn_remake_embedding(const struct clue *c, size_t id, double *out, enum attn_slip slip)
{
    const struct attn_how how = {.slip = slip};
    const struct attn_weights *w = &c->model->w;
    const struct attn_mat *table = &w->embed;
    size_t widest = larger(table->out, w->n.d);
    float *line = malloc((widest + 1) * sizeof *line);
    double *row = calloc(widest + 1, sizeof *row);
    if (line && row) {
        attn_vec_widen(line, table->data, table->type, id * table->ld, table->out);
        for (size_t j = 0; j < table->out; j++)
            row[j] = (double)line[j];
        if (w->project_in.data) {
            multiply(out, row, &w->project_in, false, line);
            attn_remake_add_bias(out, &w->project_in, 1);
        }
        for (size_t j = 0; j < w->n.d; j++)
            out[j] = (w->project_in.data ? out[j] : row[j]) * (w->embed_scale != 0 ? (double)w->embed_scale : 1);
        if (attn_has(&w->embed_norm) && !attn_norms_positions(w) && slip != ATTN_SLIP_LEFT_OUT)
            normalise(out, w->n.d, &w->embed_norm, c, &how);
    }
    bool done = line && row;
    free(line);
    free(row);
    return done;
}
