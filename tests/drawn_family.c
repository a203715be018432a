/* drawn_family.c - models of every Hugging Face family, in the spellings and layouts that files have. */
#include "drawn.h"

#include "hf.h"
#include "scratch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int pick(int n) { return agree_pick(n); }
static bool often(void) { return pick(4) > 0; }
static bool sometimes(void) { return pick(4) == 0; }

/* ---- a config.json, key by key ---- */

struct text { FILE *f; char *s; size_t len; };

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs(", ", t->f);
    vfprintf(t->f, fmt, ap);
    va_end(ap);
}

static void put_flag(struct text *t, const char *key, bool value, bool absent)
{
    if (value != absent || pick(2))
        put(t, "\"%s\": %s", key, value ? "true" : "false");
}

static void put_kind(struct text *t, const char *key, const char *const *choices, int chosen)
{
    put(t, "\"%s\": \"%s\"", key, choices[chosen]);
}

/* Adds keys that change no number. */
static void put_noise(struct text *t)
{
    static const char *const noise[] = {
        "\"torch_dtype\": \"float16\"", "\"use_cache\": true", "\"bos_token_id\": 1", "\"eos_token_id\": [1, 2]",
        "\"attention_dropout\": 0.1", "\"initializer_range\": 0.02", "\"pretraining_tp\": 2", "\"quantization_config\": null",
        "\"pruned_heads\": {}", "\"task_specific_params\": {\"a\": [1, {}]}", "\"reorder_and_upcast_attn\": true",
        "\"is_encoder_decoder\": false", "\"logit_scale\": 1.0"};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        if (sometimes())
            put(t, "%s", noise[i]);
}

/* ---- what all families share ---- */

struct fam { struct ref_config c; struct text text; struct hf hf; const char *prefix; };

/* Norms over two or three nearly equal numbers would lose more digits than the bound allows. */
enum { NARROWEST = 8 };

static void set_sizes(struct fam *f, bool even)
{
    struct ref_config *c = &f->c;
    *c = (struct ref_config){
        .V = 2 + pick(60), .n_ctx = 1 + pick(70), .L = 1 + pick(3), .H = 1 + pick(6), .dh = NARROWEST + pick(13), .m = 1 + pick(90),
        .causal = true, .scale = true, .residual = true, .projection = true, .unembed = true,
        .eps = pick(2) ? 1e-5 : 1e-3, .theta = 10000};
    c->dh += even && c->dh % 2;
    c->Hkv = c->H;
    c->d = c->H * c->dh;
    c->dv = c->dh;
}

static const char *block(const struct fam *f, const char *stem, int layer, const char *tail)
{
    return printed("%s%s%d.%s", f->prefix, stem, layer, tail);
}

static const char *native(int layer, const char *tail)
{
    return printed("blocks.%d.%s", layer, tail);
}

/* Either a separate output layer, or the embedding, which some files store a second time as the output layer. */
static void put_head(struct fam *f, const char *embed, const char *head)
{
    if (!f->c.tied)
        hf_linear(&f->hf, "unembed", head, (size_t)f->c.d, (size_t)f->c.V, true, false);
    else if (sometimes())
        hf_copy(&f->hf, printed("%s.weight", head), printed("%s%s.weight", f->prefix, embed));
}

/* ---- gpt2 ---- */

