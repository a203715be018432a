/* grad.h - the loss of a model on some sentences, and its gradient by every parameter.
 *
 *     loss = 1/N  sum over targets of  -log softmax(logits)[target]
 *
 * The forward pass is that of compute/block.h, by the same products on the same threads, bit for bit where
 * nothing is dropped; it keeps what the backward pass needs: residual stream, queries, keys, values, contexts
 * and what the mlp's nonlinearity reads.  Norms, nonlinearities and attention patterns are computed again,
 * patterns band by band, so that memory stays linear in the length of a sentence.
 *
 * The backward pass is the chain rule written out.  With y = x w, dx = dy w' is a product with the same view
 * turned round, and dw = x' dy (compute/outer.h) is one chain of multiply-adds over the rows, which goes on
 * from the gradient that is there.  How rows are cut into sums never depends on threads: the same bits at
 * any number of them. */
#ifndef ATTN_TRAIN_GRAD_H
#define ATTN_TRAIN_GRAD_H

#include "train/params.h"

struct attn_grad_plan {
    int threads;                        /* 0: as many as this process may use */
    size_t rows;                        /* tokens worked on at once, at least the longest sentence's; more are cut into
                                         * groups of whole sentences, which may change last bits.  0: as many as fit the
                                         * caches well */
    size_t longest;                     /* tokens of the longest sentence; 0: n_ctx of the model */
    struct attn_dropout { float embed, pattern, branch; } dropout;  /* 0 <= p < 1: of the embedding, of attention patterns,
                                         * of what a branch adds to the residual stream; the rest is divided by 1 - p */
};

struct attn_grad_batch {
    const int32_t *ids;                 /* those of all sentences, one after the other */
    const int32_t *targets;             /* as many: what each position should predict; negative: nothing */
    const size_t *T; size_t sentences;  /* tokens of each sentence, which starts at position 0 */
    size_t N;                           /* targets that the mean is over; 0: those of this batch.  A step whose batch is
                                         * handed over in parts gives that of the whole: losses and gradients add up */
    uint64_t seed, step;                /* what is dropped is decided by them and the place alone; parts of a batch need
                                         * numbers of their own */
};

struct attn_grad;
/* Lays out all memory; nothing is allocated afterwards.  p must outlive it.  Fails when the model has no output layer. */
int attn_grad_new(struct attn_grad **out, struct attn_params *p, const struct attn_grad_plan *plan, struct attn_err *err);
void attn_grad_free(struct attn_grad *g);                           /* NULL is fine */

/* Adds the gradient of the loss to p->grad.  A loss that is not finite is an error that names the first activation
 * that is not; gradients are then worth nothing. */
int attn_grad_add(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, struct attn_err *err);
/* The loss alone, with nothing dropped: for held-out text. */
int attn_grad_loss(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, struct attn_err *err);

#endif
