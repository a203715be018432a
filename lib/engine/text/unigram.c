#include "text/unigram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/size.h"

enum { UNKNOWN_PENALTY = 10 };

static bool is_matched(const unsigned char *type, size_t rank)
{
    return !type || type[rank] == ATTN_PIECE_NORMAL || type[rank] == ATTN_PIECE_USER;
}

bool attn_unigram_index(struct attn_unigram *u, const unsigned char *type)
{
    size_t size = attn_vocab_size(u->vocab), n = 0;
    struct attn_str_view *s = malloc((size + 1) * sizeof *s);
    int32_t *id = malloc((size + 1) * sizeof *id);
    double least = INFINITY;
    for (size_t i = 0; s && id && i < size; i++) {
        struct attn_str_view piece;
        piece.s = attn_vocab_at(u->vocab, i, &piece.len);
        if (!type || type[i] == ATTN_PIECE_NORMAL)
            least = u->score[i] < least ? u->score[i] : least;
        if (piece.len == 0 || !is_matched(type, i))
            continue;
        s[n] = piece;
        id[n++] = (int32_t)i;
    }
    u->unknown_score = u->single ? (double)((float)least - UNKNOWN_PENALTY) : least - UNKNOWN_PENALTY;
    bool ok = s && id && attn_trie_make(&u->trie, s, id, n);
    free(s);
    free(id);
    return ok;
}

void attn_unigram_free(struct attn_unigram *u)
{
    attn_trie_free(&u->trie);
    free(u->score);
    *u = (struct attn_unigram){0};
}

/* The state of an encoding: the places from `from` on, up to where all paths meet again, are in l->best. */
struct search {
    struct attn_lattice *l;
    const struct attn_unigram *u;
    const char *s; size_t len;
    size_t from, reach;                 /* reach: the furthest end of a piece met so far */
    double sum;                         /* the best up to `from` */
    size_t waiting;                     /* bytes of unknown characters in front of the next token */
    size_t at;                          /* where the next token begins */
};

/* ---- the best path --------------------------------------------------------------------- */

/* Makes room for places up to `end`, and empties the new ones. */
static bool reach(struct search *q, size_t end)
{
    if (end <= q->reach)
        return true;
    struct attn_best *best = attn_grow(q->l->best, &q->l->room, end - q->from + 1, sizeof *best);
    if (!best)
        return false;
    q->l->best = best;
    for (size_t i = q->reach + 1; i <= end; i++)
        best[i - q->from].len = 0;
    q->reach = end;
    return true;
}

static void offer(struct search *q, size_t start, size_t end, int32_t id, double sum)
{
    struct attn_best *best = &q->l->best[end - q->from];
    if (best->len == 0 || sum > best->sum)
        *best = (struct attn_best){q->u->single ? (double)(float)sum : sum, id, (uint32_t)(end - start)};
}

/* The length of a character of valid UTF-8 by its first byte. */
static size_t char_len(char first)
{
    unsigned char c = (unsigned char)first;
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* Offers all pieces that match at byte `at`, shortest first; then the character there, of `step` bytes, as an unknown
 * token unless it is one of them. */
static bool offer_from(struct search *q, size_t at, size_t step)
{
    const struct attn_unigram *u = q->u;
    const struct attn_trie *t = &u->trie;
    double sum = at == q->from ? q->sum : q->l->best[at - q->from].sum;
    size_t k = at;
    bool alone = false;
    for (uint32_t node = 0; k < q->len && (node = attn_trie_step(t, node, q->s, q->len, &k)) != 0;) {
        int32_t id = t->node[node].value;
        if (id < 0)
            continue;
        if (!reach(q, k))
            return false;
        offer(q, at, k, id, u->score[id] + sum);
        alone = alone || k == at + step;
    }
    if (alone)
        return true;
    if (!reach(q, at + step))
        return false;
    double unknown = u->unknown_score + sum;
    offer(q, at, at + step, u->unknown, u->single ? (double)(float)unknown : unknown);
    return true;
}

/* ---- the tokens on it ------------------------------------------------------------------ */

static bool put(struct search *q, int32_t id, size_t len)
{
    struct attn_lattice *l = q->l;
    struct attn_piece_token *part = attn_grow(l->part, &l->part_room, l->n + 1, sizeof *part);
    if (!part)
        return false;
    l->part = part;
    part[l->n++] = (struct attn_piece_token){id, (uint32_t)len};
    return true;
}

/* The bytes of what is unknown, if all of them are tokens. */
static bool put_bytes(struct search *q, const char *s, size_t len, bool *done)
{
    *done = false;
    for (size_t i = 0; i < len; i++)
        if (!q->u->byte || q->u->byte[(unsigned char)s[i]] < 0)
            return true;
    for (size_t i = 0; i < len; i++)
        if (!put(q, q->u->byte[(unsigned char)s[i]], 1))
            return false;
    *done = true;
    return true;
}

/* Writes what has waited. */
static bool end_waiting(struct search *q)
{
    const char *s = q->s + q->at - q->waiting;
    size_t len = q->waiting;
    bool done;
    int32_t id = q->u->joined && len > 0 ? attn_vocab_own_id(q->u->vocab, s, len) : -1;
    q->waiting = 0;
    if (len == 0)
        return true;
    if (id >= 0)
        return put(q, id, len);
    return put_bytes(q, s, len, &done) && (done || put(q, q->u->unknown, len));
}

/* Follows the best path from `end` back to q->from, turning its links round, then writes its tokens. */
static bool put_path(struct search *q, size_t end)
{
    struct attn_best *best = q->l->best;
    size_t at = end - q->from;
    struct attn_best back = best[at];
    while (at > 0) {
        size_t start = at - back.len;
        struct attn_best before = best[start];
        best[start] = back;
        back = before;
        at = start;
    }
    for (at = 0; at < end - q->from;) {
        struct attn_best k = best[at];
        bool unknown = k.id == q->u->unknown;
        if (!unknown && !end_waiting(q))
            return false;
        if (!unknown && !put(q, k.id, k.len))
            return false;
        q->waiting += unknown ? k.len : 0;
        q->at += k.len;
        at += k.len;
    }
    return true;
}

int attn_unigram_encode(struct attn_lattice *l, const struct attn_unigram *u, const char *s, size_t len,
                        const struct attn_piece_token **part, size_t *n)
{
    struct search q = {.l = l, .u = u, .s = s, .len = len};
    size_t step;
    l->n = 0;
    if (len >= UINT32_MAX || (!l->best && !(l->best = attn_grow(NULL, &l->room, 1, sizeof *l->best))))
        return ATTN_ENOMEM;
    for (size_t at = 0; at < len; at += step) {
        if (at > q.from && at == q.reach) {                         /* nothing goes on across: all paths meet here */
            double sum = l->best[at - q.from].sum;
            if (!put_path(&q, at))
                return ATTN_ENOMEM;
            q.from = at;
            q.sum = sum;
        }
        step = smaller(char_len(s[at]), len - at);
        if (!offer_from(&q, at, step))
            return ATTN_ENOMEM;
        if (u->unknown < 0 && l->best[at + step - q.from].len == step && l->best[at + step - q.from].id < 0) {
            *n = at;
            return ATTN_EFORMAT;
        }
    }
    if (!put_path(&q, len) || !end_waiting(&q))
        return ATTN_ENOMEM;
    *part = l->part;
    *n = l->n;
    return ATTN_OK;
}

void attn_lattice_free(struct attn_lattice *l)
{
    free(l->best);
    free(l->part);
    *l = (struct attn_lattice){0};
}
