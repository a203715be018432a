/* weight.c - the steps from a query and a key to a weight. */
#include "explain/explain.h"

#include "explain/formulas.h"

#include <math.h>

static const float *row_of(const struct attn_explainer *e, int act)
{
    return attn_worked_row(e->w, act, e->w->query);
}

static int digits_of(const struct attn_explainer *e, int act)
{
    return attn_worked_digits(e->w, act, e->precision);
}

static struct attn_number of_key(const struct attn_explainer *e, int act)
{
    return (struct attn_number){(double)row_of(e, act)[e->w->key], digits_of(e, act)};
}

/* ---- the dot product ------------------------------------------------------------------- */

/* q[c] k[c]; the gap holds the sum of what is left out, the last column all of it. */
static void products(struct attn_explainer *e, const float *q, const float *k, size_t n)
{
    double left = 0;
    for (size_t c = 0; c < n; c++)
        if (attn_explain_showing(e, n, c) != ATTN_SHOWN)
            left += (double)q[c] * (double)k[c];
    for (size_t c = 0; c < n; c++) {
        enum attn_showing s = attn_explain_showing(e, n, c);
        if (s == ATTN_PASSED)
            continue;
        struct attn_number x = attn_explain_number(e, s == ATTN_GAP ? left : (double)q[c] * (double)k[c]);
        attn_derive_number(&e->d, x.x, x.digits);
    }
}

static void dot_table(struct attn_explainer *e, const float *q, const float *k, size_t n)
{
    struct attn_number dot = of_key(e, ATTN_ACT_DOTS);
    attn_derive_table(&e->d, attn_explain_cells(e, n) + 2);
    attn_explain_columns(e, n, "c");
    attn_derive_cell(&e->d, "sum");
    attn_derive_cell(&e->d, "q");
    attn_explain_row(e, q, n, digits_of(e, ATTN_ACT_Q));
    attn_derive_blanks(&e->d, 1);
    attn_derive_cell(&e->d, "k");
    attn_explain_row(e, k, n, digits_of(e, ATTN_ACT_K));
    attn_derive_blanks(&e->d, 1);
    attn_derive_cell(&e->d, "q·k");
    products(e, q, k, n);
    attn_derive_number(&e->d, dot.x, dot.digits);
    attn_derive_strong(&e->d, 1);
}

void attn_explain_dot(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    char query_name[ATTN_TOKEN_NAME], key_name[ATTN_TOKEN_NAME];
    size_t dh = w->model->w.n.dh, left = attn_explain_left_out(e, dh);
    attn_derive_step(&e->d, "The dot product");
    attn_derive_words(&e->d, "How well the key of %s answers the query of %s: their numbers are multiplied one by "
                      "one and added up.",
                      attn_explain_token(key_name, &key), attn_explain_token(query_name, &query));
    attn_derive_formula(&e->d, &attn_formula_dot);
    dot_table(e, row_of(e, ATTN_ACT_Q), attn_worked_row(w, ATTN_ACT_K, w->key), dh);
    if (left)
        attn_derive_words(&e->d, "Below … stands the sum of the %zu products that are left out.", left);
}

/* ---- scale and mask -------------------------------------------------------------------- */

static void scale_words(struct attn_explainer *e)
{
    const struct attn_config *c = &e->w->model->config;
    if (c->scale)
        attn_derive_words(&e->d, "Long vectors have large dot products.  So that the softmax does not depend on "
                          "their length, each is divided by √d_head = √%zu: a multiplication by the scale 1/√%zu.", c->dh, c->dh);
    else
        attn_derive_words(&e->d, "This model does not divide by √d_head.");
    if (c->scale_by_layer)
        attn_derive_words(&e->d, "The scale is divided by %zu besides, the number of the layer counted from 1.", e->w->layer + 1);
}

void attn_explain_scale(struct attn_explainer *e)
{
    float scale = e->w->model->w.block[e->w->layer].scale;
    struct attn_number dot = of_key(e, ATTN_ACT_DOTS);
    attn_derive_step(&e->d, "The scale");
    scale_words(e);
    if (scale == 1) {
        attn_derive_words(&e->d, "The scale is 1: the dot product stays as it is.");
        return;
    }
    attn_derive_sum(&e->d, (struct attn_number){(double)((float)dot.x * scale), digits_of(e, ATTN_ACT_SCORES)}, "scaled");
    attn_derive_term(&e->d, ATTN_TERM_PRODUCT, dot, attn_explain_number(e, (double)scale));
}

static void mask_words(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    if (attn_worked_cross(w))
        attn_derive_words(&e->d, "There is no mask: every token may look at every token of the other text.");
    else if (!w->causal)
        attn_derive_words(&e->d, "There is no mask: every token may look at every other.");
    else if (w->window)
        attn_derive_words(&e->d, "A token may look at itself and the %zu before it: this layer has a window of %zu "
                          "keys.", w->window - 1,
                          w->window);
    else
        attn_derive_words(&e->d, "A token may look at itself and what is before it, never at what follows (a "
                          "causal mask).");
}

