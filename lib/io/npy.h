/* npy.h - reading the arrays numpy.save writes.
 *
 * Layout: "\x93NUMPY", a version (1.0: the header's length in two bytes, 2.0 and 3.0: in four, little-endian),
 * a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } padded with spaces
 * and a line feed, then the numbers.  Floats of 2, 4 and 8 bytes of either byte order are
 * read and rounded to float32; Fortran order is turned into C order.  Everything else is refused by name.
 * Nobody vouches for the bytes, and nothing is allocated by a number that they do not bear out. */
#ifndef ATTN_IO_NPY_H
#define ATTN_IO_NPY_H

#include "io/array.h"

/* `name` is what messages call the file. */
int attn_npy_read(struct attn_array *out, const unsigned char *bytes, size_t len, const char *name, struct attn_err *err);
/* The same for float32 as they lie in memory, in C order, which stay where they are: *data; out->data is NULL. */
int attn_npy_view(struct attn_array *out, const unsigned char **data, const unsigned char *bytes, size_t len, const char *name,
                  struct attn_err *err);

#endif
