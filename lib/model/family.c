#include "model/family.h"

#define FIELD(f) offsetof(struct attn_config, f)

static const struct attn_word tokenizers[] = {{"word", 0}, {"bpe", 1}, {0}};

/* ---- our own format -------------------------------------------------------------------- */

static const struct attn_word ours_types[] = {{"attn-decoder", 0}, {0}};
static const struct attn_word positions[] = {{"none", ATTN_POS_NONE}, {"learned", ATTN_POS_LEARNED}, {"rope", ATTN_POS_ROPE}, {0}};
static const struct attn_word norms[] = {{"none", ATTN_NORM_NONE}, {"layernorm", ATTN_NORM_LAYER}, {"rmsnorm", ATTN_NORM_RMS}, {0}};
static const struct attn_word mlps[] = {{"none", ATTN_MLP_NONE}, {"gelu", ATTN_MLP_GELU}, {"gelu_new", ATTN_MLP_GELU_NEW},
                                        {"swiglu", ATTN_MLP_SWIGLU}, {0}};
static const struct attn_word masks[] = {{"none", 0}, {"causal", 1}, {0}};
static const struct attn_word scales[] = {{"none", 0}, {"sqrt", 1}, {0}};

static const struct attn_key tokenizer_keys[] = {
    {"type", ATTN_KEY_EITHER, FIELD(tokenizer.bpe), tokenizers, NULL},
    {"drop", ATTN_KEY_TEXT, FIELD(tokenizer.drop), NULL, NULL},
    {"lowercase", ATTN_KEY_FLAG, FIELD(tokenizer.lowercase), NULL, NULL},
    {"unknown", ATTN_KEY_NAME, FIELD(tokenizer.unknown), NULL, NULL},
    {0}
};

static const struct attn_key ours_keys[] = {
    {"model_type", ATTN_KEY_FIXED, 0, ours_types, NULL},
    {"vocab_size", ATTN_KEY_SIZE, FIELD(V), NULL, NULL},
    {"n_ctx", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"n_layer", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"n_head", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"n_kv_head", ATTN_KEY_SIZE, FIELD(Hkv), NULL, NULL},
    {"d_model", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"d_head", ATTN_KEY_SIZE, FIELD(dh), NULL, NULL},
    {"d_value", ATTN_KEY_SIZE, FIELD(dv), NULL, NULL},
    {"d_mlp", ATTN_KEY_COUNT, FIELD(m), NULL, NULL},
    {"position", ATTN_KEY_CHOICE, FIELD(position), positions, NULL},
    {"norm", ATTN_KEY_CHOICE, FIELD(norm), norms, NULL},
    {"norm_eps", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {"mlp", ATTN_KEY_CHOICE, FIELD(mlp), mlps, NULL},
    {"mask", ATTN_KEY_EITHER, FIELD(causal), masks, NULL},
    {"scale", ATTN_KEY_EITHER, FIELD(scale), scales, NULL},
    {"residual", ATTN_KEY_FLAG, FIELD(residual), NULL, NULL},
    {"output_projection", ATTN_KEY_FLAG, FIELD(output_projection), NULL, NULL},
    {"bias", ATTN_KEY_FLAG, FIELD(bias), NULL, NULL},
    {"tied", ATTN_KEY_FLAG, FIELD(tied), NULL, NULL},
    {"unembed", ATTN_KEY_FLAG, FIELD(unembed), NULL, NULL},
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"eos_token_id", ATTN_KEY_MAYBE, FIELD(end), NULL, NULL},
    {"tokenizer", ATTN_KEY_SECTION, 0, NULL, tokenizer_keys},
    {0}
};

static const struct attn_family ours = {
    .name = "attn-decoder", .ours = true, .keys = ours_keys, .prefix = "", .block = "blocks.",
    .required = (const char *const[]){"vocab_size", "n_ctx", "n_layer", "n_head", "d_model", NULL},
    .defaults = &(const struct attn_config){
        .norm_eps = 1e-5, .rope_theta = 10000, .causal = true, .scale = true, .tied = true, .rotary_share = 1},
    .part = {
        [ATTN_PART_EMBED] = {.path = "embed"}, [ATTN_PART_POS_EMBED] = {.path = "pos_embed"},
        [ATTN_PART_NORM1] = {.path = "norm1"},
        [ATTN_PART_Q] = {.path = "attn.q"}, [ATTN_PART_K] = {.path = "attn.k"}, [ATTN_PART_V] = {.path = "attn.v"},
        [ATTN_PART_O] = {.path = "attn.o"}, [ATTN_PART_NORM2] = {.path = "norm2"},
        [ATTN_PART_MLP_GATE] = {.path = "mlp.gate"}, [ATTN_PART_MLP_IN] = {.path = "mlp.in"},
        [ATTN_PART_MLP_OUT] = {.path = "mlp.out"},
        [ATTN_PART_NORM_FINAL] = {.path = "norm_final"}, [ATTN_PART_UNEMBED] = {.path = "unembed"}},
    .buffers = (const char *const[]){NULL}
};

