/* clue.h - the evidence that a search for a cause starts from, and the questions that causes share. */
#ifndef ATTN_CLUE_H
#define ATTN_CLUE_H

#include "compare/diff.h"

struct clue {
    struct attn_diff *d;
    int act, layer;                     /* of the first activation that differs */
    const struct attn_diff_row *row;
    struct attn_pair p;                 /* H 0: the shapes differ */
    const struct attn_model *model;     /* model whose weights may be used; NULL: none */
};

static inline char attn_clue_side(bool a) { return a ? 'A' : 'B'; }
/* Sets the cause; returns true. */
bool attn_clue_say(struct clue *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Gets another activation of the same layer, if both sides have it; its layer is -1 outside of blocks. */
bool attn_clue_other(const struct clue *c, int act, struct attn_pair *out);
/* Gets what the activation is computed from; false if it is not on both sides. */
bool attn_clue_input(const struct clue *c, struct attn_pair *x);
size_t attn_clue_head_width(const struct clue *c);      /* 0: unknown */
size_t attn_clue_heads(const struct clue *c);
double attn_clue_theta(const struct clue *c);           /* of rotary positions; 0: unknown */
/* Explains a factor, such as " = sqrt(d_head)"; "" if it has no explanation. */
const char *attn_clue_factor(const struct clue *c, double factor, char buf[64]);

/* clue_tokens.c: causes that can be seen without numbers. */
bool attn_clue_bos(struct clue *c);
bool attn_clue_bos_by_rows(struct clue *c);             /* needs no lists of tokens */
bool attn_clue_tokens(struct clue *c);
bool attn_clue_axes(struct clue *c);
bool attn_clue_flat_heads(struct clue *c);
bool attn_clue_length(struct clue *c);                  /* needs no lists of tokens */

/* clue_weights.c: causes that can be seen only with the weights. */
bool attn_clue_transposed(struct clue *c);
bool attn_clue_tied(struct clue *c);

#endif
