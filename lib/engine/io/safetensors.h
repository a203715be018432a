/* safetensors.h - reads tensors by name from a .safetensors file, and writes them.
 *
 * Layout: u64 little-endian N, N bytes of JSON, raw data.  The JSON maps a name to dtype, shape and data_offsets,
 * counted from the end of the JSON; "__metadata__" maps strings to strings.  Sorted by offset the tensors tile the
 * data: no hole, no overlap, and the last ends with the file.  The bytes are mapped, not copied, and untrusted: each
 * length is checked before use, and nothing is allocated by a number the file claims. */
#ifndef ATTN_IO_SAFETENSORS_H
#define ATTN_IO_SAFETENSORS_H

#include "io/tensors.h"

/* Reads from memory that the caller keeps alive; tensors are in the order of their offsets.  `name` is for messages. */
int attn_st_open(struct attn_st **out, const unsigned char *bytes, size_t len, const char *name, struct attn_err *err);
/* Writes `n` tensors (name, dtype, ndim, shape, bytes and data filled in), larger elements first, then by name.  The
 * metadata has "format"; the header is padded with spaces such that the data starts at a multiple of 64 bytes. */
struct attn_out;
int attn_st_write(struct attn_out *out, const struct attn_st_tensor *t, size_t n, struct attn_err *err);
/* The same; `step` is called now and then with the bytes written and those of all tensors, and ends it by a code. */
struct attn_st_progress { int (*step)(void *self, uint64_t done, uint64_t all, struct attn_err *err); void *self; };
int attn_st_write_telling(struct attn_out *out, const struct attn_st_tensor *t, size_t n,
                          const struct attn_st_progress *p, struct attn_err *err);
/* Writes the header alone, tensors in the order given: the caller writes their data next, in that order. */
int attn_st_write_header(struct attn_out *out, const struct attn_st_tensor *t, size_t n, struct attn_err *err);

#endif
