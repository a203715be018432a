/* added.h - tokens that are found in a text before it is cut into pieces, such as <|endoftext|>.
 *
 * Their text always becomes that token, whatever the merges say.  Where several match, the longest wins.  Tokens
 * marked special are found only when the caller asks; otherwise their text is ordinary text, within which no other
 * added token is looked for. */
#ifndef ATTN_TEXT_ADDED_H
#define ATTN_TEXT_ADDED_H

#include "attn.h"

struct attn_added_token {
    char *text; size_t len;             /* owned, not empty */
    int32_t id;
    bool special, lstrip, rstrip;       /* strip: the token includes white space on that side */
};

/* A zeroed struct is an empty set.  first: whether a token begins with that byte; ordinary: whether some are not
 * special. */
struct attn_added { struct attn_added_token *token; size_t n, room; bool first[256], ordinary; };
/* Takes ownership of t->text, also on failure; false: no memory. */
bool attn_added_put(struct attn_added *a, const struct attn_added_token *t);
/* Call it after the last put and before the first search. */
void attn_added_sort(struct attn_added *a);
void attn_added_free(struct attn_added *a);

/* A match in a text.  It is zeroed before the first call for a text; each call continues after the last match. */
struct attn_added_hit { const struct attn_added_token *token; size_t start, end, next; };
bool attn_added_find(const struct attn_added *a, const char *s, size_t len, bool special, struct attn_added_hit *hit);

#endif
