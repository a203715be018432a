/* family_gpt.c - GPT-2, GPT-Neo, GPT-NeoX, GPT-J and CodeGen. */
#include "model/family_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* ---- GPT-2 ----------------------------------------------------------------------------- */

static const struct attn_key gpt2_keys[] = {
    COMMON_KEYS,
    {"n_ctx", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},             /* in old files, and those of other libraries */
    {"n_positions", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"n_embd", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"n_layer", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"n_head", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"n_inner", ATTN_KEY_MAYBE, FIELD(m), NULL, NULL},
    {"activation_function", ATTN_KEY_CHOICE, FIELD(mlp), attn_plain_mlps, NULL},
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {"scale_attn_weights", ATTN_KEY_FLAG, FIELD(scale), NULL, NULL},
    {"scale_attn_by_inverse_layer_idx", ATTN_KEY_FLAG, FIELD(scale_by_layer), NULL, NULL},
    {0}
};

static const char *const gpt2_buffers[] = {"attn.bias", "attn.masked_bias", NULL};

const struct attn_family attn_gpt2 = {
    .name = "gpt2", .keys = gpt2_keys, .prefix = "transformer.", .block = "h.", .buffers = gpt2_buffers,
    .required = (const char *const[]){"n_embd", "n_layer", "n_head", NULL},
    .defaults = &(const struct attn_config){
        .V = 50257, .n_ctx = 1024, .position = ATTN_POS_LEARNED, .norm = ATTN_NORM_LAYER, .mlp = ATTN_MLP_GELU_NEW,
        .norm_eps = 1e-5, .rope_theta = 1, .causal = true, .scale = true, .residual = true, .output_projection = true,
        .tied = true, .unembed = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "wte"}, [ATTN_PART_POS_EMBED] = {.path = "wpe"},
        [ATTN_PART_NORM1] = {.path = "ln_1"},
        [ATTN_PART_Q] = {"attn.c_attn", ATTN_IN_OUT, ATTN_BESIDE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_K] = {"attn.c_attn", ATTN_IN_OUT, ATTN_BESIDE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_V] = {"attn.c_attn", ATTN_IN_OUT, ATTN_BESIDE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_O] = {"attn.c_proj", ATTN_IN_OUT, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM2] = {.path = "ln_2"},
        [ATTN_PART_MLP_IN] = {"mlp.c_fc", ATTN_IN_OUT, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_MLP_OUT] = {"mlp.c_proj", ATTN_IN_OUT, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM_FINAL] = {.path = "ln_f"}, [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}}
};

/* ---- nanoGPT and minGPT ------------------------------------------------------------------
 *
 * GPT-2 with matrices [out, in], an exact GELU unless the file says otherwise, and biases everywhere or nowhere.  So is
 * the model of the lecture "Let's build GPT" once the matrices of its heads are side by side, except that q, k and v
 * have no bias. */

static const struct attn_key nanogpt_keys[] = {
    COMMON_KEYS_BUT_SCALE,
    {"block_size", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"n_embd", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"n_layer", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"n_head", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"n_inner", ATTN_KEY_MAYBE, FIELD(m), NULL, NULL},
    {"activation_function", ATTN_KEY_CHOICE, FIELD(mlp), attn_plain_mlps, NULL},
    {"bias", ATTN_KEY_FLAG, FIELD(bias), NULL, NULL},
    {"qkv_bias", ATTN_KEY_FLAG, FIELD(attention_bias), NULL, NULL},
    {"attention_multiplier", ATTN_KEY_REAL, FIELD(attention_scale), NULL, NULL},
    {0}
};

#define NANOGPT_PARTS(norm_bias) \
        [ATTN_PART_EMBED] = {.path = "wte"}, [ATTN_PART_POS_EMBED] = {.path = "wpe"}, \
        [ATTN_PART_NORM1] = {.path = "ln_1", .bias = norm_bias}, \
        [ATTN_PART_Q] = {"attn.c_attn", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_K] = {"attn.c_attn", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_V] = {"attn.c_attn", ATTN_OUT_IN, ATTN_BESIDE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_O] = {.path = "attn.c_proj", .storage = ATTN_OUT_IN}, \
        [ATTN_PART_NORM2] = {.path = "ln_2", .bias = norm_bias}, \
        [ATTN_PART_MLP_IN] = {.path = "mlp.c_fc", .storage = ATTN_OUT_IN}, \
        [ATTN_PART_MLP_OUT] = {.path = "mlp.c_proj", .storage = ATTN_OUT_IN}, \
        [ATTN_PART_NORM_FINAL] = {.path = "ln_f", .bias = norm_bias}, \
        [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}
