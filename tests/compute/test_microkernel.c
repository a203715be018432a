/* Kernels that libxsmm makes in this process, and what happens where that is refused. */
#include "refuse.h"
#include "alone.h"
#include "scratch.h"
#include "shell.h"
#include "suites.h"

#include "attn_tools.h"
#include "compute/gemm.h"
#include "compute/microkernel.h"
#include "compute/multiply.h"
#include "compute/bf16.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 23, STEPS = 130, LD = 80 };

static float x[ROWS * STEPS], w[STEPS * LD], before[ROWS * LD];

static void fill_all(void)
{
    unsigned seed = 5;
    for (size_t i = 0; i < ROWS * STEPS; i++)
        x[i] = (float)(seed = seed * 1103515245 + 12345) / 0x1p31f - 1;
    for (size_t i = 0; i < STEPS * LD; i++)
        w[i] = (float)(seed = seed * 1103515245 + 12345) / 0x1p31f - 1;
    for (size_t i = 0; i < ROWS * LD; i++)
        before[i] = (float)(seed = seed * 1103515245 + 12345) / 0x1p31f - 1;
}

static bool have_kernels(void)
{
    const char *why;
    return attn_microkernel_target(&why) != NULL;
}

static bool have_bf16_kernels(void)
{
    const char *target = getenv("LIBXSMM_TARGET");
    return (!target || !strcmp(target, "cpx")) && have_kernels();
}

static struct attn_shape shape_of(size_t rows, size_t K, size_t cols, unsigned flags)
{
    return (struct attn_shape){.rows = (uint32_t)rows, .steps = (uint32_t)K, .ldx = STEPS, .ldw = LD, .ldy = LD,
                               .cols = (uint16_t)cols, .flags = (uint16_t)flags};
}

/* Whether the kernel of a shape, with so many times its steps, computes what plain loops do, and
 * writes nothing else. */
static bool right_times(const struct attn_shape *s, unsigned long long times)
{
    float y[ROWS * LD];
    attn_microkernel *f = attn_microkernel_of(s);
    memcpy(y, before, sizeof y);
    if (!f)
        return false;
    f(w, x, y, &times);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < LD; j++) {
            bool inside = i < s->rows && j < s->cols;
            float want = inside && !(s->flags & ATTN_KERNEL_ADDS) ? 0 : before[i * LD + j];
            for (size_t k = 0; inside && k < times * s->steps; k++)
                want = fmaf(x[i * STEPS + k], w[k * LD + j], want);
            if (memcmp(&want, &y[i * LD + j], sizeof want))
                return false;
        }
    return true;
}

static bool right(const struct attn_shape *s) { return right_times(s, 1); }

START_TEST(kernels_keep_the_order_of_sums)
{
    static const size_t steps[] = {1, 2, 5, 15, 16, 17, 23, 32, 64, 100, 128, 130},
        rows_of[] = {1, 2, 3, 5, 6, 7, 8, 12, 13, 17, ROWS};
    fill_all();
    for (size_t cols = 16; cols <= 64 && have_kernels(); cols += 16)
        for (size_t r = 0; r < sizeof rows_of / sizeof *rows_of; r++)
            for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
                for (unsigned flags = 0; flags <= ATTN_KERNEL_ADDS; flags++) {
                    struct attn_shape s = shape_of(rows_of[r], steps[i], cols, flags);
                    for (size_t times = 1; times * steps[i] <= STEPS; times = 2 * times + 1)
                        ck_assert_msg(right_times(&s, times),
                                      "%zu rows, %zu times %zu steps, %zu columns, flags %u", rows_of[r],
                                      times, steps[i], cols, flags);
                }
}
END_TEST

/* The same in bf16: as our own loops of vdpbf16ps. */
START_TEST(kernels_of_bf16_have_the_bits_of_loops)
{
    enum { COLS = 64, WORDS = STEPS / 2 };
    static float words[(WORDS + ATTN_GEMM_MORE) * COLS];
    fill_all();
    if (!attn_bf16_choose(ATTN_BF16_DOTS) || !have_bf16_kernels())
        return;
    attn_bf16_ops()->rows_words(words, w, ATTN_F32, COLS, 2 * WORDS, COLS);
    float pairs[(ROWS + ATTN_GEMM_MORE) * (STEPS + ATTN_GEMM_MORE)], y[ROWS * COLS], want[ROWS * COLS];
    for (size_t n = 1; n <= ROWS; n++)
        for (size_t K = 1, ld = attn_bf16_words(STEPS), times; times = WORDS / K, K <= WORDS; K += 1 + K / 5)
            for (unsigned flags = ATTN_KERNEL_BF16; flags <= (ATTN_KERNEL_BF16 | ATTN_KERNEL_ADDS);
                 flags += ATTN_KERNEL_ADDS) {
                struct attn_shape s = {(uint32_t)n, (uint32_t)K, (uint32_t)ld, COLS, COLS, COLS, (uint16_t)flags};
                struct attn_prefetch none = {0};
                for (size_t i = 0; i < n; i++)
                    attn_gemm_round(pairs, STEPS, i, 0, x + i * STEPS, STEPS);
                memcpy(y, before, sizeof y);
                memcpy(want, before, sizeof want);
                const float *first = attn_bf16_at(pairs, ld, 0, 0);
                attn_bf16_ops()->panel(want, COLS, first, ld, words, n, times * K, flags & ATTN_KERNEL_ADDS, &none);
                attn_microkernel *f = attn_microkernel_of(&s);
                ck_assert(f);
                f(words, first, y, &(unsigned long long){times});
                ck_assert_msg(!memcmp(y, want, sizeof y),
                              "%zu rows, %zu times %zu words, flags %u", n, times, K, flags);
            }
}
END_TEST

