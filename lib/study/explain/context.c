/* context.c - the step from weights and values to the context vector. */
#include "explain/explain.h"

/* How many keys are visible: kinds that pick keys hide some between the first and the last. */
static size_t seen_among(const struct attn_worked *w, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t j = from; j < to; j++)
        n += attn_worked_sees_key(w, j);
    return n;
}

static void value_row(struct attn_explainer *e, size_t j)
{
    attn_explain_token_cell(e, &e->w->keys->tok[j]);
    attn_derive_weight(&e->d, attn_explain_query_row(e, ATTN_ACT_PATTERN)[j],
                       attn_explain_digits(e, ATTN_ACT_PATTERN));
    attn_explain_row(e, attn_worked_row(e->w, ATTN_ACT_V, j), e->w->model->w.n.dv, attn_explain_digits(e, ATTN_ACT_V));
}

static void value_table(struct attn_explainer *e, struct attn_reach sees)
{
    size_t dv = e->w->model->w.n.dv, cells = attn_explain_cells(e, dv) + 2;
    attn_derive_table(&e->d, cells);
    attn_derive_cell(&e->d, "value of");
    attn_explain_columns(e, dv, "weight");
    for (size_t j = sees.lo; j < sees.hi; j++) {
        enum attn_showing s = attn_explain_token_showing(e, sees, j);
        if (s == ATTN_SHOWN && attn_worked_sees_key(e->w, j))
            value_row(e, j);
        else if (s == ATTN_GAP && seen_among(e->w, j, attn_explain_gap_end(e, sees, j)) > 0)
            attn_derive_gap(&e->d, cells);
    }
    attn_derive_cell(&e->d, "context");
    attn_derive_blanks(&e->d, 1);
    attn_explain_row(e, attn_explain_query_row(e, ATTN_ACT_CONTEXT), dv, attn_explain_digits(e, ATTN_ACT_CONTEXT));
    attn_derive_strong(&e->d, cells);
}

static void mixture_left_out(struct attn_explainer *e, size_t from, size_t to, size_t c)
{
    size_t seen = seen_among(e->w, from, to);
    double left = 0;
    for (size_t j = from; j < to; j++)
        left += attn_explain_query_row(e, ATTN_ACT_PATTERN)[j] * attn_worked_row(e->w, ATTN_ACT_V, j)[c];
    if (seen > 0)
        attn_derive_left_out(&e->d, seen, attn_explain_number(e, left));
}

/* Writes "context[0] = weight·value + ... = result". */
static void mixture_sum(struct attn_explainer *e, struct attn_reach sees, size_t c)
{
    const struct attn_worked *w = e->w;
    const double *weight = attn_explain_query_row(e, ATTN_ACT_PATTERN),
    *context = attn_explain_query_row(e, ATTN_ACT_CONTEXT);
    struct attn_number result = attn_rounded(context[c], attn_explain_digits(e, ATTN_ACT_CONTEXT));
    attn_derive_sum(&e->d, result, "context[%zu]", w->head * w->model->w.n.dv + c);
    for (size_t j = sees.lo; j < sees.hi; j++) {
        enum attn_showing s = attn_explain_token_showing(e, sees, j);
        if (s == ATTN_GAP)
            mixture_left_out(e, j, attn_explain_gap_end(e, sees, j), c);
        else if (s == ATTN_SHOWN && attn_worked_sees_key(w, j))
            attn_derive_term(&e->d, ATTN_ADDEND_PRODUCT,
                             attn_rounded(weight[j], attn_explain_digits(e, ATTN_ACT_PATTERN)),
                             attn_rounded(attn_worked_row(w, ATTN_ACT_V, j)[c], attn_explain_digits(e, ATTN_ACT_V)));
    }
}

static void afterwards(struct attn_explainer *e)
{
    const struct attn_weights *m = &e->w->model->w;
    bool projected = m->block[e->w->layer].o.data;
    if (m->n.H > 1)
        attn_derive_words(&e->d, "The context vectors of the %zu heads lie side by side: these are columns %zu to "
                          "%zu of %zu.%s", m->n.H,
                          e->w->head * m->n.dv, e->w->head * m->n.dv + m->n.dv - 1, m->n.H * m->n.dv,
                          projected ? tr(e, "  The output projection mixes them (attn.out).") : "");
    else if (projected)
        attn_derive_words(&e->d, "The output projection comes next (attn.out).");
    if (e->w->model->attend)
        return;
    if (!projected)
        attn_derive_words(&e->d, "The context is the output of attention.");
    const struct attn_block *b = &m->block[e->w->layer];
    bool scaled = m->branch_scale != 0, normed = attn_has(&b->post1);
    if (m->residual)
        attn_derive_words(&e->d, normed ? "The result is normalised, then added to the residual stream (attn.added)."
                          : scaled ? "The result, multiplied by a number of the model's own, is added to the residual "
                                     "stream (attn.added)."
                                   : "The result is added to the residual stream.");
    if (attn_has(&b->sum1))
        attn_derive_words(&e->d, "The stream is normalised after this.");
}

void attn_explain_context(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct attn_reach sees = attn_worked_sees(w);
    struct attn_spot query = attn_worked_query(w);
    char name[ATTN_TOKEN_NAME];
    size_t dv = w->model->w.n.dv;
    const struct attn_block *b = &w->model->w.block[w->layer];
    bool rotates = w->model->w.rotary && b->rope >= 0, norms = attn_has(&b->k_norm);
    attn_derive_step(&e->d, "The context vector");
    if (w->model->attend)
        attn_derive_words(&e->d, "The values of all keys that %s sees are added up, each times its weight.",
                          attn_explain_token(e, name, &query));
    else
        attn_derive_words(&e->d, "The values of all keys that %s sees are added up, each times its weight.  Values are "
                                 "made like keys, with W_v%s%s.",
                          attn_explain_token(e, name, &query),
                          w->model->w.clip != 0 ? tr(e, ", and clamped like them") : "",
                          rotates && norms ? tr(e, ", but neither normalised nor rotated")
                          : norms ? tr(e, ", but not normalised")
                          : rotates ? tr(e, ", but not rotated") : "");
    attn_derive_formula(&e->d, &attn_formula_mixture);
    value_table(e, sees);
    for (size_t c = 0; c < dv; c++)
        if (attn_explain_showing(e, dv, c) == ATTN_SHOWN)
            mixture_sum(e, sees, c);
    afterwards(e);
}
