/* Pages of weights that are mapped before the first product: all of a weight's, and none that it does not reach. */
#include "suites.h"

#include "draw.h"
#include "scratch.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compute/page_in.h"

enum { PAGE = 4096, BLOCK = 1 << 16, BLOCKS = 40, BYTES = BLOCKS * BLOCK };

static char *file;                      /* mapped between two pages that must not be touched */

static void setup(void)
{
    scratch_make();
    char *zeros = calloc(1, BYTES);
    ck_assert_ptr_nonnull(zeros);
    scratch_put(scratch_path("weights"), zeros, BYTES);
    free(zeros);
    file = mmap(NULL, BYTES + 3 * BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(file, MAP_FAILED);
    file += 2 * BLOCK - (uintptr_t)file % BLOCK;
    int fd = open(scratch_path("weights"), O_RDONLY);
    ck_assert_ptr_eq(mmap(file, BYTES, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0), file);
    close(fd);
}

/* How many pages of n bytes of the file have been mapped. */
static size_t mapped(size_t first, size_t n)
{
    size_t pages = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    for (size_t at = first; at < first + n; at += PAGE) {
        uint64_t entry = 0;
        ck_assert_int_eq(pread(fd, &entry, sizeof entry, (off_t)((uintptr_t)(file + at) / PAGE * sizeof entry)),
                         sizeof entry);
        pages += entry >> 63;
    }
    close(fd);
    return pages;
}

/* Whether this system maps what is around a touched page, so that one touch of a block maps all of it. */
static bool maps_around(void)
{
    (void)*(const volatile char *)(file + BYTES - BLOCK);
    return sysconf(_SC_PAGESIZE) == PAGE && mapped(BYTES - BLOCK, BLOCK) == BLOCK / PAGE;
}

START_TEST(every_page_of_a_weight)
{
    struct attn_team *team = NULL;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_team_new(&team, 2, &err), ATTN_OK);
    if (maps_around()) {
        const size_t first = 3 * PAGE, bytes = 30 * BLOCK + 14 * PAGE;
        struct attn_mat w = {.data = file + first, .type = ATTN_F16, .in = bytes / PAGE, .out = PAGE / 2,
                             .ld = PAGE / 2};
        attn_page_in(team, &w);
        ck_assert_uint_eq(mapped(first, bytes), bytes / PAGE);
        ck_assert_uint_eq(mapped(32 * BLOCK, 7 * BLOCK), 0);
    }
    attn_team_free(team);
}
END_TEST

START_TEST(not_one_that_is_read_from_panels)
{
    attn_page_in(NULL,
                 &(struct attn_mat){.data = file, .in = BYTES / PAGE, .out = PAGE / 4, .ld = PAGE / 4, .panels = file});
    ck_assert_uint_eq(mapped(0, BYTES), 0);
}
END_TEST

/* A byte before or after the weight would kill the test. */
START_TEST(nothing_around_a_weight)
{
    unsigned seed = (unsigned)_i + 1;
    bool transposed = draw_below(&seed, 2);
    size_t in = draw_below(&seed, 400), out = draw_below(&seed, 400), width = transposed ? in : out,
        ld = width + draw_below(&seed, 40);
    enum attn_dtype type = draw_below(&seed, 2) ? ATTN_F32 : ATTN_BF16;
    struct attn_mat w = {.data = file, .type = type, .in = in, .out = out, .ld = ld, .transposed = transposed};
    if (transposed && out % 4 == 0) {
        w.group = 4;
        w.step = 4 + draw_below(&seed, 5);
    }
    attn_page_in(NULL, &w);             /* begins where the file does */
    if (in && out)
        w.data = file + BYTES - (((transposed ? attn_mat_index(&w, out - 1) : in - 1) * ld) + width) *
            attn_dtype_size(w.type);
    attn_page_in(NULL, &w);             /* ends where it does */
    ck_assert_uint_eq(mapped(0, BYTES) > 0, in && out);
}
END_TEST

Suite *suite_page_in(void)
{
    Suite *s = suite_create("page_in");
    TCase *tc = tcase_create("core");
    tcase_add_checked_fixture(tc, setup, scratch_remove);
    tcase_add_test(tc, every_page_of_a_weight);
    tcase_add_test(tc, not_one_that_is_read_from_panels);
    tcase_add_loop_test(tc, nothing_around_a_weight, 0, 40);
    suite_add_tcase(s, tc);
    return s;
}
