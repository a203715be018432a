/* drawn_grouped.c - models of the families with names of their own: GPT-J, OPT, BLOOM and Falcon. */
#include "fam.h"

#include "scratch.h"

#include <math.h>
#include <string.h>

static const char *in_layer(const struct fam *f, int i, const char *tail)
{
    return fam_block(f, "h.", i, tail);
}

static void plain(struct fam *f, int i, const char *native, const char *name, size_t in, size_t out, bool bias)
{
    hf_linear(&f->hf, fam_native(i, native), in_layer(f, i, name), in, out, true, bias);
}

static void layer_norm(struct fam *f, int i, const char *native, const char *name)
{
    hf_norm(&f->hf, fam_native(i, native), in_layer(f, i, name), (size_t)f->c.d, true);
}

static void layer_norm_sizes(struct fam *f, bool even)
{
    fam_sizes(f, even);
    f->c.norm = "layernorm";
}

/* ---- GPT-J: neighbouring pairs ---- */

static void gptj_config(struct fam *f)
{
    static const char *const sizes[2][4] = {{"n_embd", "n_layer", "n_head", "n_positions"},
                                            {"hidden_size", "num_hidden_layers", "num_attention_heads",
                                             "max_position_embeddings"}};
    struct ref_config *c = &f->c;
    layer_norm_sizes(f, true);
    c->position = "rope", c->mlp = "gelu_new", c->parallel = c->one_norm = c->interleaved = c->part = true;
    if (sometimes() && !fam_wish.d)
        c->H = 1, c->dh = c->dv = 64 + 2 * pick(3), c->Hkv = 1;
    c->d = c->H * c->dh;
    c->rotary = c->dh >= 64 ? 64 : 2 * (1 + pick(c->dh / 2));
    if (c->rotary != 64 || pick(2))
        fam_put(f, "\"rotary_dim\": %d", c->rotary);
    const char *const *name = sizes[pick(2)];
    fam_put(f, "\"vocab_size\": %d, \"%s\": %d, \"%s\": %d, \"%s\": %d, \"%s\": %d", c->V, name[0], c->d, name[1], c->L,
            name[2], c->H, name[3], c->n_ctx);
    if (pick(2))
        fam_put(f, "\"n_inner\": %d", c->m);
    else
        c->m = 4 * c->d;
    fam_put(f, "\"layer_norm_epsilon\": %g, \"scale_attn_weights\": false, \"rotary\": true", c->eps);
    if (sometimes())
        fam_put(f, "\"rope_theta\": 7");                /* is not read */
    c->tied = sometimes();
    fam_flag(f, "tie_word_embeddings", c->tied, false);
}

static void gptj_tensors(struct fam *f)
{
    static const char *const parts[][2] = {{"attn.q", "attn.q_proj"}, {"attn.k", "attn.k_proj"},
                                           {"attn.v", "attn.v_proj"},
                                           {"attn.o", "attn.out_proj"}};
    size_t d = (size_t)f->c.d, m = (size_t)f->c.m;
    bool masks = sometimes();
    f->prefix = often() ? "transformer." : "";
    hf_table(&f->hf, "embed", printed("%swte", f->prefix), (size_t)f->c.V, d);
    hf_norm(&f->hf, "norm_final", printed("%sln_f", f->prefix), d, true);
    for (int i = 0; i < f->c.L; i++) {
        layer_norm(f, i, "norm1", "ln_1");
        for (int p = 0; p < 4; p++)
            plain(f, i, parts[p][0], parts[p][1], d, d, false);
        plain(f, i, "mlp.in", "mlp.fc_in", d, m, true);
        plain(f, i, "mlp.out", "mlp.fc_out", m, d, true);
        if (masks)
            hf_buffer(&f->hf, in_layer(f, i, "attn.bias"), "BOOL", 4, 4);
    }
    fam_head(f, "wte", "lm_head");
    hf_bias(&f->hf, "unembed", "lm_head", (size_t)f->c.V);
}

/* ---- OPT: positions from row 2; norms before branches or after additions ---- */

