#include "compute/block.h"

#include "base/size.h"
#include "compute/gemm.h"
#include "compute/page_in.h"
#include "compute/position.h"

#include <string.h>

/* The verbs of the forward pass; they are explained below. */
static struct attn_rows rows(const struct attn_pass *p, float *data, size_t cols);
static void announce(struct attn_pass *p, int act, int layer, const struct attn_rows *r, size_t heads);
static struct attn_rows normed(struct attn_pass *p, const struct attn_rows *x, const struct attn_norm *norm, int act, int layer);
static void attend(struct attn_pass *p, int layer);
static void prune_to_last_rows(struct attn_pass *p, int layer, struct attn_rows *x, struct attn_rows *y, struct attn_rows *context);
static void norm_heads(struct attn_pass *p, struct attn_rows *y, const struct attn_norm *norm);
static void rotate(struct attn_pass *p, struct attn_rows *y, int layer);
static void linear(struct attn_pass *p, struct attn_rows *y, const struct attn_rows *x, const struct attn_mat *w,
                 enum attn_epilogue epilogue, int act, int layer);
static void residual_add(struct attn_pass *p, struct attn_rows *x, const struct attn_rows *y, const struct attn_mat *w, int act, int layer);
static bool sees_hidden(const struct attn_pass *p, int layer);
static void multiply_each(struct attn_pass *p, const struct attn_product *each, size_t outs, const struct attn_rows *x,
                          enum attn_epilogue epilogue);
static void run_epilogue(struct attn_pass *p, struct attn_rows *y, const struct attn_rows *product, enum attn_epilogue epilogue);

void attn_block_run(struct attn_pass *p, int layer)
{
    const struct attn_weights *w = p->w;
    const struct attn_block *b = &w->block[layer];
    const struct attn_dims *n = &w->n;

    /* All have R rows, those of all sentences, until prune_to_last_rows. */
    struct attn_rows x = {p->x, p->ldx, p->rows, n->d};                         /* [R, d] */
    struct attn_rows q = rows(p, p->q, n->H * n->dh);                           /* [R, H * dh] */
    struct attn_rows k = rows(p, p->k, n->Hkv * n->dh);                         /* [R, Hkv * dh] */
    struct attn_rows v = rows(p, p->v, n->Hkv * n->dv);                         /* [R, Hkv * dv] */
    struct attn_rows context = rows(p, p->context, n->H * n->dv);               /* [R, H * dv] */
    p->y_bf16.rows = p->inner_bf16.rows = NULL;                                 /* of the block before */
    announce(p, ATTN_ACT_RESID_PRE, layer, &x, 0);

    /* Attention: queries, keys and values of all heads, side by side. */
    struct attn_rows y = normed(p, &x, &b->norm1, ATTN_ACT_NORM1, layer);       /* [R, d] -> [R, d] */
    const struct attn_product qkv[] = {{q.data, q.ld, &b->q}, {k.data, k.ld, &b->k}, {v.data, v.ld, &b->v}};
    multiply_each(p, qkv, sizeof qkv / sizeof *qkv, &y, ATTN_STORE);
    norm_heads(p, &q, &b->q_norm);
    norm_heads(p, &k, &b->k_norm);
    rotate(p, &q, layer);
    rotate(p, &k, layer);
    announce(p, ATTN_ACT_Q, layer, &q, n->H);
    announce(p, ATTN_ACT_K, layer, &k, n->Hkv);
    announce(p, ATTN_ACT_V, layer, &v, n->Hkv);
    attend(p, layer);                           /* dots, scores, pattern [H, T, Tk] of each sentence -> context [R, H * dv] */
    announce(p, ATTN_ACT_CONTEXT, layer, &context, 0);
    prune_to_last_rows(p, layer, &x, &y, &context);
    struct attn_rows hidden = rows(p, p->pre, n->m);                            /* [R, m] */
    struct attn_rows parallel_out = rows(p, p->parallel_out, n->d);             /* [R, d] */
    if (w->parallel)                                                            /* [R, H * dv] -> [R, d] */
        linear(p, &parallel_out, &context, &b->o, ATTN_STORE, ATTN_ACT_OUT, layer);
    else
        residual_add(p, &x, &context, &b->o, ATTN_ACT_OUT, layer);

    /* The MLP, of the x that attention changed or, with parallel branches, of the same x. */
    if (w->mlp) {
        if (!w->parallel)
            announce(p, ATTN_ACT_RESID_MID, layer, &x, 0);
        if (!w->one_norm)
            y = normed(p, &x, &b->norm2, ATTN_ACT_NORM2, layer);                /* [R, d] -> [R, d] */
        p->inner_bf16.rows = sees_hidden(p, layer) ? NULL : hidden.data;
        if (attn_mlp_gated(w->mlp)) {                                           /* act(y gate) * (y in): [R, d] -> [R, m] */
            linear(p, &hidden, &y, &b->gate, ATTN_STORE, ATTN_ACT_MLP_PRE, layer);
            linear(p, &hidden, &y, &b->in, attn_epilogue_of(w->mlp), ATTN_ACT_MLP_LINEAR, layer);
        } else {                                                                /* act(y in): [R, d] -> [R, m] */
            linear(p, &hidden, &y, &b->in, attn_epilogue_of(w->mlp), ATTN_ACT_MLP_PRE, layer);
        }
        announce(p, ATTN_ACT_MLP_POST, layer, &hidden, 0);
        if (w->parallel)
            run_epilogue(p, &x, &parallel_out, ATTN_ADD);
        residual_add(p, &x, &hidden, &b->out, ATTN_ACT_MLP_OUT, layer);         /* [R, m] -> [R, d] */
    }
    announce(p, ATTN_ACT_RESID_POST, layer, &x, 0);
}