#define NANOGPT_REST \
    .keys = nanogpt_keys, .prefix = "transformer.", .block = "h.", .buffers = gpt2_buffers, \
    .required = (const char *const[]){"vocab_size", "block_size", "n_embd", "n_layer", "n_head", NULL}
#define NANOGPT_DEFAULTS \
    .position = ATTN_POS_LEARNED, LAYER_NORM_DEFAULTS, .mlp = ATTN_MLP_GELU, .rope_theta = 1, DECODER_DEFAULTS, \
    .tied = true, .bias = true, .attention_bias = true

static const struct attn_family nanogpt_plain = {
    .name = "nanogpt", NANOGPT_REST, .defaults = &(const struct attn_config){NANOGPT_DEFAULTS},
    .part = {NANOGPT_PARTS(ATTN_BIAS_NEVER)}
};

static int without_bias(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    (void)r, (void)root;
    if (c->bias)
        return ATTN_OK;
    c->attention_bias = false;
    c->family = &nanogpt_plain;
    return ATTN_OK;
}

const struct attn_family attn_nanogpt = {
    .name = "nanogpt", .more = without_bias, NANOGPT_REST, .defaults = &(const struct attn_config){NANOGPT_DEFAULTS},
    .part = {NANOGPT_PARTS(ATTN_BIAS_MAYBE)}
};

/* ---- GPT-Neo ---------------------------------------------------------------------------
 *
 * Some layers see only a window of the text before them.  Two lists can say which: "attention_layers", with the kind of
 * each, or "attention_types", with kinds and how often they repeat. */

static const struct attn_key gpt_neo_keys[] = {
    COMMON_KEYS,
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"num_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"num_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"intermediate_size", ATTN_KEY_MAYBE, FIELD(m), NULL, NULL},
    {"window_size", ATTN_KEY_SIZE, FIELD(window), NULL, NULL},
    {"activation_function", ATTN_KEY_CHOICE, FIELD(mlp), attn_plain_mlps, NULL},
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {0}
};

static int no_memory(const struct attn_key_reader *r)
{
    return attn_no_memory(r->err, r->name, "for the configuration");
}

static const char layer_kinds[] = "\"global\" or \"local\" for each layer";
static const char repeated_kinds[] = "lists of kinds and how often each repeats";

static int read_kind(const struct attn_key_reader *r, const cJSON *v, unsigned char *local)
{
    if (!cJSON_IsString(v) || (strcmp(v->valuestring, "local") && strcmp(v->valuestring, "global")))
        return attn_key_unexpected(r, "attention_layers", v, layer_kinds);
    *local = v->valuestring[0] == 'l';
    return ATTN_OK;
}

/* Reads a list such as ["global", "local", ...]. */
static int read_layers(const struct attn_key_reader *r, struct attn_config *c, const cJSON *list)
{
    const cJSON *v;
    size_t n = 0;
    int rc = ATTN_OK;
    if (!cJSON_IsArray(list))
        return attn_key_unexpected(r, "attention_layers", list, layer_kinds);
    cJSON_ArrayForEach(v, list) {
        if (n < c->L && !rc)
            rc = read_kind(r, v, &c->local[n]);
        n++;
    }
    if (rc || n == c->L)
        return rc;
    return attn_fail(r->err, ATTN_EFORMAT,
                     "%s: the attention layers are %zu, expected \"num_layers\" %zu", r->name, n, c->L);
}

/* Reads pairs such as [[["global", "local"], 2], ...]: a list of kinds and how often it repeats. */
static int read_types(const struct attn_key_reader *r, struct attn_config *c, const cJSON *types)
{
    const cJSON *type, *v;
    size_t n = 0;
    double times;
    if (!cJSON_IsArray(types))
        return attn_key_unexpected(r, "attention_types", types, repeated_kinds);
    cJSON_ArrayForEach(type, types) {
        const cJSON *list = cJSON_IsArray(type) ? type->child : NULL;
        if (!list || !cJSON_IsArray(list) || !list->next || !attn_tree_whole(list->next, 0, INT32_MAX, &times))
            return attn_key_unexpected(r, "attention_types", type, repeated_kinds);
        size_t each = (size_t)cJSON_GetArraySize(list), at = n;
        n += each * (size_t)times;
        for (v = list->child; at < n && at < c->L; at++, v = v->next ? v->next : list->child) {
            int rc = read_kind(r, v, &c->local[at]);
            if (rc)
                return rc;
        }
    }
    if (n == c->L)
        return ATTN_OK;
    return attn_fail(r->err, ATTN_EFORMAT,
                     "%s: \"attention_types\" describes %zu layers, expected \"num_layers\" %zu", r->name,
                     n, c->L);
}

