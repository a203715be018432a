/* family_llama.c - Llama, and Qwen 2, which differs from it in biases and windows. */
#include "model/family_keys.h"

static const struct attn_word gated_mlps[] = {{"silu", ATTN_MLP_SWIGLU}, {"swish", ATTN_MLP_SWIGLU}, {0}};
static const struct attn_word full_attention[] = {{"full_attention", 0}, {0}};
static const struct attn_key whole_rope_keys[] = {ROPE_KEYS, ONE_KEY("partial_rotary_factor"), {0}};

#define LLAMA_KEYS \
    COMMON_KEYS, \
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL}, \
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL}, \
    {"num_hidden_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL}, \
    {"num_attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL}, \
    {"num_key_value_heads", ATTN_KEY_MAYBE, FIELD(Hkv), NULL, NULL}, \
    {"head_dim", ATTN_KEY_MAYBE, FIELD(dh), NULL, NULL}, \
    {"intermediate_size", ATTN_KEY_SIZE, FIELD(m), NULL, NULL}, \
    {"hidden_act", ATTN_KEY_CHOICE, FIELD(mlp), gated_mlps, NULL}, \
    {"rms_norm_eps", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL}, \
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL}, \
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, whole_rope_keys}, \
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, whole_rope_keys}, \
    ONE_KEY("partial_rotary_factor"), \
    {"layer_types", ATTN_KEY_ALL, 0, full_attention, NULL}

#define LLAMA_PARTS(qkv_bias, o_bias, mlp_bias) { \
        [ATTN_PART_EMBED] = {.path = "embed_tokens"}, [ATTN_PART_NORM1] = {.path = "input_layernorm"}, \
        [ATTN_PART_Q] = {"self_attn.q_proj", ATTN_OUT_IN, ATTN_ALONE, qkv_bias}, \
        [ATTN_PART_K] = {"self_attn.k_proj", ATTN_OUT_IN, ATTN_ALONE, qkv_bias}, \
        [ATTN_PART_V] = {"self_attn.v_proj", ATTN_OUT_IN, ATTN_ALONE, qkv_bias}, \
        [ATTN_PART_O] = {"self_attn.o_proj", ATTN_OUT_IN, ATTN_ALONE, o_bias}, \
        [ATTN_PART_NORM2] = {.path = "post_attention_layernorm"}, \
        [ATTN_PART_MLP_GATE] = {"mlp.gate_proj", ATTN_OUT_IN, ATTN_ALONE, mlp_bias}, \
        [ATTN_PART_MLP_IN] = {"mlp.up_proj", ATTN_OUT_IN, ATTN_ALONE, mlp_bias}, \
        [ATTN_PART_MLP_OUT] = {"mlp.down_proj", ATTN_OUT_IN, ATTN_ALONE, mlp_bias}, \
        [ATTN_PART_NORM_FINAL] = {.path = "norm"}, [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}}

static const char *const llama_buffers[] = {"self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq", NULL};
static const char *const llama_required[] = {"hidden_size", "num_hidden_layers", "num_attention_heads", NULL};

static const struct attn_key llama_keys[] = {
    LLAMA_KEYS,
    {"attention_bias", ATTN_KEY_FLAG, FIELD(attention_bias), NULL, NULL},
    {"mlp_bias", ATTN_KEY_FLAG, FIELD(mlp_bias), NULL, NULL},
    OFF_KEY("sliding_window"),
    {0}
};

const struct attn_family attn_llama = {
    .name = "llama", .keys = llama_keys, .prefix = "model.", .block = "layers.", .buffers = llama_buffers,
    .required = llama_required,
    .defaults = &(const struct attn_config){
        .V = 32000, .n_ctx = 2048, .m = 11008, .position = ATTN_POS_ROPE, .norm = ATTN_NORM_RMS, .mlp = ATTN_MLP_SWIGLU,
        .norm_eps = 1e-6, .rope_theta = 10000, .rotary_share = 1, .causal = true, .scale = true, .residual = true,
        .output_projection = true, .unembed = true},
    .part = LLAMA_PARTS(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED, ATTN_BIAS_ASKED)
};

static const struct attn_key qwen2_keys[] = {
    LLAMA_KEYS,
    OFF_KEY("use_sliding_window"),      /* sliding_window next to it is only the width */
    {0}
};

const struct attn_family attn_qwen2 = {
    .name = "qwen2", .keys = qwen2_keys, .prefix = "model.", .block = "layers.", .buffers = llama_buffers,
    .required = llama_required,
    .defaults = &(const struct attn_config){
        .V = 151936, .n_ctx = 32768, .m = 22016, .Hkv = 32, .position = ATTN_POS_ROPE, .norm = ATTN_NORM_RMS,
        .mlp = ATTN_MLP_SWIGLU, .norm_eps = 1e-6, .rope_theta = 10000, .rotary_share = 1, .causal = true, .scale = true,
        .residual = true, .output_projection = true, .unembed = true},
    .part = LLAMA_PARTS(ATTN_BIAS_ALWAYS, ATTN_BIAS_MAYBE, ATTN_BIAS_MAYBE)
};
