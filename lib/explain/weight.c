/* weight.c - the steps from a query and a key to a weight. */
#include "explain/explain.h"

#include "explain/formulas.h"

#include <inttypes.h>
#include <stdio.h>

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

/* Writes q[c] k[c]; the gap shows the sum of those left out, the last column the sum of all. */
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
    attn_derive_words(&e->d, "The better the key of %s matches the query of %s, the larger the sum of the products of their "
                      "numbers.", attn_explain_token(key_name, &key), attn_explain_token(query_name, &query));
    attn_derive_formula(&e->d, &attn_formula_dot);
    dot_table(e, row_of(e, ATTN_ACT_Q), attn_worked_row(w, ATTN_ACT_K, w->key), dh);
    if (left)
        attn_derive_words(&e->d, "The column … shows the sum of the %zu products left out.", left);
}

/* ---- scale and mask -------------------------------------------------------------------- */

static void scale_words(struct attn_explainer *e)
{
    const struct attn_config *c = &e->w->model->config;
    enum attn_scaling scaling = e->w->kind.scaling;
    if (scaling == ATTN_SCALE_SQRT || (scaling == ATTN_SCALE_MODEL && c->scale))
        attn_derive_words(&e->d, "Dot products grow with the number of terms.  To keep this out of the softmax, each is divided by "
                          "√d_head = √%zu, that is, multiplied by the scale 1/√%zu.", c->dh, c->dh);
    else if (scaling == ATTN_SCALE_MODEL)
        attn_derive_words(&e->d, "This model does not divide by √d_head.");
    else
        attn_derive_words(&e->d, "Dot products are multiplied by the scale of --scale instead of the model's own.");
    if (scaling == ATTN_SCALE_MODEL && c->scale_by_layer)
        attn_derive_words(&e->d, "The scale is also divided by %zu, the number of the layer counted from 1.", e->w->layer + 1);
}

void attn_explain_scale(struct attn_explainer *e)
{
    float scale = e->w->scale;
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

/* Writes "itself and the 2 before it". */
static const char *near(char buf[64], size_t w)
{
    if (w == 1)
        return "itself";
    if (w == 2)
        return "itself and the one before it";
    snprintf(buf, 64, "itself and the %zu before it", w - 1);
    return buf;
}

static void mask_words(struct attn_explainer *e)
{
    const struct attn_kind *k = &e->w->kind;
    char buf[64];
    switch (k->form) {
    case ATTN_WINDOW:
        attn_derive_words(&e->d, "A token may look at %s: this layer has a window of %zu key%s.", near(buf, k->w), k->w,
                          k->w == 1 ? "" : "s");
        break;
    case ATTN_STRIDED:
        attn_derive_words(&e->d, "A token may look at %s, and at those further back whose distance is a multiple of %zu.",
                          near(buf, k->w), k->s);
        break;
    case ATTN_RANDOM:
        attn_derive_words(&e->d, "A token may look at %s, and at %zu of those further back (or as many as there are), drawn with "
                          "seed %" PRIu64 ".", near(buf, k->w), k->r, k->seed);
        break;
    default:
        if (attn_worked_cross(e->w))
            attn_derive_words(&e->d, "There is no mask: every token may look at every token of the other text.");
        else if (attn_kind_past(k))
            attn_derive_words(&e->d, "A token may look at itself and the tokens before it, never at those after it "
                              "(a causal mask).");
        else if (k->form == ATTN_CAUSAL_RENORM)
            attn_derive_words(&e->d, "Nothing is hidden yet: this kind of mask (causal-renorm) comes after the softmax.");
        else
            attn_derive_words(&e->d, "There is no mask: every token may look at every other.");
    }
}

static const char hidden[] = "it is hidden, so its score is -inf and its weight exactly 0, whatever the dot product.";

static void verdict(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct attn_reach sees = attn_worked_sees(w);
    if (w->key >= sees.hi)
        attn_derive_words(&e->d, "Key %zu comes after query %zu: %s", w->key, w->query, hidden);
    else if (w->key < sees.lo)
        attn_derive_words(&e->d, "Key %zu is %zu tokens before query %zu, outside the window: %s", w->key, w->query - w->key, w->query,
                          hidden);
    else if (!attn_worked_sees_key(w, w->key))
        attn_derive_words(&e->d, "Key %zu is not among the %zu that query %zu sees: %s", w->key, w->n_picked, w->query, hidden);
    else if (w->picked)
        attn_derive_words(&e->d, "Query %zu sees %zu key%s, including key %zu, whose score stays as it is.", w->query, w->n_picked,
                          w->n_picked == 1 ? "" : "s", w->key);
    else
        attn_derive_words(&e->d, "Query %zu sees keys %zu to %zu, including key %zu, whose score stays as it is.", w->query, sees.lo,
                          sees.hi - 1, w->key);
}

void attn_explain_mask(struct attn_explainer *e)
{
    attn_derive_step(&e->d, "The mask");
    mask_words(e);
    if (attn_kind_past(&e->w->kind))
        verdict(e);
    attn_derive_sum(&e->d, of_key(e, ATTN_ACT_SCORES), "score");
}
