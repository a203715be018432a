/* block_steps.c - the steps of a block: which buffers they read and write, and what they announce. */
#include "compute/block_steps.h"

#include "base/size.h"
#include "compute/page_in.h"

#include <string.h>

struct attn_activation attn_pass_rows(const struct attn_pass *p, float *data, size_t cols)
{
    return (struct attn_activation){{data, cols, p->rows, cols}, NULL};
}

struct attn_activation attn_pass_stream(const struct attn_pass *p)
{
    return (struct attn_activation){{p->x, p->ldx, p->rows, p->w->n.d}, NULL};
}

/* Keeps an activation in bf16, where that was planned. */
static struct attn_activation planned(const struct attn_pass *p, int act, float *data, size_t cols, float *bf16)
{
    return (struct attn_activation){{data, cols, p->rows, cols}, p->fusion[p->layer].bf16[act] ? bf16 : NULL};
}

struct attn_activation attn_pass_hidden(const struct attn_pass *p)
{
    return planned(p, ATTN_ACT_MLP_POST, p->pre, p->w->n.m, p->inner_bf16);
}

bool attn_pass_wanted(const struct attn_pass *p, int act)
{
    return attn_trace_wants(p->trace, act, p->layer, ATTN_WATCH | ATTN_EDIT);
}

void attn_pass_announce(struct attn_pass *p, int act, const struct attn_activation *x, size_t heads)
{
    const struct attn_rows *r = &x->rows;
    if (!attn_pass_wanted(p, act))
        return;
    for (size_t i = 0; i < p->seqs; i++) {
        const struct attn_pass_seq *s = &p->seq[i];
        if (s->keys && attn_act_of_keys(act))
            continue;                   /* the sentence looks at another's keys and values, not at its own */
        size_t width = heads ? r->cols / heads : r->cols;
        struct attn_probe probe = {
            .act = act, .layer = p->layer, .seq = i, .ndim = heads ? 3 : 2, .heads = heads ? heads : 1,
            .rows = s->T, .cols = width, .ld = r->ld, .ld_head = width};
        size_t *shape = probe.shape;
        if (heads)
            *shape++ = heads;
        shape[0] = s->T;
        shape[1] = width;
        attn_trace_announce(p->trace, &probe, r->data + s->row * r->ld);
    }
}

/* ---- norms ---- */

void attn_pass_normalise(struct attn_pass *p, const struct attn_activation *y, const struct attn_activation *x,
                         const struct attn_norm *norm)
{
    if (attn_has(norm))
        attn_rows_norm(p->team, &y->rows, &x->rows, norm, p->w->eps, p->norm_w, p->norm_b, y->bf16);
}

struct attn_activation attn_pass_norm(struct attn_pass *p, int act, const struct attn_activation *x,
                                      const struct attn_norm *norm)
{
    if (!attn_has(norm))
        return *x;
    struct attn_activation y = planned(p, act, p->y, x->rows.cols, p->y_bf16);
    attn_pass_normalise(p, &y, x, norm);
    attn_pass_announce(p, act, &y, 0);
    if (p->w->post_norm_residual)
        attn_rows_copy(&x->rows, &y.rows);
    return y;
}

/* ---- products ---- */

/* Where a product goes that an observer, or the model, changes before the epilogue makes y of it. */
static struct attn_rows product_of(const struct attn_pass *p, const struct attn_rows *y, enum attn_epilogue epilogue)
{
    if (epilogue == ATTN_ADD)
        return attn_pass_rows(p, p->out, p->w->n.d).rows;
    return attn_mlp_gated(attn_epilogue_mlp(epilogue)) ? attn_pass_rows(p, p->linear, p->w->n.m).rows : *y;
}

static void run_epilogue(struct attn_pass *p, const struct attn_rows *y, const struct attn_rows *product,
                         enum attn_epilogue epilogue)
{
    const enum attn_mlp_kind mlp = attn_epilogue_mlp(epilogue);
    if (mlp)
        attn_rows_activate(p->team, y, attn_mlp_gated(mlp) ? y : product, product, mlp);
    else if (epilogue == ATTN_ADD)
        attn_rows_add(p->team, y, product);
    else
        attn_rows_copy(y, product);
}