static void gpt2_config(struct fam *f)
{
    static const char *const kinds[] = {"gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu", "gelu_python"};
    struct ref_config *c = &f->c;
    set_sizes(f, false);
    c->position = "learned", c->norm = "layernorm";
    c->tied = often(), c->scale = often(), c->by_layer = sometimes();
    put(&f->text, "\"vocab_size\": %d, \"%s\": %d, \"n_embd\": %d, \"n_head\": %d, \"n_layer\": %d", c->V,
        pick(2) ? "n_ctx" : "n_positions", c->n_ctx, c->d, c->H, c->L);
    if (pick(2))
        c->m = 4 * c->d;
    if (c->m != 4 * c->d)
        put(&f->text, "\"n_inner\": %d", c->m);
    else if (pick(2))
        put(&f->text, "\"n_inner\": null");
    int kind = pick(5);
    c->mlp = kind < 3 ? "gelu_new" : "gelu";
    put_kind(&f->text, "activation_function", kinds, kind);
    put(&f->text, "\"layer_norm_epsilon\": %g", c->eps);
    put_flag(&f->text, "tie_word_embeddings", c->tied, true);
    put_flag(&f->text, "scale_attn_weights", c->scale, true);
    put_flag(&f->text, "scale_attn_by_inverse_layer_idx", c->by_layer, false);
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
        hf_norm(h, native(i, "norm1"), block(f, "h.", i, "ln_1"), d, true);
        hf_thirds(h, native(i, "attn"), block(f, "h.", i, "attn.c_attn"), d, (size_t)c->H, (size_t)c->dh, false, true);
        hf_linear(h, native(i, "attn.o"), block(f, "h.", i, "attn.c_proj"), d, d, false, true);
        hf_norm(h, native(i, "norm2"), block(f, "h.", i, "ln_2"), d, true);
        hf_linear(h, native(i, "mlp.in"), block(f, "h.", i, "mlp.c_fc"), d, m, false, true);
        hf_linear(h, native(i, "mlp.out"), block(f, "h.", i, "mlp.c_proj"), m, d, false, true);
        if (masks) {
            hf_buffer(h, block(f, "h.", i, "attn.bias"), "U8", 3, 5);
            hf_buffer(h, block(f, "h.", i, "attn.masked_bias"), "F32", 1, 1);
        }
    }
    hf_norm(h, "norm_final", printed("%sln_f", f->prefix), d, true);
    put_head(f, "wte", "lm_head");
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
            put(&f->text, "\"attention_types\": [[[\"global\", \"local\"], 1]]");
        return;
    }
    put(&f->text, form == 1 ? "\"attention_layers\": [" : "\"attention_types\": [");
    for (int i = 0; i < c->L; i++) {
        const char *kind = (c->local[i] = pick(2)) ? "local" : "global";
        fprintf(f->text.f, form == 1 ? "%s\"%s\"" : "%s[[\"%s\"], 1]", i ? ", " : "", kind);
    }
    fputc(']', f->text.f);
    if (form == 1 && pick(2))
        put(&f->text, "\"attention_types\": [[[\"global\", \"local\"], 12]]");     /* attention_layers takes precedence */
}

static void gpt_neo_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    set_sizes(f, false);
    c->position = "learned", c->norm = "layernorm", c->mlp = "gelu_new", c->scale = false, c->tied = often();
    c->window = 1 + pick(c->n_ctx + 10);
    put(&f->text, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_heads\": %d, \"num_layers\": %d",
        c->V, c->n_ctx, c->d, c->H, c->L);
    put(&f->text, "\"window_size\": %d, \"layer_norm_epsilon\": %g", c->window, c->eps);
    if (pick(2))
        put(&f->text, "\"intermediate_size\": %d, \"activation_function\": \"gelu_new\"", c->m);
    else
        c->m = 4 * c->d;
    put_flag(&f->text, "tie_word_embeddings", c->tied, true);
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
        hf_norm(h, native(i, "norm1"), block(f, "h.", i, "ln_1"), d, true);
        for (int p = 0; p < 3; p++)
            hf_linear(h, native(i, printed("attn.%s", parts[p])), block(f, "h.", i, printed("attn.attention.%s_proj", parts[p])), d, d,
                      true, false);
        hf_linear(h, native(i, "attn.o"), block(f, "h.", i, "attn.attention.out_proj"), d, d, true, true);
        hf_norm(h, native(i, "norm2"), block(f, "h.", i, "ln_2"), d, true);
        hf_linear(h, native(i, "mlp.in"), block(f, "h.", i, "mlp.c_fc"), d, m, true, true);
        hf_linear(h, native(i, "mlp.out"), block(f, "h.", i, "mlp.c_proj"), m, d, true, true);
        if (masks)
            hf_buffer(h, block(f, "h.", i, "attn.attention.bias"), "BOOL", 2, 2);
    }
    hf_norm(h, "norm_final", printed("%sln_f", f->prefix), d, true);
    put_head(f, "wte", "lm_head");
}

/* ---- rotary positions, in all spellings ---- */

static void put_scaling(struct fam *f, bool theta_inside)
{
    struct ref_config *c = &f->c;
    static const char *const kinds[] = {"linear", "llama3"};
    int kind = pick(3);
    const char *section = theta_inside || pick(2) ? "rope_parameters" : "rope_scaling", *type = pick(2) ? "type" : "rope_type";
    if (kind == 2 && !theta_inside)
        return;
    put(&f->text, "\"%s\": {\"%s\": \"%s\"", section, type, kind == 2 ? "default" : kinds[kind]);
    if (kind < 2) {
        c->scaling = kinds[kind];
        c->factor = 1 + pick(8) / 2.0;
        put(&f->text, "\"factor\": %g", c->factor);
    }
    if (kind == 1) {                    /* original context so short that all three wavelength ranges occur */
        c->low = 1 + pick(2), c->high = c->low + 1 + pick(4), c->original = 8 + pick(300);
        put(&f->text, "\"low_freq_factor\": %g, \"high_freq_factor\": %g, \"original_max_position_embeddings\": %g", c->low, c->high,
            c->original);
    }
    if (theta_inside)
        put(&f->text, "\"rope_theta\": %g", c->theta);
    fputc('}', f->text.f);
}

