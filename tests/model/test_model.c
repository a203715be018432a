/* Opening models: where they are searched, and every possible fault of a directory. */

#include "suites.h"

#include "made.h"
#include "scratch.h"

#include "model/model.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One layer, one head: d 3, dh 2, dv 4. */
#define START "{\"model_type\": \"attn-decoder\", \"vocab_size\": 2, \"n_ctx\": 256, \"n_layer\": %s, \"n_head\": 1, " \
              "\"d_model\": 3, \"d_head\": 2, "
static const char LAYERS_1[] = "1";

static float numbers[64];

static struct attn_st_tensor tensor(const char *name, size_t rows, size_t cols)
{
    return made_tensor(name, numbers, rows, cols);
}

enum { EMBED, Q, K, V, SPARE, MOST };
static struct attn_st_tensor good[MOST];

static void setup(void)
{
    for (int i = 0; i < 64; i++)
        numbers[i] = (float)i / 8;
    good[EMBED] = tensor("embed.weight", 2, 3);
    good[Q] = tensor("blocks.0.attn.q.weight", 3, 2);
    good[K] = tensor("blocks.0.attn.k.weight", 3, 2);
    good[V] = tensor("blocks.0.attn.v.weight", 3, 4);
}

/* Writes a file of the model; creates the directory if necessary. */
static void write_file(const char *file, const void *data, size_t len)
{
    mkdir(made_path(""), 0777);
    scratch_put(made_path(file), data, len);
}

/* Writes config.json and model.safetensors; returns the directory. */
static const char *write_model(const struct attn_st_tensor *t, size_t n, const char *layers, const char *rest)
{
    char config[512];
    int len = snprintf(config, sizeof config, START "\"d_value\": 4%s}", layers, rest);
    write_file("config.json", config, (size_t)len);
    made_write(made_path("model.safetensors"), t, n);
    return made_path("");
}

START_TEST(a_good_one_opens)
{
    struct attn_info info;
    struct attn_tensor_info t;
    const char *dir = write_model(good, 4, LAYERS_1, "");
    struct attn_model *m = made_open(dir);
    attn_model_info(m, &info);
    ck_assert_uint_eq(info.tensors, 4);
    ck_assert_uint_eq(info.parameters, 2 * 3 + 3 * 2 + 3 * 2 + 3 * 4);
    ck_assert_uint_eq(info.bytes, info.parameters * 4);
    ck_assert_str_eq(info.path, dir);
    ck_assert_str_eq(info.name, strrchr(dir, '/') + 1);
    attn_model_tensor(m, 3, &t);
    ck_assert_str_eq(t.name, "blocks.0.attn.v.weight");
    ck_assert_int_eq(t.ndim, 2);
    ck_assert_uint_eq(t.shape[1], 4);
    attn_model_close(m);
    attn_model_close(NULL);
}
END_TEST

START_TEST(missing_tensor)
{
    made_refused(write_model(good, 3, LAYERS_1, ""), "model.safetensors|blocks.0.attn.v.weight|missing|[3, 4]");
}
END_TEST

/* A config that claims two thousand million layers must not cost memory or time. */
START_TEST(missing_layers)
{
    made_refused(write_model(good, 4, "2", ", \"output_projection\": true"), "blocks.0.attn.o.weight|missing|[4, 3]");
    good[SPARE] = tensor("blocks.0.attn.o.weight", 4, 3);
    made_refused(write_model(good, 5, "2147483647", ", \"output_projection\": true"), "blocks.1.attn.q.weight|missing");
}
END_TEST

START_TEST(stranger)
{
    good[SPARE] = tensor("blocks.1.attn.q.weight", 3, 2);
    made_refused(write_model(good, 5, LAYERS_1, ""), "blocks.1.attn.q.weight|no place");
}
END_TEST

START_TEST(wrong_shapes)
{
    good[V] = tensor("blocks.0.attn.v.weight", 4, 3);
    made_refused(write_model(good, 4, LAYERS_1, ""), "blocks.0.attn.v.weight|[4, 3]|[3, 4]|transposed");
    good[V] = tensor("blocks.0.attn.v.weight", 3, 5);
    made_refused(write_model(good, 4, LAYERS_1, ""), "blocks.0.attn.v.weight|[3, 5]|[3, 4]");
    good[V] = tensor("blocks.0.attn.v.weight", 12, 1);
    good[V].ndim = 1;
    made_refused(write_model(good, 4, LAYERS_1, ""), "[12]|[3, 4]");
}
END_TEST

