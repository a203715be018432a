#include "compute/block.h"

#include "compute/gemm.h"
#include "compute/linear.h"
#include "compute/rows.h"

#include <string.h>

void attn_pass_tell(struct attn_pass *p, int act, int layer, float *data, size_t ld, size_t cols, size_t heads)
{
    if (!attn_trace_wants(p->trace, act, layer, ATTN_WATCH | ATTN_EDIT))
        return;
    for (size_t i = 0; i < p->spans; i++) {
        const struct attn_pass_seq *s = &p->span[i];
        if (s->keys && attn_act_kv(act))
            continue;                   /* the sentence looks at another's keys and values, not at its own */
        size_t width = heads ? cols / heads : cols;
        struct attn_probe probe = {
            .act = act, .layer = layer, .seq = i, .ndim = heads ? 3 : 2, .heads = heads ? heads : 1,
            .rows = s->T, .cols = width, .ld = ld, .ld_head = width};
        size_t *shape = probe.shape;
        if (heads)
            *shape++ = heads;
        shape[0] = s->T;
        shape[1] = width;
        attn_trace_tell(p->trace, &probe, data + s->row * ld);
    }
}

static struct attn_rows rows(const struct attn_pass *p, float *data, size_t ld, size_t cols)
{
    return (struct attn_rows){data, ld, p->rows, cols};
}

static void tell(struct attn_pass *p, int act, size_t layer, const struct attn_rows *r, size_t heads)
{
    attn_pass_tell(p, act, (int)layer, r->data, r->ld, r->cols, heads);
}

static void multiply(struct attn_pass *p, const struct attn_rows *y, const struct attn_rows *x, const struct attn_mat *w,
                     enum attn_tail tail)
{
    attn_gemm(p->team, y->data, y->ld, x->data, x->ld, p->rows, w, tail, p->rounded);
}

static bool heard(const struct attn_pass *p, int act, size_t layer)
{
    return attn_trace_wants(p->trace, act, (int)layer, ATTN_WATCH | ATTN_EDIT);
}

/* The input of a branch: x normalised, or x itself where there is no norm. */
static struct attn_rows normed(struct attn_pass *p, const struct attn_rows *x, const struct attn_norm *norm,
                               int act, size_t layer)
{
    if (!norm->weight.data)
        return *x;
    struct attn_rows y = rows(p, p->y, x->cols, x->cols);
    attn_rows_norm(p->team, &y, x, norm, p->w->eps, p->norm_w, p->norm_b);
    tell(p, act, layer, &y, 0);
    return y;
}

static struct attn_text text_of(const struct attn_pass *p, const struct attn_pass_seq *s, size_t layer)
{
    const struct attn_dims *n = &p->w->n;
    const struct attn_pass_seq *keys = s->keys ? s->keys : s;
    struct attn_text t = {
        .q = p->q + s->row * n->H * n->dh, .k = p->k + keys->row * n->Hkv * n->dh, .v = p->v + keys->row * n->Hkv * n->dv,
        .context = p->context + s->row * n->H * n->dv, .Tq = s->T, .Tk = keys->pos + keys->T, .pos = s->pos,
        .all = s->keys != NULL};
    if (s->kv) {
        t.cache = s->kv->keys + layer * n->Hkv * attn_keys_size(s->kv->capacity, n->dh, n->dv);
        t.capacity = s->kv->capacity;
        t.state = s->kv->state + layer * n->Hkv * attn_linear_size(n->dh, n->dv);
    }
    return t;
}

