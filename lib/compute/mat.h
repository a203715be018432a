/* mat.h - a view of a weight where it lies in the file, never a copy.
 *
 * A matrix is stored [in, out], where output j is column j, or [out, in], where it is row j.  Where a
 * fused matrix interleaves queries, keys and values head by head, a view takes `group` of every `step`
 * rows: output j is then row j / group * step + j % group, and the same holds for its bias. */
#ifndef ATTN_COMPUTE_MAT_H
#define ATTN_COMPUTE_MAT_H

#include "attn.h"

enum attn_dtype { ATTN_F32, ATTN_F16, ATTN_BF16 };

struct attn_vec { const void *data; enum attn_dtype type; };        /* data NULL: absent */

struct attn_mat {
    const void *data; enum attn_dtype type;                         /* data NULL: absent */
    size_t in, out, ld;                 /* ld: elements from one stored row to the next */
    bool by_output;                     /* stored [out, in]; else [in, out] */
    size_t group, step;                 /* group 0: all rows; else see above, and by_output is true */
    struct attn_vec bias;               /* [out] */
};

/* The number of the stored row, or column, of output j. */
static inline size_t attn_mat_place(const struct attn_mat *w, size_t j)
{
    return w->group ? j / w->group * w->step + j % w->group : j;
}

static inline size_t attn_dtype_size(enum attn_dtype t) { return t == ATTN_F32 ? 4 : 2; }

/* The stored row of output j of a weight stored by outputs; beyond the last output, the last one's. */
static inline const void *attn_mat_row(const struct attn_mat *w, size_t j)
{
    size_t at = attn_mat_place(w, j < w->out ? j : w->out - 1);
    return (const char *)w->data + at * w->ld * attn_dtype_size(w->type);
}

#endif