START_TEST(wrong_type)
{
    good[K].dtype = "I32";
    made_refused(write_model(good, 4, LAYERS_1, ""), "model.safetensors|blocks.0.attn.k.weight|I32|BF16");
}
END_TEST

START_TEST(weights_that_are_not_finite)
{
    static const struct { float x; const char *words; } bad[] = {
        {NAN, "model.safetensors|blocks.0.attn.v.weight|NaN|row 1, column 3"}, {INFINITY, "inf"}, {-INFINITY, "-inf"}};
    numbers[7] = bad[_i].x;             /* only v has as many */
    made_refused(write_model(good, 4, LAYERS_1, ""), bad[_i].words);
}
END_TEST

/* Makes the number that is so many before the end of the file NaN. */
static void lose_number(int back)
{
    const float lost = NAN;
    int fd = open(made_path("model.safetensors"), O_WRONLY);
    ck_assert(fd >= 0 && lseek(fd, -back * (off_t)sizeof lost, SEEK_END) > 0);
    ck_assert(write(fd, &lost, sizeof lost) == sizeof lost && close(fd) == 0);
}

/* Those of a large model are not read when it is opened; here a small one is said to be as large. */
START_TEST(weights_are_looked_at_where_numbers_are_lost)
{
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    const char *dir = write_model(good, 4, LAYERS_1, "");
    struct attn_model *m = made_open(dir);
    m->checked = false;
    /* the embedding is last in the file: the first number of token 0, the last of token 1 */
    lose_number(_i ? 2 * 3 : 1);
    enum { T = 256 };                   /* the last row has no sum with the first, not even times 0 */
    int32_t ids[T] = {0};
    for (size_t i = 1; i < T; i++)
        ids[i] = 1;
    struct attn_plan plan = {.rows = T, .seqs = 1, .threads = 1};
    /* then no other row sees that of token 0, and what is left of the last block is finite */
    if (_i == 1)
        ck_assert_msg(!attn_kind_parse(&plan.kind, "window:1", &err), "%s", err.msg);
    ck_assert_msg(!attn_run_new(&r, m, &plan, NULL, 0, &err), "%s", err.msg);
    ck_assert_int_eq(attn_run_forward(r, ids, &(struct attn_seq){.T = T}, 1, &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, "model.safetensors") && strstr(err.msg, "NaN"), "%s", err.msg);
    attn_run_free(r);
    attn_model_close(m);
}
END_TEST

static unsigned first_patterns(void *self, int act, int layer)
{
    return act == ATTN_ACT_PATTERN && layer < *(const int *)self ? ATTN_WATCH : 0;
}

static int discard(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)self, (void)p, (void)err;
    return ATTN_OK;
}

/* A NaN in the second block is met only by those who watch that one. */
START_TEST(blocks_that_nobody_reads_are_not_run)
{
    static const struct { const char *name; size_t rows, cols; } two[] = {
        {"embed.weight", 2, 3}, {"blocks.0.attn.q.weight", 3, 2}, {"blocks.0.attn.k.weight", 3, 2},
        {"blocks.0.attn.v.weight", 3, 4},
        {"blocks.0.attn.o.weight", 4, 3}, {"blocks.1.attn.q.weight", 3, 2}, {"blocks.1.attn.k.weight", 3, 2},
        {"blocks.1.attn.v.weight", 3, 4}, {"blocks.1.attn.o.weight", 4, 3}};
    enum { TENSORS = sizeof two / sizeof *two };
    struct attn_st_tensor t[TENSORS];
    for (size_t i = 0; i < TENSORS; i++)
        t[i] = tensor(two[i].name, two[i].rows, two[i].cols);
    struct attn_model *m = made_open(write_model(t, TENSORS, "2", ", \"output_projection\": true"));
    m->checked = false;
    lose_number(2 * 3 + 1);             /* before the embedding: the last number of the second v */
    for (int layers = 1; layers <= 2; layers++) {
        const struct attn_observer obs = {.wants = first_patterns, .watch = discard, .self = &layers};
        struct attn_err err = {0};
        struct attn_run *r = NULL;
        ck_assert_msg(!attn_run_new(&r, m, &(struct attn_plan){.rows = 2, .seqs = 1, .threads = 1}, &obs, 1, &err),
                      "%s", err.msg);
        int rc = attn_run_forward(r, (const int32_t[]){0, 1}, &(struct attn_seq){.T = 2}, 1, &err);
        ck_assert_msg(rc == (layers == 1 ? ATTN_OK : ATTN_EFORMAT), "%d: %s", rc, err.msg);
        attn_run_free(r);
    }
    attn_model_close(m);
}
END_TEST

