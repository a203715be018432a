/* drawn_llama.c - models of the families that have Llama's names: what each computes otherwise, as FAMILIES.md of the
 * reference data tells it from the sources of transformers. */
#include "fam_llama.h"

#include "scratch.h"

#include <math.h>
#include <string.h>

/* ---- Mistral, Qwen 3, SmolLM 3, Granite, OLMo 2 ---- */

static void mistral_config(struct fam *f)
{
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});
    fam_act(f, "hidden_act");
    fam_theta(f, "rope_theta", 10000);
    if (pick(3)) {
        fam_draw_window(f);
        fam_every_layer(f);
    } else if (pick(2)) {               /* without the key the window is longer than these texts */
        fam_put(f, "\"sliding_window\": null");
    }
}

static void no_biases(struct fam *f)
{
    fam_tensors(f, &fam_as_llama, false, false, false);
}

static void qwen3_config(struct fam *f)
{
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps", .dh = 128});
    f->c.qk_norm = "head";
    fam_act(f, "hidden_act");
    fam_theta(f, "rope_theta", 10000);
    fam_ask_bias(f, &f->c.bias, "attention_bias", false);
    if (pick(2)) {
        fam_draw_window(f);
        fam_flag(f, "use_sliding_window", true, false);
        fam_layer_types(f);
    }
}

static void qwen3_tensors(struct fam *f)
{
    struct fam_names n = fam_as_llama;
    n.q_norm = "self_attn.q_norm", n.k_norm = "self_attn.k_norm";
    fam_tensors(f, &n, f->c.bias, f->c.bias, false);
}

static void smollm3_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps", .tied = true});
    fam_act(f, "hidden_act");
    fam_theta(f, "rope_theta", 2000000);
    fam_ask_bias(f, &c->bias, "attention_bias", false);
    int every = pick(2) ? 1 + pick(3) : 0;
    if (every)
        fam_put(f, "\"no_rope_layer_interval\": %d", every);
    else
        fam_put(f, "\"no_rope_layers\": [");
    for (int i = 0; i < c->L; i++) {
        c->still[i] = every ? (i + 1) % every == 0 : pick(2);
        if (!every)
            fprintf(f->f, "%s%d", i ? ", " : "", !c->still[i]);
    }
    if (!every)
        fputc(']', f->f);
    if (pick(2)) {                      /* only layers without rotation have the window */
        fam_draw_window(f);
        fam_flag(f, "use_sliding_window", true, false);
        memcpy(c->local, c->still, sizeof c->local);
    }
}

static void one_bias(struct fam *f)
{
    fam_tensors(f, &fam_as_llama, f->c.bias, f->c.bias, false);
}

static double draw_factor(struct fam *f, const char *key, double least)
{
    double x = least + pick(16) * least / 4;
    if (sometimes())
        return 0;
    fam_put(f, "\"%s\": %g", key, x);
    return x;
}

static void granite_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});
    fam_act(f, "hidden_act");
    fam_theta(f, "rope_theta", 10000);
    fam_ask_bias(f, &c->bias, "attention_bias", false);
    c->attention_scale = draw_factor(f, "attention_multiplier", 0.0625);
    c->scale = c->attention_scale > 0;  /* without the key, scores are the dots */
    c->embed_scale = draw_factor(f, "embedding_multiplier", 2);
    c->branch_scale = draw_factor(f, "residual_multiplier", 0.25);
    c->logits_divided = draw_factor(f, "logits_scaling", 1);
}

static void olmo2_config(struct fam *f)
{
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});
    f->c.qk_norm = "whole", f->c.no_before = f->c.post = true;
    fam_act(f, "hidden_act");
    fam_theta(f, "rope_theta", 10000);
    fam_ask_bias(f, &f->c.bias, "attention_bias", false);
}

static void olmo2_tensors(struct fam *f)
{
    struct fam_names n = fam_as_llama;
    n.norm1 = n.norm2 = NULL;
    n.post1 = "post_attention_layernorm", n.post2 = "post_feedforward_layernorm";
    n.q_norm = "self_attn.q_norm", n.k_norm = "self_attn.k_norm";
    fam_tensors(f, &n, f->c.bias, f->c.bias, false);
}

