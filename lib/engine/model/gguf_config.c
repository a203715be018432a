/* gguf_config.c - the config.json of a GGUF model, made of its metadata.
 *
 * Sizes, epsilons and rotation are spelled alike in all architectures; a row of the table says what the keys are called
 * in the family's config.json, and what is particular.  What the converter lost is what its models have: see
 * `constant`.  What a tensor shows better than a key is taken from the tensor: the width of the mlp, which of some is
 * written wrongly, the size of the vocabulary, and which biases there are. */
#include "model/gguf_model.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/out.h"
#include "base/strings.h"
#include "io/gguf_type.h"

/* ---- members of config.json ------------------------------------------------------------ */

static void put_name(struct attn_out *out, const char *name)
{
    attn_out_printf(out, ",\n  \"%s\": ", name);
}

static void put_size(struct attn_out *out, const char *name, size_t x)
{
    put_name(out, name);
    attn_out_u64(out, x);
}

static void put_number(struct attn_out *out, const char *name, double x)
{
    put_name(out, name);
    attn_out_f64(out, x);
}

static void put_flag(struct attn_out *out, const char *name, bool x)
{
    put_name(out, name);
    attn_out_str(out, x ? "true" : "false");
}

static int missing(const struct attn_gguf_model *m, const char *key, const char *expected, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: there is no key '%s.%s', expected %s", m->meta->name, m->arch->name, key,
                     expected);
}

/* A size from 1; otherwise: what it is if it is absent, 0: it must be there. */
static int need_size(const struct attn_gguf_model *m, const char *key, size_t otherwise, size_t *out,
                     struct attn_err *err)
{
    bool there;
    *out = otherwise;
    int rc = attn_gguf_size(m, key, out, &there, err);
    if (rc)
        return rc;
    if (!there && !otherwise)
        return missing(m, key, "a whole number from 1", err);
    if (*out == 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s.%s' is 0, expected a whole number from 1", m->meta->name,
                         m->arch->name, key);
    return ATTN_OK;
}

static int need_number(const struct attn_gguf_model *m, const char *key, double otherwise, double *out,
                       struct attn_err *err)
{
    bool there;
    *out = otherwise;
    int rc = attn_gguf_number(m, key, out, &there, err);
    if (rc)
        return rc;
    if (!there && otherwise < 0)
        return missing(m, key, "a number", err);
    if (!isfinite(*out) || *out < 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s.%s' is no number from 0", m->meta->name, m->arch->name, key);
    return ATTN_OK;
}

static bool has(const struct attn_gguf_model *m, const char *tensor)
{
    return attn_gguf_model_tensor(m, tensor) != NULL;
}

/* Copies a number to a key of config.json, where it is there. */
static int copy_number(struct attn_out *out, const struct attn_gguf_model *m, const char *key, const char *name,
                       struct attn_err *err)
{
    double x = 0;
    bool there;
    int rc = attn_gguf_number(m, key, &x, &there, err);
    if (!rc && there)
        put_number(out, name, x);
    return rc;
}

static int copy_size(struct attn_out *out, const struct attn_gguf_model *m, const char *key, const char *name,
                     size_t otherwise, struct attn_err *err)
{
    size_t x = otherwise;
    bool there;
    int rc = attn_gguf_size(m, key, &x, &there, err);
    if (!rc && x)
        put_size(out, name, x);
    return rc;
}

/* ---- rotation -------------------------------------------------------------------------- */

static int head_size(const struct attn_gguf_model *m, size_t *out, struct attn_err *err)
{
    size_t width, heads;
    int rc = need_size(m, "embedding_length", 0, &width, err);
    if (!rc)
        rc = need_size(m, "attention.head_count", 0, &heads, err);
    return rc ? rc : need_size(m, "attention.key_length", width / heads ? width / heads : 1, out, err);
}

/* Numbers that speeds of rotation are divided by, one for each pair. */
static int put_factors(struct attn_out *out, const struct attn_gguf_model *m, const char *name,
                       const struct attn_st_tensor *t, size_t pairs, struct attn_err *err)
{
    if (t->ndim != 1 || t->count != pairs || strcmp(t->dtype, "F32"))
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' has %zu numbers in %s, expected %zu in F32, one for each "
                                            "pair of a head that is turned", m->meta->name, t->name, t->count, t->dtype,
                         pairs);
    attn_out_printf(out, ", \"%s\": [", name);
    for (size_t i = 0; i < t->count; i++) {
        float x;
        memcpy(&x, t->data + i * sizeof x, sizeof x);
        if (!(x > 0) || !isfinite(x))
            return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' holds %g at index %zu, expected numbers above 0",
                             m->meta->name, t->name, (double)x, i);
        attn_out_str(out, i ? ", " : "");
        attn_out_f64(out, (double)x);
    }
    attn_out_char(out, ']');
    return ATTN_OK;
}

