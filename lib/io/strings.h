/* strings.h - a set of strings, numbered in order of arrival.
 *
 * Keys of JSON objects, names of tensors, words of a vocabulary: all are looked up here.  The hash
 * is seeded anew for each set, so that no file can be written to make it slow; nothing a caller sees
 * depends on the seed.  A zeroed struct is an empty set. */
#ifndef ATTN_IO_STRINGS_H
#define ATTN_IO_STRINGS_H

#include "attn.h"

struct attn_slice { const char *s; size_t len; };
struct attn_string { uint32_t at, hash; };                          /* at: in the pool, up to the next one */

struct attn_strings {
    char *pool; size_t used, pool_room;                             /* a NUL after each string */
    struct attn_string *item; size_t n, item_room;
    uint32_t *slot; size_t slots, slot_room;                        /* item + 1, 0: free; slots is a power of 2 */
    uint64_t seed;
};

#define ATTN_STRINGS_NONE SIZE_MAX

/* The number of s, which is copied if it is new: then the number is the old n.  NONE: no memory, or
 * 4 GB are full. */
size_t attn_strings_add(struct attn_strings *t, const char *s, size_t len);
/* Room for a string of up to len bytes to be made in place: adding it then copies nothing.  NULL
 * where add gives NONE. */
char *attn_strings_draft(struct attn_strings *t, size_t len);
/* Many at once: appended unseen, then made into a set, after which all else works.  *twice: the first that
 * equals one before it, or NONE.  false: as add gives NONE. */
bool attn_strings_append(struct attn_strings *t, const char *s, size_t len);
bool attn_strings_index(struct attn_strings *t, size_t *twice);
size_t attn_strings_find(const struct attn_strings *t, const char *s, size_t len);  /* NONE: not there */
/* find for each of n slices, n at most FINDS: together, so that they wait for memory but once. */
enum { ATTN_STRINGS_FINDS = 64 };
void attn_strings_find_each(const struct attn_strings *t, const struct attn_slice *s, size_t n, size_t *number);
/* NUL-terminated, until the next add; len may be NULL. */
const char *attn_strings_at(const struct attn_strings *t, size_t i, size_t *len);
void attn_strings_clear(struct attn_strings *t);                    /* empty again, memory kept */
void attn_strings_free(struct attn_strings *t);

/* How many bytes of a string a message shows, for %.*s: all of a short one, else what ends with a
 * whole character. */
int attn_shown(const char *s, size_t len);

#endif
