/* given.c - the steps for numbers that no model computes but somebody gives: which they are, and what a mask does. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

#include "attend/attend.h"

/* Whether the vectors are given, and not made of rows by weights. */
static bool is_given(const struct attn_worked *w, int act)
{
    static const int input[] = {ATTN_ATTEND_Q, ATTN_ATTEND_K, ATTN_ATTEND_V};
    return w->model->attend->view[input[act - ATTN_ACT_Q]].x != NULL;
}

static void introduce(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    char query_name[ATTN_TOKEN_NAME], key_name[ATTN_TOKEN_NAME], kind[ATTN_EXPLAIN_KIND], given[ATTN_ATTEND_GIVEN];
    if (attn_spot_numbered(&query) && attn_spot_numbered(&key))
        attn_derive_title(&e->d, "How query %zu attends to key %zu", w->query, w->key);
    else
        attn_derive_title(&e->d, "How %s (query %zu) attends to %s (key %zu)",
                          attn_explain_token(e, query_name, &query), w->query, attn_explain_token(e, key_name, &key),
                          w->key);
    attn_derive_words(&e->d, "Given are %s; all indices are counted from 0.  This is head %zu (of %zu)%s.",
                      attn_attend_given(given, w->model->attend, tr(e, ", ")), w->head, w->model->w.n.H,
                      w->key == w->heaviest ? tr(e, "; the key is the one with the largest weight") : "");
    if (*attn_explain_kind(e, kind))
        attn_derive_words(&e->d, "The kind of attention: %s.", kind);
    attn_derive_words(&e->d, "Sums and products are computed before rounding, so the rounded terms of a sum may not "
                             "add up to its last digit.%s",
                      e->all ? "" : tr(e, "  Long vectors are shortened: … stands for what is left out."));
}

static void vector(struct attn_explainer *e, const struct attn_spot *s, int act, const char *label)
{
    size_t n = s->seen[act].cols;
    attn_derive_table(&e->d, attn_explain_cells(e, n) + 1);
    attn_explain_columns(e, n, "");
    attn_derive_cell(&e->d, "%s", label);
    attn_explain_row(e, attn_spot_row(s, act), n, attn_spot_digits(s, act, e->precision));
}

static void read_row(struct attn_explainer *e, const struct attn_spot *s)
{
    const struct attn_worked *w = e->w;
    bool other = attn_worked_cross(w) && s->of == w->keys && w->model->attend->view[ATTN_ATTEND_CROSS].x;
    char token[ATTN_TOKEN_NAME];
    if (attn_spot_numbered(s))
        attn_derive_step(&e->d, "Row %zu", s->t);
    else
        attn_derive_step(&e->d, "The row of %s", attn_explain_token(e, token, s));
    attn_derive_words(&e->d, "It is row %zu of %s.", s->t, other ? "--cross" : "--x");
    vector(e, s, ATTN_ACT_RESID_PRE, "x");
}

/* Writes "q[0] = x[0]·w[0] + ... + b = result"; x has so many digits after the point, y too. */
static void product_sum(struct attn_explainer *e, const struct attn_f64_weight *w, const double *x, int x_digits,
                        size_t j)
{
    const size_t left = attn_explain_left_out(e, w->in);
    double rest = 0;
    for (size_t i = 0; i < w->in; i++)
        rest += attn_explain_showing(e, w->in, i) == ATTN_SHOWN ? 0 : x[i] * w->x[i * w->next_in + j * w->next_out];
    for (size_t i = 0; i < w->in; i++) {
        const enum attn_showing shown = attn_explain_showing(e, w->in, i);
        if (shown == ATTN_SHOWN)
            attn_derive_term(&e->d, ATTN_ADDEND_PRODUCT, attn_rounded(x[i], x_digits),
                             attn_explain_number(e, w->x[i * w->next_in + j * w->next_out]));
        else if (shown == ATTN_GAP)
            attn_derive_left_out(&e->d, left, attn_explain_number(e, rest));
    }
    if (w->b)
        attn_derive_term(&e->d, ATTN_ADDEND_ALONE, attn_explain_number(e, w->b[j]), (struct attn_number){0});
}

