/* explain.h - the steps from tokens to a context vector, in words and numbers.
 *
 * Every number of an activation is the run's own (worked.h).  Only what a run does not announce is computed here: the
 * terms of sums, a vector before its rotation (by the run's own arithmetic), means, and the exponentials of the
 * softmax (in double precision); the text says so. */
#ifndef ATTN_EXPLAIN_H
#define ATTN_EXPLAIN_H

#include "sinks/derivation.h"
#include "explain/worked.h"

struct attn_explainer {
    struct attn_derivation d;
    const struct attn_worked *w;
    int precision;
    const char *run;                    /* the command line for the same input; NULL: unknown */
    struct attn_kind asked;             /* to describe what differs from the model's own */
    bool all;                           /* nothing is abridged */
};

/* ---- shared by the steps (explain.c) ---- */

/* Of a long vector only the ends are shown: which of n numbers are shown, where the gap is marked, what is skipped. */
enum attn_showing { ATTN_SHOWN, ATTN_GAP, ATTN_PASSED };
enum attn_showing attn_explain_showing(const struct attn_explainer *e, size_t n, size_t i);
size_t attn_explain_left_out(const struct attn_explainer *e, size_t n);

/* The same for tokens; those that the explanation is about are always shown.  A gap that begins at t ends before
 * attn_explain_gap_end. */
enum attn_showing attn_explain_token_showing(const struct attn_explainer *e, struct attn_reach r, size_t t);
size_t attn_explain_gap_end(const struct attn_explainer *e, struct attn_reach r, size_t t);

/* The cells of a vector: their number, the headings after `label`, the numbers. */
size_t attn_explain_cells(const struct attn_explainer *e, size_t n);
void attn_explain_columns(struct attn_explainer *e, size_t n, const char *label);
void attn_explain_row(struct attn_explainer *e, const float *x, size_t n, int digits);
/* Begin a table of vectors of n numbers; add a token's row to it. */
void attn_explain_vectors(struct attn_explainer *e, size_t n);
void attn_explain_activation(struct attn_explainer *e, int act, const struct attn_spot *s, const char *label);
/* For numbers that are not part of an activation. */
struct attn_number attn_explain_number(const struct attn_explainer *e, double x);

/* A token's name in a sentence, its text in quotes or "token id 7", written to such a buffer. */
enum { ATTN_TOKEN_NAME = 256 };
const char *attn_explain_token(char buf[ATTN_TOKEN_NAME], const struct attn_spot *s);
/* Adds a cell with a token's label. */
void attn_explain_token_cell(struct attn_explainer *e, const struct attn_token *t);

/* Refuses options that are wrong whatever is explained. */
int attn_explain_check(const struct attn_explain_opts *o, struct attn_err *err);
/* Writes the derivation in the format that the options ask for. */
int attn_explain_write(const struct attn_explainer *e, const struct attn_explain_opts *o, struct attn_err *err);

/* ---- steps: from tokens to q and k (input.c, product.c) ---- */

void attn_explain_tokens(struct attn_explainer *e);
/* What the layer reads of a token: embedding, position, the result of the layers below, norm. */
int attn_explain_input(struct attn_explainer *e, const struct attn_spot *s, struct attn_err *err);
/* The query (ATTN_ACT_Q) or the key (ATTN_ACT_K) as sums of products, and its rotation. */
int attn_explain_vector(struct attn_explainer *e, int act, struct attn_err *err);

/* ---- steps: from q and k to the context vector (weight.c, softmax.c, feature.c, context.c) ---- */

void attn_explain_dot(struct attn_explainer *e);
void attn_explain_scale(struct attn_explainer *e);
void attn_explain_mask(struct attn_explainer *e);
void attn_explain_softmax(struct attn_explainer *e);
void attn_explain_renorm(struct attn_explainer *e);
void attn_explain_features(struct attn_explainer *e);   /* linear attention: replaces the dot product ... */
void attn_explain_share(struct attn_explainer *e);      /* ... and the softmax */
void attn_explain_dropout(struct attn_explainer *e);
void attn_explain_scaling(struct attn_explainer *e);
void attn_explain_context(struct attn_explainer *e);

#endif