static void put_theta(struct fam *f, const char *key)
{
    static const double thetas[] = {10000, 500000, 100, 1000000};
    f->c.theta = thetas[pick(4)];
    bool inside = sometimes();
    if (!inside && (f->c.theta != 10000 || pick(2)))
        put(&f->text, "\"%s\": %g", key, f->c.theta);
    if (inside || sometimes())
        put_scaling(f, inside);
}

/* ---- gpt_neox ---- */

static void gpt_neox_config(struct fam *f)
{
    struct ref_config *c = &f->c;
    set_sizes(f, true);
    c->position = "rope", c->norm = "layernorm", c->tied = sometimes(), c->mlp = pick(2) ? "gelu" : "gelu_new";
    c->parallel = often(), c->bias = often();
    c->part = true, c->rotary = pick(c->dh / 2 + 1) * 2;
    put(&f->text, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_attention_heads\": %d, "
        "\"num_hidden_layers\": %d, \"intermediate_size\": %d", c->V, c->n_ctx, c->d, c->H, c->L, c->m);
    double share = c->rotary == c->dh ? 1 : (c->rotary + 0.5) / c->dh;      /* the fraction is truncated */
    put(&f->text, "\"rotary_pct\": %.17g, \"layer_norm_eps\": %g, \"hidden_act\": \"%s\"", share, c->eps, c->mlp);
    put_flag(&f->text, "use_parallel_residual", c->parallel, true);
    put_flag(&f->text, "attention_bias", c->bias, true);
    put_flag(&f->text, "tie_word_embeddings", c->tied, false);
    put_theta(f, "rotary_emb_base");
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
        hf_norm(h, native(i, "norm1"), block(f, "layers.", i, "input_layernorm"), d, true);
        hf_thirds(h, native(i, "attn"), block(f, "layers.", i, "attention.query_key_value"), d, (size_t)c->H, (size_t)c->dh, true,
                  c->bias);
        hf_linear(h, native(i, "attn.o"), block(f, "layers.", i, "attention.dense"), d, d, true, c->bias);
        hf_norm(h, native(i, "norm2"), block(f, "layers.", i, "post_attention_layernorm"), d, true);
        hf_linear(h, native(i, "mlp.in"), block(f, "layers.", i, "mlp.dense_h_to_4h"), d, m, true, true);
        hf_linear(h, native(i, "mlp.out"), block(f, "layers.", i, "mlp.dense_4h_to_h"), m, d, true, true);
        if (masks) {
            hf_buffer(h, block(f, "layers.", i, "attention.bias"), "BOOL", 7, 3);
            hf_buffer(h, block(f, "layers.", i, "attention.rotary_emb.inv_freq"), "F32", 1, 3);
        }
    }
    hf_norm(h, "norm_final", printed("%sfinal_layer_norm", f->prefix), d, true);
    put_head(f, "embed_in", "embed_out");
}

/* ---- llama and qwen2 ---- */

static void llama_sizes(struct fam *f)
{
    struct ref_config *c = &f->c;
    set_sizes(f, true);
    c->position = "rope", c->norm = "rmsnorm", c->mlp = "swiglu", c->tied = pick(2);
    c->Hkv = 1 + pick(3);
    c->H = c->Hkv * (1 + pick(3));
    c->d = c->H * c->dh;
    if (pick(2))
        c->d = NARROWEST + pick(53);
    put(&f->text, "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"hidden_size\": %d, \"num_attention_heads\": %d, "
        "\"num_hidden_layers\": %d, \"intermediate_size\": %d", c->V, c->n_ctx, c->d, c->H, c->L, c->m);
    if (c->Hkv != c->H)
        put(&f->text, "\"num_key_value_heads\": %d", c->Hkv);
    else
        put(&f->text, "\"num_key_value_heads\": null");
    if (c->d != c->H * c->dh || pick(2))
        put(&f->text, "\"head_dim\": %d", c->dh);
    else if (pick(2))
        put(&f->text, "\"head_dim\": null");
    put(&f->text, "\"rms_norm_eps\": %g, \"hidden_act\": \"%s\"", c->eps, pick(2) ? "silu" : "swish");
    put_flag(&f->text, "tie_word_embeddings", c->tied, false);
    put_theta(f, "rope_theta");
}

