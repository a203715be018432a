#include "compare/other_forms.h"
#include "compare/rounding.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

#define BIT(act) (1u << (act))

enum { FEWEST = 4 };                    /* rows that two numbers for each column cannot explain by chance */

/* Which form an activation may have, and what reads it, in its layer. */
static const struct { unsigned acts; enum attn_form_kind form; unsigned readers; } known[] = {
    {BIT(ATTN_ACT_NORM1), ATTN_FORM_FOLDED, BIT(ATTN_ACT_Q) | BIT(ATTN_ACT_K) | BIT(ATTN_ACT_V) | BIT(ATTN_ACT_DOTS) |
     BIT(ATTN_ACT_SCORES) | BIT(ATTN_ACT_PATTERN)},
    {BIT(ATTN_ACT_NORM2), ATTN_FORM_FOLDED, BIT(ATTN_ACT_MLP_PRE) | BIT(ATTN_ACT_MLP_LINEAR) | BIT(ATTN_ACT_MLP_POST) |
     BIT(ATTN_ACT_MLP_OUT)},
    {BIT(ATTN_ACT_NORM_FINAL), ATTN_FORM_FOLDED, BIT(ATTN_ACT_LOGITS)},
    {BIT(ATTN_ACT_V) | BIT(ATTN_ACT_CONTEXT), ATTN_FORM_MOVED, BIT(ATTN_ACT_OUT) | BIT(ATTN_ACT_ADDED) |
     BIT(ATTN_ACT_RESID_MID) | BIT(ATTN_ACT_RESID_POST)},
    {BIT(ATTN_ACT_EMBED) | BIT(ATTN_ACT_POS_EMBED) | BIT(ATTN_ACT_RESID_PRE) | BIT(ATTN_ACT_RESID_MID) |
     BIT(ATTN_ACT_RESID_POST) | BIT(ATTN_ACT_OUT) | BIT(ATTN_ACT_ADDED) | BIT(ATTN_ACT_MLP_OUT) |
     BIT(ATTN_ACT_MLP_ADDED), ATTN_FORM_CENTRED, 0},
    {BIT(ATTN_ACT_LOGITS), ATTN_FORM_SHIFTED, 0},
    {BIT(ATTN_ACT_SCORES), ATTN_FORM_MASK, 0},
};
enum { KNOWN = sizeof known / sizeof *known };

static size_t kind_of(int act)
{
    size_t i = 0;
    while (i < KNOWN && (act < 0 || act >= ATTN_ACT_DERIVED || !(known[i].acts & BIT(act))))
        i++;
    return i;
}

/* ---- numbers in a form ----------------------------------------------------------------- */

static const float *row_of(const struct attn_pair *p, int side, size_t h, size_t t)
{
    return (side ? p->b : p->a) + h * p->ld_head + t * p->ld;
}

static double mean(const float *x, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += (double)x[j];
    return n ? sum / (double)n : 0;
}

static double root_mean_square(const float *x, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += (double)x[j] * (double)x[j];
    return n ? sqrt(sum / (double)n) : 0;
}

static void shift_row(float *out, const float *x, size_t n, double by)
{
    for (size_t j = 0; j < n; j++)
        out[j] = (float)((double)x[j] + by);
}

/* A column of one side times a number, plus another: those that come nearest to the other side. */
struct line { double times, plus; };

static struct line fit_column(const struct attn_pair *p, int side, size_t h, size_t j, bool stretch)
{
    double T = (double)p->T, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t t = 0; t < p->T; t++) {
        x += (double)row_of(p, side, h, t)[j] / T;
        y += (double)row_of(p, !side, h, t)[j] / T;
    }
    for (size_t t = 0; t < p->T; t++) {
        double u = (double)row_of(p, side, h, t)[j] - x;
        xx += u * u;
        xy += u * ((double)row_of(p, !side, h, t)[j] - y);
    }
    double times = !stretch ? 1 : xx > 0 ? xy / xx : 0;
    return (struct line){times, y - times * x};
}

static void fit_columns(float *out, const struct attn_pair *p, int side, bool stretch)
{
    for (size_t h = 0; h < p->H; h++)
        for (size_t j = 0; j < p->n; j++) {
            struct line by = fit_column(p, side, h, j, stretch);
            for (size_t t = 0; t < p->T; t++)
                out[(h * p->T + t) * p->n + j] = (float)(by.times * (double)row_of(p, side, h, t)[j] + by.plus);
        }
}

