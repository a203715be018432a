/* corpus.h - a text as token ids, document after document.
 *
 * Where the vocabulary has <|endoftext|> each document ends with it.  The last part of a text is held out:
 * it begins with the first document that begins in it, or, in a text of one document, with a line. */
#ifndef ATTN_TRAIN_CORPUS_H
#define ATTN_TRAIN_CORPUS_H

#include "attn.h"

struct attn_corpus {
    int32_t *ids; size_t n, room;
    size_t *end; size_t documents, end_room;            /* where each document ends; the next begins there */
};

/* Bytes of the text before what is held out; all of it when that is 0 percent. */
size_t attn_corpus_cut(const char *text, size_t len, double percent);
/* Goes on with the documents of a text. */
int attn_corpus_add(struct attn_corpus *c, const struct attn_tokenizer *t, const char *text, size_t len, struct attn_err *err);
void attn_corpus_free(struct attn_corpus *c);                       /* zeroed is fine */
/* The document that the token belongs to. */
size_t attn_corpus_document(const struct attn_corpus *c, size_t at);

/* The id of <|endoftext|>; -1: the vocabulary has none. */
int attn_corpus_mark(int32_t *mark, const struct attn_tokenizer *t, struct attn_err *err);

#endif
