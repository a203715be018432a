/* attention_weights.c - the steps from a query and a key to a weight: dot product, scale, mask, softmax, and what
 * happens to weights afterwards. */
#include "explain/explain.h"

#include <math.h>
#include <stdio.h>

#include "attend/attend.h"
#include "compute/position.h"

static struct attn_number of_key(const struct attn_explainer *e, int act)
{
    return attn_rounded(attn_explain_query_row(e, act)[e->w->key], attn_explain_digits(e, act));
}

/* ---- the dot product ------------------------------------------------------------------- */

/* Writes q[c] k[c]; the gap shows the sum of those left out, the last column the sum of all. */
static void products(struct attn_explainer *e, const double *q, const double *k, size_t n)
{
    double left = 0;
    for (size_t c = 0; c < n; c++)
        if (attn_explain_showing(e, n, c) != ATTN_SHOWN)
            left += q[c] * k[c];
    for (size_t c = 0; c < n; c++) {
        enum attn_showing s = attn_explain_showing(e, n, c);
        if (s == ATTN_PASSED)
            continue;
        struct attn_number x = attn_explain_number(e, s == ATTN_GAP ? left : q[c] * k[c]);
        attn_derive_number(&e->d, x.x, x.digits);
    }
}

static void dot_table(struct attn_explainer *e, const double *q, const double *k, size_t n)
{
    struct attn_number dot = of_key(e, ATTN_ACT_DOTS);
    attn_derive_table(&e->d, attn_explain_cells(e, n) + 2);
    attn_explain_columns(e, n, "c");
    attn_derive_cell(&e->d, "sum");
    attn_derive_cell(&e->d, "q");
    attn_explain_row(e, q, n, attn_explain_digits(e, ATTN_ACT_Q));
    attn_derive_blanks(&e->d, 1);
    attn_derive_cell(&e->d, "k");
    attn_explain_row(e, k, n, attn_explain_digits(e, ATTN_ACT_K));
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
    attn_derive_words(&e->d,
                      "Multiply the query of %s and the key of %s number by number and add: a good match gives a large "
                      "sum.", attn_explain_token(e, query_name, &query), attn_explain_token(e, key_name, &key));
    attn_derive_formula(&e->d, &attn_formula_dot);
    dot_table(e, attn_explain_query_row(e, ATTN_ACT_Q), attn_worked_row(w, ATTN_ACT_K, w->key), dh);
    if (left)
        attn_derive_words(&e->d, "The column … shows the sum of the %zu products left out.", left);
}

/* ---- scale and mask -------------------------------------------------------------------- */

static void scale_words(struct attn_explainer *e)
{
    const struct attn_config *c = &e->w->model->config;
    enum attn_scaling scaling = e->w->kind.scaling;
    bool given = e->w->model->attend;   /* there is no model */
    bool own = c->attention_scale > 0 || c->query_scalar > 0;
    if (scaling == ATTN_SCALE_MODEL && own)
        attn_derive_words(&e->d,
                          "Long vectors give large dot products, and these make softmax all or nothing.  So this model "
                          "multiplies each by a scale of its own.");
    else if (scaling == ATTN_SCALE_SQRT || (scaling == ATTN_SCALE_MODEL && c->scale))
        attn_derive_words(&e->d,
                          "Long vectors give large dot products, and these make softmax all or nothing.  So each is "
                          "divided by √d_head = √%zu.", c->dh);
    else if (scaling == ATTN_SCALE_MODEL)
        attn_derive_words(&e->d, "The scale of this model is 1, in place of 1/√d_head.");
    else
        attn_derive_words(&e->d, given ? "Dot products are multiplied by the scale of --scale."
                                 : "Dot products are multiplied by the scale of --scale instead of the model's own.");
    if (scaling == ATTN_SCALE_MODEL && c->scale_by_layer)
        attn_derive_words(&e->d, "The scale is also divided by %zu, the number of the layer counted from 1.",
                          e->w->layer + 1);
}

