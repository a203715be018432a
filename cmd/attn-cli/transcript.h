/* transcript.h - a prompt and its continuation: the tokens, and the text they make.
 *
 * The text grows token by token.  It is shown as soon as no later token can change it: never half a character, and
 * nothing that may be the beginning of the stop text. */
#ifndef CLI_TRANSCRIPT_H
#define CLI_TRANSCRIPT_H

#include "attn_tools.h"

struct transcript {
    const struct attn_tokenizer *tokenizer;     /* NULL: no text, ids are shown */
    const struct attn_labels *labels;   /* by id, in its place: words; NULL: none */
    const char *stop;                   /* NULL: none */
    struct attn_token *tok; size_t n, room, prompt;     /* the first `prompt` of the n are the prompt's */
    char *text; size_t len, size;       /* of all tokens */
    size_t begin;                       /* offset of the continuation */
    size_t final, shown;                /* bytes that can be shown, were shown; without a text, `shown` counts tokens */
    bool stopped;                       /* the stop text was found, at `final` */
};

/* t is zeroed but for tokenizer, labels and stop.  The prompt's tokens remain the caller's.  text: the prompt's text,
 * NULL if ids were given. room: the most tokens there will be. */
int transcript_start(struct transcript *t, const struct attn_tokens *prompt, const char *text, size_t len, size_t room,
                     struct attn_err *err);
/* Adds a token; a `silent` one adds nothing to the text. */
int transcript_add(struct transcript *t, int32_t id, bool silent, struct attn_err *err);
/* Prints what has become final since the last call; if `finally`, all that is left. */
void transcript_show(struct transcript *t, bool finally);
/* The continuation without the stop text; NULL if there is no text. */
const char *transcript_continuation(const struct transcript *t, size_t *len);
void transcript_free(struct transcript *t);

#endif
