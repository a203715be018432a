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

struct attn_merge { uint64_t pair; uint32_t rank; int32_t id; };    /* rank NONE: a free slot */
struct attn_merges { struct attn_merge *slot; size_t n, slots; uint64_t seed; };    /* slots: a power of 2 */

int attn_merges_read(struct attn_merges *m, const struct attn_vocab *v, const char *text, size_t len,
                     const char *name, struct attn_err *err);
/* The array that is the reader's next value. */
int attn_merges_take(struct attn_merges *m, const struct attn_vocab *v, struct attn_json *j, struct attn_err *err);
void attn_merges_free(struct attn_merges *m);                       /* zeroed is fine */

/* The rule for left and right, of rank NONE when there is none; m may be empty. */
struct attn_merge attn_merges_find(const struct attn_merges *m, int32_t left, int32_t right);

#endif
