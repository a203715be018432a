/* grad.h - the loss of a model on some sentences, and its gradient by every parameter.
 *
 *     loss = 1/N  sum over targets of  -log softmax(logits)[target]
 *
 * A target may also be a token that should not be said; of it the sum has  -w log(1 - softmax(logits)[target])
 * (unlikelihood: Welleck et al., Neural Text Generation with Unlikelihood Training, 2019).
 *
 * The forward pass is that of compute/block.h, by the same products on the same threads, bit for bit without dropout.
 * It keeps what the backward pass needs: residual stream, queries, keys, values, contexts and the input of the MLP's
 * nonlinearity.  Norms, nonlinearities and attention patterns are recomputed, patterns band by band, so that memory
 * stays linear in the length of a sentence.
 *
 * The backward pass is the chain rule written out.  With y = x w, dx = dy w' is a product with the transposed view, and
 * dw = x' dy (compute/rows_backward.h) is one chain of multiply-adds over the rows, which starts from the gradient
 * already there.  How rows are divided into sums never depends on threads: any number of them gives the same bits. */
#ifndef ATTN_GRADIENT_GRAD_H
#define ATTN_GRADIENT_GRAD_H

#include "gradient/params.h"

struct attn_grad_plan {
    int threads;                        /* 0: as many as this process may use */
    size_t rows;                        /* tokens processed at once, at least the longest sentence's; more are divided
                                         * into groups of whole sentences, which may change last bits.  0: as many as
                                         * suit the caches */
    size_t longest;                     /* length of the longest sentence; 0: n_ctx of the model */
    struct attn_dropout { float embed, pattern, branch; } dropout;  /* probabilities, 0 <= p < 1: for the embedding,
                                                                     * attention patterns, and a branch's output; what
                                                                     * is kept is divided by 1 - p */
};

/* The target of a position after which a token should not come, and that token again. */
static inline int32_t attn_unlikely(int32_t id) { return -2 - id; }

struct attn_grad_batch {
    const int32_t *ids;                 /* of all sentences, one after the other */
    const int32_t *targets;             /* what each position should predict, or attn_unlikely(id) not; -1: nothing */
    const size_t *T; size_t seqs;       /* tokens of each sentence, which starts at position 0 */
    size_t N;                           /* targets that the mean is over; 0: those of this batch.  A step whose batch is
                                         * passed in parts gives the number of the whole: losses and gradients add up */
    uint64_t seed, step;                /* with the position they decide what is dropped; other parts have others */
};

struct attn_grad;
/* Allocates all memory in advance.  p must outlive the result.  Fails if the model has no output layer. */
int attn_grad_new(struct attn_grad **out, struct attn_params *p, const struct attn_grad_plan *plan,
                  struct attn_err *err);
void attn_grad_free(struct attn_grad *g);                           /* NULL is fine */

/* Adds the gradient of the loss to p->grad.  A loss that is not finite is an error that names the first activation
 * that is not; the gradients are invalid then. */
int attn_grad_add(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, struct attn_err *err);
/* The loss alone, without dropout: for held-out text. */
int attn_grad_loss(struct attn_grad *g, double *loss, const struct attn_grad_batch *b, struct attn_err *err);

#endif