/* What divides the speeds: of all texts, or of short and long ones. */
struct factors { const struct attn_st_tensor *few, *many; };

static int put_longrope(struct attn_out *out, const struct attn_gguf_model *m, const struct factors *f, size_t pairs,
                        struct attn_err *err)
{
    size_t context, original;
    double factor;
    int rc = need_size(m, "context_length", 0, &context, err);
    if (!rc)
        rc = need_size(m, "rope.scaling.original_context_length", context, &original, err);
    if (!rc)
        rc = need_number(m, "rope.scaling.attn_factor", 1, &factor, err);
    if (rc)
        return rc;
    put_name(out, "rope_scaling");
    attn_out_str(out, "{\"rope_type\": \"longrope\", \"attention_factor\": ");
    attn_out_f64(out, factor);
    attn_out_printf(out, ", \"original_max_position_embeddings\": %zu", original);
    rc = put_factors(out, m, "short_factor", f->few, pairs, err);
    if (!rc)
        rc = put_factors(out, m, "long_factor", f->many, pairs, err);
    attn_out_char(out, '}');
    if (f->few != f->many)
        put_size(out, "original_max_position_embeddings", original);
    return rc;
}

static int put_yarn(struct attn_out *out, const struct attn_gguf_model *m, double factor, struct attn_err *err)
{
    size_t context, original;
    double fast, slow, times, extrapolated;
    int rc = need_size(m, "context_length", 0, &context, err);
    if (rc || (rc = need_size(m, "rope.scaling.original_context_length", context, &original, err)) ||
        (rc = need_number(m, "rope.scaling.yarn_beta_fast", 32, &fast, err)) ||
        (rc = need_number(m, "rope.scaling.yarn_beta_slow", 1, &slow, err)) ||
        (rc = need_number(m, "rope.scaling.yarn_ext_factor", 1, &extrapolated, err)) ||
        (rc = need_number(m, "rope.scaling.attn_factor", 1, &times, err)))
        return rc;
    if (extrapolated != 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s.rope.scaling.yarn_ext_factor' is %g, expected 1: other "
                                            "factors are not supported", m->meta->name, m->arch->name, extrapolated);
    put_name(out, "rope_scaling");
    attn_out_str(out, "{\"rope_type\": \"yarn\", \"factor\": ");
    attn_out_f64(out, factor);
    attn_out_printf(out, ", \"original_max_position_embeddings\": %zu, \"beta_fast\": ", original);
    attn_out_f64(out, fast);
    attn_out_str(out, ", \"beta_slow\": ");
    attn_out_f64(out, slow);
    attn_out_str(out, ", \"attention_factor\": ");
    attn_out_f64(out, times * (1 + 0.1 * log(factor)));
    attn_out_char(out, '}');
    return ATTN_OK;
}

static bool is(struct attn_str_view s, const char *text) { return s.len == strlen(text) && !memcmp(s.s, text, s.len); }

/* What metadata says of the scaling; older files have rope.scale_linear. */
static int put_scaling(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    struct attn_str_view type = {"linear", 6};
    double factor = 1;
    bool there, scaled;
    int rc = attn_gguf_string(m, "rope.scaling.type", &type, &there, err);
    if (!rc)
        rc = attn_gguf_number(m, "rope.scaling.factor", &factor, &scaled, err);
    if (!rc && !scaled)
        rc = attn_gguf_number(m, "rope.scale_linear", &factor, &scaled, err);
    if (rc || factor == 0 || factor == 1 || is(type, "none") || is(type, "longrope"))
        return rc;
    if (!(factor > 1) || !isfinite(factor))
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s.rope.scaling.factor' is %g, expected at least 1",
                         m->meta->name, m->arch->name, factor);
    if (is(type, "yarn"))
        return put_yarn(out, m, factor, err);
    if (!is(type, "linear"))
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s.rope.scaling.type' is '%.*s', expected none, linear, yarn or "
                                            "longrope", m->meta->name, m->arch->name, attn_shown(type.s, type.len),
                         type.s);
    put_name(out, "rope_scaling");
    attn_out_str(out, "{\"rope_type\": \"linear\", \"factor\": ");
    attn_out_f64(out, factor);
    attn_out_char(out, '}');
    return ATTN_OK;
}