/* ---- the verbs ---- */

static struct attn_rows rows(const struct attn_pass *p, float *data, size_t cols)
{
    return (struct attn_rows){data, cols, p->rows, cols};
}

static bool wanted(const struct attn_pass *p, int act, int layer)
{
    return attn_trace_wants(p->trace, act, layer, ATTN_WATCH | ATTN_EDIT);
}

/* Whether only the last row of each sentence is read after the attention of this block: no block comes after it, and no observer
 * wants to see another. */
static bool ends_in_last_rows(const struct attn_pass *p, int layer)
{
    if ((size_t)layer + 1 < p->blocks || p->rows == p->seqs)
        return false;
    return !attn_trace_wants_among(p->trace, ATTN_ACT_OUT, ATTN_ACT_NORM_FINAL, layer) &&
           !attn_trace_wants_all(p->trace, ATTN_ACT_NORM_FINAL, -1) && !attn_trace_wants_all(p->trace, ATTN_ACT_LOGITS, -1);
}

/* Announces all rows of an activation, sentence by sentence.  `heads` 0: it has no head axis; else its columns hold so many
 * heads side by side. */
static void announce(struct attn_pass *p, int act, int layer, const struct attn_rows *r, size_t heads)
{
    if (!wanted(p, act, layer))
        return;
    for (size_t i = 0; i < p->seqs; i++) {
        const struct attn_pass_seq *s = &p->seq[i];
        if (s->keys && attn_act_kv(act))
            continue;                   /* the sentence looks at another's keys and values, not at its own */
        size_t width = heads ? r->cols / heads : r->cols;
        struct attn_probe probe = {
            .act = act, .layer = layer, .seq = i, .ndim = heads ? 3 : 2, .heads = heads ? heads : 1,
            .rows = s->T, .cols = width, .ld = r->ld, .ld_head = width};
        size_t *shape = probe.shape;
        if (heads)
            *shape++ = heads;
        shape[0] = s->T;
        shape[1] = width;
        attn_trace_announce(p->trace, &probe, r->data + s->row * r->ld);
    }
}

static void normalise(struct attn_pass *p, const struct attn_rows *y, const struct attn_rows *x, const struct attn_norm *norm,
                      float *rounded)
{
    attn_rows_norm(p->team, y, x, norm, p->w->eps, p->norm_w, p->norm_b, rounded);
}

/* The input of a branch: x normalised, or x itself where there is no norm. */
static struct attn_rows normed(struct attn_pass *p, const struct attn_rows *x, const struct attn_norm *norm, int act, int layer)
{
    if (!attn_has(norm))
        return *x;
    struct attn_rows y = rows(p, p->y, x->cols);
    bool moves = p->w->one_norm && ends_in_last_rows(p, layer);     /* what is rounded cannot be moved row by row */
    p->y_bf16.rows = p->rounded && !wanted(p, act, layer) && !p->w->post_norm_residual && !moves ? y.data : NULL;
    normalise(p, &y, x, norm, p->y_bf16.rows ? p->y_bf16.at : NULL);
    announce(p, act, layer, &y, 0);
    if (p->w->post_norm_residual)
        attn_rows_copy(x, &y);
    return y;
}