/* ---- Hugging Face's -------------------------------------------------------------------- */

static const struct attn_word gelus[] = {
    {"gelu_new", ATTN_MLP_GELU_NEW}, {"gelu", ATTN_MLP_GELU}, {"gelu_pytorch_tanh", ATTN_MLP_GELU_NEW},
    {"gelu_fast", ATTN_MLP_GELU_NEW}, {"gelu_python", ATTN_MLP_GELU}, {0}};
static const struct attn_word gated_mlps[] = {{"silu", ATTN_MLP_SWIGLU}, {"swish", ATTN_MLP_SWIGLU}, {0}};
static const struct attn_word full_attention[] = {{"full_attention", 0}, {0}};
static const struct attn_word rope_kinds[] = {
    {"default", ATTN_ROPE_DEFAULT}, {"linear", ATTN_ROPE_LINEAR}, {"llama3", ATTN_ROPE_LLAMA3}, {0}};

#define OFF_KEY(name) {name, ATTN_KEY_OFF, 0, NULL, NULL}
#define ONE_KEY(name) {name, ATTN_KEY_ONE, 0, NULL, NULL}

/* Both spellings of the kind are in use; newer files also keep theta here. */
#define ROPE_KEYS \
    {"type", ATTN_KEY_CHOICE, FIELD(rope.kind), rope_kinds, NULL}, \
    {"rope_type", ATTN_KEY_CHOICE, FIELD(rope.kind), rope_kinds, NULL}, \
    {"factor", ATTN_KEY_REAL, FIELD(rope.factor), NULL, NULL}, \
    {"low_freq_factor", ATTN_KEY_REAL, FIELD(rope.low), NULL, NULL}, \
    {"high_freq_factor", ATTN_KEY_REAL, FIELD(rope.high), NULL, NULL}, \
    {"original_max_position_embeddings", ATTN_KEY_REAL, FIELD(rope.original), NULL, NULL}, \
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL}

static const struct attn_key whole_rope_keys[] = {ROPE_KEYS, ONE_KEY("partial_rotary_factor"), {0}};
static const struct attn_key part_rope_keys[] = {
    ROPE_KEYS, {"partial_rotary_factor", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL}, {0}};

/* The second half lists what related models compute in addition; in a model_type of ours it must be off. */
#define COMMON_KEYS \
    {"vocab_size", ATTN_KEY_SIZE, FIELD(V), NULL, NULL}, \
    {"tie_word_embeddings", ATTN_KEY_FLAG, FIELD(tied), NULL, NULL}, \
    OFF_KEY("quantization_config"), OFF_KEY("add_cross_attention"), OFF_KEY("is_encoder_decoder"), OFF_KEY("pruned_heads"), \
    OFF_KEY("attn_logit_softcapping"), OFF_KEY("final_logit_softcapping"), OFF_KEY("query_pre_attn_scalar"), \
    OFF_KEY("attention_multiplier"), OFF_KEY("clip_qkv"), OFF_KEY("alibi"), ONE_KEY("embedding_multiplier"), \
    ONE_KEY("residual_multiplier"), ONE_KEY("logits_scaling"), ONE_KEY("logit_scale")

static const struct attn_key gpt2_keys[] = {
    COMMON_KEYS,
    {"n_ctx", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},             /* in old files, and those of other libraries */
    {"n_positions", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"n_embd", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"n_layer", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"n_head", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"n_inner", ATTN_KEY_MAYBE, FIELD(m), NULL, NULL},
    {"activation_function", ATTN_KEY_CHOICE, FIELD(mlp), gelus, NULL},
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {"scale_attn_weights", ATTN_KEY_FLAG, FIELD(scale), NULL, NULL},
    {"scale_attn_by_inverse_layer_idx", ATTN_KEY_FLAG, FIELD(scale_by_layer), NULL, NULL},
    {0}
};

