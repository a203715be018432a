/* What the configurations of Hugging Face families are read as. */
#include "suites.h"

#include "corpus.h"

#include "model/family.h"

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
    ck_assert(c.position == ATTN_POS_LEARNED && c.norm == ATTN_NORM_LAYER && c.mlp == ATTN_MLP_GELU_NEW && c.norm_eps == 1e-5);
    ck_assert(c.causal && c.scale && !c.scale_by_layer && c.residual && !c.parallel && c.output_projection && c.tied && c.unembed);
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
    ck_assert(c.norm == ATTN_NORM_RMS && c.mlp == ATTN_MLP_SWIGLU && c.norm_eps == 1e-6 && c.rope_theta == 10000 && c.n_eos == 3);
    attn_config_free(&c);
    c = read_config("y_llama_least.json");
    ck_assert(c.V == 32000 && c.n_ctx == 2048 && c.m == 11008 && c.Hkv == 4 && c.dh == 16 && !c.attention_bias && !c.mlp_bias);
    attn_config_free(&c);
}
END_TEST

START_TEST(rotary_scaling)
{
    struct attn_config c = read_config("y_llama_rope3.json");
    ck_assert(c.rope.kind == ATTN_ROPE_LLAMA3 && c.rope.factor == 8 && c.rope.low == 1 && c.rope.high == 4 && c.rope.original == 8192);
    ck_assert(c.rope_theta == 500000);
    attn_config_free(&c);
    c = read_config("y_llama_rope_old.json");
    ck_assert(c.rope.kind == ATTN_ROPE_LINEAR && c.rope.factor == 4);
    attn_config_free(&c);
    c = read_config("y_llama_rope_new.json");       /* its section takes precedence, wherever the other key stands */
    ck_assert(c.rope.kind == ATTN_ROPE_DEFAULT && c.rope_theta == 20000);
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

Suite *suite_family(void)
{
    Suite *s = suite_create("family");
    TCase *t = tcase_create("family");
    tcase_add_test(t, gpt2);
    tcase_add_test(t, gpt_neo);
    tcase_add_test(t, gpt_neox);
    tcase_add_test(t, llama);
    tcase_add_test(t, rotary_scaling);
    tcase_add_test(t, qwen2);
    suite_add_tcase(s, t);
    return s;
}
