/* corpus.h - a text as token ids, document by document.
 *
 * If the vocabulary has <|endoftext|>, each document ends with it.  The last part of a text is held out: it begins
 * with the first document that begins there or, in a text with a single document, with a line. */
#ifndef ATTN_TRAIN_CORPUS_H
#define ATTN_TRAIN_CORPUS_H

#include "attn.h"

struct attn_corpus {
    int32_t *ids; size_t n, room;
    size_t *end; size_t documents, end_room;            /* where each document ends, which is where the next begins */
};

/* Bytes of the text before the held-out part; all of it if that is 0 percent. */
size_t attn_corpus_cut(const char *text, size_t len, double percent);
/* Appends the documents of a text. */
int attn_corpus_add(struct attn_corpus *c, const struct attn_tokenizer *t, const char *text, size_t len, struct attn_err *err);
void attn_corpus_free(struct attn_corpus *c);                       /* zeroed is fine */
/* The document that contains the token at `at`. */
size_t attn_corpus_document(const struct attn_corpus *c, size_t at);

/* The id of <|endoftext|>; -1: the vocabulary has none. */
int attn_corpus_mark(int32_t *mark, const struct attn_tokenizer *t, struct attn_err *err);

#endif
