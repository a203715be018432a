/* screen.h - the first look at a run: what screen.c keeps of it, and screen_print.c prints. */
#ifndef ATTN_SINKS_SCREEN_H
#define ATTN_SINKS_SCREEN_H

#include "ask/scores.h"
#include "picture/look.h"
#include "sinks/print.h"

enum {
    ATTN_SCREEN_LINES = 45,             /* of all parts together, at most */
    ATTN_SCREEN_LEAST = 10,             /* of a terminal that has fewer lines, it takes so many */
    ATTN_SCREEN_NAMES = 20,             /* one with fewer has no line for the names of commands */
    ATTN_SCREEN_TOKEN_LINES = 2,        /* at most */
    ATTN_SCREEN_LABEL = 16,             /* columns of a token, at most */
    ATTN_SCREEN_HEAD = 38,              /* columns: "L10H12  punctuation 0.45, entropy 0.73" */
    ATTN_SCREEN_HINT = 14,              /* columns before a command */
    ATTN_SCREEN_OF_HEAD = 64,           /* bytes of " --layer 10 --head 12" */
    ATTN_SCREEN_FIRST = 32              /* numbers of a context vector that are kept */
};
#define ATTN_SCREEN_TOKENS "tokens "

struct attn_screen_vector { double squares; float first[ATTN_SCREEN_FIRST]; };
/* Whom a token looks at most; weight 0: nobody. */
struct attn_screen_target { float weight; size_t key; struct attn_head_place at; };

struct attn_screen {
    const struct attn_sink_job *job;
    struct attn_out *out;
    struct attn_look look;
    size_t width, row0, rows, col0, cols;       /* which rows and keys are kept */
    size_t lines;                       /* of all parts together */
    size_t head_lines;                  /* for what heads do */
    size_t hints;                       /* commands that are shown */
    bool names;                         /* in their place, where none has room: their names in one line */
    bool contexts; size_t vectors;      /* whether context vectors are shown, or what tokens look at in place of those
                                         * that are too wide, and of how many rows, the last ones */
    struct attn_tokens queries, keys;   /* of these */
    struct attn_album album;            /* a sheet for each layer */
    float *sheet;                       /* the numbers of the current one */
    struct attn_screen_vector *vector; size_t columns;  /* [L, rows]; of a context vector */
    struct attn_screen_target *target;  /* [rows] */
    bool *known;                        /* [L]: the layer's context vectors are there */
    int32_t *ids;
    struct attn_scores *scores;         /* NULL: keys are of another text, and heads are not ranked */
    const struct attn_head_score *entropy;      /* which is shown of all heads */
    struct attn_head_scored *head; size_t heads;        /* the one with the clearest role first */
    struct attn_next next;
    bool predicts;
};

/* ---- screen.c ---- */

size_t attn_screen_heads_across(const struct attn_screen *s);
size_t attn_screen_room(const struct attn_screen *s);   /* lines for the rows of patterns and of context vectors */

/* A text in the language of the screen. */
__attribute__((format_arg(2))) static inline const char *tr(const struct attn_screen *s, const char *english)
{
    return attn_tr(s->job->language, english);
}

/* ---- screen_rows.c ---- */

size_t attn_screen_widest(const struct attn_tokens *t);         /* columns of the widest label */
void attn_screen_heading(struct attn_screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Context vectors of a layer, or what each token looks at in any. */
void attn_screen_rows(struct attn_screen *s, int layer);

/* ---- screen_print.c ---- */

int attn_screen_print(struct attn_screen *s, struct attn_err *err);

#endif
