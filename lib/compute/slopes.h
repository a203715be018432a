/* slopes.h - the backward pass of rows.h: from the gradient with respect to the output of a step to those with respect
 * to its input and to a norm's weights. */
#ifndef ATTN_COMPUTE_SLOPES_H
#define ATTN_COMPUTE_SLOPES_H

#include "compute/rows.h"

/* How many floats of scratch (`room`) attn_slopes_norm needs for n rows. */
size_t attn_slopes_room(size_t n, size_t cols);
/* Adds the gradients with respect to x, weights and bias of a norm (stored in float32) to dx, dw and db; db NULL: no bias. */
struct attn_slopes_norm { const struct attn_norm *norm; float eps, *dw, *db, *room; };
void attn_slopes_norm(struct attn_team *t, const struct attn_rows *dx, const struct attn_rows *dy,
                      const struct attn_rows *x, const struct attn_slopes_norm *s);
/* dy becomes the gradient with respect to x, and x the result of attn_rows_activate; with SwiGLU, `linear` becomes the
 * gradient with respect to itself. */
void attn_slopes_activate(struct attn_team *t, const struct attn_rows *dy, const struct attn_rows *x,
                          const struct attn_rows *linear, enum attn_mlp_form kind);

#endif