/* What the position of the key adds to the score. */
static void add_position(struct attn_explainer *e, struct attn_number *score)
{
    const struct attn_weights *w = &e->w->model->w;
    double slope = (double)w->alibi[e->w->head],
    added = (double)attn_alibi_at(w, (float)e->w->scale, e->w->head, e->w->key);
    struct attn_number before = *score, at = attn_rounded((double)e->w->key, 0);
    bool behind = attn_worked_cross(e->w) || e->w->kind.form == ATTN_FULL;          /* keys may come after the query */
    attn_derive_words(&e->d, "Positions come in here (ALiBi): the score of a key grows with its position, in this head "
                             "by %g each.  The softmax does not see what all scores have in common, so this favours "
                             "%s.%s",
                      w->alibi_early ? slope * e->w->scale : slope,
                      behind ? tr(e, "the last keys") : tr(e, "keys that are near"),
                      w->alibi_early ? tr(e, "  This model adds it before the scale, rounded to bfloat16.") : "");
    score->x += added;
    attn_derive_sum(&e->d, *score, "with position");
    attn_derive_term(&e->d, ATTN_ADDEND_ALONE, before, (struct attn_number){0});
    if (w->alibi_early)
        attn_derive_term(&e->d, ATTN_ADDEND_ALONE, attn_explain_number(e, added), (struct attn_number){0});
    else
        attn_derive_term(&e->d, ATTN_ADDEND_PRODUCT, attn_explain_number(e, slope), at);
}

static void bound(struct attn_explainer *e, struct attn_number score)
{
    double cap = e->w->model->attend ? e->w->model->attend->cap : (double)e->w->model->w.cap;
    double share = tanh(score.x / cap);
    attn_derive_words(&e->d, e->w->model->attend
                      ? "A soft cap (--softcap) keeps scores between -%g and %g: x becomes %g·tanh(x / %g), which "
                        "changes small scores little."
                      : "This model keeps scores between -%g and %g by a soft cap: x becomes %g·tanh(x / %g), which "
                        "changes small scores little.", cap, cap, cap, cap);
    attn_derive_sum(&e->d, attn_rounded(cap * share, score.digits), "capped");
    attn_derive_term(&e->d, ATTN_ADDEND_PRODUCT, attn_explain_number(e, cap), attn_explain_number(e, share));
}

/* A run of a model rounds to float32. */
static double times_scale(const struct attn_explainer *e, double dot)
{
    return e->w->model->attend ? dot * e->w->scale : (double)((float)dot * (float)e->w->scale);
}

void attn_explain_scale(struct attn_explainer *e)
{
    double scale = e->w->scale;
    struct attn_number dot = of_key(e, ATTN_ACT_DOTS);
    attn_derive_step(&e->d, "The scale");
    scale_words(e);
    struct attn_number scaled = attn_rounded(times_scale(e, dot.x), attn_explain_digits(e, ATTN_ACT_SCORES));
    if (scale == 1) {
        attn_derive_words(&e->d, "The scale is 1: the dot product stays as it is.");
    } else {
        attn_derive_sum(&e->d, scaled, "scaled");
        attn_derive_term(&e->d, ATTN_ADDEND_PRODUCT, dot, attn_explain_number(e, (double)scale));
    }
    if (e->w->model->w.alibi)
        add_position(e, &scaled);
    if (e->w->model->w.cap > 0)
        bound(e, scaled);
}

/* Writes "itself and the 2 before it". */
static const char *near(const struct attn_explainer *e, char buf[ATTN_TOKEN_NAME], size_t w)
{
    if (w == 1)
        return tr(e, "itself");
    if (w == 2)
        return tr(e, "itself and the one before it");
    snprintf(buf, ATTN_TOKEN_NAME, tr(e, "itself and the %zu before it"), w - 1);
    return buf;
}

