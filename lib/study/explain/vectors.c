/* vectors.c - the steps from tokens to a query and a key: what the layer reads of a token, times the weights. */
#include "explain/explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "compute/gemm.h"
#include "compute/position.h"
#include "compute/rows.h"
#include "compute/vec.h"

/* ---- tokens ---------------------------------------------------------------------------- */

static const char *role(const struct attn_explainer *e, const struct attn_tokens *of, size_t t)
{
    bool query = of == e->w->tokens && t == e->w->query, key = of == e->w->keys && t == e->w->key;
    return query && key ? tr(e, "query, key") : query ? tr(e, "query") : key ? tr(e, "key") : "";
}

static void token_table(struct attn_explainer *e, const struct attn_tokens *tokens)
{
    static const char *const headings[] = {"token", "index", "id", "role"};
    struct attn_reach all = {tokens, 0, tokens->n};
    attn_derive_headings(&e->d, headings, 4);
    for (size_t t = 0; t < tokens->n; t++) {
        enum attn_showing s = attn_explain_token_showing(e, all, t);
        if (s == ATTN_SHOWN) {
            attn_explain_token_cell(e, &tokens->tok[t]);
            attn_derive_cell(&e->d, "%zu", t);
            attn_derive_cell(&e->d, "%d", (int)tokens->tok[t].id);
            attn_derive_cell(&e->d, "%s", role(e, tokens, t));
        }
        else if (s == ATTN_GAP)
            attn_derive_gap(&e->d, 4);
    }
}

void attn_explain_tokens(struct attn_explainer *e)
{
    attn_derive_step(&e->d, "The tokens");
    token_table(e, e->w->tokens);
    if (!attn_worked_cross(e->w))
        return;
    char kind[ATTN_EXPLAIN_KIND];
    if (*attn_explain_kind(e, kind))
        attn_derive_words(&e->d, "They look at the tokens of another text (cross-attention).  That text runs through "
                                 "the same layers with the model's own mask and %s, and also starts at position 0:",
                          kind);
    else
        attn_derive_words(&e->d, "They look at the tokens of another text (cross-attention).  That text runs through "
                                 "the same layers with the model's own attention, and also starts at position 0:");
    token_table(e, e->w->keys);
}

/* ---- what the layer reads -------------------------------------------------------------- */

/* Begins a table of vectors of n numbers. */
static void vector_table(struct attn_explainer *e, size_t n)
{
    attn_derive_table(&e->d, attn_explain_cells(e, n) + 1);
    attn_explain_columns(e, n, "");
}

/* Adds a token's row to it. */
static void vector_row(struct attn_explainer *e, int act, const struct attn_spot *s, const char *label)
{
    attn_derive_cell(&e->d, "%s", tr(e, label));
    attn_explain_row(e, attn_spot_row(s, act), s->seen[act].cols, attn_spot_digits(s, act, e->precision));
}

/* The rotation of the layer; NULL: it has none. */
static const struct attn_rope *rope_of(const struct attn_explainer *e)
{
    const struct attn_weights *w = &e->w->model->w;
    int turn = w->block[e->w->layer].rope;
    return w->rotary && turn >= 0 ? &w->rope[turn] : NULL;
}

/* How a token's position comes in, if not in this layer's input. */
static const char *position_words(const struct attn_explainer *e)
{
    const struct attn_weights *all = &e->w->model->w;
    return all->alibi ? tr(e, "  Its position comes in later, when scores grow with that of the key.")
           : rope_of(e) ? tr(e, "  Its position comes in later, when queries and keys are rotated.")
           : all->rotary ? tr(e, "  Its position comes in in other layers: this one does not rotate queries and keys.")
                         : "";
}

