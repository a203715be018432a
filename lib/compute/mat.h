/* mat.h - a weight as it lies in the file: a view, never a copy.
 *
 * Output j of a matrix reads column j of an [in, out] matrix, or row j of an [out, in] one. */
#ifndef ATTN_COMPUTE_MAT_H
#define ATTN_COMPUTE_MAT_H

#include "attn.h"

enum attn_dtype { ATTN_F32, ATTN_F16, ATTN_BF16 };

struct attn_vec { const void *data; enum attn_dtype type; };        /* data NULL: absent */

struct attn_mat {
    const void *data; enum attn_dtype type;                         /* data NULL: absent */
    size_t in, out, ld;                 /* ld: elements from one stored row to the next */
    bool by_output;                     /* stored [out, in]; else [in, out] */
    struct attn_vec bias;               /* [out] */
};

static inline size_t attn_dtype_size(enum attn_dtype t) { return t == ATTN_F32 ? 4 : 2; }

#endif
