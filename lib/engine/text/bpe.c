#include "text/bpe.h"
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "text/bytes.h"

/* ---- symbols --------------------------------------------------------------------------- */

#define END UINT32_MAX                  /* marks a missing neighbour */

/* A token in the making, in a linked list by position.  rank and joined belong to the rule for it and the next one.
 * alone: it never merges, being a byte of a character or an unknown one. */
struct symbol { int32_t id, joined; uint32_t at, len, prev, next, rank; bool alone; };

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

/* Orders scores: the highest comes first. */
static uint32_t rank_of(float score)
{
    uint32_t bits;
    score += 0.0f;                      /* no negative zero */
    memcpy(&bits, &score, sizeof bits);
    return bits >> 31 ? bits : ~(bits | 0x80000000u);
}

/* The token that symbol i and the next one spell together. */
static struct attn_merge spelled_by(struct attn_bpe *b, const struct symbol *s, const struct symbol *next)
{
    const struct attn_bpe_rules *r = b->rules;
    struct attn_merge none = {.rank = ATTN_MERGES_NONE, .id = -1};
    int32_t id = s->alone || next->alone ? -1 : attn_vocab_id(r->vocab, b->s + s->at, s->len + next->len);
    if (id < 0)
        return none;
    size_t rank = attn_vocab_rank(r->vocab, id);
    unsigned type = r->type ? r->type[rank] : ATTN_PIECE_NORMAL;
    if (type == ATTN_PIECE_UNUSED && b->made)
        b->made[rank] = s->len;
    return type == ATTN_PIECE_NORMAL || type == ATTN_PIECE_USER || type == ATTN_PIECE_UNUSED ?
           (struct attn_merge){rank_of(r->score[rank]), id} : none;
}

