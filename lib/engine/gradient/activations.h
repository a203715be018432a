/* activations.h - the gradient of a function of one sentence's logits with respect to the activations of its run.
 *
 * The run is whoever's: two observers of it keep what the backward pass needs, as it flowed on after all edits.  Then
 * whoever knows the function puts its gradient by the logits where attn_backward_logits says, and attn_backward_run
 * shows the taps of the plan the gradient by each activation, from the last to the first.  Weights are read where the
 * model has them.
 *
 * Where the pattern is what the model computes from q and k by its own kind of attention, it is computed again, band by
 * band; where a tap edits dots, scores or pattern, or another kind is asked for, all of it is kept. */
#ifndef ATTN_GRADIENT_ACTIVATIONS_H
#define ATTN_GRADIENT_ACTIVATIONS_H

#include "gradient/work.h"
#include "model/model.h"

struct attn_backward_plan {
    size_t T, rows;                     /* tokens; how many of the last rows of logits the function reads */
    struct attn_kind kind;
    int threads;                        /* of the team that attn_backward_run is given; at least 1 */
    struct attn_taps taps;              /* borrows what `self` is */
};

struct attn_backward;
/* Fails where there is no backward pass: for linear attention, dropout, or a model without output layer. */
int attn_backward_check(const struct attn_model *m, const struct attn_kind *kind, struct attn_err *err);
int attn_backward_new(struct attn_backward **out, const struct attn_model *m, const struct attn_backward_plan *p,
                      struct attn_err *err);
void attn_backward_free(struct attn_backward *b);                   /* NULL is fine */
struct attn_observer attn_backward_first(struct attn_backward *b);  /* to come before all that edit */
struct attn_observer attn_backward_keeper(struct attn_backward *b);
float *attn_backward_logits(struct attn_backward *b);               /* [rows, V] */
void attn_backward_run(struct attn_backward *b, struct attn_team *team);

#endif