/* share: the key that says which part of a head turns; NULL: all of it must. */
static int put_rope(struct attn_out *out, const struct attn_gguf_model *m, const char *base, const char *share,
                    struct attn_err *err)
{
    const struct attn_st_tensor *all = attn_gguf_model_tensor(m, "rope_freqs.weight");
    struct factors f = {attn_gguf_model_tensor(m, "rope_factors_short.weight"),
                        attn_gguf_model_tensor(m, "rope_factors_long.weight")};
    size_t head, turned;
    double theta;
    int rc = head_size(m, &head, err);
    if (rc || (rc = need_size(m, "rope.dimension_count", head, &turned, err)) ||
        (rc = need_number(m, "rope.freq_base", 10000, &theta, err)))
        return rc;
    if (turned > head || (turned < head && !share))
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s.rope.dimension_count' is %zu, expected %zu, the width of a "
                                            "head", m->meta->name, m->arch->name, turned, head);
    put_number(out, base, theta);
    if (share)
        put_number(out, share, (double)turned / (double)head);
    if (all)
        f = (struct factors){all, all};
    if (f.few && f.many)
        return put_longrope(out, m, &f, turned / 2, err);
    return put_scaling(out, m, err);
}

/* ---- what is particular ---------------------------------------------------------------- */

static void put_tied(struct attn_out *out, const struct attn_gguf_model *m)
{
    put_flag(out, "tie_word_embeddings", m->tied || !has(m, "output.weight"));
}

static bool has_attention_bias(const struct attn_gguf_model *m)
{
    return has(m, "blk.0.attn_q.bias") || has(m, "blk.0.attn_qkv.bias");
}

static int more_llama(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    put_flag(out, "attention_bias", has_attention_bias(m));
    put_flag(out, "mlp_bias", has(m, "blk.0.ffn_up.bias"));
    return put_rope(out, m, "rope_theta", NULL, err);
}

/* Biases are where the tensors are. */
static int more_plain(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    return put_rope(out, m, "rope_theta", NULL, err);
}

static int more_granite(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    static const char *const numbers[][2] = {
        {"attention.scale", "attention_multiplier"}, {"embedding_scale", "embedding_multiplier"},
        {"residual_scale", "residual_multiplier"}, {"logit_scale", "logits_scaling"}};
    int rc = more_llama(out, m, err);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !rc; i++)
        rc = copy_number(out, m, numbers[i][0], numbers[i][1], err);
    return rc;
}

/* Gemma divides scores by the root of the head's width, but in its largest model by that of width over heads.  largest:
 * how many layers that has. */
static int put_query_scalar(struct attn_out *out, const struct attn_gguf_model *m, size_t largest, struct attn_err *err)
{
    size_t layers, width, heads, head;
    int rc = need_size(m, "block_count", 0, &layers, err);
    if (rc || (rc = need_size(m, "embedding_length", 0, &width, err)) ||
        (rc = need_size(m, "attention.head_count", 0, &heads, err)) || (rc = head_size(m, &head, err)))
        return rc;
    put_number(out, "query_pre_attn_scalar", layers == largest ? (double)width / (double)heads : (double)head);
    return ATTN_OK;
}

static int more_gemma2(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    int rc = put_rope(out, m, "rope_theta", NULL, err);
    if (rc || (rc = put_query_scalar(out, m, 46, err)) ||
        (rc = copy_size(out, m, "attention.sliding_window", "sliding_window", 4096, err)) ||
        (rc = copy_number(out, m, "attn_logit_softcapping", "attn_logit_softcapping", err)))
        return rc;
    return copy_number(out, m, "final_logit_softcapping", "final_logit_softcapping", err);
}

