/* weights.h - a decoder as the arithmetic sees it: sizes, choices, and views of every weight.
 *
 * Nothing here owns memory or knows where a weight comes from; bind.c binds the tensors' names to views of the mapped
 * file.  Copied are only what lies at an address that its type does not allow, weights of norms that are not stored as
 * they are used, and, once it repays, matrices in panels.
 *
 * A matrix is stored [in, out], where output j is column j, or [out, in], where it is row j.  Where a
 * fused matrix interleaves queries, keys and values head by head, a view takes `group` of every `step`
 * rows: output j is then row j / group * step + j % group, and the same holds for its bias.  Where rows were put in
 * order for rotation of neighbours, outputs i and i + group / 2 of a group are rows 2i and 2i + 1 of it. */
#ifndef ATTN_COMPUTE_WEIGHTS_H
#define ATTN_COMPUTE_WEIGHTS_H

#include "attn.h"
#include "compute/dtype.h"
#include "compute/mlp.h"

struct attn_vec { const void *data; enum attn_dtype type; };        /* data NULL: absent */

struct attn_mat {
    const void *data; enum attn_dtype type;                         /* data NULL: absent */
    size_t in, out, ld;                 /* ld: elements from one stored row to the next */
    bool transposed;                    /* stored [out, in]; else [in, out] */
    size_t group, step;                 /* group 0: all rows; else see above, and transposed is set */
    size_t skip;                        /* of blocks, stored [out, in]: so many numbers of the first block of each row
                                         * come before the first input */
    bool paired;                        /* see above; group is even */
    struct attn_vec bias;               /* [out] */
    const void *panels;                 /* the same numbers in another order (panels.h); NULL: only as stored */
};

/* The number of the stored row, or column, of output j. */
static inline size_t attn_mat_index(const struct attn_mat *w, size_t j)
{
    if (!w->group)
        return j;
    size_t i = j % w->group, half = w->group / 2;
    return j / w->group * w->step + (!w->paired ? i : i < half ? 2 * i : 2 * (i - half) + 1);
}

/* The stored row of output j of a weight stored by outputs; beyond the last output, the last one's. */
static inline const void *attn_mat_row(const struct attn_mat *w, size_t j)
{
    size_t at = attn_mat_index(w, j < w->out ? j : w->out - 1);
    return (const char *)w->data + attn_dtype_bytes(w->type, at * w->ld);
}

/* Number k of a stored row; of blocks, the one that it is in. */
static inline const void *attn_mat_at(const struct attn_mat *w, size_t row, size_t k)
{
    return (const char *)w->data + attn_dtype_bytes(w->type, row * w->ld) + attn_dtype_bytes(w->type, w->skip + k);
}

/* The same weight for n inputs from `first` on. */
static inline struct attn_mat attn_mat_inputs(const struct attn_mat *w, size_t first, size_t n)
{
    struct attn_mat part = *w;
    part.in = n;
    part.data = w->transposed ? attn_mat_at(w, 0, first) : attn_mat_at(w, first, 0);
    part.skip = w->transposed && attn_dtype_in_blocks(w->type) ? (w->skip + first) % attn_dtypes[w->type].values : 0;
    part.panels = NULL;
    return part;
}

struct attn_dims {
    size_t L, d, H, Hkv, dh, dv, m, V, n_ctx;
    size_t width;                       /* of the residual stream after a block: d, or H * dv without projection */
};

struct attn_norm {                      /* weight absent: no norm */
    struct attn_vec weight, bias;
    bool rms;                           /* x / rms(x) * weight; else (x - mean) / sd * weight + bias */
    size_t span;                        /* numbers of a row that are normalised together, as those of a head; 0: all */
    bool own;                           /* each span has its own weights, one after the other; else all share them */
    bool from_one;                      /* what is stored is how much more than 1 the weights are */
};
static inline bool attn_has(const struct attn_norm *n) { return n->weight.data != NULL; }

