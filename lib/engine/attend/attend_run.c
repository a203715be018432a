/* attend_run.c - computes what follows from numbers that are given, and announces it as a run does: the rows of x,
 * queries, keys and values; for some queries of a head at a time, or for all of whoever wants a whole matrix, dots,
 * scores and weights; contexts, and the output.
 *
 * Time and memory follow the number of queries times that of keys.  In cross-attention, keys, values and the rows they
 * are made of are announced as those of sentence 1. */
#include "attend/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/size.h"
#include "compute/mask.h"
#include "model/kind.h"
#include "model/model.h"
#include "trace/trace.h"

enum { BAND = 48 };                     /* queries at a time */

struct work {
    const struct attn_attend *a;
    struct attn_trace trace;
    struct attn_kind kind;
    double scale;
    size_t heads, rows;                 /* of a band */
    double *q, *k, *v;                  /* [H, Tq, dh], [Hkv, Tk, dh], [Hkv, Tk, dv] */
    double *context, *out, *part;       /* [Tq, H * dv], [Tq, out]; of a head: [max of dv and out] */
    double *dots, *scores, *pattern, *norms;    /* of a band */
    double *size;                       /* [H, Tk] the norm of what each value adds to the output */
    double *rows_of[2];                 /* [Tq, d] x, [Tk, d] rows of the other text */
    bool *seen; size_t *list, *swaps;   /* by a query: see attn_kind_mark */
    float *rounded;                     /* what is announced, in float32 */
    struct attn_err *err;
};

/* ---- memory ---- */

static double *numbers(struct attn_arena *m, size_t n0, size_t n1, size_t n2)
{
    return (void *)attn_arena_f32(m, n0, n1, 2 * n2);
}

static bool wants(const struct work *w, int act) { return attn_trace_wants(&w->trace, act, 0, ATTN_WATCH); }

static void lay_out(struct attn_arena *m, struct work *w)
{
    const struct attn_attend *a = w->a;
    const size_t positions = larger(a->Tq, a->Tk) + 1, band = a->Tk;
    w->q = numbers(m, a->H, a->Tq, a->dh);
    w->k = numbers(m, a->Hkv, a->Tk, a->dh);
    w->v = numbers(m, a->Hkv, a->Tk, a->dv);
    w->context = numbers(m, a->H, a->Tq, a->dv);
    w->out = numbers(m, a->Tq, a->out, 1);
    w->part = numbers(m, larger(a->dv, a->out), 1, 1);
    w->dots = numbers(m, w->heads, w->rows, band);
    w->scores = numbers(m, w->heads, w->rows, band);
    w->pattern = numbers(m, w->heads, w->rows, band);
    w->norms = numbers(m, w->heads, w->rows, wants(w, ATTN_ACT_NORMS) ? band : 0);
    w->size = numbers(m, a->H, wants(w, ATTN_ACT_NORMS) ? a->Tk : 0, 1);
    w->rows_of[0] = numbers(m, a->Tq, a->d, 1);
    w->rows_of[1] = numbers(m, a->Tk, a->d, 1);
    w->seen = attn_arena_bytes(m, a->Tk, sizeof *w->seen);
    w->list = attn_arena_bytes(m, positions, sizeof *w->list);
    w->swaps = attn_arena_bytes(m, positions, sizeof *w->swaps);
    size_t rows = larger(a->Tq, a->Tk), wide = larger(larger(a->dh, a->dv), 1);
    size_t most = larger(rows * larger(a->H * wide, larger(a->d, a->out)), w->heads * w->rows * band);
    w->rounded = attn_arena_f32(m, most, 1, 1);
}

/* ---- announcing ---- */

/* A number beyond float32 becomes its largest: who rounds draws pictures. */
static float rounded(double x)
{
    const double most = 0x1.fffffep127;
    return !isfinite(x) ? (float)x : (float)fmax(-most, fmin(x, most));
}

static void announce(struct work *w, struct attn_probe band, const double *x)
{
    if (!attn_trace_wants(&w->trace, band.act, band.layer, ATTN_WATCH))
        return;
    for (size_t i = 0; i < band.heads * band.rows * band.cols; i++)
        w->rounded[i] = rounded(x[i]);
    band.f64 = x;
    band.ld = band.cols;
    band.ld_head = band.rows * band.cols;
    attn_trace_announce(&w->trace, &band, w->rounded);
}

/* An array without heads. */
static void announce_rows(struct work *w, int act, size_t seq, const double *x, size_t rows, size_t cols)
{
    announce(w, (struct attn_probe){.act = act, .layer = attn_act_per_layer(act) ? 0 : -1, .seq = seq, .ndim = 2,
                                    .shape = {rows, cols}, .heads = 1, .rows = rows, .cols = cols}, x);
}

