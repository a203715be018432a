/* answers.h - what the residual stream says of the next token: at each point (lens), and which part says how much of it
 * (attribution).
 *
 *     lens.c              applies the final norm and the output layer to the stream at every point
 *     lens_write.c        the table of it: text, json, csv, pictures
 *     attribute.c         takes a logit apart: every part of the stream times the frozen norm, times the token's
 *     direction
 *     attribute_write.c   the table of it
 *     document.c          what the tables have in common */
#ifndef ATTN_ANSWERS_ANSWERS_H
#define ATTN_ANSWERS_ANSWERS_H

#include "attn_ask.h"
#include "base/out.h"
#include "base/team.h"
#include "model/kind.h"
#include "model/model.h"
#include "sinks/sink.h"

/* ---- lens ---- */

struct attn_lens_cell {                 /* of one point and position; where there is no number, NaN, or 0 for rank */
    size_t n_top;
    double logit, logprob;              /* of the target */
    uint64_t rank;
    double kl, entropy;                 /* KL(final prediction || this one) */
};

struct attn_lens_point {
    int act, layer;
    char name[ATTN_NAME_MAX];
    float *x;                           /* [T, d] the residual stream there, as it flowed on */
};

struct attn_lens {
    const struct attn_model *model;
    const struct attn_tokens *tokens;
    const struct attn_lens_opts *o;
    size_t top;
    struct attn_lens_point *point; size_t n;
    struct attn_lens_cell *cell;        /* [n, T] */
    struct attn_likely *best;           /* [n, T, top] */
};
/* As attn_lens; into `to`, unless it is NULL. */
int attn_lens_into(struct attn_out *to, const struct attn_model *m, const struct attn_tokens *tokens,
                   const struct attn_lens_opts *o, struct attn_err *err);
int attn_lens_write(struct attn_out *o, const struct attn_lens *s, struct attn_err *err);

/* ---- attribution ---- */

struct attn_portion {
    char name[ATTN_NAME_MAX];           /* "L0H1" */
    int layer, head;                    /* -1: none */
    double value;
};

struct attn_attribution {
    const struct attn_model *model;
    const struct attn_tokens *tokens;
    const struct attn_attribute_opts *o;

    size_t pos;
    struct attn_portion *part; size_t n;
    struct attn_portion *neuron; size_t neurons;   /* the largest in size; head: which neuron */
    double sum, logit;
};
/* Runs the text and fills in what follows `o`, which attn_attribution_free frees. */
int attn_attribution_find(struct attn_attribution *a, struct attn_err *err);
void attn_attribution_free(struct attn_attribution *a);         /* not the struct itself */
int attn_portion_by_size(const void *a, const void *b);    /* for qsort: the largest in size first */
/* As attn_attribute; into `to`, unless it is NULL. */
int attn_attribute_into(struct attn_out *to, const struct attn_model *m, const struct attn_tokens *tokens,
                        const struct attn_attribute_opts *o, struct attn_err *err);
int attn_attribution_write(struct attn_out *o, const struct attn_attribution *a, struct attn_err *err);

/* ---- patching ---- */

/* As attn_patch_write; into `to`, unless it is NULL. */
int attn_patch_write_into(struct attn_out *to, const struct attn_patch *p, const struct attn_patch_report_opts *o,
                          struct attn_err *err);

/* ---- what they have in common ---- */

/* Names for rows or columns that are no tokens of a text, in the place of tokens. */
struct attn_named { struct attn_tokens tokens; char (*name)[ATTN_NAME_MAX]; };
/* without names; to be freed even if this fails */
int attn_named_new(struct attn_named *out, size_t n, struct attn_err *err);
void attn_named_set(struct attn_named *a, size_t i, int32_t id, const char *fmt,
                    ...) __attribute__((format(printf, 4, 5)));
void attn_named_free(struct attn_named *a);

/* What a document is about. */
struct attn_subject {
    const struct attn_model *model;
    const struct attn_tokens *tokens;
    const char *text; size_t text_len;
    struct attn_kind kind;
    const struct attn_tokenizer *tokenizer;
    const struct attn_edits *edits;     /* NULL: none */
    bool csv_safe;
};
/* The same as a sink is told it; it stays where it is, for it points into itself. */
struct attn_subject_job {
    struct attn_sink_job job; struct attn_info info; struct attn_kind_words kind; char digest[80];
};
int attn_subject_job(struct attn_subject_job *j, const struct attn_subject *r, struct attn_err *err);
/* Writes `{"version": ..., "tokens": [...]`, and "edits" if there are any: the beginning of a JSON document. */
int attn_subject_begin(struct attn_out *o, const struct attn_subject *r, struct attn_err *err);
/* `"id":5,"text":" is"`, the members of a token's object; as a token, to make a label of. */
void attn_subject_token(struct attn_out *o, const struct attn_subject *r, int32_t id);
struct attn_token attn_subject_spelled(const struct attn_subject *r, int32_t id);
void attn_subject_member(struct attn_out *o, const char *name, double x);     /* `,"name":x`; null if x is not finite */

bool attn_subject_is_table(const char *format);         /* of table/columns.h, for programs or a page */

#endif