/* Softmax gives exactly 0 to what is so far below the largest score, and no dot is as low as what stands for -inf. */
static bool is_hidden(float x, double most)
{
    const double no_dot = -9e3, vanishes = 104;
    return (double)x < no_dot && most - (double)x > vanishes;
}

static double largest(const float *x, size_t n)
{
    double most = -HUGE_VAL;
    for (size_t k = 0; k < n; k++)
        most = (double)x[k] > most ? (double)x[k] : most;
    return most;
}

void attn_form_numbers(float *out, const struct attn_pair *p, const struct attn_match *m, int side)
{
    if (m->form == ATTN_FORM_MOVED || m->form == ATTN_FORM_FOLDED) {
        fit_columns(out, p, side, m->form == ATTN_FORM_FOLDED);
        return;
    }
    for (size_t i = 0; i < p->H * p->T; i++) {
        const float *x = row_of(p, side, i / p->T, i % p->T), *y = row_of(p, !side, i / p->T, i % p->T);
        double most = m->form == ATTN_FORM_MASK ? largest(x, p->n) : 0;
        if (m->form == ATTN_FORM_CENTRED)
            shift_row(out + i * p->n, x, p->n, -mean(x, p->n));
        else if (m->form == ATTN_FORM_SHIFTED)
            shift_row(out + i * p->n, x, p->n, mean(y, p->n) - mean(x, p->n));
        else
            for (size_t k = 0; k < p->n; k++)
                out[i * p->n + k] = is_hidden(x[k], most) ? -INFINITY : x[k];
    }
}

/* ---- what numbers look like ------------------------------------------------------------ */

/* Whether the form explains what differs. */
static bool explains(const struct attn_diff *d, const struct attn_diff_row *row, struct attn_match *m,
                     enum attn_form_kind form, int side)
{
    struct attn_pair before, after;
    struct attn_match old = *m;
    bool found = attn_diff_pair(d, row->act, row->layer, &before);
    m->form = form;
    m->formed = side;
    found = found && attn_diff_pair(d, row->act, row->layer, &after) &&
            attn_gap_explained(attn_pair_gap(&after), attn_pair_gap(&before));
    *m = old;
    return found;
}

/* Whether no row of a side has a mean, though it has numbers. */
static bool is_centred(const struct attn_pair *p, int side)
{
    const double rounding = 1e-3;       /* of numbers of 16 bits, too */
    for (size_t i = 0; i < p->H * p->T; i++) {
        const float *x = row_of(p, side, i / p->T, i % p->T);
        double rms = root_mean_square(x, p->n);
        if (!(rms > 0 && fabs(mean(x, p->n)) <= rounding * rms))
            return false;
    }
    return p->n > 1;
}

/* Whether every row of a side has a mean square of 1, but for an epsilon: such a norm has no weight. */
static bool is_bare(const struct attn_pair *p, int side)
{
    for (size_t i = 0; i < p->H * p->T; i++) {
        double rms = root_mean_square(row_of(p, side, i / p->T, i % p->T), p->n);
        if (!(rms * rms > 0.9 && rms * rms < 1.002))
            return false;
    }
    return true;
}

static bool has_hidden(const struct attn_pair *p, int side)
{
    for (size_t i = 0; i < p->H * p->T; i++) {
        const float *x = row_of(p, side, i / p->T, i % p->T);
        double most = largest(x, p->n);
        for (size_t k = 0; k < p->n; k++)
            if (isfinite(x[k]) && is_hidden(x[k], most))
                return true;
    }
    return false;
}

static double size_of(const struct attn_pair *p, int side)
{
    double sum = 0;
    for (size_t i = 0; i < p->H * p->T; i++)
        sum += root_mean_square(row_of(p, side, i / p->T, i % p->T), p->n);
    return sum;
}

static bool is_finite(const struct attn_pair *p)
{
    for (size_t i = 0; i < p->H * p->T; i++)
        for (size_t j = 0; j < p->n; j++)
            if (!isfinite(row_of(p, 0, i / p->T, i % p->T)[j]) || !isfinite(row_of(p, 1, i / p->T, i % p->T)[j]))
                return false;
    return true;
}