static void announce_heads(struct work *w, int act, size_t seq, const double *x, size_t heads, size_t rows,
                           size_t cols)
{
    announce(w, (struct attn_probe){.act = act, .seq = seq, .ndim = 3, .shape = {heads, rows, cols}, .heads = heads,
                                    .rows = rows, .cols = cols}, x);
}

/* ---- what is given, and its products with weights ---- */

static double at(const struct attn_attend_view *v, size_t head, size_t row, size_t col)
{
    return v->x[head * v->next_head + row * v->next_row + col * v->next_col];
}

struct attn_f64_weight attn_attend_weight(const struct attn_attend *a, int input, size_t head)
{
    const int added = input == ATTN_ATTEND_WO ? ATTN_ATTEND_BO : ATTN_ATTEND_BQ + (input - ATTN_ATTEND_WQ);
    const struct attn_attend_view *w = &a->view[input], *b = &a->view[added];
    return (struct attn_f64_weight){.x = w->x ? w->x + head * w->next_head : NULL,
                                    .b = b->x ? b->x + head * b->next_head : NULL,
                                    .in = w->rows, .out = w->cols, .next_in = w->next_row, .next_out = w->next_col};
}

/* Queries, keys or values: those given, or made of the rows of a text. */
static void make_vectors(const struct attn_attend *a, double *to, int given, int weight, const double *rows,
                         size_t heads, size_t T, size_t n)
{
    for (size_t h = 0; h < heads; h++) {
        const struct attn_f64_weight w = attn_attend_weight(a, weight, h);
        for (size_t t = 0; t < T; t++, to += n)
            if (a->view[given].x)
                for (size_t j = 0; j < n; j++)
                    to[j] = at(&a->view[given], h, t, j);
            else if (w.x)
                attn_f64_project(to, rows + t * a->d, &w);
    }
}

static void read_rows(const struct work *w)
{
    const struct attn_attend *a = w->a;
    for (int input = ATTN_ATTEND_X; input <= ATTN_ATTEND_CROSS; input++)
        for (size_t t = 0; a->view[input].x && t < a->view[input].rows; t++)
            for (size_t j = 0; j < a->d; j++)
                w->rows_of[input - ATTN_ATTEND_X][t * a->d + j] = at(&a->view[input], 0, t, j);
}

/* Those of another text have sentence 1 for their rows of x, too. */
static void make_all(struct work *w)
{
    const struct attn_attend *a = w->a;
    const bool other = a->view[ATTN_ATTEND_CROSS].x;
    const double *x = a->view[ATTN_ATTEND_X].x ? w->rows_of[0] : NULL, *y = other ? w->rows_of[1] : x;
    read_rows(w);
    make_vectors(a, w->q, ATTN_ATTEND_Q, ATTN_ATTEND_WQ, x, a->H, a->Tq, a->dh);
    make_vectors(a, w->k, ATTN_ATTEND_K, ATTN_ATTEND_WK, y, a->Hkv, a->Tk, a->dh);
    make_vectors(a, w->v, ATTN_ATTEND_V, ATTN_ATTEND_WV, y, a->Hkv, a->Tk, a->dv);
    for (int act = ATTN_ACT_EMBED; act <= ATTN_ACT_RESID_PRE; act++) {
        if (x)
            announce_rows(w, act, 0, x, a->Tq, a->d);
        if (other)
            announce_rows(w, act, 1, y, a->Tk, a->d);
    }
    announce_heads(w, ATTN_ACT_Q, 0, w->q, a->H, a->Tq, a->dh);
    announce_heads(w, ATTN_ACT_K, a->cross, w->k, a->Hkv, a->Tk, a->dh);
    announce_heads(w, ATTN_ACT_V, a->cross, w->v, a->Hkv, a->Tk, a->dv);
}

/* ---- one query ---- */

/* Which keys the query sees, by the kind of attention and what is given. */
static void look(struct work *w, size_t h, size_t q)
{
    double add;
    memset(w->seen, 0, w->a->Tk * sizeof *w->seen);
    attn_kind_mark(w->seen, w->list, w->swaps, &w->kind, q, w->a->Tk);
    for (size_t k = 0; k < w->a->Tk; k++)
        w->seen[k] &= attn_attend_sees(w->a, h, q, k, &add);
}

static int beyond(struct work *w, size_t h, size_t q)
{
    return attn_fail(w->err, ATTN_EFORMAT, "query %zu of head %zu: a dot product is larger than double precision holds",
                     q, h);
}

