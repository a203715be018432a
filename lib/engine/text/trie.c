/* trie.c - the strings below a node are sorted by the byte that follows, which makes those below each of its children
 * neighbours; then one child after the other is laid out in the same way, with all that is below it, while its strings
 * are in the cache. */
#include "text/trie.h"

#include <endian.h>
#include <stdlib.h>

#include "base/grow.h"

enum {
    HEAD = 16, FEW = 32,                /* FEW: so many strings are sorted by comparing them */
    WIDE = 16, TABLES = 1024,           /* children that make a node wide; most tables */
};

/* head: the first sixteen bytes, eight and eight; at: which string. */
struct key { uint64_t head[2]; uint32_t at, len; };
/* The strings below a node, which agree in `depth` bytes. */
struct below { uint32_t node, lo, hi, depth; bool sorted; };

struct maker {
    struct attn_trie *t;
    const struct attn_str_view *s;
    const int32_t *value;
    struct key *key, *other; size_t n;
    struct below *below; size_t n_below, below_room;                /* what is yet to be laid out, the next one last */
};

static uint64_t head_of(const struct attn_str_view *s, size_t from)
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

/* Most bytes are in the head, so that the strings, which lie anywhere, need not be read. */
static unsigned char byte_at(const struct maker *m, const struct key *k, uint32_t depth)
{
    return depth < HEAD ? (unsigned char)(k->head[depth / 8] >> (56 - 8 * (depth % 8))) :
           (unsigned char)m->s[k->at].s[depth];
}

/* 0 for a string that ends there. */
static size_t order_at(const struct maker *m, const struct key *k, uint32_t depth)
{
    return k->len > depth ? 1 + (size_t)byte_at(m, k, depth) : 0;
}

/* Sorts a range by one byte, keeping the order of those that agree. */
static void sort_byte(struct maker *m, size_t lo, size_t hi, uint32_t depth)
{
    size_t start[258] = {lo};
    for (size_t i = lo; i < hi; i++)
        start[order_at(m, &m->key[i], depth) + 1]++;
    for (size_t i = 1; i < 258; i++)
        start[i] += start[i - 1];
    memcpy(m->other + lo, m->key + lo, (hi - lo) * sizeof *m->key);
    for (size_t i = lo; i < hi; i++)
        m->key[start[order_at(m, &m->other[i], depth)]++] = m->other[i];
}

static int compare_strings(const struct maker *m, const struct key *a, const struct key *b)
{
    for (int i = 0; i < 2; i++)
        if (a->head[i] != b->head[i])
            return a->head[i] < b->head[i] ? -1 : 1;
    const struct attn_str_view *x = &m->s[a->at], *y = &m->s[b->at];
    size_t len = x->len < y->len ? x->len : y->len;
    int c = memcmp(x->s, y->s, len);
    return c ? c : x->len != y->len ? (x->len > y->len) - (x->len < y->len) : (a->at > b->at) - (a->at < b->at);
}

/* Sorts a range by all bytes: merges its two halves. */
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

static bool make_room(struct maker *m)
{
    struct attn_trie *t = m->t;
    if (t->n < t->room)
        return true;
    unsigned char *bytes = attn_grow(t->byte, &t->byte_room, t->n + 1, 1);
    t->byte = bytes ? bytes : t->byte;
    struct attn_trie_node *node = bytes && t->n < UINT32_MAX ? attn_grow(t->node, &t->room, t->n + 1, sizeof *node) :
                                  NULL;
    t->node = node ? node : t->node;
    return node;
}

/* Gives a node what is left of its only string. */
static bool add_rest(struct maker *m, const struct below *b)
{
    struct attn_trie *t = m->t;
    const struct key *k = &m->key[b->lo];
    uint32_t len = k->len - b->depth;
    char *rest = attn_grow(t->rest, &t->rest_room, t->rests + len + 1, 1);
    if (!rest)
        return false;
    t->rest = rest;
    t->node[b->node] = (struct attn_trie_node){(uint32_t)t->rests, m->value[k->at], 0, (uint16_t)len};
    for (uint32_t i = b->depth; i < k->len; i++)
        rest[t->rests++] = (char)byte_at(m, k, i);
    return true;
}