static void product(struct attn_explainer *e, const struct attn_f64_weight *w, const double *x, int x_digits,
                    const double *y, int digits, const char *name)
{
    const size_t left = attn_explain_left_out(e, w->out);
    for (size_t j = 0; j < w->out; j++)
        if (attn_explain_showing(e, w->out, j) == ATTN_SHOWN) {
            attn_derive_sum(&e->d, attn_rounded(y[j], digits), "%s[%zu]", name, j);
            product_sum(e, w, x, x_digits, j);
        }
    if (left)
        attn_derive_words(&e->d, "%zu more numbers, left out here, are sums of the same kind.", left);
}

/* Of the row of a text and a weight. */
static void made_vector(struct attn_explainer *e, int act, const struct attn_spot *s)
{
    const bool key = act == ATTN_ACT_K;
    const struct attn_f64_weight w = attn_attend_weight(e->w->model->attend, key ? ATTN_ATTEND_WK : ATTN_ATTEND_WQ,
                                                        key ? e->w->kv : e->w->head);
    char token[ATTN_TOKEN_NAME];
    attn_derive_step(&e->d, key ? "The key of %s" : "The query of %s", attn_explain_token(e, token, s));
    product(e, &w, attn_spot_row(s, ATTN_ACT_RESID_PRE), attn_spot_digits(s, ATTN_ACT_RESID_PRE, e->precision),
            attn_spot_row(s, act), attn_spot_digits(s, act, e->precision), key ? "k" : "q");
    vector(e, s, act, key ? "k" : "q");
}

/* What is made of the contexts of all heads. */
static void output(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    const struct attn_spot query = attn_worked_query(w);
    char token[ATTN_TOKEN_NAME];
    if (!attn_worked_has(w, ATTN_ACT_OUT))
        return;
    const struct attn_f64_weight wo = attn_attend_weight(w->model->attend, ATTN_ATTEND_WO, 0);
    attn_derive_step(&e->d, "The output of %s", attn_explain_token(e, token, &query));
    attn_derive_words(&e->d, w->model->w.n.H > 1 ? "The contexts of all heads, side by side, are multiplied by --wo."
                                                 : "The context is multiplied by --wo.");
    product(e, &wo, w->joined, attn_explain_digits(e, ATTN_ACT_CONTEXT), attn_explain_query_row(e, ATTN_ACT_OUT),
            attn_explain_digits(e, ATTN_ACT_OUT), "out");
}

/* The query or the key: as it is given, or as sums of products. */
static void make_vector(struct attn_explainer *e, int act, const struct attn_spot *s)
{
    const struct attn_worked *w = e->w;
    char token[ATTN_TOKEN_NAME];
    bool key = act == ATTN_ACT_K, shared = key && w->model->w.n.Hkv < w->model->w.n.H;
    if (!attn_worked_has(w, act))
        return;
    if (!is_given(w, act)) {
        made_vector(e, act, s);
        return;
    }
    attn_derive_step(&e->d, key ? "The key of %s" : "The query of %s", attn_explain_token(e, token, s));
    if (w->model->attend->plain)
        attn_derive_words(&e->d, "There are no weights: it is row %zu itself.", s->t);
    else
        attn_derive_words(&e->d, "It is given, as row %zu of --%s%s.", s->t, key ? "k" : "q",
                          shared ? tr(e, ", which heads of queries share") : "");
    vector(e, s, act, key ? "k" : "q");
}

void attn_explain_given_number(struct attn_explainer *e, int act)
{
    const struct attn_worked *w = e->w;
    bool dot = act == ATTN_ACT_DOTS;
    const struct attn_attend_view *v = &w->model->attend->view[dot ? ATTN_ATTEND_DOTS : ATTN_ATTEND_SCORES];
    double x = v->x[w->head * v->next_head + w->query * v->next_row + w->key];
    attn_derive_step(&e->d, dot ? "The dot product" : "The score");
    attn_derive_words(&e->d, "It is given, in row %zu, column %zu of --%s.", w->query, w->key, dot ? "dots" : "scores");
    attn_derive_sum(&e->d, attn_rounded(x, attn_explain_digits(e, act)), dot ? "dot" : "score");
}

