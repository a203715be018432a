/* weights.h - a decoder as the arithmetic sees it: sizes, choices, and views of every weight.
 *
 * Nothing here owns memory or knows where a weight comes from; bind.c binds the tensors' names to views. */
#ifndef ATTN_COMPUTE_WEIGHTS_H
#define ATTN_COMPUTE_WEIGHTS_H

#include "compute/mat.h"

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
    bool parallel;                      /* attention and MLP read the same x, and both outputs are added to it */
    size_t rotary;                      /* rotary positions rotate the first so many numbers of a head; 0: none */
    const double *speed;                /* [rotary/2] radians per position */
    enum attn_mlp_form mlp;
    struct attn_mat embed, pos;         /* rows are looked up; pos absent: no learned positions */
    struct attn_block *block;           /* [L] */
    struct attn_norm final;
    struct attn_mat unembed;            /* absent: no logits */
};

#endif
