/* safetensors.h - reads tensors by name from a .safetensors file, and writes them.
 *
 * Layout: u64 little-endian N, N bytes of JSON, raw data.  The JSON maps a name to dtype, shape and data_offsets,
 * counted from the end of the JSON; "__metadata__" maps strings to strings.  Sorted by offset the tensors tile the
 * data: no hole, no overlap, and the last ends with the file.  The bytes are mapped, not copied, and untrusted: each
 * length is checked before use, and nothing is allocated by a number the file claims. */
#ifndef ATTN_IO_SAFETENSORS_H
#define ATTN_IO_SAFETENSORS_H

#include "attn.h"

enum { ATTN_ST_DIMS = 8 };

struct attn_st_tensor {
    const char *name;                   /* NUL-terminated; as in the file */
    const char *dtype;                  /* "F32", "F16", "BF16", "I64", ... */
    int ndim; size_t shape[ATTN_ST_DIMS];
    size_t count, bytes;                /* elements; bytes in the file */
    const unsigned char *data;          /* may be misaligned */
};

struct attn_st;
/* Reads from memory that the caller keeps alive.  `name` is for messages. */
int attn_st_open(struct attn_st **out, const unsigned char *bytes, size_t len, const char *name, struct attn_err *err);
void attn_st_close(struct attn_st *st);                             /* NULL is fine */
size_t attn_st_count(const struct attn_st *st);
/* In the order of offsets, contiguous in memory: tensor t has index t - attn_st_at(st, 0). */
const struct attn_st_tensor *attn_st_at(const struct attn_st *st, size_t i);
const struct attn_st_tensor *attn_st_find(const struct attn_st *st, const char *name);  /* NULL: not there */
size_t attn_st_header(const struct attn_st *st);                    /* bytes before the data */

size_t attn_st_element(const char *dtype);                          /* bytes of one element; 0: no such dtype */

/* Writes `n` tensors (name, dtype, ndim, shape, bytes and data filled in), larger elements first, then by name.  The
 * metadata has "format"; the header is padded with spaces such that the data starts at a multiple of 64 bytes. */
struct attn_out;
int attn_st_write(struct attn_out *out, const struct attn_st_tensor *t, size_t n, struct attn_err *err);
/* Writes the header alone, tensors in the order given: the caller writes their data next, in that order. */
int attn_st_write_header(struct attn_out *out, const struct attn_st_tensor *t, size_t n, struct attn_err *err);

#endif
