/* learn.h - learns the rules of byte-level BPE from the pieces of a text.
 *
 * Each byte begins as a token of its own.  Again and again the two neighbouring tokens that are most frequent in all
 * pieces are joined everywhere, from left to right in each piece.  Among equally frequent pairs the one with the lower
 * id on the left comes first, then the one with the lower id on the right.  It ends when there are `tokens` tokens, or
 * when no pair that makes at most LONGEST bytes occurs twice.
 *
 * Pieces are linked lists.  Applying a rule changes only the counts of neighbouring pairs, so that all rules together
 * take little longer than reading the pieces. */
#ifndef ATTN_MAKING_LEARN_H
#define ATTN_MAKING_LEARN_H

#include "base/strings.h"
#include "text/bpe.h"

/* The distinct pieces of a text, and how often each occurs, in the order of first occurrence. */
struct attn_tally { struct attn_strings piece; uint64_t *count; size_t room; };

/* Cuts the text, which must be UTF-8, as GPT-2 does, and counts its pieces. */
int attn_tally_add(struct attn_tally *t, const char *text, size_t len, struct attn_err *err);
void attn_tally_free(struct attn_tally *t);                         /* zeroed is fine */

enum { ATTN_LEARN_LONGEST = 1024 };     /* bytes of a token: keeps a vocabulary from being much longer than its text */

struct attn_learned {
    struct attn_strings token;          /* the bytes of each token; the first 256 in GPT-2's order */
    struct attn_rule *rule; size_t n, room;                         /* two rules may make the same token */
};

int attn_learn(struct attn_learned *out, const struct attn_tally *tally, size_t tokens, struct attn_err *err);
void attn_learned_free(struct attn_learned *l);                     /* zeroed is fine */

#endif
