/* attribute.c - which part of the residual stream says how much of a logit?
 *
 * The stream before the final norm is a sum: embeddings, each head's part of attention's output, its bias, each MLP's
 * output. With the norm's scale frozen at what it is for the whole row, the logit is linear in that sum:
 *
 *     logit = sum over parts c of  centre(c) / scale * gain . u  +  norm bias . u  +  output bias,
 *
 * where u is the token's column of the output layer, or the difference of two.  Centring (of a LayerNorm), scale and
 * gain go into one direction, so that a part's share is a single product with it; for a head or a neuron, the direction
 * is first taken back through its rows of the projection.  A norm of what a branch gives is frozen in the same way, and
 * multipliers belong to what they multiply.  A soft cap of logits comes after all that: the logit is the one before it.
 * Weights and activations are float32 or less, sums are in double. */
#include "answers/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/metric.h"
#include "ask/edit_place.h"
#include "base/err.h"
#include "base/size.h"
#include "compute/rows.h"
#include "trace/spec.h"

/* What is needed of one row of the run. */
struct row {
    const struct attn_attribution *a;
    size_t L;
    bool neurons;
    float *embed, *pos_embed;           /* [d]; not announced: all 0 */
    /* [L, H * dv], [L, d], [L, d], [L, m]; out: attention's, where it is normalised */
    float *context, *out, *mlp, *post;
    float *last, *final;                /* [d] the stream before the final norm; after it, if logits are capped */
    float target, foil;                 /* logits */
};

/* ---- the run --------------------------------------------------------------------------- */

/* Where a row of an activation goes; NULL: nowhere. */
static float *place(const struct row *r, int act, int layer)
{
    const struct attn_dims *n = &r->a->model->w.n;
    switch (act) {
    case ATTN_ACT_EMBED:      return r->embed;
    case ATTN_ACT_POS_EMBED:  return r->pos_embed;
    case ATTN_ACT_CONTEXT:    return r->context + (size_t)layer * n->H * n->dv;
    case ATTN_ACT_OUT:        return r->out ? r->out + (size_t)layer * n->d : NULL;
    case ATTN_ACT_MLP_OUT:    return r->mlp + (size_t)layer * n->d;
    case ATTN_ACT_MLP_POST:   return r->neurons ? r->post + (size_t)layer * n->m : NULL;
    case ATTN_ACT_RESID_POST: return (size_t)layer + 1 == r->L ? r->last : NULL;
    case ATTN_ACT_NORM_FINAL: return r->final;
    default:                  return NULL;
    }
}

static unsigned wants(void *self, int act, int layer)
{
    const struct row *r = self;
    bool last = r->a->pos + 1 == r->a->tokens->n && act >= ATTN_ACT_NORM_FINAL;
    return act == ATTN_ACT_LOGITS || place(r, act, layer) ? ATTN_WATCH | (last ? ATTN_LAST : 0) : 0;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    struct row *r = self;
    const struct attn_attribute_opts *o = r->a->o;
    if (r->a->pos < p->row0 || r->a->pos >= p->row0 + p->rows)
        return ATTN_OK;
    const float *from = p->data + (r->a->pos - p->row0) * p->ld;
    if (p->act == ATTN_ACT_LOGITS) {
        r->target = from[o->target];
        r->foil = o->foil ? from[*o->foil] : 0;
    } else {
        memcpy(place(r, p->act, p->layer), from, p->cols * sizeof *from);
    }
    return ATTN_OK;
}

static int run(struct row *r, struct attn_err *err)
{
    const struct attn_attribute_opts *o = r->a->o;
    struct attn_plan plan = {.threads = o->threads, .kind = o->kind};
    struct attn_observer *all = calloc(o->n_observers + 1, sizeof *all);
    if (!all)
        return attn_no_memory(err, NULL, "for %zu observers", o->n_observers);
    if (o->n_observers)
        memcpy(all, o->observers, o->n_observers * sizeof *all);
    all[o->n_observers] = (struct attn_observer){.wants = wants, .watch = watch, .self = r};
    int rc = attn_run_tokens(r->a->model, &plan, r->a->tokens, NULL, all, o->n_observers + 1, err);
    free(all);
    return rc;
}