void attn_explain_mask(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct attn_range sees = attn_worked_sees(w);
    struct attn_number score = of_key(e, ATTN_ACT_SCORES);
    attn_derive_step(&e->d, "The mask");
    mask_words(e);
    if (w->key >= sees.hi)
        attn_derive_words(&e->d, "Key %zu comes after query %zu: it is hidden, its score is -inf and its weight "
                          "will be exactly 0, whatever the dot product was.", w->key, w->query);
    else if (w->key < sees.lo)
        attn_derive_words(&e->d, "Key %zu is %zu tokens before query %zu, outside the window: it is hidden, its "
                          "score is -inf and its weight will be exactly 0, whatever the dot product was.",
                          w->key, w->query - w->key, w->query);
    else if (w->causal)
        attn_derive_words(&e->d, "Query %zu sees keys %zu to %zu, key %zu among them: its score stays as it is.", w->query, sees.lo,
                          sees.hi - 1, w->key);
    attn_derive_sum(&e->d, score, "score");
}

/* ---- softmax --------------------------------------------------------------------------- */

struct softmax { const float *score, *weight; double largest, sum; struct attn_range sees; };

/* The exponentials are not announced: they are taken here of the run's scores. */
static double exponential(const struct softmax *s, size_t j)
{
    return exp((double)s->score[j] - s->largest);
}

static struct softmax softmax_of(const struct attn_explainer *e)
{
    struct softmax s = {.score = row_of(e, ATTN_ACT_SCORES), .weight = row_of(e, ATTN_ACT_PATTERN), .largest = -INFINITY,
                        .sees = attn_worked_sees(e->w)};
    for (size_t j = s.sees.lo; j < s.sees.hi; j++)
        s.largest = fmax(s.largest, (double)s.score[j]);
    for (size_t j = s.sees.lo; j < s.sees.hi; j++)
        s.sum += exponential(&s, j);
    return s;
}

static void softmax_row(struct attn_explainer *e, const struct softmax *s, size_t j)
{
    attn_explain_token_cell(e, &e->w->keys->tok[j]);
    attn_derive_cell(&e->d, "%zu", j);
    attn_derive_number(&e->d, (double)row_of(e, ATTN_ACT_DOTS)[j], digits_of(e, ATTN_ACT_DOTS));
    attn_derive_number(&e->d, (double)s->score[j], digits_of(e, ATTN_ACT_SCORES));
    attn_derive_number(&e->d, (double)s->score[j] - s->largest, e->precision);
    attn_derive_number(&e->d, exponential(s, j), e->precision);
    attn_derive_number(&e->d, (double)s->weight[j], digits_of(e, ATTN_ACT_PATTERN));
    if (j == e->w->key)
        attn_derive_strong(&e->d, 7);
}

static void softmax_gap(struct attn_explainer *e, const struct softmax *s, size_t from, size_t to)
{
    double exps = 0, weights = 0;
    for (size_t j = from; j < to; j++) {
        exps += exponential(s, j);
        weights += (double)s->weight[j];
    }
    attn_derive_cell(&e->d, "… %zu more", to - from);
    attn_derive_blanks(&e->d, 4);
    attn_derive_number(&e->d, exps, e->precision);
    attn_derive_number(&e->d, weights, digits_of(e, ATTN_ACT_PATTERN));
}

static void softmax_total(struct attn_explainer *e, const struct softmax *s)
{
    double weights = 0;
    for (size_t j = s->sees.lo; j < s->sees.hi; j++)
        weights += (double)s->weight[j];
    attn_derive_cell(&e->d, "sum");
    attn_derive_blanks(&e->d, 4);
    attn_derive_number(&e->d, s->sum, e->precision);
    attn_derive_number(&e->d, weights, digits_of(e, ATTN_ACT_PATTERN));
}

static void softmax_table(struct attn_explainer *e, const struct softmax *s)
{
    static const char *const headings[] = {"key", "index", "dot", "score", "- largest", "exp", "weight"};
    struct attn_range all = {e->w->keys, 0, e->w->keys->n};
    attn_derive_headings(&e->d, headings, sizeof headings / sizeof *headings);
    for (size_t j = 0; j < all.hi; j++) {
        enum attn_showing shown = attn_explain_token_showing(e, all, j);
        if (shown == ATTN_SHOWN)
            softmax_row(e, s, j);
        else if (shown == ATTN_GAP)
            softmax_gap(e, s, j, attn_explain_gap_end(e, all, j));
    }
    softmax_total(e, s);
}

void attn_explain_softmax(struct attn_explainer *e)
{
    struct softmax s = softmax_of(e);
    struct attn_number weight = of_key(e, ATTN_ACT_PATTERN);
    struct attn_spot query = attn_worked_query(e->w);
    char name[ATTN_TOKEN_NAME];
    attn_derive_step(&e->d, "The softmax");
    attn_derive_words(&e->d, "The scores of %s become weights: exp of each, divided by the sum over all keys it "
                      "sees.  The largest score is subtracted first, which changes no weight and keeps exp from "
                      "overflowing.  (A run announces scores and weights; exp and its sum are computed here, in "
                      "double precision.)", attn_explain_token(name, &query));
    attn_derive_formula(&e->d, &attn_formula_softmax);
    softmax_table(e, &s);
    attn_derive_sum(&e->d, weight, "weight");
    attn_derive_term(&e->d, ATTN_TERM_QUOTIENT, (struct attn_number){exponential(&s, e->w->key), e->precision},
                     (struct attn_number){s.sum, e->precision});
    if (e->w->key < s.sees.lo || e->w->key >= s.sees.hi)
        attn_derive_words(&e->d, "exp(-inf) is exactly 0, and so is the weight of a key that is hidden.");
}
