/* test_rewrite.c - runs that write over an older dump are killed at each of their system calls: what they leave is the
 * old dump, the new one, or a directory that readers refuse, and the next run leaves nothing of them. */
#include "suites.h"
#include "attn_tools.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden.h"
#include "io/dump.h"
#include "scratch.h"
#include "sinks.h"

enum { OLD_T = 5, NEW_T = 3, MOST_CALLS = 10000 };

/* Both write to the same directory. */
static struct sinks_setup older, newer, third;

static void set_up(void)
{
    sinks_setup(&older, OLD_T, "pattern,embed,q", NULL, NULL, true);
    scratch_remove();
    sinks_setup(&third, 1, "v,context", NULL, NULL, true);
    scratch_remove();
    sinks_setup(&newer, NEW_T, "pattern,v", "0", NULL, true);
    older.job.path = third.job.path = newer.job.path;
}

static void tear_down(void)
{
    struct sinks_setup *all[] = {&older, &third};
    for (size_t i = 0; i < 2; i++) {
        attn_select_free(all[i]->select);
        free(all[i]->tokens->tok);
        free(all[i]->tokens);
    }
    sinks_teardown(&newer);
}

/* Kills a run when it enters its n-th system call; returns whether it came to an end before. */
static bool kill_run(const char *format, const struct sinks_setup *s, int n)
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
            _exit(9);
        _exit(sinks_run(format, s, NULL));
    }
    ck_assert(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
    for (int stops = 0; stops < 2 * n - 1; stops++) {   /* it stops before each call and after it */
        ck_assert_int_eq(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status)) {
            ck_assert_int_eq(WEXITSTATUS(status), 0);
            return true;
        }
    }
    kill(pid, SIGKILL);
    ck_assert(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    return false;
}

/* Whether all arrays of the dump are of a run of T tokens, and as many as it wrote. */
static bool is_of(const struct attn_dump *d, size_t T, size_t arrays)
{
    bool same = d->n == arrays && attn_dump_tokens(d) == T;
    for (size_t i = 0; i < d->n; i++)
        same &= d->item[i].of.shape[d->item[i].of.ndim - 2] == T;
    return same;
}

enum left { OLD, NEW, REFUSED, LEFT };

static enum left what_is_left(const char *dir)
{
    struct attn_dump *d;
    struct attn_err err = {0};
    if (attn_dump_open(&d, dir, &err)) {
        ck_assert_msg(strstr(err.msg, "has not finished") || strstr(err.msg, "no .npy and no .csv") ||
                      strstr(err.msg, "No such file"), "%s", err.msg);
        return REFUSED;
    }
    bool old = is_of(d, OLD_T, 5), new = is_of(d, NEW_T, 2);
    ck_assert_msg(old || new, "%zu arrays of %zu tokens", d->n, attn_dump_tokens(d));
    attn_dump_free(d);
    return old ? OLD : NEW;
}

/* ---- directories without directories in them, in the scratch directory -------------------- */

static const char *const flat[] = {"out", "before", "expected"};
enum { OUT, BEFORE, EXPECTED };

static void remove_flat(int dir)
{
    DIR *d = opendir(scratch_path(flat[dir]));
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' || strlen(e->d_name) > 2)
            ck_assert_int_eq(unlinkat(dirfd(d), e->d_name, 0), 0);
    if (d) {
        closedir(d);
        ck_assert_int_eq(rmdir(scratch_path(flat[dir])), 0);
    }
}

static void copy_flat(int from, int to)
{
    DIR *d = opendir(scratch_path(flat[from]));
    ck_assert_ptr_nonnull(d);
    ck_assert_int_eq(mkdir(scratch_path(flat[to]), 0777), 0);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.' || strlen(e->d_name) > 2) {
            size_t len;
            char *data = golden_text(scratch_path(printed("%s/%s", flat[from], e->d_name)), &len);
            scratch_put(scratch_path(printed("%s/%s", flat[to], e->d_name)), data, len);
            free(data);
        }
    closedir(d);
}

/* Whether all files of one, but temporary ones, are in the other with the same bytes. */
static bool within(int one, int other)
{
    DIR *d = opendir(scratch_path(flat[one]));
    ck_assert_ptr_nonnull(d);
    bool same = true;
    for (struct dirent *e; same && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strncmp(e->d_name, ".attn-", 6))
            continue;
        const char *path = scratch_path(printed("%s/%s", flat[other], e->d_name));
        size_t n, m;
        same = access(path, R_OK) == 0;
        char *x = golden_text(scratch_path(printed("%s/%s", flat[one], e->d_name)), &n),
            *y = same ? golden_text(path, &m) : NULL;
        same = same && n == m && !memcmp(x, y, n);
        free(x);
        free(y);
    }
    closedir(d);
    return same;
}