static int make_row(struct row *r, struct attn_err *err)
{
    const struct attn_weights *w = &r->a->model->w;
    const struct attn_dims *n = &w->n;
    r->L = n->L;
    r->neurons = r->a->o->neurons && w->mlp != ATTN_MLP_NONE;
    r->embed = calloc(n->d, sizeof *r->embed);
    r->pos_embed = calloc(n->d, sizeof *r->pos_embed);
    r->last = calloc(n->d, sizeof *r->last);
    bool capped = w->logit_cap != 0 && attn_has(&w->final);
    r->final = capped ? calloc(n->d, sizeof *r->final) : NULL;
    r->context = calloc(n->L + 1, n->H * n->dv * sizeof *r->context);
    r->mlp = calloc(n->L + 1, n->d * sizeof *r->mlp);
    r->out = attn_adds_apart(w) ? calloc(n->L + 1, n->d * sizeof *r->out) : NULL;
    r->post = calloc(n->L + 1, larger(n->m, 1) * sizeof *r->post);
    bool optional = (r->final || !capped) && (r->out || !attn_adds_apart(w));
    return r->embed && r->pos_embed && r->last && r->context && r->mlp && r->post && optional ? ATTN_OK
           : attn_no_memory(err, NULL, "for a row of %zu layers", n->L);
}

static void free_row(struct row *r)
{
    free(r->embed);
    free(r->pos_embed);
    free(r->last);
    free(r->final);
    free(r->context);
    free(r->mlp);
    free(r->out);
    free(r->post);
}

/* ---- the direction --------------------------------------------------------------------- */

/* Numbers of a matrix and how to read them. */
struct sight {
    const struct attn_weights *w;
    double *u, *direction;              /* [d] the token's column; that times gain over scale, centred */
    double *branch;                     /* [d] the direction before the norm and the multiplier of a branch */
    double *embed_proj;                 /* [in of the output layer] the token's column there, if it is projected to */
    double *back;                       /* [largest input of a projection] the direction before it */
    float *line;                        /* a stored row of any matrix */
};

static double number(const struct attn_vec *v, size_t i)
{
    float x = 0;
    attn_vec_widen(&x, v->data, v->type, i, 1);
    return (double)x;
}

/* u += sign * column j. */
static void add_column(const struct sight *s, double *u, const struct attn_mat *w, size_t j, double sign)
{
    size_t row = attn_mat_index(w, j);
    if (w->transposed)
        attn_vec_widen(s->line, w->data, w->type, row * w->ld, w->in);
    for (size_t i = 0; i < w->in; i++) {
        if (!w->transposed)
            attn_vec_widen(s->line + i, w->data, w->type, i * w->ld + row, 1);
        u[i] += sign * (double)s->line[i];
    }
}

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* What a norm divides this row by. */
static double scale_of(const struct attn_weights *w, const struct attn_norm *norm, const float *x)
{
    double middle = 0, squares = 0;
    size_t d = w->n.d;
    if (!attn_has(norm))
        return 1;
    for (size_t i = 0; i < d && !norm->rms; i++)
        middle += (double)x[i] / (double)d;
    for (size_t i = 0; i < d; i++)
        squares += ((double)x[i] - middle) * ((double)x[i] - middle);
    return sqrt(squares / (double)d + (double)w->eps);
}

/* to: the direction before a norm of row x, whose scale is frozen, that gives `from` behind it. */
static void before_norm(double *to, const double *from, const struct attn_weights *w, const struct attn_norm *norm,
                        const float *x)
{
    size_t d = w->n.d;
    double scale = scale_of(w, norm, x), middle;
    for (size_t i = 0; i < d; i++) {
        float gain = 1;
        if (attn_has(norm))
            attn_norm_weights(&gain, norm, i, 1);
        to[i] = from[i] * (double)gain / scale;
    }
    middle = attn_has(norm) && !norm->rms ? mean(to, d) : 0;
    for (size_t i = 0; i < d; i++)
        to[i] -= middle;                /* a product with it centres the other factor */
}