static const char *const gpt2_buffers[] = {"attn.bias", "attn.masked_bias", NULL};

static const struct attn_family gpt2 = {
    .name = "gpt2", .keys = gpt2_keys, .prefix = "transformer.", .block = "h.", .buffers = gpt2_buffers,
    .required = (const char *const[]){"n_embd", "n_layer", "n_head", NULL},
    .defaults = &(const struct attn_config){
        .V = 50257, .n_ctx = 1024, .position = ATTN_POS_LEARNED, .norm = ATTN_NORM_LAYER, .mlp = ATTN_MLP_GELU_NEW,
        .norm_eps = 1e-5, .rope_theta = 1, .causal = true, .scale = true, .residual = true, .output_projection = true,
        .tied = true, .unembed = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "wte"}, [ATTN_PART_POS_EMBED] = {.path = "wpe"},
        [ATTN_PART_NORM1] = {.path = "ln_1"},
        [ATTN_PART_Q] = {"attn.c_attn", ATTN_IN_OUT, ATTN_THIRD, ATTN_BIAS_ALWAYS},
        [ATTN_PART_K] = {"attn.c_attn", ATTN_IN_OUT, ATTN_THIRD, ATTN_BIAS_ALWAYS},
        [ATTN_PART_V] = {"attn.c_attn", ATTN_IN_OUT, ATTN_THIRD, ATTN_BIAS_ALWAYS},
        [ATTN_PART_O] = {"attn.c_proj", ATTN_IN_OUT, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM2] = {.path = "ln_2"},
        [ATTN_PART_MLP_IN] = {"mlp.c_fc", ATTN_IN_OUT, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_MLP_OUT] = {"mlp.c_proj", ATTN_IN_OUT, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM_FINAL] = {.path = "ln_f"}, [ATTN_PART_UNEMBED] = {.path = "lm_head", .lie = ATTN_OUT_IN}}
};

static const struct attn_key gpt_neo_keys[] = {
    COMMON_KEYS,
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"num_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"num_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"intermediate_size", ATTN_KEY_MAYBE, FIELD(m), NULL, NULL},
    {"window_size", ATTN_KEY_SIZE, FIELD(window), NULL, NULL},
    {"activation_function", ATTN_KEY_CHOICE, FIELD(mlp), gelus, NULL},
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {0}
};

static const struct attn_family gpt_neo = {
    .name = "gpt_neo", .keys = gpt_neo_keys, .prefix = "transformer.", .block = "h.",
    .buffers = (const char *const[]){"attn.attention.bias", "attn.attention.masked_bias", NULL},
    .required = (const char *const[]){"hidden_size", "num_layers", "num_heads", NULL},
    .defaults = &(const struct attn_config){
        .V = 50257, .n_ctx = 2048, .window = 256, .position = ATTN_POS_LEARNED, .norm = ATTN_NORM_LAYER,
        .mlp = ATTN_MLP_GELU_NEW, .norm_eps = 1e-5, .rope_theta = 1, .causal = true, .residual = true,
        .output_projection = true, .tied = true, .unembed = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "wte"}, [ATTN_PART_POS_EMBED] = {.path = "wpe"},
        [ATTN_PART_NORM1] = {.path = "ln_1"},
        [ATTN_PART_Q] = {.path = "attn.attention.q_proj", .lie = ATTN_OUT_IN},
        [ATTN_PART_K] = {.path = "attn.attention.k_proj", .lie = ATTN_OUT_IN},
        [ATTN_PART_V] = {.path = "attn.attention.v_proj", .lie = ATTN_OUT_IN},
        [ATTN_PART_O] = {"attn.attention.out_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM2] = {.path = "ln_2"},
        [ATTN_PART_MLP_IN] = {"mlp.c_fc", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_MLP_OUT] = {"mlp.c_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM_FINAL] = {.path = "ln_f"}, [ATTN_PART_UNEMBED] = {.path = "lm_head", .lie = ATTN_OUT_IN}}
};

static const struct attn_key gpt_neox_keys[] = {
    COMMON_KEYS,
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"num_hidden_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"num_attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"intermediate_size", ATTN_KEY_SIZE, FIELD(m), NULL, NULL},
    {"hidden_act", ATTN_KEY_CHOICE, FIELD(mlp), gelus, NULL},
    {"partial_rotary_factor", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL},
    {"rotary_pct", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL},
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"rotary_emb_base", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, part_rope_keys},
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, part_rope_keys},
    {"layer_norm_eps", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {"use_parallel_residual", ATTN_KEY_FLAG, FIELD(parallel), NULL, NULL},
    {"attention_bias", ATTN_KEY_FLAG, FIELD(attention_bias), NULL, NULL},
    {0}
};