/* Causal-renorm hides keys only after the softmax. */
static int score(struct work *w, double *dots, double *scores, size_t h, size_t q)
{
    const struct attn_attend *a = w->a;
    const struct attn_attend_view *given = &a->view[ATTN_ATTEND_DOTS], *s = &a->view[ATTN_ATTEND_SCORES];
    const double *query = w->q + (h * a->Tq + q) * a->dh, *keys = w->k + h / (a->H / a->Hkv) * a->Tk * a->dh;
    double add;
    if (a->dotted && !given->x)
        attn_f64_dots(dots, query, keys, a->Tk, a->dh);
    for (size_t k = 0; given->x && k < a->Tk; k++)
        dots[k] = at(given, h, q, k);
    for (size_t k = 0; a->dotted && k < a->Tk; k++)
        if (!isfinite(dots[k]))
            return beyond(w, h, q);
    if (a->dotted)
        attn_f64_scores(scores, dots, w->scale, a->cap, a->Tk);
    for (size_t k = 0; k < a->Tk; k++) {
        scores[k] = s->x ? at(s, h, q, k) : scores[k];
        bool hidden = !attn_attend_sees(a, h, q, k, &add) || (w->kind.form != ATTN_CAUSAL_RENORM && !w->seen[k]);
        scores[k] = hidden && !a->late ? -INFINITY : scores[k] + add;
    }
    return ATTN_OK;
}

static int weigh(struct work *w, double *pattern, const double *scores, size_t h, size_t q)
{
    const struct attn_attend *a = w->a;
    const struct attn_head_drop drop = attn_kind_drop(&w->kind, 0, h);
    const bool renorm = w->kind.form == ATTN_CAUSAL_RENORM;
    if (w->kind.form == ATTN_LINEAR)
        attn_f64_linear(pattern, w->q + (h * a->Tq + q) * a->dh, w->k + h / (a->H / a->Hkv) * a->Tk * a->dh, w->seen,
                        a->Tk, a->dh);
    else if (!attn_f64_weights(pattern, scores, a->weights, a->Tk))
        return attn_fail(w->err, ATTN_EFORMAT, "query %zu of head %zu: its scores add up to 0, so that there is "
                                               "nothing to divide them by", q, h);
    if (renorm || a->late)
        attn_f64_keep(pattern, w->seen, renorm, a->Tk);
    attn_drop_f64(&drop, pattern, q, a->Tk);
    return ATTN_OK;
}

static int attend_query(struct work *w, size_t h, size_t q, size_t row)
{
    const struct attn_attend *a = w->a;
    double *dots = w->dots + row * a->Tk, *scores = w->scores + row * a->Tk, *pattern = w->pattern + row * a->Tk;
    look(w, h, q);
    int rc = w->kind.form == ATTN_LINEAR ? ATTN_OK : score(w, dots, scores, h, q);
    if (!rc)
        rc = weigh(w, pattern, scores, h, q);
    if (!rc && a->valued)
        attn_f64_mix(w->context + (q * a->H + h) * a->dv, pattern, w->v + h / (a->H / a->Hkv) * a->Tk * a->dv, a->Tk,
                     a->dv);
    for (size_t k = 0; !rc && wants(w, ATTN_ACT_NORMS) && k < a->Tk; k++)
        w->norms[row * a->Tk + k] = pattern[k] * w->size[h * a->Tk + k];
    return rc;
}

/* ---- all queries ---- */

/* The weights of the output that a head's context is multiplied with. */
static struct attn_f64_weight output_of(const struct attn_attend *a, size_t h)
{
    struct attn_f64_weight w = attn_attend_weight(a, ATTN_ATTEND_WO, 0);
    w.in = a->dv;
    w.b = NULL;
    w.x += h * a->dv * w.next_in;
    return w;
}

static void measure_values(struct work *w)
{
    const struct attn_attend *a = w->a;
    for (size_t i = 0; wants(w, ATTN_ACT_NORMS) && i < a->H * a->Tk; i++) {
        const double *added = w->v + (i / a->Tk / (a->H / a->Hkv) * a->Tk + i % a->Tk) * a->dv;
        double sum = 0;
        if (a->out) {
            const struct attn_f64_weight of = output_of(a, i / a->Tk);
            attn_f64_project(w->part, added, &of);
            added = w->part;
        }
        for (size_t j = 0; j < (a->out ? a->out : a->dv); j++)
            sum += added[j] * added[j];
        w->size[i] = sqrt(sum);
    }
}