/* back[in] += w from. */
static void through(const struct sight *s, double *back, const struct attn_mat *w, const double *from)
{
    for (size_t row = 0; row < (w->transposed ? w->out : w->in); row++) {
        size_t at = w->transposed ? attn_mat_index(w, row) : row, n = w->transposed ? w->in : w->out;
        attn_vec_widen(s->line, w->data, w->type, at * w->ld, n);
        for (size_t i = 0; i < n; i++)
            back[w->transposed ? i : row] += (double)s->line[i] * from[w->transposed ? row : i];
    }
}

static void find_direction(const struct sight *s, const struct row *r)
{
    const struct attn_attribute_opts *o = r->a->o;
    const struct attn_weights *w = s->w;
    double *u = w->project_out.data ? s->embed_proj : s->u;
    add_column(s, u, &w->unembed, (size_t)o->target, 1);
    if (o->foil)
        add_column(s, u, &w->unembed, (size_t)*o->foil, -1);
    if (w->project_out.data)
        through(s, s->u, &w->project_out, u);
    for (size_t i = 0; i < w->n.d && w->logit_scale != 0; i++)
        s->u[i] *= (double)w->logit_scale;
    before_norm(s->direction, s->u, w, &w->final, r->last);
}

/* The direction before what is done with the output x of a branch, until it is added. */
static void enter_branch(const struct sight *s, const struct attn_norm *post, const float *x)
{
    before_norm(s->branch, s->direction, s->w, post, x);
    for (size_t i = 0; i < s->w->n.d && s->w->branch_scale != 0; i++)
        s->branch[i] *= (double)s->w->branch_scale;
}

/* back[in] = w times the branch's direction; without w, that itself. */
static void take_back(const struct sight *s, const struct attn_mat *w)
{
    if (!w->data) {
        memcpy(s->back, s->branch, s->w->n.d * sizeof *s->back);
        return;
    }
    memset(s->back, 0, w->in * sizeof *s->back);
    through(s, s->back, w, s->branch);
}

static double product(const float *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * y[i];
    return sum;
}

static double product_of(const struct attn_vec *v, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += number(v, i) * y[i];
    return sum;
}

/* ---- the parts ------------------------------------------------------------------------- */

static void add(struct attn_attribution *a, const char *name, int layer, int head, double value)
{
    struct attn_portion *p = &a->part[a->n++];
    *p = (struct attn_portion){.layer = layer, .head = head, .value = value};
    snprintf(p->name, sizeof p->name, "%s", name);
    a->sum += value;
}

static void add_layer(struct attn_attribution *a, const struct sight *s, const struct row *r, size_t layer)
{
    const struct attn_block *b = &s->w->block[layer];
    const struct attn_dims *n = &s->w->n;
    char name[ATTN_NAME_MAX];
    enter_branch(s, &b->post1, r->out ? r->out + layer * n->d : NULL);
    take_back(s, &b->o);
    for (size_t h = 0; h < n->H; h++) {
        snprintf(name, sizeof name, "L%zuH%zu", layer, h);
        add(a, name, (int)layer, (int)h, product(r->context + (layer * n->H + h) * n->dv, s->back + h * n->dv, n->dv));
    }
    if (b->o.bias.data) {
        snprintf(name, sizeof name, "L%zu.attn.bias", layer);
        add(a, name, (int)layer, -1, product_of(&b->o.bias, s->branch, n->d));
    }
    if (s->w->mlp == ATTN_MLP_NONE)
        return;
    snprintf(name, sizeof name, "L%zu.mlp", layer);
    enter_branch(s, &b->post2, r->mlp + layer * n->d);
    add(a, name, (int)layer, -1, product(r->mlp + layer * n->d, s->branch, n->d));
}

