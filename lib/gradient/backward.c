/* backward.c - from the loss back to the embedding: the output layer, then the chain rule through the blocks.
 *
 * On its way it tells those who want to know (struct attn_taps) the gradient with respect to each activation, by the names that
 * compute/block.c announces them with, in the opposite order. */
#include "gradient/work.h"

#include <string.h>

#include "base/size.h"
#include "compute/block.h"
#include "compute/gemm.h"
#include "compute/slopes.h"

/* ---- the gradients of a product, which are two more products, and of a norm ---- */

static void clear(const struct attn_rows *x)
{
    memset(x->data, 0, x->n * x->ld * sizeof *x->data);
}

/* Tells the gradient with respect to an activation; `heads` 0: it has no head axis. */
static void tell(struct attn_work *t, int act, int layer, const struct attn_rows *r, size_t heads)
{
    if (!attn_work_taps(t, act, layer))
        return;
    for (size_t i = 0; i < t->seqs; i++) {
        const struct attn_work_seq *s = &t->seq[i];
        size_t width = heads ? r->cols / heads : r->cols;
        struct attn_probe p = {
            .act = act, .layer = layer, .seq = i, .ndim = heads ? 3 : 2,
                .shape = {heads ? heads : s->T, heads ? s->T : width, width},
            .heads = heads ? heads : 1, .rows = s->T, .cols = width, .ld = r->ld, .ld_head = width};
        t->taps->pass(t->taps->self, &p, r->data + s->row * r->ld);
    }
}

/* The number of slices of a matrix: contiguous outputs are one slice; if heads are interleaved, each is a slice. */
static size_t slices(const struct attn_mat *w)
{
    return w->group ? w->out / w->group : 1;
}

static struct attn_mat slice(const struct attn_mat *w, size_t i)
{
    struct attn_mat p = *w;
    if (!w->group)
        return p;
    size_t at = attn_mat_index(w, i * w->group);
    p.data = (const char *)w->data + at * w->ld * attn_dtype_size(w->type);
    p.out = w->group;
    p.group = 0;
    if (w->bias.data)
        p.bias.data = (const char *)w->bias.data + at * attn_dtype_size(w->bias.type);
    return p;
}

/* The columns of y that belong to a slice. */
static struct attn_rows columns(const struct attn_rows *y, const struct attn_mat *p, size_t i)
{
    return (struct attn_rows){y->data + i * p->out, y->ld, y->n, p->out};
}

/* With y = x w: the gradient by x, which is added to dx if there is `more` than it. */
static void by_input(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy, const struct attn_mat *w,
                     bool more)
{
    for (size_t i = 0; i < slices(w); i++) {
        struct attn_mat p = slice(w, i);
        struct attn_mat transposed = {.data = p.data, .type = p.type, .in = p.out, .out = p.in, .ld = p.ld, .out_in = !p.out_in};
        struct attn_rows d = columns(dy, &p, i);
        attn_gemm(t->team, dx->data, dx->ld, d.data, d.ld, d.n, &transposed, more || i ? ATTN_ADD : ATTN_STORE, NULL);
    }
}

/* The gradients by w and by the bias, added to g. */
static void by_weights(struct attn_work *t, const struct attn_mat *g, const struct attn_rows *x, const struct attn_rows *dy)
{
    for (size_t i = 0; i < slices(g); i++) {
        struct attn_mat p = slice(g, i);
        struct attn_rows d = columns(dy, &p, i);
        if (p.out_in)
            attn_outer(t->team, (float *)p.data, p.ld, &d, x);
        else
            attn_outer(t->team, (float *)p.data, p.ld, x, &d);
        if (p.bias.data)
            attn_outer_sum(t->team, (float *)p.bias.data, &d);
    }
}

