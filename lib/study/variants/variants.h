/* variants.h - one sentence under several kinds of attention, on the same weights, each compared with the model's
 * own.
 *
 * The model's own attention runs first, and its results are kept: all patterns and contexts, the last residual
 * stream, the logits of the last token.  Each kind then runs and is compared band by band as it is announced, and
 * runs again, unobserved, to be timed. */
#ifndef ATTN_VARIANTS_H
#define ATTN_VARIANTS_H

#include "attn_tools.h"
#include "base/out.h"
#include "model/kind.h"
#include "model/model.h"

struct attn_change { double largest, mean; };           /* absolute differences; NaN if a number is NaN */

struct attn_variant {
    struct attn_kind kind;
    char name[ATTN_KIND_TEXT], about[ATTN_KIND_SEEN];   /* about: what a token sees, in a few words */
    struct attn_change pattern, context, residual;      /* over layers, heads and tokens; residual: the last */
    double kl;                          /* divergence of the next token's probabilities in nats; NaN: no output layer */
    size_t lost;                        /* rows left without any weight */
    double scores, operations;          /* in all: pairs of query and key; multiplications and additions */
    uint64_t bytes;                     /* memory that attention needs besides its inputs and output */
    double seconds;                     /* time of attention in all layers */
    float *drawn;                       /* [T, T] the pattern of the head to be drawn */
};

struct attn_variants {
    const struct attn_model *model;
    const struct attn_tokens *tokens;
    const struct attn_variants_opts *o;
    struct attn_variant *v; size_t n;
    float *own;                         /* [L, H, T, T] the patterns of the model's own attention */
};

/* report.c: writes the result as text, JSON or a picture. */
int attn_variants_write(struct attn_out *o, const struct attn_variants *s, struct attn_err *err);

#endif
