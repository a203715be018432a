/* gguf.h - reads GGUF, the files of llama.cpp: metadata by key, and tensors by name.
 *
 * Layout, all numbers little-endian: "GGUF", u32 version (2 or 3), u64 number of tensors, u64 number of pairs; the
 * pairs, each a key (a string: u64 length and its bytes), u32 type and value; the tensors, each a name, u32 number of
 * dimensions, u64 each, u32 type, u64 offset; zeros up to the alignment; the data.  An array is u32 type, u64 number
 * and the values, which are no arrays.  The first dimension of a tensor is the length of a row, the reverse of
 * safetensors: here shapes are turned, so that [out, in] is a matrix of `out` rows.  Offsets count from the start of
 * the data and are the running sum of the tensors before, each rounded up to the alignment.
 *
 * Nobody vouches for a file: numbers of things are compared with the bytes that are there before anything is
 * allocated.  Only the metadata is read, never the data. */
#ifndef ATTN_IO_GGUF_H
#define ATTN_IO_GGUF_H

#include "io/tensors.h"

enum attn_gguf_kind { ATTN_GGUF_U8, ATTN_GGUF_I8, ATTN_GGUF_U16, ATTN_GGUF_I16, ATTN_GGUF_U32, ATTN_GGUF_I32,
                      ATTN_GGUF_F32, ATTN_GGUF_BOOL, ATTN_GGUF_STRING, ATTN_GGUF_ARRAY, ATTN_GGUF_U64,
                      ATTN_GGUF_I64, ATTN_GGUF_F64, ATTN_GGUF_KINDS };

/* Of an array: its values one after the other; else one value. */
struct attn_gguf_value {
    const char *key;                    /* NUL-terminated */
    bool array;
    enum attn_gguf_kind kind;           /* of the value, or of each of the array's */
    size_t n;                           /* values */
    const unsigned char *at, *end;      /* may be misaligned */
};

struct attn_gguf {
    const char *name;                   /* the path, for messages; the caller's */
    struct attn_strings keys;
    struct attn_gguf_value *value; size_t room;                     /* [keys.n] */
    struct attn_st *st;                 /* the tensors, in the order of the file */
    unsigned version;
};

/* Reads from memory that the caller keeps alive, as it does `name`. */
int attn_gguf_open(struct attn_gguf **out, const unsigned char *bytes, size_t len, const char *name,
                   struct attn_err *err);
void attn_gguf_close(struct attn_gguf *g);                          /* NULL is fine */
bool attn_gguf_is(const unsigned char *bytes, size_t len);          /* by its first bytes */

const struct attn_gguf_value *attn_gguf_find(const struct attn_gguf *g, const char *key);   /* NULL: not there */
const char *attn_gguf_kind_name(const struct attn_gguf_value *v);   /* such as "u32" or "array of string" */

/* The i-th value of an array, or with i 0 a single value, i < n; false: it is of another kind.  A whole number has any
 * integer type and is not negative; of one that is, *out is 2^64 less. */
bool attn_gguf_whole(const struct attn_gguf_value *v, size_t i, uint64_t *out);
bool attn_gguf_real(const struct attn_gguf_value *v, size_t i, double *out);
bool attn_gguf_flag(const struct attn_gguf_value *v, bool *out);
bool attn_gguf_text(const struct attn_gguf_value *v, struct attn_str_view *out);
/* Strings one after the other: *at begins as v->at. */
struct attn_str_view attn_gguf_next_text(const unsigned char **at);

#endif
