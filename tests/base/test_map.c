/* test_map.c - reading and mapping files. */
#include "sanitized.h"
#include "suites.h"
#include "attn_tools.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/map.h"
#include "scratch.h"
#include "shell.h"
#include "sinks/manifest.h"
#include "train/trainer.h"

/* Reading gives all that is asked for, at once: a gigabyte takes no time.  Like the device it gives zeros: memory
 * that malloc had from the heap, 32 MB at most, is cleared, and the rest is new pages.  Not static, since read
 * may be inline. */
enum { HEAP_MOST = 33 << 20 };
extern bool endless;
extern size_t given;
bool endless;
size_t given;

ssize_t read(int fd, void *buf, size_t len)
{
    if (!endless || fd <= STDERR_FILENO)
        return syscall(SYS_read, fd, buf, len);
    if (given < HEAP_MOST)
        memset(buf, 0, len);
    given += len;
    return (ssize_t)len;
}

START_TEST(devices_that_never_end)
{
    struct attn_map m;
    struct attn_err err = {0};
    struct attn_records *in = NULL;
    struct attn_record r;
    enum attn_records_event what;
    endless = true;
    ck_assert_int_eq(attn_map_open(&m, "/dev/zero", SIZE_MAX, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "/dev/zero: is larger than 1073741824 bytes, the most that is read here");
    given = 0;
    ck_assert_int_eq(attn_records_open(&in, &(struct attn_records_opts){.path = "/dev/zero"}, &err), 0);
    ck_assert_int_eq(attn_records_next(in, &r, &what, &err), ATTN_EFORMAT);
    endless = false;
    ck_assert_str_eq(err.msg, "/dev/zero: is a device of more than 1073741824 bytes, the most that is read here");
    attn_records_close(in);
}
END_TEST

START_TEST(map_a_file)
{
    struct attn_map m;
    struct attn_err err = {0};
    scratch_put(scratch_path("a"), "hello", 5);
    ck_assert_int_eq(attn_map_open(&m, scratch_path("a"), 5, &err), 0);
    ck_assert(m.mapped && m.len == 5);
    ck_assert_mem_eq(m.data, "hello", 5);
    attn_map_close(&m);
    attn_map_close(&m);                 /* the first call left it zeroed */
}
END_TEST

START_TEST(map_an_empty_file)
{
    struct attn_map m;
    scratch_put(scratch_path("empty"), "", 0);
    ck_assert_int_eq(attn_map_open(&m, scratch_path("empty"), 0, NULL), 0);
    ck_assert(m.data != NULL && m.len == 0);
    attn_map_close(&m);
}
END_TEST

START_TEST(map_a_file_that_claims_to_be_empty)
{
    struct attn_map m;
    ck_assert_int_eq(attn_map_open(&m, "/proc/self/cmdline", 1 << 20, NULL), 0);
    ck_assert_uint_gt(m.len, 0);
    attn_map_close(&m);
}
END_TEST

/* Whether Linux was asked for huge pages where `data` is mapped. */
static bool asked_for_huge_pages(const unsigned char *data)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[512];
    bool here = false, asked = false;
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        uintptr_t from, end;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &end) == 2)
            here = from <= (uintptr_t)data && (uintptr_t)data < end;
        else if (here && !strncmp(line, "VmFlags:", 8))
            asked = strstr(line, " hg");
    }
    fclose(f);
    return asked;
}

START_TEST(map_a_large_file_in_large_pieces)
{
    struct attn_map small, large;
    if (!PORTABLE && access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
        skipped("/sys/kernel/mm/transparent_hugepage", NULL);
        return;
    }
    scratch_put(scratch_path("small"), "hello", 5);
    scratch_put(scratch_path("large"), "", 0);
    ck_assert_int_eq(truncate(scratch_path("large"), 3 << 20), 0);
    ck_assert_int_eq(attn_map_open(&small, scratch_path("small"), SIZE_MAX, NULL), 0);
    ck_assert_int_eq(attn_map_open(&large, scratch_path("large"), SIZE_MAX, NULL), 0);
    ck_assert(!asked_for_huge_pages(small.data));
    ck_assert_int_eq(asked_for_huge_pages(large.data), !PORTABLE);
    attn_map_close(&small);
    attn_map_close(&large);
}
END_TEST

