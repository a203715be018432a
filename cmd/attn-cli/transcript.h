/* transcript.h - a prompt and its continuation as they read: tokens, and the text they make.
 *
 * Text comes token by token and is shown as soon as nothing can change it any more: not in the middle
 * of a character, and not where the stop text may be beginning. */
#ifndef CLI_TRANSCRIPT_H
#define CLI_TRANSCRIPT_H

#include "attn.h"

struct transcript {
    const struct attn_tokenizer *tokenizer;     /* NULL: there is no text, ids are shown */
    const char *stop;                   /* NULL: none */
    struct attn_token *tok; size_t n, room, prompt;     /* `prompt` of the n are the prompt's */
    char *text; size_t len, size;       /* of all tokens */
    size_t begin;                       /* where the continuation begins */
    size_t settled, shown;              /* bytes; without a text, `shown` counts tokens */
    bool stopped;                       /* the stop text begins at `settled` */
};

/* Zeroed but for tokenizer and stop.  The prompt's tokens stay the caller's; text: what they were made
 * from, NULL: ids.  room: the most tokens there will be. */
int transcript_start(struct transcript *t, const struct attn_tokens *prompt, const char *text, size_t len, size_t room,
                     struct attn_err *err);
/* One more token; `silent`: it adds nothing to the text. */
int transcript_add(struct transcript *t, int32_t id, bool silent, struct attn_err *err);
/* To standard output: what became settled since the last call; all that is left when `finally`. */
void transcript_show(struct transcript *t, bool finally);
/* The continuation without the stop text; NULL: there is no text. */
const char *transcript_continuation(const struct transcript *t, size_t *len);
void transcript_free(struct transcript *t);

#endif
