/* merge_words.h - bands of a run, merged from tokens into words, for sinks.
 *
 * What a word gives another is summed over the other's tokens and is the mean over its own: rows of weights still sum
 * to 1.  A vector of a word is the mean over its tokens: a context vector stays the mixture that the merged row says.
 * What means nothing after that (scores, queries, logits) is not merged but refused. */
#ifndef ATTN_SINKS_MERGE_WORDS_H
#define ATTN_SINKS_MERGE_WORDS_H

#include "text/whole_words.h"
#include "trace/trace.h"

struct attn_merger;
/* Borrows the words, of the rows and of the keys. */
int attn_merger_new(struct attn_merger **out, const struct attn_words *rows, const struct attn_words *keys,
                    struct attn_err *err);
void attn_merger_free(struct attn_merger *m);           /* NULL is fine */
bool attn_merger_takes(int act);        /* whether the activation can be merged */
/* The words that a band completes, as a band; *any false: it completes none.  Bands come as attn.h says.  Valid until
 * the next call. */
int attn_merger_add(struct attn_merger *m, struct attn_probe *out, bool *any, const struct attn_probe *p,
                    struct attn_err *err);
/* The same for a whole matrix: out[words, words of keys] from x[tokens, keys] or, with keys NULL, out[words, cols] from
 * x of [tokens, cols]. */
int attn_merge_matrix(float *out, const float *x, const struct attn_words *rows, const struct attn_words *keys,
                      size_t cols, struct attn_err *err);

#endif
