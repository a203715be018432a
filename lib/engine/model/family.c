/* family.c - the list of families, and our own format. */
#include "model/family_keys.h"

#include <string.h>

#include "attn_tools.h"

static const struct attn_word tokenizers[] = {{"word", ATTN_RULE_WORD}, {"bpe", ATTN_RULE_BPE},
                                              {"char", ATTN_RULE_CHAR}, {0}};

/* ---- our own format -------------------------------------------------------------------- */

static const struct attn_word native_types[] = {{"attn-decoder", 0}, {0}};
static const struct attn_word positions[] = {{"none", ATTN_POS_NONE}, {"learned", ATTN_POS_LEARNED},
                                             {"rope", ATTN_POS_ROPE}, {0}};
static const struct attn_word more_positions[] = {{"alibi", ATTN_POS_ALIBI}, {"sinusoid", ATTN_POS_SINUSOID}, {0}};
static const struct attn_word norms[] = {{"none", ATTN_NORM_NONE}, {"layernorm", ATTN_NORM_LAYER},
                                         {"rmsnorm", ATTN_NORM_RMS}, {0}};
#define OWN_WORD(name, id) {name, id},
#define THEIRS_WORD(name, id)
#define MLP_WORD(id, op, name, whose, ...) whose##_WORD(name, ATTN_MLP_##id)
static const struct attn_word mlps[] = {{"none", ATTN_MLP_NONE}, ATTN_MLPS(MLP_WORD, MLP_WORD) {0}};
static const struct attn_word masks[] = {{"none", 0}, {"causal", 1}, {0}};
static const struct attn_word scales[] = {{"none", 0}, {"sqrt", 1}, {0}};

static const struct attn_key tokenizer_keys[] = {
    {"type", ATTN_KEY_CHOICE, FIELD(tokenizer.kind), tokenizers, NULL},
    {"drop", ATTN_KEY_TEXT, FIELD(tokenizer.drop), NULL, NULL},
    {"lowercase", ATTN_KEY_FLAG, FIELD(tokenizer.lowercase), NULL, NULL},
    {"unknown", ATTN_KEY_NAME, FIELD(tokenizer.unknown), NULL, NULL},
    {0}
};

static const struct attn_key native_keys[] = {
    {"model_type", ATTN_KEY_FIXED, 0, native_types, NULL},
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
    {"norm_weight", ATTN_KEY_UNLESS, FIELD(plain_norms), NULL, NULL},
    {"norm_embed", ATTN_KEY_WHERE, FIELD(norm_embed), NULL, NULL},
    {"final_norm", ATTN_KEY_UNLESS, FIELD(no_final), NULL, NULL},
    {"mlp", ATTN_KEY_CHOICE, FIELD(mlp), mlps, NULL},
    {"mask", ATTN_KEY_EITHER, FIELD(causal), masks, NULL},
    {"scale", ATTN_KEY_EITHER, FIELD(scale), scales, NULL},
    {"residual", ATTN_KEY_FLAG, FIELD(residual), NULL, NULL},
    {"output_projection", ATTN_KEY_FLAG, FIELD(output_projection), NULL, NULL},
    {"bias", ATTN_KEY_FLAG, FIELD(bias), NULL, NULL},
    {"tied", ATTN_KEY_FLAG, FIELD(tied), NULL, NULL},
    {"unembed", ATTN_KEY_FLAG, FIELD(unembed), NULL, NULL},
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL},
    {"eos_token_id", ATTN_KEY_ID, FIELD(end), NULL, NULL},
    {"tokenizer", ATTN_KEY_SECTION, 0, NULL, tokenizer_keys},
    {0}
};

static const struct attn_family native = {
    .name = "attn-decoder", .native = true, .keys = native_keys, .prefix = "", .block = "blocks.",
    .required = (const char *const[]){"vocab_size", "n_ctx", "n_layer", "n_head", "d_model", NULL},
    .defaults = &(const struct attn_config){
        .norm_eps = 1e-5, .rope_theta = 10000, .causal = true, .scale = true, .tied = true, .rotary_share = 1},
    .part = {
        [ATTN_PART_EMBED] = {.path = "embed"}, [ATTN_PART_EMBED_NORM] = {.path = "norm_embed"},
        [ATTN_PART_POS_EMBED] = {.path = "pos_embed"}, [ATTN_PART_NORM1] = {.path = "norm1"},
        [ATTN_PART_Q] = {.path = "attn.q"}, [ATTN_PART_K] = {.path = "attn.k"}, [ATTN_PART_V] = {.path = "attn.v"},
        [ATTN_PART_O] = {.path = "attn.o"}, [ATTN_PART_NORM2] = {.path = "norm2"},
        [ATTN_PART_MLP_GATE] = {.path = "mlp.gate"}, [ATTN_PART_MLP_IN] = {.path = "mlp.in"},
        [ATTN_PART_MLP_OUT] = {.path = "mlp.out"},
        [ATTN_PART_NORM_FINAL] = {.path = "norm_final"}, [ATTN_PART_UNEMBED] = {.path = "unembed"}},
    .buffers = (const char *const[]){NULL}
};

