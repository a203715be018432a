#include "io/merges.h"

#include <stdlib.h>

#include "base/grow.h"
#include "io/hash.h"

enum { FIRST_SLOTS = 16, AHEAD = 16 };

static size_t first_slot(const struct attn_merges *m, int32_t left, int32_t right)
{
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    return attn_hash_mix(pair ^ m->seed, 0x9E3779B97F4A7C15u) & (m->slots - 1);
}

/* The slot of the pair, or the free one where it belongs. */
static uint32_t *probe(const struct attn_merges *m, int32_t left, int32_t right)
{
    size_t i = first_slot(m, left, right);
    for (; m->slot[i]; i = (i + 1) & (m->slots - 1)) {
        const struct attn_rule *r = &m->rule[m->slot[i] - 1];
        if (r->left == left && r->right == right)
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

/* Slots are fetched into the cache well before they are looked at. */
bool attn_merges_index(struct attn_merges *m)
{
    size_t slots = FIRST_SLOTS;
    while (slots < 2 * m->n)
        slots *= 2;
    m->slot = calloc(slots, sizeof *m->slot);
    if (!m->slot)
        return false;
    m->slots = slots;
    m->seed = attn_hash_seed(m);
    for (size_t i = 0; i < m->n; i++) {
        const struct attn_rule *r = &m->rule[i], *later = r + AHEAD;
        if (i + AHEAD < m->n)
            __builtin_prefetch(&m->slot[first_slot(m, later->left, later->right)], 1);
        *probe(m, r->left, r->right) = (uint32_t)i + 1;
    }
    return true;
}

struct attn_merge attn_merges_find(const struct attn_merges *m, int32_t left, int32_t right)
{
    uint32_t number = m->n > 0 ? *probe(m, left, right) : 0;
    return number ? (struct attn_merge){number - 1, m->rule[number - 1].id} : (struct attn_merge){.rank = ATTN_MERGES_NONE};
}

void attn_merges_free(struct attn_merges *m)
{
    free(m->rule);
    free(m->slot);
    *m = (struct attn_merges){0};
}
