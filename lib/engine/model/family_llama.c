/* family_llama.c - Llama and those that differ from it in little: Mistral, Qwen 2 and 3, SmolLM 3, Granite. */
#include "model/family_keys.h"

const struct attn_key attn_whole_rope[] = {ROPE_KEYS, ONE_KEY("partial_rotary_factor"), {0}};
const struct attn_key attn_part_rope[] = {
    ROPE_KEYS, {"partial_rotary_factor", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL}, {0}};
const char *const attn_rope_buffers[] = {"self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq", NULL};
const char *const attn_size_names[] = {"hidden_size", "num_hidden_layers", "num_attention_heads", NULL};

static const struct attn_word full_attention[] = {{"full_attention", 0}, {0}};

#define BLOCK_KEYS GROUPED_SIZE_KEYS, HEAD_KEY, RMS_KEY, GATED_KEY("hidden_act"), WHOLE_ROPE_KEYS

/* ---- Llama ----------------------------------------------------------------------------- */

static const struct attn_key llama_keys[] = {
    COMMON_KEYS, BLOCK_KEYS, BIAS_KEY, FLAG_KEY("mlp_bias", mlp_bias),
    {"layer_types", ATTN_KEY_ALL, 0, full_attention, NULL}, {0}
};

/* A window is refused, unless the file says that it is not in use, as one does that was a Qwen's. */
static int refuse_window(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    static const struct attn_key off = OFF_KEY("sliding_window");
    const cJSON *window = attn_tree_member(root, off.name);
    (void)c;
    return window && !cJSON_IsFalse(attn_tree_member(root, "use_sliding_window")) ? attn_key_read(r, &off, window) :
           ATTN_OK;
}

const struct attn_family attn_llama = {
    .name = "llama", .more = refuse_window, .keys = llama_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){LLAMA_DEFAULTS(10000, 1e-6), .V = 32000, .n_ctx = 2048, .m = 11008},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_ASKED), LLAMA_NORMS, LLAMA_ENDS}
};

/* ---- Mistral: a window in every layer, also if the file does not mention one ----------- */

static const struct attn_key mistral_keys[] = {COMMON_KEYS, BLOCK_KEYS, WINDOW_KEY, {0}};

const struct attn_family attn_mistral = {
    .name = "mistral", .keys = mistral_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_ALL,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(10000, 1e-6), .V = 32000, .n_ctx = 131072, .m = 14336, .Hkv = 8, .windows = true,
        .window = 4096},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_MAYBE, ATTN_BIAS_MAYBE), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_NORMS, LLAMA_ENDS}
};

/* ---- Qwen 2 and 3: windows from some layer on, if the file asks for them --------------- */

#define LATE_WINDOW_KEYS \
    WINDOW_KEY, FLAG_KEY("use_sliding_window", windows), {"max_window_layers", ATTN_KEY_COUNT, FIELD(window_from), \
        NULL, NULL}

/* Unless it is in use, the window has no size. */
static int drop_window(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    (void)r, (void)root;
    c->window = c->windows ? c->window : 0;
    return ATTN_OK;
}

static const struct attn_key qwen2_keys[] = {COMMON_KEYS, BLOCK_KEYS, LATE_WINDOW_KEYS, {0}};

const struct attn_family attn_qwen2 = {
    .name = "qwen2", .more = drop_window, .keys = qwen2_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_FROM,
    .layer_types = true,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(10000, 1e-6), .V = 151936, .n_ctx = 32768, .m = 22016, .Hkv = 32, .window = 4096,
        .window_from = 28},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ALWAYS, ATTN_BIAS_MAYBE), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_NORMS, LLAMA_ENDS}
};

static const struct attn_key qwen3_keys[] = {COMMON_KEYS, BLOCK_KEYS, LATE_WINDOW_KEYS, BIAS_KEY, {0}};

const struct attn_family attn_qwen3 = {
    .name = "qwen3", .more = drop_window, .keys = qwen3_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_FROM,
    .layer_types = true,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(10000, 1e-6), .V = 151936, .n_ctx = 32768, .m = 22016, .Hkv = 32, .dh = 128, .qk_norm = true,
        .window = 4096,
        .window_from = 28},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_NORMS, LLAMA_ENDS,
             [ATTN_PART_Q_NORM] = {.path = "self_attn.q_norm"}, [ATTN_PART_K_NORM] = {.path = "self_attn.k_norm"}}
};

/* ---- SmolLM 3: some layers do without rotation ----------------------------------------- */

static const struct attn_key smollm3_keys[] = {
    COMMON_KEYS, BLOCK_KEYS, BIAS_KEY, FLAG_KEY("mlp_bias", mlp_bias), WINDOW_KEY,
    FLAG_KEY("use_sliding_window", windows), {0}
};

const struct attn_family attn_smollm3 = {
    .name = "smollm3", .more = attn_family_no_rope, .keys = smollm3_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_NO_ROPE,
    .layer_types = true,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(2000000, 1e-6), .V = 128256, .n_ctx = 32768, .m = 11008, .Hkv = 4, .tied = true},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_ASKED), LLAMA_NORMS, LLAMA_ENDS}
};

/* ---- Granite: four multipliers --------------------------------------------------------- */

static const struct attn_key granite_keys[] = {
    SHARED_KEYS, NO_CAP_KEYS, OFF_KEY("alibi"), BLOCK_KEYS, BIAS_KEY, FLAG_KEY("mlp_bias", mlp_bias),
    {"attention_multiplier", ATTN_KEY_ABOVE, FIELD(attention_scale), NULL, NULL},
    {"embedding_multiplier", ATTN_KEY_ABOVE, FIELD(embed_scale), NULL, NULL},
    {"residual_multiplier", ATTN_KEY_ABOVE, FIELD(branch_scale), NULL, NULL},
    {"logits_scaling", ATTN_KEY_ABOVE, FIELD(logits_divided), NULL, NULL},
    {0}
};

const struct attn_family attn_granite = {
    .name = "granite", .keys = granite_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){LLAMA_DEFAULTS(10000, 1e-6), .V = 32000, .n_ctx = 2048, .m = 11008,
                                            .attention_scale = 1},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_ASKED), LLAMA_NORMS, LLAMA_ENDS}
};