static void mask_words(struct attn_explainer *e)
{
    const struct attn_kind *k = &e->w->kind;
    char buf[ATTN_TOKEN_NAME];
    switch (k->form) {
    case ATTN_WINDOW:
        attn_derive_words(&e->d, k->w == 1 ? "A token may look at %s: this layer has a window of %zu key."
                                           : "A token may look at %s: this layer has a window of %zu keys.",
                          near(e, buf, k->w), k->w);
        break;
    case ATTN_STRIDED:
        attn_derive_words(&e->d, "A token may look at %s, and at those further back whose distance is a multiple of "
                                 "%zu.",
                          near(e, buf, k->w), k->s);
        break;
    case ATTN_RANDOM:
        attn_derive_words(&e->d, "A token may look at %s, and at %zu of those further back (or as many as there are), "
                                 "drawn with seed %zu.", near(e, buf, k->w), k->r, (size_t)k->seed);
        break;
    default:
        if (attn_worked_cross(e->w) && k->form == ATTN_FULL)
            attn_derive_words(&e->d, "There is no mask: every token may look at every token of the other text.");
        else if (attn_kind_past(k))
            attn_derive_words(&e->d, "A token may look at itself and the tokens before it, never at those after it "
                              "(a causal mask).");
        else if (k->form == ATTN_CAUSAL_RENORM)
            attn_derive_words(&e->d, "Nothing is hidden yet: this kind of mask (causal-renorm) comes after the "
                                     "softmax.");
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
        attn_derive_words(&e->d, "Key %zu comes after query %zu: %s", w->key, w->query, tr(e, hidden));
    else if (w->key < sees.lo)
        attn_derive_words(&e->d, "Key %zu is %zu tokens before query %zu, outside the window: %s", w->key,
                          w->query - w->key, w->query, tr(e, hidden));
    else if (!attn_worked_sees_key(w, w->key))
        attn_derive_words(&e->d, "Key %zu is not among the %zu that query %zu sees: %s", w->key, w->n_picked, w->query,
                          tr(e, hidden));
    else if (w->picked)
        attn_derive_words(&e->d, w->n_picked == 1
                          ? "Query %zu sees %zu key, including key %zu, whose score stays as it is."
                          : "Query %zu sees %zu keys, including key %zu, whose score stays as it is.",
                          w->query, w->n_picked, w->key);
    else
        attn_derive_words(&e->d, "Query %zu sees keys %zu to %zu, including key %zu, whose score stays as it is.",
                          w->query, sees.lo, sees.hi - 1, w->key);
}

void attn_explain_mask(struct attn_explainer *e)
{
    attn_derive_step(&e->d, "The mask");
    if (attn_explain_masks_late(e)) {
        attn_derive_words(&e->d, "Nothing is hidden yet: the mask comes after the weights (--mask-weights).");
        attn_derive_sum(&e->d, of_key(e, ATTN_ACT_SCORES), "score");
        return;
    }
    if (e->w->kind.form != ATTN_FULL || !attn_explain_given_mask(e))
        mask_words(e);
    if (attn_kind_past(&e->w->kind))
        verdict(e);
    if (e->w->kind.form != ATTN_FULL)
        attn_explain_given_mask(e);
    attn_derive_sum(&e->d, of_key(e, ATTN_ACT_SCORES), "score");
}

static struct attn_number a_weight(const struct attn_explainer *e, double x)
{
    return attn_rounded(x, attn_explain_digits(e, ATTN_ACT_PATTERN));
}

/* ---- softmax --------------------------------------------------------------------------- */

/* weight NULL: the run's pattern is more than the softmax, so that weights are computed here. */
struct softmax { const double *score, *weight; double largest, sum; size_t T; };

/* An edit may have hidden all keys, so that the largest score is -inf, too. */
static double below_largest(const struct softmax *s, size_t j)
{
    return s->score[j] == -INFINITY ? -INFINITY : s->score[j] - s->largest;
}

/* A run does not announce its exponentials, so they are computed from its scores. */
static double exponential(const struct softmax *s, size_t j)
{
    return exp(below_largest(s, j));
}

static double weight_of(const struct softmax *s, size_t j)
{
    return s->weight ? s->weight[j] : s->sum == 0 ? 0 : exponential(s, j) / s->sum;
}

static struct softmax softmax_of(const struct attn_explainer *e)
{
    bool last = e->w->kind.form != ATTN_CAUSAL_RENORM && !attn_explain_masks_late(e) && e->w->kind.dropout <= 0;
    struct softmax s = {.score = attn_explain_query_row(e, ATTN_ACT_SCORES),
                        .weight = last ? attn_explain_query_row(e, ATTN_ACT_PATTERN) : NULL,
                        .largest = -INFINITY, .T = e->w->keys->n};
    for (size_t j = 0; j < s.T; j++)
        s.largest = fmax(s.largest, s.score[j]);
    for (size_t j = 0; j < s.T; j++)
        s.sum += exponential(&s, j);
    return s;
}

/* Scores that are given have no dots. */
static size_t softmax_columns(const struct attn_explainer *e) { return attn_worked_has(e->w, ATTN_ACT_DOTS) ? 7 : 6; }

static void softmax_row(struct attn_explainer *e, const struct softmax *s, size_t j)
{
    attn_explain_token_cell(e, &e->w->keys->tok[j]);
    attn_derive_cell(&e->d, "%zu", j);
    if (attn_worked_has(e->w, ATTN_ACT_DOTS))
        attn_derive_number(&e->d, attn_explain_query_row(e, ATTN_ACT_DOTS)[j],
                           attn_explain_digits(e, ATTN_ACT_DOTS));
    attn_derive_number(&e->d, s->score[j], attn_explain_digits(e, ATTN_ACT_SCORES));
    attn_derive_number(&e->d, below_largest(s, j), e->precision);
    attn_derive_number(&e->d, exponential(s, j), e->precision);
    attn_derive_weight(&e->d, weight_of(s, j), attn_explain_digits(e, ATTN_ACT_PATTERN));
    if (j == e->w->key)
        attn_derive_strong(&e->d, softmax_columns(e));
}

static void softmax_gap(struct attn_explainer *e, const struct softmax *s, size_t from, size_t to)
{
    double exps = 0, weights = 0;
    for (size_t j = from; j < to; j++) {
        exps += exponential(s, j);
        weights += weight_of(s, j);
    }
    attn_derive_cell(&e->d, "… %zu more", to - from);
    attn_derive_blanks(&e->d, softmax_columns(e) - 3);
    attn_derive_number(&e->d, exps, e->precision);
    attn_derive_number(&e->d, weights, attn_explain_digits(e, ATTN_ACT_PATTERN));
}

static void softmax_total(struct attn_explainer *e, const struct softmax *s)
{
    double weights = 0;
    for (size_t j = 0; j < s->T; j++)
        weights += weight_of(s, j);
    attn_derive_cell(&e->d, "sum");
    attn_derive_blanks(&e->d, softmax_columns(e) - 3);
    attn_derive_number(&e->d, s->sum, e->precision);
    attn_derive_number(&e->d, weights, attn_explain_digits(e, ATTN_ACT_PATTERN));
}

static void softmax_table(struct attn_explainer *e, const struct softmax *s)
{
    static const char *const headings[] = {"key", "index", "dot", "score", "- largest", "exp", "weight"};
    struct attn_reach all = {e->w->keys, 0, s->T};
    attn_derive_table(&e->d, softmax_columns(e));
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (i != 2 || attn_worked_has(e->w, ATTN_ACT_DOTS))
            attn_derive_cell(&e->d, "%s", tr(e, headings[i]));
    for (size_t j = 0; j < all.hi; j++) {
        enum attn_showing shown = attn_explain_token_showing(e, all, j);
        if (shown == ATTN_SHOWN)
            softmax_row(e, s, j);
        else if (shown == ATTN_GAP)
            softmax_gap(e, s, j, attn_explain_gap_end(e, all, j));
    }
    softmax_total(e, s);
}

static void introduce_softmax(struct attn_explainer *e)
{
    struct attn_spot query = attn_worked_query(e->w);
    char name[ATTN_TOKEN_NAME];
    attn_derive_words(&e->d, "The scores of %s become weights: take exp of each, and divide by the sum of exp over all "
                             "keys%s.  (Subtracting the largest score first changes nothing but keeps exp small.)",
                      attn_explain_token(e, name, &query),
                      e->w->kind.form == ATTN_CAUSAL_RENORM || attn_explain_masks_late(e) ? "" : tr(e, " it sees"));
    if (e->w->kind.form == ATTN_BLOCK)
        attn_derive_words(&e->d, "The run takes %zu keys at a time (block:%zu) and keeps the largest score and the sum "
                                 "so far: when a larger score comes, that sum and the context so far are multiplied by "
                                 "exp(old largest - new largest).  The result is the same, except for rounding.",
                          e->w->kind.b, e->w->kind.b);
    attn_derive_formula(&e->d, &attn_formula_softmax);
}

void attn_explain_softmax(struct attn_explainer *e)
{
    struct softmax s = softmax_of(e);
    size_t key = e->w->key;
    attn_derive_step(&e->d, "The softmax");
    introduce_softmax(e);
    softmax_table(e, &s);
    attn_derive_sum(&e->d, a_weight(e, weight_of(&s, key)), "weight");
    attn_derive_term(&e->d, ATTN_ADDEND_QUOTIENT, attn_rounded(exponential(&s, key), e->precision),
                     attn_rounded(s.sum, e->precision));
    if (s.largest == -INFINITY)
        attn_derive_words(&e->d, "No key is left: every score is -inf, and every weight 0.");
    else if (s.score[key] == -INFINITY)
        attn_derive_words(&e->d, "exp(-inf) is exactly 0, and so is the weight of a hidden key.");
}

/* ---- masking afterwards ---------------------------------------------------------------- */

static void renorm(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct softmax s = softmax_of(e);
    double kept = 0, pattern = attn_worked_sees_key(w, w->key) ? weight_of(&s, w->key) : 0;
    for (size_t j = 0; j <= w->query; j++)
        kept += weight_of(&s, j);
    attn_derive_step(&e->d, "The mask, after the softmax");
    attn_derive_words(&e->d, "A token may not look at later tokens: their weights become 0, and the others are divided "
                             "by the sum that is left.  This gives the softmax of the visible scores alone, as masking "
                             "with -inf before the softmax does, except for rounding: few correct digits may be left, "
                             "or none.");
    if (w->key > w->query)
        attn_derive_words(&e->d, "Key %zu comes after query %zu: its weight becomes 0.", w->key, w->query);
    attn_derive_sum(&e->d, a_weight(e, kept), "left");
    attn_derive_sum(&e->d, a_weight(e, kept > 0 ? pattern / kept : 0), "weight");
    attn_derive_term(&e->d, ATTN_ADDEND_QUOTIENT, a_weight(e, pattern), a_weight(e, kept));
}

/* The others stay as they are. */
static void mask_weight(struct attn_explainer *e)
{
    attn_derive_step(&e->d, "The mask, at the end");
    attn_derive_words(&e->d, "Weights of hidden keys become 0, and the others stay as they are: they no longer add up "
                             "to 1.");
    if (attn_worked_sees_key(e->w, e->w->key))
        attn_derive_words(&e->d, "Query %zu sees key %zu.", e->w->query, e->w->key);
    else
        attn_derive_words(&e->d, "Key %zu is hidden from query %zu.", e->w->key, e->w->query);
    attn_derive_sum(&e->d, of_key(e, ATTN_ACT_PATTERN), "weight");
}

/* ---- dropout --------------------------------------------------------------------------- */

static void drop(struct attn_explainer *e)
{
    const struct attn_kind *k = &e->w->kind;
    double weight = attn_explain_query_row(e, ATTN_ACT_PATTERN)[e->w->key], grow = 1 / (1 - k->dropout);
    attn_derive_step(&e->d, "Dropout");
    attn_derive_words(&e->d, "As in training, each weight becomes 0 with probability %g, and the others are multiplied "
                             "by 1/(1 - %g), so that sums stay the same on average (seed %zu).", k->dropout,
                      k->dropout, (size_t)k->dropout_seed);
    if (!attn_worked_sees_key(e->w, e->w->key))
        attn_derive_words(&e->d, "The weight of a hidden key is 0 in any case.");
    else if (weight > 0)
        attn_derive_words(&e->d, "This one stays.");
    else
        attn_derive_words(&e->d, "This one is dropped.");
    attn_derive_sum(&e->d, a_weight(e, weight), "weight");
    if (weight > 0)
        attn_derive_term(&e->d, ATTN_ADDEND_PRODUCT, a_weight(e, weight / grow), attn_explain_number(e, grow));
}

/* ---- what the scale does --------------------------------------------------------------- */

struct shape { double largest, entropy; size_t keys; };

/* Describes the softmax of the visible dot products times a scale. */
static struct shape shape_at(const struct attn_explainer *e, double scale)
{
    const double *dot = attn_explain_query_row(e, ATTN_ACT_DOTS);
    struct shape shape = {0, 0, 0};
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < e->w->keys->n; j++)
        if (attn_worked_sees_key(e->w, j))
            most = fmax(most, dot[j] * scale);
    for (size_t j = 0; j < e->w->keys->n; j++)
        if (attn_worked_sees_key(e->w, j))
            sum += exp(dot[j] * scale - most);
    for (size_t j = 0; j < e->w->keys->n; j++) {
        double w = attn_worked_sees_key(e->w, j) ? exp(dot[j] * scale - most) / sum : 0;
        shape.keys += attn_worked_sees_key(e->w, j);
        shape.largest = fmax(shape.largest, w);
        shape.entropy -= w > 0 ? w * log(w) : 0;
    }
    return shape;
}

