/* input.c - the steps from tokens to what attention reads. */
#include "explain/explain.h"

#include "base/err.h"
#include "compute/vec.h"
#include "explain/formulas.h"

#include <math.h>
#include <stdlib.h>

/* ---- tokens ---------------------------------------------------------------------------- */

static const char *role(const struct attn_worked *w, const struct attn_tokens *of, size_t t)
{
    bool query = of == w->tokens && t == w->query, key = of == w->keys && t == w->key;
    return query && key ? "query, key" : query ? "query" : key ? "key" : "";
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
            attn_derive_cell(&e->d, "%s", role(e->w, tokens, t));
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
    char note[ATTN_KIND_NOTE];
    bool own = !*attn_kind_note(note, &e->asked);
    attn_derive_words(&e->d, "They look at the tokens of another text (cross-attention).  That text runs through the same layers "
                      "with the model's own %s%s, and also starts at position 0:", own ? "attention" : "mask", note);
    token_table(e, e->w->keys);
}

/* ---- what the layer reads -------------------------------------------------------------- */

static void embedding(struct attn_explainer *e, const struct attn_spot *s)
{
    const struct attn_worked *w = e->w;
    bool learned = s->seen[ATTN_ACT_POS_EMBED].x, turned = w->model->w.rotary;
    attn_derive_words(&e->d, "Its embedding is row %d of the embedding table (embed).  %s", (int)s->of->tok[s->t].id,
                      learned ? "The embedding of its position is added (pos_embed); the sum is the layer's input "
                                "(resid_pre)."
                      : turned ? "Its position comes in later, when queries and keys are rotated."
                               : "The model has no position embeddings: nothing is added.");
    attn_explain_vectors(e, w->model->w.n.d);
    attn_explain_activation(e, ATTN_ACT_EMBED, s, "embed");
    if (learned) {
        attn_explain_activation(e, ATTN_ACT_POS_EMBED, s, "+ pos_embed");
        attn_explain_activation(e, ATTN_ACT_RESID_PRE, s, "= resid_pre");
    }
}

static void stream(struct attn_explainer *e, const struct attn_spot *s)
{
    const struct attn_worked *w = e->w;
    attn_derive_words(&e->d, w->model->w.residual
                      ? "The residual stream here is the token's embedding plus what the earlier layers have added (resid_pre)."
                      : "This is the output of the layer before (resid_pre); the model has no residual stream.");
    attn_explain_vectors(e, w->model->w.n.d);
    attn_explain_activation(e, ATTN_ACT_RESID_PRE, s, "resid_pre");
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
    attn_derive_cell(&e->d, "%s", label);
    attn_explain_row(e, buf, n, e->precision);
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
        attn_derive_words(&e->d, "LayerNorm normalises x (here resid_pre) to mean 0 and variance 1.  Its mean is %s, its "
                          "variance %s, ε is %.*s (mean and variance are computed here, in double precision).", mean, spread,
                          len, eps);
}

static int normed(struct attn_explainer *e, const struct attn_spot *s, struct attn_err *err)
{
    const struct attn_norm *norm = &e->w->model->w.block[e->w->layer].norm1;
    const float *x = attn_spot_row(s, ATTN_ACT_RESID_PRE);
    size_t d = e->w->model->w.n.d;
    struct moments m = moments_of(x, d);
    double spread = sqrt((norm->rms ? m.square : m.variance) + (double)e->w->model->w.eps), centre = norm->rms ? 0 : m.mean;
    float *buf = malloc(d * sizeof *buf);
    if (!buf)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu numbers", d);
    norm_words(e, norm, &m);
    attn_derive_formula(&e->d, norm->rms ? &attn_formula_rmsnorm : &attn_formula_layernorm);
    attn_explain_vectors(e, d);
    attn_explain_activation(e, ATTN_ACT_RESID_PRE, s, "x");
    for (size_t i = 0; i < d; i++)
        buf[i] = (float)(((double)x[i] - centre) / spread);
    attn_derive_cell(&e->d, norm->rms ? "x / root" : "(x - mean) / root");
    attn_explain_row(e, buf, d, e->precision);
    widened_row(e, &norm->weight, d, buf, "· weight");
    widened_row(e, &norm->bias, d, buf, "+ bias");
    attn_explain_activation(e, ATTN_ACT_NORM1, s, "= norm1");
    free(buf);
    return ATTN_OK;
}

int attn_explain_input(struct attn_explainer *e, const struct attn_spot *s, struct attn_err *err)
{
    char token[ATTN_TOKEN_NAME];
    attn_derive_step(&e->d, "What layer %zu reads for %s", e->w->layer, attn_explain_token(token, s));
    if (e->w->layer)
        stream(e, s);
    else
        embedding(e, s);
    if (s->seen[ATTN_ACT_NORM1].x)
        return normed(e, s, err);
    attn_derive_words(&e->d, "There is no norm: attention reads it as it is.");
    return ATTN_OK;
}
