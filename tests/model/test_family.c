/* What the configurations of Hugging Face families are read as. */
#include "suites.h"

#include "corpus.h"

#include "model/family.h"
#include "model/rope.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct attn_config read_config(const char *file)
{
    char path[128];
    struct attn_config c = {0};
    struct attn_err err = {0};
    size_t len;
    snprintf(path, sizeof path, "tests/corpus/config/%s", file);
    char *text = corpus_slurp(path, &len);
    ck_assert_msg(attn_config_read(&c, text, len, path, &err) == ATTN_OK, "%s", err.msg);
    free(text);
    return c;
}

START_TEST(gpt2)
{
    struct attn_config c = read_config("y_gpt2.json");
    ck_assert_str_eq(c.family->name, "gpt2");
    ck_assert(c.V == 97 && c.n_ctx == 32 && c.L == 2 && c.H == 2 && c.Hkv == 2 && c.d == 16 && c.dh == 8 && c.m == 64);
    ck_assert(c.position == ATTN_POS_LEARNED && c.norm == ATTN_NORM_LAYER && c.mlp == ATTN_MLP_GELU_NEW &&
              c.norm_eps == 1e-5);
    ck_assert(c.causal && c.scale && !c.scale_by_layer && c.residual && !c.parallel && c.output_projection &&
              c.tied && c.unembed);
    ck_assert(c.n_eos == 1 && c.eos[0] == 96);
    attn_config_free(&c);
    c = read_config("y_gpt2_least.json");
    ck_assert(c.V == 50257 && c.n_ctx == 1024);
    attn_config_free(&c);
    c = read_config("y_gpt2_old.json");
    ck_assert(c.n_ctx == 48 && !c.scale && c.scale_by_layer && c.n_eos == 2 && c.eos[1] == 7);
    attn_config_free(&c);
}
END_TEST

START_TEST(gpt_neo)
{
    struct attn_config c = read_config("y_gpt_neo.json");
    ck_assert(c.m == 128 && c.window == 5 && !c.scale && c.tied && memcmp(c.local, "\0\1\0\1", 4) == 0);
    attn_config_free(&c);
    c = read_config("y_gpt_neo_layers.json");
    ck_assert(memcmp(c.local, "\1\1\0\1", 4) == 0);
    attn_config_free(&c);
}
END_TEST

START_TEST(gpt_neox)
{
    struct attn_config c = read_config("y_gpt_neox.json");
    ck_assert(c.rotary == 8 && c.dh == 32 && !c.parallel && !c.attention_bias && !c.tied && c.mlp == ATTN_MLP_GELU);
    attn_config_free(&c);
    c = read_config("y_gpt_neox_least.json");
    ck_assert(c.V == 50432 && c.n_ctx == 2048 && c.m == 24576 && c.rotary == 8 && c.parallel && c.attention_bias);
    attn_config_free(&c);
}
END_TEST

START_TEST(llama)
{
    struct attn_config c = read_config("y_llama.json");
    ck_assert(c.H == 4 && c.Hkv == 2 && c.dh == 10 && c.rotary == 10 && c.attention_bias && c.mlp_bias && !c.tied);
    ck_assert(c.norm == ATTN_NORM_RMS && c.mlp == ATTN_MLP_SWIGLU && c.norm_eps == 1e-6 && c.rope_theta == 10000 &&
              c.n_eos == 3);
    attn_config_free(&c);
    c = read_config("y_llama_least.json");
    ck_assert(c.V == 32000 && c.n_ctx == 2048 && c.m == 11008 && c.Hkv == 4 && c.dh == 16 && !c.attention_bias &&
              !c.mlp_bias);
    attn_config_free(&c);
}
END_TEST

/* What is left over from a Qwen. */
START_TEST(llama_without_its_window)
{
    struct attn_config c = read_config("y_llama_sliding_off.json");
    ck_assert(c.window == 0 && !c.local);
    attn_config_free(&c);
}
END_TEST

