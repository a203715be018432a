/* What takes the place of calls that Linux alone has, where a kernel refuses them. */
#include "refuse.h"
#include "scratch.h"
#include "sanitized.h"
#include "shell.h"
#include "suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/os.h"

#define ANY ~0u

/* Newer architectures have one call for each purpose. */
#ifdef SYS_readlink
enum { READLINK = SYS_readlink, READLINK_BUFFER = 1 };
#else
enum { READLINK = SYS_readlinkat, READLINK_BUFFER = 2 };
#endif

static bool is_a_file_without_a_name(int fd)
{
    struct stat st;
    char back[5] = {0};
    bool fits = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size == 0 && st.st_nlink == 0 &&
                fcntl(fd, F_GETFD) & FD_CLOEXEC && pwrite(fd, "held", 4, 0) == 4 && pread(fd, back, 4, 0) == 4;
    close(fd);
    return fits && !strcmp(back, "held");
}

/* Of each there may be more than one at a time. */
static bool memory_file(void)
{
    int first = attn_os_memory_file("attn-tests"), second = attn_os_memory_file("attn-tests");
    return is_a_file_without_a_name(first) && is_a_file_without_a_name(second);
}

static bool no_memfd(void) { return refuse(SYS_memfd_create, 1, ANY) && memory_file(); }

static bool nothing_to_write(void)
{
    if (!refuse(SYS_memfd_create, 1, ANY) || !refuse(SYS_openat, 2, O_CREAT))
        return false;
    errno = 0;
    return attn_os_memory_file("attn-tests") == -1 && errno == EPERM;
}

static bool differ(void)
{
    uint64_t a = attn_os_random(), b = attn_os_random();
    return a != b && a != attn_os_random();
}

static bool no_getrandom(void) { return refuse(SYS_getrandom, 1, ANY) && differ(); }
static bool nothing_random(void) { return refuse(SYS_getrandom, 1, ANY) && refuse(SYS_openat, 1, ANY) && differ(); }

static bool no_syncfs(void)
{
    int fd = open("/tmp", O_RDONLY | O_DIRECTORY);
    return refuse(SYS_syncfs, 0, ANY) && attn_os_sync_all(fd);
}

static bool no_affinity(void)
{
    struct attn_places p;
    if (!refuse(SYS_sched_getaffinity, 1, ANY) || !refuse(SYS_sched_setaffinity, 1, ANY))
        return false;
    attn_places_find(&p);
    attn_place_off(&p, 0, pthread_self());
    return attn_places_count(&p) >= 1 && attn_cpu_count() >= 1;
}

#ifdef SYS_arch_prctl                     /* of x86 alone, as the tiles are */
static bool no_tiles(void) { return refuse(SYS_arch_prctl, 0, 0x20) && !attn_os_tiles(); }
#else
static bool no_tiles(void) { return !attn_os_tiles(); }
#endif

static bool no_link_to_the_program(void)
{
    char path[64];
    return refuse(READLINK, READLINK_BUFFER, ANY) && attn_os_program(path, sizeof path, "../attn-cli") &&
           !strcmp(path, "../attn-cli") && !attn_os_program(path, 4, "attn-cli");
}

/* No /proc, no /sys: a bound is known all the same. */
static bool no_descriptions(void)
{
    return refuse(SYS_openat, 1, ANY) && attn_memory_available() == attn_os_memory() && attn_os_memory() > 1 << 20 &&
           attn_cpu_count() >= 1 && attn_memory_cache() == 0;
}

START_TEST(a_fallback_takes_its_place)
{
    static bool (*const ways[])(void) = {memory_file, no_memfd, nothing_to_write, differ, no_getrandom,
                                         nothing_random, no_syncfs,
                                         no_affinity, no_tiles, no_link_to_the_program, no_descriptions};
    ck_assert_msg(in_a_child(ways[_i]), "%d", _i);
}
END_TEST

/* ---- the program ------------------------------------------------------------------------- */

static const char everything[] =
    "cd \"$D\"; $A run -m life -s 'Life is short' --show '*' --format npz -o run.npz; "
    "$A run -m tiny -s 'one two' --format json | sha256sum; "
    "printf 'a b\\nc d\\n' | $A batch -m tiny -f - -o batch.ndjson -q; "
    "printf 'to be or not to be\\n%.0s' $(seq 90) >text; "
    "$A train -m tiny -f text --steps 2 -o trained -q; sha256sum run.npz batch.ndjson trained/model.safetensors";

static const char *before;

static bool same_as_before(void)
{
    static const unsigned calls[][2] = {
        {SYS_memfd_create, 1}, {SYS_getrandom, 1}, {SYS_sched_getaffinity, 1}, {SYS_sched_setaffinity, 1},
        {SYS_syncfs, 0},
        {SYS_madvise, 1}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!refuse(calls[i][0], calls[i][1], ANY))
            return false;
    return !strcmp(succeed(everything)->text, before);
}

/* As in a container that forbids what it does not know. */
START_TEST(the_program_gives_the_same_bytes_without_them)
{
    if (SANITIZED)                      /* sanitizers need the affinity themselves, to find a stack */
        return;
    before = strdup(succeed(everything)->text);
    ck_assert_msg(strstr(before, "model.safetensors"), "%s", before);
    succeed("rm -rf \"$D\"/*");
    ck_assert(in_a_child(same_as_before));
}
END_TEST

Suite *suite_os(void)
{
    Suite *s = suite_create("os");
    TCase *c = tcase_create("os"), *program = tcase_create("program");
    tcase_add_loop_test(c, a_fallback_takes_its_place, 0, 11);
    tcase_add_checked_fixture(program, shell_set_up, scratch_remove);
    tcase_set_timeout(program, 60);
    tcase_add_test(program, the_program_gives_the_same_bytes_without_them);
    suite_add_tcase(s, c);
    suite_add_tcase(s, program);
    return s;
}
