/* family_gpt_kin.c - GPT-2's elder and a younger relative: GPT, and GPTBigCode with one key/value head. */
#include "model/family_keys.h"

#define GPT_SIZE_KEYS \
    {"n_positions", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL}, {"n_embd", ATTN_KEY_SIZE, FIELD(d), NULL, NULL}, \
    {"n_layer", ATTN_KEY_SIZE, FIELD(L), NULL, NULL}, {"n_head", ATTN_KEY_SIZE, FIELD(H), NULL, NULL}, \
    {"layer_norm_epsilon", ATTN_KEY_REAL, FIELD(norm_eps), NULL, NULL}
#define GPT_DEFAULTS \
    DECODER_DEFAULTS, LAYER_NORM_DEFAULTS, .position = ATTN_POS_LEARNED, .mlp = ATTN_MLP_GELU_NEW, .rope_theta = 1, \
    .tied = true
#define MATRIX(name, stored, shared) {name, stored, shared, ATTN_BIAS_ALWAYS}

static const char *const gpt_sizes[] = {"n_embd", "n_layer", "n_head", NULL};

/* ---- GPT: norms after the additions, none at the end.  "n_ctx" and the like change nothing */

static const struct attn_word gpt_mlps[] = {
    {"gelu", ATTN_MLP_GELU_NEW}, {"relu", ATTN_MLP_RELU}, {"silu", ATTN_MLP_SILU}, {"swish", ATTN_MLP_SILU}, {0}};
static const struct attn_key gpt_keys[] = {
    COMMON_KEYS, GPT_SIZE_KEYS, {"afn", ATTN_KEY_CHOICE, FIELD(mlp), gpt_mlps, NULL}, {0}};

const struct attn_family attn_openai_gpt = {
    .name = "openai-gpt", .keys = gpt_keys, .prefix = "transformer.", .block = "h.", .required = gpt_sizes,
    .buffers = (const char *const[]){"attn.bias", NULL},
    .defaults = &(const struct attn_config){GPT_DEFAULTS, .V = 40478, .n_ctx = 512, .no_final = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "tokens_embed"}, [ATTN_PART_POS_EMBED] = {.path = "positions_embed"},
        [ATTN_PART_Q] = MATRIX("attn.c_attn", ATTN_IN_OUT, ATTN_BESIDE),
        [ATTN_PART_K] = MATRIX("attn.c_attn", ATTN_IN_OUT, ATTN_BESIDE),
        [ATTN_PART_V] = MATRIX("attn.c_attn", ATTN_IN_OUT, ATTN_BESIDE),
        [ATTN_PART_O] = MATRIX("attn.c_proj", ATTN_IN_OUT, ATTN_ALONE),
        [ATTN_PART_SUM1] = {.path = "ln_1"}, [ATTN_PART_SUM2] = {.path = "ln_2"},
        [ATTN_PART_MLP_IN] = MATRIX("mlp.c_fc", ATTN_IN_OUT, ATTN_ALONE),
        [ATTN_PART_MLP_OUT] = MATRIX("mlp.c_proj", ATTN_IN_OUT, ATTN_ALONE),
        [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}}
};

/* ---- GPTBigCode: matrices by outputs; one key/value head, or queries, keys and values head by head */

static const struct attn_key bigcode_keys[] = {
    COMMON_KEYS, GPT_SIZE_KEYS, {"n_inner", ATTN_KEY_MAYBE, FIELD(m), NULL, NULL}, PLAIN_KEY("activation_function"),
    FLAG_KEY("scale_attn_weights", scale), {0}
};

struct form { bool single; };
static const struct attn_key form_keys[] = {
    {"multi_query", ATTN_KEY_FLAG, offsetof(struct form, single), NULL, NULL}, {0}};

static const struct attn_family bigcode_many;

static int read_form(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    struct form form = {.single = true};
    struct attn_key_reader inner = *r;
    inner.to = &form;
    int rc = attn_keys_read(&inner, form_keys, root);
    if (form.single)
        c->Hkv = 1;
    else
        c->family = &bigcode_many;
    return rc;
}

#define BIGCODE(shared) \
    .name = "gpt_bigcode", .more = read_form, .keys = bigcode_keys, .prefix = "transformer.", .block = "h.", \
    .required = gpt_sizes, .buffers = bigcode_buffers, .defaults = &bigcode_defaults, \
    .part = { \
        [ATTN_PART_EMBED] = {.path = "wte"}, [ATTN_PART_POS_EMBED] = {.path = "wpe"}, \
        [ATTN_PART_NORM1] = {.path = "ln_1"}, [ATTN_PART_NORM2] = {.path = "ln_2"}, \
        [ATTN_PART_Q] = MATRIX("attn.c_attn", ATTN_OUT_IN, shared), \
        [ATTN_PART_K] = MATRIX("attn.c_attn", ATTN_OUT_IN, shared), \
        [ATTN_PART_V] = MATRIX("attn.c_attn", ATTN_OUT_IN, shared), \
        [ATTN_PART_O] = MATRIX("attn.c_proj", ATTN_OUT_IN, ATTN_ALONE), \
        [ATTN_PART_MLP_IN] = MATRIX("mlp.c_fc", ATTN_OUT_IN, ATTN_ALONE), \
        [ATTN_PART_MLP_OUT] = MATRIX("mlp.c_proj", ATTN_OUT_IN, ATTN_ALONE), \
        [ATTN_PART_NORM_FINAL] = {.path = "ln_f"}, \
        [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}}

static const char *const bigcode_buffers[] = {"attn.bias", "attn.masked_bias", NULL};
static const struct attn_config bigcode_defaults = {GPT_DEFAULTS, .V = 50257, .n_ctx = 1024};

const struct attn_family attn_gpt_bigcode = {BIGCODE(ATTN_BESIDE)};
static const struct attn_family bigcode_many = {BIGCODE(ATTN_GROUPED)};
