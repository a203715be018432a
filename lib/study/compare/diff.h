/* diff.h - a comparison of two dumps, and the evidence from which a search for the cause of a difference starts. */
#ifndef ATTN_DIFF_H
#define ATTN_DIFF_H

#include "attn_tools.h"
#include "compare/evidence.h"
#include "compare/match.h"
#include "io/dump.h"

struct attn_mat;

/* Numbers of one side in the order of our own arrays, or in another form (other_forms.h). */
struct attn_diff_copy { const struct attn_dumped *of; enum attn_form_kind form; float *data; };
struct attn_diff_moved { struct attn_diff_copy *item; size_t n, room; };

struct attn_diff {
    const struct attn_dump *a, *b;
    struct attn_diff_opts o;
    struct attn_matches matches;        /* what the rows are of, in the same order */
    struct attn_diff_moved *moved;
    struct attn_diff_row *row; size_t n;
    size_t first;                       /* the first row that differs; n if none does */
    const char *rounded_to;             /* numbers of 16 bits that one side has, see rounding.h; NULL: none */
    const char *kind; char *cause;      /* NULL: none found */
    struct attn_diff_near nearest[ATTN_DIFF_NEAREST];   /* then, what comes nearest */
};

/* Gets both sides of an activation that is in both dumps, as our own arrays are; false if there is none. */
bool attn_diff_pair(const struct attn_diff *d, int act, int layer, struct attn_pair *out);
bool attn_diff_pair_of(const struct attn_diff *d, const struct attn_diff_row *row, struct attn_pair *out);
bool attn_diff_has(const struct attn_diff *d, int act, int layer);      /* on one side, at least */
/* As attn_diff_pair of what has no heads, where one side may lack it: its numbers are then NULL. */
bool attn_diff_either(const struct attn_diff *d, int act, int layer, struct attn_pair *out);
/* The same numbers as they lie in both files, where they were compared in another order. */
bool attn_diff_unmoved(const struct attn_diff *d, int act, int layer, struct attn_pair *out);
/* Compares the numbers of a row anew, in the form that its match has by now. */
void attn_diff_measure(const struct attn_diff *d, struct attn_diff_row *row);
/* Lets go of numbers in our order, or in another form, that the above have got. */
void attn_diff_forget_moved(const struct attn_diff *d);
/* Whether a number of a side that is not finite may have been any such. */
bool attn_diff_is_loose(const struct attn_diff *d, const struct attn_diff_row *row);
/* The array of a side; NULL: it has none. */
const struct attn_dumped *attn_diff_side(const struct attn_diff *d, const struct attn_diff_row *row, int side);

/* causes.c: sets kind and cause from the first row that differs; fails only without memory. */
int attn_diff_explain(struct attn_diff *d, struct attn_err *err);

/* near_causes.c: what comes nearest to the difference of a pair, of what people often do, and leaves less than all. */
void attn_nearest_find(struct attn_diff *d, const struct attn_pair *p, int act, int layer);

/* ---- the search for a cause (causes.c asks, clue.c answers) ---- */

struct clue {
    struct attn_diff *d;
    int act, layer;                     /* of the first activation that differs */
    const struct attn_diff_row *row;
    struct attn_pair p;                 /* H 0: the shapes differ */
    const struct attn_model *model;     /* model whose weights may be used; NULL: none */
};

/* Sets the cause; returns true. */
bool attn_clue_say(struct clue *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same of one side and the other: @ in fmt is A if a, else B, and # the other one. */
bool attn_clue_tell(struct clue *c, bool a, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Gets another activation of the same layer, if both sides have it; its layer is -1 outside of blocks. */
bool attn_clue_other(const struct clue *c, int act, struct attn_pair *out);
bool attn_clue_alike(const struct clue *c, int act, struct attn_pair *out);     /* ... and its numbers lie as c's do */
/* As attn_clue_other of what has no heads; a side that lacks it has NULL. */
bool attn_clue_either(const struct clue *c, int act, struct attn_pair *out);
/* Gets what the activation is computed from; false if it is not on both sides. */
bool attn_clue_input(const struct clue *c, struct attn_pair *x);
size_t attn_clue_heads(const struct clue *c);
double attn_clue_theta(const struct clue *c);           /* of rotary positions; 0: unknown */
/* Explains a factor, such as " = sqrt(d_head)"; "" if it has no explanation. */
const char *attn_clue_factor(const struct clue *c, double factor, char buf[64]);
size_t attn_clue_head_width(const struct clue *c);      /* 0: unknown */
size_t attn_clue_width(const struct clue *c);           /* of the stream; 0: unknown */
/* The heads that lie side by side in a context; false: it has no more than one. */
bool attn_clue_heads_apart(const struct clue *c, struct attn_pair *out);

/* clue_stream.c: norms, what is added, the ends. */
bool attn_clue_norm_left_out(struct clue *c);
bool attn_clue_norm_sum(struct clue *c);
bool attn_clue_epsilon(struct clue *c);
bool attn_clue_norm_kind(struct clue *c);
bool attn_clue_norm_weight(struct clue *c);
bool attn_clue_norm_slip(struct clue *c);               /* what the weights show of how it is computed */
bool attn_clue_norm_sample(struct clue *c);
bool attn_clue_norm_reads(struct clue *c);              /* another activation than on the other side */
bool attn_clue_sums(struct clue *c);                    /* each side is the sum of other terms */
bool attn_clue_added(struct clue *c);                   /* the difference is a term */
bool attn_clue_capped(struct clue *c);

/* clue_products.c: seen only with the weights. */
bool attn_clue_transposed(struct clue *c);
bool attn_clue_bias(struct clue *c);
bool attn_clue_tied(struct clue *c);
bool attn_clue_reads_norm(struct clue *c);              /* one side multiplies a norm, the other what it is made of */
bool attn_clue_reads_branch(struct clue *c);            /* ... what precedes attention, the other what follows */
bool attn_clue_other_rows(struct clue *c);              /* of the embedding */
bool attn_clue_embed_norm(struct clue *c);

/* clue_position.c */
bool attn_clue_rotary(struct clue *c);
bool attn_clue_rotated_offset(struct clue *c);

bool attn_clue_weight(struct clue *c);                  /* clue_weights.c: of two models */

/* Causes in attention, and of what a padded text or dropout changes (clue_attention.c). */
bool attn_clue_scores_capped(struct clue *c);
bool attn_clue_alibi(struct clue *c);
bool attn_clue_score_scale(struct clue *c);
bool attn_clue_undivided(struct clue *c, double factor);        /* scores of A are those of B times this */
bool attn_clue_blind(struct clue *c);
bool attn_clue_zero_mask(struct clue *c);
bool attn_clue_axis(struct clue *c);
bool attn_clue_hidden_late(struct clue *c);
bool attn_clue_padding(struct clue *c);
bool attn_clue_dropout(struct clue *c);
bool attn_clue_grouped(struct clue *c);
bool attn_clue_unswapped(struct clue *c);
bool attn_clue_by_number(struct clue *c);
bool attn_clue_exchanged(struct clue *c);
bool attn_clue_split(struct clue *c);
bool attn_clue_gate_exchanged(struct clue *c);
bool attn_clue_ahead(struct clue *c);

#endif
