/* tokenizer_json.h - Hugging Face's tokenizer.json, as far as it is byte-level BPE.
 *
 * An object: "model" holds "vocab" and "merges", "added_tokens" is found in the text first, and four components say
 * what happens around the model (tokenizer_steps.h).  Vocabulary and merges, which may take many megabytes, are read
 * in place; the rest becomes small trees.  "truncation" and "padding" concern batches of training and are ignored.
 * Whatever else would change a token is refused by name, and so is every unknown key. */
#ifndef ATTN_TEXT_TOKENIZER_JSON_H
#define ATTN_TEXT_TOKENIZER_JSON_H

#include "text/byte_level.h"

int attn_tokenizer_json_read(struct attn_byte_level **out, const struct attn_text_file *file, struct attn_err *err);

#endif
