/* merges.h - the rules of byte-pair encoding: which two tokens become one, and in what order.
 *
 * merges.txt may begin with a line "#version: ..."; then there is one rule a line: two tokens as the vocabulary
 * spells them, with one space between.  Lines may end in CR LF, which no token can spell.  Earlier rules are applied
 * first; of two rules for one pair the later one counts.  tokenizer.json has the same rules as an array of such
 * strings or of arrays of two strings.  Both tokens and what they make must be in the vocabulary. */
#ifndef ATTN_TEXT_MERGES_H
#define ATTN_TEXT_MERGES_H

#include "attn_tools.h"
#include "base/json.h"
#include "text/vocab.h"

#define ATTN_MERGES_NONE UINT32_MAX

struct attn_rule { int32_t left, right, id; };                      /* id: the token that the two become */
struct attn_merges {
    struct attn_rule *rule; size_t n, room;                         /* in order: a rule's rank is its index */
    uint32_t *slot; size_t slots;                                   /* 0: free; slots is a power of 2 */
    uint32_t low;                                                   /* the bits of a slot that hold rank + 1; the others
                                                                     * hold bits of the pair's hash, which saves most
                                                                     * vain look-ups */
    uint64_t seed;
};

int attn_merges_read(struct attn_merges *m, const struct attn_vocab *v, const char *text, size_t len,
                     const char *name, struct attn_err *err);
/* Reads the array that is the reader's next value. */
int attn_merges_take(struct attn_merges *m, const struct attn_vocab *v, struct attn_json *j, struct attn_err *err);
void attn_merges_free(struct attn_merges *m);                       /* zeroed is fine */

/* The rule for left and right; its rank is NONE if there is none.  m may be empty. */
struct attn_merge { uint32_t rank; int32_t id; };
struct attn_merge attn_merges_find(const struct attn_merges *m, int32_t left, int32_t right);

#endif
