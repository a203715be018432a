/* test_writers.c - what a run writes does not depend on the number of threads that write. */
#include "suites.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sha256.h"
#include "made.h"
#include "scratch.h"

/* Large enough for files larger than a buffer, matrices of several bands, tidy rows of several stretches, and for
 * threads to be used at all. */
enum { T = 300 };
static const char config[] =
    "{\"model_type\": \"attn-decoder\", \"vocab_size\": 300, \"n_ctx\": 300, \"n_layer\": 2, \"n_head\": 3, "
                             "\"d_model\": 12, \"residual\": true, \"output_projection\": true}";

/* what to compare; manifests contain all files' digests */
static const struct { const char *format, *result; } formats[] = {
    {"csv", "manifest.json"}, {"npy", "manifest.json"}, {"npz", NULL}, {"json", NULL}, {"tidy", NULL},
};

static void write_with(const char *format, const char *path, int threads)
{
    struct attn_err err = { 0 };
    struct attn_model *m = made_open(made_path(""));
    struct attn_tokens *tokens;
    struct attn_select *what;
    struct attn_sink *sink;
    struct attn_run *run;
    int32_t ids[T];
    for (int i = 0; i < T; i++)
        ids[i] = i * 7 % T;
    ck_assert(!attn_tokens_from_ids(&tokens, ids, T, &err));
    ck_assert(!attn_select_new(&what, m, NULL, "scores,pattern,context", NULL, NULL, &err));
    const struct attn_sink_opts o = { .format = format, .path = path, .model = m, .select = what, .tokens = tokens,
                                      .command = "run", .threads = threads };
    ck_assert_msg(!attn_sink_open(&sink, &o, &err), "%s", err.msg);
    const struct attn_observer watch = attn_sink_observer(sink);
    const struct attn_plan plan = { .rows = T, .seqs = 1, .threads = threads };
    const struct attn_seq seq = { .T = T };
    ck_assert(!attn_run_new(&run, m, &plan, &watch, 1, &err));
    ck_assert_msg(!attn_run_forward(run, ids, &seq, 1, &err) && !attn_sink_finish(sink, &err), "%s", err.msg);
    ck_assert_int_eq(attn_sink_finish(sink, &err), ATTN_EUSAGE);        /* once is enough */
    attn_run_free(run);
    attn_sink_close(sink);
    attn_select_free(what);
    attn_tokens_free(tokens);
    attn_model_close(m);
}

static struct attn_map result(const char *path, const char *file)
{
    struct attn_map map;
    struct attn_err err = { 0 };
    ck_assert_msg(!attn_map_open(&map, printed(file ? "%s/%s" : "%s", path, file), SIZE_MAX, &err), "%s", err.msg);
    return map;
}

/* An output of T tokens is not for a pass over fewer, as those of a cache are. */
START_TEST(an_output_is_of_one_pass)
{
    struct attn_err err = { 0 };
    struct attn_model *m = made_open(made_model(config, 1, "F32"));
    struct attn_tokens *tokens;
    struct attn_select *what;
    struct attn_sink *sink;
    struct attn_run *run;
    const int32_t ids[] = {1, 2, 3};
    ck_assert(!attn_tokens_from_ids(&tokens, ids, 3, &err) &&
              !attn_select_new(&what, m, NULL, "pattern", NULL, NULL, &err));
    const struct attn_sink_opts o = { .format = formats[_i].format, .path = scratch_path("x"), .model = m,
                                      .select = what, .tokens = tokens, .threads = 1 };
    ck_assert_msg(!attn_sink_open(&sink, &o, &err), "%s", err.msg);
    const struct attn_observer watch = attn_sink_observer(sink);
    const struct attn_plan plan = { .rows = 3, .seqs = 1, .threads = 1 };
    const struct attn_seq two = { .T = 2 };
    ck_assert(!attn_run_new(&run, m, &plan, &watch, 1, &err));
    ck_assert_int_eq(attn_run_forward(run, ids, &two, 1, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "an output of 3 tokens is shown a run of 2"));
    attn_run_free(run);
    attn_sink_close(sink);
    attn_select_free(what);
    attn_tokens_free(tokens);
    attn_model_close(m);
}
END_TEST

START_TEST(any_number_of_threads_writes_the_same)
{
    static const int threads[] = {2, 3, 7};
    char one[SCRATCH_PATH], more[SCRATCH_PATH + 8];
    made_model(config, 1, "F32");
    snprintf(one, sizeof one, "%s", scratch_path("with"));
    write_with(formats[_i].format, one, 1);
    struct attn_map want = result(one, formats[_i].result);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        snprintf(more, sizeof more, "%s%d", one, threads[i]);
        write_with(formats[_i].format, more, threads[i]);
        struct attn_map got = result(more, formats[_i].result);
        ck_assert_uint_eq(got.len, want.len);
        ck_assert_mem_eq(got.data, want.data, want.len);
        attn_map_close(&got);
    }
    attn_map_close(&want);
}
END_TEST

/* A file's digest in the manifest is that of its bytes, even though two files are hashed at once. */
START_TEST(digests_are_of_what_is_there)
{
    char dir[SCRATCH_PATH], hex[65], name[64];
    made_model(config, 1, "F32");
    snprintf(dir, sizeof dir, "%s", scratch_path("out"));
    write_with("csv", dir, 3);
    struct attn_map manifest = result(dir, "manifest.json");
    char *text = strndup((const char *)manifest.data, manifest.len);
    int files = 0;
    for (char *at = text, *sha; (at = strstr(at, "{\"file\":\"")); at = sha, files++) {
        ck_assert_int_eq(sscanf(at, "{\"file\":\"%63[^\"]", name), 1);
        sha = strstr(at, "\"sha256\":\"") + strlen("\"sha256\":\"");
        struct attn_map file = result(dir, name);
        struct attn_sha256 s;
        attn_sha256_start(&s);
        attn_sha256_add(&s, file.data, file.len);
        attn_sha256_end(&s, hex);
        ck_assert_msg(!strncmp(sha, hex, 64), "%s: %.64s", name, sha);
        attn_map_close(&file);
    }
    ck_assert_int_eq(files, 2 * (3 + 3 + 1));
    free(text);
    attn_map_close(&manifest);
}
END_TEST

Suite *suite_writers(void)
{
    Suite *s = suite_create("writers");
    TCase *c = tcase_create("writers");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_loop_test(c, any_number_of_threads_writes_the_same, 0, sizeof formats / sizeof *formats);
    tcase_add_loop_test(c, an_output_is_of_one_pass, 0, sizeof formats / sizeof *formats);
    tcase_add_test(c, digests_are_of_what_is_there);
    suite_add_tcase(s, c);
    return s;
}
