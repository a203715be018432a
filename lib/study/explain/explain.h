/* explain.h - the steps from tokens to a context vector, in words and numbers.
 *
 * Every number of an activation is the run's own (worked.c).  Only what a run does not announce is computed here: the
 * terms of sums, a vector before its rotation (by the run's own arithmetic), means, and the exponentials of the
 * softmax (in double precision); the text says so. */
#ifndef ATTN_EXPLAIN_H
#define ATTN_EXPLAIN_H

#include "attn_ask.h"
#include "attn_tools.h"
#include "compute/mask.h"
#include "explain/derivation.h"
#include "model/model.h"

/* ---- one cell of attention with everything it is made from, as a run announced it (worked.c) ----
 *
 * For the layer: what it reads, and the queries, keys and values of one head for all tokens.  For the query alone:
 * its row of dots, scores and pattern, and its context vector.  So memory is linear in the length of the text.  In
 * cross-attention, what the layer reads of the other text, its keys and values are kept as well. */

/* An activation [rows, cols]; dots, scores, pattern and context have only the query's row. */
struct attn_seen {
    double *x; size_t rows, cols;       /* x NULL: the model does not have it */
    double largest;                     /* magnitude of its finite numbers, which decides how many digits run prints */
};

struct attn_worked {
    const struct attn_model *model;
    const struct attn_tokens *tokens, *keys;    /* keys: the tokens attended to, others only in cross-attention */
    size_t layer, head, kv, query, key; /* kv: the key/value head that the head reads */
    size_t heaviest;                    /* the key with the largest weight */
    struct attn_kind kind;              /* of this layer, never ATTN_MODEL */
    double scale;                       /* in float32, but for numbers that are given */
    size_t *picked; size_t n_picked;    /* the keys the query sees, ascending, if the kind picks keys */
    struct attn_seen seen[ATTN_ACTS], other[ATTN_ACTS];         /* of the sentence; of the other text */
    double *joined;                     /* of numbers that are given, the query's contexts of all heads; NULL: none */
};

/* A token of the sentence or of the text it attends to. */
struct attn_spot { const struct attn_tokens *of; const struct attn_seen *seen; size_t t; };
struct attn_spot attn_worked_query(const struct attn_worked *w);
struct attn_spot attn_worked_key(const struct attn_worked *w);
bool attn_worked_cross(const struct attn_worked *w);   /* they belong to two texts */
/* Whether the run announced an activation: of numbers that are given (attend/attend.h), only what follows from them. */
bool attn_worked_has(const struct attn_worked *w, int act);

/* Runs the tokens and checks layer, head, query and key.  With key ATTN_KEY_LARGEST it takes the key with the largest
 * weight.  Model and tokens must outlive the result. */
int attn_worked_run(struct attn_worked *w, const struct attn_model *m, const struct attn_tokens *tokens,
                    const struct attn_explain_opts *o, struct attn_err *err);
void attn_worked_free(struct attn_worked *w);           /* zeroed is fine */

/* A row of what the layer reads of a token, and with how many digits after the point run prints it. */
const double *attn_spot_row(const struct attn_spot *s, int act);
int attn_spot_digits(const struct attn_spot *s, int act, int precision);

/* Row t of an activation, for k and v counted over the keys; an activation with one row gives that row for any t. */
const double *attn_worked_row(const struct attn_worked *w, int act, size_t t);
/* Tokens lo <= j < hi of a text; then the range of keys that the query may see, and whether it sees key j. */
struct attn_reach { const struct attn_tokens *of; size_t lo, hi; };
struct attn_reach attn_worked_sees(const struct attn_worked *w);
bool attn_worked_sees_key(const struct attn_worked *w, size_t j);
/* The number of digits after the point with which run prints the activation. */
int attn_worked_digits(const struct attn_worked *w, int act, int precision);

/* ---- the derivation ---- */

struct attn_explainer {
    struct attn_derivation d;
    const struct attn_worked *w;
    int precision;
    const char *run;                    /* the command line for the same input; NULL: unknown */
    const struct attn_edits *edits;     /* of the run; NULL: none */
    struct attn_kind asked;             /* to describe what differs from the model's own */
    bool all;                           /* nothing is abridged */
};

/* ---- shared by the steps (explain.c) ---- */

/* A part of a sentence, or a label, in the language of the derivation. */
static inline const char *tr(const struct attn_explainer *e, const char *english) __attribute__((format_arg(2)));
static inline const char *tr(const struct attn_explainer *e, const char *english)
{
    return attn_tr(e->d.language, english);
}
/* Says where a reader can find each number again: the last step. */
void attn_explain_places(struct attn_explainer *e);

/* The query's row of an activation, and with how many digits run prints the activation. */
static inline const double *attn_explain_query_row(const struct attn_explainer *e, int act)
{
    return attn_worked_row(e->w, act, e->w->query);
}

