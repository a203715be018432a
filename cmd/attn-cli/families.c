/* families.c - which config.json does a new model of a family get?
 *
 * One with the keys that its own library writes, small sizes, and what makes the family what it is: windows that a
 * short text already exceeds, layers of both kinds, multipliers other than 1. */
#include "families.h"

#include "base/err.h"

#include <inttypes.h>
#include <string.h>

/* The key a family uses for an option, and its default; 0: the key is left out.  SHARE: d_model over n_head, for
 * families that take another number where the key is absent.  TWO: 2, or with an odd number of heads one for each. */
struct size { const char *option, *key; uint64_t value; };
#define SHARE UINT64_MAX
#define TWO (UINT64_MAX - 1)

#define VOCAB {"vocab-size", "vocab_size", 512}
#define CONTEXT {"n-ctx", "max_position_embeddings", 128}
#define BLOCKS {"n-layer", "num_hidden_layers", 2}, {"n-head", "num_attention_heads", 4}
#define GROUPS {"n-kv-head", "num_key_value_heads", TWO}
#define WIDTH {"d-model", "hidden_size", 64}
#define HEAD(n) {"d-head", "head_dim", n}
#define MLP(n) {"d-mlp", "intermediate_size", n}
#define LLAMA_SIZES {VOCAB, CONTEXT, BLOCKS, GROUPS, WIDTH, HEAD(0), MLP(176)}
#define WIDE_SIZES {VOCAB, CONTEXT, BLOCKS, GROUPS, WIDTH, HEAD(SHARE), MLP(176)}
#define PLAIN_SIZES {VOCAB, CONTEXT, BLOCKS, GROUPS, WIDTH, HEAD(0), MLP(256)}

#define SILU "\"hidden_act\": \"silu\""
#define RMS(eps) "\"rms_norm_eps\": " eps
#define THETA(x) "\"rope_theta\": " x
#define TANH "\"gelu_pytorch_tanh\""
#define GEMMA2 "\"hidden_act\": " TANH ", \"hidden_activation\": " TANH ", " RMS("1e-06") \
    ", \"query_pre_attn_scalar\": 16, \"sliding_window\": 32"

#define GPT_SIZES {"n-layer", "n_layer", 2}, {"n-head", "n_head", 4}, {"d-model", "n_embd", 64}
#define NO_PAD "\"pad_token_id\": null"

enum { SIZES = 9 };

/* The families that --family can write; note: for its help; rest: keys that no option changes, perhaps the beginning of
 * a section that holds all others, too.  "pad_token_id" is there if the family's library would otherwise take a token
 * that a small vocabulary does not have. */
