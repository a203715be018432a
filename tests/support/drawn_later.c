/* drawn_later.c - models of a third group of families with Llama's names, as FAMILIES3.md of the reference data tells
 * it from the sources of transformers. */
#include "fam_llama.h"

#include <math.h>
#include <string.h>

static void one_bias(struct fam *f) { fam_tensors(f, &fam_as_llama, f->c.bias, f->c.bias, false); }

/* ---- nanochat ---- */

static void nanochat_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});
    c->mlp = "relu2", c->qk_norm = "head";
    c->plain = c->norm_embed = c->late = c->backwards = true;
    if (pick(2))
        fam_put(f, "\"hidden_act\": \"relu2\"");
    c->logit_cap = 15;
    if (often()) {
        c->logit_cap = pick(3) ? 2 + pick(20) : 0;
        fam_put(f, c->logit_cap > 0 ? "\"final_logit_softcapping\": %g" : "\"final_logit_softcapping\": null",
                c->logit_cap);
    }
    fam_theta(f, "rope_theta", 10000);
    fam_ask_bias(f, &c->bias, "attention_bias", false);
}

static void nanochat_tensors(struct fam *f)
{
    const struct fam_names n = {.o = "self_attn.o_proj", .in = "mlp.fc1", .out = "mlp.fc2"};
    fam_tensors(f, &n, f->c.bias, f->c.bias, false);
}

/* ---- OLMo 1 and 3 ---- */

static void olmo_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});      /* which is not read */
    c->eps = 1e-5, c->norm = "layernorm", c->plain = true;
    fam_act(f, "hidden_act");
    if (often()) {
        c->clip = pick(4) ? 0.5 + 0.25 * pick(6) : 0;
        fam_put(f, c->clip > 0 ? "\"clip_qkv\": %g" : "\"clip_qkv\": null", c->clip);
    }
    fam_theta(f, "rope_theta", 10000);
    fam_ask_bias(f, &c->bias, "attention_bias", false);
}

/* Rotation is scaled in layers without a window only; newer files have a section for each kind of layer. */
static void olmo3_rope(struct fam *f)
{
    struct ref_config *c = &f->c;
    c->theta = 1000, c->local_theta = 1000, c->scaling = pick(2) ? "linear" : NULL, c->factor = 4;
    const char *scaling = c->scaling ? "\"rope_type\": \"linear\", \"factor\": 4" : "\"rope_type\": \"default\"";
    switch (pick(3)) {
    case 0:
        fam_put(f, "\"rope_theta\": 1000, \"rope_scaling\": {%s}", scaling);
        break;
    case 1:
        c->theta = c->local_theta = 10000;
        fam_put(f, "\"rope_scaling\": {%s}", scaling);
        break;
    default:
        c->local_theta = pick(2) ? 100 : 500000;
        fam_put(f, "\"rope_parameters\": {\"full_attention\": {%s, \"rope_theta\": 1000}, \"sliding_attention\": {",
                scaling);
        fprintf(f->f, c->local_theta < 1000 ? "\"rope_theta\": 100, \"rope_type\": \"default\"}}" :
                "\"rope_type\": \"default\"}}");
    }
}

static void olmo3_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});
    c->qk_norm = "whole", c->no_before = c->post = true;
    fam_act(f, "hidden_act");
    olmo3_rope(f);
    fam_ask_bias(f, &c->bias, "attention_bias", false);
    fam_draw_window(f);
    for (int i = 0; i < c->L; i++)
        c->local[i] = (i + 1) % 4 != 0;
    if (often())
        fam_layer_types(f);
}

static void after_tensors(struct fam *f)
{
    struct fam_names n = fam_as_llama;
    n.norm1 = n.norm2 = NULL;
    n.post1 = "post_attention_layernorm", n.post2 = "post_feedforward_layernorm";
    n.q_norm = "self_attn.q_norm", n.k_norm = "self_attn.k_norm";
    fam_tensors(f, &n, f->c.bias, f->c.bias, false);
}

/* ---- Cohere ---- */

static void cohere_block(struct fam *f, bool no_head_dim)
{
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "layer_norm_eps", .layernorm = true, .tied = true,
                                           .no_head_dim = no_head_dim});
    f->bare_norms = c->parallel = c->one_norm = c->interleaved = true;
    fam_act(f, "hidden_act");
    c->logits_times = pick(2) ? 0.0625 : 0.125 * (1 + pick(12));
    fam_put(f, "\"logit_scale\": %g", c->logits_times);
    fam_theta(f, "rope_theta", 10000);
    fam_ask_bias(f, &c->bias, "attention_bias", false);
}

