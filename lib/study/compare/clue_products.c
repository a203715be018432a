/* clue_products.c - causes seen when products are computed anew with the weights: what was multiplied, and by what? */
#include "compare/diff.h"

#include <math.h>
#include <stdlib.h>

#include "compare/recompute.h"
#include "model/model.h"

static const struct attn_how as_is = {0};

/* ---- the weight ------------------------------------------------------------------------ */

bool attn_clue_transposed(struct clue *c)
{
    struct attn_pair x;
    const struct attn_how how = {.transposed = true};
    bool a;
    return c->model && attn_clue_input(c, &x) && attn_remade_with(c, &x, &how, &a) &&
           attn_clue_tell(c, a, "@ multiplies by the transpose of the weight that # uses");
}

bool attn_clue_bias(struct clue *c)
{
    struct attn_pair x;
    const struct attn_how none = {.biases = -1}, twice = {.biases = 1};
    bool a;
    if (!c->model || !attn_clue_input(c, &x))
        return false;
    if (attn_remade_with(c, &x, &none, &a))
        return attn_clue_tell(c, a, "@ multiplies by the weight but does not add its bias, # does");
    return attn_remade_with(c, &x, &twice, &a) &&
           attn_clue_tell(c, a, "@ adds the bias of the weight twice, # once");
}

static bool say_tied(struct clue *c, bool a)
{
    return attn_clue_tell(c, a, "@'s output layer is the embedding (tied), #'s is separate");
}

/* By a model whose output layer is not the embedding: one side's logits come of it, the other's of the embedding. */
static bool tied_by_model(struct clue *c, const struct attn_pair *x)
{
    const struct attn_weights *all = &c->model->w;
    struct attn_mat w = all->embed;                     /* as the output layer: bind.c ties it in the same way */
    bool a;
    w.in = all->embed.out;
    w.out = all->embed.in;
    w.transposed = true;
    w.bias = all->unembed.bias;
    const struct attn_how how = {.w = &w};
    bool apart = all->embed.data && all->unembed.data && all->unembed.data != all->embed.data;
    return apart && attn_remade_with(c, x, &how, &a) && say_tied(c, a);
}

/* Either model may be the one that has both. */
static bool tied_by_models(struct clue *c, const struct attn_pair *x)
{
    const struct attn_model *first = c->model, *second = c->d->o.model_b;
    bool found = tied_by_model(c, x);
    c->model = second ? second : first;
    found = found || (second && tied_by_model(c, x));
    c->model = first;
    return found;
}

static const struct attn_dump_list *tokens_of(const struct clue *c)
{
    return c->d->a->tokens.n ? &c->d->a->tokens : &c->d->b->tokens;
}

/* By the numbers alone: the logit of a token in the text is what the output layer reads times the token's embedding,
 * which may have been scaled. */
static bool tied_by_numbers(struct clue *c, const struct attn_pair *x)
{
    const struct attn_dump_list *ids = tokens_of(c);
    struct attn_pair e;
    if (!attn_clue_other(c, ATTN_ACT_EMBED, &e) || e.n != x->n || e.T != x->T || ids->n != e.T || c->p.H != 1)
        return false;
    int32_t *id = malloc(ids->n * sizeof *id + 1);
    bool known = id != NULL;
    for (size_t t = 0; t < ids->n && known; t++) {
        id[t] = ids->item[t].id;
        known = id[t] >= 0 && (size_t)id[t] < c->p.n;
    }
    double a = known ? attn_fit_tied(c->p.a, c->p.n, x->a, e.a, id, e.T, e.n) : INFINITY;
    double b = known ? attn_fit_tied(c->p.b, c->p.n, x->b, e.b, id, e.T, e.n) : INFINITY;
    free(id);
    return (attn_gap_explained(a, b) || attn_gap_explained(b, a)) && say_tied(c, attn_gap_explained(a, b));
}

bool attn_clue_tied(struct clue *c)
{
    struct attn_pair x;
    bool none = c->model && !attn_has(&c->model->w.final);
    if (!attn_clue_other(c, ATTN_ACT_NORM_FINAL, &x) && !(none && attn_clue_input(c, &x)))
        return false;                   /* what precedes the norm is not what is multiplied */
    return c->model ? tied_by_models(c, &x) : tied_by_numbers(c, &x);
}

/* ---- the input ------------------------------------------------------------------------- */

struct sources { int act[8]; size_t n; };