/* ---- all families ---------------------------------------------------------------------- */

/* A new one is attn_NAME, in a file of its own or beside its relatives, and its name here. */
#define FAMILIES(each) \
    each(gpt2) each(nanogpt) each(gpt_neo) each(gpt_neox) each(llama) each(mistral) each(qwen2) each(qwen3) \
    each(gemma) each(gemma2) each(gemma3_text) each(phi) each(phi3) each(olmo2) each(smollm3) each(granite) \
    each(stablelm) each(starcoder2) each(gptj) each(opt) each(bloom) each(falcon) each(mpt) each(xglm) \
    each(openai_gpt) each(gpt_bigcode) each(codegen) each(olmo) each(olmo3) each(cohere) each(cohere2) \
    each(ernie4_5) each(helium) each(hunyuan_v1_dense) each(exaone4) each(nanochat) each(gemma3)
#define DECLARE(name) extern const struct attn_family attn_##name;
#define ADDRESS(name) &attn_##name,
FAMILIES(DECLARE)
const struct attn_family *const attn_families[] = {&native, FAMILIES(ADDRESS) NULL};

/* Scalings of rotary positions, and activation functions, in Hugging Face's files. */
const struct attn_word attn_rope_kinds[] = {
    {"default", ATTN_ROPE_DEFAULT}, {"linear", ATTN_ROPE_LINEAR}, {"llama3", ATTN_ROPE_LLAMA3},
    {"yarn", ATTN_ROPE_YARN},
    {"dynamic", ATTN_ROPE_DYNAMIC}, {"longrope", ATTN_ROPE_LONGROPE}, {0}};
const struct attn_word attn_plain_mlps[] = {
    {"gelu_new", ATTN_MLP_GELU_NEW}, {"gelu", ATTN_MLP_GELU}, {"gelu_pytorch_tanh", ATTN_MLP_GELU_NEW},
    {"gelu_fast", ATTN_MLP_GELU_NEW}, {"gelu_python", ATTN_MLP_GELU}, {"relu", ATTN_MLP_RELU},
    {"relu2", ATTN_MLP_RELU2}, {0}};
const struct attn_word attn_gated_mlps[] = {
    {"silu", ATTN_MLP_SWIGLU}, {"swish", ATTN_MLP_SWIGLU}, {"gelu_pytorch_tanh", ATTN_MLP_GEGLU_NEW},
    {"gelu", ATTN_MLP_GEGLU},
    {"gelu_new", ATTN_MLP_GEGLU_NEW}, {"gelu_fast", ATTN_MLP_GEGLU_NEW}, {"gelu_python", ATTN_MLP_GEGLU}, {0}};

const char *attn_position_name(enum attn_position p)
{
    return attn_word_of(p >= ATTN_POS_ALIBI ? more_positions : positions, p);
}

const char *attn_norm_name(enum attn_norm_kind n) { return attn_word_of(norms, n); }

enum { THEIRS, OWN };
#define PLAIN_ROW(id, op, name, whose, note) {name, note, false, whose},
#define GATED_ROW(id, op, name, whose, note) {name, note, true, whose},
static const struct attn_mlp_row mlp_rows[] = {     /* by enum attn_mlp_kind */
    {"none", NULL, false, OWN}, ATTN_MLPS(PLAIN_ROW, GATED_ROW)};

const char *attn_mlp_name(enum attn_mlp_kind m) { return mlp_rows[m].name; }

const struct attn_mlp_row *attn_mlp_next(const struct attn_mlp_row *m)
{
    m = m ? m + 1 : mlp_rows;
    return m < mlp_rows + sizeof mlp_rows / sizeof *mlp_rows ? m : NULL;
}

const struct attn_mlp_row *attn_mlp_find(const char *name)
{
    const struct attn_mlp_row *m = NULL;
    while ((m = attn_mlp_next(m)) && strcmp(m->name, name) != 0)
        ;
    return m;
}
