#include "family.h"

#include "say.h"

#include <inttypes.h>
#include <string.h>

const char *const family_names[] = {"gpt2", "gpt_neo", "gpt_neox", "llama", "qwen2", NULL};

/* The key a family uses for an option, and its default; 0: the key is left out. */
struct size { const char *option, *key; uint64_t value; };

#define LLAMA_SIZES { \
    {"vocab-size", "vocab_size", 512}, {"n-ctx", "max_position_embeddings", 128}, {"n-layer", "num_hidden_layers", 2}, \
    {"n-head", "num_attention_heads", 4}, {"n-kv-head", "num_key_value_heads", 2}, {"d-model", "hidden_size", 64}, \
    {"d-head", "head_dim", 0}, {"d-mlp", "intermediate_size", 176}, {NULL, NULL, 0}}

/* In the order of family_names. */
static const struct family { const char *model_class, *rest; struct size size[9]; } families[] = {
    {"GPT2LMHeadModel", "\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05", {
        {"vocab-size", "vocab_size", 50257}, {"n-ctx", "n_positions", 1024}, {"n-layer", "n_layer", 12},
        {"n-head", "n_head", 12}, {"d-model", "n_embd", 768}, {"d-mlp", "n_inner", 0}, {NULL, NULL, 0}}},
    {"GPTNeoForCausalLM", "\"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05, \"window_size\": 32", {
        {"vocab-size", "vocab_size", 512}, {"n-ctx", "max_position_embeddings", 128}, {"n-layer", "num_layers", 2},
        {"n-head", "num_heads", 4}, {"d-model", "hidden_size", 64}, {"d-mlp", "intermediate_size", 0}, {NULL, NULL, 0}}},
    {"GPTNeoXForCausalLM", "\"hidden_act\": \"gelu\", \"layer_norm_eps\": 1e-05, \"rotary_pct\": 0.25", {
        {"vocab-size", "vocab_size", 512}, {"n-ctx", "max_position_embeddings", 128}, {"n-layer", "num_hidden_layers", 2},
        {"n-head", "num_attention_heads", 4}, {"d-model", "hidden_size", 64}, {"d-mlp", "intermediate_size", 256},
        {NULL, NULL, 0}}},
    {"LlamaForCausalLM", "\"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-06", LLAMA_SIZES},
    {"Qwen2ForCausalLM", "\"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-06", LLAMA_SIZES},
};

static const struct size *size_of(const struct family *fam, const char *option)
{
    const struct size *s = fam->size;
    while (s->option && strcmp(s->option, option) != 0)
        s++;
    return s->option ? s : NULL;
}

static const struct option *row_of(const struct option *rows, const char *name)
{
    while (strcmp(rows->name, name) != 0)
        rows++;
    return rows;
}

static bool is_tied(const struct option *row)
{
    return strcmp(row->name, "tied") == 0;
}

static int check_rows(const struct family *fam, const char *name, const struct option *rows, struct attn_err *err)
{
    for (const struct option *row = rows; row->name; row++)
        if (option_given(row) && !is_tied(row) && !size_of(fam, row->name))
            return fail(err, ATTN_EUSAGE, "--%s does not go with --family %s: write a config.json and give it with --config",
                        row->name, name);
    return ATTN_OK;
}

int family_write(FILE *f, const char *family, const struct option *rows, size_t vocab_size, struct attn_err *err)
{
    size_t i = 0;
    while (strcmp(family_names[i], family) != 0)
        i++;
    const struct family *fam = &families[i];
    int code = check_rows(fam, family, rows, err);
    if (code)
        return code;
    fprintf(f, "{\"model_type\": \"%s\", \"architectures\": [\"%s\"],\n %s", family, fam->model_class, fam->rest);
    for (const struct size *s = fam->size; s->option; s++) {
        const struct option *row = row_of(rows, s->option);
        uint64_t n = option_given(row) ? ((const struct number *)row->to)->n : s->value;
        if (vocab_size && s == fam->size && !option_given(row))
            n = vocab_size;
        if (option_given(row) || n)
            fprintf(f, ",\n \"%s\": %" PRIu64, s->key, n);
    }
    const char *tied = option_given(row_of(rows, "tied"));
    if (tied)
        fprintf(f, ",\n \"tie_word_embeddings\": %s", tied);
    fputs("}\n", f);
    return ATTN_OK;
}
