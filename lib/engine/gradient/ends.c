/* ends.c - the gradients at both ends of the blocks: from the loss, or the logits, to what the last block gives; and
 * from what the first one reads to the tables of tokens and positions. */
#include "gradient/backward_steps.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/size.h"
#include "compute/block.h"
#include "gradient/grad.h"

/* ---- the output layer and the loss ---- */

struct job { struct attn_work *t; const int32_t *targets; size_t row, n; float each; };

enum { CHUNK = 8 };                     /* rows of an item */

/* How many tokens that should be said one that should not be said counts as: of a text that repeats itself few are. */
static const double UNLIKELY_WEIGHT = 10;

/* -log(1 - p), with p = 1 / (1 + exp(all - x[id])), where `all` is the log of the others' sum of exponentials.  Its
 * gradient is p by x[id] and, by the others, -p times their softmax: their loss gives both, and nothing cancels where p
 * is near 1. */
static double unlikely(float *x, size_t id, float each, size_t V)
{
    size_t other = id == 0;
    if (V == 1)                         /* nothing else could be said */
        return x[0] = 0;
    double at = x[id], of_other = x[other];
    x[id] = -FLT_MAX;
    double all = attn_vec_loss(x, other, each, V) + of_other, p = 1 / (1 + attn_exp(all - at));
    x[other] += each;
    for (size_t v = 0; v < V; v++)
        x[v] *= (float)(-UNLIKELY_WEIGHT * p);
    x[id] = (float)(UNLIKELY_WEIGHT * p * each);
    return UNLIKELY_WEIGHT * (fmax(at - all, 0) + attn_log1p(attn_exp(-fabs(at - all))));
}

/* Replaces rows of logits by the gradient with respect to them. */
static void chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    size_t V = j->t->w->n.V, end = (item + 1) * CHUNK < j->n ? (item + 1) * CHUNK : j->n;
    for (size_t i = item * CHUNK; i < end; i++) {
        float *logits = j->t->logits + i * V;
        int32_t target = j->targets[j->row + i];
        if (target == -1)
            memset(logits, 0, V * sizeof *logits);
        j->t->loss[j->row + i] = target == -1 ? 0 : target < -1 ? unlikely(logits, (size_t)attn_unlikely(target),
                                                                           j->each, V)
                                                                : attn_vec_loss(logits, (size_t)target, j->each, V);
    }
}

/* From the gradient by the logits, `capped`, to that by the product of the output layer. */
static void unbend(struct attn_work *t, const struct attn_rows *logits)
{
    const struct attn_weights *w = t->w;
    for (size_t i = 0; w->logit_cap != 0 && i < logits->n; i++)
        attn_vec_cap_backward(logits->data + i * logits->ld, t->capped + i * logits->cols, w->logit_cap, logits->cols);
    if (w->logit_scale != 0)
        attn_rows_scale(t->team, logits, w->logit_scale);
}

/* The gradients by what the output layer reads, x, and by its weights; its second matrix, if any, reads t->narrow. */
static void by_unembed(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *logits,
                       const struct attn_rows *x)
{
    const struct attn_weights *w = t->w;
    struct attn_rows embed_proj = {t->embed_proj, w->unembed.in, dx->n, w->unembed.in};
    const bool twice = w->project_out.data != NULL;
    if (t->g)
        attn_step_by_weights(t, &t->g->unembed, twice ? &embed_proj : x, logits);
    attn_step_by_input(t, twice ? &embed_proj : dx, logits, &w->unembed, false);
    if (twice && t->g)
        attn_step_by_weights(t, &t->g->project_out, x, &embed_proj);
    if (twice)
        attn_step_by_input(t, dx, &embed_proj, &w->project_out, false);
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
        attn_unembed_rows(t->team, t->w, logits.data, &reads, t->embed_proj, NULL);
        if (learn && t->w->logit_cap != 0)
            memcpy(t->capped, logits.data, j->n * V * sizeof *t->capped);
        attn_team_run(t->team, parts_of(j->n, CHUNK), 30.0 * (double)(j->n * V), chunk, j);
        if (!learn)
            continue;
        unbend(t, &logits);
        by_unembed(t, &dreads, &logits, &reads);
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
        attn_step_clear(&dx);
        attn_step_by_norm(t, &dx, &dy, &x, norm, &t->g->final);
    }
    double sum = 0;
    for (size_t i = 0; i < t->rows; i++)
        sum += t->loss[i];
    return sum * each;
}

