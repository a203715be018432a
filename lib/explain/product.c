/* product.c - the step from what attention reads to a query or a key. */
#include "explain/explain.h"

#include "base/err.h"
#include "compute/gemm.h"
#include "compute/vec.h"
#include "explain/formulas.h"

#include <math.h>
#include <stdlib.h>

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
    const float *x;                     /* [in] what the product reads */
    size_t first, n;                    /* outputs of the head */
    float *y, *column;                  /* [out] by the run's own arithmetic; [in] weights of one output */
    float *cos, *sin;                   /* [rotary/2], of the token's position */
};

static void free_product(struct product *p)
{
    free(p->y);
    free(p->column);
    free(p->cos);
    free(p->sin);
}

static int make_product(struct product *p, const struct attn_explainer *e, int act, struct attn_err *err)
{
    const struct attn_weights *all = &e->w->model->w;
    size_t half = all->rotary / 2;
    *p = (struct product){.w = w_of(e, act), .of = spot_of(e, act), .n = all->n.dh, .first = head_of(e, act) * all->n.dh};
    p->x = attn_spot_row(&p->of, read_act(&p->of));
    p->y = calloc(p->w->out, sizeof *p->y);
    p->column = calloc(p->w->in, sizeof *p->column);
    p->cos = calloc(half + 1, sizeof *p->cos);
    p->sin = calloc(half + 1, sizeof *p->sin);
    if (!p->y || !p->column || !p->cos || !p->sin)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu numbers", p->w->out + p->w->in);
    attn_gemm(NULL, p->y, p->w->out, p->x, p->w->in, 1, p->w, ATTN_STORE, NULL);
    for (size_t i = 0; i < half; i++) {
        p->cos[i] = (float)cos((double)p->of.t * all->speed[i]);
        p->sin[i] = (float)sin((double)p->of.t * all->speed[i]);
    }
    return ATTN_OK;
}

/* Reads the weights of output j. */
static void read_column(float *column, const struct attn_mat *w, size_t j)
{
    if (w->by_output)
        attn_vec_widen(column, w->data, w->type, attn_mat_place(w, j) * w->ld, w->in);
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
            attn_derive_term(&e->d, ATTN_TERM_PRODUCT, (struct attn_number){(double)p->x[k], digits},
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
    attn_derive_sum(&e->d, (struct attn_number){(double)p->y[j], digits}, "%s[%zu]", name, c);
    product_terms(e, p, attn_spot_digits(&p->of, read_act(&p->of), e->precision));
    if (bias->data) {
        float b;
        attn_vec_widen(&b, bias->data, bias->type, attn_mat_place(p->w, j), 1);
        attn_derive_term(&e->d, ATTN_TERM_ALONE, attn_explain_number(e, (double)b), (struct attn_number){0});
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

enum { TURN_COLUMNS = 8 };
static const char *const turn_headings[TURN_COLUMNS] = {"i, j", "angle", "cos", "sin", "u[i]", "u[j]",
                                                       "turned[i]", "turned[j]"};

static void turn_row(struct attn_explainer *e, const struct product *p, int act, size_t i)
{
    const struct attn_weights *all = &e->w->model->w;
    const float *old = p->y + p->first, *new = attn_spot_row(&p->of, act);
    size_t j = i + all->rotary / 2;
    int digits = attn_worked_digits(e->w, act, e->precision);
    attn_derive_cell(&e->d, "%zu, %zu", i, j);
    attn_derive_number(&e->d, (double)p->of.t * all->speed[i], e->precision);
    attn_derive_number(&e->d, (double)p->cos[i], e->precision);
    attn_derive_number(&e->d, (double)p->sin[i], e->precision);
    attn_derive_number(&e->d, (double)old[i], digits);
    attn_derive_number(&e->d, (double)old[j], digits);
    attn_derive_number(&e->d, (double)new[i], digits);
    attn_derive_number(&e->d, (double)new[j], digits);
}

static void turned(struct attn_explainer *e, const struct product *p, int act)
{
    const struct attn_weights *all = &e->w->model->w;
    size_t half = all->rotary / 2, t = p->of.t;
    attn_derive_words(&e->d, "Rotary positions: number i of the first half of %s and number j = i + %zu of the second form a point "
                      "in the plane, which is rotated (turned) by an angle: position %zu times the pair's speed, in radians.  (A "
                      "run does not report u: it is computed here, by the run's own arithmetic.)%s",
                      all->rotary < p->n ? "the rotated part" : "a head", half, t, t ? "" : "  At position 0 nothing "
                                                                                          "moves.");
    attn_derive_formula(&e->d, &attn_formula_turn);
    attn_derive_headings(&e->d, turn_headings, TURN_COLUMNS);
    for (size_t i = 0; i < half; i++) {
        enum attn_showing s = attn_explain_showing(e, half, i);
        if (s == ATTN_SHOWN)
            turn_row(e, p, act, i);
        else if (s == ATTN_GAP)
            attn_derive_gap(&e->d, TURN_COLUMNS);
    }
    if (all->rotary < p->n)
        attn_derive_words(&e->d, "The numbers from %zu on are not rotated.", all->rotary);
}

static void whose_head(struct attn_explainer *e, int act)
{
    const struct attn_worked *w = e->w;
    const struct attn_dims *n = &w->model->w.n;
    bool key = act == ATTN_ACT_K;
    size_t each = n->H / n->Hkv, head = head_of(e, act);
    attn_derive_words(&e->d, "Each number is the dot product of what the layer reads and one column of the %s weights%s: outputs "
                      "%zu to %zu belong to head %zu.", key ? "key" : "query",
                      w_of(e, act)->bias.data ? ", plus a bias" : "", head * n->dh,
                      head * n->dh + n->dh - 1, head);
    if (e->w->model->w.rotary)
        attn_derive_words(&e->d, "These sums are called u; they are rotated afterwards.");
    if (key && each > 1)
        attn_derive_words(&e->d, "The model has %zu query heads but only %zu key/value head%s: query heads %zu to %zu "
                          "share kv head %zu.", n->H,
                          n->Hkv, n->Hkv == 1 ? "" : "s", w->kv * each, w->kv * each + each - 1, w->kv);
}

int attn_explain_vector(struct attn_explainer *e, int act, struct attn_err *err)
{
    const struct attn_worked *w = e->w;
    const char *name = act == ATTN_ACT_Q ? "q" : "k";
    char token[ATTN_TOKEN_NAME];
    bool turns = w->model->w.rotary;
    struct product p;
    int rc = make_product(&p, e, act, err);
    if (!rc) {
        attn_derive_step(&e->d, "The %s of %s", act == ATTN_ACT_Q ? "query" : "key", attn_explain_token(token, &p.of));
        whose_head(e, act);
        product_sums(e, &p, turns ? "u" : name, attn_worked_digits(w, act, e->precision));
        if (turns)
            turned(e, &p, act);
        attn_explain_vectors(e, p.n);
        attn_explain_activation(e, act, &p.of, name);
    }
    free_product(&p);
    return rc;
}
