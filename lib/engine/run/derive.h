/* derive.h - activations that no step of the forward pass needs, computed from those that it announces:
 *
 *     attn.result [H, T, d]   each head's part of attn.out, without the bias: its columns of the context times its rows
 *                             of the output projection
 *     attn.norms [H, T, Tk]   the pattern times the Euclidean norm of what the key's value adds to the output: v of the
 *                             key/value head that serves it, times its rows of the output projection
 *     rollout [T, T]          R = (0.5 mean of the heads' patterns + 0.5 I) times R of the layer before
 *     lens [T, V]             the final norm and the output layer, applied to the residual stream after the block
 *     attn.mask [T, Tk]       1 where a query may give a key a weight, 0 where it is hidden; the same for all heads
 *     attn.mask_inf [T, Tk]   the same as it is added to scores: 0, or -inf where hidden.  What ALiBi adds is no mask
 *     attn.divisors [H, T, 1] of causal-renorm: what its mask leaves of each row's sum after the softmax, by which the
 *                             row is divided
 *
 * If an observer wants one, the run gets one more observer, the last, which watches what these are made of and
 * announces them.  So they follow from what was edited, and cost a run in which nobody wants them nothing. */
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
    struct attn_derive_mask {
        float *rows; size_t n;          /* [n, longest] of a mask */
        bool *seen;                     /* [longest] the keys of a query */
        size_t *list, *swaps;           /* [positions] for kinds that pick keys */
        float *scores, *divisors;       /* [longest] a row of them; [H, longest] */
    } mask;
};

/* Whether an observer wants a derived activation. */
bool attn_derive_wanted(const struct attn_trace *t);
/* Asks the observers in pass->trace what they want; the caller adds it to them. */
struct attn_observer attn_derive_observer(struct attn_derive *d);
/* R: rows of the plan.  Call this twice, as an arena is laid out, after the pass's scratch was sized. */
void attn_derive_lay_out(struct attn_derive *d, struct attn_arena *a, size_t R);
/* ---- derive_mask.c ---- */

void attn_derive_mask_lay_out(struct attn_derive *d, struct attn_arena *a);
/* q: the queries of a sentence.  Announces the masks of its layer that somebody wants. */
void attn_derive_mask(struct attn_derive *d, const struct attn_probe *q);
void attn_derive_divisors(struct attn_derive *d, const struct attn_probe *scores);

/* ---- derive.c ---- */

/* Whether an observer asked for the activation in this layer, or in any. */
bool attn_derive_wants(const struct attn_derive *d, int act, int layer, unsigned flags);
bool attn_derives(const struct attn_derive *d, int act, unsigned flags);

/* Fails if the sentences of the pass do not have what is wanted. */
int attn_derive_check(const struct attn_derive *d, struct attn_err *err);

#endif
