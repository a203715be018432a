/* clue.h - what is at hand when a cause is looked for, and the questions causes share. */
#ifndef ATTN_CLUE_H
#define ATTN_CLUE_H

#include "compare/diff.h"

struct clue {
    struct attn_diff *d;
    int act, layer;                     /* the first that differs */
    const struct attn_diff_row *row;
    struct attn_pair p;                 /* H 0: the shapes differ */
    const struct attn_model *model;     /* whose weights may be looked at; NULL: none */
};

static inline char attn_clue_side(bool a) { return a ? 'A' : 'B'; }
/* Sets the cause; true. */
bool attn_clue_say(struct clue *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* An activation of the same layer, if both sides have it; layer -1 outside the blocks. */
bool attn_clue_other(const struct clue *c, int act, struct attn_pair *out);
/* What the activation is computed from, and what that is called; false: not on both sides. */
bool attn_clue_input(const struct clue *c, struct attn_pair *x);
size_t attn_clue_head_width(const struct clue *c);      /* 0: not known */
size_t attn_clue_heads(const struct clue *c);
double attn_clue_theta(const struct clue *c);           /* of rotary positions; 0: not known */
/* " = sqrt(d_head)", or nothing. */
const char *attn_clue_factor(const struct clue *c, double factor, char buf[64]);

/* clue_tokens.c: causes that need no numbers. */
bool attn_clue_bos(struct clue *c);
bool attn_clue_bos_by_rows(struct clue *c);             /* without lists of tokens */
bool attn_clue_tokens(struct clue *c);
bool attn_clue_axes(struct clue *c);
bool attn_clue_flat_heads(struct clue *c);
bool attn_clue_length(struct clue *c);                  /* without lists of tokens */

/* clue_weights.c: causes that only weights can show. */
bool attn_clue_transposed(struct clue *c);
bool attn_clue_tied(struct clue *c);

#endif
