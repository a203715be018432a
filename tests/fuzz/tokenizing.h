/* tokenizing.h - what must hold of a tokenizer, whatever was in the file it was read from. */
#ifndef ATTN_TESTS_FUZZ_TOKENIZING_H
#define ATTN_TESTS_FUZZ_TOKENIZING_H

#include "fuzz.h"
#include "text/subword.h"

/* Reads a file of this name.  If it is one, tokens of a few texts lie within the text and have the ids that the shorter
 * way gives, and these have a text; else there is a message. */
void must_tokenize(const uint8_t *data, size_t size, const char *name,
                   int (*read)(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err));

#endif