/* Kernels count bytes in 32 bits: operands that reach farther are left to loops. */
START_TEST(operands_may_reach_far)
{
    enum { WIDE = 64, FEW = 6, DEEP = 64 };
    const size_t far = (size_t)1 << (_i ? 24 : 27), rows = _i ? DEEP : FEW, bytes = (rows * far + WIDE) * sizeof(float);
    float *space = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
        y[FEW * WIDE];
    if (space == MAP_FAILED) {
        skipped("4 GB of addresses", NULL);
        return;
    }
    fill_all();
    struct attn_operands o = {.y = _i ? y : space, .ldy = _i ? WIDE : far, .x = x, .ldx = STEPS, .w = _i ? space : w,
                              .ldw = _i ? far : LD};
    for (size_t k = 0; k < DEEP && _i; k++)
        memcpy(space + k * far, w + k * LD, WIDE * sizeof *w);
    attn_multiply(&o, FEW, WIDE, DEEP);
    for (size_t i = 0; i < FEW; i++)
        for (size_t j = 0; j < WIDE; j++) {
            float want = 0;
            for (size_t k = 0; k < DEEP; k++)
                want = fmaf(x[i * STEPS + k], w[k * LD + j], want);
            if (attn_vec_fused())
                ck_assert(memcmp(&want, &o.y[i * o.ldy + j], sizeof want) == 0);
        }
    munmap(space, bytes);
}
END_TEST

/* ---- threads and processes ---- */

enum { THREADS = 8 };
static pthread_barrier_t together;

static void *ask(void *shape)
{
    pthread_barrier_wait(&together);
    attn_microkernel *f = attn_microkernel_of(shape);
    void *at;
    memcpy(&at, &f, sizeof at);         /* ISO C has no cast from functions to data */
    return at;
}

START_TEST(threads_ask_for_one_shape_at_once)
{
    pthread_t t[THREADS];
    void *got[THREADS];
    bool have = have_kernels();
    for (size_t K = 30; K < 60; K++) {
        struct attn_shape s = shape_of(3, K, 64, 0);
        size_t kernels = attn_microkernel_counted().kernels;
        pthread_barrier_init(&together, NULL, THREADS);
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&t[i], NULL, ask, &s), 0);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(t[i], &got[i]);
            ck_assert_ptr_eq(got[i], got[0]);
        }
        ck_assert_uint_eq(attn_microkernel_counted().kernels, kernels + have);
        pthread_barrier_destroy(&together);
    }
}
END_TEST

static bool makes_others(void)
{
    struct attn_shape old = shape_of(2, 9, 64, 0), new = shape_of(5, 10, 64, 0), other = shape_of(6, 11, 64, 0);
    return right(&old) && right(&new) && right(&other);
}

/* A child goes on in memory of its own: what it makes does not touch what the parent makes. */
START_TEST(a_child_has_kernels_of_its_own)
{
    struct attn_shape old = shape_of(2, 9, 64, 0), new = shape_of(7, 12, 64, 0), other = shape_of(5, 10, 64, 0);
    fill_all();
    if (!have_kernels())
        return;
    ck_assert(right(&old));
    ck_assert(in_a_child(makes_others));
    ck_assert(right(&new) && right(&other) && right(&old));
}
END_TEST

/* ---- where kernels are refused ---- */

/* Products have the bits of the plain chain all the same. */
static bool same_bits(void)
{
    const struct attn_mat m = {.data = w, .in = STEPS, .out = LD, .ld = LD};
    float y[ROWS * LD];
    attn_gemm(alone(), y, LD, x, STEPS, ROWS, &m, ATTN_STORE, NULL);
    for (size_t i = 0; i < ROWS * LD; i++) {
        float want = 0;
        for (size_t k = 0; k < STEPS; k++)
            want = fmaf(x[i / LD * STEPS + k], w[k * LD + i % LD], want);
        if (memcmp(&want, &y[i], sizeof want))
            return false;
    }
    return true;
}