/* The gradients by x and by the weights of a norm, from dy; both are added to what is there.  g NULL: by x alone. */
static void by_norm_of(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy, const struct attn_rows *x,
                       const struct attn_norm *norm, const struct attn_norm *g)
{
    struct attn_norm wide = {.weight = {t->norm_w, ATTN_F32}, .rms = norm->rms};
    struct attn_slopes_norm s = {.norm = g ? norm : &wide, .eps = t->w->eps, .dw = g ? (float *)g->weight.data : NULL,
                                 .db = g ? (float *)g->bias.data : NULL, .scratch = t->sums};
    if (!g)
        attn_vec_widen(t->norm_w, norm->weight.data, norm->weight.type, 0, x->cols);
    attn_slopes_norm(t->team, dx, dy, x, &s);
}

/* The same from t->dy. */
static void by_norm(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *x, const struct attn_norm *norm,
                    const struct attn_norm *g)
{
    struct attn_rows dy = attn_work_rows(t, t->dy, x->cols);
    by_norm_of(t, dx, &dy, x, norm, g);
}

/* Becomes the gradient by x, of which dy is that by norm(x). */
static void through_norm(struct attn_work *t, const struct attn_rows *dy, const struct attn_rows *x, const struct attn_norm *norm)
{
    struct attn_rows behind = attn_work_rows(t, t->dy, dy->cols);
    attn_rows_copy(&behind, dy);
    clear(dy);
    by_norm_of(t, dy, &behind, x, norm, NULL);
}

/* Norms of heads: span after span, from dy to dx, which becomes the gradient. */
static void by_head_norm(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy, const struct attn_rows *x,
                         const struct attn_norm *norm)
{
    size_t span = norm->span ? norm->span : x->cols;
    clear(dx);
    for (size_t at = 0; at < x->cols; at += span) {
        struct attn_norm one = *norm;
        struct attn_rows to = {dx->data + at, dx->ld, dx->n, span}, from = {dy->data + at, dy->ld, dy->n, span};
        struct attn_rows of = {x->data + at, x->ld, x->n, span};
        if (norm->own)
            one.weight.data = (const char *)norm->weight.data + at * attn_dtype_size(norm->weight.type);
        by_norm_of(t, &to, &from, &of, &one, NULL);
    }
}

/* ---- the output layer and the loss ---- */

struct job { struct attn_work *t; const int32_t *targets; size_t row, n; float each; };

enum { CHUNK = 8 };                     /* rows of an item */

/* Replaces rows of logits by the gradient with respect to them. */
static void chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    size_t V = j->t->w->n.V, end = (item + 1) * CHUNK < j->n ? (item + 1) * CHUNK : j->n;
    for (size_t i = item * CHUNK; i < end; i++) {
        float *logits = j->t->logits + i * V;
        int32_t target = j->targets[j->row + i];
        if (target < 0)
            memset(logits, 0, V * sizeof *logits);
        j->t->loss[j->row + i] = target < 0 ? 0 : attn_vec_loss(logits, (size_t)target, j->each, V);
    }
}

/* Works in bands of as many rows as the buffer holds. */
static void bands(struct job *j, const struct attn_rows *x, const struct attn_rows *dx, bool learn)
{
    struct attn_work *t = j->t;
    size_t V = t->w->n.V;
    for (j->row = 0; j->row < x->n; j->row += j->n) {
        j->n = smaller(x->n - j->row, t->band);
        struct attn_rows reads = {x->data + j->row * x->ld, x->ld, j->n, x->cols}, logits = {t->logits, V, j->n, V};
        struct attn_rows dreads = {dx->data + j->row * dx->ld, dx->ld, j->n, dx->cols};
        attn_gemm(t->team, logits.data, V, reads.data, reads.ld, j->n, &t->w->unembed, ATTN_STORE, NULL);
        attn_team_run(t->team, parts_of(j->n, CHUNK), 30.0 * (double)(j->n * V), chunk, j);
        if (!learn)
            continue;
        by_weights(t, &t->g->unembed, &reads, &logits);
        by_input(t, &dreads, &logits, &t->w->unembed, false);
    }
}

