#include "text/bpe.h"
#include "attn_tools.h"

#include <endian.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/strings.h"
#include "text/bytes.h"

/* ---- pieces seen before ---------------------------------------------------------------
 *
 * Most pieces of a text are short and recur often.  A hash of a piece's bytes selects a set of two entries, one cache
 * line; the less recently used one is replaced.  Only pieces of at most 16 bytes and 3 tokens are kept. */

enum { LINE = 64 };                     /* a cache line, which holds one set */

static bool make_sets(struct attn_pieces *p)
{
    p->memory = calloc(ATTN_PIECE_SETS + 1, sizeof *p->set);
    if (!p->memory)
        return false;
    p->set = (void *)(((uintptr_t)p->memory + LINE - 1) / LINE * LINE);
    return true;
}

/* The bytes of s padded with zeros.  It has no branches that depend on len. */
static void key_of(uint64_t key[2], const char *s, size_t len, size_t readable)
{
    static const uint64_t first[] = {
        0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, UINT64_MAX};
    size_t low = len < 8 ? len : 8;
    char end[ATTN_PIECE_MAX] = "";
    if (readable < sizeof end)
        s = memcpy(end, s, len);
    memcpy(key, s, sizeof end);
    key[0] = le64toh(key[0]) & first[low];
    key[1] = le64toh(key[1]) & first[len - low];
}

static bool is_piece(const struct attn_piece_entry *piece, const uint64_t key[2], size_t len)
{
    return piece->key[0] == key[0] && piece->key[1] == key[1] && piece->len == len;
}

/* The set of s, 0 < len <= PIECE_MAX, whose first piece is the most recently used; valid until the next call.  NULL: no
 * memory.  `readable` bytes must be readable at s.  *known: s is its first entry. */
static struct attn_piece_entry *find_piece(struct attn_pieces *p, const char *s, size_t len, size_t readable, bool *known)
{
    uint64_t key[2];
    if (!p->set && !make_sets(p))
        return NULL;
    key_of(key, s, len, readable);
    uint64_t h = attn_hash_mix(key[0] ^ 0x9E3779B97F4A7C15u, key[1] ^ len ^ 0xD6E8FEB86659FD93u);
    struct attn_piece_entry *set = p->set[h % ATTN_PIECE_SETS];
    *known = true;
    if (is_piece(&set[0], key, len))
        return set;
    struct attn_piece_entry second = set[1];
    *known = is_piece(&second, key, len);
    if (*known) {
        set[1] = set[0];
        set[0] = second;
    }
    return set;
}

/* Writes the parts of a known piece; returns how many. */
static size_t recall(const struct attn_piece_entry *known, struct attn_piece_token part[ATTN_PIECE_PARTS])
{
    const uint8_t *len = known->part_len;
    part[0] = (struct attn_piece_token){known->id[0], len[0]};
    part[1] = (struct attn_piece_token){known->id[1], len[1]};
    part[2] = (struct attn_piece_token){known->id[2], (uint32_t)known->len - len[0] - len[1]};
    return known->parts;
}

/* Stores s in its set, if it has few enough parts. */
static void keep(struct attn_piece_entry *set, const char *s, size_t len, const struct attn_piece_token *part, size_t n)
{
    if (n > ATTN_PIECE_PARTS)
        return;
    set[1] = set[0];
    *set = (struct attn_piece_entry){.len = (uint8_t)len, .parts = (uint8_t)n};
    key_of(set->key, s, len, len);
    for (size_t i = 0; i < n; i++)
        set->id[i] = part[i].id;
    for (size_t i = 0; i < n && i + 1 < ATTN_PIECE_PARTS; i++)
        set->part_len[i] = (uint8_t)part[i].len;
}

static void free_pieces(struct attn_pieces *p)
{
    free(p->memory);
    *p = (struct attn_pieces){0};
}

/* ---- symbols --------------------------------------------------------------------------- */

#define END UINT32_MAX                  /* marks a missing neighbour */

/* A token in the making, in a linked list by position.  rank and joined belong to the rule for it and the next one. */
struct symbol { int32_t id, joined; uint32_t len, prev, next, rank; };

/* ---- a heap of pairs: rank in the upper half, position of the left symbol in the lower ---- */

static void push(struct attn_bpe *b, uint64_t key)
{
    size_t i = b->heap_n++;
    for (; i > 0 && b->heap[(i - 1) / 2] > key; i = (i - 1) / 2)
        b->heap[i] = b->heap[(i - 1) / 2];
    b->heap[i] = key;
}

static uint64_t pop(struct attn_bpe *b)
{
    uint64_t top = b->heap[0], key = b->heap[--b->heap_n];
    size_t i = 0;
    for (size_t child = 1; child < b->heap_n; child = 2 * i + 1) {
        child += child + 1 < b->heap_n && b->heap[child + 1] < b->heap[child];
        if (b->heap[child] >= key)
            break;
        b->heap[i] = b->heap[child];
        i = child;
    }
    b->heap[i] = key;
    return top;
}

