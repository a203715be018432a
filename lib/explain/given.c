/* given.c - the steps where numbers are given in place of what a model computes: which they are, and what a mask
 * does. */
#include "explain/explain.h"

#include <string.h>

#include "run/attend.h"

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

/* The query or the key: as it is given, or as sums of products. */
static int make_vector(struct attn_explainer *e, int act, const struct attn_spot *s, struct attn_err *err)
{
    const struct attn_worked *w = e->w;
    char token[ATTN_TOKEN_NAME];
    bool key = act == ATTN_ACT_K, shared = key && w->model->w.n.Hkv < w->model->w.n.H;
    if (!attn_worked_has(w, act))
        return ATTN_OK;
    if (!is_given(w, act))
        return attn_explain_vector(e, act, err);
    attn_derive_step(&e->d, key ? "The key of %s" : "The query of %s", attn_explain_token(e, token, s));
    if (w->model->attend->plain)
        attn_derive_words(&e->d, "There are no weights: it is row %zu itself.", s->t);
    else
        attn_derive_words(&e->d, "It is given, as row %zu of --%s%s.", s->t, key ? "k" : "q",
                          shared ? tr(e, ", which heads of queries share") : "");
    vector(e, s, act, key ? "k" : "q");
    return ATTN_OK;
}

void attn_explain_given_number(struct attn_explainer *e, int act)
{
    const struct attn_worked *w = e->w;
    bool dot = act == ATTN_ACT_DOTS;
    const struct attn_attend_view *v = &w->model->attend->view[dot ? ATTN_ATTEND_DOTS : ATTN_ATTEND_SCORES];
    float x = v->x[w->head * v->next_head + w->query * v->next_row + w->key];
    attn_derive_step(&e->d, dot ? "The dot product" : "The score");
    attn_derive_words(&e->d, "It is given, in row %zu, column %zu of --%s.", w->query, w->key, dot ? "dots" : "scores");
    attn_derive_sum(&e->d, attn_rounded((double)x, attn_explain_digits(e, act)), dot ? "dot" : "score");
}

bool attn_explain_given_mask(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    float add;
    if (!w->model->attend || !w->model->attend->view[ATTN_ATTEND_MASK].x)
        return false;
    if (!attn_attend_sees(w->model->attend, w->head, w->query, w->key, &add))
        attn_derive_words(&e->d, "The mask that is given hides key %zu from query %zu: its score is -inf and its "
                                 "weight exactly 0, whatever the dot product.", w->key, w->query);
    else if (w->model->attend->adds)
        attn_derive_words(&e->d, "The mask that is given adds %.*f to the score.", e->precision, (double)add);
    else
        attn_derive_words(&e->d, "The mask that is given lets query %zu see key %zu: the score stays as it is.",
                          w->query, w->key);
    return true;
}

int attn_explain_given(struct attn_explainer *e, struct attn_err *err)
{
    const struct attn_worked *w = e->w;
    struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    bool same = key.of == query.of && key.t == query.t;
    introduce(e);
    attn_explain_diagram(e);
    if (query.seen[ATTN_ACT_RESID_PRE].x && !w->model->attend->plain)
        read_row(e, &query);
    if (make_vector(e, ATTN_ACT_Q, &query, err))
        return err->code;
    if (!same && key.seen[ATTN_ACT_RESID_PRE].x && attn_worked_has(w, ATTN_ACT_K) && !is_given(w, ATTN_ACT_K))
        read_row(e, &key);
    if (make_vector(e, ATTN_ACT_K, &key, err))
        return err->code;
    attn_explain_weight(e);
    if (attn_worked_has(w, ATTN_ACT_CONTEXT))
        attn_explain_context(e);
    attn_explain_places(e);
    return ATTN_OK;
}