static const struct family { const char *name, *note, *model_class, *rest; struct size size[SIZES]; } families[] = {
    {"gpt2", "124M numbers unless the sizes below say otherwise", "GPT2LMHeadModel",
     "\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05", {
        {"vocab-size", "vocab_size", 50257}, {"n-ctx", "n_positions", 1024}, {"n-layer", "n_layer", 12},
        {"n-head", "n_head", 12}, {"d-model", "n_embd", 768}, {"d-mlp", "n_inner", 0}}},
    {"nanogpt", NULL, "GPT", "\"activation_function\": \"gelu\", \"bias\": true, \"tie_word_embeddings\": true", {
        VOCAB, {"n-ctx", "block_size", 128}, {"n-layer", "n_layer", 2}, {"n-head", "n_head", 4},
        {"d-model", "n_embd", 64}, {"d-mlp", "n_inner", 0}}},
    {"gpt_neo", NULL, "GPTNeoForCausalLM",
     "\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05, \"window_size\": 32", {
        VOCAB, CONTEXT, {"n-layer", "num_layers", 2}, {"n-head", "num_heads", 4}, WIDTH, MLP(0)}},
    {"gpt_neox", NULL, "GPTNeoXForCausalLM",
     "\"hidden_act\": \"gelu\", \"layer_norm_eps\": 1e-05, \"rotary_pct\": 0.25",
     {VOCAB, CONTEXT, BLOCKS, WIDTH, MLP(256)}},
    {"gptj", NULL, "GPTJForCausalLM",
     "\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05, \"rotary_dim\": 8, "
     "\"tie_word_embeddings\": false", {
        VOCAB, {"n-ctx", "n_positions", 128}, {"n-layer", "n_layer", 2}, {"n-head", "n_head", 4},
        {"d-model", "n_embd", 64}, {"d-mlp", "n_inner", 0}}},
    {"llama", NULL, "LlamaForCausalLM", SILU ", " RMS("1e-06"), LLAMA_SIZES},
    {"mistral", NULL,
     "MistralForCausalLM", SILU ", " RMS("1e-05") ", " THETA("10000.0") ", \"sliding_window\": 32", LLAMA_SIZES},
    {"qwen2", NULL, "Qwen2ForCausalLM", SILU ", " RMS("1e-06"), LLAMA_SIZES},
    {"qwen3", NULL,
     "Qwen3ForCausalLM", SILU ", " RMS("1e-06") ", " THETA("1000000.0") ", \"attention_bias\": false", WIDE_SIZES},
    {"gemma", NULL, "GemmaForCausalLM",
     "\"hidden_act\": " TANH ", \"hidden_activation\": " TANH ", " RMS("1e-06") ", " THETA("10000.0"), WIDE_SIZES},
    {"gemma2", NULL, "Gemma2ForCausalLM",
     GEMMA2 ", " THETA("10000.0") ",\n \"attn_logit_softcapping\": 50.0, \"final_logit_softcapping\": 30.0",
     WIDE_SIZES},
    {"gemma3_text", NULL, "Gemma3ForCausalLM",
     GEMMA2 ", " THETA("1000000.0") ",\n \"rope_local_base_freq\": 10000.0, \"sliding_window_pattern\": 2", WIDE_SIZES},
    {"phi", NULL, "PhiForCausalLM",
     "\"hidden_act\": \"gelu_new\", \"layer_norm_eps\": 1e-05, \"partial_rotary_factor\": 0.5, \"qk_layernorm\": false",
     {VOCAB, CONTEXT, BLOCKS, {"n-kv-head", "num_key_value_heads", 0}, WIDTH, MLP(256)}},
    {"phi3", NULL, "Phi3ForCausalLM",
     SILU ", " RMS("1e-05") ", " THETA("10000.0") ", \"partial_rotary_factor\": 1.0, \"sliding_window\": 32, "
     "\"pad_token_id\": null",
     {VOCAB, CONTEXT, BLOCKS, GROUPS, WIDTH, MLP(176)}},
    {"olmo2", NULL, "Olmo2ForCausalLM",
     SILU ", " RMS("1e-06") ", " THETA("500000.0") ", \"attention_bias\": false, \"pad_token_id\": null", {
        VOCAB, CONTEXT, BLOCKS, {"n-kv-head", "num_key_value_heads", 0}, WIDTH, HEAD(0), MLP(176)}},
    {"smollm3", NULL, "SmolLM3ForCausalLM",
     SILU ", " RMS("1e-06") ", " THETA("5000000.0") ", \"no_rope_layer_interval\": 2, \"use_sliding_window\": false,\n "
     "\"pad_token_id\": null", LLAMA_SIZES},
    {"granite", NULL, "GraniteForCausalLM",
     SILU ", " RMS("1e-05") ", " THETA("10000.0") ", \"attention_multiplier\": 0.0625, "
     "\"embedding_multiplier\": 12.0,\n \"residual_multiplier\": 0.22, \"logits_scaling\": 8.0, "
     "\"tie_word_embeddings\": true", LLAMA_SIZES},
    {"stablelm", NULL, "StableLmForCausalLM",
     SILU ", \"layer_norm_eps\": 1e-05, " THETA("10000.0") ", \"partial_rotary_factor\": 0.25, "
     "\"use_qkv_bias\": true,\n \"qk_layernorm\": false, \"use_parallel_residual\": false",
     {VOCAB, CONTEXT, BLOCKS, GROUPS, WIDTH, MLP(176)}},
    {"starcoder2", NULL, "Starcoder2ForCausalLM",
     "\"hidden_act\": " TANH ", \"norm_epsilon\": 1e-05, " THETA("100000.0") ", \"use_bias\": true, "
     "\"sliding_window\": 32", PLAIN_SIZES},
    {"opt", NULL, "OPTForCausalLM",
     "\"activation_function\": \"relu\", \"do_layer_norm_before\": true, \"enable_bias\": true", {
        VOCAB, CONTEXT, BLOCKS, WIDTH, {"d-mlp", "ffn_dim", 256}}},
    {"bloom", NULL, "BloomForCausalLM",
     "\"layer_norm_epsilon\": 1e-05, \"apply_residual_connection_post_layernorm\": false", {
        VOCAB, {"n-ctx", "seq_length", 128}, {"n-layer", "n_layer", 2}, {"n-head", "n_head", 4}, WIDTH}},
    {"falcon", NULL, "FalconForCausalLM",
     "\"activation\": \"gelu\", \"layer_norm_epsilon\": 1e-05, " THETA("10000.0") ", \"alibi\": false, "
     "\"bias\": false,\n \"multi_query\": true, \"new_decoder_architecture\": true, \"parallel_attn\": true", {
        VOCAB, CONTEXT, BLOCKS, {"n-kv-head", "num_kv_heads", TWO}, WIDTH, {"d-mlp", "ffn_hidden_size", 256}}},
    {"mpt", NULL, "MptForCausalLM",
     "\"layer_norm_epsilon\": 1e-05, \"no_bias\": true, \"attn_config\": {\"alibi\": true, \"alibi_bias_max\": 8, "
     "\"clip_qkv\": null, \"qk_ln\": false, \"softmax_scale\": null}", {
        VOCAB, {"n-ctx", "max_seq_len", 128}, {"n-layer", "n_layers", 2}, {"n-head", "n_heads", 4},
        {"d-model", "d_model", 64}}},
    {"xglm", NULL, "XGLMForCausalLM", "\"activation_function\": \"gelu\", \"scale_embedding\": true, " NO_PAD, {
        VOCAB, CONTEXT, {"n-layer", "num_layers", 2}, {"n-head", "attention_heads", 4}, {"d-model", "d_model", 64},
        {"d-mlp", "ffn_dim", 256}}},
    {"openai-gpt", NULL, "OpenAIGPTLMHeadModel", "\"afn\": \"gelu\", \"layer_norm_epsilon\": 1e-05", {
        VOCAB, {"n-ctx", "n_positions", 128}, GPT_SIZES}},
    {"gpt_bigcode", NULL, "GPTBigCodeForCausalLM",
     "\"activation_function\": " TANH ", \"layer_norm_epsilon\": 1e-05, \"multi_query\": true", {
        VOCAB, {"n-ctx", "n_positions", 128}, GPT_SIZES, {"d-mlp", "n_inner", 0}}},
    {"codegen", NULL, "CodeGenForCausalLM",
     "\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05, \"rotary_dim\": 8, "
     "\"tie_word_embeddings\": false", {
        VOCAB, {"n-ctx", "n_positions", 128}, GPT_SIZES, {"d-mlp", "n_inner", 0}}},
    {"olmo", NULL, "OlmoForCausalLM",
     SILU ", " THETA("10000.0") ", \"attention_bias\": false, \"clip_qkv\": 8.0, " NO_PAD, {
        VOCAB, CONTEXT, BLOCKS, {"n-kv-head", "num_key_value_heads", 0}, WIDTH, MLP(176)}},
    {"olmo3", NULL, "Olmo3ForCausalLM",
     SILU ", " RMS("1e-06") ", " THETA("500000.0") ", \"attention_bias\": false, \"sliding_window\": 32, " NO_PAD, {
        VOCAB, CONTEXT, BLOCKS, {"n-kv-head", "num_key_value_heads", 0}, WIDTH, HEAD(0), MLP(176)}},
    {"cohere", NULL, "CohereForCausalLM",
     SILU ", \"layer_norm_eps\": 1e-05, " THETA("10000.0") ", \"logit_scale\": 0.25, \"use_qk_norm\": true, " NO_PAD,
     {VOCAB, CONTEXT, BLOCKS, GROUPS, WIDTH, MLP(176)}},
    {"cohere2", NULL, "Cohere2ForCausalLM",
     SILU ", \"layer_norm_eps\": 1e-05, " THETA("50000.0") ", \"logit_scale\": 0.25, \"sliding_window\": 32,\n "
     "\"sliding_window_pattern\": 2, " NO_PAD, {VOCAB, CONTEXT, BLOCKS, GROUPS, WIDTH, MLP(176)}},
    {"ernie4_5", NULL, "Ernie4_5ForCausalLM",
     SILU ", " RMS("1e-05") ", " THETA("500000.0") ", \"use_bias\": false, " NO_PAD, WIDE_SIZES},
    {"helium", NULL, "HeliumForCausalLM",
     SILU ", " RMS("1e-08") ", " THETA("100000.0") ", \"attention_bias\": false, \"mlp_bias\": false, " NO_PAD,
     WIDE_SIZES},
    {"hunyuan_v1_dense", NULL, "HunYuanDenseV1ForCausalLM",
     SILU ", " RMS("1e-05") ", " THETA("10000.0") ", \"attention_bias\": false, " NO_PAD, WIDE_SIZES},
    {"exaone4", NULL, "Exaone4ForCausalLM",
     SILU ", " RMS("1e-05") ", " THETA("1000000.0") ", \"sliding_window\": 32, \"sliding_window_pattern\": 2, " NO_PAD,
     LLAMA_SIZES},
    {"nanochat", NULL, "NanoChatForCausalLM",
     "\"hidden_act\": \"relu2\", " RMS("1e-06") ", \"attention_bias\": false, \"final_logit_softcapping\": 15.0,\n "
     "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0}, " NO_PAD, PLAIN_SIZES},
    {"gemma3", "the texts' part of a model that also sees pictures", "Gemma3ForConditionalGeneration",
     "\"text_config\": {" GEMMA2 ", " THETA("1000000.0") ",\n \"rope_local_base_freq\": 10000.0, "
     "\"sliding_window_pattern\": 2", WIDE_SIZES},
};

