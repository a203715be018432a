/* The files that courses write: opened as they are, every recorded activation, the tokens of a text and how
 * it goes on. */
#include "suites.h"

#include "golden.h"
#include "keep.h"
#include "scratch.h"
#include "shell.h"

#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* tokens: whether what lies there has a tokenizer. */
static const struct student { const char *name, *file; bool tokens; const char *family; } students[] = {
    {"nanogpt-a", "ckpt.pt", true, "nanogpt"}, {"nanogpt-bias-a", "ckpt.pt", true, "nanogpt"},
    {"mingpt-a", "model.pt", false, "nanogpt"}, {"lecture-a", "model.pt", false, "nanogpt"},
    {"llama2c-v0-a", "model.bin", true, "llama"}, {"llama2c-v1-a", "model.bin", true, "llama"},
    {"llmc-a", "gpt2_tiny.bin", false, "nanogpt"}, {"microgpt-a", "weights.json", true, "attn-decoder"},
    {"mlx-4bit-a", "", true, "llama"}};
enum { STUDENTS = sizeof students / sizeof *students };

static const char *directory_of(const struct student *s) { return printed("tests/golden/student/%s", s->name); }
static const char *path_of(const struct student *s)
{
    return *s->file ? printed("%s/%s", directory_of(s), s->file) : directory_of(s);
}

static cJSON *read_expected(const struct student *s, int32_t **ids, size_t *T)
{
    cJSON *expected = golden_read(printed("%s/expected/expected.json", directory_of(s)));
    const cJSON *list = golden_get(expected, "ids"), *v;
    *ids = calloc((size_t)cJSON_GetArraySize(list), sizeof **ids);
    *T = 0;
    cJSON_ArrayForEach(v, list)
        (*ids)[(*T)++] = (int32_t)v->valuedouble;
    return expected;
}

/* ---- activations ---- */

static const struct { const char *file, *act; bool layers; } recorded[] = {
    {"embeddings", "blocks.0.resid_pre", false}, {"attn_pattern", "attn.pattern", true}, {"attn_out", "attn.out", true},
    {"mlp_out", "mlp.out", true}, {"resid_post", "resid_post", true}, {"logits", "logits", false}};

/* References are in double precision from the stored weights.  A float32 rounding is 2^-24, 6e-8, of the terms of a
 * sum, which are as large as the largest number of an array: two layers with some ten sums each come to at most 1.5e-6
 * of it in these models.  The other GELU, or a forgotten bias, would be seen at 1e-3. */
static const double BOUND = 4e-6;

static double largest(const float *x, size_t n)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs((double)x[i]));
    return top;
}

static void compare(const char *name, const float *x, const float *want, size_t n)
{
    double bound = BOUND * largest(want, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fabs((double)x[i] - (double)want[i]) <= bound,
                      "%s[%zu] is %.9g, expected %.9g", name, i, (double)x[i],
                      (double)want[i]);
}

/* log p of each next token, of the logits. */
static void check_log_probabilities(const struct kept *logits, const struct student *s, const int32_t *ids, size_t T)
{
    struct golden_array want = golden_npy(printed("%s/expected/token_logprobs.npy", directory_of(s)));
    size_t V = logits->shape[1];
    ck_assert_uint_eq(want.n, T - 1);
    for (size_t t = 0; t + 1 < T; t++) {
        const float *row = logits->data + t * V;
        double sum = 0;
        for (size_t j = 0; j < V; j++)
            sum += exp((double)row[j] - (double)row[ids[t + 1]]);
        ck_assert_double_le(fabs(-log(sum) - (double)want.data[t]), 2 * BOUND * largest(logits->data, logits->n));
    }
    free(want.data);
}

static void check_activations(const char *path, const struct student *s)
{
    int32_t *ids;
    size_t T;
    cJSON *expected = read_expected(s, &ids, &T);
    struct keep *k = calloc(1, sizeof *k);
    k->only = -1;
    keep_run(k, path, ids, T, 2);
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        struct golden_array want = golden_npy(printed("%s/expected/%s.npy", directory_of(s), recorded[i].file));
        size_t L = recorded[i].layers ? want.shape[0] : 1, each = want.n / L;
        for (size_t layer = 0; layer < L; layer++) {
            const char *name = recorded[i].layers ? printed("blocks.%zu.%s", layer, recorded[i].act) : recorded[i].act;
            const struct kept *a = keep_find(k, name, 0);
            ck_assert_msg(a && a->n == each, "%s: %s", s->name, name);
            compare(name, a->data, want.data + layer * each, each);
        }
        free(want.data);
    }
    check_log_probabilities(keep_find(k, "logits", 0), s, ids, T);
    keep_free(k);
    free(k);
    free(ids);
    cJSON_Delete(expected);
}

