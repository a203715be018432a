#include "base/strings.h"

#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/os.h"

uint64_t attn_hash_seed(void) { return attn_os_random() | 1; }

enum { FIRST_SLOTS = 16, AHEAD = 16, SHOWN = 72 };

/* Both factors contain the seed, so that no string can be crafted to be multiplied by zero.  The last product keeps
 * strings of digits, which differ in a few bits, from crowding in a part of the table with some seeds. */
static uint32_t hash(uint64_t seed, const char *s, size_t len)
{
    uint64_t h = seed, other = (seed >> 32 | seed << 32) + len * ATTN_HASH_FACTOR;
    for (; len > 16; s += 16, len -= 16)
        h = attn_hash_mix(h ^ attn_hash_word(s, 8), other ^ attn_hash_word(s + 8, 8));
    size_t first = len < 8 ? len : 8;
    h = attn_hash_mix(h ^ attn_hash_word(s, first), other ^ attn_hash_word(s + first, len - first));
    h = attn_hash_mix(h, ATTN_HASH_FACTOR);
    return (uint32_t)(h ^ h >> 32);
}

static size_t length(const struct attn_strings *t, size_t i)
{
    return (i + 1 < t->n ? t->item[i + 1].at : t->used) - t->item[i].at - 1;
}

/* The slot that holds s, or the free slot where it belongs. */
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

/* Gets that many slots, all free. */
static bool free_slots(struct attn_strings *t, size_t slots)
{
    if (!t->seed)
        t->seed = attn_hash_seed();
    uint32_t *slot = attn_grow(t->slot, &t->slot_room, slots, sizeof *slot);
    if (!slot)
        return false;
    t->slot = slot;
    t->slots = slots;
    memset(slot, 0, slots * sizeof *slot);
    return true;
}

/* Gets that many slots and puts every item into its place. */
static bool spread(struct attn_strings *t, size_t slots)
{
    if (!free_slots(t, slots))
        return false;
    for (size_t n = 0; n < t->n; n++) {
        size_t i = t->item[n].hash & (slots - 1);
        while (t->slot[i])
            i = (i + 1) & (slots - 1);
        t->slot[i] = (uint32_t)n + 1;
    }
    return true;
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

bool attn_strings_append(struct attn_strings *t, const char *s, size_t len)
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
    item[t->n++] = (struct attn_string){.at = (uint32_t)t->used};
    t->used += len + 1;
    return true;
}

/* Adds s, which is new, and enters it into a free slot. */
static bool put(struct attn_strings *t, uint32_t *slot, uint32_t h, const char *s, size_t len)
{
    if (!attn_strings_append(t, s, len))
        return false;
    t->item[t->n - 1].hash = h;
    *slot = (uint32_t)t->n;
    return true;
}

size_t attn_strings_add(struct attn_strings *t, const char *s, size_t len)
{
    if (2 * (t->n + 1) > t->slots && !spread(t, t->slots ? 2 * t->slots : FIRST_SLOTS))
        return ATTN_STRINGS_NONE;
    uint32_t h = hash(t->seed, s, len);
    uint32_t *slot = &t->slot[probe(t, h, s, len)];
    return *slot || put(t, slot, h, s, len) ? *slot - 1 : ATTN_STRINGS_NONE;
}

/* Slots for n items are prefetched well before they are used. */
bool attn_strings_index(struct attn_strings *t, size_t *twice)
{
    size_t slots = FIRST_SLOTS, len;
    while (slots < 2 * t->n)
        slots *= 2;
    if (t->n > UINT32_MAX / 4 || !free_slots(t, slots))
        return false;
    for (size_t i = 0; i < t->n; i++) {
        const char *s = attn_strings_at(t, i, &len);
        t->item[i].hash = hash(t->seed, s, len);
    }
    for (*twice = 0; *twice < t->n; ++*twice) {
        if (*twice + AHEAD < t->n)
            __builtin_prefetch(&t->slot[t->item[*twice + AHEAD].hash & (slots - 1)], 1);
        const char *s = attn_strings_at(t, *twice, &len);
        uint32_t *slot = &t->slot[probe(t, t->item[*twice].hash, s, len)];
        if (*slot)
            return true;
        *slot = (uint32_t)*twice + 1;
    }
    *twice = ATTN_STRINGS_NONE;
    return true;
}

size_t attn_strings_find(const struct attn_strings *t, const char *s, size_t len)
{
    if (t->n == 0)
        return ATTN_STRINGS_NONE;
    uint32_t item = t->slot[probe(t, hash(t->seed, s, len), s, len)];
    return item ? item - 1 : ATTN_STRINGS_NONE;
}

/* Slot, item and string lie in different places: each is prefetched for all strings before the first is used. */
void attn_strings_find_each(const struct attn_strings *t, const struct attn_str_view *s, size_t n, size_t *number)
{
    uint32_t h[ATTN_STRINGS_FINDS], likely[ATTN_STRINGS_FINDS];
    for (size_t i = 0; i < n; i++)
        number[i] = ATTN_STRINGS_NONE;
    if (t->n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        h[i] = hash(t->seed, s[i].s, s[i].len);
        __builtin_prefetch(&t->slot[h[i] & (t->slots - 1)]);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t item = t->slot[h[i] & (t->slots - 1)];
        likely[i] = item ? item - 1 : 0;
        __builtin_prefetch(&t->item[likely[i]]);
    }
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(t->pool + t->item[likely[i]].at);
    for (size_t i = 0; i < n; i++)
        number[i] = (size_t)t->slot[probe(t, h[i], s[i].s, s[i].len)] - 1;  /* 0, a free slot, becomes NONE */
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
    t->slots = 0;                       /* the next add starts with few slots, so clearing is cheap */
}

void attn_strings_free(struct attn_strings *t)
{
    free(t->pool);
    free(t->item);
    free(t->slot);
    *t = (struct attn_strings){0};
}

bool attn_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcasecmp(s + n - m, end);
}

int attn_shown(const char *s, size_t len) { return attn_shown_of(s, len, SHOWN); }

int attn_shown_of(const char *s, size_t len, size_t most)
{
    if (len <= most)
        return (int)len;
    size_t n = most;
    while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n--;
    return (int)n;
}
