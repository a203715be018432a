/* optimizer.c - updates parameters by their gradients: AdamW with a warm-up and a cosine schedule.
 *
 *     g' = g * min(1, clip / |g|)                                  |g|: norm over all parameters
 *     m = beta1 m + (1 - beta1) g',   v = beta2 v + (1 - beta2) g'^2
 *     x = x (1 - lr decay) - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
 *
 * with decay only for matrices and t counted from 1.  Each number is updated independently, and |g| is summed piece
 * by piece in one order: the same bits at any number of threads. */
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>

#include "base/elementary.h"
#include "base/err.h"
#include "compute/vec.h"

enum { PIECE = 1 << 14 };               /* numbers in a piece */
static const double SQUARES_COST = 2, STEP_COST = 30;               /* rough numbers of operations for each number */

struct piece { size_t at, count; bool decays; double squares; };

struct job { struct attn_optimizer *o; struct attn_adamw rates; double lr; };

double attn_optimizer_rate(const struct attn_train_settings *t, size_t step)
{
    if (step < t->warmup)
        return t->lr * (double)(step + 1) / (double)t->warmup;
    size_t left = t->steps - t->warmup;
    double part = left > 1 ? (double)(step - t->warmup) / (double)(left - 1) : 0;
    return t->lr * (t->lr_end + 0.5 * (1 - t->lr_end) * (1 + attn_cos(M_PI * part)));
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Counts the pieces and, unless `piece` is NULL, fills them in. */
static size_t cut(const struct attn_params *p, struct piece *piece)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t at = 0; at < p->param[i].count; at += PIECE, n++)
            if (piece)
                piece[n] = (struct piece){
                    .at = p->param[i].at + at, .decays = p->param[i].decays,
                    .count = p->param[i].count - at < PIECE ? p->param[i].count - at : PIECE};
    return n;
}

int attn_optimizer_new(struct attn_optimizer *o, struct attn_params *p, const struct attn_train_settings *settings,
                       struct attn_err *err)
{
    *o = (struct attn_optimizer){.p = p, .settings = settings, .pieces = cut(p, NULL)};
    o->m = calloc(p->count, sizeof *o->m);
    o->v = calloc(p->count, sizeof *o->v);
    o->piece = calloc(o->pieces, sizeof *o->piece);
    if (!o->m || !o->v || !o->piece) {
        attn_optimizer_free(o);
        return attn_no_memory(err, NULL, "to train %zu numbers", p->count);
    }
    cut(p, o->piece);
    return ATTN_OK;
}

void attn_optimizer_free(struct attn_optimizer *o)
{
    free(o->m);
    free(o->v);
    free(o->piece);
    *o = (struct attn_optimizer){0};
}

/* ---- a step -------------------------------------------------------------------------------- */

static void sum_squares(void *ctx, size_t item, int worker)
{
    const struct job *j = ctx;
    struct piece *piece = &j->o->piece[item];
    (void)worker;
    piece->squares = attn_vec_squares(j->o->p->grad + piece->at, piece->count);
}

static double length(const struct attn_optimizer *o)
{
    double sum = 0;
    for (size_t i = 0; i < o->pieces; i++)
        sum += o->piece[i].squares;
    return sqrt(sum);
}

static void move(void *ctx, size_t item, int worker)
{
    const struct job *j = ctx;
    const struct attn_optimizer *o = j->o;
    const struct piece *piece = &o->piece[item];
    struct attn_adamw rates = j->rates;
    size_t at = piece->at;
    (void)worker;
    rates.decay = piece->decays ? (float)(1 - j->lr * o->settings->weight_decay) : 1;
    attn_vec_adamw(&rates, o->p->value + at, o->m + at, o->v + at, o->p->grad + at, piece->count);
}

static void choose_rates(struct job *j, size_t step, double norm)
{
    const struct attn_train_settings *t = j->o->settings;
    double mean = 1 - attn_pow(t->beta1, (double)step + 1), square = 1 - attn_pow(t->beta2, (double)step + 1);
    j->lr = attn_optimizer_rate(t, step);
    j->rates = (struct attn_adamw){
        .beta1 = (float)t->beta1, .beta2 = (float)t->beta2, .eps = (float)t->eps,
        .scale = t->clip > 0 && norm > t->clip ? (float)(t->clip / norm) : 1,
        .lr = (float)(j->lr / mean), .bias2 = (float)(1 / sqrt(square))};
}

int attn_optimizer_step(struct attn_optimizer *o, size_t step, double *norm, struct attn_team *team,
                        struct attn_err *err)
{
    struct job j = {.o = o};
    double n = (double)o->p->count;
    attn_team_run(team, o->pieces, SQUARES_COST * n, sum_squares, &j);
    *norm = length(o);
    if (!isfinite(*norm))
        return attn_fail(err, ATTN_EFORMAT, "the gradient is not finite");
    choose_rates(&j, step, *norm);
    attn_team_run(team, o->pieces, STEP_COST * n, move, &j);
    return ATTN_OK;
}
