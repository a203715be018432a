/* drawn_family.c - models of the older Hugging Face families, in the spellings and layouts that files have; and the
 * choice of one. */
#include "drawn.h"

#include "fam.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- gpt2 ---- */

static void gpt2_config(struct fam *f)
{
    static const char *const kinds[] = {"gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu", "gelu_python"};
    struct ref_config *c = &f->c;
    fam_sizes(f, false);
    c->position = "learned", c->norm = "layernorm";
    c->tied = often(), c->scale = often(), c->by_layer = sometimes();
    fam_put(f, "\"vocab_size\": %d, \"%s\": %d, \"n_embd\": %d, \"n_head\": %d, \"n_layer\": %d", c->V,
        pick(2) ? "n_ctx" : "n_positions", c->n_ctx, c->d, c->H, c->L);
    if (pick(2))
        c->m = 4 * c->d;
    if (c->m != 4 * c->d)
        fam_put(f, "\"n_inner\": %d", c->m);
    else if (pick(2))
        fam_put(f, "\"n_inner\": null");
    int kind = pick(5);
    c->mlp = kind < 3 ? "gelu_new" : "gelu";
    fam_kind(f, "activation_function", kinds, kind);
    fam_put(f, "\"layer_norm_epsilon\": %g", c->eps);
    fam_flag(f, "tie_word_embeddings", c->tied, true);
    fam_flag(f, "scale_attn_weights", c->scale, true);
    fam_flag(f, "scale_attn_by_inverse_layer_idx", c->by_layer, false);
}

static void gpt2_tensors(struct fam *f)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, m = (size_t)c->m;
    struct hf *h = &f->hf;
    bool masks = sometimes();
    f->prefix = pick(2) ? "transformer." : "";
    hf_table(h, "embed", printed("%swte", f->prefix), (size_t)c->V, d);
    hf_table(h, "pos_embed", printed("%swpe", f->prefix), (size_t)c->n_ctx, d);
    for (int i = 0; i < c->L; i++) {
        hf_norm(h, fam_native(i, "norm1"), fam_block(f, "h.", i, "ln_1"), d, true);
        hf_thirds(h, fam_native(i, "attn"), fam_block(f, "h.", i, "attn.c_attn"), d, (size_t)c->H, (size_t)c->dh,
                  false, true);
        hf_linear(h, fam_native(i, "attn.o"), fam_block(f, "h.", i, "attn.c_proj"), d, d, false, true);
        hf_norm(h, fam_native(i, "norm2"), fam_block(f, "h.", i, "ln_2"), d, true);
        hf_linear(h, fam_native(i, "mlp.in"), fam_block(f, "h.", i, "mlp.c_fc"), d, m, false, true);
        hf_linear(h, fam_native(i, "mlp.out"), fam_block(f, "h.", i, "mlp.c_proj"), m, d, false, true);
        if (masks) {
            hf_buffer(h, fam_block(f, "h.", i, "attn.bias"), "U8", 3, 5);
            hf_buffer(h, fam_block(f, "h.", i, "attn.masked_bias"), "F32", 1, 1);
        }
    }
    hf_norm(h, "norm_final", printed("%sln_f", f->prefix), d, true);
    fam_head(f, "wte", "lm_head");
}

/* ---- gpt_neo ---- */

static void put_local_layers(struct fam *f)
{
    struct ref_config *c = &f->c;
    int form = pick(3);
    if (form == 0) {                    /* every second layer, by default or as the list says with repeat counts */
        for (int i = 1; i < c->L; i += 2)
            c->local[i] = true;
        if (c->L == 2 && pick(2))
            fam_put(f, "\"attention_types\": [[[\"global\", \"local\"], 1]]");
        return;
    }
    fam_put(f, form == 1 ? "\"attention_layers\": [" : "\"attention_types\": [");
    for (int i = 0; i < c->L; i++) {
        const char *kind = (c->local[i] = pick(2)) ? "local" : "global";
        fprintf(f->f, form == 1 ? "%s\"%s\"" : "%s[[\"%s\"], 1]", i ? ", " : "", kind);
    }
    fputc(']', f->f);
    if (form == 1 && pick(2))
        fam_put(f, "\"attention_types\": [[[\"global\", \"local\"], 12]]");     /* attention_layers takes precedence */
}

