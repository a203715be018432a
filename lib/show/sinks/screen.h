/* screen.h - the first look at a run: what screen.c keeps of it, and screen_print.c prints.
 *
 * It is laid out for 80 columns and at most 40 lines wherever it goes, so that a terminal, a pipe and a file get the
 * same but for colours.  Its last 23 lines, which a terminal of 24 still shows, are of all heads; above them stand the
 * numbers of one, that whose rows look most beyond themselves and the first token (ask/away.h). */
#ifndef ATTN_SINKS_SCREEN_H
#define ATTN_SINKS_SCREEN_H

#include "ask/away.h"
#include "ask/scores.h"
#include "sinks/print.h"

enum {
    ATTN_SCREEN_WIDTH = 80,
    ATTN_SCREEN_LINES = 40,             /* at most */
    ATTN_SCREEN_ROWS = 7,               /* of a matrix: a longer text shows its corners, with a line between them */
    ATTN_SCREEN_KEPT = 6,               /* rows that are kept of such a text: the first and the last three */
    ATTN_SCREEN_NUMBERS = 6,            /* of a context vector */
    ATTN_SCREEN_LOOKS = 3,              /* last tokens, and what they look at */
    ATTN_SCREEN_ROLES = 2,              /* lines for what heads do */
    ATTN_SCREEN_LABEL = 16              /* columns of a token, at most */
};

/* Whom a token looks at most; weight 0: nobody. */
struct attn_screen_target { float weight; size_t key; struct attn_head_place at; };

struct attn_screen {
    const struct attn_sink_job *job;
    struct attn_out *out;
    size_t width, H, dv;
    size_t row[ATTN_SCREEN_ROWS], rows, key[ATTN_SCREEN_ROWS], keys;    /* which are kept */
    float *weight;                      /* [L, H, rows, keys] */
    float *context;                     /* [L, H, rows, NUMBERS], the first of each head's */
    bool *there;                        /* [L * H]: the head was seen */
    struct attn_away away;
    struct attn_screen_target target[ATTN_SCREEN_LOOKS];
    int32_t *ids;
    struct attn_scores *scores;         /* NULL: keys are of another text, and heads are not ranked */
    const struct attn_head_score *entropy;      /* which is shown of all heads */
    struct attn_head_scored *head; size_t heads;        /* the one with the clearest role first */
    struct attn_next next;
    bool predicts;
};

static inline float *attn_screen_weights(const struct attn_screen *s, size_t layer, size_t head)
{
    return s->weight + (layer * s->H + head) * s->rows * s->keys;
}

int attn_screen_print(struct attn_screen *s, struct attn_err *err);

#endif
