/* trie.c - strings are sorted by their first sixteen bytes as numbers, then the trie is laid out level by level: the
 * strings below a node are neighbours in that order. */
#include "text/trie.h"

#include <endian.h>
#include <stdlib.h>

#include "base/grow.h"

enum {
    HEAD = 16, AHEAD = 12,              /* AHEAD: values are prefetched before they are used */
    WIDE = 16, TABLES = 1024,           /* children that make a node wide; most tables */
    MOST = 16 << 20                     /* bytes of strings: each may take a node; vocabularies of 256,000 have 3 million */
};

/* head: the first sixteen bytes, eight and eight; at: which string. */
struct key { uint64_t head[2]; uint32_t at, len; };
struct below { uint32_t lo, hi; uint32_t depth; };                  /* the strings below a node, which agree in `depth` bytes */

struct maker {
    struct attn_trie *t;
    const struct attn_slice *s;
    const int32_t *value;
    struct key *key, *other; size_t n;
    struct below *below; size_t below_room;                         /* [t->n] */
};

static uint64_t head_of(const struct attn_slice *s, size_t from)
{
    uint64_t head = 0;
    if (s->len >= from + 8) {
        memcpy(&head, s->s + from, 8);
        return be64toh(head);
    }
    for (size_t i = from; i < s->len; i++)
        head |= (uint64_t)(unsigned char)s->s[i] << (56 - 8 * (i - from));
    return head;
}

/* Sorts by one byte of the heads, keeping the order of those that agree. */
static void sort_byte(struct maker *m, unsigned shift)
{
    size_t count[257] = {0};
    for (size_t i = 0; i < m->n; i++)
        count[(m->key[i].head[0] >> shift & 0xFF) + 1]++;
    for (size_t i = 1; i < 257; i++)
        count[i] += count[i - 1];
    for (size_t i = 0; i < m->n; i++)
        m->other[count[m->key[i].head[0] >> shift & 0xFF]++] = m->key[i];
    struct key *sorted = m->other;
    m->other = m->key;
    m->key = sorted;
}

static int compare_strings(const struct maker *m, const struct key *a, const struct key *b)
{
    if (a->head[1] != b->head[1])
        return a->head[1] < b->head[1] ? -1 : 1;
    const struct attn_slice *x = &m->s[a->at], *y = &m->s[b->at];
    size_t len = x->len < y->len ? x->len : y->len;
    int c = memcmp(x->s, y->s, len);
    return c ? c : x->len != y->len ? (x->len > y->len) - (x->len < y->len) : (a->at > b->at) - (a->at < b->at);
}

/* Merges two sorted neighbours, or sorts a range whose heads agree. */
static void sort_range(struct maker *m, size_t lo, size_t hi)
{
    size_t middle = lo + (hi - lo) / 2;
    if (hi - lo < 2)
        return;
    sort_range(m, lo, middle);
    sort_range(m, middle, hi);
    memcpy(m->other + lo, m->key + lo, (hi - lo) * sizeof *m->key);
    for (size_t i = lo, a = lo, b = middle; i < hi; i++) {
        bool left = b == hi || (a < middle && compare_strings(m, &m->other[a], &m->other[b]) <= 0);
        m->key[i] = m->other[left ? a++ : b++];
    }
}

static void sort(struct maker *m)
{
    for (unsigned shift = 0; shift < 64; shift += 8)
        sort_byte(m, shift);
    for (size_t lo = 0, hi; lo < m->n; lo = hi) {
        for (hi = lo + 1; hi < m->n && m->key[hi].head[0] == m->key[lo].head[0]; hi++)
            ;
        sort_range(m, lo, hi);
    }
}

static bool add_node(struct maker *m, unsigned char byte, uint32_t lo, uint32_t hi, uint32_t depth)
{
    struct attn_trie *t = m->t;
    if (t->n >= UINT32_MAX)
        return false;
    struct attn_trie_node *node = attn_grow(t->node, &t->room, t->n + 1, sizeof *node);
    if (node)
        t->node = node;
    unsigned char *bytes = attn_grow(t->byte, &t->byte_room, t->n + 1, 1);
    if (bytes)
        t->byte = bytes;
    struct below *below = attn_grow(m->below, &m->below_room, t->n + 1, sizeof *below);
    if (below)
        m->below = below;
    if (!node || !bytes || !below)
        return false;
    node[t->n] = (struct attn_trie_node){.value = -1};
    bytes[t->n] = byte;
    below[t->n++] = (struct below){lo, hi, depth};
    return true;
}

