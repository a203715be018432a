/* session.h - the model, the text and the edits that a command works with.  Each command opens them in the order in
 * which a user wants to hear what is wrong: what was typed, the model, its text, what is to be changed; all of it is
 * closed together.
 *
 *     struct session s = {0};
 *     session_open(&s, &lens_command, format, path, how, err)      or its steps, with questions of a command between
 *     them
 *     session_edit(&s, EDITS_TEXT, err)                            once it is known what is asked
 *     n = session_observe(&s, list, true)
 *     session_close(&s) */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "opts_edits.h"

struct session {
    struct attn_model *model;
    struct attn_tokenizer *tokenizer;   /* NULL: there is none, and tokens are shown by their ids */
    struct input in, other;             /* other: the text of --cross */
    struct attn_tokens *tokens, *cross; /* cross NULL: there is no other text */
    struct edits edits;
    struct progress progress;
};

enum {
    SESSION_CROSSES = 1,                /* --cross is an option of the command */
    SESSION_SPELLS = 2,                 /* the tokenizer is opened for ids, too, if there is one */
    SESSION_EMPTY = 4                   /* a text without tokens is no error yet */
};
/* All but the edits: the inputs, the model, the tokens of both texts, which are labelled as --labels says for an output
 * of this format and path. */
int session_open(struct session *s, const struct command *c, const char *format, const char *path, unsigned how,
                 struct attn_err *err);
int session_read(struct session *s, unsigned how, struct attn_err *err);        /* the inputs */
int session_encode(struct session *s, const char *format, const char *path, unsigned how, struct attn_err *err);

int session_edit(struct session *s, enum edits_text how, struct attn_err *err);
/* Lists the observers of its run: what edits, and what shows progress if that is wanted; returns how many. */
size_t session_observe(struct session *s, struct attn_observer list[2], bool wanted);
void session_close(struct session *s);  /* all zero is fine */

#endif
