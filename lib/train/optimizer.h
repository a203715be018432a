/* optimizer.h - updates parameters by their gradients: AdamW with a warm-up and a cosine schedule.
 *
 *     g' = g * min(1, clip / |g|)                                  |g|: norm over all parameters
 *     m = beta1 m + (1 - beta1) g',   v = beta2 v + (1 - beta2) g'^2
 *     x = x (1 - lr decay) - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
 *
 * with decay only for matrices and t counted from 1.  Each number is updated independently, and |g| is summed piece
 * by piece in one order: the same bits at any number of threads. */
#ifndef ATTN_TRAIN_OPTIMIZER_H
#define ATTN_TRAIN_OPTIMIZER_H

#include "base/team.h"
#include "gradient/params.h"
#include "train/settings.h"

struct attn_optimizer {
    struct attn_params *p;              /* borrowed */
    const struct attn_train_settings *settings;         /* borrowed */
    float *m, *v;                       /* laid out like the values */
    struct piece *piece; size_t pieces;
};

int attn_optimizer_new(struct attn_optimizer *o, struct attn_params *p, const struct attn_train_settings *settings,
                       struct attn_err *err);
void attn_optimizer_free(struct attn_optimizer *o);                 /* zeroed is fine */
/* Takes step number `step`, counted from 0; *norm gets |g| before clipping.  If that is not finite nothing is
 * changed. */
int attn_optimizer_step(struct attn_optimizer *o, size_t step, double *norm, struct attn_team *team, struct attn_err *err);

/* The learning rate of a step, counted from 0. */
double attn_optimizer_rate(const struct attn_train_settings *t, size_t step);

#endif
