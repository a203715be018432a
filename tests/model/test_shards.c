/* Hugging Face directories that contradict themselves: files and their index, tensors and the configuration, the output
 * layer and the embedding. */
#include "suites.h"

#include "golden.h"
#include "hf.h"
#include "made.h"
#include "scratch.h"

#include "model/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPT2(more) GPT2_OF("6", more)
#define GPT2_OF(V, more) "{\"model_type\": \"gpt2\", \"vocab_size\": " V \
    ", \"n_positions\": 5, \"n_embd\": 4, \"n_head\": 2, \"n_layer\": 1" more "}"
static const char INDEX[] = "model.safetensors.index.json", FIRST[] = "model-00001-of-00002.safetensors",
                  SECOND[] = "model-00002-of-00002.safetensors";

static struct hf hf;

static void fill(size_t V)
{
    hf.dtype = "F32";
    hf_table(&hf, "embed", "wte", V, 4);
    hf_table(&hf, "pos_embed", "wpe", 5, 4);
    hf_norm(&hf, "norm1", "h.0.ln_1", 4, true);
    hf_thirds(&hf, "attn", "h.0.attn.c_attn", 4, 2, 2, false, true);
    hf_linear(&hf, "o", "h.0.attn.c_proj", 4, 4, false, true);
    hf_norm(&hf, "norm2", "h.0.ln_2", 4, true);
    hf_linear(&hf, "in", "h.0.mlp.c_fc", 4, 16, false, true);
    hf_linear(&hf, "out", "h.0.mlp.c_proj", 16, 4, false, true);
    hf_norm(&hf, "norm_final", "ln_f", 4, true);
}

static void set_up(void)
{
    fill(6);
}

static void tear_down(void)
{
    hf_free(&hf);
}

static void expect_refusal(char *dir, const char *words)
{
    made_refused(dir, words);
    free(dir);
}

/* Expects opening to succeed with a warning that contains the words; NULL: without a warning. */
static void expect_warning(char *dir, const char *words)
{
    struct attn_model *m = made_open(dir);
    const char *odd = attn_model_warning(m);
    ck_assert_msg(words ? odd && strstr(odd, words) : !odd, "warns '%s'", odd ? odd : "");
    attn_model_close(m);
    free(dir);
}

static void replace_file(const char *dir, const char *file, const char *text)
{
    hf_put(dir, file, text, strlen(text));
}

static void rename_file(const char *dir, const char *from, const char *to)
{
    char *a = hf_path(dir, from), *b = hf_path(dir, to);
    ck_assert_int_eq(rename(a, b), 0);
    free(a), free(b);
}

/* ---- files and their index ---- */

START_TEST(whole)
{
    expect_warning(hf_write(&hf, GPT2(""), 1, false), NULL);
    expect_warning(hf_write(&hf, GPT2(""), 3, true), NULL);
}
END_TEST

START_TEST(one_file_comes_before_an_index)
{
    char *dir = hf_write(&hf, GPT2(""), 1, false);
    replace_file(dir, INDEX, "not even JSON");
    expect_warning(dir, NULL);
}
END_TEST

/* What becomes of one file: another name, or another content. */
static const struct { const char *file, *name, *text, *words; } spoiled[] = {
    {INDEX, "index.json", NULL, "no weights that are read here, but model-0000|expected model.safetensors"},
    {INDEX, "pytorch_model.bin", NULL, "pytorch_model.bin: is no file that torch.save wrote"},
    {SECOND, "elsewhere.safetensors", NULL, "model-00002-of-00002.safetensors|No such file"},
    {SECOND, NULL, "12345678{}", "model-00002-of-00002.safetensors|header"},
    {INDEX, NULL, "{\"weight_map\": {\"wte.weight\": \"model-00001-of-00002.safetensors\"}}",
     "model-00001-of-00002.safetensors: tensor '|is missing; config.json asks for it"},
    {INDEX, NULL, "{\"weight_map\": {\"wte.weight\": \"../model.safetensors\"}}",
     "index.json|wte.weight|../model.safetensors|plain name"},
};

START_TEST(files_are_spoiled)
{
    char *dir = hf_write(&hf, GPT2(""), 2, false);
    if (spoiled[_i].name)
        rename_file(dir, spoiled[_i].file, spoiled[_i].name);
    else
        replace_file(dir, spoiled[_i].file, spoiled[_i].text);
    expect_refusal(dir, spoiled[_i].words);
}
END_TEST