/* Makes a pipe that a child writes `len` bytes to, and a path for it. */
static int pipe_of(size_t len, char path[32])
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[0]);
        signal(SIGPIPE, SIG_DFL);       /* the reader may stop early */
        for (size_t i = 0; i < len; i++) {
            char c = (char)('a' + i % 26);
            if (write(ends[1], &c, 1) != 1)
                break;
        }
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, 32, "/dev/fd/%d", ends[0]);
    return ends[0];
}

START_TEST(map_a_pipe)
{
    char path[32];
    struct attn_map m;
    int fd = pipe_of(200000, path);
    ck_assert_int_eq(attn_map_open(&m, path, 200000, NULL), 0);
    ck_assert_uint_eq(m.len, 200000);
    for (size_t i = 0; i < m.len; i++)
        ck_assert_int_eq(m.data[i], (int)('a' + i % 26));
    attn_map_close(&m);
    close(fd);
}
END_TEST

START_TEST(map_standard_input)
{
    char path[32];
    struct attn_map m;
    int fd = pipe_of(3, path), saved = dup(STDIN_FILENO);
    dup2(fd, STDIN_FILENO);
    ck_assert_int_eq(attn_map_open(&m, "-", 100, NULL), 0);
    ck_assert_uint_eq(m.len, 3);
    ck_assert_mem_eq(m.data, "abc", 3);
    attn_map_close(&m);
    ck_assert_int_ne(fcntl(STDIN_FILENO, F_GETFD), -1);     /* still open */
    dup2(saved, STDIN_FILENO);
    close(fd);
}
END_TEST

static void check_no_map(const char *path, size_t limit, const char *reason)
{
    struct attn_map m;
    struct attn_err err = {0};
    char expected[256];
    snprintf(expected, sizeof expected, "%s: %s", path, reason);
    ck_assert_int_ne(attn_map_open(&m, path, limit, &err), 0);
    ck_assert_str_eq(err.msg, expected);
    ck_assert_ptr_null(m.data);
}

START_TEST(map_refusals)
{
    char path[32];
    scratch_put(scratch_path("a"), "hello", 5);
    check_no_map(scratch_path("none"), 100, "cannot open: No such file or directory");
    check_no_map(scratch_dir, 100, "is a directory, expected a file");
    check_no_map(scratch_path("a"), 4, "is larger than 4 bytes, the most that is read here");
    int fd = pipe_of(100000, path);
    check_no_map(path, 70000, "is larger than 70000 bytes, the most that is read here");
    close(fd);
    check_no_map("/dev/zero", 100, "is larger than 100 bytes, the most that is read here");
    check_no_map("/proc/self/mem", 100, "cannot read: Input/output error");
}
END_TEST

START_TEST(map_of_a_locked_file)
{
    if (geteuid() == 0)
        return;                         /* root may read any file */
    scratch_put(scratch_path("locked"), "x", 1);
    chmod(scratch_path("locked"), 0);
    check_no_map(scratch_path("locked"), 100, "cannot open: Permission denied");
}
END_TEST

/* ---- paths that nobody typed ------------------------------------------------------------- */

static const struct { const char *leaf; enum attn_links links; const char *says; } found[] = {
    {"file", ATTN_LINKS_REFUSED, NULL}, {"file", ATTN_LINKS_FOLLOWED, NULL}, {"empty", ATTN_LINKS_REFUSED, NULL},
    {"link", ATTN_LINKS_FOLLOWED, NULL}, {"link", ATTN_LINKS_REFUSED, "found a link, expected a regular file"},
    {"pipe", ATTN_LINKS_REFUSED, "found a pipe or device, expected a regular file"},
    {"pipe", ATTN_LINKS_FOLLOWED, "found a pipe or device, expected a regular file"},
    {"to-pipe", ATTN_LINKS_FOLLOWED, "found a pipe or device, expected a regular file"},
    {"device", ATTN_LINKS_FOLLOWED, "found a pipe or device, expected a regular file"},
    {"device", ATTN_LINKS_REFUSED, "found a link, expected a regular file"},
    {"dir", ATTN_LINKS_FOLLOWED, "is a directory, expected a file"},
};

static void put_what_is_found(void)
{
    scratch_put(scratch_path("file"), "hello", 5);
    scratch_put(scratch_path("empty"), "", 0);
    ck_assert(!mkdir(scratch_path("dir"), 0700) && !mkfifo(scratch_path("pipe"), 0600) &&
              !symlink("file", scratch_path("link")) &&
              !symlink("pipe", scratch_path("to-pipe")) && !symlink("/dev/zero", scratch_path("device")));
}

