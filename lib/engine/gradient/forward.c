/* forward.c - the forward pass of compute/block.h, which also keeps what the backward pass will read; and, if the loss
 * is not finite, which of its activations was the first that is not. */
#include "gradient/work.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/splitmix.h"
#include "compute/gemm.h"
#include "compute/position.h"
#include "trace/trace.h"

static void multiply(struct attn_work *t, const struct attn_rows *y, const struct attn_rows *x,
                     const struct attn_mat *w, enum attn_epilogue tail)
{
    attn_gemm(t->team, y->data, y->ld, x->data, x->ld, x->n, w, tail, NULL);
}

static const float *table_row(const struct attn_mat *table, size_t row)
{
    return (const float *)table->data + row * table->ld;
}

/* ---- what the backward pass does again ---- */

static void normalise(const struct attn_work *t, const struct attn_rows *y, const struct attn_rows *x,
                      const struct attn_norm *norm)
{
    if (attn_has(norm))
        attn_rows_norm(t->team, y, x, norm, t->w->eps, t->norm_w, t->norm_b, NULL);
}

struct attn_rows attn_work_normed(const struct attn_work *t, const struct attn_rows *x, const struct attn_norm *norm)
{
    if (!norm->weight.data)
        return *x;
    struct attn_rows y = attn_work_rows(t, t->y, x->cols);
    normalise(t, &y, x, norm);
    return y;
}

struct attn_drop attn_work_drop(const struct attn_work *t, enum attn_dropped what, size_t layer, float p)
{
    return (struct attn_drop){.key = attn_splitmix(t->seed + layer * ATTN_DROPPED + what),
                              .below = (uint32_t)((double)p * 0x1p32),
                              .scale = 1 / (1 - p)};
}

/* ---- the embedding ---- */

void attn_work_set_rotation(struct attn_work *t, const struct attn_work_seq *s)
{
    const size_t half = t->w->rotary / 2, n = s->T * half;
    for (size_t k = 0; k < t->w->ropes; k++) {
        const struct attn_rope *rope = &t->w->rope[k];
        const float *ready = t->rotation + 2 * k * t->longest * half;
        size_t at = (k * t->R + s->row) * half;
        if (rope->original_max_position && s->T > rope->original_max_position) {
            attn_rope_cos_sin(t->cos + at, t->sin + at, t->w, rope, 0, s->T, s->T);
        } else {
            memcpy(t->cos + at, ready, n * sizeof *t->cos);
            memcpy(t->sin + at, ready + t->longest * half, n * sizeof *t->sin);
        }
        for (size_t i = 0; i < n; i++)
            t->minus_sin[at + i] = -t->sin[at + i];
    }
}

void attn_work_turn(struct attn_work *t, size_t layer, const struct attn_rows *y, const float *sines)
{
    int rope = t->w->block[layer].rope;
    if (!t->w->rotary || rope < 0)
        return;
    size_t first = (size_t)rope * t->R * (t->w->rotary / 2);
    attn_rows_rotate(t->team, y, t->w, t->cos + first, sines + first);
}

static void add_sinusoids(const struct attn_work *t, const struct attn_rows *x)
{
    float *row = t->dy;                 /* not in use before the backward pass has left the blocks, or after it */
    for (size_t s = 0; s < t->seqs; s++)
        for (size_t i = 0; i < t->seq[s].T; i++) {
            attn_sinusoid(row, x->cols, i);
            attn_vec_add(x->data + (t->seq[s].row + i) * x->ld, row, x->cols);
        }
}

void attn_work_embed(struct attn_work *t, const struct attn_rows *x, const int32_t *ids)
{
    const struct attn_weights *w = t->w;
    struct attn_rows row = w->project_in.data ? attn_work_rows(t, t->embed_proj, w->embed.out) : *x;
    for (size_t i = 0; i < t->rows; i++)
        memcpy(row.data + i * row.ld, table_row(&w->embed, (size_t)ids[i]), row.cols * sizeof *row.data);
    if (w->project_in.data)
        multiply(t, x, &row, &w->project_in, ATTN_STORE);
    if (w->embed_scale != 0)
        attn_rows_scale(t->team, x, w->embed_scale);
    for (size_t s = 0; s < t->seqs; s++)
        for (size_t i = 0; w->pos.data && i < t->seq[s].T; i++)
            attn_vec_add(x->data + (t->seq[s].row + i) * x->ld, table_row(&w->pos, i), x->cols);
    if (w->sinusoid)
        add_sinusoids(t, x);
}

static void embed(struct attn_work *t, const int32_t *ids)
{
    size_t d = t->w->n.d;
    struct attn_rows x = attn_work_rows(t, t->layer[0].x, d);
    attn_work_embed(t, &x, ids);
    normalise(t, &x, &x, &t->w->embed_norm);
    for (size_t s = 0; s < t->seqs && t->w->rotary; s++)
        attn_work_set_rotation(t, &t->seq[s]);
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_EMBED, 0, t->drop_embed);
    if (drop.below)
        attn_rows_drop(t->team, &x, &x, &drop, t->first);
}