static void llama_config(struct fam *f)
{
    llama_sizes(f);
    f->c.bias = sometimes();            /* of attention; that of the mlp has its own key */
    put_flag(&f->text, "attention_bias", f->c.bias, false);
    if (sometimes())
        put(&f->text, "\"mlp_bias\": true");
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
        hf_norm(h, native(i, "norm1"), block(f, "layers.", i, "input_layernorm"), d, false);
        hf_linear(h, native(i, "attn.q"), block(f, "layers.", i, "self_attn.q_proj"), d, q, true, qkv_bias);
        hf_linear(h, native(i, "attn.k"), block(f, "layers.", i, "self_attn.k_proj"), d, kv, true, qkv_bias);
        hf_linear(h, native(i, "attn.v"), block(f, "layers.", i, "self_attn.v_proj"), d, kv, true, qkv_bias);
        hf_linear(h, native(i, "attn.o"), block(f, "layers.", i, "self_attn.o_proj"), q, d, true, o_bias);
        hf_norm(h, native(i, "norm2"), block(f, "layers.", i, "post_attention_layernorm"), d, false);
        hf_linear(h, native(i, "mlp.gate"), block(f, "layers.", i, "mlp.gate_proj"), d, m, true, mlp_bias);
        hf_linear(h, native(i, "mlp.in"), block(f, "layers.", i, "mlp.up_proj"), d, m, true, mlp_bias);
        hf_linear(h, native(i, "mlp.out"), block(f, "layers.", i, "mlp.down_proj"), m, d, true, mlp_bias);
        if (freqs)
            hf_buffer(h, block(f, "layers.", i, "self_attn.rotary_emb.inv_freq"), "F32", 1, 4);
    }
    if (freqs)
        hf_buffer(h, printed("%srotary_emb.inv_freq", f->prefix), "F32", 1, 4);
    hf_norm(h, "norm_final", printed("%snorm", f->prefix), d, false);
    put_head(f, "embed_tokens", "lm_head");
}

static void llama_all_tensors(struct fam *f)
{
    fflush(f->text.f);
    llama_tensors(f, f->c.bias, f->c.bias, strstr(f->text.s, "mlp_bias") != NULL);
}

static void qwen2_config(struct fam *f)
{
    llama_sizes(f);
    if (pick(2))
        put(&f->text, "\"use_sliding_window\": false, \"sliding_window\": 4, \"max_window_layers\": 1");
    static const char full[] = "\"full_attention\", \"full_attention\", \"full_attention\"";
    if (sometimes())
        put(&f->text, "\"layer_types\": [%.*s]", 18 * f->c.L - 2, full);
}

static void qwen2_tensors(struct fam *f)
{
    llama_tensors(f, true, false, false);
}

/* ---- one of them ---- */

static const struct family { const char *name; void (*config)(struct fam *f), (*tensors)(struct fam *f); } families[] = {
    {"gpt2", gpt2_config, gpt2_tensors}, {"gpt_neo", gpt_neo_config, gpt_neo_tensors},
    {"gpt_neox", gpt_neox_config, gpt_neox_tensors}, {"llama", llama_config, llama_all_tensors},
    {"qwen2", qwen2_config, qwen2_tensors}};

void drawn_family(int which, int round, void (*use)(const struct agree *a, int T))
{
    const struct family *family = &families[which];
    static const char *const dtypes[] = {"F32", "F16", "BF16", NULL};
    struct fam f = {.hf = {.dtype = dtypes[pick(4)]}};
    f.text.f = open_memstream(&f.text.s, &f.text.len);
    fprintf(f.text.f, "{\"model_type\": \"%s\"", family->name);
    family->config(&f);
    put_noise(&f.text);
    family->tensors(&f);
    fputs("}", f.text.f);
    fclose(f.text.f);
    char *dir = hf_write(&f.hf, f.text.s, sometimes() ? 2 + (size_t)pick(3) : 1, sometimes());
    const struct agree a = {.dir = dir, .config = &f.c, .weight = hf_weight, .weights = &f.hf, .about = f.text.s};
    use(&a, round % 5 == 0 ? 1 : round % 5 == 1 ? f.c.n_ctx : 1 + pick(f.c.n_ctx));
    free(dir);
    hf_free(&f.hf);
    free(f.text.s);
}