/* A pipe without a writer and a device that never ends are refused at once. */
START_TEST(map_what_is_found)
{
    put_what_is_found();
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        struct attn_map m;
        struct attn_err err = {0}, same = {0};
        const char *path = scratch_path(found[i].leaf);
        int rc = attn_map_open_found(&m, path, 5, found[i].links, &err);
        ck_assert_msg(found[i].says ? rc == ATTN_EIO && strstr(err.msg, found[i].says) : !rc, "%s: %s", path, err.msg);
        ck_assert_int_eq(attn_map_check_found(path, found[i].links, &same), rc);
        ck_assert_str_eq(same.msg, err.msg);
        attn_map_close(&m);
    }
}
END_TEST

START_TEST(map_what_is_found_is_bounded_and_may_be_missing)
{
    struct attn_map m;
    struct attn_err err = {0};
    scratch_put(scratch_path("file"), "hello", 5);
    ck_assert_int_eq(attn_map_open_found(&m, scratch_path("file"), 4, ATTN_LINKS_REFUSED, &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "is larger than 4 bytes"));
    ck_assert_int_eq(attn_map_open_found(&m, scratch_path("none"), 4, ATTN_LINKS_REFUSED, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, "cannot open: No such file"));
    ck_assert_int_eq(attn_map_check_found(scratch_path("none"), ATTN_LINKS_REFUSED, &err), ATTN_OK);
}
END_TEST

/* ---- what is mapped is unmapped ---------------------------------------------------------- */

/* How many files of the test's own directory are mapped. */
static size_t mapped_files(void)
{
    char line[4096];
    size_t n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        n += strstr(line, scratch_dir) != NULL;
    if (f)
        fclose(f);
    return n;
}

static int count_files(void *self, const struct attn_manifest_file *f, struct attn_err *err)
{
    (void)err;
    *(size_t *)self += f->bytes > 0 && strlen(f->sha256) == 64;
    return ATTN_OK;
}

START_TEST(what_is_mapped_is_unmapped)
{
    struct attn_err err = {0};
    struct attn_dump *dump = NULL;
    struct attn_model *model = NULL;
    size_t files = 0;
    succeed("\"$A\" init -o $D/m --n-layer 1 --n-head 2 --d-model 8 --vocab models/life/vocab.json && "
            "\"$A\" run -q -m $D/m --ids 1,2 --format npy -o $D/d && mkdir $D/copy");
    ck_assert_int_eq(attn_model_open(&model, scratch_path("m"), &err), ATTN_OK);
    ck_assert_uint_gt(mapped_files(), 0);
    attn_model_close(model);
    ck_assert_int_eq(attn_dump_open(&dump, scratch_path("d"), &err), ATTN_OK);
    attn_dump_free(dump);
    ck_assert_int_eq(attn_manifest_each(scratch_path("d"), count_files, &files, &err), ATTN_OK);
    ck_assert_uint_gt(files, 0);
    ck_assert_int_eq(attn_train_tokenizer_copy(scratch_path("copy"), "models/tiny", false, &err), ATTN_OK);
    ck_assert_int_eq(attn_train_tokenizer_copy(scratch_path("m"), scratch_path("copy"), false, &err), ATTN_OK);
    ck_assert_int_eq(attn_train_tokenizer_compare(scratch_path("m"), scratch_path("copy"), false, &err), ATTN_OK);
    const char *shards[] = {scratch_path("part")};
    succeed("\"$A\" batch -q -m $D/m --input ndjson -f <(printf '{\"ids\":[1,2]}\\n{\"ids\":[2,1]}\\n') --format npy "
            "-o $D/part");
    ck_assert_int_eq(attn_merge(&(struct attn_merge_opts){.shard = shards, .n = 1, .path = scratch_path("all")},
                                &err), ATTN_OK);
    ck_assert_uint_eq(mapped_files(), 0);
}
END_TEST

Suite *suite_map(void)
{
    const TTest *const tests[] = {
        map_a_file, map_an_empty_file, map_a_file_that_claims_to_be_empty, map_a_large_file_in_large_pieces, map_a_pipe,
        map_standard_input, devices_that_never_end,
        map_refusals, map_of_a_locked_file, map_what_is_found, map_what_is_found_is_bounded_and_may_be_missing,
        what_is_mapped_is_unmapped,
    };
    Suite *s = suite_create("map");
    TCase *c = tcase_create("map");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(c, tests[i]);
    suite_add_tcase(s, c);
    return s;
}