/* Finds the layers with a local window: every other one unless the file says otherwise. */
static int read_local(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    enum { LAYERS_MAX = 1 << 20 };
    const cJSON *layers = attn_tree_member(root, "attention_layers"),
    *types = attn_tree_member(root, "attention_types");
    if (c->window == 0)
        return ATTN_OK;
    if (c->L > LAYERS_MAX)
        return attn_fail(r->err, ATTN_EFORMAT,
                         "%s: \"num_layers\" is %zu, expected at most %d", r->name, c->L, LAYERS_MAX);
    c->local = calloc(c->L, 1);
    if (!c->local)
        return no_memory(r);
    if (layers && !cJSON_IsNull(layers))
        return read_layers(r, c, layers);
    if (types && !cJSON_IsNull(types))
        return read_types(r, c, types);
    for (size_t i = 1; i < c->L; i += 2)
        c->local[i] = 1;
    return ATTN_OK;
}

const struct attn_family attn_gpt_neo = {
    .name = "gpt_neo", .more = read_local, .keys = gpt_neo_keys, .prefix = "transformer.", .block = "h.",
    .buffers = (const char *const[]){"attn.attention.bias", "attn.attention.masked_bias", NULL},
    .required = (const char *const[]){"hidden_size", "num_layers", "num_heads", NULL},
    .defaults = &(const struct attn_config){
        .V = 50257, .n_ctx = 2048, .window = 256, .position = ATTN_POS_LEARNED, .norm = ATTN_NORM_LAYER,
        .mlp = ATTN_MLP_GELU_NEW, .norm_eps = 1e-5, .rope_theta = 1, .causal = true, .residual = true,
        .output_projection = true, .tied = true, .unembed = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "wte"}, [ATTN_PART_POS_EMBED] = {.path = "wpe"},
        [ATTN_PART_NORM1] = {.path = "ln_1"},
        [ATTN_PART_Q] = {.path = "attn.attention.q_proj", .storage = ATTN_OUT_IN},
        [ATTN_PART_K] = {.path = "attn.attention.k_proj", .storage = ATTN_OUT_IN},
        [ATTN_PART_V] = {.path = "attn.attention.v_proj", .storage = ATTN_OUT_IN},
        [ATTN_PART_O] = {"attn.attention.out_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM2] = {.path = "ln_2"},
        [ATTN_PART_MLP_IN] = {"mlp.c_fc", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_MLP_OUT] = {"mlp.c_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM_FINAL] = {.path = "ln_f"}, [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}}
};

/* ---- GPT-NeoX -------------------------------------------------------------------------- */

static const struct attn_key gpt_neox_keys[] = {
    COMMON_KEYS,
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"num_hidden_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"num_attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"intermediate_size", ATTN_KEY_SIZE, FIELD(m), NULL, NULL},
    {"hidden_act", ATTN_KEY_CHOICE, FIELD(mlp), attn_plain_mlps, NULL},
    {"partial_rotary_factor", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL},
    {"rotary_pct", ATTN_KEY_REAL, FIELD(rotary_share), NULL, NULL},
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"rotary_emb_base", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, attn_part_rope},
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, attn_part_rope},
    {"original_max_position_embeddings", ATTN_KEY_MAYBE, FIELD(original_ctx), NULL, NULL},
    {"layer_norm_eps", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {"use_parallel_residual", ATTN_KEY_FLAG, FIELD(parallel), NULL, NULL},
    {"attention_bias", ATTN_KEY_FLAG, FIELD(attention_bias), NULL, NULL},
    {0}
};

const struct attn_family attn_gpt_neox = {
    .name = "gpt_neox", .keys = gpt_neox_keys, .prefix = "gpt_neox.", .block = "layers.",
    .buffers = (const char *const[]){"attention.bias", "attention.masked_bias", "attention.rotary_emb.inv_freq",
                                     "rotary_emb.inv_freq", NULL},
    .required = (const char *const[]){"hidden_size", "num_hidden_layers", "num_attention_heads", NULL},
    .defaults = &(const struct attn_config){
        .V = 50432, .n_ctx = 2048, .m = 24576, .position = ATTN_POS_ROPE, .norm = ATTN_NORM_LAYER, .mlp = ATTN_MLP_GELU,
        .norm_eps = 1e-5, .rope_theta = 10000, .rotary_share = 0.25, ROPE_DEFAULTS, .causal = true, .scale = true,
        .residual = true,
        .parallel = true, .output_projection = true, .unembed = true, .attention_bias = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "embed_in"}, [ATTN_PART_NORM1] = {.path = "input_layernorm"},
        [ATTN_PART_Q] = {"attention.query_key_value", ATTN_OUT_IN, ATTN_GROUPED, ATTN_BIAS_ASKED},
        [ATTN_PART_K] = {"attention.query_key_value", ATTN_OUT_IN, ATTN_GROUPED, ATTN_BIAS_ASKED},
        [ATTN_PART_V] = {"attention.query_key_value", ATTN_OUT_IN, ATTN_GROUPED, ATTN_BIAS_ASKED},
        [ATTN_PART_O] = {"attention.dense", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED},
        [ATTN_PART_NORM2] = {.path = "post_attention_layernorm"},
        [ATTN_PART_MLP_IN] = {"mlp.dense_h_to_4h", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_MLP_OUT] = {"mlp.dense_4h_to_h", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS},
        [ATTN_PART_NORM_FINAL] = {.path = "final_layer_norm"},
        [ATTN_PART_UNEMBED] = {.path = "embed_out", .storage = ATTN_OUT_IN}}
};

