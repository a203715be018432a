#include "making/couples.h"

#include "base/grow.h"
#include "base/hash.h"

enum { FIRST_SLOTS = 1 << 12 };

struct attn_ranked { uint64_t count; uint32_t couple; };

/* ---- finding one --------------------------------------------------------------------------- */

/* The slot of a couple, or the free slot where it belongs. */
static uint32_t *find(const struct attn_couples *c, int32_t left, int32_t right)
{
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    size_t i = attn_hash_mix(key ^ c->seed, 0x9E3779B97F4A7C15u) & (c->slots - 1);
    for (; c->slot[i]; i = (i + 1) & (c->slots - 1)) {
        const struct attn_couple *k = &c->list[c->slot[i] - 1];
        if (k->left == left && k->right == right)
            break;
    }
    return &c->slot[i];
}

static bool spread(struct attn_couples *c, size_t slots)
{
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    if (!c->slot)
        c->seed = attn_hash_seed(c);
    free(c->slot);
    c->slot = slot;
    c->slots = slots;
    for (size_t i = 0; i < c->n; i++)
        *find(c, c->list[i].left, c->list[i].right) = (uint32_t)i + 1;
    return true;
}

/* Finds a couple or adds it; NULL: no memory. */
static struct attn_couple *meet(struct attn_couples *c, int32_t left, int32_t right)
{
    if (2 * (c->n + 1) > c->slots && !spread(c, c->slots ? 2 * c->slots : FIRST_SLOTS))
        return NULL;
    uint32_t *slot = find(c, left, right);
    if (*slot)
        return &c->list[*slot - 1];
    struct attn_couple *list = c->n < UINT32_MAX ? attn_grow(c->list, &c->room, c->n + 1, sizeof *list) : NULL;
    if (!list)
        return NULL;
    c->list = list;
    list[c->n] = (struct attn_couple){.left = left, .right = right};
    *slot = (uint32_t)++c->n;
    return &list[c->n - 1];
}

/* ---- counting ------------------------------------------------------------------------------ */

static bool note_rise(struct attn_couples *c, struct attn_couple *k)
{
    uint32_t *rising = attn_grow(c->rising, &c->rising_room, c->rises + 1, sizeof *rising);
    if (!rising)
        return false;
    c->rising = rising;
    rising[c->rises++] = (uint32_t)(k - c->list);
    k->rising = true;
    return true;
}

bool attn_couples_add(struct attn_couples *c, int32_t left, int32_t right, uint64_t count, uint32_t at)
{
    struct attn_couple *k = meet(c, left, right);
    if (!k || (!k->rising && !note_rise(c, k)))
        return false;
    uint32_t *places = attn_grow(k->at, &k->room, k->n + 1, sizeof *places);
    if (!places)
        return false;
    k->at = places;
    places[k->n++] = at;
    k->count += count;
    return true;
}

void attn_couples_drop(struct attn_couples *c, int32_t left, int32_t right, uint64_t count)
{
    c->list[*find(c, left, right) - 1].count -= count;
}

/* ---- the most frequent --------------------------------------------------------------------- */

static bool goes_before(const struct attn_couples *c, struct attn_ranked a, struct attn_ranked b)
{
    const struct attn_couple *x = &c->list[a.couple], *y = &c->list[b.couple];
    if (a.count != b.count)
        return a.count > b.count;
    return x->left != y->left ? x->left < y->left : x->right < y->right;
}

static void push(struct attn_couples *c, uint32_t couple)
{
    struct attn_ranked r = {c->list[couple].count, couple};
    size_t i = c->heap_n++;
    for (; i > 0 && goes_before(c, r, c->heap[(i - 1) / 2]); i = (i - 1) / 2)
        c->heap[i] = c->heap[(i - 1) / 2];
    c->heap[i] = r;
}

/* Replaces the top of the heap by r. */
static void sink(struct attn_couples *c, struct attn_ranked r)
{
    struct attn_ranked *heap = c->heap;
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

bool attn_couples_rank(struct attn_couples *c)
{
    struct attn_ranked *heap = attn_grow(c->heap, &c->heap_room, c->heap_n + c->rises, sizeof *heap);
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

struct attn_couple *attn_couples_top(struct attn_couples *c)
{
    while (c->heap_n > 0) {
        struct attn_ranked top = c->heap[0];
        struct attn_couple *k = &c->list[top.couple];
        bool falls = k->count < top.count && k->count > 0;
        sink(c, falls ? (struct attn_ranked){k->count, top.couple} : c->heap[--c->heap_n]);
        if (k->count == top.count)      /* else its count fell, or it rose and is in the heap once more */
            return k;
    }
    return NULL;
}

void attn_couples_free(struct attn_couples *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].at);
    free(c->list);
    free(c->slot);
    free(c->rising);
    free(c->heap);
    *c = (struct attn_couples){0};
}
