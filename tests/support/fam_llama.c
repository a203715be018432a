/* fam_llama.c - what drawn models of families with Llama's names share: sizes and keys, and tensors. */
#include "fam_llama.h"

#include "scratch.h"

#include <string.h>

/* ---- sizes and keys that most share ---- */


static void put_head_dim(struct fam *f, const struct fam_usual *u)
{
    struct ref_config *c = &f->c;
    if (u->no_head_dim)                 /* and what a file says does not count */
        c->d = c->H * c->dh;
    else if (pick(2))
        c->d = fam_width();
    bool absent = u->dh ? c->dh == u->dh : c->d == c->H * c->dh;
    if (!absent || (pick(2) && !u->no_head_dim))
        fam_put(f, "\"head_dim\": %d", c->dh);
    else if (u->no_head_dim && sometimes())
        fam_put(f, "\"head_dim\": 3");
}

void fam_llama_sizes(struct fam *f, const struct fam_usual *u)
{
    struct ref_config *c = &f->c;
    fam_sizes(f, true);
    c->position = "rope", c->norm = u->layernorm ? "layernorm" : "rmsnorm", c->mlp = "swiglu", c->tied = pick(2);
    fam_groups(c);
    if (u->dh && sometimes() && !fam_wish.d)
        c->dh = u->dh, c->Hkv = 1, c->H = 1 + pick(2);
    c->dv = c->dh;
    put_head_dim(f, u);
    fam_put(f, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_attention_heads\": %d, "
            "\"num_hidden_layers\": %d, \"intermediate_size\": %d", c->V, c->n_ctx, c->d, c->H, c->L, c->m);
    if (c->Hkv != c->H || pick(2))
        fam_put(f, "\"num_key_value_heads\": %d", c->Hkv);
    else
        fam_put(f, "\"num_key_value_heads\": null");
    fam_put(f, "\"%s\": %g", u->eps, c->eps);
    fam_flag(f, "tie_word_embeddings", c->tied, u->tied);
}

void fam_act(struct fam *f, const char *key)
{
    static const char *const names[] = {"silu", "swish"};
    fam_kind(f, key, names, pick(2));
}

void fam_ask_bias(struct fam *f, bool *bias, const char *key, bool absent)
{
    *bias = pick(2);
    fam_flag(f, key, *bias, absent);
}

void fam_draw_window(struct fam *f)
{
    f->c.window = fam_window(f->c.n_ctx + 3);
    fam_put(f, "\"sliding_window\": %d", f->c.window);
}

/* Which layers have a window, as a list of the file says. */
void fam_layer_types(struct fam *f)
{
    fam_put(f, "\"layer_types\": [");
    for (int i = 0; i < f->c.L; i++)
        fprintf(f->f, "%s\"%s\"", i ? ", " : "", (f->c.local[i] = pick(2)) ? "sliding_attention" : "full_attention");
    fputc(']', f->f);
}

void fam_every_layer(struct fam *f)
{
    for (int i = 0; i < f->c.L; i++)
        f->c.local[i] = true;
}

/* ---- tensors ---- */

const struct fam_names fam_as_llama = {.norm1 = "input_layernorm", .norm2 = "post_attention_layernorm",
                                       .o = "self_attn.o_proj",
                                      .in = "mlp.up_proj", .out = "mlp.down_proj"};

const char *fam_in_layer(const struct fam *f, int i, const char *tail)
{
    return fam_block(f, "layers.", i, tail);
}

static bool has_bias(const struct fam *f) { return !strcmp(f->c.norm, "layernorm") && !f->bare_norms; }

void fam_norm(struct fam *f, int i, const char *native, const char *name, size_t n)
{
    if (name && !f->c.plain)
        hf_norm(&f->hf, fam_native(i, native), fam_in_layer(f, i, name), n, has_bias(f));
}