/* ---- GPT-J -----------------------------------------------------------------------------
 *
 * Neighbouring numbers of a head are a pair.  "scale_attn_weights" and "rotary" change nothing. */

static const struct attn_key gptj_keys[] = {
    COMMON_KEYS,
    {"n_ctx", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"n_positions", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"n_embd", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"n_layer", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"num_hidden_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"n_head", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"num_attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"n_inner", ATTN_KEY_MAYBE, FIELD(m), NULL, NULL},
    {"rotary_dim", ATTN_KEY_SIZE, FIELD(rotary), NULL, NULL},
    PLAIN_KEY("activation_function"),
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL},
    {0}
};

#define GPTJ_DEFAULTS \
    ROTARY_DEFAULTS(10000, 1), LAYER_NORM_DEFAULTS, .V = 50400, .n_ctx = 2048, .rotary = 64, .interleaved = true, \
    .mlp = ATTN_MLP_GELU_NEW, .parallel = true, .one_norm = true
#define GPTJ_PARTS \
    [ATTN_PART_EMBED] = {.path = "wte"}, [ATTN_PART_NORM1] = {.path = "ln_1"}, \
    [ATTN_PART_O] = {.path = "attn.out_proj", .storage = ATTN_OUT_IN}, \
    [ATTN_PART_MLP_IN] = {"mlp.fc_in", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS}, \
    [ATTN_PART_MLP_OUT] = {"mlp.fc_out", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS}, \
    [ATTN_PART_NORM_FINAL] = {.path = "ln_f"}, \
    [ATTN_PART_UNEMBED] = {"lm_head", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS}

static const char *const gptj_sizes[] = {"n_embd", "n_layer", "n_head", NULL};

const struct attn_family attn_gptj = {
    .name = "gptj", .keys = gptj_keys, .prefix = "transformer.", .block = "h.", .required = gptj_sizes,
    .buffers = (const char *const[]){"attn.bias", "attn.masked_bias", "attn.embed_positions", NULL},
    .defaults = &(const struct attn_config){GPTJ_DEFAULTS},
    .part = {
        GPTJ_PARTS, [ATTN_PART_Q] = {.path = "attn.q_proj", .storage = ATTN_OUT_IN},
        [ATTN_PART_K] = {.path = "attn.k_proj", .storage = ATTN_OUT_IN},
        [ATTN_PART_V] = {.path = "attn.v_proj", .storage = ATTN_OUT_IN}}
};

/* ---- CodeGen: a GPT-J whose queries, values and keys share a matrix, in four groups ---- */

static int check_fourths(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    (void)root;
    if (c->H % 4 == 0)
        return ATTN_OK;
    return attn_fail(r->err, ATTN_EFORMAT, "%s: \"n_head\" is %zu, expected a multiple of 4: the matrix of queries, "
                                           "values and keys has four groups", r->name, c->H);
}

const struct attn_family attn_codegen = {
    .name = "codegen", .more = check_fourths, .keys = gptj_keys, .prefix = "transformer.", .block = "h.",
    .required = gptj_sizes, .buffers = (const char *const[]){"attn.causal_mask", "attn.bias", "attn.masked_bias", NULL},
    .defaults = &(const struct attn_config){GPTJ_DEFAULTS},
    .part = {
        GPTJ_PARTS, [ATTN_PART_Q] = {"attn.qkv_proj", ATTN_OUT_IN, ATTN_FOURTHS, ATTN_BIAS_MAYBE},
        [ATTN_PART_K] = {"attn.qkv_proj", ATTN_OUT_IN, ATTN_FOURTHS, ATTN_BIAS_MAYBE},
        [ATTN_PART_V] = {"attn.qkv_proj", ATTN_OUT_IN, ATTN_FOURTHS, ATTN_BIAS_MAYBE}}
};