double attn_work_loss(struct attn_work *t, const int32_t *targets, double each, bool learn)
{
    size_t d = t->w->n.d;
    const struct attn_norm *norm = &t->w->final;
    struct attn_rows x = attn_work_rows(t, t->layer[t->w->n.L].x, d), y = attn_work_normed(t, &x, norm);
    struct attn_rows dx = attn_work_rows(t, t->dx, d), dy = attn_work_rows(t, norm->weight.data ? t->dy : t->dx, d);
    struct job j = {.t = t, .targets = targets, .each = (float)each};
    bands(&j, &y, &dy, learn);
    if (learn && norm->weight.data) {
        clear(&dx);
        by_norm(t, &dx, &x, norm, &t->g->final);
    }
    double sum = 0;
    for (size_t i = 0; i < t->rows; i++)
        sum += t->loss[i];
    return sum * each;
}

/* From the gradient by the logits to that by the product of the output layer: back through their cap and their multiplier. */
static void unbend(struct attn_work *t, const struct attn_rows *logits, const struct attn_rows *x)
{
    const struct attn_weights *w = t->w;
    size_t first = t->rows - logits->n;
    if (w->logit_cap != 0) {
        const struct attn_rows reads = {(attn_has(&w->final) ? t->final : x->data) + first * x->cols, x->cols, logits->n, x->cols};
        attn_unembed_rows(t->team, w, t->capped, &reads, t->narrow, NULL);
        for (size_t i = 0; i < logits->n; i++)
            attn_vec_cap_back(logits->data + i * logits->ld, t->capped + i * logits->cols, w->logit_cap, logits->cols);
    }
    if (w->logit_scale != 0)
        attn_rows_scale(t->team, logits, w->logit_scale);
}

/* The gradient by what the output layer reads. */
static void by_unembed(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *logits)
{
    const struct attn_weights *w = t->w;
    struct attn_rows narrow = {t->narrow, w->unembed.in, dx->n, w->unembed.in};
    by_input(t, w->project_out.data ? &narrow : dx, logits, &w->unembed, false);
    if (w->project_out.data)
        by_input(t, dx, &narrow, &w->project_out, false);
}

void attn_work_from_logits(struct attn_work *t, size_t rows)
{
    size_t d = t->w->n.d, V = t->w->n.V;
    const struct attn_norm *norm = &t->w->final;
    struct attn_rows x = attn_work_rows(t, t->layer[t->w->n.L].x, d), dx = attn_work_rows(t, t->dx, d);
    struct attn_rows dy = attn_work_rows(t, norm->weight.data ? t->dy : t->dx, d), logits = {t->logits, V, rows, V};
    struct attn_rows last = {dy.data + (t->rows - rows) * d, d, rows, d};
    clear(&dy);
    unbend(t, &logits, &x);
    by_unembed(t, &last, &logits);
    if (!norm->weight.data)
        return;
    tell(t, ATTN_ACT_NORM_FINAL, -1, &dy, 0);
    clear(&dx);
    by_norm(t, &dx, &x, norm, NULL);
}

/* ---- blocks ---- */

/* The gradient by a branch's output, computed from `behind`, that by the residual stream after it.  Without a
 * residual stream only the branch reads its input, so dx is cleared.  apart: the gradient will be changed, that behind it not. */
static struct attn_rows enter(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *behind,
                              const struct attn_drop *drop, bool apart)
{
    struct attn_rows dout = attn_work_rows(t, t->branch, dx->cols);
    apart |= !t->w->residual;
    if (drop->below)
        attn_rows_drop(t->team, &dout, behind, drop, t->first);
    else if (apart)
        attn_rows_copy(&dout, behind);
    if (!t->w->residual)
        clear(dx);
    return drop->below || apart ? dout : *behind;
}

/* Where the gradient by a branch's input goes: a branch reads x through a norm, or directly. */
static struct attn_rows target(struct attn_work *t, const struct attn_rows *dx, const struct attn_norm *norm)
{
    return norm->weight.data ? attn_work_rows(t, t->dy, dx->cols) : *dx;
}