/* The activations that a product may read by right or by mistake. */
static struct sources sources_of(int act)
{
    switch (act) {
    case ATTN_ACT_Q: case ATTN_ACT_K: case ATTN_ACT_V:
        return (struct sources){{ATTN_ACT_NORM1, ATTN_ACT_RESID_PRE, ATTN_ACT_NORM2}, 3};
    case ATTN_ACT_MLP_PRE: case ATTN_ACT_MLP_LINEAR:
        return (struct sources){{ATTN_ACT_NORM2, ATTN_ACT_RESID_MID, ATTN_ACT_NORM1, ATTN_ACT_RESID_PRE}, 4};
    case ATTN_ACT_LOGITS:
        return (struct sources){{ATTN_ACT_NORM_FINAL, ATTN_ACT_RESID_POST}, 2};
    default:
        return (struct sources){.n = 0};
    }
}

/* For logits the output of the last block. */
static bool source_at(const struct clue *c, int act, struct attn_pair *x)
{
    int last = c->model->w.n.L ? (int)c->model->w.n.L - 1 : 0;
    bool end = c->act == ATTN_ACT_LOGITS && act == ATTN_ACT_RESID_POST;
    return end ? attn_diff_either(c->d, act, last, x) : attn_clue_either(c, act, x);
}

static double read_gap(const struct clue *c, bool a, int act)
{
    struct attn_pair x;
    return source_at(c, act, &x) ? attn_remake_gap(c, a, &x, &as_is) : INFINITY;
}

/* What a side reads; -1: none of them. */
static int read_by(const struct clue *c, bool a)
{
    const struct sources s = sources_of(c->act);
    int found = -1;
    double least = INFINITY;
    for (size_t i = 0; i < s.n; i++) {
        double gap = read_gap(c, a, s.act[i]);
        if (gap < least) {
            least = gap;
            found = s.act[i];
        }
    }
    return attn_gap_explained(least, 1) ? found : -1;
}

/* What each side reads, if that differs, and neither could have read what the other does. */
static bool reads_differ(const struct clue *c, int *a, int *b)
{
    if (!c->model)
        return false;
    *a = read_by(c, true);
    *b = *a < 0 ? -1 : read_by(c, false);
    return *b >= 0 && *a != *b && attn_gap_explained(read_gap(c, true, *a), read_gap(c, true, *b)) &&
           attn_gap_explained(read_gap(c, false, *b), read_gap(c, false, *a));
}

static bool is_norm(int act)
{
    return act == ATTN_ACT_NORM1 || act == ATTN_ACT_NORM2 || act == ATTN_ACT_NORM_FINAL;
}

bool attn_clue_reads_norm(struct clue *c)
{
    int a, b;
    if (!reads_differ(c, &a, &b) || is_norm(a) == is_norm(b))
        return false;
    bool plain = !is_norm(a);
    return attn_clue_tell(c, plain, "@ multiplies %s itself, # %s: a norm is left out on one side, or stands in "
                          "another place (after the addition, not before the branch)", attn_act_tail(plain ? a : b),
                          attn_act_tail(plain ? b : a));
}

/* What follows the addition of attention, on a side that adds it before the MLP reads. */
static bool follows_attention(const struct clue *c, bool a, int act)
{
    struct attn_pair mid;
    bool has = attn_clue_either(c, ATTN_ACT_RESID_MID, &mid) && (a ? mid.a : mid.b);
    return act == ATTN_ACT_RESID_MID || (act == ATTN_ACT_NORM2 && has);
}

static bool say_branches(struct clue *c, int a, int b)
{
    bool late = follows_attention(c, true, a);
    return attn_clue_tell(c, !late, "@'s MLP reads the block's input (%s: parallel branches), #'s the residual after "
                          "attention (%s: sequential)", attn_act_tail(late ? b : a), attn_act_tail(late ? a : b));
}

bool attn_clue_reads_branch(struct clue *c)
{
    int a, b;
    bool mlp = c->act == ATTN_ACT_MLP_PRE || c->act == ATTN_ACT_MLP_LINEAR;
    if (!reads_differ(c, &a, &b))
        return false;
    if (mlp && follows_attention(c, true, a) != follows_attention(c, false, b))
        return say_branches(c, a, b);
    return is_norm(a) && is_norm(b) &&
           attn_clue_say(c, "A's %s reads %s, B's %s: one side takes the norm of the other branch",
                         attn_act_tail(c->act), attn_act_tail(a), attn_act_tail(b));
}

/* ---- the rows of the embedding --------------------------------------------------------- */

enum { TRIED = 1 << 20, SEEN = 3 };     /* rows of a table to search; tokens that must agree on how far ids are off */

