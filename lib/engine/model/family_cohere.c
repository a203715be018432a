/* family_cohere.c - Cohere's Command R and A: parallel branches that read one LayerNorm, neighbouring pairs, and logits
 * times a factor. */
#include "model/family_keys.h"

#define COHERE_KEYS \
    PLAIN_KEYS, NO_CAP_KEYS, NO_MULTIPLIER_KEYS, OFF_KEY("alibi"), OFF_KEY("clip_qkv"), GROUPED_SIZE_KEYS, \
    GATED_KEY("hidden_act"), BIAS_KEY, WHOLE_ROPE_KEYS, \
    {"layer_norm_eps", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL}, \
    {"logit_scale", ATTN_KEY_ABOVE, FIELD(logits_times), NULL, NULL}
#define COHERE_DEFAULTS \
    ROTARY_DEFAULTS(10000, 1), LAYER_NORM_DEFAULTS, .mlp = ATTN_MLP_SWIGLU, .V = 256000, .n_ctx = 8192, .m = 22528, \
    .parallel = true, .one_norm = true, .interleaved = true, .tied = true, .logits_times = 0.0625
#define COHERE_PARTS \
    LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_MAYBE), \
    [ATTN_PART_NORM1] = {.path = "input_layernorm", .bias = ATTN_BIAS_NEVER}, \
    [ATTN_PART_NORM_FINAL] = {.path = "norm", .bias = ATTN_BIAS_NEVER}, \
    [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}

static const struct attn_key cohere_keys[] = {COHERE_KEYS, HEAD_KEY, FLAG_KEY("use_qk_norm", qk_norm), {0}};

const struct attn_family attn_cohere = {
    .name = "cohere", .keys = cohere_keys, LLAMA_NAMES, .qk_norm = ATTN_QK_TABLE,
    .defaults = &(const struct attn_config){COHERE_DEFAULTS},
    .part = {COHERE_PARTS, [ATTN_PART_Q_NORM] = {.path = "self_attn.q_norm", .bias = ATTN_BIAS_NEVER},
             [ATTN_PART_K_NORM] = {.path = "self_attn.k_norm", .bias = ATTN_BIAS_NEVER}}
};

/* The second: layers with a window alone are rotated.  What files say of the size of a head, "rotary_pct",
 * "use_qk_norm" and the like is not read. */
static const struct attn_key cohere2_keys[] = {
    COHERE_KEYS, WINDOW_KEY, {"sliding_window_pattern", ATTN_KEY_SIZE, FIELD(window_from), NULL, NULL}, {0}};

const struct attn_family attn_cohere2 = {
    .name = "cohere2", .keys = cohere2_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_BUT, .layer_types = true,
    .full_still = true,
    .defaults = &(const struct attn_config){COHERE_DEFAULTS, .windows = true, .window = 4096, .window_from = 4},
    .part = {COHERE_PARTS}
};
