/* tokens.h - text to ids and back by whole words.
 *
 * The public half is in attn.h; here is how a model makes its tokenizer out of a vocabulary and the
 * rule of its config. */
#ifndef ATTN_IO_TOKENS_H
#define ATTN_IO_TOKENS_H

#include "io/config.h"
#include "io/vocab.h"

/* Takes v over, also on failure; copies the rule.  name is the path of the vocabulary. */
int attn_tokenizer_word(struct attn_tokenizer **out, struct attn_vocab *v, const struct attn_word_rule *rule,
                        const char *name, struct attn_err *err);

#endif
