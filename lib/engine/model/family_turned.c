/* family_turned.c - families with Llama's names that rotate or normalise queries and keys in another way: ERNIE 4.5,
 * Helium, HunYuan, EXAONE 4, nanochat. */
#include "model/family_keys.h"

#include "base/elementary.h"
#include "base/err.h"

#define BLOCK_KEYS GROUPED_SIZE_KEYS, HEAD_KEY, RMS_KEY

/* ---- ERNIE 4.5: neighbouring pairs; one key asks for all biases ------------------------ */

static int share_bias(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    (void)r, (void)root;
    c->mlp_bias = c->attention_bias;
    return ATTN_OK;
}

static const struct attn_key ernie_keys[] = {
    COMMON_KEYS, BLOCK_KEYS, GATED_KEY("hidden_act"), WHOLE_ROPE_KEYS, FLAG_KEY("use_bias", attention_bias), {0}};

const struct attn_family attn_ernie4_5 = {
    .name = "ernie4_5", .more = share_bias, .keys = ernie_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(500000, 1e-5), .V = 103424, .n_ctx = 131072, .m = 3072, .Hkv = 2, .dh = 128, .interleaved = true,
        .tied = true},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_ASKED), LLAMA_NORMS, LLAMA_ENDS}
};

/* ---- Helium: neighbouring pairs; the output projection never has a bias ---------------- */

static const struct attn_key helium_keys[] = {
    COMMON_KEYS, BLOCK_KEYS, GATED_KEY("hidden_act"), WHOLE_ROPE_KEYS, BIAS_KEY, FLAG_KEY("mlp_bias", mlp_bias), {0}};

const struct attn_family attn_helium = {
    .name = "helium", .keys = helium_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(100000, 1e-8), .V = 48000, .n_ctx = 4096, .m = 7040, .Hkv = 20, .dh = 128, .interleaved = true},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_NEVER), LLAMA_MLP(ATTN_BIAS_ASKED), LLAMA_NORMS, LLAMA_ENDS}
};

/* ---- HunYuan: norms of queries and keys after the rotation, whose theta may be stretched */

static const struct attn_key hunyuan_rope[] = {
    ROPE_KEYS, {"alpha", ATTN_KEY_ABOVE, FIELD(rope.alpha), NULL, NULL}, ONE_KEY("partial_rotary_factor"), {0}};

static const struct attn_key hunyuan_keys[] = {
    COMMON_KEYS, BLOCK_KEYS, GATED_KEY("hidden_act"), BIAS_KEY,
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"rope_scaling", ATTN_KEY_SECTION, 0, NULL, hunyuan_rope},
    {"rope_parameters", ATTN_KEY_SECTION, 0, NULL, hunyuan_rope},
    {0}
};

/* With an alpha, the kind "dynamic" does not depend on the text's length. */
static int stretch_theta(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    (void)root;
    if (c->rope.kind != ATTN_ROPE_DYNAMIC || !(c->rope.alpha > 0))
        return ATTN_OK;
    if (c->dh <= 2)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: \"head_dim\" is %zu, expected more than 2 with an \"alpha\" of the "
                                               "rotation", r->name, c->dh);
    c->rope_theta *= attn_pow(c->rope.alpha, (double)c->dh / (double)(c->dh - 2));
    c->rope.kind = ATTN_ROPE_DEFAULT;
    c->rope.factor = 0;
    return ATTN_OK;
}

const struct attn_family attn_hunyuan_v1_dense = {
    .name = "hunyuan_v1_dense", .more = stretch_theta, .keys = hunyuan_keys, .prefix = "model.", .block = "layers.",
    .buffers = attn_rope_buffers,
    .required = (const char *const[]){"hidden_size", "num_hidden_layers", "num_attention_heads", "head_dim", NULL},
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(10000, 1e-5), .V = 290943, .n_ctx = 2048, .m = 11008, .qk_norm = true, .late_norms = true},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_NORMS, LLAMA_ENDS,
             [ATTN_PART_Q_NORM] = {.path = "self_attn.query_layernorm"},
             [ATTN_PART_K_NORM] = {.path = "self_attn.key_layernorm"}}
};

/* ---- EXAONE 4: norms after the branches; where there are windows, only their layers rotate */

static const struct attn_key exaone4_keys[] = {
    COMMON_KEYS, BLOCK_KEYS, GATED_KEY("hidden_act"), WHOLE_ROPE_KEYS, WINDOW_KEY, {0}};

/* "sliding_window_pattern" is a number or letters, as "LLLG", which say nothing beside a list of layers. */
static int read_pattern(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    static const struct attn_key number = {"sliding_window_pattern", ATTN_KEY_SIZE, FIELD(window_from), NULL, NULL};
    const cJSON *pattern = attn_tree_member(root, number.name), *types = attn_tree_member(root, "layer_types");
    c->windows = c->window != 0;
    if (!c->windows || !pattern || (types && !cJSON_IsNull(types)))
        return ATTN_OK;
    return attn_key_read(r, &number, pattern);
}

const struct attn_family attn_exaone4 = {
    .name = "exaone4", .more = read_pattern, .keys = exaone4_keys, LLAMA_NAMES, .windows = ATTN_WINDOWS_BUT,
    .layer_types = true, .full_still = true,
    .defaults = &(const struct attn_config){
        LLAMA_DEFAULTS(10000, 1e-5), .V = 102400, .n_ctx = 2048, .m = 16384, .Hkv = 32, .qk_norm = true, .window = 4096,
        .window_from = 4},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_MAYBE, ATTN_BIAS_MAYBE), LLAMA_MLP(ATTN_BIAS_MAYBE), LLAMA_ENDS,
             LLAMA_HEAD_NORMS, LLAMA_POST_NORMS}
};

/* ---- nanochat: no norm has weights; the embedding has one, queries and keys after a rotation the other way round */

static const struct attn_key nanochat_keys[] = {
    SHARED_KEYS, NO_MULTIPLIER_KEYS, OFF_KEY("alibi"), OFF_KEY("attn_logit_softcapping"),
    OFF_KEY("query_pre_attn_scalar"), BLOCK_KEYS, PLAIN_KEY("hidden_act"), BIAS_KEY, WHOLE_ROPE_KEYS,
    {"final_logit_softcapping", ATTN_KEY_ABOVE, FIELD(logit_cap), NULL, NULL}, {0}
};

const struct attn_family attn_nanochat = {
    .name = "nanochat", .keys = nanochat_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){
        ROTARY_DEFAULTS(10000, 1), .norm = ATTN_NORM_RMS, .norm_eps = 1e-6, .mlp = ATTN_MLP_RELU2, .V = 50304,
        .n_ctx = 2048, .m = 8192, .plain_norms = true, .norm_embed = true, .qk_norm = true, .late_norms = true,
        .backwards = true, .logit_cap = 15},
    .part = {
        LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_NORMS, LLAMA_ENDS, LLAMA_HEAD_NORMS,
        [ATTN_PART_EMBED_NORM] = {.path = "embed_norm"},
        [ATTN_PART_MLP_IN] = {.path = "mlp.fc1", .storage = ATTN_OUT_IN},
        [ATTN_PART_MLP_OUT] = {.path = "mlp.fc2", .storage = ATTN_OUT_IN}}
};
