/* worked.h - one cell of attention with everything it is made of, as a run told it.
 *
 * Of the layer: what it reads, queries, keys and values of one head for all tokens; of the query alone
 * its row of dots, scores and pattern, and its context vector.  So memory is linear in the text.  Where the sentence
 * looks at another text, what the layer reads of that, its keys and values are kept beside. */
#ifndef ATTN_WORKED_H
#define ATTN_WORKED_H

#include "compute/kind.h"
#include "model.h"

/* Of one activation [rows, cols]: of dots, scores, pattern and context the query's row alone. */
struct attn_seen {
    float *x; size_t rows, cols;        /* x NULL: the model does not have it */
    double largest;                     /* of the finite numbers of the whole matrix, as run prints it */
};

struct attn_worked {
    const struct attn_model *model;
    const struct attn_tokens *tokens, *keys;    /* keys: those looked at; the same ones but for cross-attention */
    size_t layer, head, kv, query, key; /* kv: the key/value head that serves the head */
    size_t heaviest;                    /* the key with the largest weight */
    struct attn_kind kind;              /* of this layer, never ATTN_MODEL */
    float scale;
    size_t *picked; size_t n_picked;    /* the keys the query sees, ascending, of kinds that pick some */
    struct attn_seen seen[ATTN_ACTS], other[ATTN_ACTS];         /* of the sentence, of the other text */
};

/* A token, of the sentence or of what it looks at. */
struct attn_spot { const struct attn_tokens *of; const struct attn_seen *seen; size_t t; };
struct attn_spot attn_worked_query(const struct attn_worked *w);
struct attn_spot attn_worked_key(const struct attn_worked *w);
bool attn_worked_cross(const struct attn_worked *w);   /* they are of two texts */

/* Runs the tokens; layer, head, query and key are checked.  key ATTN_KEY_LARGEST: the one with the largest weight.
 * Model and tokens must outlive it. */
int attn_worked_run(struct attn_worked *w, const struct attn_model *m, const struct attn_tokens *tokens,
                    const struct attn_explain_opts *o, struct attn_err *err);
void attn_worked_free(struct attn_worked *w);           /* zeroed is fine */

/* A row of what the layer reads of a token; the digits after the point that run prints that with. */
const float *attn_spot_row(const struct attn_spot *s, int act);
int attn_spot_digits(const struct attn_spot *s, int act, int precision);

/* Row t of an activation, of k and v for the keys; of those with one row, that row whatever t is. */
const float *attn_worked_row(const struct attn_worked *w, int act, size_t t);
/* Tokens lo <= j < hi of a text; here those between which the keys the query may look at are, and whether key j is one. */
struct attn_reach { const struct attn_tokens *of; size_t lo, hi; };
struct attn_reach attn_worked_sees(const struct attn_worked *w);
bool attn_worked_sees_key(const struct attn_worked *w, size_t j);
/* Digits after the point that run prints the activation with. */
int attn_worked_digits(const struct attn_worked *w, int act, int precision);

#endif
