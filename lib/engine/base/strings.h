/* strings.h - a set of strings, numbered in the order they were added.
 *
 * Keys of JSON objects, names of tensors and words of a vocabulary are all looked up here.  The hash is seeded anew
 * for each set, so that no file can be crafted to make it slow; no result that a caller sees depends on the seed.  A
 * zeroed struct is an empty set. */
#ifndef ATTN_BASE_STRINGS_H
#define ATTN_BASE_STRINGS_H

#include <string.h>

#include "attn.h"

struct attn_str_view { const char *s; size_t len; };
/* at: its start in the pool; it ends where the next one starts */
struct attn_string { uint32_t at, hash; };

struct attn_strings {
    char *pool; size_t used, pool_room;                             /* with a NUL after each string */
    struct attn_string *item; size_t n, item_room;
    uint32_t *slot; size_t slots, slot_room;                        /* item + 1, 0: free; slots is a power of 2 */
    uint64_t seed;                      /* 0: chosen when it is first needed */
};

#define ATTN_STRINGS_NONE SIZE_MAX

/* The number of s; a new s is copied and gets the old n.  NONE: no memory, or the limit of 4 GB is reached. */
size_t attn_strings_add(struct attn_strings *t, const char *s, size_t len);
/* Room to build a string of up to len bytes in place; adding it then copies nothing.  NULL where add gives NONE. */
char *attn_strings_draft(struct attn_strings *t, size_t len);
/* For many strings: append them without a look-up, then index them once; after that all other functions work.  *twice:
 * the first string that equals an earlier one, or NONE.  False where add gives NONE. */
bool attn_strings_append(struct attn_strings *t, const char *s, size_t len);
bool attn_strings_index(struct attn_strings *t, size_t *twice);
size_t attn_strings_find(const struct attn_strings *t, const char *s, size_t len);  /* NONE: not found */
/* Does find for each of n texts, at most FINDS; together they wait for memory only once. */
enum { ATTN_STRINGS_FINDS = 64 };
void attn_strings_find_each(const struct attn_strings *t, const struct attn_str_view *s, size_t n, size_t *number);
/* NUL-terminated, valid until the next add; len may be NULL. */
const char *attn_strings_at(const struct attn_strings *t, size_t i, size_t *len);
void attn_strings_clear(struct attn_strings *t);                    /* empties it but keeps the memory */
void attn_strings_free(struct attn_strings *t);

/* Whether a path or name ends with `end`, in any case. */
bool attn_ends_with(const char *s, const char *end);

/* How many bytes of a string a message shows, for %.*s: all if it is short, else whole characters at its start. */
int attn_shown(const char *s, size_t len);
int attn_shown_of(const char *s, size_t len, size_t most);    /* of at most so many bytes */

/* ---- hashing, shared by all tables over a file's contents ---------------------------------- */

#define ATTN_HASH_FACTOR 0x9E3779B97F4A7C15u                         /* 2^64 by the golden ratio */

/* Folds the two halves of the full product, so that every input bit affects every output bit. */
static inline uint64_t attn_hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Packs up to 8 bytes into a number such that different strings of one length get different numbers.  It reads no
 * byte beyond them and needs no loop or call. */
static inline uint64_t attn_hash_word(const char *s, size_t len)
{
    uint32_t a = 0, b = 0;
    if (len >= 4) {
        memcpy(&a, s, 4);
        memcpy(&b, s + len - 4, 4);
    } else if (len > 0) {               /* some of the three may coincide */
        a = (uint32_t)(unsigned char)s[0] << 16 | (uint32_t)(unsigned char)s[len / 2] << 8 | (unsigned char)s[len - 1];
    }
    return a | (uint64_t)b << 32;
}

/* A pair of numbers.  It is mixed twice because after one product alone, with some seeds, consecutive numbers would
 * crowd into a part of the table. */
static inline uint64_t attn_hash_pair(uint64_t seed, int32_t left, int32_t right)
{
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    return attn_hash_mix(attn_hash_mix(pair ^ seed, ATTN_HASH_FACTOR), ATTN_HASH_FACTOR);
}

/* A random seed, never 0, which stands for a table that has none yet. */
uint64_t attn_hash_seed(void);

#endif