START_TEST(missing_files)
{
    ck_assert_int_eq(mkdir(made_path(""), 0777), 0);
    made_refused(made_path(""), "config.json|No such file");
    write_model(good, 4, LAYERS_1, "");
    ck_assert_int_eq(unlink(made_path("model.safetensors")), 0);
    made_refused(made_path(""), "config.json but no weights: expected model.safetensors or pytorch_model.bin");
}
END_TEST

/* The pipe has no writer, and the device never ends. */
START_TEST(pipes_and_devices)
{
    static const char *const files[] = {"config.json", "model.safetensors"};
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    const char *dir = write_model(good, 4, LAYERS_1, "");
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, files[_i % 2]);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(_i < 2 ? mkfifo(path, 0600) : symlink("/dev/zero", path), 0);
    ck_assert_int_eq(attn_model_open(&m, dir, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, files[_i % 2]));
    ck_assert_ptr_nonnull(strstr(err.msg, "expected a regular file"));
}
END_TEST

/* A cache of downloaded models is made of links. */
START_TEST(files_may_be_links)
{
    static const char *const files[] = {"config.json", "model.safetensors"};
    const char *dir = write_model(good, 4, LAYERS_1, "");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[300], blob[310];
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        snprintf(blob, sizeof blob, "%s/blob%zu", dir, i);
        ck_assert_int_eq(rename(path, blob) || symlink(strrchr(blob, '/') + 1, path), 0);
    }
    attn_model_close(made_open(dir));
}
END_TEST

/* Misaligned tensors are copied, not cast; sanitizers would detect a misaligned access. */
START_TEST(misaligned_data_is_read)
{
    struct attn_err err = {0};
    static const char header[] =
        "{\"embed.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"blocks.0.attn.q.weight\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[24,48]},"
        "\"blocks.0.attn.k.weight\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[48,72]},"
        "\"blocks.0.attn.v.weight\":{\"dtype\":\"F16\",\"shape\":[3,4],\"data_offsets\":[72,96]}}";
    unsigned char file[1024] = {0};
    write_model(good, 4, LAYERS_1, "");
    for (size_t pad = 0; pad < 4; pad++) {
        uint64_t n = sizeof header - 1 + pad;
        memcpy(file, &n, 8);
        memset(file + 8, ' ', (size_t)n);
        memcpy(file + 8, header, sizeof header - 1);
        memset(file + 8 + n, 0, 96);
        write_file("model.safetensors", file, 8 + (size_t)n + 96);
        struct attn_model *m = made_open(made_path(""));
        struct attn_run *r = NULL;
        const struct attn_plan plan = {.rows = 2, .seqs = 1};
        const struct attn_seq seq = {.T = 2};
        const int32_t ids[] = {0, 1};
        ck_assert(!attn_run_new(&r, m, &plan, NULL, 0, &err));
        ck_assert(!attn_run_forward(r, ids, &seq, 1, &err));
        attn_run_free(r);
        attn_model_close(m);
    }
}
END_TEST

START_TEST(names_are_looked_up)
{
    struct attn_err err = {0};
    struct attn_info info;
    struct attn_model *m = made_open(NULL);
    attn_model_info(m, &info);
    ck_assert_str_eq(info.name, attn_model_builtin()[0]);
    ck_assert_ptr_null(info.path);
    attn_model_close(m);
    ck_assert(setenv("ATTN_MODEL_PATH", "/nowhere::tests/golden/checkpoints", 1) == 0);
    m = made_open("gpt2-a");
    attn_model_info(m, &info);
    ck_assert_str_eq(info.path, "tests/golden/checkpoints/gpt2-a");
    attn_model_close(m);
    m = made_open("stacked");
    attn_model_info(m, &info);
    ck_assert_ptr_null(info.path);
    attn_model_close(m);
    m = made_open("models/stacked/");
    attn_model_info(m, &info);
    ck_assert_str_eq(info.name, "stacked");
    attn_model_close(m);
    ck_assert_int_ne(attn_model_open(&m, "no-such-model", &err), 0);
    ck_assert_ptr_nonnull(strstr(err.msg, "no model 'no-such-model'"));
    ck_assert_int_ne(attn_model_open(&m, "", &err), 0);
}
END_TEST

