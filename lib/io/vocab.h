/* vocab.h - vocab.json: an object from a token's spelling to its id.
 *
 * Ids are whole numbers from 0; two tokens never share one, gaps are allowed.  Keys may hold any
 * UTF-8 but NUL.  The pull reader of io/json.h reads it in one pass: the set of words that has to be
 * built anyway finds duplicate keys, and a tree of 50,000 values would cost twice the time. */
#ifndef ATTN_IO_VOCAB_H
#define ATTN_IO_VOCAB_H

#include "io/strings.h"

enum {
    ATTN_VOCAB_MAX = 1 << 22,           /* entries; real vocabularies have some 256,000 */
    ATTN_VOCAB_ID_MAX = INT32_MAX - 1   /* with it, their number still fits 31 bits */
};

struct attn_vocab;
int attn_vocab_read(struct attn_vocab **out, const char *text, size_t len, const char *name, struct attn_err *err);
/* The same for the object that is the reader's next value, somewhere in a document. */
struct attn_json;
int attn_vocab_take(struct attn_vocab **out, struct attn_json *j, struct attn_err *err);
/* More entries; one that is there already must have the same id. */
int attn_vocab_add(struct attn_vocab *v, const char *const *word, const int32_t *id, size_t n, const char *name,
                   struct attn_err *err);
void attn_vocab_free(struct attn_vocab *v);                         /* NULL is fine */
size_t attn_vocab_size(const struct attn_vocab *v);                 /* entries */
size_t attn_vocab_bytes(const struct attn_vocab *v);                /* of all of them, a NUL after each included */
int32_t attn_vocab_top(const struct attn_vocab *v);                 /* the largest id */
int32_t attn_vocab_id(const struct attn_vocab *v, const char *word, size_t len);    /* -1: not there */
/* The same for each of n words, n at most ATTN_STRINGS_FINDS; faster than one by one. */
void attn_vocab_ids(const struct attn_vocab *v, const struct attn_slice *word, size_t n, int32_t *id);
int32_t attn_vocab_own_id(const struct attn_vocab *v, const char *word, size_t len);    /* not among those added */
size_t attn_vocab_rank(const struct attn_vocab *v, int32_t id);     /* its place among the ids; SIZE_MAX: not there */
/* NUL-terminated; NULL: no such id.  Entry i in the order of ids. */
const char *attn_vocab_word(const struct attn_vocab *v, int32_t id, size_t *len);
const char *attn_vocab_at(const struct attn_vocab *v, size_t i, size_t *len);
int32_t attn_vocab_id_at(const struct attn_vocab *v, size_t i);
/* Up to n known words nearest to an unknown one (io/near.h), nearest first, then by id; returns how
 * many were near enough to be worth a suggestion.  Of a large vocabulary of long words not all are looked at. */
size_t attn_vocab_nearest(const struct attn_vocab *v, const char *word, size_t len, const char *near[],
                          size_t near_len[], size_t n);

#endif
