/* derive.h - activations that no step of the forward pass needs, computed from those that it announces:
 *
 *     attn.result [H, T, d]   each head's part of attn.out: its columns of the context times its rows of the output
 *     projection,
 *                             without the bias
 *     attn.norms [H, T, Tk]   the pattern times the Euclidean norm of what the key's value adds to the output: v of the
 *     head
 *                             (or of the key/value head that serves it) times its rows of the output projection
 *     rollout [T, T]          R = (0.5 mean of the heads' patterns + 0.5 I) times R of the layer before
 *     lens [T, V]             the final norm and the output layer, applied to the residual stream after the block
 *
 * If an observer wants one, the run gets one more observer, the last, which watches what these are made of and
 * announces them.  So they follow from what was edited, and a run in which nobody wants them does not know that they
 * exist. */
#ifndef ATTN_RUN_DERIVE_H
#define ATTN_RUN_DERIVE_H

#include "compute/block.h"

struct attn_derive {
    struct attn_pass *pass;
    size_t R;                           /* rows of the plan */
    float *part;                        /* [longest, d] one head's result; [H, longest, d] for who wants it whole */
    float *size;                        /* [H, R] of each key, the norm that attn.norms multiplies weights with */
    float *norms;                       /* [ATTN_BAND, longest]; [H, longest, longest] for who wants it whole */
    float *mean, *next;                 /* [longest, longest] of the heads' patterns; the rollout of this layer */
    float *rollout;                     /* of the last layer, [T, T] of each sentence, one after the other */
    float *logits; size_t logit_rows;   /* [logit_rows, V] of the lens */
};

/* Whether an observer wants a derived activation. */
bool attn_derive_wanted(const struct attn_trace *t);
/* Asks the observers in pass->trace what they want; the caller adds it to them. */
struct attn_observer attn_derive_observer(struct attn_derive *d);
/* R: rows of the plan.  Call this twice, as an arena is laid out, after the pass's scratch was sized. */
void attn_derive_lay_out(struct attn_derive *d, struct attn_arena *a, size_t R);
/* Fails if the sentences of the pass do not have what is wanted. */
int attn_derive_check(const struct attn_derive *d, struct attn_err *err);

#endif