/* What a branch gives becomes what it adds, where that is not the same: normalised, or scaled. */
static void post_process(struct attn_pass *p, int act, const struct attn_activation *out)
{
    const struct attn_block *b = &p->w->block[p->layer];
    attn_pass_normalise(p, out, out, act == ATTN_ACT_OUT ? &b->post1 : &b->post2);
    if (p->w->branch_scale != 0)
        attn_rows_scale(p->team, &out->rows, p->w->branch_scale);
    attn_pass_announce(p, act == ATTN_ACT_OUT ? ATTN_ACT_ADDED : ATTN_ACT_MLP_ADDED, out, 0);
}

void attn_pass_linear(struct attn_pass *p, int act, struct attn_activation *y, const struct attn_activation *x,
                      const struct attn_mat *w, enum attn_epilogue epilogue)
{
    const bool processed = epilogue == ATTN_ADD && attn_adds_apart(p->w);
    const bool fused = !processed && (!w->data || epilogue == ATTN_STORE || p->fusion[p->layer].epilogue[act]);
    struct attn_activation product = {fused ? y->rows : product_of(p, &y->rows, epilogue), NULL};
    if (!w->data) {
        product.rows.cols = x->rows.cols;
        run_epilogue(p, &product.rows, &x->rows, fused ? epilogue : ATTN_STORE);
    } else {
        const struct attn_product one = {product.rows.data, product.rows.ld, w};
        const struct attn_bf16_operands bf16 = {x->bf16, fused && attn_epilogue_mlp(epilogue) ? y->bf16 : NULL};
        if (p->unread)
            attn_page_in(p->team, w);
        attn_gemm_each(p->team, &one, 1, x->rows.data, x->rows.ld, p->rows, fused ? epilogue : ATTN_STORE, p->rounded,
                       &bf16);
        attn_pass_announce(p, act, &product, 0);        /* if the epilogue is done already, nobody wants it */
    }
    if (processed)
        post_process(p, act, &product);
    if (fused)
        y->rows = product.rows;
    else
        run_epilogue(p, &y->rows, &product.rows, epilogue);
}

void attn_pass_add(struct attn_pass *p, const struct attn_activation *y, const struct attn_activation *x)
{
    attn_rows_add(p->team, &y->rows, &x->rows);
}

/* ---- attention ---- */

static struct attn_activation queries(const struct attn_pass *p)
{
    return attn_pass_rows(p, p->q, p->w->n.H * p->w->n.dh);
}

static struct attn_activation keys(const struct attn_pass *p)
{
    return attn_pass_rows(p, p->k, p->w->n.Hkv * p->w->n.dh);
}

static struct attn_activation values(const struct attn_pass *p)
{
    return attn_pass_rows(p, p->v, p->w->n.Hkv * p->w->n.dv);
}

static void normalise_heads(struct attn_pass *p, const struct attn_block *b)
{
    const struct attn_activation q = queries(p), k = keys(p);
    attn_pass_normalise(p, &q, &q, &b->q_norm);
    attn_pass_normalise(p, &k, &k, &b->k_norm);
}

void attn_pass_qkv(struct attn_pass *p, const struct attn_activation *h, const struct attn_block *b)
{
    const struct attn_activation q = queries(p), k = keys(p), v = values(p);
    const struct attn_product each[] = {
        {q.rows.data, q.rows.ld, &b->q}, {k.rows.data, k.rows.ld, &b->k}, {v.rows.data, v.rows.ld, &b->v}};
    const size_t n = sizeof each / sizeof *each;
    for (size_t i = 0; i < n && p->unread; i++)
        attn_page_in(p->team, each[i].w);
    attn_gemm_each(p->team, each, n, h->rows.data, h->rows.ld, p->rows, ATTN_STORE, p->rounded,
                   &(struct attn_bf16_operands){h->bf16, NULL});
    for (size_t i = 0; i < n && p->w->clip != 0; i++)
        attn_rows_clamp(p->team, &(struct attn_rows){each[i].y, each[i].ldy, p->rows, each[i].w->out}, p->w->clip);
    if (!attn_norms_late(p->w, b))
        normalise_heads(p, b);
}

