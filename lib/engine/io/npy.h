/* npy.h - reads the arrays that numpy.save writes.
 *
 * Layout: "\x93NUMPY", a version (1.0: the header's length takes two bytes, 2.0 and 3.0: four, little-endian), a
 * Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } padded with spaces and a line feed,
 * then the numbers.  Floats of 2, 4 and 8 bytes in either byte order are read; Fortran order is converted to
 * C order.  Who asks for it also gets whole numbers, '<i8', and truths, '|b1'.  Arrays of text, '<U5',
 * hold so many code points of 4 bytes for each text, zeros at its end.  Everything else is refused by name.  The bytes
 * are untrusted: nothing is allocated by a number that their length does not confirm. */
#ifndef ATTN_IO_NPY_H
#define ATTN_IO_NPY_H

#include "io/array.h"

/* `name` is for messages. */
int attn_npy_read(struct attn_array *out, const unsigned char *bytes, size_t len, const char *name,
                  struct attn_err *err);
/* The same, also of whole numbers and of truths, which are 1 and 0. */
int attn_npy_read_any(struct attn_array *out, const unsigned char *bytes, size_t len, const char *name,
                      struct attn_err *err);
/* As attn_npy_read, without a copy, only for float32 in native byte order and C order: *data points into bytes;
 * out->data is NULL. */
int attn_npy_view(struct attn_array *out, const unsigned char **data, const unsigned char *bytes, size_t len,
                  const char *name, struct attn_err *err);

/* The comment of an archive's member: before the numbers of its heads, where some are chosen, and before the kind of
 * attention that hid keys, where there are keys: "heads 1,3 mask causal", "mask window:4". */
#define ATTN_NPZ_HEADS "heads "
#define ATTN_NPZ_MASK "mask "

/* A list of texts, which lie in bytes; `at` is NULL if these are numbers. */
struct attn_npy_texts { const unsigned char *at; size_t n, width; bool big; const char *name; };
int attn_npy_texts(struct attn_npy_texts *out, const unsigned char *bytes, size_t len, const char *name,
                   struct attn_err *err);
/* Writes the i-th as UTF-8, at most 4 * width bytes, with U+FFFD for zeros.  Fails if a number is no character. */
int attn_npy_text(char *utf8, size_t *len, const struct attn_npy_texts *t, size_t i, struct attn_err *err);

#endif
