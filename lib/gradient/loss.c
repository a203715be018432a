/* loss.c - the output layer, the loss, and the first gradients. */
#include "base/size.h"
#include "compute/gemm.h"
#include "gradient/work.h"

#include <string.h>

struct job { struct attn_work *t; const int32_t *targets; size_t row, n; float each; };

enum { CHUNK = 8 };                     /* rows of an item */

/* Replaces rows of logits by the gradient with respect to them. */
static void chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    size_t V = j->t->w->n.V, end = (item + 1) * CHUNK < j->n ? (item + 1) * CHUNK : j->n;
    for (size_t i = item * CHUNK; i < end; i++) {
        float *logits = j->t->logits + i * V;
        int32_t target = j->targets[j->row + i];
        if (target < 0)
            memset(logits, 0, V * sizeof *logits);
        j->t->loss[j->row + i] = target < 0 ? 0 : attn_vec_loss(logits, (size_t)target, j->each, V);
    }
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
        attn_gemm(t->team, logits.data, V, reads.data, reads.ld, j->n, &t->w->unembed, ATTN_STORE, NULL);
        attn_team_run(t->team, parts_of(j->n, CHUNK), 30.0 * (double)(j->n * V), chunk, j);
        if (!learn)
            continue;
        attn_work_learn(t, &t->g->unembed, &reads, &logits);
        attn_work_back(t, &dreads, &logits, &t->w->unembed, false);
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
        memset(dx.data, 0, dx.n * dx.ld * sizeof *dx.data);
        attn_work_back_norm(t, &dx, &x, norm, &t->g->final);
    }
    double sum = 0;
    for (size_t i = 0; i < t->rows; i++)
        sum += t->loss[i];
    return sum * each;
}
