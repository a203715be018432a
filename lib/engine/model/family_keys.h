/* family_keys.h - what the tables of keys of Hugging Face's families share; only their files include it. */
#ifndef ATTN_MODEL_FAMILY_KEYS_H
#define ATTN_MODEL_FAMILY_KEYS_H

#include "model/family.h"

#define FIELD(f) offsetof(struct attn_config, f)
#define OFF_KEY(name) {name, ATTN_KEY_OFF, 0, NULL, NULL}
#define ON_KEY(name) {name, ATTN_KEY_ON, 0, NULL, NULL}
#define ONE_KEY(name) {name, ATTN_KEY_ONE, 0, NULL, NULL}

/* How rotation is scaled.  Both spellings of the kind are in use; newer files also keep theta here. */
#define ROPE_KEYS_OF(rope, theta, kinds) \
    {"type", ATTN_KEY_CHOICE, FIELD(rope.kind), kinds, NULL}, \
    {"rope_type", ATTN_KEY_CHOICE, FIELD(rope.kind), kinds, NULL}, \
    {"factor", ATTN_KEY_REAL, FIELD(rope.factor), NULL, NULL}, \
    {"low_freq_factor", ATTN_KEY_REAL, FIELD(rope.low), NULL, NULL}, \
    {"high_freq_factor", ATTN_KEY_REAL, FIELD(rope.high), NULL, NULL}, \
    {"original_max_position_embeddings", ATTN_KEY_REAL, FIELD(rope.original), NULL, NULL}, \
    {"beta_fast", ATTN_KEY_REAL, FIELD(rope.beta_fast), NULL, NULL}, \
    {"beta_slow", ATTN_KEY_REAL, FIELD(rope.beta_slow), NULL, NULL}, \
    {"attention_factor", ATTN_KEY_REAL, FIELD(rope.attention_factor), NULL, NULL}, \
    {"mscale", ATTN_KEY_REAL, FIELD(rope.mscale), NULL, NULL}, \
    {"mscale_all_dim", ATTN_KEY_REAL, FIELD(rope.mscale_all), NULL, NULL}, \
    {"truncate", ATTN_KEY_FLAG, FIELD(rope.rounded), NULL, NULL}, \
    {"finetuned", ATTN_KEY_FLAG, FIELD(rope.finetuned), NULL, NULL}, \
    {"short_factor", ATTN_KEY_REALS, FIELD(rope.few), NULL, NULL}, \
    {"long_factor", ATTN_KEY_REALS, FIELD(rope.many), NULL, NULL}, \
    {"rope_theta", ATTN_KEY_REAL, FIELD(theta), NULL, NULL}
#define ROPE_KEYS ROPE_KEYS_OF(rope, rope_theta, attn_rope_kinds)
#define ROPE_DEFAULTS .rope = {.rounded = true}, .local_rope = {.rounded = true}

#define PLAIN_KEYS \
    {"vocab_size", ATTN_KEY_SIZE, FIELD(V), NULL, NULL}, \
    {"tie_word_embeddings", ATTN_KEY_FLAG, FIELD(tied), NULL, NULL}, \
    OFF_KEY("quantization_config"), OFF_KEY("add_cross_attention"), OFF_KEY("is_encoder_decoder"), \
        OFF_KEY("pruned_heads"), \
    ON_KEY("is_causal")
/* What related models compute in addition; in the families that have none of it, it must be off. */
#define SHARED_KEYS PLAIN_KEYS, OFF_KEY("clip_qkv"), ONE_KEY("logit_scale")
#define NO_CAP_KEYS \
    OFF_KEY("attn_logit_softcapping"), OFF_KEY("final_logit_softcapping"), OFF_KEY("query_pre_attn_scalar")
#define NO_FACTOR_KEYS \
    ONE_KEY("embedding_multiplier"), ONE_KEY("residual_multiplier"), ONE_KEY("logits_scaling")
#define NO_MULTIPLIER_KEYS OFF_KEY("attention_multiplier"), NO_FACTOR_KEYS
#define COMMON_KEYS_BUT_SCALE SHARED_KEYS, NO_CAP_KEYS, NO_FACTOR_KEYS, OFF_KEY("alibi")
#define COMMON_KEYS SHARED_KEYS, NO_CAP_KEYS, NO_MULTIPLIER_KEYS, OFF_KEY("alibi")

/* ---- what families with Llama's names share -------------------------------------------- */

#define WHOLE_ROPE_KEYS \
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL}, \
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, attn_whole_rope}, \
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, attn_whole_rope}, \
    {"original_max_position_embeddings", ATTN_KEY_MAYBE, FIELD(original_ctx), NULL, NULL}, \
    ONE_KEY("partial_rotary_factor")
