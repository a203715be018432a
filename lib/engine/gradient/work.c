/* work.c - how much memory does a backward pass take, and where does each part of it lie? */
#include "gradient/work.h"

#include "base/size.h"
#include "compute/mask.h"
#include "compute/position.h"
#include "compute/rows_backward.h"

/* Whether the backward pass needs what the products of attention gave, before it is normalised or clamped. */
static bool remade(const struct attn_weights *w)
{
    return w->n.L && (attn_has(&w->block[0].q_norm) || w->clip != 0);
}

static void lay_out_layer(struct attn_arena *a, struct attn_kept *k, const struct attn_work *t)
{
    const struct attn_weights *w = t->w;
    const struct attn_dims *n = &w->n;
    k->x = attn_arena_f32(a, t->R, n->d, 1);
    k->q = attn_arena_f32(a, t->R, n->H, n->dh);
    k->k = attn_arena_f32(a, t->R, n->Hkv, n->dh);
    k->v = attn_arena_f32(a, t->R, n->Hkv, n->dv);
    k->context = attn_arena_f32(a, t->R, n->H, n->dv);
    k->mid = w->parallel ? k->x : attn_arena_f32(a, t->R, w->mlp ? n->d : 0, 1);
    k->pre = attn_arena_f32(a, t->R, w->mlp ? n->m : 0, 1);
    bool heads = remade(w), after = n->L &&
                 (attn_has(&w->block[0].post1) || attn_has(&w->block[0].sum1));
    k->read = heads && attn_has(&w->block[0].norm1) ? attn_arena_f32(a, t->R, n->d, 1) : NULL;
    k->out = after ? attn_arena_f32(a, t->R, n->d, 1) : NULL;
    k->mlp_out = after ? attn_arena_f32(a, t->R, n->d, 1) : NULL;
    k->linear = attn_arena_f32(a, t->R, attn_mlp_gated(w->mlp) ? n->m : 0, 1);
}

void attn_work_lay_out(struct attn_arena *a, struct attn_work *t)
{
    const struct attn_weights *w = t->w;
    const struct attn_dims *n = &w->n;
    size_t R = t->R, half = w->rotary / 2, m = w->mlp ? n->m : 0;
    struct attn_kept counted = {0};
    t->layer = attn_arena_bytes(a, n->L + 1, sizeof *t->layer);
    for (size_t i = 0; i < n->L; i++)
        lay_out_layer(a, t->layer ? &t->layer[i] : &counted, t);
    (t->layer ? &t->layer[n->L] : &counted)->x = attn_arena_f32(a, R, n->d, 1);
    t->seq = attn_arena_bytes(a, R, sizeof *t->seq);
    t->y = attn_arena_f32(a, R, n->d, 1);
    t->post = attn_arena_f32(a, R, m, 1);
    t->branch = attn_arena_f32(a, R, n->d, 1);
    t->dx = attn_arena_f32(a, R, n->d, 1);
    t->saved = attn_arena_f32(a, R, w->parallel ? n->d : 0, 1);
    t->dy = attn_arena_f32(a, R, n->d, 1);
    t->dq = attn_arena_f32(a, R, n->H, n->dh);
    t->dk = attn_arena_f32(a, R, n->Hkv, n->dh);
    t->dv = attn_arena_f32(a, R, n->Hkv, n->dv);
    t->dcontext = attn_arena_f32(a, R, n->H, n->dv);
    t->dpre = attn_arena_f32(a, R, m, 1);
    t->cos = attn_arena_f32(a, w->ropes, R, half);
    t->sin = attn_arena_f32(a, w->ropes, R, half);
    t->minus_sin = attn_arena_f32(a, w->ropes, R, half);
    t->rotation = attn_arena_f32(a, 2 * w->ropes, t->longest, half);
    bool heads = remade(w);
    size_t widest = heads ? larger(n->d, n->H * n->dh) : n->d;
    t->bias = w->alibi ? attn_arena_f32(a, n->H, t->longest, 1) : NULL;
    t->raw = attn_arena_f32(a, heads ? R : 0, n->H, n->dh);
    t->draw = attn_arena_f32(a, heads ? R : 0, n->H, n->dh);
    t->embed_proj = attn_arena_f32(a, w->project_in.data || w->project_out.data ? R : 0, w->unembed.in, 1);
    t->embedded = attn_arena_f32(a, attn_norms_positions(w) ? R : 0, n->d, 1);
    t->placed = attn_arena_f32(a, attn_norms_positions(w) ? R : 0, n->d, 1);
    t->final = attn_arena_f32(a, w->logit_cap != 0 ? R : 0, n->d, 1);
    t->capped = attn_arena_f32(a, w->logit_cap != 0 ? t->band : 0, n->V, 1);
    t->norm_w = attn_arena_f32(a, widest, 1, 1);
    t->norm_b = attn_arena_f32(a, widest, 1, 1);
    t->sums = attn_arena_f32(a, attn_rows_norm_scratch(R, widest), 1, 1);
    t->scratch = attn_arena_f32(a, (size_t)t->threads, attn_work_scratch(t), 1);
    t->logits = attn_arena_f32(a, t->band, n->V, 1);
    t->loss = attn_arena_bytes(a, R, sizeof *t->loss);
}

void attn_work_place(struct attn_work *t)
{
    const struct attn_weights *w = t->w;
    size_t n = t->longest * (w->rotary / 2);
    if (t->bias)
        attn_alibi_fill(t->bias, t->longest, w, w->n.L ? attn_kind_scale(&t->kind, w->block[0].scale, w->n.dh) : 1,
                        t->longest);
    for (size_t i = 0; i < w->ropes; i++) {
        float *to = t->rotation + 2 * i * n;
        attn_rope_cos_sin(to, to + n, w, &w->rope[i], 0, t->longest, 0);
    }
}
