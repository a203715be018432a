/* family_stable.c - StableLM and StarCoder 2, which have Llama's names and LayerNorm. */
#include "model/family_keys.h"

/* ---- StableLM: sequential or parallel, as gated as Llama ------------------------------- */

static const struct attn_key stablelm_keys[] = {
    COMMON_KEYS, GROUPED_SIZE_KEYS, PART_ROPE_KEYS, GATED_KEY("hidden_act"), FLAG_KEY("use_qkv_bias", attention_bias),
    FLAG_KEY("qk_layernorm", qk_norm), FLAG_KEY("use_parallel_residual", parallel),
    {"layer_norm_eps", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL}, {0}
};

const struct attn_family attn_stablelm = {
    .name = "stablelm", .keys = stablelm_keys, LLAMA_NAMES, .qk_norm = ATTN_QK_OWN,
    .defaults = &(const struct attn_config){
        ROTARY_DEFAULTS(10000, 0.25), LAYER_NORM_DEFAULTS, .V = 50304, .n_ctx = 4096, .m = 6912, .Hkv = 32,
        .mlp = ATTN_MLP_SWIGLU, .one_norm = true},
    .part = {
        LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_MAYBE), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_NORMS, LLAMA_ENDS,
        [ATTN_PART_Q_NORM] = {.path = "self_attn.q_layernorm.norms", .bias = ATTN_BIAS_NEVER},
        [ATTN_PART_K_NORM] = {.path = "self_attn.k_layernorm.norms", .bias = ATTN_BIAS_NEVER}}
};

/* ---- StarCoder 2: an MLP without a gate ------------------------------------------------ */

/* One key asks for all biases. */
static int share_bias(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    (void)r, (void)root;
    c->mlp_bias = c->attention_bias;
    return ATTN_OK;
}

static const struct attn_key starcoder2_keys[] = {
    COMMON_KEYS, GROUPED_SIZE_KEYS, HEAD_KEY, WHOLE_ROPE_KEYS, PLAIN_KEY("hidden_act"), WINDOW_KEY,
    FLAG_KEY("use_bias", attention_bias), {"norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL}, {0}
};

const struct attn_family attn_starcoder2 = {
    .name = "starcoder2", .more = share_bias, .keys = starcoder2_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_ALL,
    .defaults = &(const struct attn_config){
        ROTARY_DEFAULTS(10000, 1), LAYER_NORM_DEFAULTS, .V = 49152, .n_ctx = 4096, .m = 12288, .Hkv = 2,
        .mlp = ATTN_MLP_GELU_NEW, .tied = true, .attention_bias = true, .windows = true},
    .part = {
        LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_NORMS, LLAMA_ENDS,
        [ATTN_PART_MLP_IN] = {"mlp.c_fc", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED},
        [ATTN_PART_MLP_OUT] = {"mlp.c_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED}}
};