START_TEST(files_are_exchanged)
{
    char *dir = hf_write(&hf, GPT2(""), 2, false);
    rename_file(dir, FIRST, "third");
    rename_file(dir, SECOND, FIRST);
    rename_file(dir, "third", SECOND);
    expect_warning(dir, NULL);
}
END_TEST

START_TEST(tensor_twice_in_the_index)
{
    hf_copy(&hf, "twice", "wpe.weight");
    hf_copy(&hf, "twice", "wpe.weight");
    expect_refusal(hf_write(&hf, GPT2(""), 2, false), "index.json|'twice' for the second time");
}
END_TEST

START_TEST(tensor_in_two_files)
{
    hf_buffer(&hf, "h.0.attn.bias", "U8", 2, 2);    /* puts the next tensor into the second file */
    char *dir = hf_write(&hf, GPT2(""), 2, false);
    hf_copy(&hf, "wte.weight", "wte.weight");
    char *twice = hf_write(&hf, GPT2(", \"n_ctx\": 5"), 2, false), *from = hf_path(twice, SECOND),
        *to = hf_path(dir, SECOND);
    ck_assert_int_eq(rename(from, to), 0);
    free(from), free(to);
    free(twice);
    expect_refusal(dir, "00002-of-00002.safetensors: tensor 'wte.weight' is here and in another file, but|"
                   "says it is in model-00001");
}
END_TEST

START_TEST(tensor_in_another_file)
{
    char *dir = hf_write(&hf, GPT2(""), 2, false), *path = hf_path(dir, INDEX), *text = golden_text(path, NULL);
    memcpy(strstr(text, "wpe.weight"), "wxe.weight", 10);           /* exchanges the files of two tensors */
    memcpy(strstr(text, "wte.weight"), "wpe.weight", 10);
    memcpy(strstr(text, "wxe.weight"), "wte.weight", 10);
    replace_file(dir, INDEX, text);
    free(path), free(text);
    expect_warning(dir, NULL);
}
END_TEST

/* The index names the files; it need not list all that is in them. */
START_TEST(what_the_index_does_not_list)
{
    static const char both[] = "{\"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\", \"h.0.attn.bias\": "
                               "\"model-00002-of-00002.safetensors\"}}";
    hf_buffer(&hf, "h.0.attn.bias", "U8", 2, 2);
    hf_copy(&hf, "lm_head.weight", "wte.weight");
    char *dir = hf_write(&hf, GPT2(""), 2, false);
    replace_file(dir, INDEX, both);
    expect_refusal(strdup(dir), "00001-of-00002.safetensors: tensor 'a' is missing|says it is here");
    replace_file(dir, INDEX,
                 printed("{\"weight_map\": {\"wte.weight\": \"%s\", \"wpe.weight\": \"%s\"}}", SECOND, FIRST));
    expect_warning(dir, NULL);
}
END_TEST

/* Files without tensors come before, between and after others. */
START_TEST(tensors_are_numbered_through_all_files)
{
    static const char empty[] = "\2\0\0\0\0\0\0\0{}";
    struct attn_source source = {0};
    struct attn_shards all;
    struct attn_err err;
    const struct attn_shard *in, *same;
    char *dir = hf_write(&hf, GPT2(""), 2, false);
    for (int i = 0; i < 3; i++)
        hf_put(dir, printed("empty%d", i), empty, sizeof empty - 1);
    replace_file(dir, INDEX, printed("{\"weight_map\": {\"wte.weight\": \"empty0\", \"wpe.weight\": \"%s\", "
                                     "\"ln_f.bias\": \"empty1\", \"ln_f.weight\": \"%s\", \"h.0.ln_1.bias\": "
                                     "\"empty2\"}}", SECOND, FIRST));
    ck_assert_msg(!attn_source_find(&source, dir, NULL, &err) && !attn_shards_open(&all, &source, &err), "%s", err.msg);
    ck_assert_uint_eq(all.n, 5);
    ck_assert_uint_eq(all.tensors, hf.n);
    for (size_t i = 0; i < all.tensors; i++) {
        const struct attn_st_tensor *t = attn_shards_at(&all, i, &in);
        ck_assert_ptr_eq(attn_st_find(in->st, t->name), t);
        ck_assert_ptr_eq(attn_shards_find(&all, t->name, &same), t);
        ck_assert_ptr_eq(same, in);
        ck_assert_uint_eq(attn_shards_index(&all, t), i);
    }
    ck_assert_ptr_null(attn_shards_find(&all, "wxe.weight", &in));
    attn_shards_close(&all);
    attn_source_free(&source);
    expect_warning(dir, NULL);
}
END_TEST