START_TEST(rotary_scaling)
{
    struct attn_config c = read_config("y_llama_rope3.json");
    ck_assert(c.rope.kind == ATTN_ROPE_LLAMA3 && c.rope.factor == 8 && c.rope.low == 1 && c.rope.high == 4 &&
              c.rope.original == 8192);
    ck_assert(c.rope_theta == 500000);
    attn_config_free(&c);
    c = read_config("y_llama_rope_old.json");
    ck_assert(c.rope.kind == ATTN_ROPE_LINEAR && c.rope.factor == 4 && c.n_ctx == 4 * c.trained_ctx);
    attn_config_free(&c);
    c = read_config("y_llama_rope_new.json");       /* its section takes precedence, wherever the other key stands */
    ck_assert(c.rope.kind == ATTN_ROPE_DEFAULT && c.rope_theta == 20000);
    attn_config_free(&c);
    c = read_config("y_llama_yarn_null.json");      /* 64 tokens, where there were 16 */
    ck_assert(c.rope.kind == ATTN_ROPE_YARN && c.rope.factor == 4 && c.n_ctx == 64);
    attn_config_free(&c);
    c = read_config("y_llama_yarn_absent.json");
    ck_assert(c.rope.kind == ATTN_ROPE_YARN && c.rope.factor == 4 && c.n_ctx == 64);
    attn_config_free(&c);
}
END_TEST

START_TEST(qwen2)
{
    struct attn_config c = read_config("y_qwen2.json");
    ck_assert(c.Hkv == 4 && c.window == 0 && !c.local);             /* null: as many as query heads */
    attn_config_free(&c);
    c = read_config("y_qwen2_least.json");
    ck_assert(c.V == 151936 && c.n_ctx == 32768 && c.m == 22016 && c.Hkv == 32);
    attn_config_free(&c);
}
END_TEST

/* ---- what absent keys mean, in the families whose defaults change a number ---- */

#define SIZES "\"hidden_size\": 64, \"num_hidden_layers\": 6, \"num_attention_heads\": 16"
#define TALL "\"n_layer\": 6, \"n_head\": 16, "

