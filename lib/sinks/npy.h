/* npy.h - the formats npy, an array a file, and npz, all arrays in a zip archive, for numpy.load.
 *
 * NumPy's format for one array, version 1.0, is
 *
 *     \x93NUMPY 1 0, u16 little-endian length, a Python dict of that length padded by spaces and
 *     ended by \n so that the data begins at a multiple of 64, then the numbers: '<f4', C order. */
#ifndef ATTN_SINKS_NPY_H
#define ATTN_SINKS_NPY_H

#include "attn.h"

enum { ATTN_NPY_HEADER = 128 };         /* bytes; 64 are enough for small shapes only */

void attn_npy_header(char out[ATTN_NPY_HEADER], const size_t *shape, int ndim);

#endif
