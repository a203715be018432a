/* vocab.h - vocab.json: an object that maps a token's spelling to its id.
 *
 * Ids are whole numbers from 0; two tokens of the file never share one, gaps are allowed.  Keys may hold any UTF-8 but
 * NUL.  The pull reader of base/json.h reads it in one pass: the set of words that has to be built anyway finds
 * duplicate keys, and a tree of 50,000 values would take twice the time. */
#ifndef ATTN_TEXT_VOCAB_H
#define ATTN_TEXT_VOCAB_H

#include "base/strings.h"

enum {
    ATTN_VOCAB_MAX = 1 << 22,           /* entries; real vocabularies have about 256,000 at most */
    ATTN_VOCAB_ID_MAX = INT32_MAX - 1   /* so that the number of ids still fits into 31 bits */
};

struct attn_vocab;
int attn_vocab_read(struct attn_vocab **out, const char *text, size_t len, const char *name, struct attn_err *err);
/* The same for the object that is the reader's next value, anywhere in a document. */
struct attn_json;
int attn_vocab_take(struct attn_vocab **out, struct attn_json *j, struct attn_err *err);
/* From a list: words one by one, whose ids count from 0, then an index of them; no word may be there twice. */
struct attn_vocab *attn_vocab_new(void);                            /* NULL: no memory */
int attn_vocab_append(struct attn_vocab *v, const char *word, size_t len, const char *name, struct attn_err *err);
int attn_vocab_index(struct attn_vocab *v, const char *name, struct attn_err *err);
/* From words whose ids are their numbers, id[] among them; both must outlive it and do not change.  NULL: no memory. */
struct attn_vocab *attn_vocab_lend(const struct attn_strings *words, int32_t *id);
/* Adds entries; one that already exists must have the same id.  Of several with one id each word is found, and the last
 * one spells the id; together they are one entry in what follows. */
int attn_vocab_add(struct attn_vocab *v, const char *const *word, const int32_t *id, size_t n, const char *name,
                   struct attn_err *err);
void attn_vocab_free(struct attn_vocab *v);                         /* NULL is fine */
size_t attn_vocab_size(const struct attn_vocab *v);                 /* entries */
size_t attn_vocab_bytes(const struct attn_vocab *v);                /* length of all words, with a NUL after each */
int32_t attn_vocab_top(const struct attn_vocab *v);                 /* the largest id */
int32_t attn_vocab_id(const struct attn_vocab *v, const char *word, size_t len);    /* -1: not found */
/* The same for each of n words, n at most ATTN_STRINGS_FINDS; faster than one by one. */
void attn_vocab_ids(const struct attn_vocab *v, const struct attn_str_view *word, size_t n, int32_t *id);
int32_t attn_vocab_own_id(const struct attn_vocab *v, const char *word, size_t len);    /* ignores added entries */
/* its position among the sorted ids; SIZE_MAX: not found */
size_t attn_vocab_rank(const struct attn_vocab *v, int32_t id);
/* NUL-terminated; NULL: no such id.  Rank i counts entries in the order of ids. */
const char *attn_vocab_word(const struct attn_vocab *v, int32_t id, size_t *len);
const char *attn_vocab_at(const struct attn_vocab *v, size_t i, size_t *len);
int32_t attn_vocab_id_at(const struct attn_vocab *v, size_t i);
/* Finds up to n known words nearest to an unknown one (base/near.h), nearest first, then by id; returns the number of
 * those near enough to suggest.  In a large vocabulary of long words not all are compared. */
size_t attn_vocab_nearest(const struct attn_vocab *v, const char *word, size_t len, const char *near[],
                          size_t near_len[], size_t n);

#endif