static bool put_off(struct maker *m, const struct below *b)
{
    struct below *below = attn_grow(m->below, &m->below_room, m->n_below + 1, sizeof *below);
    if (!below)
        return false;
    m->below = below;
    below[m->n_below++] = *b;
    return true;
}

/* A node for the strings of b, to which `byte` leads. */
static bool add_node(struct maker *m, unsigned char byte, const struct below *b)
{
    struct attn_trie *t = m->t;
    if (!make_room(m))
        return false;
    t->byte[t->n] = byte;
    t->node[t->n++] = (struct attn_trie_node){.value = -1};
    bool alone = b->lo + 1 == b->hi && m->key[b->lo].len - b->depth <= UINT16_MAX;
    return alone ? add_rest(m, b) : put_off(m, b);
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

/* Sorts the strings below a node, at least by the byte that follows. */
static void sort_below(struct maker *m, struct below *b)
{
    if (!b->sorted && b->hi - b->lo > FEW)
        sort_byte(m, b->lo, b->hi, b->depth);
    else if (!b->sorted)
        sort_range(m, b->lo, b->hi);
    b->sorted |= b->hi - b->lo <= FEW;
}

/* Gives a node its value, and a child for each byte with which its strings go on. */
static bool add_children(struct maker *m, struct below b)
{
    struct attn_trie *t = m->t;
    t->node[b.node].child = (uint32_t)t->n;
    for (; b.lo < b.hi && m->key[b.lo].len == b.depth; b.lo++)
        t->node[b.node].value = m->value[m->key[b.lo].at];
    for (uint32_t lo = b.lo, hi; lo < b.hi; lo = hi) {
        unsigned char byte = byte_at(m, &m->key[lo], b.depth);
        for (hi = lo + 1; hi < b.hi && byte_at(m, &m->key[hi], b.depth) == byte; hi++)
            ;
        if (!add_node(m, byte, &(struct below){(uint32_t)t->n, lo, hi, b.depth + 1, b.sorted}))
            return false;
        t->node[b.node].children++;
    }
    return b.node == 0 || t->node[b.node].children <= WIDE || add_table(t, b.node);
}

static bool lay_out(struct maker *m)
{
    struct attn_trie *t = m->t;
    size_t bytes = 0;
    for (size_t i = 0; i < m->n; i++)
        bytes += m->s[i].len;
    if (bytes > ATTN_TRIE_MOST || !make_room(m) || !put_off(m, &(struct below){.hi = (uint32_t)m->n}))
        return false;
    for (size_t i = 0; i < m->n; i++)
        m->key[i] = (struct key){{head_of(&m->s[i], 0), head_of(&m->s[i], 8)}, (uint32_t)i, (uint32_t)m->s[i].len};
    t->node[t->n++] = (struct attn_trie_node){.value = -1};
    while (m->n_below > 0) {
        struct below b = m->below[--m->n_below];
        sort_below(m, &b);
        if (!add_children(m, b))
            return false;
    }
    for (uint32_t i = 0; i < t->node[0].children; i++)
        t->first[t->byte[t->node[0].child + i]] = t->node[0].child + i;
    return true;
}

bool attn_trie_make(struct attn_trie *t, const struct attn_str_view *s, const int32_t *value, size_t n)
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
    free(t->rest);
    free(t->table);
    *t = (struct attn_trie){0};
}

int32_t attn_trie_longest(const struct attn_trie *t, const char *s, size_t len, size_t *found)
{
    int32_t value = -1;
    uint32_t node = 0;
    for (size_t k = 0; k < len && (node = attn_trie_step(t, node, s, len, &k)) != 0;)
        if (t->node[node].value >= 0) {
            value = t->node[node].value;
            *found = k;
        }
    return value;
}
