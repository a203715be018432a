/* backward.c - the chain rule through the blocks, from the last to the first.
 *
 * On its way it tells those who want to know (struct attn_taps) the gradient with respect to each activation, by the
 * names that compute/block.c announces them with, in the opposite order. */
#include "gradient/backward_steps.h"

#include <string.h>

#include "compute/gemm.h"
#include "compute/rows_backward.h"

/* The gradient by a branch's output, computed from `behind`, that by the residual stream after it.  Without a
 * residual stream only the branch reads its input, so dx is cleared.  apart: the result will be changed, but
 * `behind` must stay. */
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
        attn_step_clear(dx);
    return drop->below || apart ? dout : *behind;
}

/* Where the gradient by a branch's input goes: a branch reads x through a norm, or directly. */
static struct attn_rows target(struct attn_work *t, const struct attn_rows *dx, const struct attn_norm *norm)
{
    return norm->weight.data ? attn_work_rows(t, t->dy, dx->cols) : *dx;
}

/* From the gradient by what a branch reads, which is announced if a norm gave it, to that by the stream. */
static void leave(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *x,
                  const struct attn_norm *norm, const struct attn_norm *g, int act, int layer)
{
    struct attn_rows dy = attn_work_rows(t, t->dy, dx->cols);
    if (!attn_has(norm))
        return;
    if (t->w->post_norm_residual) {     /* the stream goes on from the norm */
        attn_rows_add(t->team, &dy, dx);
        attn_step_clear(dx);
    }
    attn_step_tell(t, act, layer, &dy, 0);
    attn_step_by_norm(t, dx, &dy, x, norm, g);
}

/* From the gradient by what a branch adds to that by its output. */
static void before_adding(struct attn_work *t, const struct attn_rows *dout, const struct attn_norm *post,
                          const struct attn_norm *g, float *out, int act, int layer)
{
    struct attn_rows x = attn_work_rows(t, out, dout->cols);
    if (!attn_adds_apart(t->w))
        return;
    attn_step_tell(t, act == ATTN_ACT_OUT ? ATTN_ACT_ADDED : ATTN_ACT_MLP_ADDED, layer, dout, 0);
    if (t->w->branch_scale != 0)
        attn_rows_scale(t->team, dout, t->w->branch_scale);
    if (attn_has(post))
        attn_step_through_norm(t, dout, &x, post, g);
}

/* Back through the norm of a sum, if there is one: dx becomes the gradient by x plus what the branch gave. */
static void before_sum(struct attn_work *t, const struct attn_rows *dx, const struct attn_norm *sum,
                       const struct attn_norm *g, float *x, const float *out, const struct attn_drop *drop)
{
    struct attn_rows all = attn_work_rows(t, t->branch, dx->cols), stream = attn_work_rows(t, x, dx->cols);
    if (!attn_has(sum))
        return;
    memcpy(all.data, out, all.n * all.cols * sizeof *out);
    if (drop->below)
        attn_rows_drop(t->team, &all, &all, drop, t->first);
    attn_rows_add(t->team, &all, &stream);
    attn_step_through_norm(t, dx, &all, sum, g);
}

/* Queries, keys or values: the product that gives them, and the norm after it. */
struct heads { const struct attn_rows *dy; const struct attn_mat *w, *g; const struct attn_norm *norm, *dnorm; };

/* Makes raw again what the product gave, clamped where that is done. */
static void make_heads(struct attn_work *t, const struct attn_rows *raw, const struct attn_rows *reads,
                       const struct heads *of)
{
    attn_gemm(t->team, raw->data, raw->ld, reads->data, reads->ld, reads->n, of->w, ATTN_STORE, NULL);
    if (t->w->clip != 0)
        attn_rows_clamp(t->team, raw, t->w->clip);
}

/* Back through the norm and the clamp of queries, keys or values, and through a rotation that comes before the norm:
 * returns the gradient by what the product gave. */
static struct attn_rows before_heads(struct attn_work *t, size_t layer, const struct attn_rows *reads,
                                     const struct heads *of)
{
    struct attn_rows raw = attn_work_rows(t, t->raw, of->dy->cols), draw = attn_work_rows(t, t->draw, of->dy->cols);
    const bool normed = attn_has(of->norm), late = normed && t->w->late_norms, clamped = t->w->clip != 0;
    if (!normed && !clamped)
        return *of->dy;
    make_heads(t, &raw, reads, of);
    if (late)
        attn_work_turn(t, layer, &raw, t->sin);
    if (normed)
        attn_step_by_head_norm(t, &draw, of->dy, &raw, of->norm, of->dnorm);
    else
        attn_rows_copy(&draw, of->dy);
    if (late)
        attn_work_turn(t, layer, &draw, t->minus_sin);
    if (late && clamped)
        make_heads(t, &raw, reads, of);
    if (clamped)
        attn_rows_clamp_backward(t->team, &draw, &raw, t->w->clip);
    return draw;
}

/* From the gradients by queries, keys and values, turned only where a norm follows that, to dy, that by what attention
 * reads, and to those by their weights; `more`: dy has something already. */
