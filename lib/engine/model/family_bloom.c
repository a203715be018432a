/* family_bloom.c - BLOOM, Falcon and MPT: ALiBi, or with Falcon rotation; queries, keys and values share a matrix. */
#include "model/family_keys.h"

#include "base/err.h"

#define FUSED(bias) \
        [ATTN_PART_Q] = {"self_attention.query_key_value", ATTN_OUT_IN, ATTN_GROUPED, bias}, \
        [ATTN_PART_K] = {"self_attention.query_key_value", ATTN_OUT_IN, ATTN_GROUPED, bias}, \
        [ATTN_PART_V] = {"self_attention.query_key_value", ATTN_OUT_IN, ATTN_GROUPED, bias}, \
        [ATTN_PART_O] = {"self_attention.dense", ATTN_OUT_IN, ATTN_ALONE, bias}, \
        [ATTN_PART_MLP_IN] = {"mlp.dense_h_to_4h", ATTN_OUT_IN, ATTN_ALONE, bias}, \
        [ATTN_PART_MLP_OUT] = {"mlp.dense_4h_to_h", ATTN_OUT_IN, ATTN_ALONE, bias}
#define ENDS \
        [ATTN_PART_EMBED] = {.path = "word_embeddings"}, [ATTN_PART_NORM_FINAL] = {.path = "ln_f"}, \
        [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}

/* ---- BLOOM: ALiBi.  It states no context; its models were trained with 2048 tokens ----- */

static const struct attn_key bloom_keys[] = {
    SHARED_KEYS, NO_CAP_KEYS, NO_MULTIPLIER_KEYS,
    {"seq_length", ATTN_KEY_MAYBE, FIELD(trained_ctx), NULL, NULL},
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"n_embed", ATTN_KEY_MAYBE, FIELD(d_embed), NULL, NULL},
    {"n_layer", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"num_hidden_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"n_head", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"num_attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    FLAG_KEY("apply_residual_connection_post_layernorm", post_norm_residual),
    {0}
};

/* "n_embed" is an older name of the width, which wins; the published models have no other. */
static int read_width(const struct attn_key_reader *r, struct attn_config *c)
{
    c->d = c->d_embed ? c->d_embed : c->d;
    c->d_embed = 0;
    if (c->d)
        return ATTN_OK;
    return attn_fail(r->err, ATTN_EFORMAT,
                     "%s: there is no \"hidden_size\" and no \"n_embed\", expected %s", r->name, attn_size_from_1);
}

/* Nothing in ALiBi ends: this is how long the texts were that it learned from, and the longest that is taken. */
static int read_bloom(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    (void)root;
    c->n_ctx = c->trained_ctx ? c->trained_ctx : c->n_ctx;
    return read_width(r, c);
}

const struct attn_family attn_bloom = {
    .name = "bloom", .more = read_bloom, .keys = bloom_keys, .prefix = "transformer.", .block = "h.",
    .buffers = (const char *const[]){NULL}, .required = (const char *const[]){"n_layer", "n_head", NULL},
    .defaults = &(const struct attn_config){
        DECODER_DEFAULTS, LAYER_NORM_DEFAULTS, .V = 250880, .n_ctx = 2048, .alibi = true, .rope_theta = 1,
        .norm_embed = true,
        .mlp = ATTN_MLP_GELU_NEW, .tied = true},
    .part = {FUSED(ATTN_BIAS_ALWAYS), ENDS, [ATTN_PART_EMBED_NORM] = {.path = "word_embeddings_layernorm"},
             [ATTN_PART_NORM1] = {.path = "input_layernorm"}, [ATTN_PART_NORM2] = {.path = "post_attention_layernorm"}}
};

/* ---- Falcon ----------------------------------------------------------------------------
 *
 * Its first models have one key/value head, its later ones groups; some have ALiBi instead of rotation.  All have the
 * matrix of queries, keys and values group by group. */

static const struct attn_key falcon_rope[] = {ROPE_KEYS, ONE_KEY("partial_rotary_factor"), {0}};

static const struct attn_key falcon_keys[] = {
    SHARED_KEYS, NO_CAP_KEYS, NO_MULTIPLIER_KEYS,
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"n_embed", ATTN_KEY_MAYBE, FIELD(d_embed), NULL, NULL},
    {"num_hidden_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"num_attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"num_kv_heads", ATTN_KEY_MAYBE, FIELD(Hkv), NULL, NULL},
    {"ffn_hidden_size", ATTN_KEY_MAYBE, FIELD(m), NULL, NULL},
    PLAIN_KEY("activation"),
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    FLAG_KEY("parallel_attn", parallel), FLAG_KEY("bias", attention_bias), FLAG_KEY("alibi", alibi),
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, falcon_rope},
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, falcon_rope},
    {"original_max_position_embeddings", ATTN_KEY_MAYBE, FIELD(original_ctx), NULL, NULL},
    {0}
};

/* Keys that say which model of the family it is. */
struct form { bool groups, single; size_t norms; };
static const struct attn_key form_keys[] = {
    {"new_decoder_architecture", ATTN_KEY_FLAG, offsetof(struct form, groups), NULL, NULL},
    {"multi_query", ATTN_KEY_FLAG, offsetof(struct form, single), NULL, NULL},
    {"num_ln_in_parallel_attn", ATTN_KEY_MAYBE, offsetof(struct form, norms), NULL, NULL},
    {0}
};