/* ---- candidates ------------------------------------------------------------------------ */

static void take(struct attn_match *m, enum attn_form_kind form, int side)
{
    m->form = form;
    m->formed = side;
}

/* A name may say that the array is taken before the weight (naming.h); then the fit need not be good. */
static void try_folded(const struct attn_diff *d, const struct attn_diff_row *row, struct attn_match *m,
                       const struct attn_pair *p)
{
    bool said = m->perhaps_bare[0] != m->perhaps_bare[1];
    bool bare[2] = {is_bare(p, 0), is_bare(p, 1)};
    for (int side = 0; side < 2; side++) {
        bool likely = said ? m->perhaps_bare[side] : bare[side] && !bare[!side];
        bool fits = p->T >= FEWEST && likely && explains(d, row, m, ATTN_FORM_FOLDED, side);
        if (fits || (said && likely && bare[side])) {
            take(m, ATTN_FORM_FOLDED, side);
            return;
        }
    }
}

/* The mean of a row that the form takes away says on which side it was taken away already. */
static void try_centred(const struct attn_diff *d, const struct attn_diff_row *row, struct attn_match *m,
                        const struct attn_pair *p)
{
    bool a = is_centred(p, 0), b = is_centred(p, 1);
    if (a != b || (!a && explains(d, row, m, ATTN_FORM_CENTRED, 0)))
        take(m, ATTN_FORM_CENTRED, b);
}

static void try_form(const struct attn_diff *d, const struct attn_diff_row *row, struct attn_match *m)
{
    struct attn_pair p;
    size_t kind = kind_of(row->act);
    if (kind == KNOWN || (row->kind != ATTN_DIFF_NUMBERS && !row->beyond) ||
        !attn_diff_pair(d, row->act, row->layer, &p) || !p.n)
        return;
    enum attn_form_kind form = known[kind].form;
    if (form != ATTN_FORM_MASK && !is_finite(&p))
        return;
    int smaller = size_of(&p, 1) < size_of(&p, 0);      /* less a bias, less a number */
    if (form == ATTN_FORM_FOLDED)
        try_folded(d, row, m, &p);
    else if (form == ATTN_FORM_CENTRED)
        try_centred(d, row, m, &p);
    else if (form == ATTN_FORM_MASK && (has_hidden(&p, 0) || has_hidden(&p, 1)))
        take(m, form, !has_hidden(&p, 0));
    else if (form != ATTN_FORM_MASK && (form != ATTN_FORM_MOVED || p.T >= FEWEST) && explains(d, row, m, form, smaller))
        take(m, form, smaller);
}

/* ---- what speaks for them -------------------------------------------------------------- */

/* Whether a row was compared and is one of these activations. */
static bool is_one_of(const struct attn_diff_row *row, unsigned acts)
{
    return row->kind <= ATTN_DIFF_NUMBERS && row->act >= 0 && row->act < ATTN_ACT_DERIVED && (acts & BIT(row->act));
}

enum verdict { NOT_READ, READ_ALIKE, READ_OTHERWISE };

/* Whether any of these activations of a layer agrees; outside the blocks all readers are there, too. */
static enum verdict readers_of(const struct attn_diff *d, unsigned readers, int layer)
{
    enum verdict found = NOT_READ;
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_diff_row *row = &d->row[i];
        bool reads = is_one_of(row, readers) && row->layer == layer;
        if (reads && !row->beyond)
            return READ_ALIKE;
        found = reads ? READ_OTHERWISE : found;
    }
    return found;
}

/* Whether the norm that reads the stream is a LayerNorm, by its numbers on either side. */
static bool by_layer_norm(const struct attn_diff *d, int layer)
{
    struct attn_pair x, y;
    struct attn_norm_fit fit;
    bool has = attn_diff_pair(d, ATTN_ACT_RESID_PRE, layer, &x) && attn_diff_pair(d, ATTN_ACT_NORM1, layer, &y) &&
               x.H == 1 && y.H == 1 && x.T == y.T && x.n == y.n;
    return has && attn_fit_norm(&fit, x.b, y.b, x.T, x.n) && fit.kind == ATTN_FIT_LAYER &&
           attn_gap_explained(fit.gap, 1);
}