static int more_gemma3(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    double local;
    int rc = put_rope(out, m, "rope_theta", NULL, err);
    if (rc || (rc = put_query_scalar(out, m, 62, err)) ||
        (rc = copy_size(out, m, "attention.sliding_window", "sliding_window", 4096, err)) ||
        (rc = need_number(m, "rope.freq_base_swa", 10000, &local, err)))
        return rc;
    put_number(out, "rope_local_base_freq", local);
    return copy_number(out, m, "final_logit_softcapping", "final_logit_softcapping", err);
}

static int more_phi3(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    int rc = copy_size(out, m, "attention.sliding_window", "sliding_window", 0, err);
    return rc ? rc : put_rope(out, m, "rope_theta", "partial_rotary_factor", err);
}

static int more_phi2(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    return put_rope(out, m, "rope_theta", "partial_rotary_factor", err);
}

static int more_neox(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    bool parallel = true, there;
    int rc = attn_gguf_bool(m, "use_parallel_residual", &parallel, &there, err);
    if (!rc && !there)
        rc = missing(m, "use_parallel_residual", "true or false", err);
    if (rc)
        return rc;
    put_flag(out, "use_parallel_residual", parallel);
    put_flag(out, "attention_bias", has_attention_bias(m));
    return put_rope(out, m, "rotary_emb_base", "rotary_pct", err);
}

/* Without a norm before the mlp the branches are parallel. */
static int more_stablelm(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    put_flag(out, "use_parallel_residual", !has(m, "blk.0.ffn_norm.weight"));
    put_flag(out, "use_qkv_bias", has_attention_bias(m));
    put_flag(out, "qk_layernorm", has(m, "blk.0.attn_q_norm.weight"));
    return put_rope(out, m, "rope_theta", "partial_rotary_factor", err);
}

static int more_starcoder2(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    put_flag(out, "use_bias", has_attention_bias(m));
    return put_rope(out, m, "rope_theta", NULL, err);
}

/* Its models with ALiBi have norms in sequence or biases, which no key tells. */
static int more_falcon(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    size_t heads, kv;
    bool two = has(m, "blk.0.attn_norm_2.weight");
    int rc = need_size(m, "attention.head_count", 0, &heads, err);
    if (!rc)
        rc = need_size(m, "attention.head_count_kv", heads, &kv, err);
    if (rc)
        return rc;
    if (has(m, "blk.0.ffn_norm.weight") || has_attention_bias(m))
        return attn_fail(err, ATTN_EFORMAT, "%s: is a Falcon with biases or branches in sequence, whose positions "
                                            "(ALiBi) the file does not tell: take the Hugging Face directory",
                         m->meta->name);
    bool groups = two || (kv != 1 && kv != heads);
    put_flag(out, "new_decoder_architecture", groups);
    put_flag(out, "multi_query", kv == 1);
    if (groups)
        put_size(out, "num_ln_in_parallel_attn", two ? 2 : 1);
    return put_rope(out, m, "rope_theta", NULL, err);
}

static int more_olmo2(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    size_t window = 0;
    bool there;
    int rc = attn_gguf_size(m, "attention.sliding_window", &window, &there, err);
    if (!rc && window)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: key '%s.attention.sliding_window' is %zu, as OLMo 3 has it, which is "
                                          "not read here", m->meta->name, m->arch->name, window);
    return rc ? rc : put_rope(out, m, "rope_theta", NULL, err);
}

static int more_nothing(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    (void)out, (void)m, (void)err;
    return ATTN_OK;
}

/* ---- architectures --------------------------------------------------------------------- */

