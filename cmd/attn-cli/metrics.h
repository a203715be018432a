/* metrics.h - what run --metric says of a text: one row per metric, with its value or, with edits, those before
 * and after them; with --ablations one row per head and metric, with its value with all heads and without that one. */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H

#include "run_answer.h"

struct metrics {
    size_t n;
    struct attn_metric **of;            /* [n] */
    int32_t *ids;                       /* of the text that they are bound to */
    struct attn_measure *before, *after;        /* [n] without edits and with them */
    bool has_before, has_after;
    struct attn_ablated_metric *without;        /* [n] for attn_ablate_heads */
};

/* What was typed, before anything is opened. */
int metrics_read(struct metrics *m, const struct many *typed, struct attn_err *err);
/* Opens its tokenizer, if that is NULL, for metrics that name tokens by their text. */
int metrics_bind(struct metrics *m, struct session *s, struct attn_err *err);
/* Runs the text and, with edits, the edited text, or with --no-compare that alone. */
int metrics_measure(struct metrics *m, struct session *s, bool progress, struct attn_err *err);
/* Before attn_ablate_heads: kl is measured from the run without edits. */
int metrics_refer(struct metrics *m, const struct session *s, struct attn_err *err);
/* precision: digits after the point, in text.  head: those of --ablations; NULL: edits or nothing. */
int metrics_write(const struct metrics *m, const struct run_answer *to, int precision, const struct attn_ablated *head,
                  size_t heads, struct attn_err *err);
void metrics_free(struct metrics *m);   /* all zero is fine */

#endif
