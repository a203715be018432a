/* tokens.h - the tokenizers behind the public functions of attn.h: by words, or byte-level BPE.
 *
 * Only construction is here; `name` is the path of the vocabulary's file. */
#ifndef ATTN_TEXT_TOKENS_H
#define ATTN_TEXT_TOKENS_H

#include "text/by_word.h"
#include "text/byte_level.h"

/* Takes ownership of v, also on failure; copies the rule. */
int attn_tokenizer_word(struct attn_tokenizer **out, struct attn_vocab *v, const struct attn_word_rule *rule,
                        const char *name, struct attn_err *err);
/* Takes ownership of b, also on failure. */
int attn_tokenizer_bytes(struct attn_tokenizer **out, struct attn_byte_level *b, const char *name, struct attn_err *err);

#endif
