/* drawn_gpts.c - models of a third group of families with names of their own: MPT, XGLM, GPT,
 * GPTBigCode and CodeGen. */
#include "fam.h"

#include "scratch.h"

#include <math.h>
#include <string.h>

static void sizes(struct fam *f, const char *const name[4])
{
    struct ref_config *c = &f->c;
    fam_put(f, "\"vocab_size\": %d, \"%s\": %d, \"%s\": %d, \"%s\": %d, \"%s\": %d", c->V, name[0], c->n_ctx,
            name[1], c->d, name[2], c->L, name[3], c->H);
}

static const char *const gpt_sizes[4] = {"n_positions", "n_embd", "n_layer", "n_head"};

static void matrix(struct fam *f, int i, const char *native, const char *name, size_t in, size_t out,
                   bool transposed, bool bias)
{
    hf_linear(&f->hf, fam_native(i, native), name, in, out, transposed, bias);
}

static void norm(struct fam *f, int i, const char *native, const char *name)
{
    hf_norm(&f->hf, fam_native(i, native), name, (size_t)f->c.d, !f->bare_norms);
}

/* ---- MPT ---- */

static void mpt_config(struct fam *f)
{
    static const char *const names[4] = {"max_seq_len", "d_model", "n_layers", "n_heads"};
    struct ref_config *c = &f->c;
    fam_sizes(f, false);
    c->norm = "layernorm", c->position = "none", c->alibi = "late", c->mlp = "gelu", c->m = 4 * c->d, c->tied = often();
    f->bare_norms = true;
    sizes(f, names);
    fam_put(f,
            "\"layer_norm_epsilon\": %g, \"expansion_ratio\": 3, \"learned_pos_emb\": true, \"no_bias\": true", c->eps);
    fam_flag(f, "tie_word_embeddings", c->tied, true);
    if (sometimes())
        return;
    c->clip = pick(2) ? 0.5 + 0.25 * pick(6) : 0;
    c->attention_scale = pick(2) ? 0.125 * (1 + pick(4)) : 0;
    fam_put(f, "\"attn_config\": {\"alibi\": true, \"alibi_bias_max\": 8, \"attn_impl\": \"torch\", \"qk_ln\": false");
    if (c->clip > 0)
        fam_put(f, "\"clip_qkv\": %g", c->clip);
    fam_put(f, c->attention_scale > 0 ? "\"softmax_scale\": %g" : "\"softmax_scale\": null", c->attention_scale);
    fputc('}', f->f);
}

static const char *in_mpt(const struct fam *f, int i, const char *tail) { return fam_block(f, "blocks.", i, tail); }

static void mpt_tensors(struct fam *f)
{
    size_t d = (size_t)f->c.d, m = (size_t)f->c.m;
    f->prefix = often() ? "transformer." : "";
    hf_table(&f->hf, "embed", printed("%swte", f->prefix), (size_t)f->c.V, d);
    for (int i = 0; i < f->c.L; i++) {
        const struct hf_part qkv[] = {{fam_native(i, "attn.q"), d}, {fam_native(i, "attn.k"), d},
                                      {fam_native(i, "attn.v"), d}};
        norm(f, i, "norm1", in_mpt(f, i, "norm_1"));
        norm(f, i, "norm2", in_mpt(f, i, "norm_2"));
        hf_fused(&f->hf, qkv, 3, 1, in_mpt(f, i, "attn.Wqkv"), d, false);
        matrix(f, i, "attn.o", in_mpt(f, i, "attn.out_proj"), d, d, true, false);
        matrix(f, i, "mlp.in", in_mpt(f, i, "ffn.up_proj"), d, m, true, false);
        matrix(f, i, "mlp.out", in_mpt(f, i, "ffn.down_proj"), m, d, true, false);
    }
    hf_norm(&f->hf, "norm_final", printed("%snorm_f", f->prefix), d, false);
    fam_head(f, "wte", "lm_head");
}

/* ---- XGLM ---- */

static void xglm_config(struct fam *f)
{
    static const char *const names[4] = {"max_position_embeddings", "d_model", "num_layers", "attention_heads"};
    struct ref_config *c = &f->c;
    fam_sizes(f, false);
    c->norm = "layernorm", c->position = "sinusoid", c->mlp = pick(3) ? "gelu" : "relu", c->tied = often(),
        c->eps = 1e-5;
    sizes(f, names);
    fam_put(f, "\"ffn_dim\": %d, \"layer_norm_eps\": 0.5", c->m);      /* which is not read */
    if (strcmp(c->mlp, "gelu") || pick(2))
        fam_put(f, "\"activation_function\": \"%s\"", c->mlp);
    bool scaled = often();
    c->embed_scale = scaled ? sqrt(c->d) : 0;
    fam_flag(f, "scale_embedding", scaled, true);
    fam_flag(f, "tie_word_embeddings", c->tied, true);
}

