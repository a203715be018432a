/* backward_steps.h - the chain rule for single steps, of which the backward passes of blocks and both ends consist. */
#ifndef ATTN_GRADIENT_BACKWARD_STEPS_H
#define ATTN_GRADIENT_BACKWARD_STEPS_H

#include "gradient/work.h"

void attn_step_clear(const struct attn_rows *x);
/* Tells the taps the gradient with respect to an activation; `heads` 0: it has no head axis. */
void attn_step_tell(struct attn_work *t, int act, int layer, const struct attn_rows *r, size_t heads);

/* With y = x w: the gradient by x, which is added to dx if there is `more` than it. */
void attn_step_by_input(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy,
                        const struct attn_mat *w, bool more);
/* The gradients by w and by the bias, added to g. */
void attn_step_by_weights(struct attn_work *t, const struct attn_mat *g, const struct attn_rows *x,
                          const struct attn_rows *dy);

/* The gradients by x and by the weights of a norm, from dy; both are added to what is there.  g NULL, or without
 * weights: by x alone. */
void attn_step_by_norm(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy,
                       const struct attn_rows *x, const struct attn_norm *norm, const struct attn_norm *g);
/* dy, the gradient by norm(x), becomes that by x. */
void attn_step_through_norm(struct attn_work *t, const struct attn_rows *dy, const struct attn_rows *x,
                            const struct attn_norm *norm, const struct attn_norm *g);
/* The same of norms of heads, span after span, from dy to dx, which becomes the gradient. */
void attn_step_by_head_norm(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy,
                            const struct attn_rows *x, const struct attn_norm *norm, const struct attn_norm *g);

#endif