/* Rotary positions (RoPE): pair i is rotated by inv_freq[i] radians from each position to the next; cosines and sines
 * are multiplied by a factor.  inv_freq may depend on the length of the text, all of it.  For texts of n tokens, more
 * than original_max_position, it is long_inv_freq or, where that is NULL, with r = rotary,
 *
 *     (theta * (factor * n / original_max_position - factor + 1)^(r / (r - 2)))^(-2i / r) */
struct attn_rope {
    const double *inv_freq;             /* [rotary/2] */
    double attention_factor;
    size_t original_max_position;       /* inv_freq is that of texts up to so many tokens; 0: of all */
    const double *long_inv_freq;        /* that of longer texts; NULL: theta grows with their length */
    double theta, factor;
};

struct attn_block {
    struct attn_norm norm1, norm2;      /* of what a branch reads */
    struct attn_norm post1, post2;      /* of what a branch gives, before it is added */
    struct attn_norm sum1, sum2;        /* of the stream after the addition */
    struct attn_mat q, k, v, o;         /* o absent: the context is the output */
    struct attn_norm q_norm, k_norm;    /* of queries and keys, before they are rotated or after it: see late_norms */
    struct attn_mat gate, in, out;      /* gate: see attn_mlp_gated */
    float scale;
    size_t window;                      /* a query sees only so many keys, its own the last; 0: no limit */
    int rope;                           /* which of the model's; below 0: this block does not rotate */
};

struct attn_weights {
    struct attn_dims n;
    float eps;
    bool residual, causal;
    bool parallel;                      /* attention and MLP (there is one) read the same x and both add to it */
    bool one_norm;                      /* parallel branches: the MLP reads what attention reads */
    bool post_norm_residual;            /* what a branch reads, x after a norm, takes the place of x */
    bool late_norms;                    /* queries and keys are normalised after they are rotated */
    float clip;                         /* queries, keys and values become at most so much, and no less than its
                                         * negative; 0: they do not */
    size_t rotary;                      /* rotary positions rotate the first so many numbers of a head; 0: none */
    bool interleaved;                   /* pairs are (2i, 2i + 1); else (i, i + rotary/2) */
    bool backwards;                     /* they are rotated by minus the angle */
    struct attn_rope rope[2];           /* one, or two for different blocks */
    size_t ropes;
    const float *alibi;                 /* [H] scores grow by this times the position of the key; NULL: they do not */
    bool alibi_early;                   /* ... rounded to bf16, and before the dots are scaled */
    float cap, logit_cap;               /* scores, and logits, become cap * tanh(x / cap); 0: they do not */
    float embed_scale, branch_scale, logit_scale;   /* of embeddings, what branches give, logits; 0: not scaled */
    enum attn_mlp_kind mlp;
    struct attn_mat embed, pos;         /* rows are looked up; pos absent: no learned positions */
    bool sinusoid;                      /* positions are rows of sines and cosines: see attn_sinusoid */
    struct attn_mat project_in;         /* from rows of embed to d; absent: they are d wide */
    struct attn_norm embed_norm;        /* of what enters the first block, positions added */
    struct attn_block *block;           /* [L] */
    struct attn_norm final;
    struct attn_mat project_out;        /* from d to what unembed reads; absent: that is d wide */
    struct attn_mat unembed;            /* absent: no logits */
};

/* Whether vectors of positions are added to those of tokens. */
static inline bool attn_adds_positions(const struct attn_weights *w) { return w->pos.data != NULL || w->sinusoid; }

/* Whether the norm of what enters the first block is that of the sum of tokens' and positions' vectors. */
static inline bool attn_norms_positions(const struct attn_weights *w)
{
    return attn_adds_positions(w) && attn_has(&w->embed_norm);
}

/* Whether a block has norms of queries and keys that come after the rotation. */
static inline bool attn_norms_late(const struct attn_weights *w, const struct attn_block *b)
{
    return w->late_norms && attn_has(&b->q_norm);
}

/* Whether what a branch adds to the stream differs from its output. */
static inline bool attn_adds_apart(const struct attn_weights *w)
{
    return w->branch_scale != 0 || (w->n.L && attn_has(&w->block[0].post1));
}

#endif