static void norm_heads(struct attn_pass *p, struct attn_rows *y, const struct attn_norm *norm)
{
    if (attn_has(norm))
        normalise(p, y, y, norm, NULL);
}

/* Turns queries or keys by the angles of their positions. */
static void rotate(struct attn_pass *p, struct attn_rows *y, int layer)
{
    int rope = p->w->block[layer].rope;
    if (!p->w->rotary || rope < 0)
        return;
    size_t first = (size_t)rope * p->R * (p->w->rotary / 2);
    attn_rows_rotate(p->team, y, p->w, p->cos + first, p->sin + first);
}

/* Whether the hidden layer of the MLP must be there in float32. */
static bool sees_hidden(const struct attn_pass *p, int layer)
{
    return !p->rounded || wanted(p, ATTN_ACT_MLP_PRE, layer) || wanted(p, ATTN_ACT_MLP_LINEAR, layer) ||
           wanted(p, ATTN_ACT_MLP_POST, layer);
}

/* Where rows are that were rounded as they were made; NULL: the product must round them. */
static const float *rounded_of(const struct attn_pass *p, const struct attn_rows *x)
{
    return x->data == p->y_bf16.rows ? p->y_bf16.at : x->data == p->inner_bf16.rows ? p->inner_bf16.at : NULL;
}

/* Multiplies the same rows with some weights, each of which gives rows of its own. */
static void multiply_each(struct attn_pass *p, const struct attn_product *each, size_t outs, const struct attn_rows *x,
                          enum attn_epilogue epilogue)
{
    struct attn_bf16_operands bf16 = {.x_bf16 = rounded_of(p, x)};
    if (attn_epilogue_mlp(epilogue) && each->y == p->inner_bf16.rows)
        bf16.y_bf16 = p->inner_bf16.at;
    for (size_t i = 0; i < outs && p->unread; i++)
        attn_page_in(p->team, each[i].w);
    attn_gemm_each(p->team, each, outs, x->data, x->ld, p->rows, epilogue, p->rounded, &bf16);
}

static void multiply(struct attn_pass *p, const struct attn_rows *y, const struct attn_rows *x, const struct attn_mat *w,
                     enum attn_epilogue epilogue)
{
    multiply_each(p, &(struct attn_product){y->data, y->ld, w}, 1, x, epilogue);
}

/* Where the product goes that an observer wants to see before the epilogue changes y. */
static struct attn_rows product_of(const struct attn_pass *p, const struct attn_rows *y, enum attn_epilogue epilogue)
{
    return epilogue == ATTN_ADD ? rows(p, p->out, p->w->n.d) : attn_mlp_gated(attn_epilogue_mlp(epilogue)) ? rows(p, p->linear, p->w->n.m) : *y;
}

/* Does the epilogue's work on a product that is not, or not any more, part of a multiplication. */
static void run_epilogue(struct attn_pass *p, struct attn_rows *y, const struct attn_rows *product, enum attn_epilogue epilogue)
{
    const enum attn_mlp_kind mlp = attn_epilogue_mlp(epilogue);
    if (mlp)
        attn_rows_activate(p->team, y, attn_mlp_gated(mlp) ? y : product, product, mlp);
    else if (epilogue == ATTN_ADD)
        attn_rows_add(p->team, y, product);
    else
        attn_rows_copy(y, product);
}

/* Multiplies, announces the product x w as `act`, and lets the epilogue (gemm.h) make y of it.  The product does the epilogue's work at
 * once where nobody wants to see what comes before it.  Without w, x stands for the product, and y takes on its width. */
