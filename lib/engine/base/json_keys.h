/* json_keys.h - reads a JSON object into a struct, and writes one, by a table of its keys.
 *
 * A row says how a key is spelled, what it may hold and where that goes.  Rows are read in order, so that of two
 * spellings of one field the later row wins.  A strict table refuses unknown keys, naming the nearest known one; a
 * lax one ignores them, as configurations written by others require. */
#ifndef ATTN_BASE_JSON_KEYS_H
#define ATTN_BASE_JSON_KEYS_H

#include "base/tree.h"

enum attn_key_type {
    ATTN_KEY_FIXED,                     /* the first word and nothing else */
    ATTN_KEY_SIZE, ATTN_KEY_COUNT,      /* size_t from 1, from 0 */
    ATTN_KEY_MAYBE,                     /* size_t from 1; null is 0, which is not written */
    ATTN_KEY_ID,                        /* size_t: a whole number plus 1; null is 0, which is not written */
    ATTN_KEY_REAL,                      /* double, not negative */
    ATTN_KEY_ABOVE,                     /* double above 0; null is 0 */
    ATTN_KEY_REALS,                     /* struct attn_reals: a list of numbers above 0, or null */
    ATTN_KEY_CHOICE,                    /* an enum, given by one of the words */
    ATTN_KEY_EITHER,                    /* a bool, given by one of the words */
    ATTN_KEY_FLAG,                      /* bool */
    ATTN_KEY_WHERE, ATTN_KEY_UNLESS,    /* bool, and the opposite of one; where the field is false it is not written */
    ATTN_KEY_TEXT, ATTN_KEY_NAME,       /* char *; TEXT: "" is read as NULL; NAME: null is NULL, "" is refused */
    ATTN_KEY_SECTION,                   /* an object with keys of its own */
    ATTN_KEY_OFF,                       /* a feature we lack: must be false, null, {} or absent */
    ATTN_KEY_ON,                        /* one we always have: must be true, null or absent */
    ATTN_KEY_ONE,                       /* a factor we do not apply: must be 1, null or absent */
    ATTN_KEY_ALL                        /* a list of nothing but the first word, or null */
};

struct attn_reals { double *x; size_t n; };                         /* x: malloc'd */

struct attn_word { const char *word; unsigned value; };             /* a list ends with NULL */

struct attn_key {
    const char *name;                   /* a table ends with NULL */
    enum attn_key_type type;
    size_t at;                          /* offset of the field */
    const struct attn_word *words;
    const struct attn_key *keys;        /* of a section */
};

struct attn_key_reader {
    void *to;                           /* the struct */
    const char *name;                   /* of the file */
    const char *section;                /* "", or "tokenizer." in front of each key in messages */
    bool lax;                           /* ignores unknown keys */
    bool none;                          /* null is Python's None: false, or absent */
    struct attn_err *err;
};

int attn_keys_read(const struct attn_key_reader *r, const struct attn_key *keys, const cJSON *object);
int attn_key_read(const struct attn_key_reader *r, const struct attn_key *k, const cJSON *v);
/* "FILE: \"KEY\" is FOUND, expected EXPECTED" */
int attn_key_unexpected(const struct attn_key_reader *r, const char *key, const cJSON *v, const char *expected);

const struct attn_key *attn_key_named(const struct attn_key *keys, const char *name);  /* must be there */
/* The spelling of the field at an offset; "" if the table has none. */
const char *attn_key_at(const struct attn_key *keys, size_t at);
const char *attn_word_of(const struct attn_word *words, unsigned value);

extern const char attn_size_from_1[];   /* "a whole number from 1 to 2147483647" */

struct attn_out;
void attn_keys_write(struct attn_out *out, const struct attn_key *keys, const void *from, int indent);

#endif