/* ---- Gemma ---- */

static void gemma_sizes(struct fam *f)
{
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps", .dh = 256, .tied = true});
    f->hf.from_one = f->c.from_one = true;
    f->c.embed_scale = sqrt(f->c.d);
    fam_ask_bias(f, &f->c.bias, "attention_bias", false);
}

/* "gelu" is the erf form. */
static void put_gelu(struct fam *f, const char *key)
{
    static const char *const names[] = {"gelu_pytorch_tanh", "gelu_new", "gelu"};
    int kind = pick(3);
    f->c.mlp = kind < 2 ? "geglu_new" : "geglu";
    if (kind || pick(2))
        fam_kind(f, key, names, kind);
}

static void gemma_config(struct fam *f)
{
    gemma_sizes(f);
    put_gelu(f, "hidden_act");
    if (sometimes())
        fam_put(f, "\"hidden_activation\": null");
    fam_theta(f, "rope_theta", 10000);
}

/* Keys that Gemma 2 and 3 share; what scores are divided by does not follow from the size of a head. */
static void later_config(struct fam *f, double cap, double logit_cap)
{
    struct ref_config *c = &f->c;
    gemma_sizes(f);
    c->post = true;
    put_gelu(f, "hidden_activation");
    if (sometimes())
        fam_put(f, "\"hidden_act\": \"silu\"");         /* is not read */
    int scalar = often() ? 8 + pick(40) : 256;
    c->attention_scale = 1 / sqrt(scalar);
    if (scalar != 256 || pick(2))
        fam_put(f, "\"query_pre_attn_scalar\": %d", scalar);
    c->cap = cap, c->logit_cap = logit_cap;
    if (often()) {
        c->logit_cap = pick(3) ? 2 + pick(20) : 0;
        if (c->logit_cap > 0)
            fam_put(f, "\"final_logit_softcapping\": %g", c->logit_cap);
        else
            fam_put(f, "\"final_logit_softcapping\": null");
    }
    fam_draw_window(f);
}

static void gemma2_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    later_config(f, 50, 30);
    fam_theta(f, "rope_theta", 10000);
    if (often()) {
        c->cap = pick(3) ? 1 + pick(9) : 0;
        if (c->cap > 0)
            fam_put(f, "\"attn_logit_softcapping\": %g", c->cap);
        else
            fam_put(f, "\"attn_logit_softcapping\": null");
    }
    for (int i = 0; i < c->L; i += 2)
        c->local[i] = true;
    if (pick(2))
        fam_layer_types(f);
}

/* Scaling is for layers without a window only; newer files have a section for each kind of layer. */
static void gemma3_rope(struct fam *f)
{
    struct ref_config *c = &f->c;
    c->theta = 1000, c->local_theta = 100, c->scaling = pick(2) ? "linear" : NULL, c->factor = 4;
    const char *scaling = c->scaling ? "\"rope_type\": \"linear\", \"factor\": 4" : "\"rope_type\": \"default\"";
    if (pick(2))
        fam_put(f, "\"rope_theta\": 1000, \"rope_local_base_freq\": 100, \"rope_scaling\": {%s}", scaling);
    else
        fam_put(f, "\"rope_parameters\": {\"full_attention\": {%s, \"rope_theta\": 1000}, "
                "\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 100}}", scaling);
}

static void gemma3_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    int every = 1 + pick(3);
    later_config(f, 0, 0);
    c->qk_norm = "head";
    gemma3_rope(f);
    if (sometimes())
        fam_put(f, "\"attn_logit_softcapping\": 0.5");  /* is read and never applied */
    fam_put(f, "\"sliding_window_pattern\": %d", every);
    for (int i = 0; i < c->L; i++)
        c->local[i] = (i + 1) % every != 0;
    if (pick(2))
        fam_layer_types(f);
}

/* In the later ones, "post_attention_layernorm" is what its name says. */
static void gemma_tensors(struct fam *f)
{
    struct fam_names n = fam_as_llama;
    if (f->c.post) {
        n.post1 = "post_attention_layernorm", n.norm2 = "pre_feedforward_layernorm",
            n.post2 = "post_feedforward_layernorm";
        n.q_norm = "self_attn.q_norm", n.k_norm = "self_attn.k_norm";
    }
    fam_tensors(f, &n, f->c.bias, f->c.bias, false);
}