static void linear(struct attn_pass *p, struct attn_rows *y, const struct attn_rows *x, const struct attn_mat *w,
                 enum attn_epilogue epilogue, int act, int layer)
{
    if (!w->data) {
        y->cols = x->cols;
        run_epilogue(p, y, x, epilogue);
    } else if (epilogue == ATTN_STORE || !wanted(p, act, layer)) {
        multiply(p, y, x, w, epilogue);
        announce(p, act, layer, y, 0);  /* if it is wanted, it is y */
    } else {
        struct attn_rows product = product_of(p, y, epilogue);
        multiply(p, &product, x, w, ATTN_STORE);
        announce(p, act, layer, &product, 0);
        run_epilogue(p, y, &product, epilogue);
    }
}

/* What a branch gives becomes what it adds, where that is not the same: normalised, or scaled. */
static struct attn_rows branch_output(struct attn_pass *p, const struct attn_rows *y, const struct attn_mat *w, int act, int layer)
{
    const struct attn_block *b = &p->w->block[layer];
    const struct attn_norm *post = act == ATTN_ACT_OUT ? &b->post1 : &b->post2;
    struct attn_rows out = rows(p, p->out, p->w->n.d);
    linear(p, &out, y, w, ATTN_STORE, act, layer);
    if (attn_has(post))
        normalise(p, &out, &out, post, NULL);
    if (p->w->branch_scale != 0)
        attn_rows_scale(p->team, &out, p->w->branch_scale);
    announce(p, act == ATTN_ACT_OUT ? ATTN_ACT_ADDED : ATTN_ACT_MLP_ADDED, layer, &out, 0);
    return out;
}

/* x = x + branch or, without residual connections, x = branch; the branch ends with the product y w. */
static void residual_add(struct attn_pass *p, struct attn_rows *x, const struct attn_rows *y, const struct attn_mat *w, int act, int layer)
{
    const struct attn_block *b = &p->w->block[layer];
    const struct attn_norm *sum = act == ATTN_ACT_OUT ? &b->sum1 : &b->sum2;
    if (attn_adds_apart(p->w)) {
        struct attn_rows branch = branch_output(p, y, w, act, layer);
        run_epilogue(p, x, &branch, ATTN_ADD);
    } else {
        linear(p, x, y, w, p->w->residual ? ATTN_ADD : ATTN_STORE, act, layer);
    }
    if (attn_has(sum))
        normalise(p, x, x, sum, NULL);
}

/* A sentence as attention sees it. */
static struct attn_heads_seq seq_of(const struct attn_pass *p, const struct attn_pass_seq *s, int layer)
{
    const struct attn_dims *n = &p->w->n;
    const struct attn_pass_seq *keys = s->keys ? s->keys : s;
    struct attn_heads_seq t = {
        .q = p->q + s->row * n->H * n->dh, .k = p->k + keys->row * n->Hkv * n->dh, .v = p->v + keys->row * n->Hkv * n->dv,
        .context = p->context + s->row * n->H * n->dv, .row = s->row, .Tq = s->T, .Tk = keys->pos + keys->T, .pos = s->pos,
        .all = s->keys != NULL};
    if (s->kv) {
        t.cache = s->kv->keys + (size_t)layer * n->Hkv * attn_keys_size(s->kv->capacity, n->dh, n->dv);
        t.capacity = s->kv->capacity;
        t.state = s->kv->state + (size_t)layer * n->Hkv * attn_linear_size(n->dh, n->dv);
    }
    return t;
}

static void attend(struct attn_pass *p, int layer)
{
    const struct attn_dims *n = &p->w->n;
    const struct attn_block *b = &p->w->block[layer];
    const struct attn_kind *asked = &p->scratch.kind;
    for (size_t i = 0; i < p->seqs; i++)
        p->heads_seq[i] = seq_of(p, &p->seq[i], layer);
    struct attn_heads a = {
        .head = {.ldc = n->H * n->dv, .dh = n->dh, .dv = n->dv, .scale = attn_kind_scale(asked, b->scale, n->dh), .cap = p->w->cap,
                 .kind = attn_kind_in(asked, p->w->causal, b->window)},
        .H = n->H, .Hkv = n->Hkv, .next_q = n->dh, .next_k = n->dh, .next_v = n->dv, .next_context = n->dv,
        .ldq = n->H * n->dh, .ldk = n->Hkv * n->dh, .ldv = n->Hkv * n->dv, .seq = p->heads_seq, .seqs = p->seqs,
        .bias = p->bias, .next_bias = p->bias_ld,
        .scratch = &p->scratch, .trace = p->trace, .layer = layer, .overflowed = p->overflowed};
    bool needed = wanted(p, ATTN_ACT_CONTEXT, layer) || ends_in_last_rows(p, layer);       /* in float32, to be seen or moved */
    if (p->rounded && b->o.data && attn_heads_can_round(&a) && !needed) {
        a.rounded = p->inner_bf16.at;
        p->inner_bf16.rows = p->context;
    }
    attn_heads_run(&a, p->team);
    attn_lost_add(&p->lost, &a.lost);
    attn_lost_add(&p->nonfinite, &a.nonfinite);
}

