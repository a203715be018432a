/* heads.h - which head does what: the scores of all heads, pooled over the rows of many texts, and the table of them.
 *
 *     heads_loss.c     how hard the first half of a text that is said twice is to foretell, and the second
 *     heads.c          runs the texts as a batch does, adds up the scores, and chooses the heads that are reported
 *     heads_write.c    writes the table: text, json, csv, pictures */
#ifndef ATTN_ANSWERS_HEADS_H
#define ATTN_ANSWERS_HEADS_H

#include "ask/scores.h"
#include "base/out.h"

struct attn_heads_row {
    struct attn_head_scored of;
    double by;                          /* what rows are sorted by; NaN: nothing */
};

struct attn_ranking {
    const struct attn_heads_opts *o;
    struct attn_info info;              /* of the model */
    char digest[80];
    struct attn_heads_row *row; size_t n;       /* by layer, then head */
    const struct attn_heads_row **best; size_t kept;    /* [kept]: those reported, the largest `by` first */
    const struct attn_head_score *by;   /* NULL: by the share of the main role */
    bool copying;
    double first, second;               /* losses of a random text and of its repetition, per token; NaN: none */
    /* The texts, one after the other: their ids are kept for json alone. */
    int32_t *ids; size_t ids_n, ids_room;
    size_t *T, T_room, texts;
    uint64_t tokens;
    bool overflowed;                    /* dots of a text did, whose patterns are NaN then */
};

/* Fills in h->first and h->second, if the texts are said twice and the model predicts. */
int attn_heads_losses(struct attn_ranking *h, struct attn_err *err);
bool attn_heads_repeats(const struct attn_ranking *h);         /* what these losses say */

/* As attn_heads; into `to`, unless it is NULL. */
int attn_heads_into(struct attn_out *to, struct attn_heads_state *out, const struct attn_heads_opts *o,
                    struct attn_err *err);
int attn_heads_write(struct attn_out *out, const struct attn_ranking *h, struct attn_err *err);

#endif
