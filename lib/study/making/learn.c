#include "making/learn.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/strings.h"
#include "text/bytes.h"
#include "text/pretoken.h"

/* ---- the pieces of a text ------------------------------------------------------------------ */

static bool count(struct attn_tally *t, const char *s, size_t len)
{
    size_t known = t->piece.n, i = attn_strings_add(&t->piece, s, len);
    if (i == ATTN_STRINGS_NONE)
        return false;
    if (i == known) {
        uint64_t *more = attn_grow(t->count, &t->room, i + 1, sizeof *more);
        if (!more)
            return false;
        t->count = more;
        more[i] = 0;
    }
    t->count[i]++;
    return true;
}

int attn_tally_add(struct attn_tally *t, const char *text, size_t len, struct attn_err *err)
{
    for (size_t at = 0, n; at < len; at += n) {
        n = attn_pretoken_next(ATTN_PRETOKEN_GPT2, text + at, len - at);
        if (!count(t, text + at, n))
            return attn_no_memory(err, NULL, "to count the pieces of a text");
    }
    return ATTN_OK;
}

void attn_tally_free(struct attn_tally *t)
{
    attn_strings_free(&t->piece);
    free(t->count);
    *t = (struct attn_tally){0};
}

/* ---- couples: which two tokens are neighbours, how often, and where --------------------------
 *
 * They are numbered in the order they were added.  The most frequent one is found by a heap whose entries are checked
 * when they come up: a couple whose count has fallen since is put back, and one whose count rose was added a second
 * time. A position is not removed when the couple there is gone: readers must check that it is still there. */

enum { FIRST_SLOTS = 1 << 12 };

struct couple {
    int32_t left, right;
    uint64_t count;
    uint32_t *at; size_t n, room;       /* positions of the left token */
    bool rising;                        /* in the list below */
};

struct ranked { uint64_t count; uint32_t couple; };

struct couples {
    struct couple *list; size_t n, room;
    uint32_t *slot; size_t slots;                                   /* number + 1, 0: free; slots is a power of 2 */
    uint64_t seed;
    uint32_t *rising; size_t rises, rising_room;                    /* couples whose counts rose since a ranking */
    struct ranked *heap; size_t heap_n, heap_room;
};

/* The slot of a couple, or the free slot where it belongs. */
static uint32_t *find(const struct couples *c, int32_t left, int32_t right)
{
    size_t i = attn_hash_pair(c->seed, left, right) & (c->slots - 1);
    for (; c->slot[i]; i = (i + 1) & (c->slots - 1)) {
        const struct couple *k = &c->list[c->slot[i] - 1];
        if (k->left == left && k->right == right)
            break;
    }
    return &c->slot[i];
}

static bool spread(struct couples *c, size_t slots)
{
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    if (!c->slot)
        c->seed = attn_hash_seed();
    free(c->slot);
    c->slot = slot;
    c->slots = slots;
    for (size_t i = 0; i < c->n; i++)
        *find(c, c->list[i].left, c->list[i].right) = (uint32_t)i + 1;
    return true;
}

/* Finds a couple or adds it; NULL: no memory. */
static struct couple *meet(struct couples *c, int32_t left, int32_t right)
{
    if (2 * (c->n + 1) > c->slots && !spread(c, c->slots ? 2 * c->slots : FIRST_SLOTS))
        return NULL;
    uint32_t *slot = find(c, left, right);
    if (*slot)
        return &c->list[*slot - 1];
    struct couple *list = c->n < UINT32_MAX ? attn_grow(c->list, &c->room, c->n + 1, sizeof *list) : NULL;
    if (!list)
        return NULL;
    c->list = list;
    list[c->n] = (struct couple){.left = left, .right = right};
    *slot = (uint32_t)++c->n;
    return &list[c->n - 1];
}

static bool note_rise(struct couples *c, struct couple *k)
{
    uint32_t *rising = attn_grow(c->rising, &c->rising_room, c->rises + 1, sizeof *rising);
    if (!rising)
        return false;
    c->rising = rising;
    rising[c->rises++] = (uint32_t)(k - c->list);
    k->rising = true;
    return true;
}

/* Counts left and right as neighbours `count` more times, at this position; false: no memory. */
static bool couples_add(struct couples *c, int32_t left, int32_t right, uint64_t count, uint32_t at)
{
    struct couple *k = meet(c, left, right);
    if (!k || (!k->rising && !note_rise(c, k)))
        return false;
    uint32_t *more = attn_grow(k->at, &k->room, k->n + 1, sizeof *more);
    if (!more)
        return false;
    k->at = more;
    more[k->n++] = at;
    k->count += count;
    return true;
}

/* Counts them `count` fewer times; they must have been added. */
static void couples_drop(struct couples *c, int32_t left, int32_t right, uint64_t count)
{
    c->list[*find(c, left, right) - 1].count -= count;
}