START_TEST(every_activation)
{
    check_activations(path_of(&students[_i]), &students[_i]);
}
END_TEST

/* A directory in which nothing else is a model has the same weights. */
START_TEST(a_directory_does_as_well)
{
    const struct student *s = &students[_i];
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    struct attn_info info;
    bool usual = strcmp(s->file, "gpt2_tiny.bin") != 0;         /* a name that could be anything's */
    ck_assert_int_eq(attn_model_open(&m, directory_of(s), &err) == ATTN_OK, usual);
    if (!usual)
        return;
    attn_model_info(m, &info);
    ck_assert_str_eq(info.path, path_of(s));
    ck_assert_str_eq(info.name, s->name);
    ck_assert_str_eq(info.family, s->family);
    attn_model_close(m);
    check_activations(directory_of(s), s);
}
END_TEST

/* ---- texts ---- */

START_TEST(text_gives_the_ids_and_comes_back)
{
    const struct student *s = &students[_i];
    struct attn_err err = {0};
    struct attn_tokenizer *t = NULL;
    struct attn_tokens *tokens = NULL;
    struct attn_encode_opts how = {.bos = ATTN_BOS_AUTO};
    int32_t *ids;
    size_t T, len;
    char *back = NULL;
    ck_assert_msg((attn_tokenizer_open(&t, path_of(s), &err) == ATTN_OK) == s->tokens, "%s", err.msg);
    if (!s->tokens) {
        ck_assert_ptr_nonnull(strstr(err.msg, "--ids"));
        return;
    }
    cJSON *expected = read_expected(s, &ids, &T);
    const char *text = golden_string(expected, "text");
    ck_assert_msg(!attn_encode_with(&tokens, t, text, strlen(text), &how, &err), "%s", err.msg);
    ck_assert_uint_eq(tokens->n, T);
    for (size_t i = 0; i < T; i++)
        ck_assert_int_eq(tokens->tok[i].id, ids[i]);
    bool begun = ids[0] != tokens->tok[0].id || tokens->tok[0].end == 0;        /* by a token that no text has */
    ck_assert(!attn_decode(&back, &len, t, ids + begun, T - begun, &err));
    ck_assert_str_eq(back, text);
    free(back);
    free(ids);
    cJSON_Delete(expected);
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(it_goes_on_as_recorded)
{
    const struct student *s = &students[_i];
    cJSON *expected = golden_read(printed("%s/expected/expected.json", directory_of(s))), *want;
    char *list = cJSON_PrintUnformatted(golden_get(expected, "ids"));
    const struct said *said =
        succeed(printed("$A generate -q -m %s --ids '%.*s' --format json -n 12 --ignore-eos", path_of(s),
                                              (int)strlen(list) - 2, list + 1));
    cJSON *j = cJSON_ParseWithLength(said->text, said->len);
    size_t n = (size_t)golden_number(j, "n_prompt");
    cJSON_ArrayForEach(want, golden_get(golden_get(expected, "greedy"), "ids"))
        ck_assert(golden_number(cJSON_GetArrayItem(golden_get(j, "tokens"), (int)n++), "id") == want->valuedouble);
    free(list);
    cJSON_Delete(j);
    cJSON_Delete(expected);
}
END_TEST

/* What convert writes is the same model to every command, and to itself. */
START_TEST(converted_it_has_the_same_bits)
{
    const char *path = path_of(&students[_i]);
    succeed(printed("$A convert -q -m %s -o $D/out && $A convert -q -m $D/out -o $D/again", path));
    succeed("cmp $D/out/config.json $D/again/config.json && cmp $D/out/model.safetensors $D/again/model.safetensors");
    expect_same(printed("$A run -q -m %s --ids '1 2 3 4' --show pattern,logits", path),
                "$A run -q -m $D/out --ids '1 2 3 4' --show pattern,logits");
    if (students[_i].tokens)
        expect_same(printed("$A tokenize -m %s -s an", path), "$A tokenize -m $D/out -s an");
}
END_TEST

Suite *suite_students(void)
{
    Suite *s = suite_create("students");
    TCase *tc = tcase_create("courses' files");
    tcase_add_checked_fixture(tc, shell_set_up, scratch_remove);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, every_activation, 0, STUDENTS);
    tcase_add_loop_test(tc, a_directory_does_as_well, 0, STUDENTS);
    tcase_add_loop_test(tc, text_gives_the_ids_and_comes_back, 0, STUDENTS);
    tcase_add_loop_test(tc, it_goes_on_as_recorded, 0, STUDENTS);
    tcase_add_loop_test(tc, converted_it_has_the_same_bits, 0, STUDENTS);
    suite_add_tcase(s, tc);
    return s;
}
