/* rows_backward.h - the backward pass of rows.h and of products: from the gradient with respect to the output of a step
 * to those with respect to its input and to its weights. */
#ifndef ATTN_COMPUTE_ROWS_BACKWARD_H
#define ATTN_COMPUTE_ROWS_BACKWARD_H

#include "compute/rows.h"

/* How many floats of scratch attn_rows_norm_backward needs for n rows. */
size_t attn_rows_norm_scratch(size_t n, size_t cols);
/* Adds the gradients with respect to x, weights and bias of a norm (stored in float32) to dx, dw and db; db NULL: no
 * bias; dw NULL: to dx alone. */
struct attn_rows_norm_backward { const struct attn_norm *norm; float eps, *dw, *db, *scratch; };
void attn_rows_norm_backward(struct attn_team *t, const struct attn_rows *dx, const struct attn_rows *dy,
                             const struct attn_rows *x, const struct attn_rows_norm_backward *s);
/* dy becomes the gradient with respect to x, and x the result of attn_rows_activate; with a gate, `linear` becomes the
 * gradient with respect to itself. */
void attn_rows_activate_backward(struct attn_team *t, const struct attn_rows *dy, const struct attn_rows *x,
                                 const struct attn_rows *linear, enum attn_mlp_kind kind);

/* The gradient of a weight is a sum over rows of outer products:
 *
 *     y[in, out] += x[rows, in]' w[rows, out]
 *
 * Each element is one chain of fused multiply-adds over the rows, ascending, that continues from y: the same rows
 * give the same bits in one call or in several, at any number of threads and with any kernel.
 * x and w must have the same number of rows. */
void attn_outer(struct attn_team *t, float *y, size_t ldy, const struct attn_rows *x, const struct attn_rows *w);
/* y[cols] += the sum of w's rows. */
void attn_outer_sum(struct attn_team *t, float *y, const struct attn_rows *w);

#endif
