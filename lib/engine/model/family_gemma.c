/* family_gemma.c - Gemma 1, 2 and the text models of Gemma 3, alone or in a larger one: norms multiply with 1 + weight,
 * and the embedding with the root of its width. */
#include "model/family_keys.h"

#define GEMMA_DEFAULTS(theta) \
    ROTARY_DEFAULTS(theta, 1), .norm = ATTN_NORM_RMS, .norm_eps = 1e-6, .mlp = ATTN_MLP_GEGLU_NEW, .dh = 256, \
        .tied = true, \
    .norm_from_one = true, .embed_by_root = true
#define GEMMA_KEYS SHARED_KEYS, NO_MULTIPLIER_KEYS, OFF_KEY("alibi"), GROUPED_SIZE_KEYS, HEAD_KEY, RMS_KEY, \
    FLAG_KEY("attention_bias", attention_bias)
#define GEMMA_PARTS LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_ENDS

/* ---- Gemma ----------------------------------------------------------------------------- */

static const struct attn_key gemma_keys[] = {
    GEMMA_KEYS, WHOLE_ROPE_KEYS, NO_CAP_KEYS, GATED_KEY("hidden_act"), OFF_KEY("use_bidirectional_attention"), {0}};

/* "hidden_act": "gelu" is the erf form here and in Hugging Face's library since 4.48; before it was not read, and
 * Gemma's models were made with the tanh form. */
static int doubt_erf(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    (void)r, (void)root;
    if (c->mlp == ATTN_MLP_GEGLU)
        c->doubt = "\"hidden_act\" is \"gelu\", which is computed with erf, as transformers does since 4.48; before, "
                   "such a file meant the tanh form, with which Gemma was trained: if that is meant, write "
                   "\"gelu_pytorch_tanh\"";
    return ATTN_OK;
}

const struct attn_family attn_gemma = {
    .name = "gemma", .more = doubt_erf, .keys = gemma_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){GEMMA_DEFAULTS(10000), .V = 256000, .n_ctx = 8192, .m = 24576, .Hkv = 16},
    .part = {GEMMA_PARTS, LLAMA_NORMS}
};

/* ---- Gemma 2: a norm before and after each branch, windows, soft caps ------------------ */

#define FOUR_NORMS \
        [ATTN_PART_NORM1] = {.path = "input_layernorm"}, [ATTN_PART_POST1] = {.path = "post_attention_layernorm"}, \
        [ATTN_PART_NORM2] = {.path = "pre_feedforward_layernorm"}, \
            [ATTN_PART_POST2] = {.path = "post_feedforward_layernorm"}

#define LATER_KEYS GEMMA_KEYS, WINDOW_KEY, GATED_KEY("hidden_activation"), \
    {"query_pre_attn_scalar", ATTN_KEY_REAL, FIELD(query_scalar), NULL, NULL}, \
    {"final_logit_softcapping", ATTN_KEY_ABOVE, FIELD(logit_cap), NULL, NULL}, OFF_KEY("use_bidirectional_attention")

static const struct attn_key gemma2_keys[] = {
    LATER_KEYS, WHOLE_ROPE_KEYS, {"attn_logit_softcapping", ATTN_KEY_ABOVE, FIELD(cap), NULL, NULL}, {0}};

#define LATER_DEFAULTS(theta) \
    GEMMA_DEFAULTS(theta), .m = 9216, .Hkv = 4, .query_scalar = 256, .windows = true, .window = 4096

const struct attn_family attn_gemma2 = {
    .name = "gemma2", .keys = gemma2_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_BUT, .layer_types = true,
    .defaults = &(const struct attn_config){
        LATER_DEFAULTS(10000), .V = 256000, .n_ctx = 8192, .window_from = 2, .cap = 50, .logit_cap = 30},
    .part = {GEMMA_PARTS, FOUR_NORMS}
};

/* ---- Gemma 3: layers with a window rotate with a theta of their own --------------------
 *
 * "attn_logit_softcapping" occurs in files and is never applied. */

static const struct attn_key local_rope[] = {
    ROPE_KEYS_OF(local_rope, local_theta, attn_rope_kinds), ONE_KEY("partial_rotary_factor"), {0}};
static const struct attn_key rope_by_layer[] = {
    {"full_attention", ATTN_KEY_SECTION, 0, NULL, attn_whole_rope},
    {"sliding_attention", ATTN_KEY_SECTION, 0, NULL, local_rope},
    {0}};

static const struct attn_key gemma3_keys[] = {
    LATER_KEYS,
    {"sliding_window_pattern", ATTN_KEY_SIZE, FIELD(window_from), NULL, NULL},
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"rope_local_base_freq", ATTN_KEY_REAL, FIELD(local_theta), NULL, NULL},
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, attn_whole_rope},
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, rope_by_layer},
    {0}
};

#define GEMMA3_DEFAULTS \
    LATER_DEFAULTS(1000000), .V = 262208, .n_ctx = 131072, .window_from = 6, .local_theta = 10000, .rope_apart = true, \
    .qk_norm = true
#define GEMMA3_PARTS GEMMA_PARTS, FOUR_NORMS, LLAMA_HEAD_NORMS

const struct attn_family attn_gemma3_text = {
    .name = "gemma3_text", .keys = gemma3_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_BUT, .layer_types = true,
    .defaults = &(const struct attn_config){GEMMA3_DEFAULTS}, .part = {GEMMA3_PARTS}
};

/* ---- Gemma 3 that also sees pictures: only the model of texts is read ------------------ */

const struct attn_family attn_gemma3 = {
    .name = "gemma3", .section = "text_config", .keys = gemma3_keys, .windows = ATTN_WINDOWS_BUT, .layer_types = true,
    .prefix = "language_model.model.", .prefixes = (const char *const[]){"model.language_model.", NULL},
    .head_prefix = "language_model.", .beside = (const char *const[]){"vision_tower.", "multi_modal_projector.", NULL},
    .block = "layers.", .buffers = attn_rope_buffers,
    .required = (const char *const[]){"hidden_size", "num_hidden_layers", NULL},
    .defaults = &(const struct attn_config){GEMMA3_DEFAULTS, .H = 8}, .part = {GEMMA3_PARTS}
};
