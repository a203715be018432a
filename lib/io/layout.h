/* layout.h - which tensors a model has, in the order of the forward pass, and how they lie.
 *
 * One list for whoever reads weights and whoever draws them, so that the two cannot disagree about
 * a name or a shape.  It is walked, never built: a config that claims 2^31 layers costs nothing
 * until somebody asks for the tensor of the first one.
 *
 *     struct attn_layout walk = attn_layout_start(config);
 *     struct attn_slot slot;
 *     while (attn_layout_next(&walk, &slot)) ...
 *
 * `"bias": true` makes the bias of q, k, v, o and of each mlp matrix required; otherwise these are
 * optional, as are the bias of unembed and, without an output layer, norm_final. */
#ifndef ATTN_IO_LAYOUT_H
#define ATTN_IO_LAYOUT_H

#include "io/family.h"

enum { ATTN_SLOT_NAME_MAX = 96 };       /* the longest prefix, block, number and path fit */

/* One part of the model and the tensor it is in, or is a third of.  A weight comes right before its bias. */
struct attn_slot {
    enum attn_part part;
    bool is_bias, required;
    size_t layer;                       /* 0 outside the blocks: see attn_part_in_block */
    size_t in, out;                     /* of the part: matrices in x out, tables rows x d, norms and biases out */
    bool by_output;                     /* stored [out, in] */
    size_t first, group, step;          /* output j is the tensor's first + j / group * step + j % group; group 0: first + j */
    int ndim; size_t shape[2];          /* of the whole tensor */
    size_t prefix;                      /* bytes of the name that a file may lack */
    char name[ATTN_SLOT_NAME_MAX];      /* "blocks.0.attn.q.weight" */
};

struct attn_layout { const struct attn_config *config; size_t layer; int part; bool bias; };   /* where the walk is */

struct attn_layout attn_layout_start(const struct attn_config *c);
bool attn_layout_next(struct attn_layout *walk, struct attn_slot *out);     /* false: that was all */

const char *attn_part_name(enum attn_part p);           /* short: "embed", "q", "mlp.in" */
bool attn_part_in_block(enum attn_part p);
/* Of the residual stream after the last block: d, or H * dv without an output projection. */
size_t attn_layout_width(const struct attn_config *c);

#endif
