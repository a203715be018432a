/* describe_text.h - a tokenizer as JSON, from which a program that is not this one can encode: the page that computes
 * (picture/page/encode.js).
 *
 *     {"texts": ["...", ...] by rank, "labels": {"7": "..."} of those that are no UTF-8, "ids": null or by rank,
 *      "spaced": whether a space stands between two tokens, "unknown": -1 or an id,
 *      "by": "word", "drop", "lowercase", "chars", "lower": [[first, last, add], ...], "spaces": "..."
 *      "by": "bpe", ... or "by": null, "why": "what the page does not do"}
 *
 * Classes of characters are those of this program: strings of ranges as in a class of a regular expression,
 * "a-z0-9". */
#ifndef ATTN_TEXT_DESCRIBE_TEXT_H
#define ATTN_TEXT_DESCRIBE_TEXT_H

#include "base/out.h"

struct attn_tokenizer;
struct attn_subword;

void attn_tokenizer_describe(struct attn_out *out, const struct attn_tokenizer *t);

/* For the kinds of tokenizers: what follows "by", with the comma before it. */
void attn_describe_words(struct attn_out *out, const char *drop, bool lowercase, bool chars);
void attn_describe_subword(struct attn_out *out, const struct attn_subword *b);

#endif