static void shape_row(struct attn_explainer *e, const char *label, double scale)
{
    struct shape s = shape_at(e, scale);
    attn_derive_cell(&e->d, "%s", tr(e, label));
    attn_derive_number(&e->d, scale, attn_explain_number(e, scale).digits);
    attn_derive_number(&e->d, s.largest, e->precision);
    attn_derive_number(&e->d, s.entropy > 0 ? s.entropy : 0, e->precision);
}

static void show_scaling(struct attn_explainer *e)
{
    static const char *const headings[] = {"scale", "times", "largest weight", "entropy"};
    const struct attn_worked *w = e->w;
    const double wide = 1 / sqrt((double)w->model->w.n.dh), here = w->scale;
    const double root = w->model->attend ? wide : (double)(float)wide;
    size_t keys = shape_at(e, here).keys;
    attn_derive_step(&e->d, "What the scale does");
    attn_derive_words(&e->d, "Here is the softmax of the same dot products with and without the scale.  The larger the "
                             "scores, the more weight goes to one key, and the less gradient is left for the others.  "
                             "The entropy -Σ w ln w is 0 if one key has all the weight and ln %zu = %.*f if %zu keys "
                             "share it equally.",
                      keys, e->precision, log((double)keys), keys);
    attn_derive_headings(&e->d, headings, sizeof headings / sizeof *headings);
    shape_row(e, "of this run", here);
    attn_derive_strong(&e->d, 4);
    if (here != 1)
        shape_row(e, "none", 1);
    if (here != root)
        shape_row(e, "sqrt: 1/√d_head", root);
}

