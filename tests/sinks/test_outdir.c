/* test_outdir.c - directories of outputs and their manifest, and sinks that cannot write or finish. */
#include "suites.h"
#include "attn_tools.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sinks.h"

/* ---- directories ----------------------------------------------------------------------- */

START_TEST(manifest)
{
    struct sinks_setup s;
    sinks_setup(&s, 1, "pattern", "0", "1", false);
    sinks_ck_run("csv", &s);
    sinks_ck_file(&s, "manifest.json",        /* the digest is that of "token,10\n10,1\n" */
            "{\"tool\":\"attn-cli\",\n"
            "\"version\":\"VERSION\",\n"
            "\"command\":\"run -s 'Life is'\",\n"
            "\"model\":{\"name\":\"toy\",\"family\":\"attn-decoder\",\"digest\":\"sampled:00\"},\n"
            "\"options\":{\"format\":\"csv\",\"show\":\"pattern\",\"layer\":\"0\",\"head\":\"1\"},\n"
            "\"cpu\":\"generic\",\n"
            "\"tokens\":[\n"
            "{\"id\":10,\"text\":null,\"raw\":null,\"start\":null,\"end\":null}\n"
            "],\n"
            "\"files\":[\n"
            "{\"file\":\"blocks.0.attn.pattern.head1.csv\",\"name\":\"blocks.0.attn.pattern\",\"layer\":0,\"head\":1,"
            "\"heads\":[1],\"shape\":[1,1],"
            "\"sha256\":\"ba7ab69fc4574c9f8996789f6121511dfd808d421389547de5500eed0213922c\",\"bytes\":14}\n"
            "]}\n");
    sinks_teardown(&s);
}
END_TEST

START_TEST(a_second_run_removes_what_the_first_left)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, "pattern,embed", NULL, NULL, true);
    sinks_ck_run("csv", &s);
    sinks_write(&s, "stranger.csv", "mine");
    struct attn_select *all = s.select;
    ck_assert_int_eq(attn_select_make(&s.select, &s.hooks, "toy", "pattern", "0", "1", NULL), 0);
    s.job.select = s.select;
    sinks_ck_run("csv", &s);
    ck_assert(sinks_there(&s, "blocks.0.attn.pattern.head1.csv"));
    ck_assert(!sinks_there(&s, "blocks.0.attn.pattern.head0.csv"));
    ck_assert(!sinks_there(&s, "blocks.1.attn.pattern.head3.csv"));
    ck_assert(!sinks_there(&s, "embed.csv"));
    sinks_ck_file(&s, "stranger.csv", "mine");
    sinks_ck_run("npy", &s);                  /* files of the earlier format are removed */
    ck_assert(!sinks_there(&s, "blocks.0.attn.pattern.head1.csv"));
    ck_assert(sinks_there(&s, "stranger.csv"));
    attn_select_free(all);
    sinks_teardown(&s);
}
END_TEST

#define OURS "{\"tool\":\"attn-cli\",\n\"version\":\"9\",\n\"files\":["
#define OF_X "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
#define SIZED(name, sha256, \
              bytes) "\n{\"file\":\"" name "\",\"name\":\"x\",\"sha256\":\"" sha256 "\",\"bytes\":" bytes "}"
#define ENTRY(name) SIZED(name, OF_X, "1")
static const struct { const char *text; bool removed; } manifests[] = {
    { OURS ENTRY("victim") "\n]}\n", true },
    { OURS ENTRY("a") "," ENTRY("victim") "," ENTRY("manifest.json") "\n]}\n", true },
    { OURS ENTRY("a") "," ENTRY("victim") "\n]}", false },                      /* the end is missing */
    { OURS ENTRY("victim") "\n]}\n\n", false },
    { OURS ENTRY("victim") ",\n]}\n", false },
    { OURS ENTRY("victim") ENTRY("a") "\n]}\n", false },
    /* one bad name invalidates the manifest */
    { OURS ENTRY("victim") "," ENTRY("../out/victim") "\n]}\n", false },
    { OURS ENTRY("victim") "," ENTRY("/tmp/x") "\n]}\n", false },
    { OURS ENTRY("victim") "," ENTRY("..") "\n]}\n", false },
    { OURS ENTRY("victim") "," ENTRY("") "\n]}\n", false },
    { OURS ENTRY("victim") "," ENTRY("a\\u0062") "\n]}\n", false },
    { OURS SIZED("victim", OF_X, "2") "\n]}\n", false },                       /* somebody changed it */
    { OURS SIZED("victim", "0" OF_X, "1") "\n]}\n", false },
    { OURS SIZED("victim", "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4882", "1") "\n]}\n", false },
    { OURS SIZED("victim", OF_X, "") "\n]}\n", false },
    { OURS "\n{\"file\":\"victim\"}\n]}\n", false },
    { OURS "\n{\"file\":\"victim\",\"sha256\":\"\",\"bytes\":1}\n]}\n", false },
    { OURS "\n{\"file\":\"victim", false },
    { "{\"tool\":\"other\",\n\"files\":[" ENTRY("victim") "\n]}\n", false },
    { " " OURS ENTRY("victim") "\n]}\n", false },
    { "{\"tool\":\"attn-cli\",\n", false },
    { "not json", false },
    { "", false },
};

START_TEST(only_a_manifest_of_ours_removes)
{
    struct sinks_setup s;
    sinks_setup(&s, 1, "embed", NULL, NULL, true);
    ck_assert_int_eq(mkdir(s.path, 0777), 0);
    sinks_write(&s, "victim", "x");
    sinks_write(&s, "manifest.json", manifests[_i].text);
    sinks_ck_run("csv", &s);
    ck_assert_int_eq(sinks_there(&s, "victim"), !manifests[_i].removed);
    ck_assert(sinks_there(&s, "embed.csv") && sinks_there(&s, "manifest.json"));
    sinks_teardown(&s);
}
END_TEST

