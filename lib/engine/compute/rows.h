/* rows.h - operations on each row of an activation alone, divided among threads. */
#ifndef ATTN_COMPUTE_ROWS_H
#define ATTN_COMPUTE_ROWS_H

#include "base/team.h"
#include "compute/vec.h"
#include "compute/weights.h"

/* A block of n rows of `cols` numbers. */
struct attn_rows { float *data; size_t ld, n, cols; };

/* Weights of a norm, from number `first` on. */
void attn_norm_weights(float *to, const struct attn_norm *norm, size_t first, size_t n);
/* y = norm(x), and y may be x; w and b are scratch for `cols` floats each, which hold the norm's weights in
 * float32.  rounded: for products in bf16 alone, the place of the rows (attn_gemm_round), and y is only scratch;
 * NULL: y is the result. */
void attn_rows_norm(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *x,
                    const struct attn_norm *norm, float eps, float *w, float *b, float *rounded);
/* y += x */
void attn_rows_add(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *x);
void attn_rows_copy(const struct attn_rows *y, const struct attn_rows *x);
/* y = gelu(pre), or silu(pre) * x for SwiGLU, and so on; y may be pre */
void attn_rows_activate(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *pre,
                        const struct attn_rows *x, enum attn_mlp_kind kind);
/* Rotates the first `rotary` numbers of each head of y (cols = heads * dh) by its row's cos, sin [n, rotary/2]. */
void attn_rows_rotate(struct attn_team *t, const struct attn_rows *y, const struct attn_weights *w, const float *cos,
                      const float *sin);
/* Numbers of y above `most`, or below its negative, become that; where they did, dy, the gradient by what became of
 * them, becomes 0. */
void attn_rows_clamp(struct attn_team *t, const struct attn_rows *y, float most);
void attn_rows_clamp_backward(struct attn_team *t, const struct attn_rows *dy, const struct attn_rows *y, float most);
/* y *= by; y = cap * tanh(y / cap) */
void attn_rows_scale(struct attn_team *t, const struct attn_rows *y, float by);
void attn_rows_cap(struct attn_team *t, const struct attn_rows *y, float cap);
/* Dropout: y = x with some numbers dropped.  The same call on a gradient drops the same ones.  first: the number of
 * row 0 for attn_vec_drop. */
void attn_rows_drop(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *x,
                    const struct attn_drop *d, size_t first);
bool attn_rows_finite(struct attn_team *t, const struct attn_rows *y);

#endif
