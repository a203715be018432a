/* forward.c - the forward pass of compute/block.h, which also keeps what the backward pass will read. */
#include "compute/gemm.h"
#include "gradient/work.h"

#include <string.h>

static void multiply(struct attn_work *t, const struct attn_rows *y, const struct attn_rows *x, const struct attn_mat *w,
                     enum attn_tail tail)
{
    attn_gemm(t->team, y->data, y->ld, x->data, x->ld, x->n, w, tail, NULL);
}

static const float *table_row(const struct attn_mat *table, size_t row)
{
    return (const float *)table->data + row * table->ld;
}

/* ---- the embedding ---- */

static void place_rows(struct attn_work *t, const struct attn_stretch *s, size_t half)
{
    size_t n = s->T * half, at = s->row * half;
    memcpy(t->cos + at, t->turns, n * sizeof *t->cos);
    memcpy(t->sin + at, t->turns + t->longest * half, n * sizeof *t->sin);
    for (size_t i = 0; i < n; i++)
        t->back[at + i] = -t->sin[at + i];
}

static void embed(struct attn_work *t, const int32_t *ids)
{
    size_t d = t->w->n.d;
    struct attn_rows x = attn_work_rows(t, t->layer[0].x, d);
    for (size_t i = 0; i < t->rows; i++)
        memcpy(x.data + i * d, table_row(&t->w->embed, (size_t)ids[i]), d * sizeof *x.data);
    for (size_t s = 0; s < t->texts; s++) {
        for (size_t i = 0; t->w->pos.data && i < t->text[s].T; i++)
            attn_vec_add(x.data + (t->text[s].row + i) * d, table_row(&t->w->pos, i), d);
        if (t->w->rotary)
            place_rows(t, &t->text[s], t->w->rotary / 2);
    }
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_EMBED, 0, t->drop_embed);
    if (drop.below)
        attn_rows_drop(t->team, &x, &x, &drop, t->first);
}

/* ---- blocks ---- */

/* to = from + dropout(x w); without a residual stream from is left out, without w x itself is added. */
static void join(struct attn_work *t, const struct attn_rows *to, const struct attn_rows *from, const struct attn_rows *x,
                 const struct attn_mat *w, const struct attn_drop *drop)
{
    bool plain = w->data && t->w->residual && !drop->below;
    struct attn_rows gives = attn_work_rows(t, t->w->residual ? t->branch : to->data, to->cols);
    if (t->w->residual && to->data != from->data)
        attn_rows_copy(to, from);
    if (plain)
        multiply(t, to, x, w, ATTN_ADD);
    else if (w->data)
        multiply(t, &gives, x, w, ATTN_STORE);
    else
        attn_rows_copy(&gives, x);
    if (drop->below)
        attn_rows_drop(t->team, &gives, &gives, drop, t->first);
    if (t->w->residual && !plain)
        attn_rows_add(t->team, to, &gives);
}

static void attention(struct attn_work *t, size_t layer, const struct attn_rows *x)
{
    const struct attn_dims *n = &t->w->n;
    const struct attn_block *b = &t->w->block[layer];
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_rows y = attn_work_normed(t, x, &b->norm1), q = attn_work_rows(t, kept->q, n->H * n->dh);
    struct attn_rows k = attn_work_rows(t, kept->k, n->Hkv * n->dh), v = attn_work_rows(t, kept->v, n->Hkv * n->dv);
    multiply(t, &q, &y, &b->q, ATTN_STORE);
    multiply(t, &k, &y, &b->k, ATTN_STORE);
    multiply(t, &v, &y, &b->v, ATTN_STORE);
    if (t->w->rotary) {
        attn_rows_rotate(t->team, &q, n->dh, t->w->rotary, t->cos, t->sin);
        attn_rows_rotate(t->team, &k, n->dh, t->w->rotary, t->cos, t->sin);
    }
    attn_work_attend(t, layer);
}

/* Returns what the last product of the MLP reads. */
static struct attn_rows mlp(struct attn_work *t, size_t layer, const struct attn_rows *x)
{
    const struct attn_block *b = &t->w->block[layer];
    struct attn_rows y = attn_work_normed(t, x, &b->norm2), pre = attn_work_rows(t, t->layer[layer].pre, t->w->n.m);
    struct attn_rows post = attn_work_rows(t, t->post, t->w->n.m);
    struct attn_rows linear = attn_work_rows(t, t->layer[layer].linear, t->w->n.m);
    bool gated = t->w->mlp == ATTN_SWIGLU;
    multiply(t, &pre, &y, gated ? &b->gate : &b->in, ATTN_STORE);
    if (gated)
        multiply(t, &linear, &y, &b->in, ATTN_STORE);
    attn_rows_activate(t->team, &post, &pre, gated ? &linear : NULL, t->w->mlp);
    return post;
}

static void block(struct attn_work *t, size_t layer)
{
    size_t d = t->w->n.d;
    const struct attn_block *b = &t->w->block[layer];
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_rows x = attn_work_rows(t, kept->x, d), next = attn_work_rows(t, t->layer[layer + 1].x, d);
    struct attn_rows context = attn_work_rows(t, kept->context, t->w->n.H * t->w->n.dv);
    struct attn_rows mid = attn_work_rows(t, kept->mid, d);
    struct attn_drop first = attn_work_drop(t, ATTN_DROP_ATTENTION, layer, t->drop_branch);
    struct attn_drop second = attn_work_drop(t, ATTN_DROP_MLP, layer, t->drop_branch);
    attention(t, layer, &x);
    bool last = t->w->parallel || t->w->mlp == ATTN_NO_MLP;
    join(t, last ? &next : &mid, &x, &context, &b->o, &first);
    if (t->w->mlp == ATTN_NO_MLP)
        return;
    struct attn_rows post = mlp(t, layer, &mid);
    join(t, &next, t->w->parallel ? &next : &mid, &post, &b->out, &second);
}

void attn_work_forward(struct attn_work *t, const int32_t *ids)
{
    embed(t, ids);
    for (size_t layer = 0; layer < t->w->n.L; layer++)
        block(t, layer);
}
