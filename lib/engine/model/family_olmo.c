/* family_olmo.c - OLMo 1, 2 and 3: norms without weights, or after the branches and of all queries and keys at once. */
#include "model/family_keys.h"

#define BLOCK_KEYS GROUPED_SIZE_KEYS, HEAD_KEY, GATED_KEY("hidden_act"), BIAS_KEY

/* ---- OLMo: LayerNorm without weights; queries, keys and values are clamped ------------- */

static const struct attn_key olmo_keys[] = {
    PLAIN_KEYS, NO_CAP_KEYS, NO_MULTIPLIER_KEYS, OFF_KEY("alibi"), ONE_KEY("logit_scale"), BLOCK_KEYS, WHOLE_ROPE_KEYS,
    {"clip_qkv", ATTN_KEY_ABOVE, FIELD(clip), NULL, NULL}, {0}
};

const struct attn_family attn_olmo = {
    .name = "olmo", .keys = olmo_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){
        ROTARY_DEFAULTS(10000, 1), LAYER_NORM_DEFAULTS, .mlp = ATTN_MLP_SWIGLU, .V = 50304, .n_ctx = 2048, .m = 11008,
        .plain_norms = true},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_NORMS, LLAMA_ENDS}
};

/* ---- OLMo 2 ---------------------------------------------------------------------------- */

#define NORM_PARTS \
    LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_ENDS, LLAMA_HEAD_NORMS, \
        LLAMA_POST_NORMS

static const struct attn_key olmo2_keys[] = {COMMON_KEYS, BLOCK_KEYS, RMS_KEY, WHOLE_ROPE_KEYS, {0}};

const struct attn_family attn_olmo2 = {
    .name = "olmo2", .keys = olmo2_keys, LLAMA_NAMES, .qk_norm = ATTN_QK_WHOLE,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(10000, 1e-5), .V = 50304, .n_ctx = 2048, .m = 11008, .qk_norm = true},
    .part = {NORM_PARTS}
};

/* ---- OLMo 3: windows, in whose layers rotation is not scaled --------------------------- */

static const struct attn_key window_rope[] = {
    ROPE_KEYS_OF(local_rope, local_theta, attn_rope_kinds), ONE_KEY("partial_rotary_factor"), {0}};
static const struct attn_key rope_by_layer[] = {
    {"full_attention", ATTN_KEY_SECTION, 0, NULL, attn_whole_rope},
    {"sliding_attention", ATTN_KEY_SECTION, 0, NULL, window_rope},
    {0}};

static const struct attn_key olmo3_keys[] = {
    COMMON_KEYS, BLOCK_KEYS, RMS_KEY, WINDOW_KEY,
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, attn_whole_rope},
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, rope_by_layer},
    {0}
};

/* Older files say theta once, for all layers, and without it meant another one. */
static int share_theta(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    const double usual = c->rope_section ? 500000 : 10000;
    (void)r, (void)root;
    c->rope_theta = c->rope_theta > 0 ? c->rope_theta : usual;
    if (!(c->local_theta > 0))
        c->local_theta = c->rope_section ? usual : c->rope_theta;
    return ATTN_OK;
}

const struct attn_family attn_olmo3 = {
    .name = "olmo3", .more = share_theta, .keys = olmo3_keys, LLAMA_NAMES, .qk_norm = ATTN_QK_WHOLE,
    .windows = ATTN_WINDOWS_BUT, .layer_types = true,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(0, 1e-5), .V = 50304, .n_ctx = 2048, .m = 11008, .qk_norm = true, .rope_apart = true,
        .windows = true, .window = 4096, .window_from = 4},
    .part = {NORM_PARTS}
};