/* A directory whose index lists a tensor more than its files have. */
static char *listing(const char *config, const char *tensor)
{
    char *dir = hf_write(&hf, config, 2, false), *path = hf_path(dir, INDEX), *text = golden_text(path, NULL), *more;
    char *first = strstr(text, "\"wte.weight\"");
    ck_assert_ptr_nonnull(first);
    ck_assert_int_gt(asprintf(&more, "%.*s\"%s\": \"%s\", %s", (int)(first - text), text, tensor, SECOND, first), 0);
    replace_file(dir, INDEX, more);
    free(path), free(text), free(more);
    return dir;
}

START_TEST(what_nothing_reads_may_be_absent)
{
    static const char untied[] = GPT2(", \"tie_word_embeddings\": false");
    static const char *const unread[] = {"lm_head.weight", "transformer.wte.weight", "h.0.attn.bias",
                                         "transformer.h.0.attn.masked_bias"};
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        expect_warning(listing(GPT2(""), unread[i]), NULL);
    expect_warning(listing(untied, "h.0.attn.bias"), NULL);
    expect_refusal(listing(untied, "lm_head.weight"),
                   "00002-of-00002.safetensors: tensor 'lm_head.weight' is missing|says it is here");
    expect_refusal(listing(GPT2(""), "h.1.ln_1.weight"), "tensor 'h.1.ln_1.weight' is missing|says it is here");
}
END_TEST

/* ---- tensors and the configuration ---- */