/* The same as a part of a model that also sees pictures. */
static void wrapped_config(struct fam *f)
{
    static const char *const prefixes[] = {"language_model.model.", "model.language_model."},
        *const heads[] = {"language_model.lm_head", "lm_head"};
    fam_put(f, "\"vision_config\": {\"hidden_size\": 3}, \"text_config\": {\"model_type\": \"gemma3_text\"");
    f->section = true, f->prefix = prefixes[pick(2)], f->head = heads[pick(2)];
    gemma3_config(f);
}

static void wrapped_tensors(struct fam *f)
{
    static const char *const others[] = {"vision_tower.embed.weight", "model.vision_tower.embed.weight",
                                         "multi_modal_projector.norm.weight"};
    gemma_tensors(f);
    hf_buffer(&f->hf, others[pick(3)], "F32", 2, 3);
}

/* ---- Phi 3: fused matrices ---- */

static void put_factors(struct fam *f, const char *key, double *x)
{
    fam_put(f, "\"%s\": [", key);
    for (int i = 0; i < f->c.rotary / 2; i++) {
        x[i] = 1 + pick(40) / 8.0;
        fprintf(f->f, "%s%g", i ? ", " : "", x[i]);
    }
    fputc(']', f->f);
}

static void phi3_config(struct fam *f)
{
    static const char *const kinds[] = {"longrope", "su", "yarn"};
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});
    fam_act(f, "hidden_act");
    c->part = true, c->rotary = 2 * (1 + pick(c->dh / 2));
    if (c->rotary != c->dh || pick(2))                  /* of which only the whole part counts */
        fam_put(f, "\"partial_rotary_factor\": %.17g", c->rotary == c->dh ? 1 : (c->rotary + 0.5) / c->dh);
    if (pick(2)) {
        fam_draw_window(f);
        fam_every_layer(f);
    }
    if (pick(2))
        return;
    c->scaling = "longrope", c->original = 2 + pick(c->n_ctx);
    fam_put(f, "\"original_max_position_embeddings\": %g, \"rope_scaling\": {\"type\": \"%s\"", c->original,
            kinds[pick(3)]);
    put_factors(f, "short_factor", c->few);
    put_factors(f, "long_factor", c->many);
    fputc('}', f->f);
    double longer = c->n_ctx / c->original;
    c->grow = longer <= 1 ? 1 : sqrt(1 + log(longer) / log(c->original));
}

static void phi3_tensors(struct fam *f)
{
    const struct ref_config *c = &f->c;
    size_t d = (size_t)c->d, q = (size_t)(c->H * c->dh), kv = (size_t)(c->Hkv * c->dh), m = (size_t)c->m;
    f->prefix = often() ? "model." : "";
    fam_ends(f, "norm");
    for (int i = 0; i < c->L; i++) {
        const struct hf_part qkv[] = {{fam_native(i, "attn.q"), q}, {fam_native(i, "attn.k"), kv},
                                      {fam_native(i, "attn.v"), kv}};
        const struct hf_part mlp[] = {{fam_native(i, "mlp.gate"), m}, {fam_native(i, "mlp.in"), m}};
        fam_norms(f, i, &fam_as_llama);
        hf_fused(&f->hf, qkv, 3, 1, fam_in_layer(f, i, "self_attn.qkv_proj"), d, false);
        hf_linear(&f->hf, fam_native(i, "attn.o"), fam_in_layer(f, i, "self_attn.o_proj"), q, d, true, false);
        hf_fused(&f->hf, mlp, 2, 1, fam_in_layer(f, i, "mlp.gate_up_proj"), d, false);
        hf_linear(&f->hf, fam_native(i, "mlp.out"), fam_in_layer(f, i, "mlp.down_proj"), m, d, true, false);
    }
}

/* ---- Phi, StableLM, StarCoder 2: LayerNorm ---- */

static void draw_part(struct fam *f, double usual)
{
    struct ref_config *c = &f->c;
    c->part = true, c->rotary = 2 * pick(c->dh / 2 + 1);
    if ((int)(c->dh * usual) != c->rotary || pick(2))
        fam_put(f, "\"partial_rotary_factor\": %.17g", c->rotary == c->dh ? 1 : (c->rotary + 0.5) / c->dh);
    fam_theta(f, "rope_theta", 10000);
}

