/* test_lines.c - text written by several threads is what one thread would have written. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "scratch.h"
#include "sinks/lines.h"

/* Row i is its number, followed by 0 to 6 times `step` letters. */
struct text { size_t from, step; };

static size_t put(const void *ctx, size_t i, char *buf)
{
    const struct text *t = ctx;
    size_t n = attn_num_u64(buf, t->from + i), letters = (t->from + i) % 7 * t->step;
    memset(buf + n, 'a' + (int)(i % 26), letters);
    buf[n + letters] = '\n';
    return n + letters + 1;
}

static size_t most(const struct text *t)
{
    return 6 * t->step + ATTN_NUM_MAX + 1;
}

/* Makes three calls with n rows each on `threads` threads; something else is written before the last one. */
static char *written(int threads, size_t n, size_t step, size_t *len)
{
    struct attn_err err = { 0 };
    struct attn_team *team;
    struct attn_lines *l;
    struct attn_out *o;
    char *got;
    ck_assert(!attn_team_new(&team, threads, &err) && !attn_lines_new(&l, team, &err) &&
              !attn_out_open_memory(&o, &err));
    for (size_t call = 0; call < 3; call++) {
        struct text text = { call * n, step };
        struct attn_row_printer rows = { n, most(&text), put, &text };
        ck_assert_msg(!attn_lines_write(l, o, &rows, &err), "%s", err.msg);
        if (call == 1) {
            attn_lines_flush(l);
            attn_out_str(o, "between\n");
        }
    }
    attn_lines_flush(l);
    ck_assert(!attn_out_take(o, &got, len, &err));
    attn_out_close(o);
    attn_lines_free(l);
    attn_team_free(team);
    return got;
}

static char *expected(size_t n, size_t step, size_t *len)
{
    struct text text = { 0, step };
    char *all = malloc(3 * n * most(&text) + sizeof "between\n");
    *len = 0;
    for (size_t call = 0; call < 3; call++) {
        text.from = call * n;
        for (size_t i = 0; i < n; i++)
            *len += put(&text, i, all + *len);
        if (call == 1)
            *len = (size_t)(stpcpy(all + *len, "between\n") - all);
    }
    return all;
}

/* No row; fewer than a buffer holds; more than all buffers of a round hold; rows longer than a buffer. */
static const struct { size_t n, step; } amounts[] = {{0, 1}, {1, 1}, {3, 10}, {20000, 20}, {2000, 300}, {70, 20000}};

START_TEST(any_number_of_threads)
{
    size_t len, want_len, n = amounts[_i].n, step = amounts[_i].step;
    char *want = expected(n, step, &want_len);
    for (int threads = 1; threads <= 7; threads += threads < 3 ? 1 : 4) {
        char *got = written(threads, n, step, &len);
        ck_assert_uint_eq(len, want_len);
        ck_assert_mem_eq(got, want, len);
        free(got);
    }
    free(want);
}
END_TEST

/* Pending text belongs to the output that was set when it was written. */
START_TEST(outputs_in_turns)
{
    struct attn_err err = { 0 };
    struct attn_team *team;
    struct attn_lines *l;
    struct attn_out *o[2];
    char *got[2];
    size_t len[2];
    ck_assert(!attn_team_new(&team, 2, &err) && !attn_lines_new(&l, team, &err));
    ck_assert(!attn_out_open_memory(&o[0], &err) && !attn_out_open_memory(&o[1], &err));
    for (size_t call = 0; call < 6; call++) {
        struct text text = { call / 2 * 1000, 20 };
        struct attn_row_printer rows = { 1000, most(&text), put, &text };
        ck_assert(!attn_lines_write(l, o[call % 2], &rows, &err));
    }
    attn_lines_flush(l);
    for (int i = 0; i < 2; i++) {
        ck_assert(!attn_out_take(o[i], &got[i], &len[i], &err));
        attn_out_close(o[i]);
    }
    ck_assert_uint_eq(len[0], len[1]);
    ck_assert_mem_eq(got[0], got[1], len[0]);
    free(got[0]), free(got[1]);
    attn_lines_free(l);
    attn_team_free(team);
}
END_TEST

START_TEST(a_full_disk_ends_it)
{
    struct attn_err err = { 0 };
    struct attn_team *team;
    struct attn_lines *l;
    struct attn_out *o;
    struct text text = { 0, 100 };
    struct attn_row_printer rows = { 100000, most(&text), put, &text };
    ck_assert(!attn_team_new(&team, 2, &err) && !attn_lines_new(&l, team, &err) &&
              !attn_out_open(&o, "/dev/full", &err));
    ck_assert(!attn_lines_write(l, o, &rows, &err));
    attn_lines_flush(l);
    ck_assert(attn_out_failed(o));
    ck_assert_int_eq(attn_out_commit(o, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, "/dev/full: cannot write: No space left on device"));
    attn_out_close(o);
    attn_lines_free(l);
    attn_team_free(team);
}
END_TEST

Suite *suite_lines(void)
{
    Suite *s = suite_create("lines");
    TCase *c = tcase_create("lines");
    tcase_add_loop_test(c, any_number_of_threads, 0, sizeof amounts / sizeof *amounts);
    tcase_add_test(c, outputs_in_turns);
    tcase_add_test(c, a_full_disk_ends_it);
    suite_add_tcase(s, c);
    return s;
}
