/* work.h - the memory of a training step: what the forward pass keeps for the backward pass, and scratch memory.
 *
 * The rows of all sentences of a group are stacked and share every product; only attention processes each sentence by
 * itself.  grad.c owns the memory and divides a batch into groups; nothing else allocates. */
#ifndef ATTN_GRADIENT_WORK_H
#define ATTN_GRADIENT_WORK_H

#include "base/arena.h"
#include "base/team.h"
#include "compute/rows.h"
#include "compute/vec.h"
#include "trace/trace.h"

struct attn_kept {                      /* for each layer, of R rows */
    float *x;                           /* [R, d] what the block reads */
    float *q, *k, *v;                   /* [R, H*dh], [R, Hkv*dh], [R, Hkv*dv]; q and k are rotated */
    float *context;                     /* [R, H*dv] */
    float *mid;                         /* [R, d] what the MLP's norm reads: x if the branches are parallel */
    float *pre, *linear;                /* [R, m] inside the MLP, `linear` if gated; the backward pass reuses them */
    float *read;                        /* [R, d] what attention reads, if q and k are normalised or clamped */
    float *out, *mlp_out;               /* [R, d] the branches' outputs, where they or sums with them are normalised */
    /* Of one sentence, where they cannot be computed again from q and k: [H, T, T] the scores, where a soft cap bends
     * them, and the softmax, both before they were edited, and what became of the softmax before contexts were
     * computed.  NULL: they can. */
    float *scores, *softmax, *pattern;
};

/* Those who want gradients with respect to activations, as the backward pass comes by: it shows them the gradient with
 * respect to what flowed on, and if they edited the activation they make of it, in place, the gradient with respect to
 * what it was before.  `pass` may be called from several threads at a time, for different heads. */
struct attn_taps {
    unsigned (*wants)(void *self, int act, int layer);              /* ATTN_WATCH: to see it; ATTN_EDIT: to change it */
    void (*pass)(void *self, const struct attn_probe *p, float *data);
    void *self;
};

/* One sentence among the rows. */
struct attn_work_seq { size_t row, T; };

struct attn_work {
    const struct attn_weights *w, *g;   /* views of the values and of their gradients; g NULL: nobody wants these */
    struct attn_team *team;
    int threads;
    size_t R, longest;                  /* most rows of a group; length of the longest sentence */

    size_t rows, first;                 /* of this group; index of its first row in the batch */
    struct attn_work_seq *seq; size_t seqs, first_seq;              /* likewise for sentences */
    float drop_embed, drop_pattern, drop_branch;        /* 0: no dropout */
    uint64_t seed;                      /* of this batch */
    struct attn_kind kind;              /* of attention; training knows the model's own only */
    const struct attn_taps *taps;       /* NULL: only gradients with respect to weights matter */

    struct attn_kept *layer;            /* [L + 1]; the last one has only x, which the final norm reads */
    float *y;                           /* [R, d] what a branch reads */
    float *post;                        /* [R, m] what the mlp's last product reads */
    float *branch;                      /* [R, d] the output of a branch; its gradient */
    float *dx;                          /* [R, d] gradient by the residual stream, where the backward pass is now */
    float *saved;                       /* [R, d] that gradient before a block whose two branches both read it */
    float *dy, *dq, *dk, *dv, *dcontext, *dpre;
    float *cos, *sin, *minus_sin;       /* [ropes, R, rotary/2] for the rows' positions */
    float *rotation;                    /* [ropes, 2, longest, rotary/2] cos and sin of each position */
    float *bias;                        /* [H, longest] of ALiBi; NULL: none */
    float *raw, *draw;                  /* [R, H*dh] queries, keys or values before they are normalised or clamped;
                                         * the gradient by them */
    float *embed_proj;                  /* [R, in of unembed] rows of the embedding, or what the output layer reads,
                                         * where they are projected; their gradients */
    float *embedded, *placed;           /* [R, d] what tokens, and positions, give, where their sum is normalised */
    float *final, *capped;              /* [R, d] what the output layer reads; [band, V] logits that have a soft cap */
    float *norm_w, *norm_b;             /* [the widest norm] scratch of attn_rows_norm */
    float *sums;                        /* scratch of attn_rows_norm_backward */
    float *scratch;                     /* [threads, attn_work_scratch] of attention */
    float *logits; size_t band;         /* [band, V] */
    double *loss;                       /* [R] of each row */
};