/* Moves the last row of each sentence to the front.  No row is before the one it moves to. */
static void keep_last(const struct attn_pass *p, struct attn_rows *r)
{
    for (size_t i = 0; i < p->seqs; i++)
        memmove(r->data + i * r->ld, r->data + (p->seq[i].row + p->seq[i].T - 1) * r->ld, r->cols * sizeof *r->data);
    r->n = p->seqs;
}

/* Goes on with the last row of each sentence alone, if that is not so already. */
static void keep_last_rows(struct attn_pass *p, struct attn_rows *x)
{
    if (!p->last)
        keep_last(p, x);
    p->last = true;
}

/* After the last attention no row reads another: from here on only the last of each sentence is computed if nobody reads more. */
static void prune_to_last_rows(struct attn_pass *p, int layer, struct attn_rows *x, struct attn_rows *y, struct attn_rows *context)
{
    if (!ends_in_last_rows(p, layer))
        return;
    keep_last(p, context);
    if (y->data != x->data)
        keep_last(p, y);
    keep_last_rows(p, x);
    p->rows = p->seqs;
}

/* ---- before the blocks: ids to vectors ---- */

static void look_up(float *out, const struct attn_mat *table, size_t row)
{
    attn_vec_widen(out, table->data, table->type, row * table->ld, table->out);
}

/* What each token gives to the stream: its row of the table, perhaps projected, scaled or normalised. */
static void embed(struct attn_pass *p, const struct attn_rows *x, const int32_t *ids)
{
    const struct attn_weights *w = p->w;
    struct attn_rows row = w->project_in.data ? rows(p, p->embed_proj, w->embed.out) : *x;
    for (size_t t = 0; t < p->rows; t++)
        look_up(row.data + t * row.ld, &w->embed, (size_t)ids[t]);
    if (w->project_in.data)
        multiply(p, x, &row, &w->project_in, ATTN_STORE);
    if (w->embed_scale != 0)
        attn_rows_scale(p->team, x, w->embed_scale);
    if (attn_has(&w->embed_norm))
        normalise(p, x, x, &w->embed_norm, NULL);
    announce(p, ATTN_ACT_EMBED, -1, x, 0);
}

static void add_positions(struct attn_pass *p)
{
    struct attn_rows y = rows(p, p->y, p->w->n.d);
    for (size_t i = 0; i < p->seqs; i++)
        for (size_t t = 0; t < p->seq[i].T; t++)
            look_up(y.data + (p->seq[i].row + t) * y.ld, &p->w->pos, p->seq[i].pos + t);
    announce(p, ATTN_ACT_POS_EMBED, -1, &y, 0);
    for (size_t t = 0; t < p->rows; t++)
        attn_vec_add(p->x + t * p->ldx, y.data + t * y.ld, y.cols);
}

/* Cosines and sines of the positions of all rows. */
static void find_angles(struct attn_pass *p)
{
    size_t half = p->w->rotary / 2;
    for (size_t i = 0; i < p->w->ropes; i++)
        for (const struct attn_pass_seq *s = p->seq; s < p->seq + p->seqs; s++) {
            size_t at = (i * p->R + s->row) * half;
            attn_rope_cos_sin(p->cos + at, p->sin + at, p->w, &p->w->rope[i], s->pos, s->T, s->pos + s->T);
        }
}

void attn_embed_resume(struct attn_pass *p, const float *const *x, size_t width)
{
    p->last = false;
    for (size_t i = 0; i < p->seqs; i++)
        for (size_t t = 0; t < p->seq[i].T; t++)
            memcpy(p->x + (p->seq[i].row + t) * p->ldx, x[i] + t * width, width * sizeof *p->x);
    if (p->w->rotary)
        find_angles(p);
}

