/* family_phi.c - Phi, with parallel branches, and Phi 3, a Llama with fused matrices. */
#include "model/family_keys.h"

/* ---- Phi ------------------------------------------------------------------------------- */

static const struct attn_key phi_keys[] = {
    COMMON_KEYS, GROUPED_SIZE_KEYS, HEAD_KEY, PART_ROPE_KEYS, PLAIN_KEY("hidden_act"),
    FLAG_KEY("qk_layernorm", qk_norm),
    {"layer_norm_eps", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL}, {0}
};

const struct attn_family attn_phi = {
    .name = "phi", .keys = phi_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){
        ROTARY_DEFAULTS(10000, 0.5), LAYER_NORM_DEFAULTS, .V = 51200, .n_ctx = 2048, .m = 8192,
        .mlp = ATTN_MLP_GELU_NEW, .parallel = true, .one_norm = true},
    .part = {
        LLAMA_QKV(ATTN_BIAS_ALWAYS), [ATTN_PART_NORM1] = {.path = "input_layernorm"},
        [ATTN_PART_O] = {"self_attn.dense", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_Q_NORM] = {.path = "self_attn.q_layernorm"}, [ATTN_PART_K_NORM] = {.path = "self_attn.k_layernorm"},
        [ATTN_PART_MLP_IN] = {"mlp.fc1", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_MLP_OUT] = {"mlp.fc2", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM_FINAL] = {.path = "final_layernorm"},
        [ATTN_PART_UNEMBED] = {"lm_head", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS}}
};

/* ---- Phi 3: its only scaling of rotation has several names ----------------------------- */

static const struct attn_word phi3_kinds[] = {
    {"longrope", ATTN_ROPE_LONGROPE}, {"su", ATTN_ROPE_LONGROPE}, {"yarn", ATTN_ROPE_LONGROPE},
    {"default", ATTN_ROPE_DEFAULT}, {0}};
static const struct attn_key phi3_rope[] = {
    ROPE_KEYS_OF(rope, rope_theta, phi3_kinds),
    {"partial_rotary_factor", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL}, {0}};

static const struct attn_key phi3_keys[] = {
    COMMON_KEYS, GROUPED_SIZE_KEYS, HEAD_KEY, RMS_KEY, GATED_KEY("hidden_act"), WINDOW_KEY,
    {"partial_rotary_factor", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL},
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"original_max_position_embeddings", ATTN_KEY_SIZE, FIELD(original_ctx), NULL, NULL},
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, phi3_rope},
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, phi3_rope},
    {0}
};

const struct attn_family attn_phi3 = {
    .name = "phi3", .keys = phi3_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_ALL,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(10000, 1e-5), .V = 32064, .n_ctx = 4096, .m = 8192, .windows = true, .original_ctx = 4096},
    .part = {
        [ATTN_PART_EMBED] = {.path = "embed_tokens"},
        [ATTN_PART_Q] = {"self_attn.qkv_proj", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_MAYBE},
        [ATTN_PART_K] = {"self_attn.qkv_proj", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_MAYBE},
        [ATTN_PART_V] = {"self_attn.qkv_proj", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_MAYBE},
        [ATTN_PART_O] = {.path = "self_attn.o_proj", .storage = ATTN_OUT_IN},
        [ATTN_PART_MLP_GATE] = {"mlp.gate_up_proj", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_MAYBE},
        [ATTN_PART_MLP_IN] = {"mlp.gate_up_proj", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_MAYBE},
        [ATTN_PART_MLP_OUT] = {.path = "mlp.down_proj", .storage = ATTN_OUT_IN}, LLAMA_NORMS, LLAMA_ENDS}
};