/* What the output layer's bias adds. */
static double output_bias(const struct attn_attribution *a, const struct attn_weights *w)
{
    double own = w->unembed.bias.data ? number(&w->unembed.bias, (size_t)a->o->target) : 0;
    if (w->unembed.bias.data && a->o->foil)
        own -= number(&w->unembed.bias, (size_t)*a->o->foil);
    return (w->logit_scale != 0 ? (double)w->logit_scale : 1) * own;
}

/* What does not come from the stream: the final norm's bias and that of the output layer. */
static double bias_of(const struct attn_attribution *a, const struct sight *s)
{
    const struct attn_weights *w = s->w;
    return (w->final.bias.data ? product_of(&w->final.bias, s->u, w->n.d) : 0) + output_bias(a, w);
}

/* The logit, or the difference of two; before the cap if there is one. */
static double logit_of(const struct attn_attribution *a, const struct sight *s, const struct row *r)
{
    if (s->w->logit_cap == 0)
        return (double)r->target - (double)r->foil;
    return product(r->final ? r->final : r->last, s->u, s->w->n.d) + output_bias(a, s->w);
}

/* The direction of what tokens and positions give: before the norm of their sum, where there is one. */
static const double *enter_stream(const struct sight *s, const struct row *r)
{
    if (!attn_norms_positions(s->w))
        return s->direction;
    float *sum = s->line;
    for (size_t i = 0; i < s->w->n.d; i++)
        sum[i] = r->embed[i] + r->pos_embed[i];
    before_norm(s->branch, s->direction, s->w, &s->w->embed_norm, sum);
    return s->branch;
}

static void add_parts(struct attn_attribution *a, const struct sight *s, const struct row *r)
{
    const struct attn_weights *w = s->w;
    const double *before = enter_stream(s, r);
    add(a, "embed", -1, -1, product(r->embed, before, w->n.d));
    if (attn_adds_positions(w))
        add(a, "pos_embed", -1, -1, product(r->pos_embed, before, w->n.d));
    if (attn_norms_positions(w) && w->embed_norm.bias.data)
        add(a, "norm_embed.bias", -1, -1, product_of(&w->embed_norm.bias, s->direction, w->n.d));
    for (size_t layer = 0; layer < w->n.L; layer++)
        add_layer(a, s, r, layer);
    if (w->final.bias.data || w->unembed.bias.data)
        add(a, "bias", -1, -1, bias_of(a, s));
    a->logit = logit_of(a, s, r);
}

/* ---- neurons --------------------------------------------------------------------------- */

int attn_portion_by_size(const void *a, const void *b)
{
    const struct attn_portion *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? 1 : -1;
    if (!isnan(x->value) && fabs(x->value) != fabs(y->value))
        return fabs(x->value) > fabs(y->value) ? -1 : 1;
    return x->layer != y->layer ? x->layer - y->layer : x->head - y->head;
}

static int find_neurons(struct attn_attribution *a, const struct sight *s, const struct row *r, struct attn_err *err)
{
    size_t L = s->w->n.L, m = s->w->n.m;
    if (!r->neurons)
        return ATTN_OK;
    a->neuron = calloc(L + 1, m * sizeof *a->neuron);
    if (!a->neuron)
        return attn_no_memory(err, NULL, "for %zu neurons", L * m);
    for (size_t layer = 0; layer < L; layer++) {
        enter_branch(s, &s->w->block[layer].post2, r->mlp + layer * s->w->n.d);
        take_back(s, &s->w->block[layer].out);
        for (size_t i = 0; i < m; i++)
            a->neuron[layer * m + i] = (struct attn_portion){
                .layer = (int)layer, .head = (int)i, .value = (double)r->post[layer * m + i] * s->back[i]};
    }
    qsort(a->neuron, L * m, sizeof *a->neuron, attn_portion_by_size);
    a->neurons = smaller(L * m, a->o->neurons);
    for (size_t i = 0; i < a->neurons; i++)
        snprintf(a->neuron[i].name, sizeof a->neuron[i].name, "L%dN%d", a->neuron[i].layer, a->neuron[i].head);
    return ATTN_OK;
}