static void cohere_config(struct fam *f)
{
    cohere_block(f, false);
    f->c.qk_norm = pick(2) ? "table" : NULL;
    fam_flag(f, "use_qk_norm", f->c.qk_norm, false);
}

static void cohere_tensors(struct fam *f)
{
    const struct fam_names n = {.norm1 = "input_layernorm", .q_norm = "self_attn.q_norm", .k_norm = "self_attn.k_norm",
                                .o = "self_attn.o_proj", .in = "mlp.up_proj", .out = "mlp.down_proj"};
    fam_tensors(f, &n, f->c.bias, f->c.bias, false);
}

/* Layers without a window are not rotated. */
static void full_layers_are_still(struct ref_config *c)
{
    for (int i = 0; i < c->L; i++)
        c->still[i] = !c->local[i];
}

static void cohere2_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    int every = pick(2) ? 1 + pick(3) : 4;
    cohere_block(f, true);
    fam_draw_window(f);
    if (every != 4 || pick(2))
        fam_put(f, "\"sliding_window_pattern\": %d", every);
    if (sometimes())
        fam_put(f, "\"use_qk_norm\": true, \"rotary_pct\": 0.5");       /* are not read */
    for (int i = 0; i < c->L; i++)
        c->local[i] = (i + 1) % every != 0;
    if (pick(2))
        fam_layer_types(f);
    full_layers_are_still(c);
}

/* ---- ERNIE 4.5, Helium, HunYuan, EXAONE 4 ---- */

static void ernie_config(struct fam *f)
{
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps", .dh = 128, .tied = true});
    f->c.interleaved = true;
    fam_act(f, "hidden_act");
    fam_theta(f, "rope_theta", 500000);
    fam_ask_bias(f, &f->c.bias, "use_bias", false);
}

static void ernie_tensors(struct fam *f) { fam_tensors(f, &fam_as_llama, f->c.bias, f->c.bias, f->c.bias); }

static void helium_config(struct fam *f)
{
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps", .dh = 128});
    f->c.interleaved = true;
    fam_act(f, "hidden_act");
    fam_theta(f, "rope_theta", 100000);
    fam_ask_bias(f, &f->c.bias, "attention_bias", false);
}

static void helium_tensors(struct fam *f) { fam_tensors(f, &fam_as_llama, f->c.bias, false, false); }

static void hunyuan_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});
    c->qk_norm = "head", c->late = true;
    fflush(f->f);
    if (!strstr(f->text, "\"head_dim\": ") || strstr(f->text, "\"head_dim\": null"))
        fam_put(f, "\"head_dim\": %d", c->dh);
    fam_act(f, "hidden_act");
    fam_ask_bias(f, &c->bias, "attention_bias", false);
    if (pick(2)) {
        fam_theta(f, "rope_theta", 10000);
        return;
    }
    fam_put(f, "\"rope_theta\": 10000, \"rope_scaling\": {\"type\": \"dynamic\", \"alpha\": 1000, \"factor\": 1.0}");
    c->theta = 10000 * pow(1000, c->dh / (c->dh - 2.0));
}

static void hunyuan_tensors(struct fam *f)
{
    struct fam_names n = fam_as_llama;
    n.q_norm = "self_attn.query_layernorm", n.k_norm = "self_attn.key_layernorm";
    fam_tensors(f, &n, f->c.bias, f->c.bias, false);
}

static void exaone4_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    int every = 1 + pick(4);
    fam_llama_sizes(f, &(struct fam_usual){.eps = "rms_norm_eps"});
    c->qk_norm = "head", c->no_before = c->post = true;
    fam_act(f, "hidden_act");
    fam_theta(f, "rope_theta", 10000);
    if (sometimes()) {                  /* without windows all layers are rotated */
        fam_put(f, "\"sliding_window\": null, \"sliding_window_pattern\": %d", every);
        return;
    }
    fam_draw_window(f);
    for (int i = 0; i < c->L; i++)
        c->local[i] = (i + 1) % every != 0;
    if (pick(2))
        fam_put(f, "\"sliding_window_pattern\": %d", every);
    else
        fam_put(f, "\"sliding_window_pattern\": \"LLLG\""), fam_layer_types(f);
    full_layers_are_still(c);
}

const struct fam_family fam_later[] = {
    {"nanochat", nanochat_config, nanochat_tensors}, {"olmo", olmo_config, one_bias},
    {"olmo3", olmo3_config, after_tensors},
    {"cohere", cohere_config, cohere_tensors}, {"cohere2", cohere2_config, cohere_tensors},
    {"ernie4_5", ernie_config, ernie_tensors},
    {"helium", helium_config, helium_tensors}, {"hunyuan_v1_dense", hunyuan_config, hunyuan_tensors},
    {"exaone4", exaone4_config, after_tensors}, {NULL, NULL, NULL}};
