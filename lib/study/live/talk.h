/* talk.h - what is known between two questions: the model, the text that grew, the last run.
 *
 *     live.c      takes a question apart, and answers it or says why not
 *     opening.c   opens a model
 *     lists.c     lists what it, and the library, can be asked for
 *     typed.c     makes tokens of what is typed
 *     running.c   runs a text, with remembered.c, which keeps what a change leaves as it is
 *     layers.c    what each layer of it would predict
 *     ranks.c     what its heads do
 *     again.c     one layer once more: where a weight comes from, and what comes next without a head
 *     further.c   what goes beyond it: the next token, metrics, scores, documents */
#ifndef ATTN_LIVE_TALK_H
#define ATTN_LIVE_TALK_H

#include "attn_ask.h"
#include "base/out.h"
#include "live/asked.h"
#include "live/remembered.h"

/* What is typed, and its tokens.  Of a text that had tokens appended, the first `base` bytes alone are read as text. */
struct attn_typed {
    char *text; size_t len, base;
    bool ids;                           /* the text is a list of ids */
    int32_t *more; size_t n_more;       /* those appended */
    struct attn_tokens *read, *all;     /* of the base alone; of all, which borrow from it */
    int32_t *id;                        /* of all */
};
void attn_typed_free(struct attn_typed *t);             /* zeroed is fine */

/* The likeliest tokens at each position after each layer. */
struct attn_lens_row { struct attn_likely best[ATTN_COMPARED]; size_t n; };

struct attn_last {                      /* run that succeeded */
    bool there, generic;                /* generic: its bits */
    struct attn_typed typed;
    struct attn_plan plan;
    struct attn_select *select;         /* of "keep" */
    struct attn_edits *edits; struct attn_editor *editor;           /* NULL: none */
    struct attn_remembered *plain, *edited;   /* edited NULL: without edits */
    bool same_edits;                    /* as in the run before, and first rows stay as they are */
    struct attn_lens_row *lens; size_t lens_rows, lens_room;        /* [L, lens_room], of which rows are known */
};

struct attn_page_array { const float *x; size_t n; float *own; };

struct attn_talk {
    struct attn_model *model;           /* NULL: none is open */
    struct attn_info info;
    struct attn_tokenizer *tokenizer; struct attn_err no_tokenizer; /* NULL: there is none, and why */
    struct attn_labels *labels;         /* of ids; NULL: there are none */
    struct attn_last last;
    struct attn_sampler *sampler; struct attn_sampling sampling;
    struct attn_page_array *array; size_t n_arrays, arrays_room;
    const char *in; long at;            /* of an error: the member, and which of its entries; NULL, -1: unknown */
};

/* Each writes the members of its answer, from the first key on, without braces. */
typedef int attn_live_answering(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o,
                                struct attn_err *err);
attn_live_answering attn_live_open, attn_live_run, attn_live_tokens, attn_live_lens, attn_live_heads, attn_live_without,
                    attn_live_weight, attn_live_next, attn_live_metric, attn_live_score, attn_live_write;

/* lists.c */
void attn_live_lists(struct attn_out *o, const struct attn_talk *t);

/* typed.c: `t` becomes what "text", "ids" and "append" say; `before`: what was typed last. */
int attn_live_type(struct attn_typed *t, struct attn_talk *talk, const struct attn_live_asked *q,
                   const struct attn_typed *before, struct attn_err *err);
void attn_live_put_tokens(struct attn_out *o, const struct attn_tokens *tokens);
void attn_live_put_likely(struct attn_out *o, const struct attn_talk *t, const struct attn_likely *of, size_t n);

/* running.c */
void attn_last_free(struct attn_last *l);               /* zeroed is fine */
/* An activation of the last run, with its edits; NULL: it was not kept. */
const float *attn_last_at(const struct attn_last *l, int act, int layer);
const struct attn_remembered *attn_last_shown(const struct attn_last *l);      /* with its edits */
int attn_last_check(const struct attn_talk *t, struct attn_err *err);   /* whether there is one */
/* What a layer reads, before anybody edits it. */
const float *attn_last_reads(const struct attn_last *l, size_t layer);

/* live.c: gives an array its number, of n numbers that live until the next question. */
int attn_live_array(size_t *number, struct attn_talk *t, const float *x, size_t n, struct attn_err *err);
/* ... and makes one of zeros, which is freed then; NULL: no memory. */
float *attn_live_new_array(size_t *number, struct attn_talk *t, size_t n, struct attn_err *err);
/* The member that is at fault, if what comes fails. */
void attn_live_at(struct attn_talk *t, enum attn_live_member m, long at);

#endif
