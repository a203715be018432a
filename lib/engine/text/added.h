/* added.h - tokens that are found before a text is cut into pieces, such as <|endoftext|>.
 *
 * Their text always becomes that token, whatever the model says.  Where several match, the longest wins; what a match
 * covers is not searched again, even if it is rejected.  Tokens marked special are found only when the caller asks;
 * otherwise their text is ordinary text. */
#ifndef ATTN_TEXT_ADDED_H
#define ATTN_TEXT_ADDED_H

#include "text/trie.h"

enum { ATTN_ADDED_LONGEST = 1 << 10 };  /* bytes of one, so that a search takes linear time */

struct attn_added_token {
    char *text; size_t len;             /* owned, not empty */
    int32_t id;                         /* others may have the same one, */
    size_t order;                       /* and the last of them in this order is how the id reads */
    bool special, lstrip, rstrip;       /* strip: the token includes white space on that side */
    bool word;                          /* only where no character of a word is beside it */
};

/* A zeroed struct is an empty set.  ordinary: whether some are not special. */
struct attn_added { struct attn_added_token *token; size_t n, room; bool ordinary; struct attn_trie trie; };

/* Takes ownership of t->text, also on failure; false: no memory. */
bool attn_added_put(struct attn_added *a, const struct attn_added_token *t);
/* After the last put and before the first search; false: no memory. */
bool attn_added_index(struct attn_added *a);
void attn_added_free(struct attn_added *a);

/* A match in a text, zeroed before the first call for it; each call goes on after the last match.  start and end
 * include the white space. */
struct attn_hit { const struct attn_added_token *token; size_t start, end, next; };
bool attn_added_next(const struct attn_added *a, const char *s, size_t len, bool special, struct attn_hit *hit);

#endif
