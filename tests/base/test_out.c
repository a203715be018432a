/* test_out.c - writing files: base/out.h and, through it, base/target.h. */
#include "suites.h"
#include "attn_tools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/map.h"
#include "base/os.h"
#include "base/out.h"
#include "base/sha256.h"
#include "base/target.h"
#include "scratch.h"

/* These replace the system calls; the first `interrupts` calls fail as if a signal had come. */
static int interrupts;

static bool is_interrupted(void)
{
    errno = EINTR;
    return interrupts > 0 && interrupts--;
}

int fdatasync(int fd)
{
    return is_interrupted() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    return is_interrupted() ? -1 : syscall(SYS_pwrite64, fd, data, len, at);
}

static int cuts_that_fail;              /* so many ftruncate calls fail for lack of room */

int ftruncate(int fd, off_t len)
{
    if (cuts_that_fail > 0 && cuts_that_fail--) {
        errno = ENOSPC;
        return -1;
    }
    return is_interrupted() ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

int mkdir(const char *path, mode_t mode)
{
    return is_interrupted() ? -1 : mkdirat(AT_FDCWD, path, mode);
}

int syncfs(int fd)
{
    return is_interrupted() ? -1 : (int)syscall(SYS_syncfs, fd);
}

int flock(int fd, int operation);
int flock(int fd, int operation)
{
    return is_interrupted() ? -1 : (int)syscall(SYS_flock, fd, operation);
}

static struct attn_out *open_out(const char *path)
{
    struct attn_out *o = NULL;
    struct attn_err err = {0};
    ck_assert_msg(attn_out_open(&o, path, &err) == 0, "%s", err.msg);
    return o;
}

static void commit_out(struct attn_out *o)
{
    struct attn_err err = {0};
    ck_assert_msg(attn_out_commit(o, &err) == 0, "%s", err.msg);
    attn_out_close(o);
}

START_TEST(out_appears_when_committed)
{
    struct attn_out *o = open_out(scratch_path("new"));
    attn_out_str(o, "a,");
    attn_out_f32(o, 0.5f);
    attn_out_char(o, ',');
    attn_out_u64(o, 42);
    attn_out_printf(o, "%s%d", ",x", 7);
    attn_out_write(o, NULL, 0);
    ck_assert_uint_eq(attn_out_bytes(o), 11);
    ck_assert_int_ne(access(scratch_path("new"), F_OK), 0);
    commit_out(o);
    scratch_expect(scratch_path("new"), "a,0.5,42,x7");
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

START_TEST(out_without_commit_changes_nothing)
{
    scratch_put(scratch_path("kept"), "old", 3);
    for (int i = 0; i < 2; i++) {
        struct attn_out *o = open_out(scratch_path(i ? "new" : "kept"));
        for (int j = 0; j < 100000; j++)
            attn_out_str(o, "more than the buffer holds ");
        attn_out_close(o);
    }
    scratch_expect(scratch_path("kept"), "old");
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

static mode_t mode_of(const char *path)
{
    struct stat st;
    ck_assert_int_eq(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

/* Files that are not there yet are the same by their directory and name, also in the root. */
START_TEST(targets_that_are_the_same)
{
    char x[4096], other[4096];
    snprintf(x, sizeof x, "%s", scratch_path("x"));
    snprintf(other, sizeof other, "%s/../%s/x", scratch_dir, strrchr(scratch_dir, '/') + 1);
    ck_assert(attn_target_same(x, other) && attn_target_same("/no such file", "/./no such file"));
    ck_assert(!attn_target_same(x, scratch_path("y")) && !attn_target_same(x, "/x"));
    ck_assert(attn_target_same("no such file", "./no such file") && !attn_target_same("no such file", "/no such file"));
}
END_TEST

START_TEST(out_permissions)
{
    mode_t old = umask(027);
    scratch_put(scratch_path("script"), "", 0);
    chmod(scratch_path("script"), 0757);
    commit_out(open_out(scratch_path("script")));
    commit_out(open_out(scratch_path("new")));
    umask(old);
    ck_assert_uint_eq(mode_of(scratch_path("script")), 0757);
    ck_assert_uint_eq(mode_of(scratch_path("new")), 0640);
}
END_TEST

START_TEST(out_through_links)
{
    mkdir(scratch_path("sub"), 0777);
    scratch_put(scratch_path("sub/there"), "old", 3);
    ck_assert_int_eq(symlink("sub/there", scratch_path("link")), 0);
    ck_assert_int_eq(symlink("sub/missing", scratch_path("hop")), 0);
    ck_assert_int_eq(symlink(scratch_path("hop"), scratch_path("dangling")), 0);
    static const char *const links[] = {"link", "dangling"}, *const ends[] = {"sub/there", "sub/missing"};
    for (int i = 0; i < 2; i++) {
        struct attn_out *o = open_out(scratch_path(links[i]));
        attn_out_str(o, "new");
        commit_out(o);
        scratch_expect(scratch_path(ends[i]), "new");
        ck_assert_uint_eq(mode_of(scratch_path(links[i])), 0777);     /* still a link */
    }
    ck_assert_int_eq(scratch_count(), 5);
}
END_TEST

static void check_no_out(const char *path, const char *reason)
{
    struct attn_out *o = NULL;
    struct attn_err err = {0};
    char expected[256];
    snprintf(expected, sizeof expected, "%s%s", path, reason);
    ck_assert_int_ne(attn_out_open(&o, path, &err), 0);
    ck_assert_str_eq(err.msg, expected);
    ck_assert_ptr_null(o);
}

START_TEST(out_refusals)
{
    scratch_put(scratch_path("file"), "", 0);
    ck_assert_int_eq(symlink("loop", scratch_path("loop")), 0);
    check_no_out(scratch_dir, ": is a directory, expected a file");
    check_no_out(scratch_path("none/"), ": cannot create: Is a directory");
    check_no_out(scratch_path("file/x"), ": cannot create: Not a directory");
    check_no_out(scratch_path("loop"), ": cannot create: Too many levels of symbolic links");
    check_no_out("", "cannot write to a file without a name");
    if (geteuid() != 0) {
        chmod(scratch_path("file"), 0444);
        check_no_out(scratch_path("file"), ": cannot replace: Permission denied");
    }
}
END_TEST

START_TEST(out_over_a_file_of_another_user)
{
    struct stat st;
    scratch_put(scratch_path("file"), "", 0);
    if (geteuid() != 0 || chown(scratch_path("file"), 12, 34) || chmod(scratch_path("file"), 0640)) {
        skipped("root", NULL);
        return;
    }
    struct attn_out *o = open_out(scratch_path("file"));
    attn_out_str(o, "new");
    commit_out(o);
    scratch_expect(scratch_path("file"), "new");
    ck_assert_int_eq(stat(scratch_path("file"), &st), 0);
    ck_assert(st.st_uid == 12 && st.st_gid == 34 && (st.st_mode & 07777) == 0640);
}
END_TEST

START_TEST(out_big_and_small_writes_in_order)
{
    static char big[200000];
    struct attn_map m;
    struct attn_sha256 sha;
    struct attn_out *o = open_out(scratch_path("x"));
    char hex[65], expected[65];
    memset(big, 'b', sizeof big);
    attn_out_hash(o);
    attn_out_str(o, "first");
    attn_out_write(o, big, sizeof big);
    for (int i = 0; i < 30000; i++)
        attn_out_f32(o, 0.125f);
    attn_out_digest(o, hex);
    ck_assert_uint_eq(attn_out_bytes(o), 5 + sizeof big + 30000 * 5);
    ck_assert_int_eq(attn_out_commit(o, NULL), 0);
    attn_out_close(o);
    ck_assert_int_eq(attn_map_open(&m, scratch_path("x"), SIZE_MAX, NULL), 0);
    ck_assert_uint_eq(m.len, 5 + sizeof big + 30000 * 5);
    ck_assert_mem_eq(m.data, "firstbbb", 8);
    ck_assert_mem_eq(m.data + m.len - 10, "0.1250.125", 10);
    attn_sha256_start(&sha);
    attn_sha256_add(&sha, m.data, m.len);
    attn_sha256_end(&sha, expected);
    ck_assert_str_eq(hex, expected);
    attn_map_close(&m);
}
END_TEST

/* Opens the named file and writes n times "a", not yet committed. */
static struct attn_out *hashed_out(const char *path, size_t n)
{
    struct attn_out *o = open_out(path);
    attn_out_hash(o);
    for (size_t i = 0; i < n; i++)
        attn_out_char(o, 'a');
    return o;
}

static void sha_of(char hex[65], size_t n)
{
    struct attn_sha256 sha;
    attn_sha256_start(&sha);
    for (size_t i = 0; i < n; i++)
        attn_sha256_add(&sha, "a", 1);
    attn_sha256_end(&sha, hex);
}

/* Digests of data in a buffer, in a file, in both, and where nothing can be read back. */
START_TEST(out_digests_of_two)
{
    static const size_t sizes[] = {0, 1, 65536, 65537, 131072, 300000, 500001};
    enum { N = sizeof sizes / sizeof *sizes };
    for (size_t i = 0; i < N * N * 2; i++) {
        char a_hex[65], b_hex[65], want[65];
        size_t n = sizes[i % N], m = sizes[i / N % N];
        struct attn_out *a = hashed_out(scratch_path("a"), n),
            *b = hashed_out(i < N * N ? scratch_path("b") : "/dev/null", m);
        attn_out_digest_two(a, a_hex, b, b_hex);
        sha_of(want, n);
        ck_assert_str_eq(a_hex, want);
        sha_of(want, m);
        ck_assert_str_eq(b_hex, want);
        commit_out(a);
        commit_out(b);
    }
}
END_TEST

START_TEST(out_cut_short_before_it_is_read_back)
{
    char hex[65];
    struct attn_err err = { 0 };
    static const char zeros[200000];
    struct attn_out *o = hashed_out(scratch_path("x"), 0);
    attn_out_write(o, zeros, sizeof zeros);     /* too large to wait in a buffer */
    DIR *d = opendir(scratch_dir);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".tmp"))
            ck_assert_int_eq(truncate(scratch_path(e->d_name), 1000), 0);
    closedir(d);
    attn_out_digest(o, hex);
    ck_assert_int_eq(attn_out_commit(o, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, "x: ends at byte 1000 of 200000 just written"));
    attn_out_close(o);
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

START_TEST(out_printf_longer_than_the_buffer)
{
    struct attn_out *o = open_out(scratch_path("x"));
    attn_out_printf(o, "%*s", 100000, "x");
    ck_assert_uint_eq(attn_out_bytes(o), 100000);
    commit_out(o);
}
END_TEST

START_TEST(out_in_the_name_of_two)
{
    struct attn_out *a = open_out(scratch_path("x")), *b = open_out(scratch_path("x"));
    attn_out_str(a, "a");
    attn_out_str(b, "b");
    commit_out(b);
    commit_out(a);
    scratch_expect(scratch_path("x"), "a");
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

static void check_commit_fails(struct attn_out *o, const char *msg)
{
    struct attn_err err = {0};
    ck_assert_int_eq(attn_out_commit(o, &err), ATTN_EIO);
    ck_assert_str_eq(err.msg, msg);
    ck_assert(attn_out_failed(o) && !attn_out_broken(o));
    attn_out_close(o);
}

START_TEST(out_to_a_full_disk)
{
    struct attn_out *o = open_out("/dev/full");
    attn_out_str(o, "x");
    check_commit_fails(o, "/dev/full: cannot write: No space left on device");
    o = open_out("/dev/full");
    for (int i = 0; i < 100000; i++)    /* fails long before the commit, and reports it only once */
        attn_out_str(o, "xxxxxxxxxx");
    ck_assert(attn_out_failed(o));
    check_commit_fails(o, "/dev/full: cannot write: No space left on device");
}
END_TEST

START_TEST(out_to_a_full_standard_output)
{
    int full = open("/dev/full", O_WRONLY), saved = dup(STDOUT_FILENO);
    dup2(full, STDOUT_FILENO);
    struct attn_out *o = open_out("-");
    attn_out_str(o, "x");
    struct attn_err err = {0};
    int rc = attn_out_commit(o, &err);
    attn_out_close(o);
    dup2(saved, STDOUT_FILENO);
    close(full);
    ck_assert_int_eq(rc, ATTN_EIO);
    ck_assert_str_eq(err.msg, "standard output: cannot write: No space left on device");
}
END_TEST

START_TEST(out_to_where_standard_output_goes)
{
    int fd = open(scratch_path("log"), O_WRONLY | O_CREAT, 0666), saved = dup(STDOUT_FILENO);
    ck_assert_int_eq(write(fd, "before ", 7), 7);
    dup2(fd, STDOUT_FILENO);
    struct attn_out *o = open_out("/dev/stdout");
    attn_out_str(o, "during ");
    int rc = attn_out_commit(o, NULL);
    attn_out_close(o);
    dup2(saved, STDOUT_FILENO);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(write(fd, "after", 5), 5);
    close(fd);
    scratch_expect(scratch_path("log"), "before during after");
}
END_TEST

START_TEST(out_beyond_the_file_size_limit)
{
    struct rlimit old, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    scratch_put(scratch_path("x"), "old", 3);
    struct attn_out *o = open_out(scratch_path("x"));
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 100000; i++)
        attn_out_str(o, "xxxxxxxxxx");
    struct attn_err err = {0};
    int rc = attn_out_commit(o, &err);
    attn_out_close(o);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    ck_assert_int_eq(rc, ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, "/x: cannot write: File too large"));
    scratch_expect(scratch_path("x"), "old");
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

START_TEST(out_to_nobody)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
    struct attn_out *o = open_out(printed("/dev/fd/%d", ends[1]));
    close(ends[0]);
    attn_out_str(o, "x");
    ck_assert(!attn_out_failed(o));     /* nothing was written yet */
    ck_assert_int_eq(attn_out_commit(o, NULL), 0);
    ck_assert(attn_out_broken(o) && attn_out_failed(o));
    attn_out_close(o);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
}
END_TEST

START_TEST(out_to_a_slow_pipe_that_does_not_block)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        char some[4096];
        close(ends[1]);
        ssize_t n;
        while ((n = read(ends[0], some, sizeof some)) != 0)
            if (n < 0)
                usleep(100);
        _exit(0);
    }
    close(ends[0]);
    int saved = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    struct attn_out *o = open_out(NULL);
    for (int i = 0; i < 50000; i++)
        attn_out_str(o, "xxxxxxxxxx");
    int rc = attn_out_commit(o, NULL);
    bool broken = attn_out_broken(o);
    attn_out_close(o);
    dup2(saved, STDOUT_FILENO);
    close(ends[1]);
    ck_assert_int_eq(rc, 0);
    ck_assert(!broken);
}
END_TEST

START_TEST(out_to_memory)
{
    static char big[200000];
    struct attn_out *o = NULL;
    struct attn_err err = {0};
    char *text = NULL;
    size_t len = 1;
    memset(big, 'b', sizeof big);
    ck_assert_int_eq(attn_out_open_memory(&o, &err), 0);
    for (int round = 0; round < 2; round++) {                       /* after a take it starts anew */
        attn_out_str(o, "first");
        attn_out_write(o, big, sizeof big);
        attn_out_u64(o, 42);
        ck_assert_uint_eq(attn_out_bytes(o), 7 + sizeof big);
        ck_assert_int_eq(attn_out_take(o, &text, &len, &err), 0);
        ck_assert_uint_eq(len, 7 + sizeof big);
        ck_assert_mem_eq(text, "firstbbb", 8);
        ck_assert_str_eq(text + len - 4, "bb42");
        free(text);
    }
    ck_assert_int_eq(attn_out_take(o, &text, &len, &err), 0);
    ck_assert_uint_eq(len, 0);
    ck_assert_str_eq(text, "");
    free(text);
    attn_out_str(o, "not taken");
    attn_out_close(o);
}
END_TEST

START_TEST(out_json_strings)
{
    static const struct { const char *in; size_t len; const char *out; } rows[] = {
        {"", 0, "\"\""}, {"plain", 5, "\"plain\""}, {"a\"b\\c/", 6, "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""}, {"\0\x01\x1F\x7F", 4, "\"\\u0000\\u0001\\u001f\\u007f\""},
        {"a\xC2\x9B\u00A0\u061C\u202Eb\u2069\u2014", 17, "\"a\\u009b\u00A0\\u061c\\u202eb\\u2069\u2014\""},
        {"Gr\xC3\xBC\xC3\x9F", 6, "\"Gr\xC3\xBC\xC3\x9F\""}, {"\xF0\x9F\x98\x80", 4, "\"\xF0\x9F\x98\x80\""},
        {"\xFF", 1, "\"\xEF\xBF\xBD\""}, {"a\xE2\x82z", 4, "\"a\xEF\xBF\xBDz\""},
        {"\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, {"\"\xC3", 2, "\"\\\"\xEF\xBF\xBD\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attn_out *o = open_out(scratch_path("x"));
        attn_out_json(o, rows[i].in, rows[i].len);
        commit_out(o);
        scratch_expect(scratch_path("x"), rows[i].out);
    }
}
END_TEST

START_TEST(out_json_numbers)
{
    struct attn_out *o = open_out(scratch_path("x"));
    const double numbers[] = {0.1, -INFINITY, INFINITY, NAN, -0.0, 1e300};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        attn_out_f64(o, numbers[i]);
        attn_out_char(o, ' ');
        attn_out_f32(o, (float)numbers[i]);
        attn_out_char(o, '\n');
    }
    commit_out(o);
    scratch_expect(scratch_path("x"), "0.1 0.100000001\nnull null\nnull null\nnull null\n-0 -0\n1e+300 null\n");
}
END_TEST

START_TEST(out_markup)
{
    static const struct { const char *in; size_t len; const char *out; } rows[] = {
        {"", 0, ""}, {"a]]>b", 5, "a]]&gt;b"}, {"<b>&\"'", 6, "&lt;b&gt;&amp;&quot;&#39;"}, {"\t\r\n", 3, "\t\r\n"},
        {"\0\x1b\x7f\xC2\x9B", 5, "\uFFFD\uFFFD\uFFFD\uFFFD"}, {"\xC2\xA0\xE2\x80\xA8", 5, "\u00A0\u2028"},
        {"\xEF\xB7\x90\xEF\xBF\xBF\xF0\x9F\xBF\xBE", 10, "\uFFFD\uFFFD\uFFFD"}, {"\xFFz\xC3", 3, "\uFFFDz\uFFFD"},
        {"\xF0\x9F\x98\x80", 4, "\xF0\x9F\x98\x80"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attn_out *o = open_out(scratch_path("x"));
        attn_out_markup(o, rows[i].in, rows[i].len);
        commit_out(o);
        scratch_expect(scratch_path("x"), rows[i].out);
    }
}
END_TEST

static struct attn_out *open_growing(const char *path, uint64_t keep)
{
    struct attn_out *o = NULL;
    struct attn_err err = {0};
    ck_assert_msg(attn_out_open_growing(&o, path, keep, &err) == 0, "%s", err.msg);
    return o;
}

START_TEST(out_that_grows)
{
    struct attn_err err = {0};
    struct attn_out *o = open_growing(scratch_path("g"), 0);
    attn_out_str(o, "one,tor");
    attn_out_close(o);                  /* unflushed data is lost */
    scratch_expect(scratch_path("g.part"), "");
    o = open_growing(scratch_path("g"), 0);
    attn_out_str(o, "one,tor");
    ck_assert_int_eq(attn_out_flush(o, true, &err), 0);
    attn_out_close(o);
    scratch_expect(scratch_path("g.part"), "one,tor");
    o = open_growing(scratch_path("g"), 4);
    ck_assert_uint_eq(attn_out_bytes(o), 4);
    attn_out_str(o, "two");
    ck_assert_int_eq(attn_out_flush(o, false, &err), 0);
    attn_out_patch(o, "ON", 2, 0);
    scratch_expect(scratch_path("g.part"), "ONe,two");
    commit_out(o);
    scratch_expect(scratch_path("g"), "ONe,two");
    ck_assert_int_eq(scratch_count(), 1);
    ck_assert_int_eq(attn_out_open_growing(&o, scratch_path("g"), 5, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, "g.part: has 0 bytes, expected at least 5"));
}
END_TEST

START_TEST(out_in_spite_of_signals)
{
    struct attn_err err = {0};
    struct attn_out *o = open_growing(scratch_path("g"), 0);
    attn_out_str(o, "one,two");
    interrupts = 2;
    ck_assert_msg(attn_out_flush(o, true, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(interrupts, 0);
    interrupts = 2;
    attn_out_patch(o, "ON", 2, 0);
    commit_out(o);
    scratch_expect(scratch_path("g"), "ONe,two");
    interrupts = 3;                     /* of locking it and cutting it */
    attn_out_close(open_growing(scratch_path("h"), 0));
    ck_assert_int_eq(interrupts, 0);
}
END_TEST

START_TEST(disk_in_spite_of_signals)
{
    const char *dir = scratch_path("dir");
    interrupts = 2;
    ck_assert(attn_disk_make(dir));
    ck_assert_int_eq(interrupts, 0);
    int fd = attn_disk_open(dir, O_RDONLY | O_DIRECTORY, 0);
    interrupts = 2;
    ck_assert(attn_os_sync_all(fd));
    interrupts += 2;
    ck_assert(attn_disk_lock(fd));
    ck_assert_int_eq(interrupts, 0);
    close(fd);
    ck_assert(!attn_disk_make(dir) && errno == EEXIST);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

/* PATH.part is a name we made up: a link there leads to a file of somebody else. */
START_TEST(out_that_grows_through_no_link)
{
    static const char *const what[] = {"file", "nothing", "/dev/null"};
    scratch_put(scratch_path("file"), "mine", 4);
    for (int i = 0; i < 3; i++) {
        struct attn_err err = {0};
        struct attn_out *o;
        ck_assert_int_eq(symlink(what[i], scratch_path("g.part")), 0);
        ck_assert_int_eq(attn_out_open_growing(&o, scratch_path("g"), 0, &err), ATTN_EIO);
        ck_assert_ptr_nonnull(strstr(err.msg, "g.part: found a link, expected a regular file: remove it"));
        ck_assert_int_eq(unlink(scratch_path("g.part")), 0);
    }
    ck_assert_int_eq(mkfifo(scratch_path("g.part"), 0600), 0);
    struct attn_out *o;
    ck_assert_int_eq(attn_out_open_growing(&o, scratch_path("g"), 0, NULL), ATTN_EIO);
    ck_assert_int_eq(unlink(scratch_path("g.part")), 0);
    scratch_expect(scratch_path("file"), "mine");
    ck_assert_int_eq(scratch_count(), 1);
}
END_TEST

START_TEST(out_of_ours_replaces_a_link)
{
    struct attn_out *o;
    struct stat st;
    scratch_put(scratch_path("file"), "mine", 4);
    ck_assert_int_eq(symlink("file", scratch_path("x.json")), 0);
    ck_assert_int_eq(attn_out_open_ours(&o, scratch_path("x.json"), NULL), 0);
    attn_out_str(o, "ours");
    commit_out(o);
    scratch_expect(scratch_path("file"), "mine");
    scratch_expect(scratch_path("x.json"), "ours");
    ck_assert(lstat(scratch_path("x.json"), &st) == 0 && S_ISREG(st.st_mode));
}
END_TEST

/* Without its journal an empty PATH.part would only be in the way; one that holds records stays. */
START_TEST(out_that_cannot_be_cut)
{
    struct attn_out *o;
    cuts_that_fail = 1;
    ck_assert_int_eq(attn_out_open_growing(&o, scratch_path("g"), 0, NULL), ATTN_EIO);
    ck_assert_int_eq(scratch_count(), 0);
    scratch_put(scratch_path("g.part"), "one,two", 7);
    cuts_that_fail = 1;
    ck_assert_int_eq(attn_out_open_growing(&o, scratch_path("g"), 4, NULL), ATTN_EIO);
    scratch_expect(scratch_path("g.part"), "one,two");
}
END_TEST

/* What a handler of SIGBUS does: it names the file, and removes what is not committed.  A child has neither to remove
 * nor to commit what its parent writes. */
START_TEST(out_abandoned)
{
    struct attn_map m, other;
    int status;
    scratch_put(scratch_path("file"), "mine", 4);
    ck_assert_int_eq(attn_map_open(&m, scratch_path("file"), 100, NULL), 0);
    ck_assert_int_eq(attn_map_open(&other, scratch_path("file"), 100, NULL), 0);
    attn_map_close(&other);
    ck_assert_str_eq(attn_file_mapped_at(m.data + 3), scratch_path("file"));
    ck_assert_ptr_null(attn_file_mapped_at(&m));
    struct attn_out *o = open_out(scratch_path("a")), *p = open_out(scratch_path("b"));
    ck_assert_int_eq(scratch_count(), 3);
    pid_t child = fork();
    if (child == 0) {
        attn_files_abandon();
        attn_out_close(o);
        _exit(0);
    }
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    ck_assert_int_eq(scratch_count(), 3);
    commit_out(p);
    attn_files_abandon();
    ck_assert_int_eq(scratch_count(), 2);
    attn_out_close(o);
    const unsigned char *was = m.data;
    attn_map_close(&m);
    ck_assert_ptr_null(attn_file_mapped_at(was));
}
END_TEST

/* What is committed or closed has no claim to its temporary name: it may be that of another file, and
 * another file's entry. */
START_TEST(out_abandoned_once)
{
    struct attn_target a = {.fd = -1}, b = {.fd = -1};
    ck_assert_int_eq(attn_target_open(&a, scratch_path("a"), NULL), 0);
    char *temp = strdup(a.temp);
    attn_target_close(&a);
    scratch_put(temp, "other", 5);
    attn_files_abandon();
    scratch_expect(temp, "other");
    unlink(temp);
    free(temp);
    ck_assert_int_eq(attn_target_open(&a, scratch_path("a"), NULL), 0);
    ck_assert_int_eq(attn_target_commit(&a, NULL), 0);
    ck_assert_int_eq(attn_target_open(&b, scratch_path("b"), NULL), 0);
    attn_target_close(&a);
    ck_assert_int_eq(scratch_count(), 2);
    attn_files_abandon();
    ck_assert_int_eq(scratch_count(), 1);
    attn_target_close(&b);
}
END_TEST

/* The part that fits is written; the error is that of the rest, not an earlier one. */
START_TEST(out_patched_beyond_the_file_size_limit)
{
    struct rlimit old, small;
    struct attn_err err = {0};
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 5;
    signal(SIGXFSZ, SIG_IGN);
    struct attn_out *o = open_growing(scratch_path("g"), 0);
    attn_out_str(o, "one,two");
    ck_assert_int_eq(attn_out_flush(o, false, &err), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    errno = ENOENT;
    attn_out_patch(o, "TWO", 3, 4);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    ck_assert_int_eq(attn_out_commit(o, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, ": cannot write: File too large"));
    attn_out_close(o);
}
END_TEST

Suite *suite_out(void)
{
    const TTest *const tests[] = {
        out_appears_when_committed, out_without_commit_changes_nothing, out_permissions, targets_that_are_the_same,
        out_through_links,
        out_refusals, out_over_a_file_of_another_user, out_big_and_small_writes_in_order, out_digests_of_two,
        out_cut_short_before_it_is_read_back, out_printf_longer_than_the_buffer,
        out_in_the_name_of_two, out_to_a_full_disk, out_to_a_full_standard_output,
        out_to_where_standard_output_goes, out_beyond_the_file_size_limit, out_to_nobody,
        out_to_a_slow_pipe_that_does_not_block, out_to_memory, out_json_strings, out_json_numbers, out_markup,
        out_that_grows,
        out_in_spite_of_signals, disk_in_spite_of_signals, out_that_grows_through_no_link, out_of_ours_replaces_a_link,
        out_that_cannot_be_cut, out_abandoned, out_abandoned_once, out_patched_beyond_the_file_size_limit,
    };
    Suite *s = suite_create("out");
    TCase *c = tcase_create("out");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(c, tests[i]);
    suite_add_tcase(s, c);
    return s;
}