static void opt_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    layer_norm_sizes(f, false);
    c->eps = 1e-5;                      /* whatever the file says */
    c->position = "learned", c->mlp = pick(3) ? "relu" : "gelu", c->tied = often(), c->bias = often();
    c->after = c->no_before = c->no_final = pick(2);
    fam_put(f, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_attention_heads\": %d, "
            "\"num_hidden_layers\": %d, \"ffn_dim\": %d, \"layer_norm_eps\": 0.5", c->V, c->n_ctx, c->d, c->H,
            c->L, c->m);
    fam_put(f, "\"activation_function\": \"%s\"", c->mlp);
    fam_flag(f, "do_layer_norm_before", !c->after, true);
    fam_flag(f, "enable_bias", c->bias, true);
    fam_flag(f, "tie_word_embeddings", c->tied, true);
    fam_flag(f, "layer_norm_elementwise_affine", !(c->plain = sometimes()), true);
    if (!c->after && sometimes()) {
        c->no_final = true;
        fam_put(f, "\"_remove_final_layer_norm\": true");
    }
    if (pick(2))
        fam_put(f, "\"word_embed_proj_dim\": %d", c->d);
    else if (pick(2))
        fam_put(f, "\"word_embed_proj_dim\": %d", c->narrow = 5 + pick(c->d - 5));
}

static void opt_norm(struct fam *f, const char *native, const char *name)
{
    if (!f->c.plain)
        hf_norm(&f->hf, native, name, (size_t)f->c.d, true);
}

static void opt_ends(struct fam *f)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, V = (size_t)c->V, narrow = (size_t)(c->narrow ? c->narrow : c->d);
    hf_table(&f->hf, "embed", printed("%sdecoder.embed_tokens", f->prefix), V, narrow);
    hf_positions(&f->hf, "pos_embed", printed("%sdecoder.embed_positions", f->prefix), 2, (size_t)c->n_ctx, d);
    if (c->narrow) {
        hf_linear(&f->hf, "project_in", printed("%sdecoder.project_in", f->prefix), narrow, d, true, false);
        hf_linear(&f->hf, "project_out", printed("%sdecoder.project_out", f->prefix), d, narrow, true, false);
    }
    if (!c->no_final)
        opt_norm(f, "norm_final", printed("%sdecoder.final_layer_norm", f->prefix));
    if (!c->tied)
        hf_linear(&f->hf, "unembed", "lm_head", narrow, V, true, false);
}

static void opt_tensors(struct fam *f)
{
    static const char *const parts[][2] = {{"attn.q", "self_attn.q_proj"}, {"attn.k", "self_attn.k_proj"},
                                           {"attn.v", "self_attn.v_proj"}, {"attn.o", "self_attn.out_proj"}};
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, m = (size_t)c->m;
    f->prefix = often() ? "model." : "";
    opt_ends(f);
    for (int i = 0; i < c->L; i++) {
        opt_norm(f, fam_native(i, c->after ? "sum1" : "norm1"),
                 fam_block(f, "decoder.layers.", i, "self_attn_layer_norm"));
        opt_norm(f, fam_native(i, c->after ? "sum2" : "norm2"), fam_block(f, "decoder.layers.", i, "final_layer_norm"));
        for (int p = 0; p < 4; p++)
            hf_linear(&f->hf, fam_native(i, parts[p][0]), fam_block(f, "decoder.layers.", i, parts[p][1]), d, d,
                      true, c->bias);
        hf_linear(&f->hf, fam_native(i, "mlp.in"), fam_block(f, "decoder.layers.", i, "fc1"), d, m, true, c->bias);
        hf_linear(&f->hf, fam_native(i, "mlp.out"), fam_block(f, "decoder.layers.", i, "fc2"), m, d, true, c->bias);
    }
}

/* ---- BLOOM and Falcon: q, k and v in one matrix, group by group ---- */

static void put_groups(struct fam *f, int i, size_t groups, bool bias)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, q = (size_t)(c->H * c->dh), kv = (size_t)(c->Hkv * c->dh), m = (size_t)c->m;
    const struct hf_part qkv[] = {{fam_native(i, "attn.q"), q}, {fam_native(i, "attn.k"), kv},
                                  {fam_native(i, "attn.v"), kv}};
    hf_fused(&f->hf, qkv, 3, groups, in_layer(f, i, "self_attention.query_key_value"), d, bias);
    plain(f, i, "attn.o", "self_attention.dense", q, d, bias);
    plain(f, i, "mlp.in", "mlp.dense_h_to_4h", d, m, bias);
    plain(f, i, "mlp.out", "mlp.dense_4h_to_h", m, d, bias);
}

static void word_ends(struct fam *f)
{
    f->prefix = often() ? "transformer." : "";
    hf_table(&f->hf, "embed", printed("%sword_embeddings", f->prefix), (size_t)f->c.V, (size_t)f->c.d);
    hf_norm(&f->hf, "norm_final", printed("%sln_f", f->prefix), (size_t)f->c.d, true);
    fam_head(f, "word_embeddings", "lm_head");
}