void attn_work_from_logits(struct attn_work *t, size_t rows)
{
    size_t d = t->w->n.d, V = t->w->n.V;
    const struct attn_norm *norm = &t->w->final;
    struct attn_rows x = attn_work_rows(t, t->layer[t->w->n.L].x, d), dx = attn_work_rows(t, t->dx, d);
    struct attn_rows dy = attn_work_rows(t, norm->weight.data ? t->dy : t->dx, d), logits = {t->logits, V, rows, V};
    struct attn_rows last = {dy.data + (t->rows - rows) * d, d, rows, d};
    const struct attn_rows reads = {(attn_has(norm) ? t->final : x.data) + (t->rows - rows) * d, d, rows, d};
    attn_step_clear(&dy);
    if (t->w->logit_cap != 0)
        attn_unembed_rows(t->team, t->w, t->capped, &reads, t->embed_proj, NULL);
    unbend(t, &logits);
    by_unembed(t, &last, &logits, &reads);
    if (!norm->weight.data)
        return;
    attn_step_tell(t, ATTN_ACT_NORM_FINAL, -1, &dy, 0);
    attn_step_clear(&dx);
    attn_step_by_norm(t, &dx, &dy, &x, norm, NULL);
}

/* ---- the embedding ---- */

struct scatter {
    const struct attn_work *t; const struct attn_mat *table; const struct attn_rows *dx; const int32_t *ids;
};

enum { COLUMNS = 64 };                  /* of an item */

/* Adds some columns of all rows to those rows of a table that they came from, in order, so that a token that occurs
 * twice is summed in one order.  ids NULL: rows of positions. */
static void scatter(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct scatter *s = ctx;
    const struct attn_work *t = s->t;
    size_t j = item * COLUMNS, n = smaller(s->dx->cols - j, COLUMNS);
    for (size_t k = 0; k < t->seqs; k++)
        for (size_t i = 0; i < t->seq[k].T; i++) {
            size_t row = t->seq[k].row + i, to = s->ids ? (size_t)s->ids[row] : i;
            attn_vec_add((float *)s->table->data + to * s->table->ld + j, s->dx->data + row * s->dx->ld + j, n);
        }
}

static void by_table(struct attn_work *t, const struct attn_mat *table, const struct attn_rows *dx, const int32_t *ids)
{
    struct scatter s = {t, table, dx, ids};
    attn_team_run(t->team, parts_of(dx->cols, COLUMNS), 2.0 * (double)(dx->n * dx->cols), scatter, &s);
}

static void embed(struct attn_work *t, const int32_t *ids)
{
    const struct attn_weights *w = t->w;
    struct attn_rows dx = attn_work_rows(t, t->dx, w->n.d), x = attn_work_rows(t, t->branch, w->n.d);
    struct attn_rows embed_proj = attn_work_rows(t, t->embed_proj, w->embed.out);
    struct attn_drop drop = attn_work_drop(t, ATTN_DROP_EMBED, 0, t->drop_embed);
    if (drop.below)
        attn_rows_drop(t->team, &dx, &dx, &drop, t->first);
    if (attn_has(&w->embed_norm) || w->project_in.data)
        attn_work_embed(t, &x, ids);
    if (attn_has(&w->embed_norm))
        attn_step_through_norm(t, &dx, &x, &w->embed_norm, &t->g->embed_norm);
    if (w->pos.data)
        by_table(t, &t->g->pos, &dx, NULL);
    if (w->embed_scale != 0)
        attn_rows_scale(t->team, &dx, w->embed_scale);
    if (w->project_in.data) {
        attn_step_by_weights(t, &t->g->project_in, &embed_proj, &dx);
        attn_step_by_input(t, &embed_proj, &dx, &w->project_in, false);
    }
    by_table(t, &t->g->embed, w->project_in.data ? &embed_proj : &dx, ids);
}

/* Token and position embeddings are added, so both have the gradient by their sum. */
static void tell_embedding(struct attn_work *t)
{
    struct attn_rows dx = attn_work_rows(t, t->dx, t->w->n.d), copy = attn_work_rows(t, t->branch, t->w->n.d);
    if (attn_norms_positions(t->w)) {
        struct attn_rows sum = attn_work_rows(t, t->embedded, dx.cols), pos = attn_work_rows(t, t->placed, dx.cols);
        attn_rows_add(t->team, &sum, &pos);
        attn_step_through_norm(t, &dx, &sum, &t->w->embed_norm, NULL);
    }
    if (attn_adds_positions(t->w)) {
        attn_rows_copy(&copy, &dx);
        attn_step_tell(t, ATTN_ACT_POS_EMBED, -1, &copy, 0);
    }
    attn_step_tell(t, ATTN_ACT_EMBED, -1, &dx, 0);
}

void attn_work_finish(struct attn_work *t, const int32_t *ids)
{
    if (ids)
        embed(t, ids);
    else
        tell_embedding(t);
}
