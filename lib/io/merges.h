/* merges.h - which two tokens become one, and in what order.
 *
 * merges.txt is "#version: ..." on the first line, which may be missing, then a rule a line: two
 * tokens as the vocabulary spells them with one space between; lines may end in CR LF, which no
 * token can spell.  Earlier rules go first; of two rules for one pair the later counts.  tokenizer.json
 * has the same rules as an array of such strings or of arrays of two strings.  Both tokens and what
 * they make must be in the vocabulary. */
#ifndef ATTN_IO_MERGES_H
#define ATTN_IO_MERGES_H

#include "io/json.h"
#include "io/vocab.h"

#define ATTN_MERGES_NONE UINT32_MAX

struct attn_rule { int32_t left, right, id; };                      /* id: what the two become */
struct attn_merges {
    struct attn_rule *rule; size_t n, room;                         /* in order: the rank of a rule is its place */
    uint32_t *slot; size_t slots;                                   /* 0: free; slots is a power of 2 */
    uint32_t low;                                                   /* the bits of a slot that are a rank + 1; the others
                                                                     * are of the pair's hash, so that few rules are
                                                                     * looked at in vain */
    uint64_t seed;
};

int attn_merges_read(struct attn_merges *m, const struct attn_vocab *v, const char *text, size_t len,
                     const char *name, struct attn_err *err);
/* The array that is the reader's next value. */
int attn_merges_take(struct attn_merges *m, const struct attn_vocab *v, struct attn_json *j, struct attn_err *err);
void attn_merges_free(struct attn_merges *m);                       /* zeroed is fine */

/* What makes a table of the rules read; false: no memory. */
bool attn_merges_append(struct attn_merges *m, const struct attn_rule *rule);
bool attn_merges_index(struct attn_merges *m);

/* The rule for left and right, of rank NONE when there is none; m may be empty. */
struct attn_merge { uint32_t rank; int32_t id; };
struct attn_merge attn_merges_find(const struct attn_merges *m, int32_t left, int32_t right);

#endif