/* From the gradient by what a branch reads, which is announced if a norm gave it, to that by the stream. */
static void leave(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *x, const struct attn_norm *norm,
                  const struct attn_norm *g, int act, int layer)
{
    struct attn_rows dy = attn_work_rows(t, t->dy, dx->cols);
    if (!attn_has(norm))
        return;
    if (t->w->normed_stream) {          /* the stream goes on from the norm */
        attn_rows_add(t->team, &dy, dx);
        clear(dx);
    }
    tell(t, act, layer, &dy, 0);
    by_norm(t, dx, x, norm, g);
}

/* From the gradient by what a branch adds to that by its output. */
static void before_adding(struct attn_work *t, const struct attn_rows *dout, const struct attn_norm *post, float *out, int act,
                          int layer)
{
    struct attn_rows x = attn_work_rows(t, out, dout->cols);
    if (!attn_adds_apart(t->w))
        return;
    tell(t, act == ATTN_ACT_OUT ? ATTN_ACT_ADDED : ATTN_ACT_MLP_ADDED, layer, dout, 0);
    if (t->w->branch_scale != 0)
        attn_rows_scale(t->team, dout, t->w->branch_scale);
    if (attn_has(post))
        through_norm(t, dout, &x, post);
}

/* Back through the norm of a sum, where there is one: dx becomes the gradient by the sum of x and what the branch gave. */
static void before_sum(struct attn_work *t, const struct attn_rows *dx, const struct attn_norm *sum, const float *x, const float *out)
{
    struct attn_rows all = attn_work_rows(t, t->branch, dx->cols);
    if (!attn_has(sum))
        return;
    memcpy(all.data, x, all.n * all.cols * sizeof *x);
    for (size_t i = 0; i < all.n; i++)
        attn_vec_add(all.data + i * all.cols, out + i * all.cols, all.cols);
    through_norm(t, dx, &all, sum);
}

/* Back through the norm of queries or keys: returns the gradient by what the product gave. */
static struct attn_rows before_head_norm(struct attn_work *t, size_t layer, const struct attn_rows *dy, const struct attn_mat *w,
                                         const struct attn_norm *norm)
{
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_rows reads = attn_work_rows(t, kept->read ? kept->read : kept->x, t->w->n.d);
    struct attn_rows raw = attn_work_rows(t, t->raw, dy->cols), draw = attn_work_rows(t, t->draw, dy->cols);
    if (!attn_has(norm))
        return *dy;
    attn_gemm(t->team, raw.data, raw.ld, reads.data, reads.ld, reads.n, w, ATTN_STORE, NULL);
    by_head_norm(t, &draw, dy, &raw, norm);
    return draw;
}

/* The gradients by the weights of queries, keys and values, from those by what they give. */
static void by_heads(struct attn_work *t, size_t layer, const struct attn_rows *x, const struct attn_rows *dq,
                     const struct attn_rows *dk, const struct attn_rows *dv)
{
    const struct attn_block *b = &t->w->block[layer], *g = &t->g->block[layer];
    struct attn_rows y = attn_work_normed(t, x, &b->norm1);
    by_weights(t, &g->q, &y, dq);
    by_weights(t, &g->k, &y, dk);
    by_weights(t, &g->v, &y, dv);
}

