/* feature.c - the steps from a query and a key to a weight in linear attention. */
#include "explain/explain.h"

#include <float.h>
#include <math.h>

static double phi(double x)
{
    return x > 0 ? x + 1 : exp(x);
}

static double product(const struct attn_explainer *e, size_t key)
{
    const double *q = attn_worked_row(e->w, ATTN_ACT_Q, e->w->query), *k = attn_worked_row(e->w, ATTN_ACT_K, key);
    double sum = 0;
    for (size_t c = 0; c < e->w->model->w.n.dh; c++)
        sum += phi(q[c]) * phi(k[c]);
    return sum;
}

/* A row of phi(q), of phi(k) or, if both are given, of their products, whose gap shows the sum of those left out. */
static void row(struct attn_explainer *e, const char *label, const double *q, const double *k)
{
    size_t n = e->w->model->w.n.dh;
    double left = 0;
    attn_derive_cell(&e->d, "%s", tr(e, label));
    for (size_t c = 0; c < n; c++)
        if (q && k && attn_explain_showing(e, n, c) != ATTN_SHOWN)
            left += phi(q[c]) * phi(k[c]);
    for (size_t c = 0; c < n; c++) {
        enum attn_showing s = attn_explain_showing(e, n, c);
        struct attn_number x = attn_explain_number(e, s == ATTN_GAP ? left : (q ? phi(q[c]) : 1) * (k ? phi(k[c]) : 1));
        if (s == ATTN_GAP && !(q && k))
            attn_derive_cell(&e->d, "…");
        else if (s != ATTN_PASSED)
            attn_derive_number(&e->d, x.x, x.digits);
    }
}

static void table(struct attn_explainer *e)
{
    const double *q = attn_worked_row(e->w, ATTN_ACT_Q, e->w->query), *k = attn_worked_row(e->w, ATTN_ACT_K, e->w->key);
    struct attn_number sum = attn_explain_number(e, product(e, e->w->key));
    size_t n = e->w->model->w.n.dh;
    attn_derive_table(&e->d, attn_explain_cells(e, n) + 2);
    attn_explain_columns(e, n, "c");
    attn_derive_cell(&e->d, "sum");
    row(e, "φ(q)", q, NULL);
    attn_derive_blanks(&e->d, 1);
    row(e, "φ(k)", NULL, k);
    attn_derive_blanks(&e->d, 1);
    row(e, "φ(q)·φ(k)", q, k);
    attn_derive_number(&e->d, sum.x, sum.digits);
    attn_derive_strong(&e->d, 1);
}

static void features(struct attn_explainer *e)
{
    struct attn_spot query = attn_worked_query(e->w), key = attn_worked_key(e->w);
    char query_name[ATTN_TOKEN_NAME], key_name[ATTN_TOKEN_NAME];
    attn_derive_step(&e->d, "The features");
    attn_derive_words(&e->d,
                      "Linear attention has no softmax.  φ makes every number of the query (%s) and the key (%s) "
                      "positive: x + 1 above 0, exp(x) below.  How well they match is the dot product of the results, "
                      "without a scale.  (φ and the products are computed here, in double precision.)",
                      attn_explain_token(e, query_name, &query),
                      attn_explain_token(e, key_name, &key));
    attn_derive_formula(&e->d, &attn_formula_feature);
    table(e);
}

/* ---- shares ---------------------------------------------------------------------------- */

static void share_row(struct attn_explainer *e, size_t j)
{
    attn_explain_token_cell(e, &e->w->keys->tok[j]);
    attn_derive_cell(&e->d, "%zu", j);
    attn_derive_number(&e->d, product(e, j), e->precision);
    if (j == e->w->key)
        attn_derive_strong(&e->d, 3);
}

static double sum_of(const struct attn_explainer *e, size_t from, size_t to)
{
    double sum = 0;
    for (size_t j = from; j < to; j++)
        sum += product(e, j);
    return sum;
}

static void share_table(struct attn_explainer *e, struct attn_reach sees)
{
    static const char *const headings[] = {"key", "index", "φ(q)·φ(k)"};
    attn_derive_headings(&e->d, headings, sizeof headings / sizeof *headings);
    for (size_t j = sees.lo; j < sees.hi; j++) {
        enum attn_showing shown = attn_explain_token_showing(e, sees, j);
        if (shown == ATTN_SHOWN)
            share_row(e, j);
        if (shown != ATTN_GAP)
            continue;
        size_t end = attn_explain_gap_end(e, sees, j);
        attn_derive_cell(&e->d, "… %zu more", end - j);
        attn_derive_blanks(&e->d, 1);
        attn_derive_number(&e->d, sum_of(e, j, end), e->precision);
    }
    attn_derive_cell(&e->d, "sum");
    attn_derive_blanks(&e->d, 1);
    attn_derive_number(&e->d, sum_of(e, sees.lo, sees.hi), e->precision);
}

static void share(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct attn_reach sees = attn_worked_sees(w);
    double sum = sum_of(e, sees.lo, sees.hi), here = attn_worked_sees_key(w, w->key) ? product(e, w->key) : 0;
    attn_derive_step(&e->d, "The weight");
    attn_derive_words(&e->d,
                      "It is the key's share of the sum over all keys that the query sees%s.  A run adds up φ(k) times "
                      "v, and φ(k), key by key, and needs no weights for the context; this is what they would be.",
                      attn_kind_past(&w->kind) ? tr(e, ": itself and those before it") : "");
    share_table(e, sees);
    double weight = sum < (double)FLT_MIN ? 0 : here / sum;     /* 0: the row has lost all its weight */
    attn_derive_sum(&e->d, attn_rounded(weight, attn_worked_digits(w, ATTN_ACT_PATTERN, e->precision)), "weight");
    attn_derive_term(&e->d, ATTN_ADDEND_QUOTIENT, attn_explain_number(e, here), attn_explain_number(e, sum));
}

void attn_explain_linear(struct attn_explainer *e)
{
    features(e);
    share(e);
}