static inline struct attn_rows attn_work_rows(const struct attn_work *t, float *data, size_t cols)
{
    return (struct attn_rows){data, cols, t->rows, cols};
}

static inline unsigned attn_work_taps(const struct attn_work *t, int act, int layer)
{
    return t->taps ? t->taps->wants(t->taps->self, act, layer) : 0;
}

/* ---- work.c ---- */

/* Call this twice, as an arena is laid out (base/arena.h). */
void attn_work_lay_out(struct attn_arena *a, struct attn_work *t);
/* Computes what positions give: all rotations, in double precision, as compute/block.c does, and the terms of ALiBi. */
void attn_work_place(struct attn_work *t);

/* ---- forward.c ---- */

/* The rotations of a sentence's rows. */
void attn_work_set_rotation(struct attn_work *t, const struct attn_work_seq *s);

/* Turns queries or keys of a layer, with t->sin, or turns their gradients back, with t->minus_sin. */
void attn_work_turn(struct attn_work *t, size_t layer, const struct attn_rows *y, const float *sines);
/* What the tokens and positions of all rows give to the stream, before it is normalised; ids: of the first row on. */
void attn_work_embed(struct attn_work *t, const struct attn_rows *x, const int32_t *ids);
/* From ids to x of the last layer. */
void attn_work_forward(struct attn_work *t, const int32_t *ids);
/* What a branch reads: x itself if there is no norm, else t->y. */
struct attn_rows attn_work_normed(const struct attn_work *t, const struct attn_rows *x, const struct attn_norm *norm);
/* Where dropout happens, the same numbers in both passes.  p: probability. */
enum attn_dropped { ATTN_DROP_EMBED, ATTN_DROP_PATTERN, ATTN_DROP_ATTENTION, ATTN_DROP_MLP, ATTN_DROPPED };
struct attn_drop attn_work_drop(const struct attn_work *t, enum attn_dropped what, size_t layer, float p);
/* Fails if a number is not finite, naming the first activation of the forward pass that has one, and its position. */
int attn_work_nonfinite(const struct attn_work *t, struct attn_err *err);

/* ---- attention_backward.c ---- */

size_t attn_work_scratch(const struct attn_work *t);    /* numbers of scratch for a thread; SIZE_MAX: too many */
/* The contexts of all heads from q, k, v of a layer; dq, dk, dv from dcontext (rows of ld). */
void attn_work_attend(struct attn_work *t, size_t layer);
void attn_work_attend_backward(struct attn_work *t, size_t layer, const float *dcontext);

/* ---- ends.c ---- */

/* The sum of the rows' losses times `each`, without targets below 0.  learn: and dx, the output layer's gradients. */
double attn_work_loss(struct attn_work *t, const int32_t *targets, double each, bool learn);
/* From t->logits, the gradient by the logits of the last `rows` rows of one sentence, to dx. */
void attn_work_from_logits(struct attn_work *t, size_t rows);
/* From dx, the gradient by what the first block reads, to those of the tables and of what follows them; ids NULL: to
 * those of the embedding's rows alone. */
void attn_work_finish(struct attn_work *t, const int32_t *ids);

/* ---- backward.c ---- */

/* From dx, the gradient by the last layer's x, to those of all parameters except the output layer's; ids are
 * those that attn_work_finish takes. */
void attn_work_backward(struct attn_work *t, const int32_t *ids);

#endif