static void embedding(struct attn_explainer *e, const struct attn_spot *s)
{
    const struct attn_worked *w = e->w;
    const struct attn_weights *all = &w->model->w;
    bool learned = s->seen[ATTN_ACT_POS_EMBED].x;
    char scaled[48] = "";
    if (all->embed_scale != 0)
        attn_snprintf(scaled, sizeof scaled, tr(e, ", multiplied by %.6g"), (double)all->embed_scale);
    attn_derive_words(&e->d, "Its embedding is row %d of the embedding table%s%s%s (embed).%s",
                      (int)s->of->tok[s->t].id,
                      all->project_in.data ? tr(e, ", projected to the width of the model") : "", scaled,
                      attn_has(&all->embed_norm) && !learned ? tr(e, ", normalised") : "",
                      !learned ? position_words(e) : attn_has(&all->embed_norm)
                          ? tr(e, "  The embedding of its position is added (pos_embed); the sum, normalised, is the "
                                  "layer's input (resid_pre).")
                          : tr(e, "  The embedding of its position is added (pos_embed); the sum is the layer's input "
                                  "(resid_pre)."));
    vector_table(e, w->model->w.n.d);
    vector_row(e, ATTN_ACT_EMBED, s, "embed");
    if (learned) {
        vector_row(e, ATTN_ACT_POS_EMBED, s, "+ pos_embed");
        vector_row(e, ATTN_ACT_RESID_PRE, s, "= resid_pre");
    }
}

static void stream(struct attn_explainer *e, const struct attn_spot *s)
{
    const struct attn_worked *w = e->w;
    attn_derive_words(&e->d, attn_has(&w->model->w.block[0].sum1)
                      ? "The residual stream here is what the layer before has left of it (resid_pre): each sum of the "
                        "stream and what a branch adds is normalised."
                      : w->model->w.residual
                      ? "The residual stream here is the token's embedding plus what the earlier layers have added "
                        "(resid_pre)."
                      : "This is the output of the layer before (resid_pre).");
    vector_table(e, w->model->w.n.d);
    vector_row(e, ATTN_ACT_RESID_PRE, s, "resid_pre");
}

struct moments { double mean, variance, square; };      /* square: the mean of x^2 */

