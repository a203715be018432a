/* json.h - a strict pull reader for untrusted JSON.
 *
 * It follows RFC 8259 to the letter: UTF-8 without BOM, no trailing commas, no leading zeros, no comments, one value
 * and then only white space.  It builds no tree and allocates nothing, so that a huge document needs only the memory
 * for what its reader keeps.  Nesting is limited to 64.
 *
 *     attn_json_start(&j, text, len, "vocab.json");
 *     if (attn_json_next(&j) == ATTN_JSON_OBJECT)
 *         while (attn_json_next(&j) == ATTN_JSON_KEY) ...
 *     if (j.failed) return attn_json_error(&j, err);
 *
 * Events come in document order.  Duplicate keys and \u0000 are left to the caller, who can refuse them by the
 * functions at the end. */
#ifndef ATTN_BASE_JSON_H
#define ATTN_BASE_JSON_H

#include "attn.h"

enum attn_json_event {
    ATTN_JSON_FAILED, ATTN_JSON_DONE,
    ATTN_JSON_OBJECT, ATTN_JSON_OBJECT_END, ATTN_JSON_ARRAY, ATTN_JSON_ARRAY_END,
    ATTN_JSON_KEY, ATTN_JSON_STRING, ATTN_JSON_NUMBER, ATTN_JSON_TRUE, ATTN_JSON_FALSE, ATTN_JSON_NULL
};
enum { ATTN_JSON_DEPTH = 64 };

struct attn_json {
    const char *name, *text;            /* name: for messages; NULL if the document is one line of many */
    size_t len, at;                     /* at: next byte to read */
    size_t start;                       /* where the last key or value begins */
    size_t token, token_len;            /* the last key, string (between the quotes, escapes as written) or number */
    bool escaped;                       /* it contains escapes: attn_json_string is needed */
    size_t nul;                         /* position of its first \u0000; 0 if it has none */
    char *out; size_t out_len;          /* where to write keys and strings unescaped, or NULL: faster than
                                         * attn_json_string, but needs room for the rest of the text */
    bool is_whole; uint64_t whole;      /* the last number has digits only, 19 at most; its value */
    unsigned depth;
    unsigned char stack[ATTN_JSON_DEPTH];
    int state;
    const char *failed;                 /* NULL, or what was wrong at byte `at` */
};

void attn_json_start(struct attn_json *j, const char *text, size_t len, const char *name);
enum attn_json_event attn_json_next(struct attn_json *j);
/* Skips the value whose first event was just returned (a scalar: nothing to do). */
bool attn_json_skip(struct attn_json *j, enum attn_json_event first);
/* Decodes the last key or string into out (token_len bytes suffice); returns its length. */
size_t attn_json_string(const struct attn_json *j, char *out);
/* Spells the character at s, len > 0, as a JSON string may hold it and a terminal shows it; returns its bytes.  Bytes
 * that are not UTF-8 become U+FFFD. */
enum { ATTN_JSON_SPELLED = 8 };
size_t attn_json_spell(char form[ATTN_JSON_SPELLED], const char *s, size_t len);
bool attn_json_is(const struct attn_json *j, const char *s);        /* the last key or string equals s */
/* Writes "NAME: line 3, column 7: ...", or "column 7: ..." without a name; always ATTN_EFORMAT. */
int attn_json_error(const struct attn_json *j, struct attn_err *err);
/* Line and column (both from 1) of byte `at`. */
void attn_json_position(const struct attn_json *j, size_t at, size_t *line, size_t *column);

/* ---- stricter than RFC 8259 -------------------------------------------------------------- */

int attn_json_refuse_nul(const struct attn_json *j, struct attn_err *err);      /* for the last key or string */
/* Adds the key just read to those of its object; a key that is already there is refused, and so is \u0000. */
struct attn_strings;
int attn_json_add_key(struct attn_strings *keys, const struct attn_json *j, struct attn_err *err);
/* The same in two steps, which is faster for large objects: all keys are appended, then indexed.  next_key reads the
 * next event and returns whether it is a key; *rc tells about failures.  `before` is a copy of the reader made before
 * the object was read. */
bool attn_json_next_key(struct attn_strings *keys, struct attn_json *j, int *rc, struct attn_err *err);
int attn_json_index_keys(struct attn_strings *keys, const struct attn_json *before, struct attn_err *err);

#endif