/* ---- blocks ---- */

/* How a branch ends: with a product, perhaps the norm and the multiplier of what it gives, dropout, the addition, and
 * perhaps the norm of the sum.  out: keeps what the product gives; NULL: nobody will need it. */
struct ending { const struct attn_mat *w; const struct attn_norm *post, *sum; float *out; struct attn_drop drop; };

/* What the branch adds, of what its last product reads. */
static struct attn_rows added(struct attn_work *t, const struct attn_rows *to, const struct attn_rows *x,
                              const struct ending *e)
{
    struct attn_rows gives = attn_work_rows(t, e->out ? e->out : t->w->residual ? t->branch : to->data, to->cols);
    struct attn_rows adds = e->out ? attn_work_rows(t, t->branch, to->cols) : gives;
    if (e->w->data)
        multiply(t, &gives, x, e->w, ATTN_STORE);
    else
        attn_rows_copy(&gives, x);
    if (attn_has(e->post))
        normalise(t, &adds, &gives, e->post);
    else if (e->out)
        attn_rows_copy(&adds, &gives);
    if (t->w->branch_scale != 0)
        attn_rows_scale(t->team, &adds, t->w->branch_scale);
    if (e->drop.below)
        attn_rows_drop(t->team, &adds, &adds, &e->drop, t->first);
    return adds;
}

/* to = from + branch; without a residual stream from is left out, without a matrix x itself is added. */
static void join(struct attn_work *t, const struct attn_rows *to, const struct attn_rows *from,
                 const struct attn_rows *x, const struct ending *e)
{
    if (t->w->residual && to->data != from->data)
        attn_rows_copy(to, from);
    if (e->w->data && t->w->residual && !e->drop.below && !e->out && !attn_adds_apart(t->w)) {
        multiply(t, to, x, e->w, ATTN_ADD);
        return;
    }
    struct attn_rows adds = added(t, to, x, e);
    if (t->w->residual)
        attn_rows_add(t->team, to, &adds);
    normalise(t, to, to, e->sum);
}

/* What is done with queries or keys of a layer after their product: clamped, normalised, turned. */
static void finish_heads(struct attn_work *t, size_t layer, const struct attn_rows *y, const struct attn_norm *norm)
{
    const bool late = t->w->late_norms;
    if (t->w->clip != 0)
        attn_rows_clamp(t->team, y, t->w->clip);
    if (!late)
        normalise(t, y, y, norm);
    attn_work_turn(t, layer, y, t->sin);
    if (late)
        normalise(t, y, y, norm);
}

/* Contexts of all heads; returns what the stream goes on from: x, or what the norm made of it. */
static struct attn_rows attention(struct attn_work *t, size_t layer, const struct attn_rows *x)
{
    const struct attn_dims *n = &t->w->n;
    const struct attn_block *b = &t->w->block[layer];
    const struct attn_kept *kept = &t->layer[layer];
    struct attn_rows y = attn_work_normed(t, x, &b->norm1), q = attn_work_rows(t, kept->q, n->H * n->dh);
    struct attn_rows k = attn_work_rows(t, kept->k, n->Hkv * n->dh), v = attn_work_rows(t, kept->v, n->Hkv * n->dv);
    struct attn_rows read = attn_work_rows(t, kept->read, n->d);
    if (kept->read)
        attn_rows_copy(&read, &y);
    multiply(t, &q, &y, &b->q, ATTN_STORE);
    multiply(t, &k, &y, &b->k, ATTN_STORE);
    multiply(t, &v, &y, &b->v, ATTN_STORE);
    finish_heads(t, layer, &q, &b->q_norm);
    finish_heads(t, layer, &k, &b->k_norm);
    if (t->w->clip != 0)
        attn_rows_clamp(t->team, &v, t->w->clip);
    attn_work_attend(t, layer);
    return t->w->post_norm_residual ? y : *x;
}