static void gpt_neo_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_sizes(f, false);
    c->position = "learned", c->norm = "layernorm", c->mlp = "gelu_new", c->scale = false, c->tied = often();
    c->window = fam_window(c->n_ctx + 10);
    fam_put(f, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_heads\": %d, "
            "\"num_layers\": %d",
        c->V, c->n_ctx, c->d, c->H, c->L);
    fam_put(f, "\"window_size\": %d, \"layer_norm_epsilon\": %g", c->window, c->eps);
    if (pick(2))
        fam_put(f, "\"intermediate_size\": %d, \"activation_function\": \"gelu_new\"", c->m);
    else
        c->m = 4 * c->d;
    fam_flag(f, "tie_word_embeddings", c->tied, true);
    put_local_layers(f);
}

static void gpt_neo_tensors(struct fam *f)
{
    static const char *const parts[] = {"q", "k", "v"};
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, m = (size_t)c->m;
    struct hf *h = &f->hf;
    bool masks = sometimes();
    f->prefix = often() ? "transformer." : "";
    hf_table(h, "embed", printed("%swte", f->prefix), (size_t)c->V, d);
    hf_table(h, "pos_embed", printed("%swpe", f->prefix), (size_t)c->n_ctx, d);
    for (int i = 0; i < c->L; i++) {
        hf_norm(h, fam_native(i, "norm1"), fam_block(f, "h.", i, "ln_1"), d, true);
        for (int p = 0; p < 3; p++)
            hf_linear(h, fam_native(i, printed("attn.%s", parts[p])),
                      fam_block(f, "h.", i, printed("attn.attention.%s_proj", parts[p])), d, d, true, false);
        hf_linear(h, fam_native(i, "attn.o"), fam_block(f, "h.", i, "attn.attention.out_proj"), d, d, true, true);
        hf_norm(h, fam_native(i, "norm2"), fam_block(f, "h.", i, "ln_2"), d, true);
        hf_linear(h, fam_native(i, "mlp.in"), fam_block(f, "h.", i, "mlp.c_fc"), d, m, true, true);
        hf_linear(h, fam_native(i, "mlp.out"), fam_block(f, "h.", i, "mlp.c_proj"), m, d, true, true);
        if (masks)
            hf_buffer(h, fam_block(f, "h.", i, "attn.attention.bias"), "BOOL", 2, 2);
    }
    hf_norm(h, "norm_final", printed("%sln_f", f->prefix), d, true);
    fam_head(f, "wte", "lm_head");
}

/* ---- gpt_neox ---- */

static void gpt_neox_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_sizes(f, true);
    c->position = "rope", c->norm = "layernorm", c->tied = sometimes(), c->mlp = pick(2) ? "gelu" : "gelu_new";
    c->parallel = often(), c->bias = often();
    c->part = true, c->rotary = pick(c->dh / 2 + 1) * 2;
    fam_put(f, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_attention_heads\": %d, "
        "\"num_hidden_layers\": %d, \"intermediate_size\": %d", c->V, c->n_ctx, c->d, c->H, c->L, c->m);
    double share = c->rotary == c->dh ? 1 : (c->rotary + 0.5) / c->dh;      /* the fraction is truncated */
    fam_put(f, "\"rotary_pct\": %.17g, \"layer_norm_eps\": %g, \"hidden_act\": \"%s\"", share, c->eps, c->mlp);
    fam_flag(f, "use_parallel_residual", c->parallel, true);
    fam_flag(f, "attention_bias", c->bias, true);
    fam_flag(f, "tie_word_embeddings", c->tied, false);
    fam_theta(f, "rotary_emb_base", 10000);
}

