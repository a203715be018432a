/* editor.h - edits bound to a model and to the texts that run through it.
 *
 * An editor is made in steps, each of which finds what can be wrong as early as it can be known: names, heads, columns
 * and files when it is made; positions, tokens and numbers of rows when it is told a text; then its sources run; then
 * it edits.
 *
 *     attn_editor_new        edit_place.c, edit_source.c
 *     attn_editor_text       edit_rows.c
 *     attn_editor_start      edit_source.c runs the texts that values come from
 *     attn_editor_touches    touch.c lists what they change
 *     attn_editor_observer   editor.c finds the rows and cells of each band, apply.c changes them */
#ifndef ATTN_ASK_EDITOR_H
#define ATTN_ASK_EDITOR_H

#include <pthread.h>

#include "ask/edit_place.h"
#include "ask/edit_source.h"

struct attn_edited {                    /* a text that is edited */
    int32_t *ids; size_t n, room;       /* all of its tokens so far */
    size_t first;                       /* how many are before those of the coming pass, in a cache */
    size_t prompt;                      /* how many are the prompt */
    bool grows;                         /* it is a prompt, and more tokens will come */
    bool windows;                       /* it is longer than the context, and read in parts */
};

/* The rows and keys that an edit selects of text `seq`, kept until another one is asked for; and which row of its
 * source the one selected row gets, if rows do not correspond by position: otherwise SIZE_MAX. */
struct attn_chosen { size_t seq, T, Tk; bool valid; struct attn_ranges rows, keys; size_t source_row; };

struct attn_editor {
    struct attn_editor_opts o;
    struct attn_venue venue;
    struct attn_edit_reaches reaches;        /* in the order of the edits */
    size_t *first, *order;              /* [slots + 1] where the reaches of an activation begin in `order` */
    struct attn_sources *sources;
    bool started;                       /* they have run */
    struct attn_edited *text; size_t texts, text_room;      /* by number of the sentence; n 0: not told yet */
    struct attn_chosen *chosen;         /* [reaches] */
    int32_t *cross_ids;                 /* the tokens whose keys are attended to, if they are another text's */
    struct attn_range *cells; size_t cells_room;            /* scratch: cells of one row */
    size_t *list, *swaps, list_room;    /* scratch: keys that a query sees, where the kind picks some */
    pthread_mutex_t back;               /* held while a thread uses the scratch in attn_editor_backward */
};

/* The rows of a text that an activation has, and its keys. */
size_t attn_editor_rows(const struct attn_editor *e, const struct attn_edited *t, int act);
size_t attn_editor_keys(const struct attn_editor *e, const struct attn_edited *t);

/* edit_rows.c: what a reach selects of T rows and Tk keys of text seq. */
int attn_editor_choose(const struct attn_chosen **out, struct attn_editor *e, size_t reach, size_t seq, size_t T,
                       size_t Tk, struct attn_err *err);
/* Checks everything about a reach that depends on text seq. */
int attn_editor_check(struct attn_editor *e, size_t reach, size_t seq, struct attn_err *err);

/* apply.c: one row of an activation that is edited. */
struct attn_edited_row {
    const struct attn_edit *edit;
    float *x;
    int layer; size_t head, t;          /* t: position of the row */
    const struct attn_range *cell; size_t cells;        /* columns that are edited */
    size_t seen;                        /* uniform: how many keys the query sees */
    const float *given;                 /* the row of the source; NULL: none */
    size_t dv;                          /* columns of each head, where heads that lie side by side are edited one by
                                         * one; else 0 */
};
void attn_edit_apply(const struct attn_edited_row *r);
/* editor.c: finds the cells of a row that an edit changes, of `cols`; `width` is how many columns there are.  Only
 * those that the query sees change in scores and pattern: the others stay -inf and 0. */
int attn_editor_cells(struct attn_editor *e, struct attn_edited_row *row, const struct attn_edit_reach *r,
                      const struct attn_ranges *cols, size_t width, struct attn_err *err);
/* The same for gradients: x is the derivative by what the edit made, and becomes that by what it was before. */
void attn_edit_backward(const struct attn_edited_row *r);

/* editor.c: the coming pass has rows of text `seq`, which was told, from row `first` on: a cache has the others. */
int attn_editor_skip(struct attn_editor *e, size_t seq, size_t first, struct attn_err *err);
/* editor.c: the gradients of a band, after all of its edits, become those before them.  For a backward pass, whose
 * threads may call it at the same time for different heads. */
int attn_editor_backward(struct attn_editor *e, const struct attn_probe *p, float *gradients, struct attn_err *err);
/* Whether an edit reaches an activation; layer -1: outside the blocks. */
bool attn_editor_reaches(const struct attn_editor *e, int act, int layer);

#endif