static const struct least {
    const char *config; size_t Hkv, dh, rotary, m, window; const char *local;           /* local: layers with it */
    double eps, theta; bool tied; double query_scalar, cap, logit_cap; enum attn_mlp_kind mlp;
} leasts[] = {
    {"\"mistral\", " SIZES, 8, 4, 4, 14336, 4096, "111111", 1e-6, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"mistral\", \"sliding_window\": null, " SIZES, 8, 4, 4, 14336, 0,
     "", 1e-6, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"qwen3\", \"num_key_value_heads\": 4, " SIZES, 4, 128, 128, 22016, 0,
     "", 1e-6, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"qwen3\", \"num_key_value_heads\": 4, \"use_sliding_window\": true, " SIZES, 4, 128, 128, 22016, 4096,
     "", 1e-6, 1e4, false, 0, 0,
     0, ATTN_MLP_SWIGLU},
    {"\"qwen2\", \"num_key_value_heads\": 4, \"use_sliding_window\": true, \"max_window_layers\": 4, " SIZES, 4, 4, 4,
     22016, 4096,
     "000011", 1e-6, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"gemma\", " SIZES, 16, 256, 256, 24576, 0, "", 1e-6, 1e4, true, 0, 0, 0, ATTN_MLP_GEGLU_NEW},
    {"\"gemma\", \"hidden_act\": \"gelu\", " SIZES, 16, 256, 256, 24576, 0,
     "", 1e-6, 1e4, true, 0, 0, 0, ATTN_MLP_GEGLU},
    {"\"gemma2\", \"hidden_act\": \"gelu\", " SIZES, 4, 256, 256, 9216, 4096, "101010", 1e-6, 1e4, true, 256, 50, 30,
     ATTN_MLP_GEGLU_NEW},
    {"\"gemma3_text\", \"attn_logit_softcapping\": 7, " SIZES, 4, 256, 256, 9216, 4096,
     "111110", 1e-6, 1e6, true, 256, 0, 0,
     ATTN_MLP_GEGLU_NEW},
    {"\"phi3\", " SIZES, 16, 4, 4, 8192, 0, "", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"phi\", \"head_dim\": 9, " SIZES, 16, 9, 4, 8192, 0, "", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_GELU_NEW},
    {"\"olmo2\", " SIZES, 16, 4, 4, 11008, 0, "", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"olmo\", " SIZES, 16, 4, 4, 11008, 0, "", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"olmo3\", " SIZES, 16, 4, 4, 11008, 4096, "111011", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"cohere\", " SIZES, 16, 4, 4, 22528, 0, "", 1e-5, 1e4, true, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"cohere2\", \"head_dim\": 9, " SIZES, 16, 4, 4, 22528, 4096,
     "111011", 1e-5, 1e4, true, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"ernie4_5\", " SIZES, 2, 128, 128, 3072, 0, "", 1e-5, 5e5, true, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"ernie4_5\", \"head_dim\": null, \"num_key_value_heads\": null, " SIZES, 16, 4, 4, 3072, 0,
     "", 1e-5, 5e5, true, 0, 0, 0,
     ATTN_MLP_SWIGLU},
    {"\"helium\", \"num_key_value_heads\": 4, " SIZES, 4, 128, 128, 7040, 0,
     "", 1e-8, 1e5, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"hunyuan_v1_dense\", \"head_dim\": 12, " SIZES, 16, 12, 12, 11008, 0,
     "", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"exaone4\", \"num_key_value_heads\": 4, " SIZES, 4, 4, 4, 16384, 4096,
     "111011", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"exaone4\", \"num_key_value_heads\": 4, \"sliding_window\": null, " SIZES, 4, 4, 4, 16384, 0,
     "", 1e-5, 1e4, false, 0, 0, 0,
     ATTN_MLP_SWIGLU},
    {"\"nanochat\", " SIZES, 16, 4, 4, 8192, 0, "", 1e-6, 1e4, false, 0, 0, 15, ATTN_MLP_RELU2},
    {"\"gemma3\", \"text_config\": {\"hidden_size\": 64, \"num_hidden_layers\": 6}", 4, 256, 256, 9216, 4096,
     "111110", 1e-6, 1e6, true,
     256, 0, 0, ATTN_MLP_GEGLU_NEW},
    {"\"mpt\", \"d_model\": 64, \"n_layers\": 6, \"n_heads\": 16", 16, 4, 0, 256, 0,
     "", 1e-5, 1, true, 0, 0, 0, ATTN_MLP_GELU},
    {"\"xglm\", \"d_model\": 64, \"num_layers\": 6, \"attention_heads\": 16", 16, 4, 0, 4096, 0,
     "", 1e-5, 1, true, 0, 0, 0,
     ATTN_MLP_GELU},
    {"\"openai-gpt\", " TALL "\"n_embd\": 64", 16, 4, 0, 256, 0, "", 1e-5, 1, true, 0, 0, 0, ATTN_MLP_GELU_NEW},
    {"\"gpt_bigcode\", " TALL "\"n_embd\": 64", 1, 4, 0, 256, 0, "", 1e-5, 1, true, 0, 0, 0, ATTN_MLP_GELU_NEW},
    {"\"gpt_bigcode\", \"multi_query\": false, " TALL "\"n_embd\": 64", 16, 4, 0, 256, 0, "", 1e-5, 1, true, 0, 0, 0,
     ATTN_MLP_GELU_NEW},
    {"\"codegen\", " TALL "\"n_embd\": 2048", 16, 128, 64, 8192, 0, "", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_GELU_NEW},
    {"\"smollm3\", " SIZES, 4, 4, 4, 11008, 0, "", 1e-6, 2e6, true, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"granite\", " SIZES, 16, 4, 4, 11008, 0, "", 1e-6, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"stablelm\", \"head_dim\": 99, \"num_key_value_heads\": 4, \"hidden_size\": 256, \"num_hidden_layers\": 6, "
     "\"num_attention_heads\": 16", 4, 16, 4, 6912, 0, "", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_SWIGLU},
    {"\"starcoder2\", " SIZES, 2, 4, 4, 12288, 0, "", 1e-5, 1e4, true, 0, 0, 0, ATTN_MLP_GELU_NEW},
    {"\"gptj\", \"n_embd\": 2048, " TALL "\"rope_theta\": 3", 16, 128, 64, 8192, 0,
     "", 1e-5, 1e4, false, 0, 0, 0, ATTN_MLP_GELU_NEW},
    {"\"opt\", \"layer_norm_eps\": 1, " SIZES, 16, 4, 0, 3072, 0, "", 1e-5, 1, true, 0, 0, 0, ATTN_MLP_RELU},
    {"\"bloom\", " TALL "\"hidden_size\": 64", 16, 4, 0, 256, 0, "", 1e-5, 1, true, 0, 0, 0, ATTN_MLP_GELU_NEW},
    {"\"falcon\", \"num_kv_heads\": 8, " SIZES, 1, 4, 4, 256, 0, "", 1e-5, 1e4, true, 0, 0, 0, ATTN_MLP_GELU},
    {"\"falcon\", \"num_kv_heads\": 8, \"multi_query\": false, " SIZES, 16, 4, 4, 256, 0,
     "", 1e-5, 1e4, true, 0, 0, 0, ATTN_MLP_GELU},
    {"\"falcon\", \"num_kv_heads\": 8, \"new_decoder_architecture\": true, " SIZES, 8, 4, 4, 256, 0,
     "", 1e-5, 1e4, true, 0, 0, 0,
     ATTN_MLP_GELU}};