static void gpt_neox_tensors(struct fam *f)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, m = (size_t)c->m;
    struct hf *h = &f->hf;
    bool masks = sometimes();
    f->prefix = often() ? "gpt_neox." : "";
    hf_table(h, "embed", printed("%sembed_in", f->prefix), (size_t)c->V, d);
    for (int i = 0; i < c->L; i++) {
        hf_norm(h, fam_native(i, "norm1"), fam_block(f, "layers.", i, "input_layernorm"), d, true);
        hf_thirds(h, fam_native(i, "attn"), fam_block(f, "layers.", i, "attention.query_key_value"), d, (size_t)c->H,
                  (size_t)c->dh, true, c->bias);
        hf_linear(h, fam_native(i, "attn.o"), fam_block(f, "layers.", i, "attention.dense"), d, d, true, c->bias);
        hf_norm(h, fam_native(i, "norm2"), fam_block(f, "layers.", i, "post_attention_layernorm"), d, true);
        hf_linear(h, fam_native(i, "mlp.in"), fam_block(f, "layers.", i, "mlp.dense_h_to_4h"), d, m, true, true);
        hf_linear(h, fam_native(i, "mlp.out"), fam_block(f, "layers.", i, "mlp.dense_4h_to_h"), m, d, true, true);
        if (masks) {
            hf_buffer(h, fam_block(f, "layers.", i, "attention.bias"), "BOOL", 7, 3);
            hf_buffer(h, fam_block(f, "layers.", i, "attention.rotary_emb.inv_freq"), "F32", 1, 3);
        }
    }
    hf_norm(h, "norm_final", printed("%sfinal_layer_norm", f->prefix), d, true);
    fam_head(f, "embed_in", "embed_out");
}

/* ---- llama and qwen2 ---- */

static void llama_sizes(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_sizes(f, true);
    c->position = "rope", c->norm = "rmsnorm", c->mlp = "swiglu", c->tied = pick(2);
    fam_groups(c);
    c->d = c->H * c->dh;
    if (pick(2))
        c->d = fam_width();
    fam_put(f, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_attention_heads\": %d, "
        "\"num_hidden_layers\": %d, \"intermediate_size\": %d", c->V, c->n_ctx, c->d, c->H, c->L, c->m);
    if (c->Hkv != c->H)
        fam_put(f, "\"num_key_value_heads\": %d", c->Hkv);
    else
        fam_put(f, "\"num_key_value_heads\": null");
    if (c->d != c->H * c->dh || pick(2))
        fam_put(f, "\"head_dim\": %d", c->dh);
    else if (pick(2))
        fam_put(f, "\"head_dim\": null");
    fam_put(f, "\"rms_norm_eps\": %g, \"hidden_act\": \"%s\"", c->eps, pick(2) ? "silu" : "swish");
    fam_flag(f, "tie_word_embeddings", c->tied, false);
    fam_theta(f, "rope_theta", 10000);
}

static void llama_config(struct fam *f)
{
    llama_sizes(f);
    f->c.bias = sometimes();            /* of attention; that of the mlp has its own key */
    fam_flag(f, "attention_bias", f->c.bias, false);
    if (sometimes())
        fam_put(f, "\"mlp_bias\": true");
}

static void llama_tensors(struct fam *f, bool qkv_bias, bool o_bias, bool mlp_bias)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, m = (size_t)c->m, q = (size_t)(c->H * c->dh), kv = (size_t)(c->Hkv * c->dh);
    struct hf *h = &f->hf;
    bool freqs = sometimes();
    f->prefix = often() ? "model." : "";
    hf_table(h, "embed", printed("%sembed_tokens", f->prefix), (size_t)c->V, d);
    for (int i = 0; i < c->L; i++) {
        hf_norm(h, fam_native(i, "norm1"), fam_block(f, "layers.", i, "input_layernorm"), d, false);
        hf_linear(h, fam_native(i, "attn.q"), fam_block(f, "layers.", i, "self_attn.q_proj"), d, q, true, qkv_bias);
        hf_linear(h, fam_native(i, "attn.k"), fam_block(f, "layers.", i, "self_attn.k_proj"), d, kv, true, qkv_bias);
        hf_linear(h, fam_native(i, "attn.v"), fam_block(f, "layers.", i, "self_attn.v_proj"), d, kv, true, qkv_bias);
        hf_linear(h, fam_native(i, "attn.o"), fam_block(f, "layers.", i, "self_attn.o_proj"), q, d, true, o_bias);
        hf_norm(h, fam_native(i, "norm2"), fam_block(f, "layers.", i, "post_attention_layernorm"), d, false);
        hf_linear(h, fam_native(i, "mlp.gate"), fam_block(f, "layers.", i, "mlp.gate_proj"), d, m, true, mlp_bias);
        hf_linear(h, fam_native(i, "mlp.in"), fam_block(f, "layers.", i, "mlp.up_proj"), d, m, true, mlp_bias);
        hf_linear(h, fam_native(i, "mlp.out"), fam_block(f, "layers.", i, "mlp.down_proj"), m, d, true, mlp_bias);
        if (freqs)
            hf_buffer(h, fam_block(f, "layers.", i, "self_attn.rotary_emb.inv_freq"), "F32", 1, 4);
    }
    if (freqs)
        hf_buffer(h, printed("%srotary_emb.inv_freq", f->prefix), "F32", 1, 4);
    hf_norm(h, "norm_final", printed("%snorm", f->prefix), d, false);
    fam_head(f, "embed_tokens", "lm_head");
}

