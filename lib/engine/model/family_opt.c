/* family_opt.c - OPT: learned positions from row 2 of their table, and norms before each branch or after each
 * addition; and XGLM, whose positions are computed. */
#include "model/family_keys.h"

static const struct attn_key opt_keys[] = {
    COMMON_KEYS,
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"hidden_size", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"num_hidden_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"num_attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"ffn_dim", ATTN_KEY_SIZE, FIELD(m), NULL, NULL},
    {"word_embed_proj_dim", ATTN_KEY_MAYBE, FIELD(d_embed), NULL, NULL},
    PLAIN_KEY("activation_function"),
    FLAG_KEY("enable_bias", attention_bias), FLAG_KEY("_remove_final_layer_norm", no_final),
    {0}
};

/* Keys that say which of the two forms it is. */
struct form { bool before, weighted; };
static const struct attn_key form_keys[] = {
    {"do_layer_norm_before", ATTN_KEY_FLAG, offsetof(struct form, before), NULL, NULL},
    {"layer_norm_elementwise_affine", ATTN_KEY_FLAG, offsetof(struct form, weighted), NULL, NULL},
    {0}
};

static const struct attn_family opt_after;

static int read_opt(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root)
{
    struct form form = {.before = true, .weighted = true};
    struct attn_key_reader inner = *r;
    inner.to = &form;
    int rc = attn_keys_read(&inner, form_keys, root);
    c->mlp_bias = c->attention_bias;
    c->plain_norms = !form.weighted;
    c->no_final |= !form.before;
    if (!form.before)
        c->family = &opt_after;
    return rc;
}

#define OPT \
    .name = "opt", .more = read_opt, .keys = opt_keys, .prefix = "model.", .block = "decoder.layers.", \
        .pos_offset = 2, \
    .buffers = opt_buffers, .required = attn_size_names, .defaults = &opt_defaults
#define OPT_PARTS \
        [ATTN_PART_EMBED] = {.path = "decoder.embed_tokens"}, \
            [ATTN_PART_POS_EMBED] = {.path = "decoder.embed_positions"}, \
        [ATTN_PART_PROJECT_IN] = {.path = "decoder.project_in", .storage = ATTN_OUT_IN}, \
        [ATTN_PART_PROJECT_OUT] = {.path = "decoder.project_out", .storage = ATTN_OUT_IN}, \
        [ATTN_PART_Q] = {"self_attn.q_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_K] = {"self_attn.k_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_V] = {"self_attn.v_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_O] = {"self_attn.out_proj", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_MLP_IN] = {"fc1", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_MLP_OUT] = {"fc2", ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ASKED}, \
        [ATTN_PART_NORM_FINAL] = {.path = "decoder.final_layer_norm"}, \
        [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}

static const char *const opt_buffers[] = {NULL};
static const struct attn_config opt_defaults = {
    DECODER_DEFAULTS, LAYER_NORM_DEFAULTS, .V = 50272, .n_ctx = 2048, .m = 3072, .position = ATTN_POS_LEARNED,
    .rope_theta = 1,
    .mlp = ATTN_MLP_RELU, .tied = true, .attention_bias = true};

const struct attn_family attn_opt = {
    OPT, .part = {OPT_PARTS, [ATTN_PART_NORM1] = {.path = "self_attn_layer_norm"},
                  [ATTN_PART_NORM2] = {.path = "final_layer_norm"}}
};

static const struct attn_family opt_after = {
    OPT, .part = {OPT_PARTS, [ATTN_PART_SUM1] = {.path = "self_attn_layer_norm"},
                  [ATTN_PART_SUM2] = {.path = "final_layer_norm"}}
};

/* ---- XGLM ------------------------------------------------------------------------------ */

static const struct attn_key xglm_keys[] = {
    COMMON_KEYS,
    {"max_position_embeddings", ATTN_KEY_SIZE, FIELD(n_ctx), NULL, NULL},
    {"d_model", ATTN_KEY_SIZE, FIELD(d), NULL, NULL},
    {"num_layers", ATTN_KEY_SIZE, FIELD(L), NULL, NULL},
    {"attention_heads", ATTN_KEY_SIZE, FIELD(H), NULL, NULL},
    {"ffn_dim", ATTN_KEY_SIZE, FIELD(m), NULL, NULL},
    FLAG_KEY("scale_embedding", embed_by_root), PLAIN_KEY("activation_function"), {0}
};

#define MATRIX(name) {name, ATTN_OUT_IN, ATTN_ALONE, ATTN_BIAS_ALWAYS}

const struct attn_family attn_xglm = {
    .name = "xglm", .keys = xglm_keys, .prefix = "model.", .block = "layers.",
    .required = (const char *const[]){"d_model", "num_layers", "attention_heads", NULL},
    .buffers = (const char *const[]){"embed_positions.weights", NULL},
    .defaults = &(const struct attn_config){
        DECODER_DEFAULTS, LAYER_NORM_DEFAULTS, .V = 256008, .n_ctx = 2048, .m = 4096, .position = ATTN_POS_SINUSOID,
        .rope_theta = 1, .mlp = ATTN_MLP_GELU, .tied = true, .embed_by_root = true},
    .part = {
        [ATTN_PART_EMBED] = {.path = "embed_tokens"}, [ATTN_PART_NORM1] = {.path = "self_attn_layer_norm"},
        [ATTN_PART_Q] = MATRIX("self_attn.q_proj"), [ATTN_PART_K] = MATRIX("self_attn.k_proj"),
        [ATTN_PART_V] = MATRIX("self_attn.v_proj"), [ATTN_PART_O] = MATRIX("self_attn.out_proj"),
        [ATTN_PART_NORM2] = {.path = "final_layer_norm"}, [ATTN_PART_MLP_IN] = MATRIX("fc1"),
        [ATTN_PART_MLP_OUT] = MATRIX("fc2"), [ATTN_PART_NORM_FINAL] = {.path = "layer_norm"},
        [ATTN_PART_UNEMBED] = {.path = "lm_head", .storage = ATTN_OUT_IN}}
};