/* ---- merging --------------------------------------------------------------------------- */

/* Looks up the rule for symbol i and the next one. */
static void rate(struct attn_bpe *b, uint32_t i)
{
    struct symbol *s = &b->symbol[i];
    s->rank = ATTN_MERGES_NONE;
    if (s->next == END)
        return;
    struct attn_merge m = attn_merges_find(&b->rules->merges, s->id, b->symbol[s->next].id);
    s->rank = m.rank;
    s->joined = m.id;
    if (m.rank != ATTN_MERGES_NONE)
        push(b, (uint64_t)m.rank << 32 | i);
}

static void join(struct attn_bpe *b, uint32_t i)
{
    struct symbol *s = &b->symbol[i], *gone = &b->symbol[s->next];
    s->id = s->joined;
    s->len += gone->len;
    s->next = gone->next;
    gone->rank = ATTN_MERGES_NONE;
    if (s->next != END)
        b->symbol[s->next].prev = i;
    rate(b, i);
    if (s->prev != END)
        rate(b, s->prev);
}

static void merge(struct attn_bpe *b, uint32_t n)
{
    b->heap_n = 0;
    for (uint32_t i = 0; i < n; i++)
        rate(b, i);
    while (b->heap_n > 0) {
        uint64_t top = pop(b);
        uint32_t i = (uint32_t)top;
        if (b->symbol[i].rank == top >> 32)                         /* else one of the two has changed since */
            join(b, i);
    }
}

/* Makes room for n parts, n symbols, and their pairs: each merge removes one pair and adds two at most. */
static bool make_room(struct attn_bpe *b, size_t n)
{
    struct symbol *symbol = n < END ? attn_grow(b->symbol, &b->symbol_room, n, sizeof *symbol) : NULL;
    if (!symbol)
        return false;
    b->symbol = symbol;
    uint64_t *heap = attn_grow(b->heap, &b->heap_room, 2 * n, sizeof *heap);
    if (!heap)
        return false;
    b->heap = heap;
    struct attn_piece_token *part = attn_grow(b->part, &b->part_room, n, sizeof *part);
    if (!part)
        return false;
    b->part = part;
    return true;
}

/* Looks whether the piece as a whole is a token; then that is its only part. */
static int take_whole(struct attn_bpe *b, const char *s, size_t len, bool *found)
{
    size_t n = 0;
    char *spelled = attn_grow(b->spelled, &b->spelled_room, 2 * len + 2, 1);
    if (!spelled)
        return ATTN_ENOMEM;
    b->spelled = spelled;
    for (size_t i = 0; i < len; i++)
        n += attn_bytes_spell(spelled + n, (unsigned char)s[i]);
    int32_t id = attn_vocab_own_id(b->rules->vocab, spelled, n);
    *found = id >= 0;
    if (*found)
        b->part[0] = (struct attn_piece_token){.id = id, .len = (uint32_t)len};
    return ATTN_OK;
}

static int encode(struct attn_bpe *b, const char *s, size_t len, size_t *n)
{
    bool whole = false;
    int rc = b->rules->whole_first ? take_whole(b, s, len, &whole) : ATTN_OK;
    *n = 1;
    if (rc || whole)
        return rc;
    for (size_t i = 0; i < len; i++) {
        int32_t id = b->rules->byte[(unsigned char)s[i]];
        b->symbol[i] = (struct symbol){.id = id, .len = 1, .prev = i > 0 ? (uint32_t)i - 1 : END,
                                       .next = i + 1 < len ? (uint32_t)i + 1 : END};
        if (id < 0) {
            *n = i;
            return ATTN_EFORMAT;
        }
    }
    merge(b, (uint32_t)len);
    *n = 0;
    for (uint32_t i = 0; i != END; i = b->symbol[i].next)
        b->part[(*n)++] = (struct attn_piece_token){.id = b->symbol[i].id, .len = b->symbol[i].len};
    return ATTN_OK;
}

int attn_bpe_encode(struct attn_bpe *b, const char *s, size_t len, size_t readable, const struct attn_piece_token **part,
                    size_t *n)
{
    bool known = false;
    struct attn_piece_entry *piece = len <= ATTN_PIECE_MAX ? find_piece(&b->pieces, s, len, readable, &known) : NULL;
    if (known) {
        *n = recall(piece, b->few);
        *part = b->few;
        return ATTN_OK;
    }
    if (!make_room(b, len))
        return ATTN_ENOMEM;
    *part = b->part;
    int rc = encode(b, s, len, n);
    if (!rc && piece)
        keep(piece, s, len, b->part, *n);
    return rc;
}

void attn_bpe_free(struct attn_bpe *b)
{
    free_pieces(&b->pieces);
    free(b->symbol);
    free(b->heap);
    free(b->part);
    free(b->spelled);
    *b = (struct attn_bpe){.rules = b->rules};
}