static const struct attn_family gpt_neox = {
    .name = "gpt_neox", .keys = gpt_neox_keys, .prefix = "gpt_neox.", .block = "layers.",
    .buffers = (const char *const[]){"attention.bias", "attention.masked_bias", "attention.rotary_emb.inv_freq", "rotary_emb.inv_freq", NULL},
    .required = (const char *const[]){"hidden_size", "num_hidden_layers", "num_attention_heads", NULL},
    .defaults = &(const struct attn_config){
        .V = 50432, .n_ctx = 2048, .m = 24576, .position = ATTN_POS_ROPE, .norm = ATTN_NORM_LAYER, .mlp = ATTN_MLP_GELU,
        .norm_eps = 1e-5, .rope_theta = 10000, .rotary_share = 0.25, .causal = true, .scale = true, .residual = true,
        .parallel = true, .output_projection = true, .unembed = true, .attention_bias = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "embed_in"}, [ATTN_PART_NORM1] = {.path = "input_layernorm"},
        [ATTN_PART_Q] = {"attention.query_key_value", ATTN_OUT_IN, ATTN_HEAD_THIRD, ATTN_BIAS_ASKED},
        [ATTN_PART_K] = {"attention.query_key_value", ATTN_OUT_IN, ATTN_HEAD_THIRD, ATTN_BIAS_ASKED},
        [ATTN_PART_V] = {"attention.query_key_value", ATTN_OUT_IN, ATTN_HEAD_THIRD, ATTN_BIAS_ASKED},
        [ATTN_PART_O] = {"attention.dense", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED},
        [ATTN_PART_NORM2] = {.path = "post_attention_layernorm"},
        [ATTN_PART_MLP_IN] = {"mlp.dense_h_to_4h", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_MLP_OUT] = {"mlp.dense_4h_to_h", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM_FINAL] = {.path = "final_layer_norm"}, [ATTN_PART_UNEMBED] = {.path = "embed_out", .lie = ATTN_OUT_IN}}
};

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
        [ATTN_PART_NORM_FINAL] = {.path = "norm"}, [ATTN_PART_UNEMBED] = {.path = "lm_head", .lie = ATTN_OUT_IN}}

static const char *const llama_buffers[] = {"self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq", NULL};
static const char *const llama_required[] = {"hidden_size", "num_hidden_layers", "num_attention_heads", NULL};

static const struct attn_key llama_keys[] = {
    LLAMA_KEYS,
    {"attention_bias", ATTN_KEY_FLAG, FIELD(attention_bias), NULL, NULL},
    {"mlp_bias", ATTN_KEY_FLAG, FIELD(mlp_bias), NULL, NULL},
    OFF_KEY("sliding_window"),
    {0}
};

static const struct attn_family llama = {
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

static const struct attn_family qwen2 = {
    .name = "qwen2", .keys = qwen2_keys, .prefix = "model.", .block = "layers.", .buffers = llama_buffers,
    .required = llama_required,
    .defaults = &(const struct attn_config){
        .V = 151936, .n_ctx = 32768, .m = 22016, .Hkv = 32, .position = ATTN_POS_ROPE, .norm = ATTN_NORM_RMS, .mlp = ATTN_MLP_SWIGLU,
        .norm_eps = 1e-6, .rope_theta = 10000, .rotary_share = 1, .causal = true, .scale = true, .residual = true,
        .output_projection = true, .unembed = true},
    .part = LLAMA_PARTS(ATTN_BIAS_ALWAYS, ATTN_BIAS_MAYBE, ATTN_BIAS_MAYBE)
};

const struct attn_family *const attn_families[] = {&ours, &gpt2, &gpt_neo, &gpt_neox, &llama, &qwen2, NULL};

const char *attn_position_name(enum attn_position p) { return attn_word_of(positions, p); }
const char *attn_norm_name(enum attn_norm_kind n) { return attn_word_of(norms, n); }
const char *attn_mlp_name(enum attn_mlp_kind m) { return attn_word_of(mlps, m); }
