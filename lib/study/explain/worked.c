/* worked.c - runs the model and keeps the cell of attention that is explained. */
#include "explain/explain.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attend/attend.h"
#include "base/err.h"
#include "sinks/print.h"

/* ---- recording ------------------------------------------------------------------------- */

static bool outside_blocks(int act)
{
    return act == ATTN_ACT_EMBED || act == ATTN_ACT_POS_EMBED;
}

static bool one_row(int act)
{
    return attn_act_square(act) || act == ATTN_ACT_CONTEXT || act == ATTN_ACT_OUT;
}

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_worked *w = self;
    const int last = w->model->attend ? ATTN_ACT_OUT : ATTN_ACT_CONTEXT;
    bool here = outside_blocks(act) || (layer == (int)w->layer && act >= ATTN_ACT_RESID_PRE && act <= last);
    return here ? ATTN_WATCH : 0;
}

/* The other text's own queries and attention are not needed, only its keys and values and what they are made from. */
static bool is_not_needed(const struct attn_probe *p)
{
    return p->seq == 1 && (p->act == ATTN_ACT_Q || one_row(p->act));
}

static int make_array(const struct attn_worked *w, struct attn_seen *s, const struct attn_probe *p,
                      struct attn_err *err)
{
    if (s->x)
        return ATTN_OK;
    s->rows = one_row(p->act) ? 1 : p->shape[p->ndim - 2];
    s->cols = p->act == ATTN_ACT_CONTEXT ? w->model->w.n.dv : p->cols;
    s->x = calloc(s->rows * s->cols, sizeof *s->x);
    return s->x ? ATTN_OK : attn_no_memory(err, NULL, "for %zu x %zu numbers of %s", s->rows, s->cols, p->name);
}

static double number(const struct attn_probe *p, size_t at) { return p->f64 ? p->f64[at] : (double)p->data[at]; }

static double magnitude(double largest, double x) { return isfinite(x) && fabs(x) > largest ? fabs(x) : largest; }

/* All of the query's contexts, which an output reads. */
static int join(struct attn_worked *w, const struct attn_probe *p, struct attn_err *err)
{
    if (p->act != ATTN_ACT_CONTEXT || !p->f64)
        return ATTN_OK;
    w->joined = malloc(p->cols * sizeof *w->joined);
    if (!w->joined)
        return attn_no_memory(err, NULL, "for %zu numbers of %s", p->cols, p->name);
    memcpy(w->joined, p->f64 + w->query * p->ld, p->cols * sizeof *w->joined);
    return ATTN_OK;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct attn_worked *w = self;
    struct attn_seen *s = p->seq == 1 ? &w->other[p->act] : &w->seen[p->act];
    size_t head = p->ndim < 3 ? 0 : attn_act_kv_heads(p->act) ? w->kv : w->head;
    if (is_not_needed(p) || head < p->head0 || head >= p->head0 + p->heads)
        return ATTN_OK;
    if (make_array(w, s, p, err) || join(w, p, err))
        return err->code;
    for (size_t i = 0; i < p->rows; i++) {
        size_t row = (head - p->head0) * p->ld_head + i * p->ld, t = p->row0 + i;
        size_t from = row + (p->act == ATTN_ACT_CONTEXT ? w->head * s->cols : 0);
        for (size_t j = 0; j < p->cols; j++)
            s->largest = magnitude(s->largest, number(p, row + j));
        double *to = s->x + (one_row(p->act) ? 0 : t) * s->cols;
        for (size_t j = 0; j < s->cols && (!one_row(p->act) || t == w->query); j++)
            to[j] = number(p, from + j);
    }
    return ATTN_OK;
}

/* ---- running --------------------------------------------------------------------------- */

static int check(const char *what, size_t i, size_t n, const char *of, struct attn_err *err)
{
    if (i < n)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE,
                     "%s %zu is not there: %s has %zu, numbered from 0 to %zu", what, i, of, n, n - 1);
}

static int check_all(const struct attn_model *m, size_t T, const struct attn_explain_opts *o, struct attn_err *err)
{
    char model[256];
    size_t keys = o->cross ? o->cross->n : T;
    snprintf(model, sizeof model, "model %s", m->source.name);
    if (!T)
        return attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to explain");
    if (!keys)
        return attn_fail(err, ATTN_EFORMAT, "the other text is empty: there is no key to look at");
    if (check("layer", o->layer, m->w.n.L, model, err) || check("head", o->head, m->w.n.H, model, err) ||
        check("query", o->query, T, "the sentence", err) ||
        check("key", o->key == ATTN_KEY_LARGEST ? 0 : o->key, keys, o->cross ? "the other text" : "the sentence", err))
        return err->code;
    return ATTN_OK;
}

static int pick(struct attn_worked *w, struct attn_err *err)
{
    size_t T = w->tokens->n, *swaps = calloc(T, sizeof *swaps);
    w->picked = calloc(T, sizeof *w->picked);
    if (w->picked && swaps)
        w->n_picked = attn_kind_pick(w->picked, swaps, &w->kind, w->query, w->keys->n);
    free(swaps);
    return w->n_picked ? ATTN_OK : attn_no_memory(err, NULL, "for a list of %zu keys", T);
}