static void xglm_tensors(struct fam *f)
{
    static const char *const parts[][2] = {{"attn.q", "self_attn.q_proj"}, {"attn.k", "self_attn.k_proj"},
                                           {"attn.v", "self_attn.v_proj"}, {"attn.o", "self_attn.out_proj"}};
    size_t d = (size_t)f->c.d, m = (size_t)f->c.m;
    f->prefix = often() ? "model." : "";
    hf_table(&f->hf, "embed", printed("%sembed_tokens", f->prefix), (size_t)f->c.V, d);
    if (sometimes())
        hf_buffer(&f->hf, printed("%sembed_positions.weights", f->prefix), "F32", 4, d);
    for (int i = 0; i < f->c.L; i++) {
        norm(f, i, "norm1", fam_block(f, "layers.", i, "self_attn_layer_norm"));
        norm(f, i, "norm2", fam_block(f, "layers.", i, "final_layer_norm"));
        for (int p = 0; p < 4; p++)
            matrix(f, i, parts[p][0], fam_block(f, "layers.", i, parts[p][1]), d, d, true, true);
        matrix(f, i, "mlp.in", fam_block(f, "layers.", i, "fc1"), d, m, true, true);
        matrix(f, i, "mlp.out", fam_block(f, "layers.", i, "fc2"), m, d, true, true);
    }
    hf_norm(&f->hf, "norm_final", printed("%slayer_norm", f->prefix), d, true);
    fam_head(f, "embed_tokens", "lm_head");
}

/* ---- GPT: norms after additions; matrices [in, out] ---- */

static const char *in_gpt(const struct fam *f, int i, const char *tail) { return fam_block(f, "h.", i, tail); }

static void gpt_config(struct fam *f)
{
    static const struct { const char *afn, *mlp; } acts[] = {       /* "gelu" is the tanh form */
        {NULL, "gelu_new"}, {"gelu", "gelu_new"}, {"relu", "relu"}, {"silu", "silu"}, {"swish", "silu"}};
    struct ref_config *c = &f->c;
    const size_t act = (size_t)pick(5);
    fam_sizes(f, false);
    c->norm = "layernorm", c->position = "learned", c->mlp = acts[act].mlp, c->m = 4 * c->d;
    c->tied = often(), c->after = c->no_before = c->no_final = true;
    sizes(f, gpt_sizes);
    fam_put(f, "\"layer_norm_epsilon\": %g, \"n_ctx\": 3, \"n_special\": 0", c->eps);
    if (acts[act].afn)
        fam_put(f, "\"afn\": \"%s\"", acts[act].afn);
    fam_flag(f, "tie_word_embeddings", c->tied, true);
}

static void gpt_tensors(struct fam *f)
{
    size_t d = (size_t)f->c.d, m = (size_t)f->c.m;
    f->prefix = pick(2) ? "transformer." : "";
    hf_table(&f->hf, "embed", printed("%stokens_embed", f->prefix), (size_t)f->c.V, d);
    hf_table(&f->hf, "pos_embed", printed("%spositions_embed", f->prefix), (size_t)f->c.n_ctx, d);
    for (int i = 0; i < f->c.L; i++) {
        hf_thirds(&f->hf, fam_native(i, "attn"), in_gpt(f, i, "attn.c_attn"), d, (size_t)f->c.H, (size_t)f->c.dh,
                  false, true);
        matrix(f, i, "attn.o", in_gpt(f, i, "attn.c_proj"), d, d, false, true);
        norm(f, i, "sum1", in_gpt(f, i, "ln_1"));
        norm(f, i, "sum2", in_gpt(f, i, "ln_2"));
        matrix(f, i, "mlp.in", in_gpt(f, i, "mlp.c_fc"), d, m, false, true);
        matrix(f, i, "mlp.out", in_gpt(f, i, "mlp.c_proj"), m, d, false, true);
        if (sometimes())
            hf_buffer(&f->hf, in_gpt(f, i, "attn.bias"), "F32", 4, 4);
    }
    fam_head(f, "tokens_embed", "lm_head");
}

/* ---- GPTBigCode ---- */

static void bigcode_config(struct fam *f)
{
    static const char *const kinds[] = {"gelu_pytorch_tanh", "gelu", "relu"},
        *const mlps[] = {"gelu_new", "gelu", "relu"};
    struct ref_config *c = &f->c;
    bool single = pick(2);
    int kind = pick(3);
    fam_sizes(f, false);
    c->norm = "layernorm", c->position = "learned", c->tied = often(), c->scale = often(), c->mlp = mlps[kind];
    c->Hkv = single ? 1 : c->H;
    sizes(f, gpt_sizes);
    fam_put(f, "\"layer_norm_epsilon\": %g", c->eps);
    if (pick(2))
        fam_put(f, "\"n_inner\": %d", c->m);
    else
        c->m = 4 * c->d;
    if (kind || pick(2))
        fam_kind(f, "activation_function", kinds, kind);
    fam_flag(f, "multi_query", single, true);
    fam_flag(f, "scale_attn_weights", c->scale, true);
    fam_flag(f, "tie_word_embeddings", c->tied, true);
}

