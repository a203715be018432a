/* contexts.h - which tokens a step of training reads.
 *
 * A context is a document, or a piece of at most n_ctx tokens of a longer one, and begins at position 0; where
 * documents are joined all of them count as one.  An epoch reads every context once, in a random order; a longer
 * document is cut at other places in each epoch.  All of it follows from the seed and the number of the context:
 * nothing else needs to be kept to go on later.  The last token of a document, which has nothing to predict, has no
 * target. */
#ifndef ATTN_TRAIN_CONTEXTS_H
#define ATTN_TRAIN_CONTEXTS_H

#include "train/corpus.h"

struct attn_span { size_t at, n; };     /* tokens of a corpus */

/* Sentences as train/grad.h takes them. */
struct attn_contexts {
    int32_t *ids, *targets; size_t n, room;             /* tokens */
    size_t *T, sentences;                               /* [room] */
    size_t N;                                           /* targets */
};

int attn_contexts_new(struct attn_contexts *c, size_t room, struct attn_err *err);
void attn_contexts_free(struct attn_contexts *c);                   /* zeroed is fine */
void attn_contexts_clear(struct attn_contexts *c);
/* Another sentence, for which there is room. */
void attn_contexts_add(struct attn_contexts *c, const struct attn_corpus *from, const struct attn_span *s, bool join);

/* One text that contexts are drawn from. */
struct attn_deck {
    const struct attn_corpus *corpus;
    size_t length;                      /* tokens of the longest context */
    bool join;
    uint64_t seed, epoch;               /* epoch: the one that is dealt */
    struct attn_span *context; size_t count;            /* of an epoch, the same number in each */
};

/* An error, which calls the text `name`, when it is shorter than a context and the token after it. */
int attn_deck_new(struct attn_deck *d, const struct attn_corpus *corpus, size_t length, bool join, uint64_t seed, const char *name,
                  struct attn_err *err);
void attn_deck_free(struct attn_deck *d);                           /* zeroed is fine */
/* Context number i of all epochs. */
struct attn_span attn_deck_at(struct attn_deck *d, uint64_t i);

#endif