static void llama_all_tensors(struct fam *f)
{
    fflush(f->f);
    llama_tensors(f, f->c.bias, f->c.bias, strstr(f->text, "mlp_bias") != NULL);
}

/* Windows from some layer on; what a list says counts instead. */
static void qwen2_config(struct fam *f)
{
    llama_sizes(f);
    if (pick(2)) {
        fam_put(f, "\"use_sliding_window\": false, \"sliding_window\": 4, \"max_window_layers\": 1");
    } else if (pick(2)) {
        int from = pick(4);
        f->c.window = fam_window(f->c.n_ctx + 3);
        fam_put(f, "\"use_sliding_window\": true, \"sliding_window\": %d, \"max_window_layers\": %d",
                f->c.window, from);
        for (int i = from; i < f->c.L; i++)
            f->c.local[i] = true;
        return;
    }
    static const char full[] = "\"full_attention\", \"full_attention\", \"full_attention\", \"full_attention\"";
    if (sometimes())
        fam_put(f, "\"layer_types\": [%.*s]", 18 * f->c.L - 2, full);
}

static void qwen2_tensors(struct fam *f)
{
    llama_tensors(f, true, false, false);
}

/* ---- one of them ---- */

static const struct fam_family older[] = {
    {"gpt2", gpt2_config, gpt2_tensors}, {"gpt_neo", gpt_neo_config, gpt_neo_tensors},
    {"gpt_neox", gpt_neox_config, gpt_neox_tensors}, {"llama", llama_config, llama_all_tensors},
    {"qwen2", qwen2_config, qwen2_tensors}, {NULL, NULL, NULL}};

/* NULL: there are no more. */
static const struct fam_family *family_at(int which)
{
    const struct fam_family *const all[] = {older, fam_llamas, fam_others, fam_later, fam_gpts, fam_wrapped,
                                            fam_courses};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct fam_family *f = all[i]; f->name; f++)
            if (which-- == 0)
                return f;
    return NULL;
}

int drawn_families(void)
{
    int n = 0;
    while (family_at(n))
        n++;
    return n;
}

const char *drawn_family_name(int which) { return family_at(which)->name; }

void drawn_family(int which, int round, void (*use)(const struct agree *a, int T))
{
    const struct fam_family *family = family_at(which);
    static const char *const dtypes[] = {"F32", "F16", "BF16", NULL};
    struct fam f = {.hf = {.dtype = dtypes[pick(4)], .small = fam_wish.small, .outlier = fam_wish.outlier}};
    f.f = open_memstream(&f.text, &f.len);
    fprintf(f.f, "{\"model_type\": \"%s\"", family->name);
    family->config(&f);
    fam_noise(&f);
    f.hf.sharp = fam_sharp(&f.c);
    family->tensors(&f);
    fputs(f.section ? "}}" : "}", f.f);
    fclose(f.f);
    char *dir = hf_write(&f.hf, f.text, sometimes() ? 2 + (size_t)pick(3) : 1, sometimes());
    const struct agree a = {.dir = dir, .config = &f.c, .weight = hf_weight, .weights = &f.hf, .about = f.text};
    int longest = f.longest ? f.longest < 70 ? f.longest : 70 : f.c.n_ctx;
    use(&a, round % 5 == 0 ? 1 : round % 5 == 1 ? longest : 1 + pick(longest));
    free(dir);
    hf_free(&f.hf);
    free(f.text);
}