static void phi_config(struct fam *f)
{
    static const char *const names[] = {"gelu_new", "gelu_pytorch_tanh", "gelu"};
    fam_llama_sizes(f, &(struct fam_usual){.eps = "layer_norm_eps", .layernorm = true});
    int kind = pick(3);
    f->c.mlp = kind < 2 ? "gelu_new" : "gelu", f->c.parallel = f->c.one_norm = true;
    if (kind || pick(2))
        fam_kind(f, "hidden_act", names, kind);
    draw_part(f, 0.5);
    f->c.qk_norm = pick(2) ? "head" : NULL;
    fam_flag(f, "qk_layernorm", f->c.qk_norm, false);
}

static void phi_tensors(struct fam *f)
{
    const struct fam_names n = {.norm1 = "input_layernorm", .q_norm = "self_attn.q_layernorm",
                                .k_norm = "self_attn.k_layernorm",
                            .o = "self_attn.dense", .in = "mlp.fc1", .out = "mlp.fc2"};
    f->prefix = often() ? "model." : "";
    fam_ends(f, "final_layernorm");
    hf_bias(&f->hf, "unembed", "lm_head", (size_t)f->c.V);
    for (int i = 0; i < f->c.L; i++) {
        fam_norms(f, i, &n);
        fam_attention(f, i, &n, true, true);
        fam_mlp(f, i, &n, true);
    }
}

static void stablelm_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "layer_norm_eps", .layernorm = true, .no_head_dim = true});
    fam_act(f, "hidden_act");
    draw_part(f, 0.25);
    fam_ask_bias(f, &c->bias, "use_qkv_bias", false);
    fam_ask_bias(f, &c->parallel, "use_parallel_residual", false);
    c->one_norm = c->parallel;
    c->qk_norm = pick(2) ? "own" : NULL;
    fam_flag(f, "qk_layernorm", c->qk_norm, false);
}

static void stablelm_tensors(struct fam *f)
{
    struct fam_names n = fam_as_llama;
    n.q_norm = "self_attn.q_layernorm.norms", n.k_norm = "self_attn.k_layernorm.norms";
    fam_tensors(f, &n, f->c.bias, false, false);
}

static void starcoder2_config(struct fam *f)
{
    static const char *const names[] = {"gelu_pytorch_tanh", "gelu"};
    fam_llama_sizes(f, &(struct fam_usual){.eps = "norm_epsilon", .layernorm = true, .tied = true});
    int kind = pick(2);
    f->c.mlp = kind ? "gelu" : "gelu_new";
    fam_kind(f, "hidden_act", names, kind);
    fam_theta(f, "rope_theta", 10000);
    fam_ask_bias(f, &f->c.bias, "use_bias", true);
    if (pick(2)) {
        fam_draw_window(f);
        fam_every_layer(f);
    }
}

static void starcoder2_tensors(struct fam *f)
{
    struct fam_names n = fam_as_llama;
    n.in = "mlp.c_fc", n.out = "mlp.c_proj";
    fam_tensors(f, &n, f->c.bias, f->c.bias, f->c.bias);
}

const struct fam_family fam_llamas[] = {
    {"mistral", mistral_config, no_biases}, {"qwen3", qwen3_config, qwen3_tensors},
    {"smollm3", smollm3_config, one_bias},
    {"granite", granite_config, one_bias}, {"olmo2", olmo2_config, olmo2_tensors},
    {"gemma", gemma_config, gemma_tensors},
    {"gemma2", gemma2_config, gemma_tensors}, {"gemma3_text", gemma3_config, gemma_tensors},
    {"phi3", phi3_config, phi3_tensors},
    {"phi", phi_config, phi_tensors}, {"stablelm", stablelm_config, stablelm_tensors},
    {"starcoder2", starcoder2_config, starcoder2_tensors}, {NULL, NULL, NULL}};

const struct fam_family fam_wrapped[] = {{"gemma3", wrapped_config, wrapped_tensors}, {NULL, NULL, NULL}};