START_TEST(a_file_in_the_way)
{
    struct sinks_setup s;
    sinks_setup(&s, 1, NULL, NULL, NULL, true);
    sinks_write(&s, NULL, "mine");
    sinks_ck_refused("csv", &s, ATTN_EIO, "expected a directory");
    sinks_ck_file(&s, NULL, "mine");
    strcat(s.path, "/deeper/still");
    sinks_ck_refused("npy", &s, ATTN_EIO, "cannot create the directory");
    sinks_teardown(&s);
}
END_TEST

/* Whoever typed the directory did not type the names in it. */
START_TEST(a_pipe_in_the_directory)
{
    static const char *const files[] = {"manifest.json", "embed.npy"};
    struct sinks_setup s;
    char path[sizeof s.path + 16];
    sinks_setup(&s, 1, "embed", NULL, NULL, true);
    sinks_ck_run("npy", &s);
    snprintf(path, sizeof path, "%s/%s", s.path, files[_i]);
    ck_assert_int_eq(unlink(path) || mkfifo(path, 0600), 0);
    sinks_ck_refused("npy", &s, ATTN_EIO, "found a pipe or device, expected a regular file");
    ck_assert_int_eq(unlink(path), 0);
    sinks_teardown(&s);
}
END_TEST

START_TEST(a_link_to_nothing_in_the_way)
{
    struct sinks_setup s;
    sinks_setup(&s, 1, NULL, NULL, NULL, true);
    ck_assert_int_eq(symlink("nowhere", s.path), 0);
    sinks_ck_refused("csv", &s, ATTN_EIO, "cannot open the directory: No such file or directory");
    ck_assert_int_eq(unlink(s.path), 0);
    sinks_teardown(&s);
}
END_TEST

/* ---- what goes wrong ------------------------------------------------------------------- */

static const char *const all_formats[] = { "text", "json", "csv", "tidy", "npy", "npz" };

/* Announces the first layer only and then closes, as a failing run does. */
static void break_off(const char *format, const struct sinks_setup *s)
{
    const struct attn_format *f = attn_format_find(format);
    void *self = NULL;
    ck_assert_int_eq(attn_format_methods(f)->open(&self, f, &s->job, NULL), 0);
    ck_assert_int_eq(sinks_tell(attn_format_methods(f), self, s, 1, NULL), 0);
    attn_format_methods(f)->close(self);
}

START_TEST(a_run_that_fails_leaves_no_trace)
{
    struct sinks_setup s;
    sinks_setup(&s, 5, "*", NULL, NULL, true);
    break_off(all_formats[_i], &s);
    ck_assert(!sinks_there(&s, NULL));
    ck_assert_int_eq(scratch_count(), 0);       /* no temporary files either */
    sinks_teardown(&s);
}
END_TEST

START_TEST(a_run_that_fails_spares_what_was_there)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, "pattern", NULL, "0", true);
    sinks_ck_run("csv", &s);
    char *before = sinks_read(&s, "manifest.json", NULL);
    break_off("csv", &s);
    sinks_ck_file(&s, "manifest.json", before);
    ck_assert(sinks_there(&s, "blocks.0.attn.pattern.head0.csv"));
    ck_assert(sinks_there(&s, "blocks.1.attn.pattern.head0.csv"));
    free(before);
    sinks_teardown(&s);
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
    struct sinks_setup s;
    sinks_setup(&s, 3, "pattern", "0", "0", true);
    s.job.path = "/dev/full";
    sinks_ck_refused(all_formats[_i], &s, ATTN_EIO, "/dev/full");
    sinks_teardown(&s);
}
END_TEST

START_TEST(a_closed_pipe_is_not)
{
    struct sinks_setup s;
    int fd[2];
    char path[32];
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe(fd), 0);
    close(fd[0]);
    snprintf(path, sizeof path, "/dev/fd/%d", fd[1]);
    sinks_setup(&s, 60, "logits", NULL, NULL, true);
    s.model.V = 900;                    /* more than any buffer */
    s.job.path = path;
    sinks_ck_run(all_formats[_i], &s);
    close(fd[1]);
    sinks_teardown(&s);
}
END_TEST

START_TEST(closing_nothing_is_fine)
{
    attn_format_methods(attn_format_find(all_formats[_i]))->close(NULL);
}
END_TEST

Suite *suite_outdir(void)
{
    Suite *s = suite_create("outdir");
    TCase *t = tcase_create("outdir");
    int formats = (int)(sizeof all_formats / sizeof all_formats[0]);
    tcase_add_test(t, manifest);
    tcase_add_test(t, a_second_run_removes_what_the_first_left);
    tcase_add_loop_test(t, only_a_manifest_of_ours_removes, 0, (int)(sizeof manifests / sizeof manifests[0]));
    tcase_add_test(t, a_file_in_the_way);
    tcase_add_loop_test(t, a_pipe_in_the_directory, 0, 2);
    tcase_add_test(t, a_link_to_nothing_in_the_way);
    tcase_add_loop_test(t, a_run_that_fails_leaves_no_trace, 0, formats);
    tcase_add_test(t, a_run_that_fails_spares_what_was_there);
    tcase_add_loop_test(t, a_full_disk_is_an_error, 0, formats);
    tcase_add_loop_test(t, a_closed_pipe_is_not, 0, formats);
    tcase_add_loop_test(t, closing_nothing_is_fine, 0, formats);
    suite_add_tcase(s, t);
    return s;
}