void fam_attention(struct fam *f, int i, const struct fam_names *n, bool qkv_bias, bool o_bias)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, q = (size_t)(c->H * c->dh), kv = (size_t)(c->Hkv * c->dh), dh = (size_t)c->dh;
    bool whole = c->qk_norm && !strcmp(c->qk_norm, "whole");
    hf_linear(&f->hf, fam_native(i, "attn.q"), fam_in_layer(f, i, "self_attn.q_proj"), d, q, true, qkv_bias);
    hf_linear(&f->hf, fam_native(i, "attn.k"), fam_in_layer(f, i, "self_attn.k_proj"), d, kv, true, qkv_bias);
    hf_linear(&f->hf, fam_native(i, "attn.v"), fam_in_layer(f, i, "self_attn.v_proj"), d, kv, true, qkv_bias);
    hf_linear(&f->hf, fam_native(i, "attn.o"), fam_in_layer(f, i, n->o), q, d, true, o_bias);
    if (c->qk_norm && !strcmp(c->qk_norm, "own")) {
        hf_own_norms(&f->hf, fam_native(i, "attn.q_norm"), fam_in_layer(f, i, n->q_norm), (size_t)c->H, dh);
        hf_own_norms(&f->hf, fam_native(i, "attn.k_norm"), fam_in_layer(f, i, n->k_norm), (size_t)c->Hkv, dh);
    } else if (c->qk_norm && !strcmp(c->qk_norm, "table")) {
        hf_norm_rows(&f->hf, fam_native(i, "attn.q_norm"), fam_in_layer(f, i, n->q_norm), (size_t)c->H, dh);
        hf_norm_rows(&f->hf, fam_native(i, "attn.k_norm"), fam_in_layer(f, i, n->k_norm), (size_t)c->Hkv, dh);
    } else if (c->qk_norm) {
        fam_norm(f, i, "attn.q_norm", n->q_norm, whole ? q : dh);
        fam_norm(f, i, "attn.k_norm", n->k_norm, whole ? kv : dh);
    }
}

void fam_mlp(struct fam *f, int i, const struct fam_names *n, bool bias)
{
    size_t d = (size_t)f->c.d, m = (size_t)f->c.m;
    bool gated = strncmp(f->c.mlp, "gelu", 4) && strncmp(f->c.mlp, "relu", 4);
    if (gated)
        hf_linear(&f->hf, fam_native(i, "mlp.gate"), fam_in_layer(f, i, "mlp.gate_proj"), d, m, true, bias);
    hf_linear(&f->hf, fam_native(i, "mlp.in"), fam_in_layer(f, i, n->in), d, m, true, bias);
    hf_linear(&f->hf, fam_native(i, "mlp.out"), fam_in_layer(f, i, n->out), m, d, true, bias);
}

void fam_norms(struct fam *f, int i, const struct fam_names *n)
{
    size_t d = (size_t)f->c.d;
    fam_norm(f, i, "norm1", n->norm1, d);
    fam_norm(f, i, "norm2", f->c.one_norm ? NULL : n->norm2, d);
    fam_norm(f, i, "post1", n->post1, d);
    fam_norm(f, i, "post2", n->post2, d);
}

void fam_ends(struct fam *f, const char *final)
{
    hf_table(&f->hf, "embed", printed("%sembed_tokens", f->prefix), (size_t)f->c.V, (size_t)f->c.d);
    if (!f->c.plain)
        hf_norm(&f->hf, "norm_final", printed("%s%s", f->prefix, final), (size_t)f->c.d, has_bias(f));
    fam_head(f, "embed_tokens", "lm_head");
}

void fam_tensors(struct fam *f, const struct fam_names *n, bool qkv_bias, bool o_bias, bool mlp_bias)
{
    f->prefix = f->prefix ? f->prefix : often() ? "model." : "";
    fam_ends(f, "norm");
    for (int i = 0; i < f->c.L; i++) {
        fam_norms(f, i, n);
        fam_attention(f, i, n, qkv_bias, o_bias);
        fam_mlp(f, i, n, mlp_bias);
    }
}