/* What reads the first stream that is centred shows whether its mean counts. */
static bool mean_is_lost(const struct attn_diff *d)
{
    const unsigned readers = BIT(ATTN_ACT_NORM1) | BIT(ATTN_ACT_Q) | BIT(ATTN_ACT_K) | BIT(ATTN_ACT_V) |
                             BIT(ATTN_ACT_DOTS) | BIT(ATTN_ACT_PATTERN) | BIT(ATTN_ACT_NORM2) |
                             BIT(ATTN_ACT_MLP_PRE) | BIT(ATTN_ACT_NORM_FINAL) | BIT(ATTN_ACT_LOGITS);
    size_t i = 0;
    while (i < d->n && d->matches.item[i].form != ATTN_FORM_CENTRED)
        i++;
    for (; i < d->n; i++) {
        const struct attn_diff_row *row = &d->row[i];
        if (is_one_of(row, readers))
            return readers_of(d, readers, row->layer) == READ_ALIKE || by_layer_norm(d, row->layer);
    }
    return true;
}

/* Whether weights of a side were prepared, so that moved biases are to be expected. */
static bool is_prepared(const struct attn_diff *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_match *m = &d->matches.item[i];
        if (m->form == ATTN_FORM_CENTRED || (m->form == ATTN_FORM_FOLDED && m->perhaps_bare[m->formed]))
            return true;
    }
    return false;
}

/* Values less their bias give contexts less it: where these have it, it was left out of the values alone. */
static bool moves_alone(const struct attn_diff *d, const struct attn_match *m)
{
    size_t i = attn_matches_find(&d->matches, ATTN_ACT_CONTEXT, m->layer);
    const struct attn_match *other = i < d->n ? &d->matches.item[i] : NULL;
    bool there = other && is_one_of(&d->row[i], BIT(ATTN_ACT_CONTEXT)) && other->layer == m->layer;
    return m->form == ATTN_FORM_MOVED && m->act == ATTN_ACT_V && there && !other->form && !d->row[i].beyond;
}

static bool holds(const struct attn_diff *d, size_t i, bool prepared)
{
    const struct attn_match *m = &d->matches.item[i];
    if (moves_alone(d, m))
        return false;
    size_t kind = kind_of(d->row[i].act);
    if (kind == KNOWN || !known[kind].readers || (m->form == ATTN_FORM_FOLDED && m->perhaps_bare[m->formed]) ||
        (m->form == ATTN_FORM_MOVED && prepared))
        return true;
    return readers_of(d, known[kind].readers, d->row[i].layer) == READ_ALIKE;
}

/* ---- all of them ----------------------------------------------------------------------- */

static int judge_again(struct attn_diff *d, struct attn_err *err)
{
    return attn_rounding_judge(d) ? ATTN_OK : attn_no_memory(err, NULL, "to judge what differs");
}

/* Compares a row in its form, or again without one. */
static void compare_again(struct attn_diff *d, size_t i)
{
    attn_diff_measure(d, &d->row[i]);
    attn_diff_forget_moved(d);
}

/* Drops what does not hold; returns how many were dropped. */
static size_t drop(struct attn_diff *d)
{
    size_t dropped = 0;
    bool lost = mean_is_lost(d);
    for (int centred = 1; centred >= 0; centred--) {    /* whether weights were prepared depends on these */
        bool prepared = is_prepared(d);
        for (size_t i = 0; i < d->n; i++) {
            struct attn_match *m = &d->matches.item[i];
            if (!m->form || (m->form == ATTN_FORM_CENTRED) != centred || (centred ? lost : holds(d, i, prepared)))
                continue;
            m->form = ATTN_FORM_NONE;
            compare_again(d, i);
            dropped++;
        }
    }
    return dropped;
}

int attn_forms_find(struct attn_diff *d, struct attn_err *err)
{
    size_t found = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct attn_match *m = &d->matches.item[i];
        if (m->side[0] && m->side[1])
            try_form(d, &d->row[i], m);
        attn_diff_forget_moved(d);
        if (m->form)
            compare_again(d, i);
        found += m->form != ATTN_FORM_NONE;
    }
    int rc = found ? judge_again(d, err) : ATTN_OK;
    return !rc && found && drop(d) ? judge_again(d, err) : rc;
}
