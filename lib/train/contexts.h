/* contexts.h - which tokens a step of training reads: from a text to token ids, from these to contexts.
 *
 * If the vocabulary has <|endoftext|>, each document of a text ends with it.  The last part of a text is held out: it
 * begins with the first document that begins there or, in a text with a single document, with a line.
 *
 * A context is a document, or a piece of at most n_ctx tokens of a longer one, and begins at position 0; if documents
 * are joined, all of them count as one.  An epoch reads every context once, in random order; a longer document is cut
 * at different positions in each epoch.  All of this follows from the seed and the context's number, so that nothing
 * else needs to be saved.  The last token of a document has nothing to predict and so no target. */
#ifndef ATTN_TRAIN_CONTEXTS_H
#define ATTN_TRAIN_CONTEXTS_H

#include "attn.h"

/* A text as token ids, document by document. */
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

/* ---- contexts ---- */

struct attn_token_range { size_t at, n; };     /* a range of tokens of a corpus */

/* Sentences in the form that gradient/grad.h takes. */
struct attn_contexts {
    int32_t *ids, *targets; size_t n, room;             /* tokens */
    size_t *T, seqs;                                    /* [room] */
    size_t N;                                           /* targets */
};

int attn_contexts_new(struct attn_contexts *c, size_t room, struct attn_err *err);
void attn_contexts_free(struct attn_contexts *c);                   /* zeroed is fine */
void attn_contexts_clear(struct attn_contexts *c);
/* Adds a sentence, for which there must be room. */
void attn_contexts_add(struct attn_contexts *c, const struct attn_corpus *from, const struct attn_token_range *s, bool join);

/* A text from which contexts are drawn. */
struct attn_deck {
    const struct attn_corpus *corpus;
    size_t length;                      /* tokens of the longest context */
    bool join;
    uint64_t seed, epoch;               /* epoch: the current one */
    struct attn_token_range *context; size_t count;            /* of the current epoch; the count is the same in each */
};

/* Fails, naming the text as `name`, if it is shorter than one context and the token after it. */
int attn_deck_new(struct attn_deck *d, const struct attn_corpus *corpus, size_t length, bool join, uint64_t seed,
                  const char *name, struct attn_err *err);
void attn_deck_free(struct attn_deck *d);                           /* zeroed is fine */
/* Context i, counted over all epochs. */
struct attn_token_range attn_deck_at(struct attn_deck *d, uint64_t i);

#endif