static void bloom_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    layer_norm_sizes(f, false);
    c->position = "none", c->alibi = "late", c->norm_embed = true, c->mlp = "gelu_new", c->tied = often(),
        c->m = 4 * c->d;
    c->post_norm_residual = sometimes();
    fam_put(f, "\"vocab_size\": %d, \"%s\": %d, \"%s\": %d", c->V, pick(2) ? "n_layer" : "num_hidden_layers", c->L,
            pick(2) ? "n_head" : "num_attention_heads", c->H);
    bool older = pick(2);               /* a name of the width which wins, or stands alone */
    if (older)
        fam_put(f, "\"n_embed\": %d", c->d);
    if (!older || pick(2))
        fam_put(f, "\"hidden_size\": %d", older ? 3 * c->d : c->d);
    fam_put(f, "\"layer_norm_epsilon\": %g, \"seq_length\": %d", c->eps, c->n_ctx);
    fam_flag(f, "tie_word_embeddings", c->tied, true);
    fam_flag(f, "apply_residual_connection_post_layernorm", c->post_norm_residual, false);
}

static void bloom_tensors(struct fam *f)
{
    word_ends(f);
    hf_norm(&f->hf, "norm_embed", printed("%sword_embeddings_layernorm", f->prefix), (size_t)f->c.d, true);
    for (int i = 0; i < f->c.L; i++) {
        layer_norm(f, i, "norm1", "input_layernorm");
        layer_norm(f, i, "norm2", "post_attention_layernorm");
        put_groups(f, i, (size_t)f->c.H, true);
    }
}

/* The newer ones have groups; the older ones one key and value head, or as many as there are queries. */
static void falcon_heads(struct fam *f, bool newer)
{
    struct ref_config *c = &f->c;
    bool single = pick(2);
    if (newer) {
        fam_groups(c);
        c->d = c->H * c->dh;
        fam_put(f, "\"new_decoder_architecture\": true, \"num_kv_heads\": %d", c->Hkv);
        return;
    }
    c->Hkv = single ? 1 : c->H;
    fam_flag(f, "multi_query", single, true);
    if (sometimes())
        fam_put(f, "\"num_kv_heads\": 7");              /* is not read */
}

static void falcon_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    bool newer = pick(2), two = newer && often();
    layer_norm_sizes(f, true);
    c->mlp = "gelu", c->tied = often(), c->bias = pick(2);
    falcon_heads(f, newer);
    c->parallel = newer || pick(2);
    c->one_norm = c->parallel && !two;
    c->alibi = sometimes() ? "early" : NULL;
    c->position = c->alibi ? "none" : "rope";
    fam_put(f, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_attention_heads\": %d, "
            "\"num_hidden_layers\": %d, \"layer_norm_epsilon\": %g", c->V, c->n_ctx, c->d, c->H, c->L, c->eps);
    if (newer && (!two || pick(2)))
        fam_put(f, "\"num_ln_in_parallel_attn\": %d", two ? 2 : 1);
    if (pick(2))
        fam_put(f, "\"ffn_hidden_size\": %d", c->m);
    else
        c->m = 4 * c->d;
    fam_flag(f, "parallel_attn", c->parallel, true);
    fam_flag(f, "bias", c->bias, false);
    fam_flag(f, "alibi", c->alibi, false);
    fam_flag(f, "tie_word_embeddings", c->tied, true);
    if (!c->alibi)
        fam_theta(f, "rope_theta", 10000);
}

static void falcon_tensors(struct fam *f)
{
    const struct ref_config *c = &f->c;
    word_ends(f);
    for (int i = 0; i < c->L; i++) {
        bool two = c->parallel && !c->one_norm;
        layer_norm(f, i, "norm1", two ? "ln_attn" : "input_layernorm");
        if (!c->one_norm)
            layer_norm(f, i, "norm2", two ? "ln_mlp" : "post_attention_layernorm");
        put_groups(f, i, (size_t)c->Hkv, c->bias);
    }
}

const struct fam_family fam_others[] = {
    {"gptj", gptj_config, gptj_tensors}, {"opt", opt_config, opt_tensors}, {"bloom", bloom_config, bloom_tensors},
    {"falcon", falcon_config, falcon_tensors}, {NULL, NULL, NULL}};