static void by_heads(struct attn_work *t, size_t layer, const struct attn_rows *dy, const struct attn_rows *dq,
                     const struct attn_rows *dk, const struct attn_rows *dv, bool more)
{
    const struct attn_block *b = &t->w->block[layer], *g = t->g ? &t->g->block[layer] : NULL;
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_rows x = attn_work_rows(t, kept->x, t->w->n.d), y = attn_work_rows(t, kept->read, t->w->n.d);
    if (!kept->read && g)
        y = attn_work_normed(t, &x, &b->norm1);
    if (!kept->read && !g)              /* only norms of heads read it, and these without a norm before them */
        y = x;
    const struct heads each[] = {
        {dq, &b->q, g ? &g->q : NULL, &b->q_norm, g ? &g->q_norm : NULL},
        {dk, &b->k, g ? &g->k : NULL, &b->k_norm, g ? &g->k_norm : NULL},
        {dv, &b->v, g ? &g->v : NULL, &(const struct attn_norm){.weight = {0}}, NULL}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct attn_rows by = before_heads(t, layer, &y, &each[i]);
        if (g)
            attn_step_by_weights(t, each[i].g, &y, &by);
        attn_step_by_input(t, dy, &by, each[i].w, more || i > 0);
    }
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
    before_adding(t, &dout, &b->post1, g ? &g->post1 : NULL, kept->out, ATTN_ACT_OUT, at);
    if (b->o.data) {
        attn_step_tell(t, ATTN_ACT_OUT, at, &dout, 0);
        if (g)
            attn_step_by_weights(t, &g->o, &context, &dout);
        attn_step_by_input(t, &dcontext, &dout, &b->o, false);
    }
    attn_step_tell(t, ATTN_ACT_CONTEXT, at, b->o.data ? &dcontext : &dout, 0);
    attn_work_attend_backward(t, layer, b->o.data ? dcontext.data : dout.data);
    attn_step_tell(t, ATTN_ACT_Q, at, &dq, n->H);
    attn_step_tell(t, ATTN_ACT_K, at, &dk, n->Hkv);
    attn_step_tell(t, ATTN_ACT_V, at, &dv, n->Hkv);
    if (!attn_norms_late(t->w, b)) {
        attn_work_turn(t, layer, &dq, t->minus_sin);
        attn_work_turn(t, layer, &dk, t->minus_sin);
    }
    struct attn_rows dy = target(t, dx, &b->norm1);
    /* one norm: the MLP's is there already */
    by_heads(t, layer, &dy, &dq, &dk, &dv, dy.data == dx->data || t->w->one_norm);
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
    before_adding(t, &dout, &b->post2, g ? &g->post2 : NULL, kept->mlp_out, ATTN_ACT_MLP_OUT, at);
    attn_step_tell(t, ATTN_ACT_MLP_OUT, at, &dout, 0);
    attn_step_by_input(t, &dpre, &dout, &b->out, false);
    attn_step_tell(t, ATTN_ACT_MLP_POST, at, &dpre, 0);
    attn_rows_activate_backward(t->team, &dpre, &pre, &linear, t->w->mlp);
    attn_step_tell(t, ATTN_ACT_MLP_PRE, at, &dpre, 0);
    if (gated)
        attn_step_tell(t, ATTN_ACT_MLP_LINEAR, at, &linear, 0);
    struct attn_rows dy = target(t, dx, t->w->one_norm ? &b->norm1 : &b->norm2);
    bool more = dy.data == dx->data;
    if (g) {
        struct attn_rows y = attn_work_normed(t, &mid, t->w->one_norm ? &b->norm1 : &b->norm2);
        attn_step_by_weights(t, &g->out, &pre, &dout);       /* by now pre holds what the product read */
        if (gated)
            attn_step_by_weights(t, &g->gate, &y, &dpre);
        attn_step_by_weights(t, &g->in, &y, gated ? &linear : &dpre);
    }
    if (gated)
        attn_step_by_input(t, &dy, &dpre, &b->gate, more);
    attn_step_by_input(t, &dy, gated ? &linear : &dpre, &b->in, more || gated);
    if (t->w->one_norm)
        return;                         /* attention adds to t->dy and leaves through the norm */
    leave(t, dx, &mid, &b->norm2, g ? &g->norm2 : NULL, ATTN_ACT_NORM2, at);
    if (!t->w->parallel)
        attn_step_tell(t, ATTN_ACT_RESID_MID, at, dx, 0);
}

static void block(struct attn_work *t, size_t layer)
{
    struct attn_rows dx = attn_work_rows(t, t->dx, t->w->n.d), behind = dx;
    attn_step_tell(t, ATTN_ACT_RESID_POST, (int)layer, &dx, 0);
    if (t->w->parallel) {               /* both branches start from the same gradient */
        behind.data = t->saved;
        attn_rows_copy(&behind, &dx);
    }
    const struct attn_block *b = &t->w->block[layer], *g = t->g ? &t->g->block[layer] : NULL;
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_MLP, layer, t->drop_branch);
    if (t->w->mlp != ATTN_MLP_NONE) {
        before_sum(t, &dx, &b->sum2, g ? &g->sum2 : NULL, kept->mid, kept->mlp_out, &drop);
        mlp(t, layer, &dx, &behind);
    }
    drop = attn_work_drop(t, ATTN_DROP_ATTENTION, layer, t->drop_branch);
    before_sum(t, &dx, &b->sum1, g ? &g->sum1 : NULL, kept->x, kept->out, &drop);
    attention(t, layer, &dx, &behind);
    attn_step_tell(t, ATTN_ACT_RESID_PRE, (int)layer, &dx, 0);
}

void attn_work_backward(struct attn_work *t, const int32_t *ids)
{
    for (size_t layer = t->w->n.L; layer-- > 0;)
        block(t, layer);
    attn_work_finish(t, ids);
}