static void bigcode_tensors(struct fam *f)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, m = (size_t)c->m, kv = (size_t)(c->Hkv * c->dh);
    f->prefix = pick(2) ? "transformer." : "";
    hf_table(&f->hf, "embed", printed("%swte", f->prefix), (size_t)c->V, d);
    hf_table(&f->hf, "pos_embed", printed("%swpe", f->prefix), (size_t)c->n_ctx, d);
    for (int i = 0; i < c->L; i++) {
        const struct hf_part qkv[] = {{fam_native(i, "attn.q"), d}, {fam_native(i, "attn.k"), kv},
                                      {fam_native(i, "attn.v"), kv}};
        norm(f, i, "norm1", in_gpt(f, i, "ln_1"));
        norm(f, i, "norm2", in_gpt(f, i, "ln_2"));
        hf_fused(&f->hf, qkv, 3, c->Hkv > 1 ? (size_t)c->H : 1, in_gpt(f, i, "attn.c_attn"), d, true);
        matrix(f, i, "attn.o", in_gpt(f, i, "attn.c_proj"), d, d, true, true);
        matrix(f, i, "mlp.in", in_gpt(f, i, "mlp.c_fc"), d, m, true, true);
        matrix(f, i, "mlp.out", in_gpt(f, i, "mlp.c_proj"), m, d, true, true);
    }
    hf_norm(&f->hf, "norm_final", printed("%sln_f", f->prefix), d, true);
    fam_head(f, "wte", "lm_head");
}

/* ---- CodeGen: four groups of queries, values and keys ---- */

static void codegen_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_sizes(f, true);
    c->norm = "layernorm", c->position = "rope", c->mlp = "gelu_new",
        c->parallel = c->one_norm = c->interleaved = c->part = true;
    c->H = c->Hkv = 4 * (1 + (c->H - 1) / 4);
    c->d = c->H * c->dh;
    c->rotary = 2 * (1 + pick(c->dh / 2));
    sizes(f, gpt_sizes);
    fam_put(f, "\"rotary_dim\": %d, \"layer_norm_epsilon\": %g", c->rotary, c->eps);
    if (pick(2))
        fam_put(f, "\"n_inner\": %d", c->m);
    else
        c->m = 4 * c->d, fam_put(f, "\"n_inner\": null");
    c->tied = sometimes();
    fam_flag(f, "tie_word_embeddings", c->tied, false);
}

static void codegen_tensors(struct fam *f)
{
    size_t d = (size_t)f->c.d, m = (size_t)f->c.m;
    f->prefix = often() ? "transformer." : "";
    hf_table(&f->hf, "embed", printed("%swte", f->prefix), (size_t)f->c.V, d);
    for (int i = 0; i < f->c.L; i++) {
        const struct hf_part qvk[] = {{fam_native(i, "attn.q"), d}, {fam_native(i, "attn.v"), d},
                                      {fam_native(i, "attn.k"), d}};
        norm(f, i, "norm1", in_gpt(f, i, "ln_1"));
        hf_fused(&f->hf, qvk, 3, 4, in_gpt(f, i, "attn.qkv_proj"), d, false);
        matrix(f, i, "attn.o", in_gpt(f, i, "attn.out_proj"), d, d, true, false);
        matrix(f, i, "mlp.in", in_gpt(f, i, "mlp.fc_in"), d, m, true, true);
        matrix(f, i, "mlp.out", in_gpt(f, i, "mlp.fc_out"), m, d, true, true);
        if (sometimes())
            hf_buffer(&f->hf, in_gpt(f, i, "attn.causal_mask"), "BOOL", 4, 4);
    }
    hf_norm(&f->hf, "norm_final", printed("%sln_f", f->prefix), d, true);
    fam_head(f, "wte", "lm_head");
    hf_bias(&f->hf, "unembed", "lm_head", (size_t)f->c.V);
}

const struct fam_family fam_gpts[] = {
    {"mpt", mpt_config, mpt_tensors}, {"xglm", xglm_config, xglm_tensors}, {"openai-gpt", gpt_config, gpt_tensors},
    {"gpt_bigcode", bigcode_config, bigcode_tensors}, {"codegen", codegen_config, codegen_tensors},
    {NULL, NULL, NULL}};