/* A search for rows of an embedding: how they enter the stream on the side that has others. */
struct rows { const struct clue *c; const struct attn_dump_list *ids; double *row; };

static double row_gap(const struct rows *r, bool a, size_t t, size_t id, enum attn_slip slip)
{
    const struct attn_pair *p = &r->c->p;
    const float *have = (a ? p->a : p->b) + t * p->ld;
    double left = 0, all = 0;
    if (!attn_remake_embedding(r->c, id, r->row, slip))
        return INFINITY;
    for (size_t j = 0; j < p->n; j++) {
        left += ((double)have[j] - r->row[j]) * ((double)have[j] - r->row[j]);
        all += r->row[j] * r->row[j];
    }
    return all > 0 && isfinite(left) ? sqrt(left / all) : INFINITY;
}

static double own_gap(const struct rows *r, bool a, size_t t, enum attn_slip slip)
{
    return row_gap(r, a, t, (size_t)r->ids->item[t].id, slip);
}

/* The row of the table that a side has for token t; V: none. */
static size_t row_found(const struct rows *r, bool a, size_t t)
{
    size_t V = r->c->model->w.embed.in, most = r->c->model->w.project_in.data ? TRIED / (r->c->p.n + 1) : TRIED, id = 0;
    while (id < V && id < most && row_gap(r, a, t, id, ATTN_SLIP_NONE) > 1e-5)
        id++;
    return id < most ? id : V;
}

/* Whether side a has other rows than those of its ids, and b these; says which. */
static bool say_rows(struct clue *c, const struct rows *r, bool a)
{
    size_t V = c->model->w.embed.in, t = 0, agree = 0;
    while (t < c->p.T && own_gap(r, a, t, ATTN_SLIP_NONE) <= 1e-4)
        t++;
    if (t == c->p.T || own_gap(r, !a, t, ATTN_SLIP_NONE) > 1e-4)
        return false;
    size_t id = (size_t)r->ids->item[t].id, found = row_found(r, a, t), off = (found + V - id) % V;
    for (size_t i = t; i < c->p.T && found < V && agree < SEEN; i++)
        agree += row_gap(r, a, i, ((size_t)r->ids->item[i].id + off) % V, ATTN_SLIP_NONE) <= 1e-4;
    if (found == V)
        return false;
    return attn_clue_tell(c, a, "@ has other rows of the embedding than its token ids say: token %zu has id %zu, but "
                          "row %zu%s", t, id, found, agree < SEEN ? "" : ", and others are as far off");
}

static bool known_ids(const struct clue *c, const struct attn_dump_list *ids)
{
    for (size_t t = 0; t < ids->n; t++)
        if (ids->item[t].id < 0 || (size_t)ids->item[t].id >= c->model->w.embed.in)
            return false;
    return ids->n == c->p.T && c->p.n == c->model->w.n.d && c->p.H == 1;
}

/* Makes room for a row; false: there is nothing to search. */
static bool start_rows(const struct clue *c, struct rows *r)
{
    *r = (struct rows){.c = c, .ids = tokens_of(c)};
    if (!c->model || !c->model->w.embed.data || !known_ids(c, r->ids))
        return false;
    r->row = malloc((c->model->w.n.d + c->model->w.embed.out) * sizeof *r->row + 1);
    return r->row != NULL;
}

bool attn_clue_other_rows(struct clue *c)
{
    struct rows r;
    bool found = start_rows(c, &r) && (say_rows(c, &r, true) || say_rows(c, &r, false));
    free(r.row);
    return found;
}

/* Whether all rows of side a are made without a step, and those of b with it. */
static bool lacks_step(const struct rows *r, bool a, enum attn_slip slip)
{
    size_t t = 0;
    while (t < r->c->p.T && attn_gap_explained(own_gap(r, a, t, slip), own_gap(r, a, t, ATTN_SLIP_NONE)) &&
           attn_gap_explained(own_gap(r, !a, t, ATTN_SLIP_NONE), own_gap(r, !a, t, slip)))
        t++;
    return t == r->c->p.T;
}

bool attn_clue_embed_norm(struct clue *c)
{
    struct rows r;
    bool found = false, start = start_rows(c, &r) && attn_has(&c->model->w.embed_norm);
    for (int s = 0; s < 2 && start && !found; s++)
        if (lacks_step(&r, s == 0, ATTN_SLIP_LEFT_OUT))
            found = attn_clue_tell(c, s == 0, "@ leaves out the norm of the embedding, # does not");
    free(r.row);
    return found;
}
