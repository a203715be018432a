/* added.h - tokens that are found in a text before it is cut into pieces.
 *
 * Such as <|endoftext|>: their text is theirs alone, whatever the merges say.  At each place the
 * longest counts.  Those marked special are found only when the caller asks; unless he does, their text
 * is ordinary text, and no other token is looked for within it. */
#ifndef ATTN_IO_ADDED_H
#define ATTN_IO_ADDED_H

#include "attn.h"

struct attn_added_token {
    char *text; size_t len;             /* owned, not empty */
    int32_t id;
    bool special, lstrip, rstrip;       /* strip: white space on that side belongs to it */
};

/* Zeroed: none.  first: bytes they begin with; ordinary: some are not special. */
struct attn_added { struct attn_added_token *token; size_t n, room; bool first[256], ordinary; };
/* Takes t->text over, also on failure; false: no memory. */
bool attn_added_put(struct attn_added *a, const struct attn_added_token *t);
/* After the last put, before the first look-up. */
void attn_added_sort(struct attn_added *a);
void attn_added_free(struct attn_added *a);

/* Where a text has one; zeroed before the first call for a text, it carries on behind the last. */
struct attn_added_hit { const struct attn_added_token *token; size_t start, end, next; };
bool attn_added_find(const struct attn_added *a, const char *s, size_t len, bool special, struct attn_added_hit *hit);

#endif