void attn_pass_rotate(struct attn_pass *p, const struct attn_block *b)
{
    const struct attn_activation q = queries(p), k = keys(p), v = values(p);
    if (p->w->rotary && b->rope >= 0) {
        const size_t first = (size_t)b->rope * p->R * (p->w->rotary / 2);
        attn_rows_rotate(p->team, &q.rows, p->w, p->cos + first, p->sin + first);
        attn_rows_rotate(p->team, &k.rows, p->w, p->cos + first, p->sin + first);
    }
    if (attn_norms_late(p->w, b))
        normalise_heads(p, b);
    attn_pass_announce(p, ATTN_ACT_Q, &q, p->w->n.H);
    attn_pass_announce(p, ATTN_ACT_K, &k, p->w->n.Hkv);
    attn_pass_announce(p, ATTN_ACT_V, &v, p->w->n.Hkv);
}

/* A sentence as attention sees it. */
static struct attn_heads_seq seq_of(const struct attn_pass *p, const struct attn_pass_seq *s)
{
    const struct attn_dims *n = &p->w->n;
    const struct attn_pass_seq *keys = s->keys ? s->keys : s;
    struct attn_heads_seq t = {
        .q = p->q + s->row * n->H * n->dh, .k = p->k + keys->row * n->Hkv * n->dh,
        .v = p->v + keys->row * n->Hkv * n->dv,
        .context = p->context + s->row * n->H * n->dv, .row = s->row, .Tq = s->T, .Tk = keys->pos + keys->T,
        .pos = s->pos, .all = s->keys != NULL};
    if (s->kv) {
        t.cache = s->kv->keys + (size_t)p->layer * n->Hkv * attn_keys_size(s->kv->capacity, n->dh, n->dv);
        t.capacity = s->kv->capacity;
        t.state = s->kv->state + (size_t)p->layer * n->Hkv * attn_linear_size(n->dh, n->dv);
    }
    return t;
}

/* Moves the last row of each sentence to the front.  No row is before the one it moves to. */
static void keep_last(const struct attn_pass *p, struct attn_activation *x)
{
    struct attn_rows *r = &x->rows;
    for (size_t i = 0; i < p->seqs; i++) {
        const size_t last = p->seq[i].row + p->seq[i].T - 1;
        if (x->bf16)
            attn_gemm_move(x->bf16, r->cols, i, last);
        else
            memmove(r->data + i * r->ld, r->data + last * r->ld, r->cols * sizeof *r->data);
    }
    r->n = p->seqs;
}

void attn_pass_keep_last(struct attn_pass *p, struct attn_activation *x)
{
    if (!p->last)
        keep_last(p, x);
    p->last = true;
}

static void prune(struct attn_pass *p, struct attn_activation *x, struct attn_activation *h,
                  struct attn_activation *context)
{
    keep_last(p, context);
    if (h->rows.data != x->rows.data)
        keep_last(p, h);
    attn_pass_keep_last(p, x);
    p->rows = p->seqs;
}

struct attn_activation attn_pass_attend(struct attn_pass *p, struct attn_activation *x, struct attn_activation *h)
{
    const struct attn_dims *n = &p->w->n;
    const struct attn_block *b = &p->w->block[p->layer];
    const struct attn_kind *asked = &p->scratch.kind;
    struct attn_activation context = planned(p, ATTN_ACT_CONTEXT, p->context, n->H * n->dv, p->inner_bf16);
    for (size_t i = 0; i < p->seqs; i++)
        p->heads_seq[i] = seq_of(p, &p->seq[i]);
    struct attn_heads a = {
        .head = {.ldc = n->H * n->dv, .dh = n->dh, .dv = n->dv, .scale = attn_kind_scale(asked, b->scale, n->dh),
                 .cap = p->w->cap, .kind = attn_kind_in(asked, p->w->causal, b->window)},
        .H = n->H, .Hkv = n->Hkv, .next_q = n->dh, .next_k = n->dh, .next_v = n->dv, .next_context = n->dv,
        .ldq = n->H * n->dh, .ldk = n->Hkv * n->dh, .ldv = n->Hkv * n->dv, .seq = p->heads_seq, .seqs = p->seqs,
        .bias = p->bias, .next_bias = p->bias_ld, .rounded = context.bf16,
        .scratch = &p->scratch, .trace = p->trace, .layer = p->layer, .overflowed = p->overflowed};
    attn_heads_run(&a, p->team);
    attn_lost_add(&p->lost, &a.lost);
    attn_lost_add(&p->nonfinite, &a.nonfinite);
    attn_pass_announce(p, ATTN_ACT_CONTEXT, &context, 0);
    if (p->fusion[p->layer].prune && (size_t)p->layer + 1 == p->blocks && p->rows > p->seqs)
        prune(p, x, h, &context);
    return context;
}
