/* Hugging Face models made with random weights: each tensor of the family once, with the distribution its authors start from. */
#include "suites.h"
#include "attn_tools.h"

#include "made.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

#define LLAMA_SIZES "\"vocab_size\": 40, \"hidden_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, " \
                    "\"num_key_value_heads\": 2, \"intermediate_size\": 24, \"max_position_embeddings\": 16"

static const struct { const char *config; size_t tensors; const char *weight, *bias, *norm; } makes[] = {
    {"{\"model_type\": \"gpt2\", \"vocab_size\": 40, \"n_positions\": 16, \"n_embd\": 32, \"n_layer\": 2, \"n_head\": 4}", 2 + 2 * 12 + 2,
     "transformer.h.1.attn.c_attn.weight", "transformer.h.1.attn.c_attn.bias", "transformer.h.1.ln_1.weight"},
    {"{\"model_type\": \"gpt_neo\", \"vocab_size\": 40, \"max_position_embeddings\": 16, \"hidden_size\": 32, \"num_layers\": 2, "
     "\"num_heads\": 4, \"tie_word_embeddings\": false}", 2 + 2 * 13 + 2 + 1,
     "lm_head.weight", "transformer.h.0.mlp.c_fc.bias", "transformer.ln_f.weight"},
    {"{\"model_type\": \"gpt_neox\", \"vocab_size\": 40, \"max_position_embeddings\": 16, \"hidden_size\": 32, \"num_hidden_layers\": 2, "
     "\"num_attention_heads\": 4, \"intermediate_size\": 24, \"rotary_pct\": 0.5}", 1 + 2 * 12 + 2 + 1,
     "gpt_neox.layers.1.attention.query_key_value.weight", "gpt_neox.layers.1.attention.query_key_value.bias",
     "gpt_neox.final_layer_norm.weight"},
    {"{\"model_type\": \"llama\", \"attention_bias\": true, " LLAMA_SIZES "}", 1 + 2 * 13 + 1 + 1,
     "model.layers.1.mlp.gate_proj.weight", "model.layers.1.self_attn.o_proj.bias", "model.norm.weight"},
    {"{\"model_type\": \"qwen2\", \"tie_word_embeddings\": true, " LLAMA_SIZES "}", 1 + 2 * 12 + 1,
     "model.embed_tokens.weight", "model.layers.0.self_attn.k_proj.bias", "model.layers.0.input_layernorm.weight"}};
enum { MAKES = sizeof makes / sizeof *makes };

static void expect_all(const struct made_weights *w, const char *name, float x)
{
    const struct attn_st_tensor *t = made_find(w, name);
    for (size_t i = 0; i < t->count; i++)
        ck_assert(memcmp(t->data + i * sizeof x, &x, sizeof x) == 0);
}

/* Mean and deviation of at least 768 numbers, within five standard errors. */
static void expect_normal(const struct made_weights *w, const char *name)
{
    const struct attn_st_tensor *t = made_find(w, name);
    double sum = 0, square = 0, n = (double)t->count;
    for (size_t i = 0; i < t->count; i++) {
        float x;
        memcpy(&x, t->data + i * sizeof x, sizeof x);
        sum += (double)x;
        square += (double)x * (double)x;
    }
    ck_assert(n >= 768);
    ck_assert_double_le(fabs(sum / n), 5 * 0.02 / sqrt(n));
    ck_assert_double_le(fabs(sqrt(square / n) / 0.02 - 1), 5 / sqrt(2 * n));
}

START_TEST(as_the_family_has_them)
{
    struct attn_info info;
    struct attn_model *m = made_open(made_model(makes[_i].config, 7, "F32"));
    ck_assert_ptr_null(attn_model_warning(m));
    attn_model_info(m, &info);
    ck_assert_uint_eq(info.tensors, makes[_i].tensors);
    struct made_weights w = made_read(made_path("model.safetensors"));
    ck_assert_uint_eq(attn_st_count(w.st), makes[_i].tensors);
    expect_normal(&w, makes[_i].weight);
    expect_all(&w, makes[_i].bias, 0);
    expect_all(&w, makes[_i].norm, 1);
    made_close(&w);
    attn_model_close(m);
    scratch_expect(made_path("config.json"), makes[_i].config);
}
END_TEST

START_TEST(by_seed_and_type)
{
    char digest[4][80];
    static const char *const types[] = {"F32", "F32", "F32", "BF16"};
    for (int i = 0; i < 4; i++) {
        struct attn_err err = {0};
        struct attn_model *m = made_open(made_model(makes[_i].config, i == 1 ? 8 : 7, types[i]));
        ck_assert(attn_model_digest(m, true, digest[i], &err) == 0);
        attn_model_close(m);
    }
    ck_assert_str_ne(digest[0], digest[1]);
    ck_assert_str_eq(digest[0], digest[2]);
    ck_assert_str_ne(digest[0], digest[3]);
}
END_TEST

START_TEST(no_recipes)
{
    struct attn_err err = {0};
    const struct attn_init_opts o = {.config = makes[0].config, .config_len = strlen(makes[0].config), .draw = "embed:rand"};
    ck_assert_int_eq(attn_init(made_path(""), &o, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "a recipe draws attn-decoder models, not \"gpt2\""));
}
END_TEST

Suite *suite_init_family(void)
{
    Suite *s = suite_create("init_family");
    TCase *t = tcase_create("init_family");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, as_the_family_has_them, 0, MAKES);
    tcase_add_loop_test(t, by_seed_and_type, 0, MAKES);
    tcase_add_test(t, no_recipes);
    suite_add_tcase(s, t);
    return s;
}
