/* sink_npy.h - the formats npy, one file per array, and npz, all arrays in a zip archive, for numpy.load.
 *
 * NumPy's format for one array, version 1.0, is
 *
 *     \x93NUMPY 1 0, u16 little-endian length, a Python dict of that length padded by spaces and
 *     ended by \n so that the data begins at a multiple of 64, then the numbers: '<f4', C order.
 *
 * A member with chosen heads has the comment "heads 1,3", unless they are the first ones (in Python,
 * zipfile.ZipFile(name).getinfo("blocks.0.attn.q.npy").comment): one more array would be in everyone's way.
 *
 * An archive ends with the tokens as an array of text, '<U5' for 5 code points at most, in UTF-32 with zeros after
 * them: tokens, and in cross-attention context_tokens.  A token without text is its id; what is no UTF-8, and NUL, is
 * U+FFFD, as in JSON; of a text longer than 1024 code points the last is an ellipsis. */
#ifndef ATTN_SINKS_SINK_NPY_H
#define ATTN_SINKS_SINK_NPY_H

#include "attn.h"

enum { ATTN_NPY_HEADER = 128,           /* bytes; 64 are enough for small shapes only */
       ATTN_NPY_AXES = 4 };             /* at most */

void attn_npy_header(char out[ATTN_NPY_HEADER], const size_t *shape, int ndim);
/* The same of numbers of so many bytes: float32, or float64. */
void attn_npy_header_of(char out[ATTN_NPY_HEADER], size_t bytes, const size_t *shape, int ndim);

#endif