extern const struct attn_family attn_falcon;
static const struct attn_family falcon_two_norms;

static int read_falcon(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    struct form form = {.single = true};
    struct attn_key_reader inner = *r;
    inner.to = &form;
    int rc = attn_keys_read(&inner, form_keys, root);
    if (rc)
        return rc;
    if (!form.groups)
        c->Hkv = form.single ? 1 : c->H;
    if (form.norms > 2)
        return attn_fail(r->err, ATTN_EFORMAT,
                         "%s: \"num_ln_in_parallel_attn\" is %zu, expected 1 or 2", r->name, form.norms);
    if (form.groups && !c->parallel)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: \"parallel_attn\" is false, expected true with "
                                               "\"new_decoder_architecture\"",
                         r->name);
    if (form.groups && form.norms != 1)
        c->family = &falcon_two_norms;
    c->one_norm = c->parallel && c->family == &attn_falcon;
    c->mlp_bias = c->attention_bias;
    return read_width(r, c);
}

#define FALCON \
    .name = "falcon", .more = read_falcon, .keys = falcon_keys, .prefix = "transformer.", .block = "h.", \
    .buffers = falcon_buffers, .required = falcon_sizes, .defaults = &falcon_defaults
static const char *const falcon_sizes[] = {"num_hidden_layers", "num_attention_heads", NULL};
static const char *const falcon_buffers[] = {"self_attention.rotary_emb.inv_freq", NULL};
static const struct attn_config falcon_defaults = {
    ROTARY_DEFAULTS(10000, 1), LAYER_NORM_DEFAULTS, .V = 65024, .n_ctx = 2048, .mlp = ATTN_MLP_GELU, .tied = true,
    .parallel = true, .alibi_early = true};

const struct attn_family attn_falcon = {
    FALCON,
    .part = {FUSED(ATTN_BIAS_ASKED), ENDS, [ATTN_PART_NORM1] = {.path = "input_layernorm"},
             [ATTN_PART_NORM2] = {.path = "post_attention_layernorm"}}
};

static const struct attn_family falcon_two_norms = {
    FALCON, .part = {FUSED(ATTN_BIAS_ASKED), ENDS, [ATTN_PART_NORM1] = {.path = "ln_attn"},
                     [ATTN_PART_NORM2] = {.path = "ln_mlp"}}
};

/* ---- MPT: ALiBi, no biases ----------------------------------------------------------------
 *
 * Hugging Face's library counts ALiBi's positions from the last token back, so that a score depends on the length of
 * the text: it differs from that here by a number for each head and text, and patterns do not.  "expansion_ratio",
 * "logit_scale" and "learned_pos_emb" are not read there. */

static const struct attn_key mpt_keys[] = {
    PLAIN_KEYS, NO_CAP_KEYS, NO_MULTIPLIER_KEYS, ON_KEY("no_bias"),
    {"max_seq_len", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"d_model", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"n_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"n_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {0}
};

static const struct attn_key mpt_attention[] = {
    {"clip_qkv", ATTN_KEY_ABOVE, FIELD(clip), NULL, NULL},
    {"softmax_scale", ATTN_KEY_ABOVE, FIELD(attention_scale), NULL, NULL},
    ON_KEY("alibi"), OFF_KEY("qk_ln"), {0}
};

static int read_mpt(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    const cJSON *section = attn_tree_member(root, "attn_config");
    struct attn_key_reader inner = *r;
    (void)c;
    inner.section = "attn_config.";
    if (!section || cJSON_IsNull(section))
        return ATTN_OK;
    if (!cJSON_IsObject(section))
        return attn_key_unexpected(r, "attn_config", section, "an object");
    const cJSON *most = attn_tree_member(section, "alibi_bias_max");
    if (most && !(cJSON_IsNumber(most) && most->valuedouble == 8))
        return attn_key_unexpected(&inner, "alibi_bias_max", most, "8: other slopes cannot be computed here");
    return attn_keys_read(&inner, mpt_attention, section);
}

#define NORM(name) {.path = name, .bias = ATTN_BIAS_NEVER}

const struct attn_family attn_mpt = {
    .name = "mpt", .more = read_mpt, .keys = mpt_keys, .prefix = "transformer.", .block = "blocks.",
    .required = (const char *const[]){"d_model", "n_layers", "n_heads", NULL}, .buffers = (const char *const[]){NULL},
    .defaults = &(const struct attn_config){
        DECODER_DEFAULTS, LAYER_NORM_DEFAULTS, .V = 50368, .n_ctx = 2048, .alibi = true, .rope_theta = 1,
        .mlp = ATTN_MLP_GELU, .tied = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "wte"}, [ATTN_PART_NORM1] = NORM("norm_1"), [ATTN_PART_NORM2] = NORM("norm_2"),
        [ATTN_PART_Q] = {"attn.Wqkv", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_NEVER},
        [ATTN_PART_K] = {"attn.Wqkv", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_NEVER},
        [ATTN_PART_V] = {"attn.Wqkv", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_NEVER},
        [ATTN_PART_O] = {"attn.out_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_NEVER},
        [ATTN_PART_MLP_IN] = {"ffn.up_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_NEVER},
        [ATTN_PART_MLP_OUT] = {"ffn.down_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_NEVER},
        [ATTN_PART_NORM_FINAL] = NORM("norm_f"), [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}}
};
