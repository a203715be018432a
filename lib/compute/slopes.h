/* slopes.h - what rows.h does to each row, backwards: gradients by what a step gave become gradients by what it
 * read, and by a norm's weights. */
#ifndef ATTN_COMPUTE_SLOPES_H
#define ATTN_COMPUTE_SLOPES_H

#include "compute/rows.h"

/* Numbers of scratch that attn_slopes_norm takes for n rows. */
size_t attn_slopes_room(size_t n, size_t cols);
/* Adds to dx the gradient by x, and to dw and db that by the norm's float32 weights; db NULL: it has no bias. */
struct attn_slopes_norm { const struct attn_norm *norm; float eps, *dw, *db, *room; };
void attn_slopes_norm(struct attn_team *t, const struct attn_rows *dx, const struct attn_rows *dy,
                      const struct attn_rows *x, const struct attn_slopes_norm *s);
/* dy becomes the gradient by x, x what attn_rows_activate gave; SwiGLU: linear becomes the gradient by it. */
void attn_slopes_activate(struct attn_team *t, const struct attn_rows *dy, const struct attn_rows *x,
                          const struct attn_rows *linear, enum attn_mlp_form kind);

#endif
