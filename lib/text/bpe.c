#include "text/bpe.h"

#include <stdlib.h>

#include "text/bytes.h"
#include "base/grow.h"

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

int attn_bpe_encode(struct attn_bpe *b, const char *s, size_t len, size_t room, const struct attn_piece_token **part, size_t *n)
{
    bool known = false;
    struct attn_piece_entry *piece = len <= ATTN_PIECE_MAX ? attn_pieces_find(&b->pieces, s, len, room, &known) : NULL;
    if (known) {
        *n = attn_piece_recall(piece, b->few);
        *part = b->few;
        return ATTN_OK;
    }
    if (!make_room(b, len))
        return ATTN_ENOMEM;
    *part = b->part;
    int rc = encode(b, s, len, n);
    if (!rc && piece)
        attn_piece_keep(piece, s, len, b->part, *n);
    return rc;
}

void attn_bpe_free(struct attn_bpe *b)
{
    attn_pieces_free(&b->pieces);
    free(b->symbol);
    free(b->heap);
    free(b->part);
    free(b->spelled);
    *b = (struct attn_bpe){.rules = b->rules};
}