/* ---- all of it ------------------------------------------------------------------------- */

void attn_explain_weight(struct attn_explainer *e)
{
    const struct attn_kind *k = &e->w->kind;
    bool dots = attn_worked_has(e->w, ATTN_ACT_DOTS),
         vectors = attn_worked_has(e->w, ATTN_ACT_Q) && attn_worked_has(e->w, ATTN_ACT_K),
         sum = e->w->model->attend && e->w->model->attend->weights == ATTN_WEIGHTS_SUM;
    if (k->form == ATTN_LINEAR) {
        attn_explain_linear(e);
    } else {
        if (vectors)
            attn_explain_dot(e);
        else
            attn_explain_given_number(e, dots ? ATTN_ACT_DOTS : ATTN_ACT_SCORES);
        if (dots)
            attn_explain_scale(e);
        attn_explain_mask(e);
        if (sum)
            attn_explain_given_sum(e);
        else
            attn_explain_softmax(e);
    }
    if (k->form == ATTN_CAUSAL_RENORM)
        renorm(e);
    else if (attn_explain_masks_late(e))
        mask_weight(e);
    if (k->dropout > 0)
        drop(e);
    if (dots && vectors && !sum && !e->w->model->w.alibi && e->w->model->w.cap == 0)
        show_scaling(e);
}