START_TEST(digests_tell_models_apart)
{
    struct attn_err err = {0};
    static const char *const places[] = {"one", "another", "third"};
    char seen[3][80], full[80];
    for (int i = 0; i < 3; i++) {
        numbers[0] = (float)(i / 2);    /* the third model has another number */
        const char *here = write_model(good, 4, LAYERS_1, ""), *there = scratch_path(places[i]);
        ck_assert_int_eq(rename(here, there), 0);       /* the digest does not depend on the path */
        struct attn_model *m = made_open(there);
        ck_assert(!attn_model_digest(m, false, seen[i], &err));
        ck_assert(!attn_model_digest(m, true, full, &err));
        ck_assert(strncmp(seen[i], "sampled:", 8) == 0 && strlen(seen[i]) == 72);
        ck_assert(strncmp(full, "sha256:", 7) == 0 && strlen(full) == 71);
        attn_model_close(m);
    }
    ck_assert_str_eq(seen[0], seen[1]);
    ck_assert_str_ne(seen[0], seen[2]);
}
END_TEST

static void expect_no_tokenizer(const char *words)
{
    struct attn_err err = {0};
    struct attn_tokenizer *t = NULL;
    ck_assert_int_ne(attn_tokenizer_open(&t, made_path(""), &err), 0);
    ck_assert_msg(strstr(err.msg, words) != NULL, "'%s' lacks '%s'", err.msg, words);
    ck_assert_ptr_null(t);
}

START_TEST(tokenizer_needs_only_a_vocabulary)
{
    struct attn_err err = {0};
    struct attn_tokenizer *t = NULL;
    ck_assert_int_eq(mkdir(made_path(""), 0777), 0);
    expect_no_tokenizer("vocab.json");
    write_file("vocab.json", "{\"b\": 1, \"a\": 0}", 16);
    ck_assert_msg(!attn_tokenizer_open(&t, made_path(""), &err), "%s", err.msg);
    ck_assert_uint_eq(attn_tokenizer_size(t), 2);
    size_t len;
    ck_assert_mem_eq(attn_tokenizer_text(t, 1, &len), "b", 1);
    ck_assert_ptr_null(attn_tokenizer_text(t, 2, &len));
    attn_tokenizer_close(t);
    write_file("merges.txt", "#version: 0.2\na c\n", 18);
    expect_no_tokenizer("merges.txt: line 2");
    write_file("merges.txt", "#version: 0.2\n", 14);
    ck_assert_msg(!attn_tokenizer_open(&t, made_path(""), &err), "%s", err.msg);
    ck_assert_str_eq(attn_tokenizer_kind(t), "bpe");
    attn_tokenizer_close(t);
}
END_TEST

/* A file that may be there and cannot be looked at is not one that is missing: the model would have other
 * tokens, another digest. */
START_TEST(what_cannot_be_looked_at_is_not_missing)
{
    static const char *const files[] = {"tokenizer_config.json", "tokenizer.json", "merges.txt"};
    struct attn_err err = {0};
    char digest[80];
    const char *dir = write_model(good, 4, LAYERS_1, "");
    write_file("vocab.json", "{\"b\": 1, \"a\": 0}", 16);
    ck_assert_int_eq(symlink(files[_i], made_path(files[_i])), 0);
    if (_i < 2)
        expect_no_tokenizer("Too many levels of symbolic links");
    struct attn_model *m = made_open(dir);
    ck_assert_int_eq(attn_model_digest(m, false, digest, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, "Too many levels of symbolic links"));
    attn_model_close(m);
}
END_TEST

Suite *suite_model(void)
{
    Suite *s = suite_create("model");
    TCase *c = tcase_create("model");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_checked_fixture(c, setup, NULL);
    tcase_add_test(c, a_good_one_opens);
    tcase_add_loop_test(c, weights_are_looked_at_where_numbers_are_lost, 0, 2);
    tcase_add_test(c, blocks_that_nobody_reads_are_not_run);
    tcase_add_test(c, missing_tensor);
    tcase_add_test(c, missing_layers);
    tcase_add_test(c, stranger);
    tcase_add_test(c, wrong_shapes);
    tcase_add_test(c, wrong_type);
    tcase_add_loop_test(c, weights_that_are_not_finite, 0, 3);
    tcase_add_test(c, missing_files);
    tcase_add_loop_test(c, pipes_and_devices, 0, 4);
    tcase_add_test(c, files_may_be_links);
    tcase_add_test(c, misaligned_data_is_read);
    tcase_add_test(c, names_are_looked_up);
    tcase_add_test(c, digests_tell_models_apart);
    tcase_add_test(c, tokenizer_needs_only_a_vocabulary);
    tcase_add_loop_test(c, what_cannot_be_looked_at_is_not_missing, 0, 3);
    suite_add_tcase(s, c);
    return s;
}
