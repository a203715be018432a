#include "text/merges.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/strings.h"

enum { FIRST_SLOTS = 16, AHEAD = 16 };

static uint64_t hash(const struct attn_merges *m, int32_t left, int32_t right)
{
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    return attn_hash_mix(pair ^ m->seed, 0x9E3779B97F4A7C15u);
}

/* The slot of the pair, or the free slot where it belongs. */
static uint32_t *probe(const struct attn_merges *m, uint64_t h, int32_t left, int32_t right)
{
    uint32_t high = (uint32_t)(h >> 32) & ~m->low;
    size_t i = h & (m->slots - 1);
    for (; m->slot[i]; i = (i + 1) & (m->slots - 1)) {
        const struct attn_rule *r = &m->rule[(m->slot[i] & m->low) - 1];
        if ((m->slot[i] & ~m->low) == high && r->left == left && r->right == right)
            break;
    }
    return &m->slot[i];
}

bool attn_merges_append(struct attn_merges *m, const struct attn_rule *rule)
{
    struct attn_rule *more = m->n < UINT32_MAX / 4 ? attn_grow(m->rule, &m->room, m->n + 1, sizeof *more) : NULL;
    if (!more)
        return false;
    m->rule = more;
    more[m->n++] = *rule;
    return true;
}

/* Slots are prefetched well before they are used. */
static void fill_slots(struct attn_merges *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct attn_rule *r = &m->rule[i], *later = &m->rule[i + AHEAD < m->n ? i + AHEAD : i];
        __builtin_prefetch(&m->slot[hash(m, later->left, later->right) & (m->slots - 1)], 1);
        uint64_t h = hash(m, r->left, r->right);
        *probe(m, h, r->left, r->right) = ((uint32_t)(h >> 32) & ~m->low) | (uint32_t)(i + 1);
    }
}

bool attn_merges_index(struct attn_merges *m)
{
    size_t slots = FIRST_SLOTS, room = 0;
    while (slots < 2 * m->n)
        slots *= 2;
    m->slot = attn_grow(NULL, &room, slots, sizeof *m->slot);
    if (!m->slot)
        return false;
    memset(m->slot, 0, slots * sizeof *m->slot);                    /* calloc's pages would fault twice: when read, when written */
    m->slots = slots;
    m->low = (uint32_t)slots - 1;
    m->seed = attn_hash_seed(m);
    fill_slots(m);
    return true;
}

struct attn_merge attn_merges_find(const struct attn_merges *m, int32_t left, int32_t right)
{
    uint32_t number = m->n > 0 ? *probe(m, hash(m, left, right), left, right) & m->low : 0;
    return number ? (struct attn_merge){number - 1, m->rule[number - 1].id} : (struct attn_merge){.rank = ATTN_MERGES_NONE};
}

void attn_merges_free(struct attn_merges *m)
{
    free(m->rule);
    free(m->slot);
    *m = (struct attn_merges){0};
}
