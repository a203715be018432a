/* gguf_family.c - how llama.cpp's converter names and stores the tensors of a family. */
#include "model/gguf_model.h"

#include <string.h>

static const char *const paths[ATTN_PARTS] = {
    [ATTN_PART_EMBED] = "token_embd", [ATTN_PART_EMBED_NORM] = "token_embd_norm",
    [ATTN_PART_POS_EMBED] = "position_embd", [ATTN_PART_NORM1] = "attn_norm", [ATTN_PART_Q] = "attn_q",
    [ATTN_PART_K] = "attn_k", [ATTN_PART_V] = "attn_v", [ATTN_PART_Q_NORM] = "attn_q_norm",
    [ATTN_PART_K_NORM] = "attn_k_norm", [ATTN_PART_O] = "attn_output", [ATTN_PART_POST1] = "post_attention_norm",
    [ATTN_PART_NORM2] = "ffn_norm", [ATTN_PART_MLP_GATE] = "ffn_gate", [ATTN_PART_MLP_IN] = "ffn_up",
    [ATTN_PART_MLP_OUT] = "ffn_down", [ATTN_PART_POST2] = "post_ffw_norm", [ATTN_PART_NORM_FINAL] = "output_norm",
    [ATTN_PART_UNEMBED] = "output"};

/* What divides the speeds of rotation is part of the configuration here. */
static const char *const buffers[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                                      NULL};

static bool is_norm(int p)
{
    return p == ATTN_PART_EMBED_NORM || p == ATTN_PART_NORM1 || p == ATTN_PART_Q_NORM || p == ATTN_PART_K_NORM ||
           p == ATTN_PART_POST1 || p == ATTN_PART_NORM2 || p == ATTN_PART_POST2 || p == ATTN_PART_NORM_FINAL;
}

/* Queries, keys and values in one tensor lie side by side, whatever the family has; so do the mlp's. */
static void store_part(struct attn_tensor_storage *s, int p, bool fused)
{
    bool attention = p == ATTN_PART_Q || p == ATTN_PART_K || p == ATTN_PART_V;
    s->path = paths[p];
    if (attention && fused) {
        s->path = "attn_qkv";
        s->share = ATTN_BESIDE;
    }
    if (p == ATTN_PART_MLP_GATE && s->share == ATTN_BESIDE)
        s->path = paths[ATTN_PART_MLP_IN];
    if (!is_norm(p))
        s->storage = ATTN_OUT_IN;
    if (s->bias == ATTN_BIAS_ASKED)
        s->bias = ATTN_BIAS_MAYBE;
}

void attn_gguf_family(struct attn_gguf_model *m, struct attn_config *c)
{
    struct attn_family *f = &m->family;
    bool fused = attn_gguf_model_tensor(m, "blk.0.attn_qkv.weight") != NULL;
    *f = *c->family;
    f->prefix = "";
    f->section = f->head_prefix = NULL;
    f->prefixes = f->beside = NULL;
    f->block = "blk.";
    f->buffers = buffers;
    for (int p = 0; p < ATTN_PARTS; p++)
        if (f->part[p].path)
            store_part(&f->part[p], p, fused);
    if (attn_gguf_model_tensor(m, "blk.0.attn_norm_2.weight")) {    /* Falcon's */
        f->part[ATTN_PART_NORM1].path = "attn_norm_2";
        f->part[ATTN_PART_NORM2].path = "attn_norm";
    }
    if (f->qk_norm == ATTN_QK_OWN)
        f->qk_norm = ATTN_QK_TABLE;
    c->family = f;
    c->norm_from_one = false;           /* the converter added the 1 */
    c->paired = m->arch->paired;
}
