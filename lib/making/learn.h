/* learn.h - the rules of byte-level BPE, from the pieces of a text.
 *
 * Each byte begins as a token of its own.  Then, again and again, the two neighbouring tokens that are
 * most frequent in all pieces become one, wherever they are, from the left of each piece.  Of equally
 * frequent ones those come first whose left token has the lower id, then those whose right one has.
 * It ends with `tokens` of them, or when no two are neighbours twice, or make at most LONGEST bytes.
 *
 * Pieces are linked lists; what a rule joins changes the counts of its neighbours alone (couples.h), so
 * that all rules together take little longer than reading the pieces. */
#ifndef ATTN_MAKING_LEARN_H
#define ATTN_MAKING_LEARN_H

#include "io/merges.h"
#include "making/tally.h"

enum { ATTN_LEARN_LONGEST = 1024 };     /* bytes of a token: no text makes a vocabulary that is much longer than itself */

struct attn_learned {
    struct attn_strings token;          /* bytes; the first 256 in the order GPT-2 has them */
    struct attn_rule *rule; size_t n, room;                         /* two may make the same token */
};

int attn_learn(struct attn_learned *out, const struct attn_tally *tally, size_t tokens, struct attn_err *err);
void attn_learned_free(struct attn_learned *l);                     /* zeroed is fine */

#endif
