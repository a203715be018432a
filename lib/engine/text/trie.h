/* trie.h - which of many strings a text begins with.
 *
 * The children of a node lie side by side, in the order of their bytes.  Node 0 is the root.  Where only one string
 * goes on, it takes no further nodes: the rest of it is kept as text. */
#ifndef ATTN_TEXT_TRIE_H
#define ATTN_TEXT_TRIE_H

#include "base/strings.h"

enum { ATTN_TRIE_MOST = 16 << 20 };     /* bytes of strings, each perhaps a node; 256,000 words have 3 million */

/* value: -1 if no string ends here.  table: 1 + which one it has, 0: none.  A node without children has the rest of its
 * string, `table` bytes of the pool from `child` on. */
struct attn_trie_node { uint32_t child; int32_t value; uint16_t children, table; };
struct attn_trie {
    struct attn_trie_node *node; unsigned char *byte;               /* [n]: the byte that leads to each node */
    size_t n, room, byte_room;
    char *rest; size_t rests, rest_room;                            /* the pool */
    uint32_t first[256];                /* the root's children by byte; 0: there is none */
    uint32_t (*table)[256]; size_t tables, table_room;              /* the same for nodes with many children */
};

/* Zeroed holds nothing.  Strings must not be empty; of equal ones the last counts.  false: no memory, or more
 * than ATTN_TRIE_MOST bytes of strings. */
bool attn_trie_make(struct attn_trie *t, const struct attn_str_view *s, const int32_t *value, size_t n);
void attn_trie_free(struct attn_trie *t);

/* The child of a node; 0 if it has none for that byte. */
static inline uint32_t attn_trie_child(const struct attn_trie *t, uint32_t node, unsigned char c)
{
    if (node == 0)
        return t->first[c];
    const struct attn_trie_node *n = &t->node[node];
    size_t lo = n->child, hi = lo + n->children;
    if (n->children && n->table)
        return t->table[n->table - 1][c];
    while (hi - lo > 8) {
        size_t middle = lo + (hi - lo) / 2;
        if (t->byte[middle] <= c)
            lo = middle;
        else
            hi = middle;
    }
    for (; lo < hi; lo++)
        if (t->byte[lo] == c)
            return (uint32_t)lo;
    return 0;
}

/* The node to which *at in s[0..len) leads, *at < len; 0 if there is none.  *at moves behind the bytes it read. */
static inline uint32_t attn_trie_step(const struct attn_trie *t, uint32_t node, const char *s, size_t len, size_t *at)
{
    uint32_t k = attn_trie_child(t, node, (unsigned char)s[(*at)++]);
    const struct attn_trie_node *n = &t->node[k];
    if (k == 0 || n->children || !n->table)
        return k;
    if (len - *at < n->table || memcmp(s + *at, t->rest + n->child, n->table) != 0)
        return 0;
    *at += n->table;
    return k;
}

/* The value of the longest string that s begins with, and its length; -1 if there is none. */
int32_t attn_trie_longest(const struct attn_trie *t, const char *s, size_t len, size_t *found);

#endif