/* Looks up the rule for symbol i and the next one. */
static void rate(struct attn_bpe *b, uint32_t i)
{
    struct symbol *s = &b->symbol[i];
    s->rank = ATTN_MERGES_NONE;
    if (s->next == END)
        return;
    const struct symbol *next = &b->symbol[s->next];
    struct attn_merge m = b->rules->score ? spelled_by(b, s, next) : attn_merges_find(&b->rules->merges, s->id,
                                                                                      next->id);
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
    if (b->rules->chars) {
        b->part[0] = (struct attn_piece_token){attn_vocab_own_id(b->rules->vocab, s, len), (uint32_t)len};
        *found = b->part[0].id >= 0;
        return ATTN_OK;
    }
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

/* Makes each byte a symbol, *n of them; false: *n is a byte that the vocabulary lacks.  A dropped byte counts to the
 * symbol before it, or to the first one. */
static bool begin_bytes(struct attn_bpe *b, const char *s, size_t len, size_t *n)
{
    const struct attn_bpe_rules *r = b->rules;
    bool unknown = false;
    uint32_t dropped = 0;
    *n = 0;
    for (size_t i = 0; i < len; i++) {
        int32_t id = r->byte[(unsigned char)s[i]];
        bool fused = id < 0 && unknown && r->fuse, drop = id < 0 && r->unknown < 0;
        unknown = id < 0;
        if (drop && !r->drop) {
            *n = i;
            return false;
        }
        if (drop && *n == 0)
            dropped++;
        else if (fused || drop)
            b->symbol[*n - 1].len++;
        else
            b->symbol[(*n)++] = (struct symbol){.id = unknown ? r->unknown : id, .at = (uint32_t)i, .len = 1};
    }
    if (*n > 0)
        b->symbol[0].len += dropped;
    return true;
}

/* ---- characters ------------------------------------------------------------------------ */

static int32_t char_id(const struct attn_bpe_rules *r, uint32_t c)
{
    const int32_t *page = r->page[c / ATTN_PAGE];
    return page ? page[c % ATTN_PAGE] : -1;
}

/* The token of the last character of a piece. */
static int32_t last_id(const struct attn_bpe_rules *r, const char *s, size_t len)
{
    char spelled[4 + ATTN_SUFFIX_LONGEST];
    memcpy(spelled, s, len);
    memcpy(spelled + len, r->suffix, r->suffix_len);
    return attn_vocab_own_id(r->vocab, spelled, len + r->suffix_len);
}

static bool has_bytes(const struct attn_bpe_rules *r, const char *s, size_t len)
{
    size_t i = 0;
    while (r->fallback && i < len && r->byte[(unsigned char)s[i]] >= 0)
        i++;
    return r->fallback && i == len;
}

/* Unknown characters wait until one that is known comes: bytes in between go first. */
struct beginner { struct symbol waiting; size_t n; bool any; };

static void begin_one(struct attn_bpe *b, struct beginner *g, const struct symbol *s)
{
    b->symbol[g->n++] = *s;
}

static void end_waiting(struct attn_bpe *b, struct beginner *g)
{
    if (g->any)
        begin_one(b, g, &g->waiting);
    g->any = false;
}

static void begin_unknown(struct attn_bpe *b, struct beginner *g, size_t at, size_t len)
{
    const struct attn_bpe_rules *r = b->rules;
    if (g->any && r->fuse) {
        g->waiting.len += (uint32_t)len;
        return;
    }
    end_waiting(b, g);
    g->waiting = (struct symbol){.id = r->unknown, .at = (uint32_t)at, .len = (uint32_t)len};
    g->any = true;
}

/* Where scores decide, even unknown characters may merge. */
static void begin_char(struct attn_bpe *b, struct beginner *g, const char *s, size_t at, size_t len, int32_t id)
{
    const struct attn_bpe_rules *r = b->rules;
    if (id >= 0 || (r->score && r->type)) {
        end_waiting(b, g);
        begin_one(b, g, &(struct symbol){.id = id, .at = (uint32_t)at, .len = (uint32_t)len});
    } else if (has_bytes(r, s + at, len)) {
        for (size_t i = 0; i < len; i++)
            begin_one(b, g,
                      &(struct symbol){.id = r->byte[(unsigned char)s[at + i]], .at = (uint32_t)(at + i), .len = 1,
                                       .alone = r->score != NULL});
    } else if (r->unknown >= 0) {
        begin_unknown(b, g, at, len);
    } else if (g->n > 0) {
        b->symbol[g->n - 1].len += (uint32_t)len;                   /* dropped; its neighbours may merge */
    } else {
        g->waiting.len += (uint32_t)len;
    }
}

static size_t begin_chars(struct attn_bpe *b, const char *s, size_t len)
{
    struct beginner g = {.n = 0};
    size_t step;
    for (size_t at = 0; at < len; at += step) {
        uint32_t c = attn_utf8_next(s + at, len - at, &step);
        size_t before = g.n;
        bool last = b->rules->suffix && at + step == len;
        begin_char(b, &g, s, at, step, last ? last_id(b->rules, s + at, step) : char_id(b->rules, c));
        if (before == 0 && g.n > 0 && !g.any && g.waiting.len > 0 && b->rules->unknown < 0)
            b->symbol[0].len += g.waiting.len;                      /* what was dropped in front of it */
    }
    end_waiting(b, &g);
    return g.n;
}

/* ---- a piece --------------------------------------------------------------------------- */

static void put_part(struct attn_bpe *b, size_t *n, int32_t id, size_t len)
{
    b->part[(*n)++] = (struct attn_piece_token){id, (uint32_t)len};
}

/* A token that is no piece: its bytes, or an unknown, which is one with an unknown before it. */
static void put_unknown(struct attn_bpe *b, size_t *n, size_t at, size_t len)
{
    const struct attn_bpe_rules *r = b->rules;
    if (has_bytes(r, b->s + at, len))
        for (size_t i = 0; i < len; i++)
            put_part(b, n, r->byte[(unsigned char)b->s[at + i]], 1);
    else if (*n > 0 && b->part[*n - 1].id == r->unknown)
        b->part[*n - 1].len += (uint32_t)len;
    else
        put_part(b, n, r->unknown, len);
}

/* Where scores decide: an unused token is taken apart the way it was made. */
static void put_scored(struct attn_bpe *b, size_t *n, int32_t id, size_t at, size_t len)
{
    const struct attn_bpe_rules *r = b->rules;
    size_t rank = id >= 0 ? attn_vocab_rank(r->vocab, id) : 0;
    while (id >= 0 && r->type && r->type[rank] == ATTN_PIECE_UNUSED && b->made && b->made[rank] > 0 &&
           b->made[rank] < len) {
        size_t left = b->made[rank];
        put_scored(b, n, attn_vocab_id(r->vocab, b->s + at, left), at, left);
        at += left;
        len -= left;
        id = attn_vocab_id(r->vocab, b->s + at, len);
        rank = id >= 0 ? attn_vocab_rank(r->vocab, id) : 0;
    }
    if (id < 0 || (r->type && id == r->unknown))
        put_unknown(b, n, at, len);
    else
        put_part(b, n, id, len);
}

static bool make_made(struct attn_bpe *b)
{
    const struct attn_bpe_rules *r = b->rules;
    size_t n = attn_vocab_size(r->vocab);
    if (!r->unused || b->made)
        return true;
    b->made = calloc(n, sizeof *b->made);
    return b->made != NULL;
}

static int encode(struct attn_bpe *b, const char *s, size_t len, size_t *n)
{
    bool whole = false;
    int rc = b->rules->whole_first ? take_whole(b, s, len, &whole) : ATTN_OK;
    *n = 1;
    if (rc || whole)
        return rc;
    if (!b->rules->chars && !begin_bytes(b, s, len, n))
        return ATTN_EFORMAT;
    if (b->rules->chars) {
        if (!make_made(b))
            return ATTN_ENOMEM;
        *n = begin_chars(b, s, len);
    }
    size_t symbols = *n;
    for (size_t i = 0; i < symbols; i++) {
        b->symbol[i].prev = i > 0 ? (uint32_t)i - 1 : END;
        b->symbol[i].next = i + 1 < symbols ? (uint32_t)i + 1 : END;
    }
    b->s = s;
    merge(b, (uint32_t)symbols);
    *n = 0;
    for (uint32_t i = symbols > 0 ? 0 : END; i != END; i = b->symbol[i].next) {
        const struct symbol *k = &b->symbol[i];
        if (b->rules->score && !k->alone)
            put_scored(b, n, k->id, k->at, k->len);
        else
            put_part(b, n, k->id, k->len);
    }
    if (*n == 0)
        put_part(b, n, -1, len);
    return ATTN_OK;
}

int attn_bpe_encode(struct attn_bpe *b, const char *s, size_t len, size_t readable,
                    const struct attn_piece_token **part, size_t *n)
{
    bool known = false;
    struct attn_piece_entry *piece = len <= ATTN_PIECE_MAX ? attn_pieces_find(&b->pieces, s, len, readable, &known) :
                                     NULL;
    if (known) {
        *n = attn_pieces_recall(piece, b->few);
        *part = b->few;
        return ATTN_OK;
    }
    if (!make_room(b, len))
        return ATTN_ENOMEM;
    *part = b->part;
    int rc = encode(b, s, len, n);
    if (!rc && piece)
        attn_pieces_keep(&b->pieces, piece, s, len, b->part, *n);
    return rc;
}

void attn_bpe_free(struct attn_bpe *b)
{
    attn_pieces_free(&b->pieces);
    free(b->symbol);
    free(b->heap);
    free(b->part);
    free(b->spelled);
    free(b->made);
    *b = (struct attn_bpe){.rules = b->rules};
}