static void attend(struct attn_pass *p, size_t layer)
{
    const struct attn_dims *n = &p->w->n;
    const struct attn_block *b = &p->w->block[layer];
    for (size_t i = 0; i < p->spans; i++)
        p->text[i] = text_of(p, &p->span[i], layer);
    struct attn_heads a = {
        .head = {.ldc = n->H * n->dv, .dh = n->dh, .dv = n->dv, .scale = attn_kind_scale(&p->room.kind, b->scale, n->dh),
                 .kind = attn_kind_in(&p->room.kind, p->w->causal, b->window)},
        .H = n->H, .Hkv = n->Hkv, .next_q = n->dh, .next_k = n->dh, .next_v = n->dv, .next_context = n->dv,
        .ldq = n->H * n->dh, .ldk = n->Hkv * n->dh, .ldv = n->Hkv * n->dv, .text = p->text, .texts = p->spans, .room = &p->room,
        .trace = p->trace, .layer = (int)layer, .overflowed = p->overflowed};
    attn_heads_run(&a, p->team);
    attn_lost_add(&p->lost, &a.lost);
    attn_lost_add(&p->wild, &a.wild);
}

/* Computes q, k and v from y, the input of the branch, and rotates q and k by their positions. */
static void project(struct attn_pass *p, const struct attn_rows *y, const struct attn_block *b, size_t layer)
{
    const struct attn_dims *n = &p->w->n;
    struct attn_rows q = rows(p, p->q, n->H * n->dh, n->H * n->dh);
    struct attn_rows k = rows(p, p->k, n->Hkv * n->dh, n->Hkv * n->dh);
    struct attn_rows v = rows(p, p->v, n->Hkv * n->dv, n->Hkv * n->dv);
    const struct attn_product each[] = {{q.data, q.ld, &b->q}, {k.data, k.ld, &b->k}, {v.data, v.ld, &b->v}};
    attn_gemm_each(p->team, each, sizeof each / sizeof *each, y->data, y->ld, p->rows, ATTN_STORE, p->rounded);
    if (p->w->rotary) {
        attn_rows_rotate(p->team, &q, n->dh, p->w->rotary, p->cos, p->sin);
        attn_rows_rotate(p->team, &k, n->dh, p->w->rotary, p->cos, p->sin);
    }
    tell(p, ATTN_ACT_Q, layer, &q, n->H);
    tell(p, ATTN_ACT_K, layer, &k, n->Hkv);
    tell(p, ATTN_ACT_V, layer, &v, n->Hkv);
}

/* Attention up to the contexts, the heads side by side. */
static struct attn_rows attention(struct attn_pass *p, const struct attn_rows *x, size_t layer)
{
    const struct attn_dims *n = &p->w->n;
    const struct attn_block *b = &p->w->block[layer];
    struct attn_rows y = normed(p, x, &b->norm1, ATTN_ACT_NORM1, layer);
    project(p, &y, b, layer);
    attend(p, layer);
    struct attn_rows context = rows(p, p->context, n->H * n->dv, n->H * n->dv);
    tell(p, ATTN_ACT_CONTEXT, layer, &context, 0);
    return context;
}

/* pre = act(y in).  The product applies act at once unless an observer wants the numbers before it. */
static void plain_mlp(struct attn_pass *p, const struct attn_rows *pre, const struct attn_rows *y, size_t layer)
{
    const struct attn_mat *in = &p->w->block[layer].in;
    if (!heard(p, ATTN_ACT_MLP_PRE, layer)) {
        multiply(p, pre, y, in, p->w->mlp == ATTN_GELU ? ATTN_THEN_GELU : ATTN_THEN_GELU_NEW);
        return;
    }
    multiply(p, pre, y, in, ATTN_STORE);
    tell(p, ATTN_ACT_MLP_PRE, layer, pre, 0);
    attn_rows_activate(p->team, pre, pre, NULL, p->w->mlp);
}

/* pre = silu(y gate) * (y in) */
static void gated_mlp(struct attn_pass *p, const struct attn_rows *pre, const struct attn_rows *y, size_t layer)
{
    const struct attn_block *b = &p->w->block[layer];
    struct attn_rows linear = rows(p, p->linear, p->w->n.m, p->w->n.m);
    multiply(p, pre, y, &b->gate, ATTN_STORE);
    tell(p, ATTN_ACT_MLP_PRE, layer, pre, 0);
    if (!heard(p, ATTN_ACT_MLP_LINEAR, layer)) {
        multiply(p, pre, y, &b->in, ATTN_THEN_SILU);
        return;
    }
    multiply(p, &linear, y, &b->in, ATTN_STORE);
    tell(p, ATTN_ACT_MLP_LINEAR, layer, &linear, 0);
    attn_rows_activate(p->team, pre, pre, &linear, p->w->mlp);
}

