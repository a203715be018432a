/* words.h - the tokenizer by whole words.
 *
 * Characters of `drop` are removed, white space (Unicode's) separates words, letters may be lowercased.  Whatever is
 * left between two white spaces is a word, if anything, and is looked up.  An unknown word is an error that names it,
 * its position and the nearest known words, unless the vocabulary has a token for unknown words.  attn_vocab_build
 * splits a text in the same way, so that a text's words are always in the vocabulary built from it. */
#ifndef ATTN_TEXT_WORDS_H
#define ATTN_TEXT_WORDS_H

#include "model/config.h"
#include "text/tokens.h"

/* Takes ownership of v, also on failure; copies the rule and the name, which is the path of the vocabulary's file. */
int attn_tokenizer_word(struct attn_tokenizer **out, struct attn_vocab *v, const struct attn_word_rule *rule,
                        const char *name, struct attn_err *err);

#endif
