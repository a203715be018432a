/* weights.h - a decoder as the arithmetic sees it: sizes, choices, and views of every weight.
 *
 * Nothing here owns memory or knows where a weight comes from; bind.c binds the tensors' names to views, which are read where
 * they are stored in the mapped file, never copied.
 *
 * A matrix is stored [in, out], where output j is column j, or [out, in], where it is row j.  Where a
 * fused matrix interleaves queries, keys and values head by head, a view takes `group` of every `step`
 * rows: output j is then row j / group * step + j % group, and the same holds for its bias. */
#ifndef ATTN_COMPUTE_WEIGHTS_H
#define ATTN_COMPUTE_WEIGHTS_H

#include "attn.h"

enum attn_dtype { ATTN_F32, ATTN_F16, ATTN_BF16 };

struct attn_vec { const void *data; enum attn_dtype type; };        /* data NULL: absent */

struct attn_mat {
    const void *data; enum attn_dtype type;                         /* data NULL: absent */
    size_t in, out, ld;                 /* ld: elements from one stored row to the next */
    bool out_in;                        /* stored [out, in]; else [in, out] */
    size_t group, step;                 /* group 0: all rows; else see above, and out_in is set */
    struct attn_vec bias;               /* [out] */
};

/* The number of the stored row, or column, of output j. */
static inline size_t attn_mat_index(const struct attn_mat *w, size_t j)
{
    return w->group ? j / w->group * w->step + j % w->group : j;
}

static inline size_t attn_dtype_size(enum attn_dtype t) { return t == ATTN_F32 ? 4 : 2; }

/* The stored row of output j of a weight stored by outputs; beyond the last output, the last one's. */
static inline const void *attn_mat_row(const struct attn_mat *w, size_t j)
{
    size_t at = attn_mat_index(w, j < w->out ? j : w->out - 1);
    return (const char *)w->data + at * w->ld * attn_dtype_size(w->type);
}

struct attn_dims {
    size_t L, d, H, Hkv, dh, dv, m, V, n_ctx;
    size_t width;                       /* of the residual stream after a block: d, or H * dv without projection */
};

enum attn_mlp_form { ATTN_NO_MLP, ATTN_GELU, ATTN_GELU_NEW, ATTN_SWIGLU };

struct attn_norm {                      /* weight absent: no norm */
    struct attn_vec weight, bias;
    bool rms;                           /* x / rms(x) * weight; else (x - mean) / sd * weight + bias */
};

struct attn_block {
    struct attn_norm norm1, norm2;
    struct attn_mat q, k, v, o;         /* o absent: the context is the output */
    struct attn_mat gate, in, out;      /* gate: swiglu only */
    float scale;
    size_t window;                      /* a query sees only so many keys, its own the last; 0: no limit */
};

struct attn_weights {
    struct attn_dims n;
    float eps;
    bool residual, causal;
    bool parallel;                      /* attention and MLP (there is one) read the same x, and both outputs are added to it */
    size_t rotary;                      /* rotary positions rotate the first so many numbers of a head; 0: none */
    const double *speed;                /* [rotary/2] radians per position */
    enum attn_mlp_form mlp;
    struct attn_mat embed, pos;         /* rows are looked up; pos absent: no learned positions */
    struct attn_block *block;           /* [L] */
    struct attn_norm final;
    struct attn_mat unembed;            /* absent: no logits */
};

#endif