static int attend_band(struct work *w, size_t head0, size_t row0, size_t rows)
{
    const struct attn_attend *a = w->a;
    const struct { int act; const double *x; } steps[] = {{ATTN_ACT_DOTS, w->dots}, {ATTN_ACT_SCORES, w->scores},
                                                          {ATTN_ACT_PATTERN, w->pattern}, {ATTN_ACT_NORMS, w->norms}};
    for (size_t i = 0; i < w->heads * rows; i++)
        if (attend_query(w, head0 + i / rows, row0 + i % rows, i))
            return w->err->code;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        announce(w, (struct attn_probe){.act = steps[i].act, .ndim = 3, .shape = {a->H, a->Tq, a->Tk}, .head0 = head0,
                                        .heads = w->heads, .row0 = row0, .rows = rows, .cols = a->Tk}, steps[i].x);
    return w->trace.err.code ? attn_fail_as(w->err, &w->trace.err) : ATTN_OK;
}

static int attend_all(struct work *w)
{
    const struct attn_attend *a = w->a;
    int rc = ATTN_OK;
    make_all(w);
    measure_values(w);
    for (size_t h = 0; a->scored && h < a->H && !rc; h += w->heads)
        for (size_t q = 0; q < a->Tq && !rc; q += w->rows)
            rc = attend_band(w, h, q, smaller(w->rows, a->Tq - q));
    if (rc || !a->scored || !a->valued)
        return rc ? rc : w->trace.err.code ? attn_fail_as(w->err, &w->trace.err) : ATTN_OK;
    announce_rows(w, ATTN_ACT_CONTEXT, 0, w->context, a->Tq, a->H * a->dv);
    const struct attn_f64_weight output = attn_attend_weight(a, ATTN_ATTEND_WO, 0);
    for (size_t q = 0; a->out && q < a->Tq; q++)
        attn_f64_project(w->out + q * a->out, w->context + q * a->H * a->dv, &output);
    if (a->out)
        announce_rows(w, ATTN_ACT_OUT, 0, w->out, a->Tq, a->out);
    return w->trace.err.code ? attn_fail_as(w->err, &w->trace.err) : ATTN_OK;
}

/* ---- planning ---- */

static int ask(struct work *w, const struct attn_observer *obs, size_t n_obs)
{
    const struct attn_hook_points hooks = attn_model_hook_points(w->a->model, &w->kind);
    bool whole = false;
    w->trace = (struct attn_trace){.obs = obs, .n_obs = n_obs, .L = 1,
                                   .want = calloc(n_obs + 1, attn_act_slots(1) * sizeof *w->trace.want)};
    if (!w->trace.want)
        return attn_no_memory(w->err, NULL, "for %zu observers", n_obs);
    attn_trace_ask(&w->trace, &hooks, 0);
    for (int act = 0; act < ATTN_ACTS; act++) {
        const int layer = attn_act_per_layer(act) ? 0 : -1;
        if (attn_trace_wants(&w->trace, act, layer, ATTN_EDIT))
            return attn_fail(w->err, ATTN_EUSAGE, "numbers that are given are not edited: give others");
        whole |= attn_act_alternates(act) && attn_trace_wants(&w->trace, act, layer, ATTN_WHOLE);
    }
    w->heads = whole ? w->a->H : 1;
    w->rows = whole ? w->a->Tq : smaller(BAND, w->a->Tq);
    return ATTN_OK;
}

int attn_attend_run(const struct attn_attend *a, const struct attn_plan *plan, const struct attn_tokens *tokens,
                    const struct attn_tokens *cross, const struct attn_observer *obs, size_t n_obs,
                    struct attn_err *err)
{
    struct attn_arena memory = {0};
    struct work w = {.a = a, .kind = attn_kind_in(&plan->kind, a->causal, 0),
                     .scale = attn_kind_scale_f64(&plan->kind, 1 / sqrt((double)a->dh), a->dh), .err = err};
    if (tokens->n != a->Tq || (cross ? cross->n : tokens->n) != a->Tk || a->cross != (cross != NULL))
        return attn_fail(err, ATTN_EUSAGE, "there are numbers of %zu queries and %zu keys: run the tokens that belong "
                                           "to them", a->Tq, a->Tk);
    int rc = attn_kind_check(&plan->kind, err);
    if (!rc)
        rc = ask(&w, obs, n_obs);
    for (int walk = 0; walk < 2 && !rc; walk++) {       /* first counts memory, then divides it */
        lay_out(&memory, &w);
        if (walk == 0)
            rc = attn_arena_make(&memory, err);
    }
    if (!rc)
        rc = attend_all(&w);
    attn_arena_free(&memory);
    free(w.trace.want);
    return rc;
}