#define SIZES "num_hidden_layers", "max_position_embeddings", "hidden_size", "num_attention_heads"
static const struct attn_gguf_names
    llama_names = {SIZES, "num_key_value_heads", "intermediate_size", "head_dim", "rms_norm_eps"},
    phi_names = {SIZES, "num_key_value_heads", "intermediate_size", "head_dim", "layer_norm_eps"},
    stablelm_names = {SIZES, "num_key_value_heads", "intermediate_size", NULL, "layer_norm_eps"},
    starcoder2_names = {SIZES, "num_key_value_heads", "intermediate_size", "head_dim", "norm_epsilon"},
    neox_names = {SIZES, NULL, "intermediate_size", NULL, "layer_norm_eps"},
    falcon_names = {SIZES, "num_kv_heads", "ffn_hidden_size", NULL, "layer_norm_epsilon"},
    gpt2_names = {"n_layer", "n_positions", "n_embd", "n_head", NULL, "n_inner", NULL, "layer_norm_epsilon"},
    bloom_names = {"n_layer", "seq_length", "hidden_size", "n_head", NULL, NULL, NULL, "layer_norm_epsilon"};

#define SILU "\"hidden_act\": \"silu\""
#define NO_WINDOW ", \"use_sliding_window\": false"
static const struct attn_gguf_arch archs[] = {
    {"llama", "llama", &llama_names, true, true, SILU, more_llama},
    {"qwen2", "qwen2", &llama_names, true, false, SILU NO_WINDOW, more_plain},
    {"qwen3", "qwen3", &llama_names, true, false, SILU NO_WINDOW, more_plain},
    {"granite", "granite", &llama_names, true, true, SILU, more_granite},
    {"smollm3", "smollm3", &llama_names, true, true, SILU NO_WINDOW, more_llama},
    {"olmo2", "olmo2", &llama_names, true, false, SILU, more_olmo2},
    {"gemma", "gemma", &llama_names, true, false, "\"hidden_act\": \"gelu_pytorch_tanh\"", more_plain},
    {"gemma2", "gemma2", &llama_names, true, false, "\"hidden_activation\": \"gelu_pytorch_tanh\"", more_gemma2},
    {"gemma3", "gemma3_text", &llama_names, true, false,
     "\"hidden_activation\": \"gelu_pytorch_tanh\", \"sliding_window_pattern\": 6", more_gemma3},
    {"phi2", "phi", &phi_names, false, false, "\"hidden_act\": \"gelu_new\"", more_phi2},
    {"phi3", "phi3", &llama_names, true, false, SILU, more_phi3},
    {"gpt2", "gpt2", &gpt2_names, false, false, "\"activation_function\": \"gelu_new\"", more_nothing},
    {"gptneox", "gpt_neox", &neox_names, false, false, "\"hidden_act\": \"gelu\"", more_neox},
    {"bloom", "bloom", &bloom_names, false, false, "\"apply_residual_connection_post_layernorm\": false", more_nothing},
    {"falcon", "falcon", &falcon_names, false, false,
     "\"parallel_attn\": true, \"bias\": false, \"alibi\": false, \"activation\": \"gelu\"", more_falcon},
    {"stablelm", "stablelm", &stablelm_names, false, false, SILU, more_stablelm},
    {"starcoder2", "starcoder2", &starcoder2_names, false, false, "\"hidden_act\": \"gelu_pytorch_tanh\"",
     more_starcoder2}};

const struct attn_gguf_arch *attn_gguf_arch_find(struct attn_str_view name)
{
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if (is(name, archs[i].name))
            return &archs[i];
    return NULL;
}

/* ---- all of it ------------------------------------------------------------------------- */

/* What other models of these architectures compute in addition, or otherwise. */
static int refuse_others(const struct attn_gguf_model *m, struct attn_err *err)
{
    static const char *const absent[] = {"expert_count", "attention.clamp_kqv", "expert_used_count"};
    double x = 0;
    bool there, causal = true;
    int rc = ATTN_OK;
    for (size_t i = 0; i < sizeof absent / sizeof *absent && !rc; i++) {
        rc = attn_gguf_number(m, absent[i], &x, &there, err);
        if (!rc && there && x != 0)
            rc = attn_fail(err, ATTN_EFORMAT, "%s: key '%s.%s' is %g, expected 0: such models are not read here",
                           m->meta->name, m->arch->name, absent[i], x);
    }
    if (!rc)
        rc = attn_gguf_bool(m, "attention.causal", &causal, &there, err);
    if (!rc && !causal)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: key '%s.attention.causal' is false, expected true: such models are not "
                                          "read here", m->meta->name, m->arch->name);
    return rc;
}

