/* work.h - the memory of a training step: what the forward pass keeps for the backward pass, and scratch.
 *
 * Rows of all sentences of a group lie below each other and share every product; only attention looks at one
 * sentence at a time.  grad.c owns the memory; nothing else allocates. */
#ifndef ATTN_TRAIN_WORK_H
#define ATTN_TRAIN_WORK_H

#include "base/arena.h"
#include "base/team.h"
#include "compute/rows.h"
#include "compute/vec.h"

struct attn_kept {                      /* of a layer, for R rows */
    float *x;                           /* [R, d] what the block reads */
    float *q, *k, *v;                   /* [R, H*dh], [R, Hkv*dh], [R, Hkv*dv], turned by their positions */
    float *context;                     /* [R, H*dv] */
    float *mid;                         /* [R, d] what the mlp's norm reads: x where the branches are parallel */
    float *pre, *linear;                /* [R, m] inside the mlp; linear: swiglu only.  Overwritten on the way back */
};

/* One sentence among the rows. */
struct attn_stretch { size_t row, T; };

struct attn_work {
    const struct attn_weights *w, *g;   /* views of the values and of their gradients */
    struct attn_team *team;
    int threads;
    size_t R, longest;                  /* the most rows; of one sentence */

    size_t rows, first;                 /* of this group; which row of the batch is its first */
    struct attn_stretch *text; size_t texts, first_text;            /* of the batch, likewise */
    float drop_embed, drop_pattern, drop_branch;        /* 0: nothing is dropped */
    uint64_t seed;                      /* of this batch */

    struct attn_kept *layer;            /* [L + 1]; the last has only x, which the final norm reads */
    float *y;                           /* [R, d] what a branch reads */
    float *post;                        /* [R, m] what the mlp's last product reads */
    float *branch;                      /* [R, d] what a branch gives; its gradient */
    float *dx;                          /* [R, d] gradient by the residual stream, as far back as the pass has come */
    float *saved;                       /* [R, d] the same before a block, where both branches read it */
    float *dy, *dq, *dk, *dv, *dcontext, *dpre;
    float *cos, *sin, *back;            /* [R, rotary/2] of the rows' positions; back: -sin */
    float *turns;                       /* [2, longest, rotary/2] the same of each position */
    float *norm_w, *norm_b;             /* [d] scratch of attn_rows_norm */
    float *sums;                        /* of attn_slopes_norm */
    float *desks;                       /* [threads, attn_work_desk] scratch of attention */
    float *logits; size_t band;         /* [band, V] */
    double *loss;                       /* [R] of each row */
};

/* room.c: twice, as an arena is laid out; then what stays the same. */
void attn_work_lay_out(struct attn_arena *a, struct attn_work *t);
void attn_work_fill(struct attn_work *t);

static inline struct attn_rows attn_work_rows(const struct attn_work *t, float *data, size_t cols)
{
    return (struct attn_rows){data, cols, t->rows, cols};
}

/* What the branch reads: x itself where there is no norm, else in t->y. */
struct attn_rows attn_work_normed(const struct attn_work *t, const struct attn_rows *x, const struct attn_norm *norm);

/* Where numbers are dropped, by whatever attn_work_seed was told last.  p: the share of them. */
enum attn_dropped { ATTN_DROP_EMBED, ATTN_DROP_PATTERN, ATTN_DROP_ATTENTION, ATTN_DROP_MLP, ATTN_DROPPED };
struct attn_drop attn_work_drop(const struct attn_work *t, enum attn_dropped what, size_t layer, float p);
void attn_work_seed(struct attn_work *t, uint64_t seed, uint64_t step);

/* forward.c: from ids to the last layer's x; backward.c: from dx, the gradient by that, to the gradients of all
 * parameters but the output layer's. */
void attn_work_forward(struct attn_work *t, const int32_t *ids);
void attn_work_backward(struct attn_work *t, const int32_t *ids);

/* heads.c: contexts of all heads from q, k, v of a layer; dq, dk, dv from dcontext (rows of ld). */
size_t attn_work_desk(const struct attn_work *t);   /* numbers of scratch a thread takes; SIZE_MAX: too many */
void attn_work_attend(struct attn_work *t, size_t layer);
void attn_work_attend_back(struct attn_work *t, size_t layer, const float *dcontext);

/* loss.c: the sum over the rows' losses times `each`; `learn`: then dx and the output layer's gradients are made,
 * too.  Targets below 0 are none. */
double attn_work_loss(struct attn_work *t, const int32_t *targets, double each, bool learn);

/* products.c: gradients by x and w of y = x w + bias. */
void attn_work_back(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy,
                    const struct attn_mat *w, bool more);
void attn_work_learn(struct attn_work *t, const struct attn_mat *g, const struct attn_rows *x,
                     const struct attn_rows *dy);
/* And by x and the weights of a norm, from t->dy; dx is added to. */
void attn_work_back_norm(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *x,
                         const struct attn_norm *norm, const struct attn_norm *g);

#endif