START_TEST(absent_keys)
{
    const struct least *l = &leasts[_i];
    struct attn_config c = {0};
    struct attn_err err = {0};
    char text[400], local[8] = "";
    int n = snprintf(text, sizeof text, "{\"model_type\": %s}", l->config);
    ck_assert_msg(!attn_config_read(&c, text, (size_t)n, "config.json", &err), "%s", err.msg);
    for (size_t i = 0; i < c.L && c.local; i++)
        local[i] = c.local[i] ? '1' : '0';
    ck_assert_msg(c.Hkv == l->Hkv && c.dh == l->dh && c.rotary == l->rotary && c.m == l->m,
                  "%s: %zu %zu %zu %zu", text, c.Hkv, c.dh,
                  c.rotary, c.m);
    ck_assert_msg(!strcmp(local, l->local) && (!*local || c.window == l->window), "%s: %zu %s", text, c.window, local);
    ck_assert_msg(c.norm_eps == l->eps && c.rope_theta == l->theta && c.tied == l->tied,
                  "%s: %g %g", text, c.norm_eps, c.rope_theta);
    ck_assert_msg(c.query_scalar == l->query_scalar && c.cap == l->cap && c.logit_cap == l->logit_cap &&
                  c.mlp == l->mlp, "%s", text);
    ck_assert(strncmp(l->config, "\"granite", 8) || c.attention_scale == 1);
    ck_assert(strncmp(l->config, "\"smollm3", 8) || !memcmp(c.no_rope, "\0\0\0\1\0\0", 6));
    attn_config_free(&c);
}
END_TEST

/* ---- longrope: where the context before the extension stands ---- */

static struct attn_rope longrope(const char *sizes, double *speeds[2])
{
    static const char before[] = "{\"model_type\": \"llama\", \"hidden_size\": 16, \"num_attention_heads\": 4, "
                                 "\"num_hidden_layers\": 1, \"intermediate_size\": 8, "
                                 "\"max_position_embeddings\": 96, ";
    struct attn_config c = {0};
    struct attn_err err = {0};
    struct attn_weights w = {0};
    char text[1024];
    int len = snprintf(text, sizeof text,
                       "%s%s\"rope_type\": \"longrope\", \"short_factor\": [1, 2], \"long_factor\": [3, 4]}}",
                       before, sizes);
    ck_assert_msg(!attn_config_read(&c, text, (size_t)len, "config.json", &err), "%s", err.msg);
    ck_assert(attn_rope_fill(&w, speeds, &c));
    attn_config_free(&c);
    return w.rope[0];
}

static const struct { const char *sizes; size_t up_to; double factor; } contexts[] = {
    {"\"original_max_position_embeddings\": 16, \"rope_scaling\": {", 16, 6},
    {"\"original_max_position_embeddings\": 16, \"rope_parameters\": {", 16, 6},
    {"\"rope_parameters\": {\"original_max_position_embeddings\": 16, ", 16, 6},
    {"\"rope_parameters\": {\"original_max_position_embeddings\": 16, \"factor\": 3, ", 16, 3},
    {"\"original_max_position_embeddings\": 16, \"rope_scaling\": {\"factor\": 3, ", 16, 6},
    {"\"rope_scaling\": {\"original_max_position_embeddings\": 16, \"factor\": 3, ", 96, 3},
    {"\"rope_parameters\": {", 96, 1},
    /* both spellings */
    {"\"rope_scaling\": {\"short_factor\": [9, 9], \"long_factor\": [9, 9]}, \"rope_parameters\": {", 96, 1}};

START_TEST(contexts_of_longrope)
{
    double *speeds[2] = {0};
    struct attn_rope t = longrope(contexts[_i].sizes, speeds);
    ck_assert_uint_eq(t.original_max_position, contexts[_i].up_to);
    ck_assert_double_eq_tol(t.attention_factor,
                            sqrt(1 + log(contexts[_i].factor) / log((double)t.original_max_position)), 1e-12);
    ck_assert(t.inv_freq[0] == 1 && t.long_inv_freq && t.long_inv_freq[0] == 1 / 3.0);
    free(speeds[0]);
}
END_TEST

Suite *suite_family(void)
{
    Suite *s = suite_create("family");
    TCase *t = tcase_create("family");
    tcase_add_test(t, gpt2);
    tcase_add_test(t, gpt_neo);
    tcase_add_test(t, gpt_neox);
    tcase_add_test(t, llama);
    tcase_add_test(t, llama_without_its_window);
    tcase_add_test(t, rotary_scaling);
    tcase_add_test(t, qwen2);
    tcase_add_loop_test(t, absent_keys, 0, sizeof leasts / sizeof *leasts);
    tcase_add_loop_test(t, contexts_of_longrope, 0, sizeof contexts / sizeof *contexts);
    suite_add_tcase(s, t);
    return s;
}