#define PART_ROPE_KEYS \
    {"partial_rotary_factor", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL}, \
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL}, \
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, attn_part_rope}, \
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, attn_part_rope}, \
    {"original_max_position_embeddings", ATTN_KEY_MAYBE, FIELD(original_ctx), NULL, NULL}

#define SIZE_KEYS \
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL}, \
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL}, \
    {"num_hidden_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL}, \
    {"num_attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL}
#define GROUPED_SIZE_KEYS \
    SIZE_KEYS, \
    {"num_key_value_heads", ATTN_KEY_MAYBE, FIELD(Hkv), NULL, NULL}, \
    {"intermediate_size", ATTN_KEY_SIZE, FIELD(m), NULL, NULL}
#define HEAD_KEY {"head_dim", ATTN_KEY_MAYBE, FIELD(dh), NULL, NULL}
#define RMS_KEY {"rms_norm_eps", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL}
#define GATED_KEY(name) {name, ATTN_KEY_CHOICE, FIELD(mlp), attn_gated_mlps, NULL}
#define PLAIN_KEY(name) {name, ATTN_KEY_CHOICE, FIELD(mlp), attn_plain_mlps, NULL}
#define FLAG_KEY(name, field) {name, ATTN_KEY_FLAG, FIELD(field), NULL, NULL}
#define BIAS_KEY FLAG_KEY("attention_bias", attention_bias)
#define WINDOW_KEY {"sliding_window", ATTN_KEY_MAYBE, FIELD(window), NULL, NULL}

#define LLAMA_QKV(qkv_bias) \
        [ATTN_PART_EMBED] = {.path = "embed_tokens"}, \
        [ATTN_PART_Q] = {"self_attn.q_proj", ATTN_OUT_IN, ATTN_ALONE, qkv_bias}, \
        [ATTN_PART_K] = {"self_attn.k_proj", ATTN_OUT_IN, ATTN_ALONE, qkv_bias}, \
        [ATTN_PART_V] = {"self_attn.v_proj", ATTN_OUT_IN, ATTN_ALONE, qkv_bias}
#define LLAMA_ATTENTION(qkv_bias, o_bias) \
        LLAMA_QKV(qkv_bias), [ATTN_PART_O] = {"self_attn.o_proj", ATTN_OUT_IN, ATTN_ALONE, o_bias}
#define LLAMA_MLP(mlp_bias) \
        [ATTN_PART_MLP_GATE] = {"mlp.gate_proj", ATTN_OUT_IN, ATTN_ALONE, mlp_bias}, \
        [ATTN_PART_MLP_IN] = {"mlp.up_proj", ATTN_OUT_IN, ATTN_ALONE, mlp_bias}, \
        [ATTN_PART_MLP_OUT] = {"mlp.down_proj", ATTN_OUT_IN, ATTN_ALONE, mlp_bias}
#define LLAMA_NORMS \
        [ATTN_PART_NORM1] = {.path = "input_layernorm"}, [ATTN_PART_NORM2] = {.path = "post_attention_layernorm"}
#define LLAMA_ENDS \
        [ATTN_PART_NORM_FINAL] = {.path = "norm"}, \
        [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}
#define LLAMA_NAMES .prefix = "model.", .block = "layers.", .buffers = attn_rope_buffers, .required = attn_size_names

/* OLMo's norms: after the branches. */
#define LLAMA_POST_NORMS \
        [ATTN_PART_POST1] = {.path = "post_attention_layernorm"}, \
        [ATTN_PART_POST2] = {.path = "post_feedforward_layernorm"}
#define LLAMA_HEAD_NORMS \
        [ATTN_PART_Q_NORM] = {.path = "self_attn.q_norm"}, [ATTN_PART_K_NORM] = {.path = "self_attn.k_norm"}

/* Of all decoders with an output projection and an output layer; of those with rotation; of Llama and the like. */
#define DECODER_DEFAULTS .causal = true, .scale = true, .residual = true, .output_projection = true, .unembed = true
#define ROTARY_DEFAULTS(theta, share) \
        DECODER_DEFAULTS, ROPE_DEFAULTS, .position = ATTN_POS_ROPE, .rope_theta = theta, .rotary_share = share
#define LLAMA_DEFAULTS(theta, eps) \
        ROTARY_DEFAULTS(theta, 1), .norm = ATTN_NORM_RMS, .norm_eps = eps, .mlp = ATTN_MLP_SWIGLU
#define LAYER_NORM_DEFAULTS .norm = ATTN_NORM_LAYER, .norm_eps = 1e-5

extern const struct attn_key attn_whole_rope[], attn_part_rope[];
extern const char *const attn_rope_buffers[], *const attn_size_names[];
extern const struct attn_word attn_rope_kinds[], attn_plain_mlps[], attn_gated_mlps[];

#endif