START_TEST(sizes)
{
    static const struct { const char *config, *words; } wrong[] = {
        {GPT2(", \"vocab_size\": 7"), "second time"},
        {"{\"model_type\": \"gpt2\", \"vocab_size\": 7, \"n_positions\": 5, \"n_embd\": 4, \"n_head\": 2, "
         "\"n_layer\": 1}",
         "wte.weight|[6, 4]|[7, 4]"},
        {"{\"model_type\": \"gpt2\", \"vocab_size\": 6, \"n_positions\": 8, \"n_embd\": 4, \"n_head\": 2, "
         "\"n_layer\": 1}",
         "wpe.weight|[5, 4]|[8, 4]"},
        {"{\"model_type\": \"gpt2\", \"vocab_size\": 6, \"n_positions\": 5, \"n_embd\": 8, \"n_head\": 2, "
         "\"n_layer\": 1}",
         "wte.weight|[6, 4]|[6, 8]"},
        {GPT2(", \"n_inner\": 12"), "h.0.mlp.c_fc.weight|[4, 16]|[4, 12]"},
        {"{\"model_type\": \"gpt2\", \"vocab_size\": 6, \"n_positions\": 5, \"n_embd\": 4, \"n_head\": 2, "
         "\"n_layer\": 2}",
         "tensor 'h.1.ln_1.weight' is missing"},
        {"{\"model_type\": \"gpt2\", \"vocab_size\": 6, \"n_positions\": 5, \"n_embd\": 4, \"n_head\": 2, \"n_layer\": "
         "2147483647}",
         "tensor 'h.1.ln_1.weight' is missing"},
        {GPT2(", \"tie_word_embeddings\": false, \"n_inner\": null, \"n_ctx\": 3, \"architectures\": []"), NULL},
        {"{\"model_type\": \"bert\", \"vocab_size\": 6}", "\"model_type\" is \"bert\", expected|\"qwen2\""},
        {"{\"model_type\": \"llama\", \"vocab_size\": 6, \"hidden_size\": 4, \"num_hidden_layers\": 1, "
         "\"num_attention_heads\": 2}",
         "model.embed_tokens.weight|missing|[6, 4]"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *dir = hf_write(&hf, wrong[i].config, 1 + i % 2, false);
        if (wrong[i].words)
            expect_refusal(dir, wrong[i].words);
        else
            expect_warning(dir, NULL);
    }
}
END_TEST

START_TEST(stored_transposed)
{
    hf_free(&hf);
    hf.dtype = "F32";
    hf_table(&hf, "embed", "wte", 6, 4);
    hf_table(&hf, "pos_embed", "wpe", 5, 4);
    hf_norm(&hf, "norm1", "h.0.ln_1", 4, true);
    hf_linear(&hf, "qkv", "h.0.attn.c_attn", 4, 12, true, true);
    expect_refusal(hf_write(&hf, GPT2(""), 1, false),
                   "h.0.attn.c_attn.weight|[12, 4]|[4, 12]|transposed: expected [in, out]");
}
END_TEST

START_TEST(strangers)
{
    static const char *const names[] = {"score", "h.1.ln_1", "h.0.attn.q_norm", "h.x.ln_1", "h.0.attn.bias.more"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct hf more = hf;
        more.t[more.n] = hf.t[0];
        more.t[more.n++].name = printed("%s.weight", names[i]);
        expect_refusal(hf_write(&more, GPT2(""), 1, false), printed("%s.weight|no place", names[i]));
    }
}
END_TEST

/* ---- the output layer ---- */

START_TEST(head_beside_a_tied_embedding)
{
    hf_copy(&hf, "lm_head.weight", "wte.weight");
    expect_warning(hf_write(&hf, GPT2(""), 1, false), NULL);
    ((unsigned char *)hf.t[hf.n - 1].data)[2] ^= 1;
    expect_warning(hf_write(&hf, GPT2(""), 1, false), "'lm_head.weight' differs from 'wte.weight'");
    expect_warning(hf_write(&hf, GPT2(""), 1, false),
                   "with \"tie_word_embeddings\": false in config.json 'lm_head.weight' would be");
    expect_warning(hf_write(&hf, GPT2(", \"tie_word_embeddings\": false"), 1, false), NULL);
}
END_TEST

/* A small model is read completely, so a difference is found anywhere in it. */
START_TEST(head_that_differs_in_the_middle)
{
    hf_free(&hf);
    fill(20000);
    hf_copy(&hf, "lm_head.weight", "wte.weight");
    ((unsigned char *)hf.t[hf.n - 1].data)[160001] ^= 1;
    expect_warning(hf_write(&hf, GPT2_OF("20000", ""), 1, false), "'lm_head.weight' differs from 'wte.weight'");
}
END_TEST

/* A model saved without prefix and head has no output layer; with the prefix, the head counts as missing. */
START_TEST(base_model)
{
    struct attn_info info;
    char *dir = hf_write(&hf, GPT2(", \"tie_word_embeddings\": false"), 1, false);
    struct attn_model *m = made_open(dir);
    attn_model_info(m, &info);
    ck_assert(!info.unembed);
    attn_model_close(m);
    free(dir);
    for (size_t i = 0; i < hf.n; i++) {
        char *old = (char *)hf.t[i].name;
        hf.t[i].name = strdup(printed("transformer.%s", old));
        free(old);
    }
    expect_refusal(hf_write(&hf, GPT2(", \"tie_word_embeddings\": false"), 1, false), "lm_head.weight|missing|[6, 4]");
}
END_TEST

Suite *suite_shards(void)
{
    Suite *s = suite_create("shards");
    TCase *t = tcase_create("shards");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, whole);
    tcase_add_test(t, one_file_comes_before_an_index);
    tcase_add_loop_test(t, files_are_spoiled, 0, sizeof spoiled / sizeof *spoiled);
    tcase_add_test(t, files_are_exchanged);
    tcase_add_test(t, tensor_in_two_files);
    tcase_add_test(t, tensor_twice_in_the_index);
    tcase_add_test(t, tensor_in_another_file);
    tcase_add_test(t, what_the_index_does_not_list);
    tcase_add_test(t, tensors_are_numbered_through_all_files);
    tcase_add_test(t, what_nothing_reads_may_be_absent);
    tcase_add_test(t, sizes);
    tcase_add_test(t, stored_transposed);
    tcase_add_test(t, strangers);
    tcase_add_test(t, head_beside_a_tied_embedding);
    tcase_add_test(t, head_that_differs_in_the_middle);
    tcase_add_test(t, base_model);
    suite_add_tcase(s, t);
    return s;
}