/* Rows and columns of a matrix that must be there. */
static int need_matrix(const struct attn_gguf_model *m, const char *name, size_t *rows, size_t *cols,
                       struct attn_err *err)
{
    const struct attn_st_tensor *t = attn_gguf_model_tensor(m, name);
    if (!t)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' is missing", m->meta->name, name);
    if (t->ndim != 2)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' has %d dimensions, expected 2", m->meta->name, name,
                         t->ndim);
    if (t->shape[0] > INT32_MAX || t->shape[1] > INT32_MAX)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' is %zu by %zu, expected at most %d", m->meta->name, name,
                         t->shape[0], t->shape[1], INT32_MAX);
    *rows = t->shape[0];
    *cols = t->shape[1];
    return ATTN_OK;
}

static int put_sizes(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    const struct attn_gguf_names *n = m->arch->names;
    size_t layers, context, width, heads, kv, head, value, mlp, vocabulary, ignored;
    double eps;
    int rc;
    if ((rc = need_size(m, "block_count", 0, &layers, err)) ||
        (rc = need_size(m, "context_length", 0, &context, err)) ||
        (rc = need_size(m, "embedding_length", 0, &width, err)) ||
        (rc = need_size(m, "attention.head_count", 0, &heads, err)) ||
        (rc = need_size(m, "attention.head_count_kv", heads, &kv, err)) || (rc = head_size(m, &head, err)) ||
        (rc = need_size(m, "attention.value_length", head, &value, err)) ||
        (rc = need_number(m, m->arch->rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", -1,
                          &eps, err)) ||
        (rc = need_matrix(m, "token_embd.weight", &vocabulary, &ignored, err)) ||
        (rc = need_matrix(m, "blk.0.ffn_down.weight", &ignored, &mlp, err)) ||
        (rc = need_size(m, "vocab_size", vocabulary, &ignored, err)))
        return rc;
    if (value != head)
        return attn_fail(err, ATTN_EFORMAT, "%s: heads have keys of width %zu and values of width %zu, expected the "
                                            "same", m->meta->name, head, value);
    if (ignored != vocabulary)
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s.vocab_size' is %zu, but tensor 'token_embd.weight' has %zu "
                                            "rows", m->meta->name, m->arch->name, ignored, vocabulary);
    const struct { const char *name; size_t x; } sizes[] = {
        {"vocab_size", vocabulary}, {n->layers, layers}, {n->context, context}, {n->width, width}, {n->heads, heads},
        {n->kv, kv}, {n->head, head}, {n->mlp, mlp}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].name)
            put_size(out, sizes[i].name, sizes[i].x);
    put_number(out, n->eps, eps);
    return ATTN_OK;
}

static bool id_of(const struct attn_gguf_model *m, const char *key, uint64_t *id)
{
    const struct attn_gguf_value *v = attn_gguf_find(m->meta, key);
    return v && !v->array && attn_gguf_whole(v, 0, id) && *id <= INT32_MAX;
}

/* A turn may end otherwise than a text. */
static void put_ends(struct attn_out *out, const struct attn_gguf_model *m)
{
    uint64_t bos, eos, eot;
    if (id_of(m, "tokenizer.ggml.bos_token_id", &bos))
        put_size(out, "bos_token_id", (size_t)bos);
    bool ends = id_of(m, "tokenizer.ggml.eos_token_id", &eos), turns = id_of(m, "tokenizer.ggml.eot_token_id", &eot);
    if (ends && turns && eos != eot) {
        put_name(out, "eos_token_id");
        attn_out_printf(out, "[%zu, %zu]", (size_t)eos, (size_t)eot);
    } else if (ends || turns) {
        put_size(out, "eos_token_id", (size_t)(ends ? eos : eot));
    }
}

int attn_gguf_config(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    int rc = attn_gguf_model_check(m, err);
    if (rc || (rc = attn_gguf_tokens_check(m, err)) || (rc = refuse_others(m, err)))
        return rc;
    attn_out_printf(out, "{\n  \"model_type\": \"%s\",\n  %s", m->arch->model_type, m->arch->constant);
    put_tied(out, m);
    put_ends(out, m);
    rc = put_sizes(out, m, err);
    if (!rc)
        rc = m->arch->more(out, m, err);
    attn_out_str(out, "\n}\n");
    return rc;
}