/* ---- all of it ------------------------------------------------------------------------- */

static int attribute(struct attn_attribution *a, const struct row *r, struct attn_err *err)
{
    const struct attn_weights *w = &a->model->w;
    const struct attn_dims *n = &w->n;
    size_t context = n->H * n->dv, most = larger(larger(n->d, n->m), larger(context, n->V));
    most = larger(most, w->unembed.in);
    struct sight s = {w, calloc(n->d, sizeof *s.u), calloc(n->d, sizeof *s.direction), calloc(n->d, sizeof *s.branch),
                      calloc(w->unembed.in, sizeof *s.embed_proj), calloc(most, sizeof *s.back),
                      calloc(most, sizeof *s.line)};
    a->part = calloc(4 + n->L * (n->H + 2), sizeof *a->part);
    bool room = s.u && s.direction && s.branch && s.embed_proj && s.back && s.line && a->part;
    int rc = room ? ATTN_OK : attn_no_memory(err, NULL, "for %zu layers", n->L);
    if (!rc) {
        find_direction(&s, r);
        add_parts(a, &s, r);
        rc = find_neurons(a, &s, r, err);
    }
    free(s.u);
    free(s.direction);
    free(s.branch);
    free(s.embed_proj);
    free(s.back);
    free(s.line);
    return rc;
}

/* What parts add is found from the context of heads and from the MLP's output: an edit behind these would be missed. */
static int check_edited(const struct attn_attribution *a, int act, struct attn_err *err)
{
    if (act == ATTN_ACT_LOGITS && a->model->w.logit_cap != 0)
        return attn_fail(err, ATTN_EUSAGE, "model '%s' caps its logits, and what is taken apart comes before the cap, "
                                           "where edits of logits change nothing: edit norm_final",
                         a->model->source.name);
    if (act == ATTN_ACT_OUT || act == ATTN_ACT_ADDED || act == ATTN_ACT_MLP_ADDED)
        return attn_fail(err, ATTN_EUSAGE,
                         "an edit of %s comes after the parts that are told apart: edit %s", attn_act_tail(act),
                         act == ATTN_ACT_MLP_ADDED ? "mlp.out" : "heads, as in L0H*, or the stream, as resid_mid");
    return ATTN_OK;
}

static int check_edits(const struct attn_attribution *a, struct attn_err *err)
{
    const struct attn_edits *edits = a->o->edits;
    struct attn_venue v = {.hooks = attn_model_hook_points(a->model, &a->o->kind),
                           .linear = a->o->kind.form == ATTN_LINEAR};
    struct attn_edit_reaches all = {0};
    int rc = ATTN_OK;
    attn_model_info(a->model, &v.info);
    for (size_t i = 0; edits && i < edits->n && !rc; i++)
        rc = attn_place_find(&all, &edits->edit[i], &v, err);
    for (size_t i = 0; i < all.n && !rc; i++)
        rc = check_edited(a, all.item[i].act, err);
    attn_edit_reaches_free(&all);
    return rc;
}

static int check(const struct attn_attribution *a, struct attn_err *err)
{
    const struct attn_weights *w = &a->model->w;
    const char *name = a->model->source.name;
    if (!w->unembed.data)
        return attn_fail(err, ATTN_EFORMAT, "model '%s' has no output layer: there is no logit to take apart", name);
    if (!w->residual)
        return attn_fail(err, ATTN_EFORMAT,
                         "model '%s' has no residual connections: what a layer computes is not added to what was "
                         "there, so a logit is not a sum of its parts", name);
    if (w->n.L && (attn_has(&w->block[0].sum1) || w->post_norm_residual))
        return attn_fail(err, ATTN_EFORMAT, "model '%s' (%s) normalises its residual stream after each addition, so a "
                                            "logit is not a sum of what its parts add", name,
                         attn_model_family(a->model));
    int rc = check_edits(a, err);
    if (rc)
        return rc;
    if (a->o->kind.dropout > 0)
        return attn_fail(err, ATTN_EUSAGE, "dropout does not go with attribution, which would be that of one draw: "
                                           "leave --dropout out");
    if (a->o->kind.form == ATTN_LINEAR)
        return attn_fail(err, ATTN_EUSAGE,
                         "linear attention does not go with attribution, as it has no gradients: take another kind of "
                         "attention");
    if (a->o->pos < -(int64_t)a->tokens->n || a->o->pos >= (int64_t)a->tokens->n)
        return attn_fail(err, ATTN_EUSAGE, "position %lld: the text has %zu token%s, 0 to %zu, or -1 to -%zu from the "
                                           "end",
                         (long long)a->o->pos, a->tokens->n, a->tokens->n == 1 ? "" :
                         "s", a->tokens->n - 1, a->tokens->n);
    return ATTN_OK;
}

