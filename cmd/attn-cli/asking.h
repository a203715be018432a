/* asking.h - what the commands that ask a model share: one text that is run and edited, metrics and tokens as they are typed. */
#ifndef CLI_ASKING_H
#define CLI_ASKING_H

#include "opts_edits.h"

/* A text and all that a question about it takes. */
struct asked {
    struct attn_model *model;
    struct attn_tokenizer *tokenizer;   /* NULL: there is none, and tokens are shown by their ids */
    struct attn_tokens *tokens;
    struct input in;
    struct edits edits;
    struct progress progress;
};
/* All but the edits.  Ids are labelled as --labels says, for an output of this format and path. */
int asked_open(struct asked *a, const struct command *c, const char *format, const char *path, struct attn_err *err);
int asked_edit(struct asked *a, struct attn_err *err);
/* Lists the observers of its run: what edits, and what shows progress if that is wanted; returns how many. */
size_t asked_observe(struct asked *a, struct attn_observer list[2], bool wanted);
void asked_close(struct asked *a);      /* all zero is fine */

/* The token of --target or --foil, with a note where the same word with a blank before it is one, too. */
int read_token(int32_t *id, const char *text, const struct attn_model *m, const struct attn_tokenizer *t, struct attn_err *err);
/* Binds a metric to a text of n tokens.  Opens the tokenizer of -m, if it is NULL, for a metric that names tokens by their
 * text. */
int bind_metric(struct attn_metric *m, const struct attn_model *model, struct attn_tokenizer **tokenizer, const int32_t *ids,
                size_t n, struct attn_err *err);

#endif
