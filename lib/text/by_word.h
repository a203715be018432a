/* by_word.h - text to ids by whole words.
 *
 * The text is split as described in words.h, and each word is looked up.  An unknown word is an error that names it,
 * its position and the nearest known words, unless the vocabulary has a token for unknown words. */
#ifndef ATTN_TEXT_BY_WORD_H
#define ATTN_TEXT_BY_WORD_H

#include "model/config.h"
#include "text/spans.h"
#include "text/vocab.h"

struct attn_by_word {
    struct attn_vocab *vocab;
    char *name, *drop;                  /* name: the path of the vocabulary; drop: characters to drop or NULL */
    bool lowercase;
    int32_t unknown;                    /* -1: an unknown word is an error */
};

/* Takes ownership of v, also on failure; copies the rule and the name. */
int attn_by_word_new(struct attn_by_word **out, struct attn_vocab *v, const struct attn_word_rule *rule, const char *name,
                     struct attn_err *err);
void attn_by_word_free(struct attn_by_word *w);                     /* NULL is fine */

int attn_by_word_encode(struct attn_spans *out, const struct attn_by_word *w, const char *text, size_t len,
                        struct attn_err *err);

#endif