/* The MLP up to its last product. */
static struct attn_rows mlp(struct attn_pass *p, const struct attn_rows *x, size_t layer)
{
    struct attn_rows y = normed(p, x, &p->w->block[layer].norm2, ATTN_ACT_NORM2, layer);
    struct attn_rows pre = rows(p, p->pre, p->w->n.m, p->w->n.m);
    if (p->w->mlp == ATTN_SWIGLU)
        gated_mlp(p, &pre, &y, layer);
    else
        plain_mlp(p, &pre, &y, layer);
    tell(p, ATTN_ACT_MLP_POST, layer, &pre, 0);
    return pre;
}

/* Computes the last product of a branch into `to`.  Where the branch has none, its output is what it was. */
static struct attn_rows back(struct attn_pass *p, float *to, const struct attn_rows *branch, const struct attn_mat *w,
                             int act, size_t layer)
{
    if (!w->data)
        return *branch;
    struct attn_rows out = rows(p, to, p->w->n.d, p->w->n.d);
    multiply(p, &out, branch, w, ATTN_STORE);
    tell(p, act, layer, &out, 0);
    return out;
}

/* x = x + branch, or the branch alone, whose width x takes on. */
static void join(struct attn_pass *p, struct attn_rows *x, const struct attn_rows *branch)
{
    x->cols = branch->cols;
    if (p->w->residual)
        attn_rows_add(p->team, x, branch);
    else
        attn_rows_copy(x, branch);
}

/* back and join, in one product where no observer wants to see what is added to x. */
static void go_back(struct attn_pass *p, struct attn_rows *x, const struct attn_rows *branch, const struct attn_mat *w,
                    int act, size_t layer)
{
    if (w->data && p->w->residual && !heard(p, act, layer)) {
        multiply(p, x, branch, w, ATTN_ADD);
        return;
    }
    struct attn_rows out = back(p, p->out, branch, w, act, layer);
    join(p, x, &out);
}

/* x + attn(norm1(x)) + mlp(norm2(x)) */
static void parallel(struct attn_pass *p, struct attn_rows *x, size_t layer)
{
    const struct attn_block *b = &p->w->block[layer];
    struct attn_rows branch = attention(p, x, layer);
    struct attn_rows first = back(p, p->out, &branch, &b->o, ATTN_ACT_OUT, layer);
    branch = mlp(p, x, layer);
    struct attn_rows second = back(p, p->second, &branch, &b->out, ATTN_ACT_MLP_OUT, layer);
    join(p, x, &first);
    join(p, x, &second);
}

static void sequential(struct attn_pass *p, struct attn_rows *x, size_t layer)
{
    const struct attn_block *b = &p->w->block[layer];
    struct attn_rows branch = attention(p, x, layer);
    go_back(p, x, &branch, &b->o, ATTN_ACT_OUT, layer);
    if (p->w->mlp == ATTN_NO_MLP)
        return;
    tell(p, ATTN_ACT_RESID_MID, layer, x, 0);
    branch = mlp(p, x, layer);
    go_back(p, x, &branch, &b->out, ATTN_ACT_MLP_OUT, layer);
}

void attn_block_run(struct attn_pass *p, size_t layer)
{
    struct attn_rows x = rows(p, p->x, p->ldx, p->w->n.d);
    tell(p, ATTN_ACT_RESID_PRE, layer, &x, 0);
    if (p->w->parallel)
        parallel(p, &x, layer);
    else
        sequential(p, &x, layer);
    tell(p, ATTN_ACT_RESID_POST, layer, &x, 0);
}
