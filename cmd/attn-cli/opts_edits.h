/* opts_edits.h - what a command changes in the activations it computes: --edit, --edits, --ablate, --patch, --steer,
 * and the other text that values are taken from.  All commands share these options.
 *
 *     struct edits edits = {0};
 *     edits_open(&edits, &tokenizer, err)                      reads the options: before anything is computed
 *     edits_bind(&edits, model, tokens, cross, how, err)        binds them to a model and a text, and runs their
 *     sources
 *     attn_editor_observer(edits.editor)                       if edits.list is not NULL: before the observers that
 *     watch
 *     edits_close(&edits) */
#ifndef CLI_EDITS_H
#define CLI_EDITS_H

#include "attn_ask.h"
#include "input.h"
#include "say.h"
#include "table.h"

extern const struct option edit_options[], from_options[], compare_options[];
extern const struct pair edit_terms[];                  /* the grammar, for the help */
extern const char edit_title[];

struct edits {
    struct attn_edits *list;            /* NULL: nothing is changed */
    struct input input;                 /* the other text, with its tokens */
    struct attn_tokens *from;
    bool needs_from;                    /* set by a command that takes values from it without any edits */
    size_t rows;                        /* set by a command that continues the text: how many rows it has at most */
    struct attn_editor *editor;
    struct attn_compare *compare;       /* NULL: what they do to the next token is not asked for */
};

bool edits_given(void);                 /* whether an option asks for edits */
/* --patch's value, for a command whose other options may make it the name of what a grid takes from another text; it is
 * then no edit. */
int edits_take_patch(const char **name, struct attn_err *err);
/* Reads the options, and the other text if an edit takes values from it.  Opens *tokenizer for a text if it is NULL. */
int edits_open(struct edits *e, struct attn_tokenizer **tokenizer, struct attn_err *err);
/* Makes the editor of a model, with the kind of attention and the precision that the options say, tells it the one text
 * there is, and runs the sources.  Without edits it does nothing. */
enum edits_text {
    EDITS_TEXT, EDITS_PROMPT, EDITS_WINDOWS,            /* run as a whole, continued, or perhaps longer than n_ctx */
    EDITS_UNRUN                         /* not run at all: no sources are needed */
};
int edits_bind(struct edits *e, const struct attn_model *m, const struct attn_tokens *tokens,
               const struct attn_tokens *cross, enum edits_text how, struct attn_err *err);
/* Puts the editor's observer first of `list`, if there is one; returns how many. */
size_t edits_observe(const struct edits *e, struct attn_observer *list);
/* Makes the comparison with an unedited run, unless nothing is edited or predicted, or --no-compare is given. */
int edits_compare(struct edits *e, const struct attn_model *m, struct attn_err *err);
/* Prints what the edits would change, as bound with EDITS_UNRUN: --dry-run. */
int edits_print(const struct edits *e, struct attn_err *err);
/* One observer that edits and shows progress, for runs that take a single one besides their own. */
struct edits_and_progress { struct attn_observer edit, progress; };
struct attn_observer edits_and_progress(struct edits_and_progress *both, const struct edits *e, struct progress *p);
void edits_close(struct edits *e);      /* all zero is fine */

#endif