int attn_attribution_find(struct attn_attribution *a, struct attn_err *err)
{
    struct row r = {.a = a};
    int rc = attn_run_check_tokens(a->model, a->tokens, NULL, err);
    if (!rc)
        rc = check(a, err);
    if (!rc)
        rc = attn_token_check(a->model, a->o->target, err);
    if (!rc && a->o->foil)
        rc = attn_token_check(a->model, *a->o->foil, err);
    if (rc)
        return rc;
    a->pos = a->o->pos < 0 ? a->tokens->n - (size_t)-a->o->pos : (size_t)a->o->pos;
    rc = make_row(&r, err);
    if (!rc)
        rc = run(&r, err);
    if (!rc)
        rc = attribute(a, &r, err);
    free_row(&r);
    return rc;
}

void attn_attribution_free(struct attn_attribution *a)
{
    free(a->part);
    free(a->neuron);
}

/* Keeps the parts of the layers and heads that were asked for; neither the sum nor the logit changes. */
static int choose_rows(struct attn_attribution *a, struct attn_err *err)
{
    const struct attn_dims *n = &a->model->w.n;
    const struct attn_spec layers = {"--layer", "layer", a->o->layers, n->L, "model", a->model->source.name};
    const struct attn_spec heads = {"--head", "head", a->o->heads, n->H, "model", a->model->source.name};
    if (!a->o->layers && !a->o->heads)
        return ATTN_OK;
    bool *keep = calloc(n->L + n->H + 1, sizeof *keep);
    if (!keep)
        return attn_no_memory(err, NULL, "to choose parts");
    int rc = attn_spec_both(keep, keep + n->L, &layers, &heads, err);
    size_t kept = 0;
    for (size_t i = 0; i < a->n && !rc; i++) {
        const struct attn_portion *p = &a->part[i];
        if (p->layer >= 0 && keep[p->layer] && (p->head >= 0 ? keep[n->L + (size_t)p->head] : !a->o->heads))
            a->part[kept++] = *p;
    }
    a->n = rc ? a->n : kept;
    free(keep);
    return rc;
}

static int carry_out(struct attn_attribution *a, struct attn_out *to, struct attn_err *err)
{
    struct attn_out *out;
    int rc = attn_format_check(a->o->format, ATTN_FORMAT_TABLE | ATTN_FORMAT_FIGURE, err);
    if (!rc)
        rc = attn_attribution_find(a, err);
    if (!rc)
        rc = choose_rows(a, err);
    if (!rc)
        rc = attn_out_open_into(&out, to, a->o->path, err);
    return rc ? rc : attn_out_end_into(out, to, attn_attribution_write(out, a, err), err);
}

int attn_attribute_into(struct attn_out *to, const struct attn_model *m, const struct attn_tokens *tokens,
                        const struct attn_attribute_opts *o, struct attn_err *err)
{
    struct attn_attribution a = {.model = m, .tokens = tokens, .o = o};
    int rc = carry_out(&a, to, err);
    attn_attribution_free(&a);
    return rc;
}

int attn_attribute(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_attribute_opts *o,
                   struct attn_err *err)
{
    return attn_attribute_into(NULL, m, tokens, o, err);
}