static bool same_without(const char *reason)
{
    char said[128];
    bool same = same_bits();
    attn_products_say(said, sizeof said);
    return same && !have_kernels() && strstr(said, "plain loops") && strstr(said, reason);
}

static bool no_executable_memory(void) { return refuse(SYS_mmap, 2, PROT_EXEC) && same_without("executable memory"); }
static bool no_second_mapping(void) { return refuse(SYS_mmap, 3, MAP_SHARED) && same_without("executable memory"); }
/* Nor a file that takes its place. */
static bool no_memory_file(void)
{
    return refuse(SYS_memfd_create, 1, ~0u) && refuse(SYS_openat, 2, O_CREAT) && same_without("executable memory");
}
static bool no_growth(void) { return refuse(SYS_ftruncate, 1, ~0u) && same_without("executable memory"); }

/* Whether what lies in shared memory may run here: containers often forbid it. */
static bool shared_memory_runs(void)
{
    int fd = shm_open("/attn-tests", O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
    void *p = fd < 0 || ftruncate(fd, 4096) ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    close(fd);
    shm_unlink("/attn-tests");
    return p != MAP_FAILED;
}

/* Shared memory takes its place. */
static bool no_memfd(void)
{
    bool runs = shared_memory_runs();
    return refuse(SYS_memfd_create, 1, ~0u) &&
           (runs ? same_bits() && have_kernels() : same_without("executable memory"));
}

/* What would raise SIGXFSZ is not tried. */
static bool no_files(void)
{
    struct rlimit none = {0, 0};
    return !setrlimit(RLIMIT_FSIZE, &none) && same_without("ulimit -f");
}

/* As systemd's MemoryDenyWriteExecute=: no page may be writable and executable, or become executable;
 * kernels need neither. */
static bool no_written_page_runs(void)
{
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1 };
    struct attn_shape s = shape_of(4, 33, 64, 0);
    return prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) ? errno == EINVAL : right(&s);
}

/* As the same before Linux 6.3, by a filter. */
static bool no_page_becomes_executable(void)
{
    struct attn_shape s = shape_of(4, 33, 64, 0);
    return refuse(SYS_mprotect, 2, PROT_EXEC) && right(&s);
}

START_TEST(refused)
{
    static bool (*const ways[])(void) = {
        no_executable_memory, no_second_mapping, no_memory_file, no_memfd, no_growth, no_files, no_written_page_runs,
            no_page_becomes_executable};
    fill_all();
    /* none was made before what refuses them */
    if (attn_microkernel_counted().kernels == 0 && in_a_child(have_kernels))
        ck_assert(in_a_child(ways[_i]));
}
END_TEST

/* Beyond so many kernels a process makes no more, and keeps those it has. */
START_TEST(a_process_has_so_many_kernels)
{
    enum { MOST = 4096 };
    struct attn_shape first = shape_of(1, 1, 64, 0), last = shape_of(6, 130, 64, 0);
    fill_all();
    if (!attn_microkernel_of(&first))
        return;
    for (uint32_t i = 0; i <= MOST; i++) {
        struct attn_shape s = shape_of(2, 16, 64, 0);
        s.ldy = LD + i;
        attn_microkernel_of(&s);
    }
    ck_assert_uint_eq(attn_microkernel_counted().kernels, MOST);
    ck_assert_uint_le(attn_microkernel_counted().bytes, (size_t)16 << 20);
    ck_assert(!attn_microkernel_of(&last) && right(&first));
    ck_assert(have_kernels() && same_bits());
}
END_TEST

#if defined(__x86_64__)                 /* else libxsmm is not linked */
/* libxsmm's own start would map 10 MB and open a file in /tmp that anybody can plant there. */
START_TEST(nothing_starts_libxsmm)
{
    expect("nm \"$(dirname \"$A\")\"/attn-cli >\"$D\"/names; grep -qw libxsmm_generator_gemm_kernel \"$D\"/names; "
           "grep -cwE 'libxsmm_(init|xmalloc|dispatch)' \"$D\"/names || true", 0, "0\n");
}
END_TEST
#endif

Suite *suite_microkernel(void)
{
    Suite *s = suite_create("microkernel");
    TCase *c = tcase_create("microkernel");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, kernels_keep_the_order_of_sums);
    tcase_add_test(c, kernels_of_bf16_have_the_bits_of_loops);
    tcase_add_loop_test(c, operands_may_reach_far, 0, 2);
    tcase_add_test(c, threads_ask_for_one_shape_at_once);
    tcase_add_test(c, a_child_has_kernels_of_its_own);
    tcase_add_loop_test(c, refused, 0, 7);
    tcase_add_test(c, a_process_has_so_many_kernels);
    suite_add_tcase(s, c);
#if defined(__x86_64__)
    TCase *program = tcase_create("program");
    tcase_add_checked_fixture(program, shell_set_up, scratch_remove);
    tcase_add_test(program, nothing_starts_libxsmm);
    suite_add_tcase(s, program);
#endif
    return s;
}
