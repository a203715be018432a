/* variants.h - one sentence under several kinds of attention, on the same weights, each held against the model's own.
 *
 * The model's own attention runs first and is kept: all patterns and contexts, the last residual stream, the logits of the
 * last token.  Each kind then runs and is compared band by band as it is told, and once more, unwatched, against the clock. */
#ifndef ATTN_VARIANTS_H
#define ATTN_VARIANTS_H

#include "base/out.h"
#include "model.h"

struct attn_change { double largest, mean; };           /* of absolute differences; NaN where a number is none */

struct attn_variant {
    struct attn_kind kind;
    char name[ATTN_KIND_TEXT];
    struct attn_change pattern, context, residual;      /* of all layers, heads and tokens; the last layer's */
    double kl;                          /* nats: of the next token's probabilities; NaN: no output layer */
    size_t lost;                        /* rows that are left without any weight */
    double scores, operations;          /* of all layers and heads: pairs of a query and a key; multiplications and additions */
    uint64_t bytes;                     /* what attention works in beside its inputs and its output */
    double seconds;                     /* attention of all layers */
    float *drawn;                       /* [T, T] the pattern of the head that is drawn */
};

struct attn_variants {
    const struct attn_model *model;
    const struct attn_tokens *tokens;
    const struct attn_variants_opts *o;
    struct attn_variant *v; size_t n;
};

/* choose.c: the kinds of a list, or for NULL one of each, of a size that fits the sentence. */
int attn_variants_choose(struct attn_variants *s, const char *list, struct attn_err *err);
/* In a few words, what a token looks at. */
enum { ATTN_VARIANT_ABOUT = 96 };
void attn_variant_about(char text[ATTN_VARIANT_ABOUT], const struct attn_variant *v, const struct attn_model *m);

/* measure.c, price.c: fill all the rest of v. */
int attn_variants_measure(struct attn_variants *s, struct attn_err *err);
int attn_variants_price(struct attn_variants *s, struct attn_err *err);

/* lesson.c: tables and, after them, the picture; grid.c: the picture in one of its formats; report.c: JSON. */
int attn_variants_lesson(struct attn_out *o, const struct attn_variants *s, struct attn_err *err);
int attn_variants_grid(struct attn_out *o, const struct attn_variants *s, const char *format, struct attn_err *err);
int attn_variants_report(struct attn_out *o, const struct attn_variants *s, struct attn_err *err);

#endif
