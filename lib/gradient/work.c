/* work.c - how much memory does a backward pass take, and where does each part of it lie? */
#include "gradient/work.h"

#include <math.h>

#include "compute/slopes.h"

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
    k->linear = attn_arena_f32(a, t->R, w->mlp == ATTN_SWIGLU ? n->m : 0, 1);
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
    t->cos = attn_arena_f32(a, R, half, 1);
    t->sin = attn_arena_f32(a, R, half, 1);
    t->minus_sin = attn_arena_f32(a, R, half, 1);
    t->rotation = attn_arena_f32(a, 2, t->longest, half);
    t->norm_w = attn_arena_f32(a, n->d, 1, 1);
    t->norm_b = attn_arena_f32(a, n->d, 1, 1);
    t->sums = attn_arena_f32(a, attn_slopes_scratch(R, n->d), 1, 1);
    t->scratch = attn_arena_f32(a, (size_t)t->threads, attn_work_scratch(t), 1);
    t->logits = attn_arena_f32(a, t->band, n->V, 1);
    t->loss = attn_arena_bytes(a, R, sizeof *t->loss);
}

void attn_work_rotate(struct attn_work *t)
{
    size_t half = t->w->rotary / 2;
    for (size_t i = 0; i < t->longest; i++)
        for (size_t j = 0; j < half; j++) {
            double angle = (double)i * t->w->speed[j];
            t->rotation[i * half + j] = (float)cos(angle);
            t->rotation[(t->longest + i) * half + j] = (float)sin(angle);
        }
}
