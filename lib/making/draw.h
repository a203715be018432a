/* draw.h - the tensors of a model to be, and how one of them is drawn.
 *
 * Random numbers come from one stream, the order of drawing is the caller's: recipe.h lets a user
 * choose it, attn_draw_default does what torch would. */
#ifndef ATTN_DRAW_H
#define ATTN_DRAW_H

#include "making/dist.h"
#include "io/layout.h"

/* One tensor, which several parts may share: then slot is the first of them. */
struct attn_drawn { struct attn_slot slot; size_t count; float *x; };      /* x owned; NULL: not drawn, and optional */

struct attn_draw {
    const struct attn_config *config;
    struct attn_drawn *t; size_t n;     /* in the order of the forward pass */
    struct attn_rng rng;
};

/* The list of the model's tensors; `config` must outlive it. */
int attn_draw_open(struct attn_draw *d, const struct attn_config *config, struct attn_err *err);
void attn_draw_close(struct attn_draw *d);              /* zeroed is fine */

/* Tensor i, or columns of head h when `heads` lie side by side in it; all of it is head 0 of 1.  A
 * linear layer draws the bias the model needs right after its weight. */
int attn_draw_tensor(struct attn_draw *d, size_t i, size_t h, size_t heads, const struct attn_dist *dist,
                     struct attn_err *err);
/* Every weight must have been drawn by now; needed biases that were not are zero. */
int attn_draw_finish(struct attn_draw *d, struct attn_err *err);

/* Tensor i as Hugging Face initialises a model: norms ones, biases zeros, all else normal with 0.02.  What the family
 * does not need stays unset. */
int attn_draw_plain(struct attn_draw *d, size_t i, struct attn_err *err);

/* All of it, as torch constructs the modules of the forward pass: tables randn, norms ones, matrices linear. */
int attn_draw_default(struct attn_draw *d, struct attn_err *err);

#endif