enum { FAMILIES = sizeof families / sizeof *families };

const char *family_choice(size_t i)
{
    return i < FAMILIES ? families[i].name : NULL;
}

void family_list(char *out, size_t size)
{
    struct pair list[FAMILIES + 1] = {{NULL, NULL}};
    for (size_t i = 0; i < FAMILIES; i++)
        list[i] = (struct pair){families[i].name, families[i].note};
    list_terms(out, size, list, " or ");
}

/* ---- writing one ------------------------------------------------------------------------- */

static const struct size *size_of(const struct family *fam, const char *option)
{
    const struct size *s = fam->size;
    while (s->option && strcmp(s->option, option) != 0)
        s++;
    return s->option ? s : NULL;
}

/* A row that was given; NULL: it was not, or the command has none of this name. */
static const struct option *given_row(const struct option *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0)
        rows++;
    return rows->name && option_given(rows) ? rows : NULL;
}

static int check_rows(const struct family *fam, const struct option *rows, struct attn_err *err)
{
    for (const struct option *row = rows; row->name; row++)
        if (option_given(row) && strcmp(row->name, "tied") != 0 && !size_of(fam, row->name))
            return attn_fail(err, ATTN_EUSAGE,
                             "--%s does not go with --family %s: write a config.json and give it with --config",
                             row->name, fam->name);
    return ATTN_OK;
}