bool attn_explain_masks_late(const struct attn_explainer *e)
{
    return e->w->model->attend && e->w->model->attend->late;
}

void attn_explain_given_sum(struct attn_explainer *e)
{
    static const char *const headings[] = {"key", "index", "score", "weight"};
    const struct attn_worked *w = e->w;
    const struct attn_spot query = attn_worked_query(w);
    const struct attn_reach all = {w->keys, 0, w->keys->n};
    const double *score = attn_explain_query_row(e, ATTN_ACT_SCORES);
    const int digits = attn_explain_digits(e, ATTN_ACT_SCORES), of_weight = attn_explain_digits(e, ATTN_ACT_PATTERN);
    double sum = 0;
    char token[ATTN_TOKEN_NAME];
    for (size_t j = 0; j < all.hi; j++)
        sum += score[j] == -INFINITY ? 0 : score[j];
    attn_derive_step(&e->d, "The weights");
    attn_derive_words(&e->d, "The scores of %s become weights: each is divided by the sum of all that are not hidden "
                             "(--weights sum).", attn_explain_token(e, token, &query));
    attn_derive_headings(&e->d, headings, sizeof headings / sizeof *headings);
    for (size_t j = 0; j < all.hi; j++) {
        const enum attn_showing shown = attn_explain_token_showing(e, all, j);
        if (shown == ATTN_GAP)
            attn_derive_gap(&e->d, sizeof headings / sizeof *headings);
        if (shown != ATTN_SHOWN)
            continue;
        attn_explain_token_cell(e, &w->keys->tok[j]);
        attn_derive_cell(&e->d, "%zu", j);
        attn_derive_number(&e->d, score[j], digits);
        attn_derive_weight(&e->d, score[j] == -INFINITY ? 0 : score[j] / sum, of_weight);
        if (j == w->key)
            attn_derive_strong(&e->d, sizeof headings / sizeof *headings);
    }
    attn_derive_sum(&e->d, attn_rounded(score[w->key] == -INFINITY ? 0 : score[w->key] / sum, of_weight), "weight");
    attn_derive_term(&e->d, ATTN_ADDEND_QUOTIENT, attn_rounded(score[w->key], digits), attn_rounded(sum, digits));
}

bool attn_explain_given_mask(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    double add;
    if (!w->model->attend || !w->model->attend->view[ATTN_ATTEND_MASK].x)
        return false;
    if (!attn_attend_sees(w->model->attend, w->head, w->query, w->key, &add))
        attn_derive_words(&e->d, "The mask that is given hides key %zu from query %zu: its score is -inf and its "
                                 "weight exactly 0, whatever the dot product.", w->key, w->query);
    else if (w->model->attend->adds)
        attn_derive_words(&e->d, "The mask that is given adds %.*f to the score.", e->precision, add);
    else
        attn_derive_words(&e->d, "The mask that is given lets query %zu see key %zu: the score stays as it is.",
                          w->query, w->key);
    return true;
}

void attn_explain_given(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    bool same = key.of == query.of && key.t == query.t;
    introduce(e);
    attn_explain_diagram(e);
    if (query.seen[ATTN_ACT_RESID_PRE].x && !w->model->attend->plain)
        read_row(e, &query);
    make_vector(e, ATTN_ACT_Q, &query);
    if (!same && key.seen[ATTN_ACT_RESID_PRE].x && attn_worked_has(w, ATTN_ACT_K) && !is_given(w, ATTN_ACT_K))
        read_row(e, &key);
    make_vector(e, ATTN_ACT_K, &key);
    attn_explain_weight(e);
    if (attn_worked_has(w, ATTN_ACT_CONTEXT))
        attn_explain_context(e);
    output(e);
    attn_explain_places(e);
}