/* Returns what the last product of the MLP reads; *x becomes what the stream goes on from. */
static struct attn_rows mlp(struct attn_work *t, size_t layer, struct attn_rows *x)
{
    const struct attn_block *b = &t->w->block[layer];
    struct attn_rows y = attn_work_normed(t, x, t->w->one_norm ? &b->norm1 : &b->norm2);
    struct attn_rows pre = attn_work_rows(t, t->layer[layer].pre, t->w->n.m),
    post = attn_work_rows(t, t->post, t->w->n.m);
    struct attn_rows linear = attn_work_rows(t, t->layer[layer].linear, t->w->n.m);
    bool gated = attn_mlp_gated(t->w->mlp);
    multiply(t, &pre, &y, gated ? &b->gate : &b->in, ATTN_STORE);
    if (gated)
        multiply(t, &linear, &y, &b->in, ATTN_STORE);
    attn_rows_activate(t->team, &post, &pre, gated ? &linear : NULL, t->w->mlp);
    *x = t->w->post_norm_residual ? y : *x;
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
    const struct ending first = {&b->o, &b->post1, &b->sum1, kept->out,
                                 attn_work_drop(t, ATTN_DROP_ATTENTION, layer, t->drop_branch)};
    const struct ending second = {&b->out, &b->post2, &b->sum2, kept->mlp_out,
                                  attn_work_drop(t, ATTN_DROP_MLP, layer, t->drop_branch)};
    struct attn_rows stream = attention(t, layer, &x);
    bool last = t->w->parallel || t->w->mlp == ATTN_MLP_NONE;
    join(t, last ? &next : &mid, &stream, &context, &first);
    if (t->w->mlp == ATTN_MLP_NONE)
        return;
    struct attn_rows post = mlp(t, layer, &mid);
    join(t, &next, t->w->parallel ? &next : &mid, &post, &second);
}

void attn_work_forward(struct attn_work *t, const int32_t *ids)
{
    embed(t, ids);
    for (size_t layer = 0; layer < t->w->n.L; layer++)
        block(t, layer);
}

/* ---- numbers that are not finite ---- */

/* The sentence that row i of the group belongs to. */
static const struct attn_work_seq *seq_of(const struct attn_work *t, size_t row)
{
    size_t i = 0;
    while (i + 1 < t->seqs && t->seq[i + 1].row <= row)
        i++;
    return &t->seq[i];
}

static const char *what(float x)
{
    return isnan(x) ? "NaN" : x > 0 ? "inf" : "-inf";
}

/* Reports the first number of data[rows, cols] that is not finite; data NULL: the model has no such activation. */
static int look(const struct attn_work *t, const float *data, size_t cols, int act, int layer, struct attn_err *err)
{
    char name[ATTN_NAME_MAX];
    for (size_t i = 0; data && i < t->rows; i++)
        for (size_t j = 0; j < cols; j++) {
            if (isfinite(data[i * cols + j]))
                continue;
            const struct attn_work_seq *s = seq_of(t, i);
            attn_act_name(name, act, layer);
            return attn_fail(err, ATTN_EFORMAT, "the loss is not finite: %s holds %s at token %zu of sentence %zu, "
                                                "column %zu", name, what(data[i * cols + j]), i - s->row,
                             t->first_seq + (size_t)(s - t->seq), j);
        }
    return ATTN_OK;
}

static int look_in_layer(const struct attn_work *t, size_t layer, struct attn_err *err)
{
    const struct attn_dims *n = &t->w->n;
    const struct attn_kept *k = &t->layer[layer];
    bool mlp = t->w->mlp != ATTN_MLP_NONE;
    const struct { const float *data; size_t cols; int act; } kept[] = {
        {k->x, n->d, ATTN_ACT_RESID_PRE}, {k->q, n->H * n->dh, ATTN_ACT_Q}, {k->k, n->Hkv * n->dh, ATTN_ACT_K},
        {k->v, n->Hkv * n->dv, ATTN_ACT_V}, {k->context, n->H * n->dv, ATTN_ACT_CONTEXT},
        {mlp ? k->mid : NULL, n->d, ATTN_ACT_RESID_MID}, {mlp ? k->pre : NULL, n->m, ATTN_ACT_MLP_PRE},
        {attn_mlp_gated(t->w->mlp) ? k->linear : NULL, n->m, ATTN_ACT_MLP_LINEAR}};
    int rc = ATTN_OK;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && !rc; i++)
        rc = look(t, kept[i].data, kept[i].cols, kept[i].act, (int)layer, err);
    return rc;
}

int attn_work_nonfinite(const struct attn_work *t, struct attn_err *err)
{
    size_t L = t->w->n.L;
    int rc = ATTN_OK;
    for (size_t layer = 0; layer < L && !rc; layer++)
        rc = look_in_layer(t, layer, err);
    if (!rc)
        rc = L ? look(t, t->layer[L].x, t->w->n.d, ATTN_ACT_RESID_POST, (int)L - 1, err)
               : look(t, t->layer[0].x, t->w->n.d, ATTN_ACT_EMBED, -1, err);
    for (size_t i = 0; i < t->rows && !rc; i++)
        if (!isfinite(t->loss[i])) {
            const struct attn_work_seq *s = seq_of(t, i);
            rc = attn_fail(err, ATTN_EFORMAT, "the loss is not finite: it is %s for token %zu of sentence %zu, though "
                                              "all before the logits is finite", what((float)t->loss[i]), i - s->row,
                           t->first_seq + (size_t)(s - t->seq));
        }
    return rc;
}