static uint64_t value_of(const struct family *fam, const struct size *s, const struct option *rows, size_t vocab_size)
{
    const struct option *row = given_row(rows, s->option);
    if (row)
        return ((const struct number *)row->to)->n;
    if (s == fam->size && vocab_size)
        return vocab_size;
    if (s->value < TWO)
        return s->value;
    uint64_t heads = value_of(fam, size_of(fam, "n-head"), rows, 0),
    width = value_of(fam, size_of(fam, "d-model"), rows, 0);
    if (s->value == TWO)
        return heads % 2 ? heads : 2;
    return heads && heads <= width ? width / heads : 1;
}

/* How many objects a text begins and does not end; no string in it has a brace. */
static int open_objects(const char *json)
{
    int n = 0;
    for (; *json; json++)
        n += (*json == '{') - (*json == '}');
    return n;
}

int family_write(FILE *f, const char *family, const struct option *rows, size_t vocab_size, struct attn_err *err)
{
    const struct family *fam = families;
    while (strcmp(fam->name, family) != 0)
        fam++;
    int code = check_rows(fam, rows, err);
    if (code)
        return code;
    fprintf(f, "{\"model_type\": \"%s\", \"architectures\": [\"%s\"],\n %s", family, fam->model_class, fam->rest);
    for (const struct size *s = fam->size; s->option; s++) {
        uint64_t n = value_of(fam, s, rows, vocab_size);
        if (n || given_row(rows, s->option))
            fprintf(f, ",\n \"%s\": %" PRIu64, s->key, n);
    }
    const struct option *tied = given_row(rows, "tied");
    if (tied)
        fprintf(f, ",\n \"tie_word_embeddings\": %s", option_given(tied));
    for (int open = open_objects(fam->rest); open >= 0; open--)
        fputc('}', f);
    fputc('\n', f);
    return ATTN_OK;
}