void attn_embed_run(struct attn_pass *p, const int32_t *ids)
{
    struct attn_rows x = {p->x, p->ldx, p->rows, p->w->n.d};
    p->last = false;
    embed(p, &x, ids);
    if (p->w->pos.data)
        add_positions(p);
    if (p->w->rotary)
        find_angles(p);
}

/* ---- after the blocks: vectors to logits ---- */

static size_t seq_with(const struct attn_pass *p, size_t row)
{
    size_t lo = 0, hi = p->seqs;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        *(p->seq[mid].row <= row ? &lo : &hi) = mid;
    }
    return lo;
}

/* Announces `band`, which are the rows from row0 on, sentence by sentence. */
static void announce_output(struct attn_pass *p, int act, const struct attn_rows *band, size_t row0)
{
    size_t end = row0 + band->n;
    for (size_t i = row0, n; i < end; i += n) {
        size_t seq = p->last ? i : seq_with(p, i);
        const struct attn_pass_seq *s = &p->seq[seq];
        size_t at = p->last ? s->T - 1 : i - s->row;
        n = smaller(p->last ? 1 : s->T - at, end - i);
        struct attn_probe probe = {
            .act = act, .layer = -1, .seq = seq, .ndim = 2, .shape = {s->T, band->cols},
            .heads = 1, .row0 = at, .rows = n, .cols = band->cols, .ld = band->ld};
        attn_trace_announce(p->trace, &probe, band->data + (i - row0) * band->ld);
    }
}

static struct attn_rows norm_output(struct attn_pass *p, const struct attn_rows *x)
{
    struct attn_rows y = {p->y, p->w->n.d, x->n, x->cols};
    normalise(p, &y, x, &p->w->final, NULL);
    if (wanted(p, ATTN_ACT_NORM_FINAL, -1))
        announce_output(p, ATTN_ACT_NORM_FINAL, &y, 0);
    return y;
}

void attn_unembed_rows(struct attn_team *t, const struct attn_weights *w, float *logits, const struct attn_rows *x, float *embed_proj,
                       float *rounded)
{
    struct attn_rows reads = *x, y = {logits, w->n.V, x->n, w->n.V};
    if (w->project_out.data) {
        reads = (struct attn_rows){embed_proj, w->project_out.out, x->n, w->project_out.out};
        attn_gemm(t, reads.data, reads.ld, x->data, x->ld, x->n, &w->project_out, ATTN_STORE, rounded);
    }
    attn_gemm(t, y.data, y.ld, reads.data, reads.ld, x->n, &w->unembed, ATTN_STORE, rounded);
    if (w->logit_scale != 0)
        attn_rows_scale(t, &y, w->logit_scale);
    if (w->logit_cap != 0)
        attn_rows_cap(t, &y, w->logit_cap);
}

/* Computes logits in bands of as many rows as the buffer holds; each band reads the whole weight. */
static void unembed(struct attn_pass *p, const struct attn_rows *x)
{
    size_t V = p->w->n.V;
    if (p->unread)
        attn_page_in(p->team, &p->w->unembed);
    for (size_t row = 0, n; row < x->n; row += n) {
        n = smaller(x->n - row, p->logit_rows);
        struct attn_rows band = {p->logits, V, n, V}, some = {x->data + row * x->ld, x->ld, n, x->cols};
        attn_unembed_rows(p->team, p->w, p->logits, &some, p->embed_proj, p->rounded);
        announce_output(p, ATTN_ACT_LOGITS, &band, row);
    }
}

void attn_unembed_run(struct attn_pass *p)
{
    bool logits = wanted(p, ATTN_ACT_LOGITS, -1);
    if (!logits && !wanted(p, ATTN_ACT_NORM_FINAL, -1))
        return;
    struct attn_rows x = {p->x, p->ldx, p->rows, p->w->n.d};
    bool all = attn_trace_wants_all(p->trace, ATTN_ACT_LOGITS, -1);
    if (!all && !attn_trace_wants_all(p->trace, ATTN_ACT_NORM_FINAL, -1))
        keep_last_rows(p, &x);
    if (attn_has(&p->w->final))
        x = norm_output(p, &x);
    if (!all)
        keep_last_rows(p, &x);
    if (logits)
        unembed(p, &x);
}
