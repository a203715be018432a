#include "making/learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "text/bytes.h"
#include "making/couples.h"

#define END UINT32_MAX
enum { BYTES = 256, GONE = -1 };

struct node { int32_t id; uint32_t prev, next, piece; };            /* a token at one position of a piece */

struct learner {
    struct attn_learned *to;
    const uint64_t *count;              /* how often each piece occurs */
    struct node *node;
    struct attn_couples couples;
    char joined[ATTN_LEARN_LONGEST];
};

/* ---- bytes --------------------------------------------------------------------------------- */

/* The spelling of a byte as a number with the same sort order. */
static unsigned spelled(unsigned char byte)
{
    char s[4] = {0};
    attn_bytes_spell(s, byte);
    return (unsigned)(unsigned char)s[0] << 8 | (unsigned char)s[1];
}

static int compare_spelled(const void *a, const void *b)
{
    unsigned x = spelled(*(const unsigned char *)a), y = spelled(*(const unsigned char *)b);
    return (x > y) - (x < y);
}

/* Makes tokens of all bytes, in the order of their spellings. */
static bool add_bytes(struct attn_strings *token, int32_t id[BYTES])
{
    unsigned char byte[BYTES];
    for (int i = 0; i < BYTES; i++)
        byte[i] = (unsigned char)i;
    qsort(byte, BYTES, 1, compare_spelled);
    for (int i = 0; i < BYTES; i++) {
        id[byte[i]] = i;
        if (attn_strings_add(token, (const char *)&byte[i], 1) == ATTN_STRINGS_NONE)
            return false;
    }
    return true;
}

/* ---- pieces -------------------------------------------------------------------------------- */

static bool add_couple(struct learner *l, uint32_t at)
{
    const struct node *a = &l->node[at];
    return attn_couples_add(&l->couples, a->id, l->node[a->next].id, l->count[a->piece], at);
}

static void drop_couple(struct learner *l, uint32_t at)
{
    const struct node *a = &l->node[at];
    attn_couples_drop(&l->couples, a->id, l->node[a->next].id, l->count[a->piece]);
}

/* Puts the bytes of a piece into nodes from `first` on; returns the number of the next free node. */
static uint32_t add_piece(struct learner *l, uint32_t first, uint32_t piece, const char *s, size_t len, const int32_t id[BYTES])
{
    for (uint32_t i = 0; i < len; i++)
        l->node[first + i] = (struct node){.id = id[(unsigned char)s[i]], .prev = i > 0 ? first + i - 1 : END,
                                           .next = i + 1 < len ? first + i + 1 : END, .piece = piece};
    return first + (uint32_t)len;
}

static bool add_pieces(struct learner *l, const struct attn_tally *tally)
{
    int32_t id[BYTES];
    size_t bytes = tally->piece.used - tally->piece.n, len;         /* without the NUL after each */
    uint32_t n = 0;
    l->count = tally->count;
    l->node = bytes < END ? malloc((bytes + 1) * sizeof *l->node) : NULL;
    if (!l->node || !add_bytes(&l->to->token, id))
        return false;
    for (size_t i = 0; i < tally->piece.n; i++) {
        const char *s = attn_strings_at(&tally->piece, i, &len);
        n = add_piece(l, n, (uint32_t)i, s, len, id);
    }
    for (uint32_t at = 0; at < n; at++)
        if (l->node[at].next != END && !add_couple(l, at))
            return false;
    return attn_couples_rank(&l->couples);
}

/* ---- rules --------------------------------------------------------------------------------- */

/* The token that joins both, added if it is new.  NONE: it would be too long or, with *ok false, there is no memory. */
static size_t join_bytes(struct learner *l, const struct attn_couple *k, bool *ok)
{
    size_t a, b;
    const char *left = attn_strings_at(&l->to->token, (size_t)k->left, &a);
    const char *right = attn_strings_at(&l->to->token, (size_t)k->right, &b);
    if (a + b > sizeof l->joined)
        return ATTN_STRINGS_NONE;
    memcpy(l->joined, left, a);
    memcpy(l->joined + a, right, b);
    size_t id = attn_strings_add(&l->to->token, l->joined, a + b);
    *ok = id != ATTN_STRINGS_NONE;
    return id;
}

static bool join_at(struct learner *l, const struct attn_rule *rule, uint32_t at)
{
    struct node *a = &l->node[at], *b = &l->node[a->next];
    if (a->prev != END)
        drop_couple(l, a->prev);
    if (b->next != END)
        drop_couple(l, a->next);
    drop_couple(l, at);
    a->id = rule->id;
    a->next = b->next;
    b->id = GONE;
    if (a->next != END)
        l->node[a->next].prev = at;
    return (a->prev == END || add_couple(l, a->prev)) && (a->next == END || add_couple(l, at));
}

static int compare_places(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Applies a rule wherever left and right still are neighbours.  The couple's positions are taken over first, because
 * the list of couples may move. */
static bool follow(struct learner *l, const struct attn_rule *rule, struct attn_couple *k)
{
    uint32_t *at = k->at;
    size_t n = k->n;
    bool ok = true;
    k->at = NULL;
    k->n = k->room = 0;
    if (rule->left == rule->right)      /* otherwise matches cannot overlap, and any order will do */
        qsort(at, n, sizeof *at, compare_places);
    for (size_t i = 0; i < n && ok; i++) {
        const struct node *a = &l->node[at[i]];
        if (a->id == rule->left && a->next != END && l->node[a->next].id == rule->right)
            ok = join_at(l, rule, at[i]);
    }
    free(at);
    return ok && attn_couples_rank(&l->couples);
}

static bool add_rule(struct attn_learned *to, const struct attn_rule *rule)
{
    struct attn_rule *more = attn_grow(to->rule, &to->room, to->n + 1, sizeof *more);
    if (!more)
        return false;
    to->rule = more;
    more[to->n++] = *rule;
    return true;
}

static bool add_rules(struct learner *l, size_t tokens)
{
    struct attn_couple *k;
    bool ok = true;
    while (ok && l->to->token.n < tokens && (k = attn_couples_top(&l->couples)) && k->count > 1) {
        size_t id = join_bytes(l, k, &ok);
        if (id == ATTN_STRINGS_NONE)
            continue;
        struct attn_rule rule = {k->left, k->right, (int32_t)id};
        ok = add_rule(l->to, &rule) && follow(l, &rule, k);
    }
    return ok;
}

int attn_learn(struct attn_learned *out, const struct attn_tally *tally, size_t tokens, struct attn_err *err)
{
    struct learner *l = calloc(1, sizeof *l);
    *out = (struct attn_learned){0};
    if (l)
        l->to = out;
    bool ok = l && add_pieces(l, tally) && add_rules(l, tokens);
    if (l) {
        attn_couples_free(&l->couples);
        free(l->node);
    }
    free(l);
    if (ok)
        return ATTN_OK;
    attn_learned_free(out);
    return attn_fail(err, ATTN_ENOMEM, "no memory to learn %zu tokens", tokens);
}

void attn_learned_free(struct attn_learned *l)
{
    attn_strings_free(&l->token);
    free(l->rule);
    *l = (struct attn_learned){0};
}
