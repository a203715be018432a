/* mlp.h - what an MLP does between its products.
 *
 * One row for each activation: PLAIN, y = op(x), or GATED, y = op(gate, x), the activation of one product times another; and its
 * name.  A new one is its row here, op and op_back in vec.h, and the words for it in configurations (model/family.c). */
#ifndef ATTN_COMPUTE_MLP_H
#define ATTN_COMPUTE_MLP_H

#include <stdbool.h>

#define ATTN_MLPS(PLAIN, GATED) \
    PLAIN(GELU, gelu, "gelu") PLAIN(GELU_NEW, gelu_new, "gelu_new") PLAIN(RELU, relu, "relu") \
    GATED(SWIGLU, silu_mul, "swiglu") GATED(GEGLU, gelu_mul, "geglu") GATED(GEGLU_NEW, gelu_new_mul, "geglu_new")

#define ATTN_MLP_KIND(id, op, name) ATTN_MLP_##id,
enum attn_mlp_kind { ATTN_MLP_NONE, ATTN_MLPS(ATTN_MLP_KIND, ATTN_MLP_KIND) };
#undef ATTN_MLP_KIND

static inline bool attn_mlp_gated(enum attn_mlp_kind kind)
{
#define ATTN_PLAIN(id, op, name) case ATTN_MLP_##id: return false;
#define ATTN_GATED(id, op, name) case ATTN_MLP_##id: return true;
    switch (kind) {
    ATTN_MLPS(ATTN_PLAIN, ATTN_GATED)
    case ATTN_MLP_NONE: break;
    }
#undef ATTN_PLAIN
#undef ATTN_GATED
    return false;
}

#endif
