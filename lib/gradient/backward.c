/* backward.c - the chain rule through the blocks, from the last one to the embedding. */
#include "base/size.h"
#include "compute/slopes.h"
#include "gradient/work.h"

#include <string.h>

static void clear(const struct attn_rows *x)
{
    memset(x->data, 0, x->n * x->ld * sizeof *x->data);
}

/* The gradient by a branch's output, computed from `behind`, that by the residual stream after it.  Without a
 * residual stream only the branch reads its input, so dx is cleared. */
static struct attn_rows enter(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *behind,
                              const struct attn_drop *drop)
{
    struct attn_rows dout = attn_work_rows(t, t->branch, dx->cols);
    if (drop->below)
        attn_rows_drop(t->team, &dout, behind, drop, t->first);
    else if (!t->w->residual)
        attn_rows_copy(&dout, behind);
    if (!t->w->residual)
        clear(dx);
    return drop->below || !t->w->residual ? dout : *behind;
}

/* Where the gradient by a branch's input goes: a branch reads x through a norm, or directly. */
static struct attn_rows target(struct attn_work *t, const struct attn_rows *dx, const struct attn_norm *norm)
{
    return norm->weight.data ? attn_work_rows(t, t->dy, dx->cols) : *dx;
}

static void leave(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *x, const struct attn_norm *norm,
                  const struct attn_norm *g)
{
    if (norm->weight.data)
        attn_work_back_norm(t, dx, x, norm, g);
}

static void attention(struct attn_work *t, size_t layer, const struct attn_rows *dx, const struct attn_rows *behind)
{
    const struct attn_dims *n = &t->w->n;
    const struct attn_block *b = &t->w->block[layer], *g = &t->g->block[layer];
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_ATTENTION, layer, t->drop_branch);
    struct attn_rows context = attn_work_rows(t, kept->context, n->H * n->dv);
    struct attn_rows dcontext = attn_work_rows(t, t->dcontext, n->H * n->dv);
    struct attn_rows dout = enter(t, dx, behind, &drop), x = attn_work_rows(t, kept->x, n->d);
    struct attn_rows dq = attn_work_rows(t, t->dq, n->H * n->dh), dk = attn_work_rows(t, t->dk, n->Hkv * n->dh);
    struct attn_rows dv = attn_work_rows(t, t->dv, n->Hkv * n->dv);
    if (b->o.data) {
        attn_work_learn(t, &g->o, &context, &dout);
        attn_work_back(t, &dcontext, &dout, &b->o, false);
    }
    attn_work_attend_back(t, layer, b->o.data ? dcontext.data : dout.data);
    if (t->w->rotary) {
        attn_rows_rotate(t->team, &dq, n->dh, t->w->rotary, t->cos, t->back);
        attn_rows_rotate(t->team, &dk, n->dh, t->w->rotary, t->cos, t->back);
    }
    struct attn_rows y = attn_work_normed(t, &x, &b->norm1), dy = target(t, dx, &b->norm1);
    attn_work_learn(t, &g->q, &y, &dq);
    attn_work_learn(t, &g->k, &y, &dk);
    attn_work_learn(t, &g->v, &y, &dv);
    attn_work_back(t, &dy, &dq, &b->q, dy.data == dx->data);
    attn_work_back(t, &dy, &dk, &b->k, true);
    attn_work_back(t, &dy, &dv, &b->v, true);
    leave(t, dx, &x, &b->norm1, &g->norm1);
}

static void mlp(struct attn_work *t, size_t layer, const struct attn_rows *dx, const struct attn_rows *behind)
{
    const struct attn_block *b = &t->w->block[layer], *g = &t->g->block[layer];
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_MLP, layer, t->drop_branch);
    struct attn_rows dout = enter(t, dx, behind, &drop), mid = attn_work_rows(t, kept->mid, t->w->n.d);
    struct attn_rows pre = attn_work_rows(t, kept->pre, t->w->n.m), linear = attn_work_rows(t, kept->linear, t->w->n.m);
    struct attn_rows dpre = attn_work_rows(t, t->dpre, t->w->n.m);
    attn_work_back(t, &dpre, &dout, &b->out, false);
    attn_slopes_activate(t->team, &dpre, &pre, &linear, t->w->mlp);
    attn_work_learn(t, &g->out, &pre, &dout);           /* by now pre holds what the product read */
    struct attn_rows y = attn_work_normed(t, &mid, &b->norm2), dy = target(t, dx, &b->norm2);
    bool gated = t->w->mlp == ATTN_SWIGLU, more = dy.data == dx->data;
    if (gated) {
        attn_work_learn(t, &g->gate, &y, &dpre);
        attn_work_back(t, &dy, &dpre, &b->gate, more);
    }
    attn_work_learn(t, &g->in, &y, gated ? &linear : &dpre);
    attn_work_back(t, &dy, gated ? &linear : &dpre, &b->in, more || gated);
    leave(t, dx, &mid, &b->norm2, &g->norm2);
}

static void block(struct attn_work *t, size_t layer)
{
    struct attn_rows dx = attn_work_rows(t, t->dx, t->w->n.d), behind = dx;
    if (t->w->parallel) {               /* both branches start from the same gradient */
        behind.data = t->saved;
        attn_rows_copy(&behind, &dx);
    }
    if (t->w->mlp != ATTN_NO_MLP)
        mlp(t, layer, &dx, &behind);
    attention(t, layer, &dx, &behind);
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
    for (size_t k = 0; t->w->pos.data && k < t->texts; k++)
        for (size_t i = 0; i < t->text[k].T; i++)
            attn_vec_add((float *)t->g->pos.data + i * t->g->pos.ld + j, t->dx + (t->text[k].row + i) * d + j, n);
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

void attn_work_backward(struct attn_work *t, const int32_t *ids)
{
    for (size_t layer = t->w->n.L; layer-- > 0;)
        block(t, layer);
    embed(t, ids);
}
