/* worked.h - one cell of attention with everything it is made from, as a run announced it.
 *
 * For the layer: what it reads, and the queries, keys and values of one head for all tokens.  For the query alone:
 * its row of dots, scores and pattern, and its context vector.  So memory is linear in the length of the text.  In
 * cross-attention, what the layer reads of the other text, its keys and values are kept as well. */
#ifndef ATTN_WORKED_H
#define ATTN_WORKED_H

#include "compute/kind.h"
#include "model/model.h"

/* An activation [rows, cols]; dots, scores, pattern and context have only the query's row. */
struct attn_seen {
    float *x; size_t rows, cols;        /* x NULL: the model does not have it */
    double largest;                     /* magnitude among the finite numbers of the matrix; decides how many digits run prints */
};

struct attn_worked {
    const struct attn_model *model;
    const struct attn_tokens *tokens, *keys;    /* keys: the tokens attended to; the same ones except in cross-attention */
    size_t layer, head, kv, query, key; /* kv: the key/value head that the head reads */
    size_t heaviest;                    /* the key with the largest weight */
    struct attn_kind kind;              /* of this layer, never ATTN_MODEL */
    float scale;
    size_t *picked; size_t n_picked;    /* the keys the query sees, ascending, if the kind picks keys */
    struct attn_seen seen[ATTN_ACTS], other[ATTN_ACTS];         /* of the sentence; of the other text */
};

/* A token of the sentence or of the text it attends to. */
struct attn_spot { const struct attn_tokens *of; const struct attn_seen *seen; size_t t; };
struct attn_spot attn_worked_query(const struct attn_worked *w);
struct attn_spot attn_worked_key(const struct attn_worked *w);
bool attn_worked_cross(const struct attn_worked *w);   /* they belong to two texts */

/* Runs the tokens and checks layer, head, query and key.  With key ATTN_KEY_LARGEST it takes the key with the largest
 * weight.  Model and tokens must outlive the result. */
int attn_worked_run(struct attn_worked *w, const struct attn_model *m, const struct attn_tokens *tokens,
                    const struct attn_explain_opts *o, struct attn_err *err);
void attn_worked_free(struct attn_worked *w);           /* zeroed is fine */

/* A row of what the layer reads of a token, and with how many digits after the point run prints it. */
const float *attn_spot_row(const struct attn_spot *s, int act);
int attn_spot_digits(const struct attn_spot *s, int act, int precision);

/* Row t of an activation, for k and v counted over the keys; an activation with one row gives that row for any t. */
const float *attn_worked_row(const struct attn_worked *w, int act, size_t t);
/* Tokens lo <= j < hi of a text; then the range of keys that the query may see, and whether it sees key j. */
struct attn_reach { const struct attn_tokens *of; size_t lo, hi; };
struct attn_reach attn_worked_sees(const struct attn_worked *w);
bool attn_worked_sees_key(const struct attn_worked *w, size_t j);
/* The number of digits after the point with which run prints the activation. */
int attn_worked_digits(const struct attn_worked *w, int act, int precision);

#endif
