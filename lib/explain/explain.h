/* explain.h - the steps from tokens to a context vector, in words and numbers.
 *
 * Every number of an activation is the run's own (worked.h).  What is computed here besides is what a run
 * does not announce: the terms of sums, a vector before its rotary turn (by the run's own arithmetic), means,
 * and the exponentials of the softmax (in double precision); the words say so. */
#ifndef ATTN_EXPLAIN_H
#define ATTN_EXPLAIN_H

#include "sinks/derivation.h"
#include "explain/worked.h"

struct attn_explainer {
    struct attn_derivation d;
    const struct attn_worked *w;
    int precision;
    const char *run;                    /* the command line for the same input; NULL: not known */
    struct attn_kind asked;             /* for the words about what is not the model's own */
    bool all;                           /* nothing is abridged */
};

/* ---- what the steps share (explain.c) ---- */

/* A long vector shows its ends: which of n numbers are shown, where the gap is said to be, what is passed over. */
enum attn_showing { ATTN_SHOWN, ATTN_GAP, ATTN_PASSED };
enum attn_showing attn_explain_showing(const struct attn_explainer *e, size_t n, size_t i);
size_t attn_explain_left_out(const struct attn_explainer *e, size_t n);

/* The same of tokens, of which those the explanation is about are shown in any case; the gap that begins at t ends
 * before gap_end. */
enum attn_showing attn_explain_token_showing(const struct attn_explainer *e, struct attn_reach r, size_t t);
size_t attn_explain_gap_end(const struct attn_explainer *e, struct attn_reach r, size_t t);

/* Cells of a vector: how many, headings after `label`, numbers. */
size_t attn_explain_cells(const struct attn_explainer *e, size_t n);
void attn_explain_columns(struct attn_explainer *e, size_t n, const char *label);
void attn_explain_row(struct attn_explainer *e, const float *x, size_t n, int digits);
/* A table of vectors of n numbers, and a token's row in it. */
void attn_explain_vectors(struct attn_explainer *e, size_t n);
void attn_explain_activation(struct attn_explainer *e, int act, const struct attn_spot *s, const char *label);
/* For numbers that are no activation. */
struct attn_number attn_explain_number(const struct attn_explainer *e, double x);

/* How a token is called in a sentence: "is" in its quotes, or token id 7; in one of these buffers. */
enum { ATTN_TOKEN_NAME = 256 };
const char *attn_explain_token(char buf[ATTN_TOKEN_NAME], const struct attn_spot *s);
/* A cell with its label. */
void attn_explain_token_cell(struct attn_explainer *e, const struct attn_token *t);

/* Options that are wrong whatever is explained. */
int attn_explain_check(const struct attn_explain_opts *o, struct attn_err *err);
/* Writes the derivation as the options say. */
int attn_explain_write(const struct attn_explainer *e, const struct attn_explain_opts *o, struct attn_err *err);

/* ---- steps: from tokens to q and k (input.c, product.c) ---- */

void attn_explain_tokens(struct attn_explainer *e);
/* What the layer reads of a token: embedding, position, what the layers below made of it, norm. */
int attn_explain_input(struct attn_explainer *e, const struct attn_spot *s, struct attn_err *err);
/* The query (ATTN_ACT_Q) or the key (ATTN_ACT_K) as product sums, and its rotary turn. */
int attn_explain_vector(struct attn_explainer *e, int act, struct attn_err *err);

/* ---- steps: from q and k to the context vector (weight.c, softmax.c, feature.c, context.c) ---- */

void attn_explain_dot(struct attn_explainer *e);
void attn_explain_scale(struct attn_explainer *e);
void attn_explain_mask(struct attn_explainer *e);
void attn_explain_softmax(struct attn_explainer *e);
void attn_explain_renorm(struct attn_explainer *e);
void attn_explain_features(struct attn_explainer *e);   /* linear: in place of the dot product ... */
void attn_explain_share(struct attn_explainer *e);      /* ... and of the softmax */
void attn_explain_dropout(struct attn_explainer *e);
void attn_explain_scaling(struct attn_explainer *e);
void attn_explain_context(struct attn_explainer *e);

#endif