static size_t heaviest(const struct attn_worked *w)
{
    const double *weight = attn_worked_row(w, ATTN_ACT_PATTERN, w->query);
    size_t best = 0;
    for (size_t j = 1; j < w->keys->n; j++)
        if (weight[j] > weight[best])
            best = j;
    return best;
}

int attn_worked_run(struct attn_worked *w, const struct attn_model *m, const struct attn_tokens *tokens,
                    const struct attn_explain_opts *o, struct attn_err *err)
{
    struct attn_observer obs[2] = {{.wants = wants, .watch = watch, .self = w}};
    size_t n = 1;
    if (o->observer)
        obs[n++] = *o->observer;
    struct attn_plan how = {.threads = o->threads, .kind = o->kind};
    *w = (struct attn_worked){.model = m, .tokens = tokens, .keys = o->cross ? o->cross : tokens};
    if (check_all(m, tokens->n, o, err))
        return err->code;
    w->layer = o->layer;
    w->head = o->head;
    w->kv = o->head / (m->w.n.H / m->w.n.Hkv);
    w->query = o->query;
    const bool masked = !o->cross || m->attend;
    w->kind = attn_kind_in(&o->kind, m->w.causal && masked, masked ? m->w.block[o->layer].window : 0);
    w->scale = m->attend ? attn_kind_scale_f64(&o->kind, 1 / sqrt((double)m->w.n.dh), m->w.n.dh)
                         : (double)attn_kind_scale(&o->kind, m->w.block[o->layer].scale, m->w.n.dh);
    int rc = attn_run_tokens(m, &how, tokens, o->cross, obs, n, err);
    if (!rc && attn_kind_picks(&w->kind))
        rc = pick(w, err);
    if (rc)
        return rc;
    w->heaviest = heaviest(w);
    w->key = o->key == ATTN_KEY_LARGEST ? w->heaviest : o->key;
    return ATTN_OK;
}

void attn_worked_free(struct attn_worked *w)
{
    for (size_t i = 0; i < ATTN_ACTS; i++) {
        free(w->seen[i].x);
        free(w->other[i].x);
    }
    free(w->picked);
    free(w->joined);
    *w = (struct attn_worked){0};
}

/* ---- queries --------------------------------------------------------------------------- */

bool attn_worked_cross(const struct attn_worked *w)
{
    return w->keys != w->tokens;
}

struct attn_spot attn_worked_query(const struct attn_worked *w)
{
    return (struct attn_spot){w->tokens, w->seen, w->query};
}

struct attn_spot attn_worked_key(const struct attn_worked *w)
{
    return (struct attn_spot){w->keys, attn_worked_cross(w) ? w->other : w->seen, w->key};
}

static const struct attn_seen *seen_of(const struct attn_worked *w, int act)
{
    return attn_act_of_keys(act) && attn_worked_cross(w) ? &w->other[act] : &w->seen[act];
}

bool attn_worked_has(const struct attn_worked *w, int act) { return seen_of(w, act)->x != NULL; }

static const double *row(const struct attn_seen *s, int act, size_t t)
{
    return s->x + (one_row(act) ? 0 : t) * s->cols;
}

const double *attn_spot_row(const struct attn_spot *s, int act)
{
    return row(&s->seen[act], act, s->t);
}

int attn_spot_digits(const struct attn_spot *s, int act, int precision)
{
    return attn_grid_digits(s->seen[act].largest, precision);
}

const double *attn_worked_row(const struct attn_worked *w, int act, size_t t)
{
    return row(seen_of(w, act), act, t);
}

struct attn_reach attn_worked_sees(const struct attn_worked *w)
{
    if (w->kind.form == ATTN_CAUSAL_RENORM)             /* after renormalising */
        return (struct attn_reach){w->keys, 0, w->query + 1};
    struct attn_range r = attn_kind_bounds(&w->kind, w->query, w->keys->n);
    return (struct attn_reach){w->keys, r.lo, r.hi};
}

/* Whether a mask, or a score, that is given hides key j. */
static bool is_hidden(const struct attn_worked *w, size_t j)
{
    double add;
    return w->model->attend && attn_worked_has(w, ATTN_ACT_SCORES) &&
           (attn_worked_row(w, ATTN_ACT_SCORES, w->query)[j] == -INFINITY ||
            !attn_attend_sees(w->model->attend, w->head, w->query, j, &add));
}

bool attn_worked_sees_key(const struct attn_worked *w, size_t j)
{
    struct attn_reach r = attn_worked_sees(w);
    if (is_hidden(w, j))
        return false;
    for (size_t i = 0; i < w->n_picked; i++)
        if (w->picked[i] == j)
            return true;
    return !w->picked && r.lo <= j && j < r.hi;
}

int attn_worked_digits(const struct attn_worked *w, int act, int precision)
{
    return attn_grid_digits(seen_of(w, act)->largest, precision);
}
