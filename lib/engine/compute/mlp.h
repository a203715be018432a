/* mlp.h - what an MLP does between its products.
 *
 * One row for each activation: PLAIN, y = op(x), or GATED, y = op(gate, x), the activation of one product times
 * another; its name; whether our own format has it (OWN) or only files of Hugging Face's families (THEIRS); the note
 * that struct attn_mlp_row of attn_tools.h has of it.  A new one is its row here, op and op_backward in vec.h, and the
 * words for it in Hugging Face's configurations (model/family.c). */
#ifndef ATTN_COMPUTE_MLP_H
#define ATTN_COMPUTE_MLP_H

#include <stdbool.h>

#define ATTN_MLPS(PLAIN, GATED) \
    PLAIN(GELU, gelu, "gelu", OWN, "erf") \
    PLAIN(GELU_NEW, gelu_new, "gelu_new", OWN, "tanh") \
    PLAIN(RELU, relu, "relu", OWN, NULL) \
    PLAIN(RELU2, relu2, "relu2", OWN, "the square of ReLU") \
    PLAIN(SILU, silu, "silu", THEIRS, NULL) \
    GATED(SWIGLU, silu_mul, "swiglu", OWN, NULL) \
    GATED(GEGLU, gelu_mul, "geglu", THEIRS, "erf") \
    GATED(GEGLU_NEW, gelu_new_mul, "geglu_new", THEIRS, "tanh")

#define ATTN_MLP_KIND(id, ...) ATTN_MLP_##id,
enum attn_mlp_kind { ATTN_MLP_NONE, ATTN_MLPS(ATTN_MLP_KIND, ATTN_MLP_KIND) };
#undef ATTN_MLP_KIND

static inline bool attn_mlp_gated(enum attn_mlp_kind kind)
{
#define ATTN_PLAIN(id, ...) case ATTN_MLP_##id: return false;
#define ATTN_GATED(id, ...) case ATTN_MLP_##id: return true;
    switch (kind) {
    ATTN_MLPS(ATTN_PLAIN, ATTN_GATED)
    case ATTN_MLP_NONE: break;
    }
#undef ATTN_PLAIN
#undef ATTN_GATED
    return false;
}

#endif
