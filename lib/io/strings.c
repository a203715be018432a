#include "io/strings.h"

#include <string.h>

#include "base/grow.h"
#include "io/hash.h"

enum { FIRST_SLOTS = 16, SHOWN = 72 };

static uint32_t hash(uint64_t seed, const char *s, size_t len)
{
    uint64_t h = attn_hash_mix(seed ^ len, 0x9E3779B97F4A7C15u);
    for (; len >= 8; s += 8, len -= 8)
        h = attn_hash_mix(h ^ attn_hash_word(s, 8), seed | 1);
    h = attn_hash_mix(h ^ attn_hash_word(s, len), 0xD6E8FEB86659FD93u);
    return (uint32_t)(h ^ h >> 32);
}

static size_t length(const struct attn_strings *t, size_t i)
{
    return (i + 1 < t->n ? t->item[i + 1].at : t->used) - t->item[i].at - 1;
}

/* The slot that holds s, or the free one where it belongs. */
static size_t probe(const struct attn_strings *t, uint32_t h, const char *s, size_t len)
{
    size_t i = h & (t->slots - 1);
    for (; t->slot[i]; i = (i + 1) & (t->slots - 1)) {
        size_t k = t->slot[i] - 1;
        if (t->item[k].hash == h && length(t, k) == len && memcmp(t->pool + t->item[k].at, s, len) == 0)
            break;
    }
    return i;
}

/* So many slots, all free, then every item in its place. */
static bool spread(struct attn_strings *t, size_t slots)
{
    if (!t->slot)
        t->seed = attn_hash_seed(t);
    uint32_t *slot = attn_grow(t->slot, &t->slot_room, slots, sizeof *slot);
    if (!slot)
        return false;
    t->slot = slot;
    t->slots = slots;
    memset(slot, 0, slots * sizeof *slot);
    for (size_t n = 0; n < t->n; n++) {
        size_t i = t->item[n].hash & (slots - 1);
        while (slot[i])
            i = (i + 1) & (slots - 1);
        slot[i] = (uint32_t)n + 1;
    }
    return true;
}

bool attn_strings_reserve(struct attn_strings *t, size_t n)
{
    size_t slots = FIRST_SLOTS;
    if (n > UINT32_MAX / 4)
        return false;
    while (slots < 2 * n)
        slots *= 2;
    return slots <= t->slots || spread(t, slots);
}

char *attn_strings_draft(struct attn_strings *t, size_t len)
{
    if (len >= UINT32_MAX - t->used)
        return NULL;
    char *pool = attn_grow(t->pool, &t->pool_room, t->used + len + 1, 1);
    if (!pool)
        return NULL;
    t->pool = pool;
    return pool + t->used;
}

/* s, which is new, as the item of a free slot. */
static bool append(struct attn_strings *t, uint32_t *slot, uint32_t h, const char *s, size_t len)
{
    char *copy = attn_strings_draft(t, len);
    struct attn_string *item = attn_grow(t->item, &t->item_room, t->n + 1, sizeof *item);
    if (item)
        t->item = item;
    if (!item || !copy)
        return false;
    if (copy != s)
        memcpy(copy, s, len);
    copy[len] = '\0';
    item[t->n++] = (struct attn_string){.at = (uint32_t)t->used, .hash = h};
    t->used += len + 1;
    *slot = (uint32_t)t->n;
    return true;
}

size_t attn_strings_add(struct attn_strings *t, const char *s, size_t len)
{
    if (2 * (t->n + 1) > t->slots && !spread(t, t->slots ? 2 * t->slots : FIRST_SLOTS))
        return ATTN_STRINGS_NONE;
    uint32_t h = hash(t->seed, s, len);
    uint32_t *slot = &t->slot[probe(t, h, s, len)];
    return *slot || append(t, slot, h, s, len) ? *slot - 1 : ATTN_STRINGS_NONE;
}

size_t attn_strings_find(const struct attn_strings *t, const char *s, size_t len)
{
    if (t->n == 0)
        return ATTN_STRINGS_NONE;
    uint32_t item = t->slot[probe(t, hash(t->seed, s, len), s, len)];
    return item ? item - 1 : ATTN_STRINGS_NONE;
}

const char *attn_strings_at(const struct attn_strings *t, size_t i, size_t *len)
{
    if (len)
        *len = length(t, i);
    return t->pool + t->item[i].at;
}

void attn_strings_clear(struct attn_strings *t)
{
    t->n = t->used = 0;
    t->slots = 0;                       /* the next add starts small: clearing costs what was used */
}

void attn_strings_free(struct attn_strings *t)
{
    free(t->pool);
    free(t->item);
    free(t->slot);
    *t = (struct attn_strings){0};
}

int attn_shown(const char *s, size_t len)
{
    if (len <= SHOWN)
        return (int)len;
    size_t n = SHOWN;
    while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n--;
    return (int)n;
}