static inline int attn_explain_digits(const struct attn_explainer *e, int act)
{
    return attn_worked_digits(e->w, act, e->precision);
}


/* Of a long vector only the ends are shown: which of n numbers are shown, where the gap is marked, what is skipped. */
enum attn_showing { ATTN_SHOWN, ATTN_GAP, ATTN_PASSED };
enum attn_showing attn_explain_showing(const struct attn_explainer *e, size_t n, size_t i);
size_t attn_explain_left_out(const struct attn_explainer *e, size_t n);

/* The same for tokens; those that the explanation is about are always shown. */
enum attn_showing attn_explain_token_showing(const struct attn_explainer *e, struct attn_reach r, size_t t);
/* where a gap that begins at t ends */
size_t attn_explain_gap_end(const struct attn_explainer *e, struct attn_reach r, size_t t);

/* The cells of a vector: their number, the headings after `label`, the numbers. */
size_t attn_explain_cells(const struct attn_explainer *e, size_t n);
void attn_explain_columns(struct attn_explainer *e, size_t n, const char *label);
void attn_explain_row(struct attn_explainer *e, const double *x, size_t n, int digits);
void attn_explain_floats(struct attn_explainer *e, const float *x, size_t n, int digits);
/* For numbers that are not part of an activation. */
struct attn_number attn_explain_number(const struct attn_explainer *e, double x);

/* Whether a row of numbers that are given has no other name than its number. */
bool attn_spot_numbered(const struct attn_spot *s);
/* A token's name in a sentence, its text in quotes, "id 7" or "row 1", written to such a buffer. */
enum { ATTN_TOKEN_NAME = 256 };
const char *attn_explain_token(const struct attn_explainer *e, char buf[ATTN_TOKEN_NAME], const struct attn_spot *s);
/* The kind of attention that is asked for, as "window:2, scale none": options, as they are typed; or "". */
enum { ATTN_EXPLAIN_KIND = 2 * ATTN_KIND_NOTE };
const char *attn_explain_kind(const struct attn_explainer *e, char buf[ATTN_EXPLAIN_KIND]);
/* Adds a cell with a token's label. */
void attn_explain_token_cell(struct attn_explainer *e, const struct attn_token *t);

/* Takes the language, and refuses options that are wrong whatever is explained. */
int attn_explain_begin(struct attn_explainer *e, const struct attn_explain_opts *o, struct attn_err *err);
/* Writes the derivation in the format that the options ask for. */
int attn_explain_write(struct attn_explainer *e, const struct attn_explain_opts *o, struct attn_err *err);

extern const struct attn_formula attn_formula_layernorm, attn_formula_rmsnorm, attn_formula_rotation, attn_formula_dot,
    attn_formula_softmax, attn_formula_feature, attn_formula_mixture, attn_formula_projections, attn_formula_scaled,
    attn_formula_attention, attn_formula_causal, attn_formula_heads, attn_formula_renorm, attn_formula_dropout;

/* The whole way as a diagram, with shapes and the numbers of the query and the key (diagram.c). */
void attn_explain_diagram(struct attn_explainer *e);

/* ---- steps: from tokens to q and k (vectors.c) ---- */

void attn_explain_tokens(struct attn_explainer *e);
/* What the layer reads of a token: embedding, position, the result of the layers below, norm. */
int attn_explain_input(struct attn_explainer *e, const struct attn_spot *s, struct attn_err *err);
/* The query (ATTN_ACT_Q) or the key (ATTN_ACT_K) as sums of products, and its rotation. */
int attn_explain_vector(struct attn_explainer *e, int act, struct attn_err *err);

/* ---- steps: numbers that are given (given.c) ---- */

/* Of a model of numbers that are given, all of the steps. */
void attn_explain_given(struct attn_explainer *e);
/* A dot product, or a score, that is given; what a mask that is given does to the score: false where none is. */
void attn_explain_given_number(struct attn_explainer *e, int act);
bool attn_explain_given_mask(struct attn_explainer *e);
/* Whether masks come after the softmax, as --mask-weights has it. */
bool attn_explain_masks_late(const struct attn_explainer *e);
/* Scores that are divided by their sum, in place of the softmax. */
void attn_explain_given_sum(struct attn_explainer *e);

/* ---- steps: from q and k to the context vector (attention_weights.c, feature.c, context.c) ---- */

/* All of the steps to the weight that the kind of attention takes; then some of them alone. */
void attn_explain_weight(struct attn_explainer *e);
void attn_explain_dot(struct attn_explainer *e);
void attn_explain_scale(struct attn_explainer *e);
void attn_explain_mask(struct attn_explainer *e);
void attn_explain_softmax(struct attn_explainer *e);
void attn_explain_linear(struct attn_explainer *e);     /* in place of dot product, scale, mask and softmax */
void attn_explain_context(struct attn_explainer *e);

#endif