static bool goes_before(const struct couples *c, struct ranked a, struct ranked b)
{
    const struct couple *x = &c->list[a.couple], *y = &c->list[b.couple];
    if (a.count != b.count)
        return a.count > b.count;
    return x->left != y->left ? x->left < y->left : x->right < y->right;
}

static void push(struct couples *c, uint32_t couple)
{
    struct ranked r = {c->list[couple].count, couple};
    size_t i = c->heap_n++;
    for (; i > 0 && goes_before(c, r, c->heap[(i - 1) / 2]); i = (i - 1) / 2)
        c->heap[i] = c->heap[(i - 1) / 2];
    c->heap[i] = r;
}

/* Replaces the top of the heap by r. */
static void sink(struct couples *c, struct ranked r)
{
    struct ranked *heap = c->heap;
    size_t i = 0, n = c->heap_n;
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && goes_before(c, heap[child + 1], heap[child]))
            child++;
        if (!goes_before(c, heap[child], r))
            break;
        heap[i] = heap[child];
    }
    heap[i] = r;
}

/* Call it after adding and before the next call of top; false: no memory. */
static bool couples_rank(struct couples *c)
{
    struct ranked *heap = attn_grow(c->heap, &c->heap_room, c->heap_n + c->rises, sizeof *heap);
    if (!heap)
        return false;
    c->heap = heap;
    for (size_t i = 0; i < c->rises; i++) {
        push(c, c->rising[i]);
        c->list[c->rising[i]].rising = false;
    }
    c->rises = 0;
    return true;
}

/* The most frequent couple; of equally frequent ones the one with the lower left token, then the lower right one.
 * Each is returned once.  NULL: none is left. */
static struct couple *couples_top(struct couples *c)
{
    while (c->heap_n > 0) {
        struct ranked top = c->heap[0];
        struct couple *k = &c->list[top.couple];
        bool falls = k->count < top.count && k->count > 0;
        sink(c, falls ? (struct ranked){k->count, top.couple} : c->heap[--c->heap_n]);
        if (k->count == top.count)      /* else its count fell, or it rose and is in the heap once more */
            return k;
    }
    return NULL;
}

static void couples_free(struct couples *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].at);
    free(c->list);
    free(c->slot);
    free(c->rising);
    free(c->heap);
    *c = (struct couples){0};
}

/* ---- learning ------------------------------------------------------------------------------ */

#define END UINT32_MAX
enum { BYTES = 256, GONE = -1 };

struct node { int32_t id; uint32_t prev, next, piece; };            /* a token at one position of a piece */

struct learner {
    struct attn_learned *to;
    const uint64_t *count;              /* how often each piece occurs */
    struct node *node;
    struct couples couples;
    char joined[ATTN_LEARN_LONGEST];
};

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

static bool add_couple(struct learner *l, uint32_t at)
{
    const struct node *a = &l->node[at];
    return couples_add(&l->couples, a->id, l->node[a->next].id, l->count[a->piece], at);
}

static void drop_couple(struct learner *l, uint32_t at)
{
    const struct node *a = &l->node[at];
    couples_drop(&l->couples, a->id, l->node[a->next].id, l->count[a->piece]);
}

/* Puts the bytes of a piece into nodes from `first` on; returns the number of the next free node. */
static uint32_t add_piece(struct learner *l, uint32_t first, uint32_t piece, const char *s, size_t len,
                          const int32_t id[BYTES])
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
    return couples_rank(&l->couples);
}

/* The token that joins both, added if it is new.  NONE: it would be too long or, with *ok false, there is no memory. */
static size_t join_bytes(struct learner *l, const struct couple *k, bool *ok)
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

static int compare_positions(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Applies a rule wherever left and right still are neighbours.  The couple's positions are taken over first, because
 * the list of couples may move. */
static bool follow(struct learner *l, const struct attn_rule *rule, struct couple *k)
{
    uint32_t *at = k->at;
    size_t n = k->n;
    bool ok = true;
    k->at = NULL;
    k->n = k->room = 0;
    if (rule->left == rule->right)      /* otherwise matches cannot overlap, and any order will do */
        qsort(at, n, sizeof *at, compare_positions);
    for (size_t i = 0; i < n && ok; i++) {
        const struct node *a = &l->node[at[i]];
        if (a->id == rule->left && a->next != END && l->node[a->next].id == rule->right)
            ok = join_at(l, rule, at[i]);
    }
    free(at);
    return ok && couples_rank(&l->couples);
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
    struct couple *k;
    bool ok = true;
    while (ok && l->to->token.n < tokens && (k = couples_top(&l->couples)) && k->count > 1) {
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
        couples_free(&l->couples);
        free(l->node);
    }
    free(l);
    if (ok)
        return ATTN_OK;
    attn_learned_free(out);
    return attn_no_memory(err, NULL, "to learn %zu tokens", tokens);
}

void attn_learned_free(struct attn_learned *l)
{
    attn_strings_free(&l->token);
    free(l->rule);
    *l = (struct attn_learned){0};
}