static struct moments moments_of(const float *x, size_t n)
{
    struct moments m = {0};
    for (size_t i = 0; i < n; i++) {
        m.mean += (double)x[i] / (double)n;
        m.square += (double)x[i] * (double)x[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        m.variance += ((double)x[i] - m.mean) * ((double)x[i] - m.mean) / (double)n;
    return m;
}

static void widened_row(struct attn_explainer *e, const struct attn_vec *v, size_t n, float *buf, const char *label)
{
    if (!v->data)
        return;
    attn_vec_widen(buf, v->data, v->type, 0, n);
    attn_derive_cell(&e->d, "%s", tr(e, label));
    attn_explain_floats(e, buf, n, e->precision);
}

static void norm_words(struct attn_explainer *e, const struct attn_norm *norm, const struct moments *m)
{
    char mean[ATTN_NUM_FIXED_MAX + 1], spread[ATTN_NUM_FIXED_MAX + 1], eps[ATTN_NUM_MAX];
    const struct attn_cell cells[] = {{.number = attn_explain_number(e, m->mean)},
                                      {.number = attn_explain_number(e, norm->rms ? m->square : m->variance)}};
    attn_cell_shown(mean, &cells[0]);
    attn_cell_shown(spread, &cells[1]);
    int len = (int)attn_num_f64(eps, e->w->model->config.norm_eps);
    if (norm->rms)
        attn_derive_words(&e->d, "RMSNorm divides x (here resid_pre) by its root mean square.  The mean of x² is "
                          "%s, ε is %.*s (the mean is computed here, in double precision).", spread, len, eps);
    else
        attn_derive_words(&e->d, "LayerNorm normalises x (here resid_pre) to mean 0 and variance 1.  Its mean is %s, "
                                 "its variance %s, ε is %.*s (mean and variance are computed here, in double "
                                 "precision).", mean,
                          spread, len, eps);
}

static int normed(struct attn_explainer *e, const struct attn_spot *s, struct attn_err *err)
{
    const struct attn_norm *norm = &e->w->model->w.block[e->w->layer].norm1;
    const double *x = attn_spot_row(s, ATTN_ACT_RESID_PRE);
    size_t d = e->w->model->w.n.d;
    float *buf = malloc(d * sizeof *buf);
    if (!buf)
        return attn_no_memory(err, NULL, "for %zu numbers", d);
    for (size_t i = 0; i < d; i++)
        buf[i] = (float)x[i];
    struct moments m = moments_of(buf, d);
    double spread = sqrt((norm->rms ? m.square : m.variance) + (double)e->w->model->w.eps),
    centre = norm->rms ? 0 : m.mean;
    norm_words(e, norm, &m);
    attn_derive_formula(&e->d, norm->rms ? &attn_formula_rmsnorm : &attn_formula_layernorm);
    vector_table(e, d);
    vector_row(e, ATTN_ACT_RESID_PRE, s, "x");
    for (size_t i = 0; i < d; i++)
        buf[i] = (float)((x[i] - centre) / spread);
    attn_derive_cell(&e->d, norm->rms ? "x / root" : "(x - mean) / root");
    attn_explain_floats(e, buf, d, e->precision);
    attn_norm_weights(buf, norm, 0, d);
    attn_derive_cell(&e->d, "· weight");
    attn_explain_floats(e, buf, d, e->precision);
    widened_row(e, &norm->bias, d, buf, "+ bias");
    vector_row(e, ATTN_ACT_NORM1, s, "= norm1");
    free(buf);
    return ATTN_OK;
}

int attn_explain_input(struct attn_explainer *e, const struct attn_spot *s, struct attn_err *err)
{
    char token[ATTN_TOKEN_NAME];
    attn_derive_step(&e->d, "What layer %zu reads for %s", e->w->layer, attn_explain_token(e, token, s));
    if (e->w->layer)
        stream(e, s);
    else
        embedding(e, s);
    if (s->seen[ATTN_ACT_NORM1].x)
        return normed(e, s, err);
    attn_derive_words(&e->d, "Attention reads it as it is.");
    return ATTN_OK;
}

static const struct attn_mat *w_of(const struct attn_explainer *e, int act)
{
    const struct attn_block *b = &e->w->model->w.block[e->w->layer];
    return act == ATTN_ACT_Q ? &b->q : &b->k;
}

static struct attn_spot spot_of(const struct attn_explainer *e, int act)
{
    return act == ATTN_ACT_Q ? attn_worked_query(e->w) : attn_worked_key(e->w);
}

/* The activation that attention reads. */
static int read_act(const struct attn_spot *s)
{
    return s->seen[ATTN_ACT_NORM1].x ? ATTN_ACT_NORM1 : ATTN_ACT_RESID_PRE;
}

static size_t head_of(const struct attn_explainer *e, int act)
{
    return act == ATTN_ACT_Q ? e->w->head : e->w->kv;
}

/* ---- queries and keys ------------------------------------------------------------------ */

struct product {                        /* one head's row of x w + bias */
    const struct attn_mat *w;
    struct attn_spot of;
    float *x;                           /* [in] what the product reads */
    size_t first, n;                    /* outputs of the head */
    float *y, *column;                  /* [out] by the run's own arithmetic; [in] weights of one output */
    float *turned;                      /* [out] what is rotated: y clamped and normalised, where that comes before */
    float *raw, *normed;                /* [out] what is normalised, which may be rotated already; the result */
    bool late;                          /* it is */
    const struct attn_norm *norm;       /* of queries or keys; NULL: none */
    float *cos, *sin;                   /* [rotary/2], of the token's position */
};

static void free_product(struct product *p)
{
    free(p->x);
    free(p->y);
    free(p->turned);
    free(p->raw);
    free(p->normed);
    free(p->column);
    free(p->cos);
    free(p->sin);
}

/* The norm of the queries or keys of the layer; NULL: there is none. */
static const struct attn_norm *norm_of(const struct attn_explainer *e, int act)
{
    const struct attn_block *b = &e->w->model->w.block[e->w->layer];
    const struct attn_norm *norm = act == ATTN_ACT_Q ? &b->q_norm : &b->k_norm;
    return attn_has(norm) ? norm : NULL;
}

/* Normalises the products of all heads by the run's own arithmetic. */
static int norm_product(struct product *p, float eps, struct attn_err *err)
{
    size_t n = p->w->out;
    struct attn_rows from = {p->raw, n, 1, n}, to = {p->normed, n, 1, n};
    float *scratch = calloc(2 * n + 1, sizeof *scratch);
    if (!scratch)
        return attn_no_memory(err, NULL, "for %zu numbers", n);
    attn_rows_norm(NULL, &to, &from, p->norm, eps, scratch, scratch + n, NULL);
    free(scratch);
    return ATTN_OK;
}

/* Clamps, normalises and rotates as the model does, as far as a run does not report it. */
static int finish_product(struct product *p, const struct attn_explainer *e, struct attn_err *err)
{
    const struct attn_weights *all = &e->w->model->w;
    size_t n = p->w->out;
    struct attn_rows turned = {p->turned, n, 1, n}, raw = {p->raw, n, 1, n};
    memcpy(p->turned, p->y, n * sizeof *p->y);
    if (all->clip != 0)
        attn_rows_clamp(NULL, &turned, all->clip);
    if (!p->norm)
        return ATTN_OK;
    memcpy(p->raw, p->turned, n * sizeof *p->raw);
    if (p->late && rope_of(e))
        attn_rows_rotate(NULL, &raw, all, p->cos, p->sin);
    int rc = norm_product(p, all->eps, err);
    if (!rc && !p->late)
        memcpy(p->turned, p->normed, n * sizeof *p->turned);
    return rc;
}

static int make_product(struct product *p, const struct attn_explainer *e, int act, struct attn_err *err)
{
    const struct attn_weights *all = &e->w->model->w;
    struct attn_team *team;
    size_t half = all->rotary / 2;
    *p = (struct product){.w = w_of(e, act), .of = spot_of(e, act), .n = all->n.dh, .first = head_of(e,
                          act) * all->n.dh};
    p->x = calloc(p->w->in, sizeof *p->x);
    p->y = calloc(p->w->out, sizeof *p->y);
    p->turned = calloc(p->w->out, sizeof *p->turned);
    p->raw = calloc(p->w->out, sizeof *p->raw);
    p->normed = calloc(p->w->out, sizeof *p->normed);
    p->column = calloc(larger(p->w->in, p->w->out), sizeof *p->column);
    p->cos = calloc(half + 1, sizeof *p->cos);
    p->sin = calloc(half + 1, sizeof *p->sin);
    if (!p->x || !p->y || !p->turned || !p->raw || !p->normed || !p->column || !p->cos || !p->sin)
        return attn_no_memory(err, NULL, "for %zu numbers", p->w->out + p->w->in);
    for (size_t i = 0; i < p->w->in; i++)
        p->x[i] = (float)attn_spot_row(&p->of, read_act(&p->of))[i];
    if (attn_team_new(&team, 1, err))
        return err->code;
    attn_gemm(team, p->y, p->w->out, p->x, p->w->in, 1, p->w, ATTN_STORE, NULL);
    attn_team_free(team);
    p->norm = norm_of(e, act);
    p->late = p->norm && all->late_norms;
    if (rope_of(e))
        attn_rope_cos_sin(p->cos, p->sin, all, rope_of(e), p->of.t, 1, p->of.of->n);
    return finish_product(p, e, err);
}

/* Reads the weights of output j. */
static void read_column(float *column, const struct attn_mat *w, size_t j)
{
    if (w->transposed)
        attn_vec_widen(column, w->data, w->type, attn_mat_index(w, j) * w->ld, w->in);
    else
        for (size_t k = 0; k < w->in; k++)
            attn_vec_widen(column + k, w->data, w->type, k * w->ld + j, 1);
}

static void product_terms(struct attn_explainer *e, const struct product *p, int digits)
{
    double left = 0;
    size_t in = p->w->in, hidden = attn_explain_left_out(e, in);
    for (size_t k = 0; k < in; k++)
        if (attn_explain_showing(e, in, k) != ATTN_SHOWN)
            left += (double)p->x[k] * (double)p->column[k];
    for (size_t k = 0; k < in; k++) {
        enum attn_showing s = attn_explain_showing(e, in, k);
        if (s == ATTN_SHOWN)
            attn_derive_term(&e->d, ATTN_ADDEND_PRODUCT, attn_rounded((double)p->x[k], digits),
                             attn_explain_number(e, (double)p->column[k]));
        else if (s == ATTN_GAP)
            attn_derive_left_out(&e->d, hidden, attn_explain_number(e, left));
    }
}

/* Writes "q[0] = x[0]·w[0] + ... + bias = result". */
static void product_sum(struct attn_explainer *e, const struct product *p, size_t c, const char *name, int digits)
{
    const struct attn_vec *bias = &p->w->bias;
    size_t j = p->first + c;
    read_column(p->column, p->w, j);
    attn_derive_sum(&e->d, attn_rounded((double)p->y[j], digits), "%s[%zu]", name, c);
    product_terms(e, p, attn_spot_digits(&p->of, read_act(&p->of), e->precision));
    if (bias->data) {
        float b = 0;
        attn_vec_widen(&b, bias->data, bias->type, attn_mat_index(p->w, j), 1);
        attn_derive_term(&e->d, ATTN_ADDEND_ALONE, attn_explain_number(e, (double)b), (struct attn_number){0});
    }
}

static void product_sums(struct attn_explainer *e, const struct product *p, const char *name, int digits)
{
    for (size_t c = 0; c < p->n; c++)
        if (attn_explain_showing(e, p->n, c) == ATTN_SHOWN)
            product_sum(e, p, c, name, digits);
    size_t left = attn_explain_left_out(e, p->n);
    if (left)
        attn_derive_words(&e->d, "%zu more numbers, left out here, are sums of the same kind.", left);
}

enum { ROTATION_COLUMNS = 8 };
static const char *const rotation_headings[ROTATION_COLUMNS] = {"i, j", "angle", "cos", "sin", "u[i]", "u[j]",
                                                       "turned[i]", "turned[j]"};

static void rotation_row(struct attn_explainer *e, const struct product *p, int act, size_t i)
{
    const struct attn_weights *all = &e->w->model->w;
    const float *old = p->turned + p->first, *raw = p->raw + p->first;
    const double *turned = attn_spot_row(&p->of, act);
    size_t j = all->interleaved ? 2 * i + 1 : i + all->rotary / 2, pair = i;
    int digits = attn_explain_digits(e, act);
    i = all->interleaved ? 2 * i : i;
    attn_derive_cell(&e->d, "%zu, %zu", i, j);
    attn_derive_number(&e->d, (double)p->of.t * attn_rope_inv_freq(all, rope_of(e), pair, p->of.of->n), e->precision);
    attn_derive_number(&e->d, (double)p->cos[pair], e->precision);
    attn_derive_number(&e->d, (double)p->sin[pair], e->precision);
    attn_derive_number(&e->d, (double)old[i], digits);
    attn_derive_number(&e->d, (double)old[j], digits);
    attn_derive_number(&e->d, p->late ? (double)raw[i] : turned[i], digits);
    attn_derive_number(&e->d, p->late ? (double)raw[j] : turned[j], digits);
}

static void rotation(struct attn_explainer *e, const struct product *p, int act)
{
    const struct attn_weights *all = &e->w->model->w;
    size_t half = all->rotary / 2, t = p->of.t;
    char pairs[ATTN_TOKEN_NAME];
    const char *part = all->rotary < p->n ? tr(e, "the rotated part") : tr(e, "a head");
    if (all->interleaved)
        snprintf(pairs, sizeof pairs, tr(e, "numbers i and j = i + 1 of %s, i even,"), part);
    else
        snprintf(pairs, sizeof pairs,
                 tr(e, "number i of the first half of %s and number j = i + %zu of the second"), part, half);
    attn_derive_words(&e->d, "Rotary positions: %s form a point in the plane, which is rotated (turned) by an angle: "
                             "position %zu times the pair's speed, in radians.  (A run does not report u: it is "
                             "computed here, by the run's own arithmetic.)%s", pairs,
                      t, t ? "" : tr(e, "  At position 0 nothing moves."));
    const struct attn_rope *turn = rope_of(e);
    if (turn && turn->attention_factor != 1)
        attn_derive_words(&e->d,
                          "Cosines and sines are multiplied by %.7g here, as part of how this model takes longer "
                          "texts.",
                          turn->attention_factor);
    attn_derive_formula(&e->d, &attn_formula_rotation);
    attn_derive_headings(&e->d, rotation_headings, ROTATION_COLUMNS);
    for (size_t i = 0; i < half; i++) {
        enum attn_showing s = attn_explain_showing(e, half, i);
        if (s == ATTN_SHOWN)
            rotation_row(e, p, act, i);
        else if (s == ATTN_GAP)
            attn_derive_gap(&e->d, ROTATION_COLUMNS);
    }
    if (all->rotary < p->n)
        attn_derive_words(&e->d, "The numbers from %zu on are not rotated.", all->rotary);
}

/* The norm of a head's query or key. */
static void head_norm(struct attn_explainer *e, const struct product *p)
{
    const struct attn_norm *norm = p->norm;
    size_t from = norm->span ? p->first : 0, n = norm->span ? norm->span : p->w->out, own = norm->own ||
                  !norm->span ? p->first : 0;
    struct moments m = moments_of(p->raw + from, n);
    double spread = sqrt((norm->rms ? m.square : m.variance) + (double)e->w->model->w.eps),
    centre = norm->rms ? 0 : m.mean;
    attn_derive_words(&e->d, norm->span ? p->late ? "After that, u is normalised, in each head by itself.%s"
                                                  : "u is normalised, in each head by itself.%s"
                                        : p->late ? "After that, u is normalised, over all heads at once.%s"
                                                  : "u is normalised, over all heads at once.%s",
                      tr(e, "  (This is computed here, as a run does not report it.)"));
    attn_derive_words(&e->d, norm->rms ? "It is divided by the root of the mean of u² + ε, which is %.*f, and "
                                         "multiplied by weights."
                                       : "Less its mean, it is divided by the root of its variance + ε, which is "
                                         "%.*f, and multiplied by weights.", e->precision, spread);
    vector_table(e, p->n);
    attn_derive_cell(&e->d, "u");
    attn_explain_floats(e, p->raw + p->first, p->n, e->precision);
    for (size_t i = 0; i < p->n; i++)
        p->column[i] = (float)(((double)p->raw[p->first + i] - centre) / spread);
    attn_derive_cell(&e->d, norm->rms ? "u / root" : "(u - mean) / root");
    attn_explain_floats(e, p->column, p->n, e->precision);
    attn_norm_weights(p->column, norm, own, p->n);
    attn_derive_cell(&e->d, "· weight");
    attn_explain_floats(e, p->column, p->n, e->precision);
    if (norm->bias.data) {
        attn_vec_widen(p->column, norm->bias.data, norm->bias.type, own, p->n);
        attn_derive_cell(&e->d, "+ bias");
        attn_explain_floats(e, p->column, p->n, e->precision);
    }
    attn_derive_cell(&e->d, "= u, normalised");
    attn_explain_floats(e, p->normed + p->first, p->n, e->precision);
}

static void whose_head(struct attn_explainer *e, int act)
{
    const struct attn_worked *w = e->w;
    const struct attn_dims *n = &w->model->w.n;
    bool key = act == ATTN_ACT_K;
    size_t each = n->H / n->Hkv, head = head_of(e, act);
    attn_derive_words(&e->d, key ? "Each number is x times one column of W_k%s: columns %zu to %zu belong to head %zu."
                                 : "Each number is x times one column of W_q%s: columns %zu to %zu belong to head %zu.",
                      w_of(e, act)->bias.data ? tr(e, ", plus a bias") : "", head * n->dh, head * n->dh + n->dh - 1,
                      head);
    bool turns = rope_of(e), norm = norm_of(e, act), late = w->model->w.late_norms;
    const float most = w->model->w.clip;
    if (most != 0)
        attn_derive_words(&e->d, "Sums above %.7g become that, and those below -%.7g become that.", (double)most,
                          (double)most);
    if (turns || norm)
        attn_derive_words(&e->d, "These sums are called u; they are %s afterwards.",
                          norm && turns ? late ? tr(e, "rotated, then normalised,") : tr(e, "normalised, then rotated,")
                          : norm ? tr(e, "normalised") : tr(e, "rotated"));
    if (key && each > 1)
        attn_derive_words(&e->d, n->Hkv == 1
                          ? "The model has %zu query heads but only %zu key/value head: query heads %zu to %zu share "
                            "kv head %zu."
                          : "The model has %zu query heads but only %zu key/value heads: query heads %zu to %zu share "
                            "kv head %zu.", n->H, n->Hkv, w->kv * each, w->kv * each + each - 1, w->kv);
}

int attn_explain_vector(struct attn_explainer *e, int act, struct attn_err *err)
{
    const char *name = act == ATTN_ACT_Q ? "q" : "k";
    char token[ATTN_TOKEN_NAME];
    bool rotary = rope_of(e);
    struct product p;
    int rc = make_product(&p, e, act, err);
    if (!rc) {
        attn_derive_step(&e->d, act == ATTN_ACT_Q ? "The query of %s" : "The key of %s",
                         attn_explain_token(e, token, &p.of));
        whose_head(e, act);
        product_sums(e, &p, rotary || p.norm ? "u" : name, attn_explain_digits(e, act));
        if (p.norm && !p.late)
            head_norm(e, &p);
        if (rotary)
            rotation(e, &p, act);
        if (p.late)
            head_norm(e, &p);
        vector_table(e, p.n);
        vector_row(e, act, &p.of, name);
    }
    free_product(&p);
    return rc;
}