static void attention(struct attn_work *t, size_t layer, const struct attn_rows *dx, const struct attn_rows *behind)
{
    const struct attn_dims *n = &t->w->n;
    const struct attn_block *b = &t->w->block[layer], *g = t->g ? &t->g->block[layer] : NULL;
    const int at = (int)layer, first = b->o.data ? ATTN_ACT_OUT : ATTN_ACT_CONTEXT;
    const bool apart = (attn_work_taps(t, first, at) & ATTN_EDIT) != 0 || attn_adds_apart(t->w);
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_ATTENTION, layer, t->drop_branch);
    struct attn_rows context = attn_work_rows(t, kept->context, n->H * n->dv);
    struct attn_rows dcontext = attn_work_rows(t, t->dcontext, n->H * n->dv);
    struct attn_rows dout = enter(t, dx, behind, &drop, apart), x = attn_work_rows(t, kept->x, n->d);
    struct attn_rows dq = attn_work_rows(t, t->dq, n->H * n->dh), dk = attn_work_rows(t, t->dk, n->Hkv * n->dh);
    struct attn_rows dv = attn_work_rows(t, t->dv, n->Hkv * n->dv);
    before_adding(t, &dout, &b->post1, kept->out, ATTN_ACT_OUT, at);
    if (b->o.data) {
        tell(t, ATTN_ACT_OUT, at, &dout, 0);
        if (g)
            by_weights(t, &g->o, &context, &dout);
        by_input(t, &dcontext, &dout, &b->o, false);
    }
    tell(t, ATTN_ACT_CONTEXT, at, b->o.data ? &dcontext : &dout, 0);
    attn_work_attend_back(t, layer, b->o.data ? dcontext.data : dout.data);
    tell(t, ATTN_ACT_Q, at, &dq, n->H);
    tell(t, ATTN_ACT_K, at, &dk, n->Hkv);
    tell(t, ATTN_ACT_V, at, &dv, n->Hkv);
    attn_work_turn(t, layer, &dq, t->minus_sin);
    attn_work_turn(t, layer, &dk, t->minus_sin);
    struct attn_rows dy = target(t, dx, &b->norm1);
    if (g)
        by_heads(t, layer, &x, &dq, &dk, &dv);
    struct attn_rows by = before_head_norm(t, layer, &dq, &b->q, &b->q_norm);
    by_input(t, &dy, &by, &b->q, dy.data == dx->data || t->w->one_norm);        /* one norm: the MLP's gradient is there already */
    by = before_head_norm(t, layer, &dk, &b->k, &b->k_norm);
    by_input(t, &dy, &by, &b->k, true);
    by_input(t, &dy, &dv, &b->v, true);
    leave(t, dx, &x, &b->norm1, g ? &g->norm1 : NULL, ATTN_ACT_NORM1, at);
}

static void mlp(struct attn_work *t, size_t layer, const struct attn_rows *dx, const struct attn_rows *behind)
{
    const struct attn_block *b = &t->w->block[layer], *g = t->g ? &t->g->block[layer] : NULL;
    const struct attn_kept *kept = &t->layer[layer];
    const int at = (int)layer;
    const bool gated = attn_mlp_gated(t->w->mlp);
    const bool apart = (attn_work_taps(t, ATTN_ACT_MLP_OUT, at) & ATTN_EDIT) != 0 || attn_adds_apart(t->w);
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_MLP, layer, t->drop_branch);
    struct attn_rows dout = enter(t, dx, behind, &drop, apart), mid = attn_work_rows(t, kept->mid, t->w->n.d);
    struct attn_rows pre = attn_work_rows(t, kept->pre, t->w->n.m), linear = attn_work_rows(t, kept->linear, t->w->n.m);
    struct attn_rows dpre = attn_work_rows(t, t->dpre, t->w->n.m);
    before_adding(t, &dout, &b->post2, kept->mlp_out, ATTN_ACT_MLP_OUT, at);
    tell(t, ATTN_ACT_MLP_OUT, at, &dout, 0);
    by_input(t, &dpre, &dout, &b->out, false);
    tell(t, ATTN_ACT_MLP_POST, at, &dpre, 0);
    attn_slopes_activate(t->team, &dpre, &pre, &linear, t->w->mlp);
    tell(t, ATTN_ACT_MLP_PRE, at, &dpre, 0);
    if (gated)
        tell(t, ATTN_ACT_MLP_LINEAR, at, &linear, 0);
    struct attn_rows dy = target(t, dx, t->w->one_norm ? &b->norm1 : &b->norm2);
    bool more = dy.data == dx->data;
    if (g) {
        struct attn_rows y = attn_work_normed(t, &mid, &b->norm2);
        by_weights(t, &g->out, &pre, &dout);       /* by now pre holds what the product read */
        if (gated)
            by_weights(t, &g->gate, &y, &dpre);
        by_weights(t, &g->in, &y, gated ? &linear : &dpre);
    }
    if (gated)
        by_input(t, &dy, &dpre, &b->gate, more);
    by_input(t, &dy, gated ? &linear : &dpre, &b->in, more || gated);
    if (t->w->one_norm)
        return;                         /* attention adds to t->dy and leaves through the norm */
    leave(t, dx, &mid, &b->norm2, g ? &g->norm2 : NULL, ATTN_ACT_NORM2, at);
    if (!t->w->parallel)
        tell(t, ATTN_ACT_RESID_MID, at, dx, 0);
}

