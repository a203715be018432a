/* pickle.h - reads a Python pickle as data: what it would build, never what it would run.
 *
 * A pickle is a program for a stack machine.  This reader knows the instructions that build numbers, strings, tuples,
 * lists and dictionaries; a call becomes a value of its own, the name of what is called and its arguments, and so does
 * a reference to data outside the pickle.  Names outside the caller's list are refused where they are mentioned.
 * Nothing is recursive, and all memory is bounded by a small multiple of the bytes read. */
#ifndef ATTN_IO_PICKLE_H
#define ATTN_IO_PICKLE_H

#include "base/strings.h"

enum attn_pickled_type {
    ATTN_PICKLED_NONE, ATTN_PICKLED_BOOL, ATTN_PICKLED_INT, ATTN_PICKLED_REAL, ATTN_PICKLED_TEXT,
    ATTN_PICKLED_LONG,                  /* an int of more than 8 bytes, as text: little-endian, signed */
    ATTN_PICKLED_NAME,                  /* of a function or class; `whole` is its row in the caller's list */
    ATTN_PICKLED_TUPLE, ATTN_PICKLED_LIST,
    ATTN_PICKLED_DICT,                  /* items are key, value, key, value, ... */
    ATTN_PICKLED_CALL,                  /* two items: the name and a tuple of arguments */
    ATTN_PICKLED_REFERENCE              /* one item: the identity of data outside the pickle */
};

struct attn_pickled {
    enum attn_pickled_type type;
    uint32_t len;                       /* bytes of text */
    union { int64_t whole; double real; const char *text; size_t box; } is;
};

struct attn_pickle_box { struct attn_pickled *item; size_t n, room; };

struct attn_pickle {
    const char *name; const unsigned char *bytes; size_t len, at;   /* name: for messages; at: the next instruction */
    const char *const *allowed;         /* "torch.FloatStorage", ...; ends with NULL */
    struct attn_pickled root;           /* what it builds */
    struct attn_pickle_box *box; size_t boxes, box_room;
    struct attn_pickled *stack; size_t n, room;
    size_t *mark; size_t marks, mark_room;
    struct attn_pickled *memo; size_t memos, memo_room;
    size_t steps;                       /* instructions so far */
    struct attn_str_view refused[2];    /* module and name that are not allowed */
};

/* Reads from `at` on; afterwards `at` is behind the pickle.  `text` of values points into the bytes. */
int attn_pickle_read(struct attn_pickle *p, const unsigned char *bytes, size_t len, size_t at,
                     const char *const *allowed, const char *name, struct attn_err *err);
void attn_pickle_free(struct attn_pickle *p);                       /* zeroed is fine */

/* Items of a tuple, list, dictionary, call or reference; none of anything else. */
struct attn_pickle_box attn_pickle_items(const struct attn_pickle *p, const struct attn_pickled *v);
bool attn_pickle_is(const struct attn_pickled *v, const char *text);
/* What a message calls it: "a string", "a dictionary", ... */
const char *attn_pickle_kind(const struct attn_pickled *v);

#endif
