/* mat.h - a weight as it lies in the file: a view, never a copy.
 *
 * Output j of a matrix reads column j of an [in, out] matrix, or row j of an [out, in] one.  Where
 * queries, keys and values are interleaved head by head, a matrix is every so many rows of a larger
 * one: output j is then row j / group * step + j % group, and its bias lies likewise. */
#ifndef ATTN_COMPUTE_MAT_H
#define ATTN_COMPUTE_MAT_H

#include "attn.h"

enum attn_dtype { ATTN_F32, ATTN_F16, ATTN_BF16 };

struct attn_vec { const void *data; enum attn_dtype type; };        /* data NULL: absent */

struct attn_mat {
    const void *data; enum attn_dtype type;                         /* data NULL: absent */
    size_t in, out, ld;                 /* ld: elements from one stored row to the next */
    bool by_output;                     /* stored [out, in]; else [in, out] */
    size_t group, step;                 /* group 0: outputs lie side by side; else by_output */
    struct attn_vec bias;               /* [out] */
};

/* Where output j lies, counted in outputs. */
static inline size_t attn_mat_place(const struct attn_mat *w, size_t j)
{
    return w->group ? j / w->group * w->step + j % w->group : j;
}

static inline size_t attn_dtype_size(enum attn_dtype t) { return t == ATTN_F32 ? 4 : 2; }

/* The row of output j, of a weight stored by outputs; the last one where there is no such output. */
static inline const void *attn_mat_row(const struct attn_mat *w, size_t j)
{
    size_t at = attn_mat_place(w, j < w->out ? j : w->out - 1);
    return (const char *)w->data + at * w->ld * attn_dtype_size(w->type);
}

#endif