/* Most bytes are in the head, so that the strings, which lie anywhere, need not be read. */
static unsigned char byte_at(const struct maker *m, uint32_t i, uint32_t depth)
{
    const struct key *k = &m->key[i];
    return (unsigned char)(depth < HEAD ? k->head[depth / 8] >> (56 - 8 * (depth % 8)) & 0xFF :
                           (unsigned char)m->s[k->at].s[depth]);
}

/* Nodes with many children have a table of them. */
static bool add_table(struct attn_trie *t, size_t k)
{
    if (t->tables == TABLES)
        return true;
    uint32_t (*table)[256] = attn_grow(t->table, &t->table_room, t->tables + 1, sizeof *table);
    if (!table)
        return false;
    t->table = table;
    memset(table[t->tables], 0, sizeof *table);
    for (uint32_t i = t->node[k].child; i < t->node[k].child + t->node[k].children; i++)
        table[t->tables][t->byte[i]] = i;
    t->node[k].table = (uint16_t)++t->tables;
    return true;
}

/* Gives a node its value, and a child for each byte with which its strings go on. */
static bool add_children(struct maker *m, size_t k)
{
    struct below b = m->below[k];
    struct attn_trie_node *node = &m->t->node[k];
    node->child = (uint32_t)m->t->n;
    if (b.lo + AHEAD < m->n)
        __builtin_prefetch(&m->value[m->key[b.lo + AHEAD].at]);
    for (; b.lo < b.hi && m->key[b.lo].len == b.depth; b.lo++)
        node->value = m->value[m->key[b.lo].at];
    for (uint32_t lo = b.lo, hi; lo < b.hi; lo = hi) {
        unsigned char byte = byte_at(m, lo, b.depth);
        for (hi = lo + 1; hi < b.hi && byte_at(m, hi, b.depth) == byte; hi++)
            ;
        if (!add_node(m, byte, lo, hi, b.depth + 1))
            return false;
        m->t->node[k].children++;
    }
    return k == 0 || m->t->node[k].children <= WIDE || add_table(m->t, k);
}

static bool lay_out(struct maker *m)
{
    size_t bytes = 0;
    for (size_t i = 0; i < m->n; i++)
        bytes += m->s[i].len;
    if (bytes > MOST)
        return false;
    for (size_t i = 0; i < m->n; i++)
        m->key[i] = (struct key){{head_of(&m->s[i], 0), head_of(&m->s[i], 8)}, (uint32_t)i, (uint32_t)m->s[i].len};
    sort(m);
    struct attn_trie *t = m->t;
    bool ok = add_node(m, 0, 0, (uint32_t)m->n, 0);
    for (size_t k = 0; ok && k < t->n; k++)
        ok = add_children(m, k);
    for (uint32_t i = 0; ok && i < t->node[0].children; i++)
        t->first[t->byte[t->node[0].child + i]] = t->node[0].child + i;
    return ok;
}

bool attn_trie_make(struct attn_trie *t, const struct attn_slice *s, const int32_t *value, size_t n)
{
    struct maker m = {.t = t, .s = s, .value = value, .n = n};
    *t = (struct attn_trie){0};
    m.key = n < UINT32_MAX ? malloc((n + 1) * sizeof *m.key) : NULL;
    m.other = m.key ? malloc((n + 1) * sizeof *m.other) : NULL;
    bool ok = m.other && lay_out(&m);
    free(m.key);
    free(m.other);
    free(m.below);
    if (!ok)
        attn_trie_free(t);
    return ok;
}

void attn_trie_free(struct attn_trie *t)
{
    free(t->node);
    free(t->byte);
    free(t->table);
    *t = (struct attn_trie){0};
}

int32_t attn_trie_longest(const struct attn_trie *t, const char *s, size_t len, size_t *found)
{
    int32_t value = -1;
    uint32_t node = 0;
    for (size_t k = 0; k < len && (node = attn_trie_step(t, node, (unsigned char)s[k])) != 0; k++)
        if (t->node[node].value >= 0) {
            value = t->node[node].value;
            *found = k + 1;
        }
    return value;
}