static void move_flat(int from, int to)
{
    ck_assert_int_eq(rename(scratch_path(flat[from]), scratch_path(flat[to])), 0);
}

/* ---- runs that are killed ------------------------------------------------------------------ */

/* Only the killed run's temporary files may stay beside those of the new one. */
static void check_next_run(const char *format)
{
    sinks_ck_run(format, &newer);
    ck_assert_int_eq(what_is_left(newer.path), NEW);
    ck_assert(within(OUT, EXPECTED) && within(EXPECTED, OUT));
}

/* Makes `before`, the older dump beside a stranger, or nothing; and `expected`, what a run should make of that. */
static void prepare(const char *format, bool over)
{
    const struct sinks_setup *runs[] = {&older, &newer};
    for (size_t i = 0; i < 2; i++) {
        if (i || over)
            sinks_ck_run(format, runs[i]);
        if (over)
            sinks_write(&newer, "stranger.txt", "mine");
        if (i || over)
            move_flat(OUT, i ? EXPECTED : BEFORE);
    }
}

static void kill_everywhere(const char *format, bool over, int step)
{
    int seen[LEFT] = {0};
    bool whole = false;
    prepare(format, over);
    for (int n = 1; n < MOST_CALLS && !whole; n += step) {
        remove_flat(OUT);
        if (over)
            copy_flat(BEFORE, OUT);
        whole = kill_run(format, &newer, n);
        seen[what_is_left(newer.path)]++;
        if (step > 1)
            kill_run(format, &third, n * 5 % 97 + 1);
        check_next_run(format);
    }
    ck_assert(seen[NEW] && seen[REFUSED] && (seen[OLD] || !over));
}

/* With steps of more than one system call, another run is killed, too, before the next one may end. */
static const struct { const char *format; bool over; int step; } ways[] = {
    {"npy", true, 1}, {"npy", false, 1}, {"csv", true, 11}, {"npy", true, 7},
};

START_TEST(a_killed_run_leaves_no_mixture)
{
    kill_everywhere(ways[_i].format, ways[_i].over, ways[_i].step);
}
END_TEST

START_TEST(what_somebody_changed_is_left_and_told)
{
    const struct attn_format *f = attn_format_find("npy");
    void *self = NULL;
    sinks_ck_run("npy", &older);
    sinks_write(&newer, "embed.npy", "mine");
    const struct attn_sink_methods *methods = attn_format_methods(f);
    ck_assert(!methods->open(&self, f, &newer.job, NULL) && !sinks_tell(methods, self, &newer, 2, NULL) &&
              !methods->finish(self, NULL));
    ck_assert_ptr_nonnull(methods->note(self));
    ck_assert_ptr_nonnull(strstr(methods->note(self), "embed.npy: is left there"));
    methods->close(self);
    sinks_ck_file(&newer, "embed.npy", "mine");
    ck_assert(!sinks_there(&newer, "blocks.0.attn.q.npy") && !sinks_there(&newer, "manifest.json.part"));
}
END_TEST

START_TEST(two_runs_do_not_write_to_one_directory)
{
    const struct attn_format *f = attn_format_find("npy");
    void *self = NULL;
    ck_assert_int_eq(attn_format_methods(f)->open(&self, f, &older.job, NULL), 0);
    sinks_ck_refused("csv", &newer, ATTN_EIO, "another process is writing to it");
    attn_format_methods(f)->close(self);
    sinks_ck_run("csv", &newer);
}
END_TEST

START_TEST(what_no_run_left_is_not_written_to)
{
    sinks_ck_run("npy", &older);
    sinks_write(&newer, "manifest.json.part", "mine");
    sinks_ck_refused("npy", &newer, ATTN_EIO, "no file that a run left");
    sinks_ck_file(&newer, "manifest.json.part", "mine");
}
END_TEST

Suite *suite_rewrite(void)
{
    Suite *s = suite_create("rewrite");
    TCase *t = tcase_create("rewrite");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_killed_run_leaves_no_mixture, 0, (int)(sizeof ways / sizeof *ways));
    tcase_add_test(t, what_somebody_changed_is_left_and_told);
    tcase_add_test(t, two_runs_do_not_write_to_one_directory);
    tcase_add_test(t, what_no_run_left_is_not_written_to);
    suite_add_tcase(s, t);
    return s;
}
