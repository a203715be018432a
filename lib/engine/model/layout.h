/* layout.h - which tensors a model has, in the order of the forward pass, and how they are stored.
 *
 * One list serves those who read weights and those who draw them, so that the two cannot disagree about a name or a
 * shape.  It is walked, never built: a config that claims 2^31 layers costs nothing until somebody asks for the first
 * one's tensors.
 *
 *     struct attn_layout walk = attn_layout_start(config);
 *     struct attn_slot slot;
 *     while (attn_layout_next(&walk, &slot)) ...
 *
 * `"bias": true` makes the biases of q, k, v, o and of each MLP matrix required; otherwise they are optional, as are
 * the bias of unembed and, without an output layer, norm_final. */
#ifndef ATTN_MODEL_LAYOUT_H
#define ATTN_MODEL_LAYOUT_H

#include "model/family.h"

enum { ATTN_SLOT_NAME_MAX = 112 };      /* enough for the longest prefix, block, number and path */

/* One part of the model and its tensor, which other parts may share, or one of its tensors.  A weight comes right
 * before its bias. */
struct attn_slot {
    enum attn_part part;
    bool is_bias, required;
    size_t layer;                       /* 0 outside of blocks: see attn_part_in_block */
    size_t piece, pieces;               /* which of the part's tensors, one after the other; pieces 0: it has one */
    size_t in, out;                     /* of the part: matrices in x out, tables rows x d; norms and biases only out */
    bool transposed;                    /* stored [out, in] */
    size_t first, group, step;          /* where output j is: first + j / group * step + j % group; group 0: first + j.
                                         * Of a table: which row is row 0 of the part */
    bool paired;                        /* ... but j is another one of its group: see struct attn_mat */
    int ndim; size_t shape[2];          /* of the tensor as stored; norms of heads may have a row for each */
    size_t prefix;                      /* length of the name's prefix that a file may omit */
    char name[ATTN_SLOT_NAME_MAX];      /* "blocks.0.attn.q.weight" */
};

/* position of the walk */
struct attn_layout { const struct attn_config *config; size_t layer, piece; int part; bool bias; };

struct attn_layout attn_layout_start(const struct attn_config *c);
bool attn_layout_next(struct attn_layout *walk, struct attn_slot *out);     /* false: no more */

const char *attn_part_name(enum attn_part p);           /* short: "embed", "q", "mlp.in" */
bool attn_part_in_block(enum attn_part p);
/* What the name of a part's tensor begins with; files may omit it. */
const char *attn_layout_prefix(const struct attn_config *c, enum attn_part p);
/* Whether the part is a norm that the model has and no tensor is stored for. */
bool attn_layout_plain_norm(const struct attn_config *c, enum attn_part p);
/* Width of the residual stream after the last block: d, or H * dv without an output projection. */
size_t attn_layout_width(const struct attn_config *c);

#endif