static void block(struct attn_work *t, size_t layer)
{
    struct attn_rows dx = attn_work_rows(t, t->dx, t->w->n.d), behind = dx;
    tell(t, ATTN_ACT_RESID_POST, (int)layer, &dx, 0);
    if (t->w->parallel) {               /* both branches start from the same gradient */
        behind.data = t->saved;
        attn_rows_copy(&behind, &dx);
    }
    const struct attn_block *b = &t->w->block[layer];
    const struct attn_kept *kept = &t->layer[layer];
    if (t->w->mlp != ATTN_NO_MLP) {
        before_sum(t, &dx, &b->sum2, kept->mid, kept->mlp_out);
        mlp(t, layer, &dx, &behind);
    }
    before_sum(t, &dx, &b->sum1, kept->x, kept->out);
    attention(t, layer, &dx, &behind);
    tell(t, ATTN_ACT_RESID_PRE, (int)layer, &dx, 0);
}

/* ---- the embedding ---- */

struct scatter { const struct attn_work *t; const int32_t *ids; size_t cols; };

/* Adds some columns of all rows in order, so that an embedding that occurs twice is summed in one order. */
static void scatter(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct scatter *s = ctx;
    const struct attn_work *t = s->t;
    size_t d = t->w->n.d, j = item * s->cols, n = d - j < s->cols ? d - j : s->cols;
    for (size_t i = 0; i < t->rows; i++)
        attn_vec_add((float *)t->g->embed.data + (size_t)s->ids[i] * t->g->embed.ld + j, t->dx + i * d + j, n);
    for (size_t k = 0; t->w->pos.data && k < t->seqs; k++)
        for (size_t i = 0; i < t->seq[k].T; i++)
            attn_vec_add((float *)t->g->pos.data + i * t->g->pos.ld + j, t->dx + (t->seq[k].row + i) * d + j, n);
}

static void embed(struct attn_work *t, const int32_t *ids)
{
    size_t d = t->w->n.d;
    struct scatter s = {t, ids, 64};
    struct attn_rows dx = attn_work_rows(t, t->dx, d);
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_EMBED, 0, t->drop_embed);
    if (drop.below)
        attn_rows_drop(t->team, &dx, &dx, &drop, t->first);
    attn_team_run(t->team, parts_of(d, s.cols), 4.0 * (double)(t->rows * d), scatter, &s);
}

/* Token and position embeddings are added, so both have the gradient by their sum. */
static void tell_embedding(struct attn_work *t)
{
    struct attn_rows dx = attn_work_rows(t, t->dx, t->w->n.d), copy = attn_work_rows(t, t->branch, t->w->n.d);
    if (t->w->pos.data) {
        attn_rows_copy(&copy, &dx);
        tell(t, ATTN_ACT_POS_EMBED, -1, &copy, 0);
    }
    tell(t, ATTN_ACT_EMBED, -1, &dx, 0);
}

void attn_work_backward(struct attn_work *t, const int32_t *ids)
{
    for (size_t layer = t->w->n.L; layer-- > 0;)
        block(t, layer);
    if (ids)
        embed(t, ids);
    else
        tell_embedding(t);
}
