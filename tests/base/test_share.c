/* Which records a process takes: i/n, or from the environment variables of launchers. */
#include "suites.h"

#include "scratch.h"
#include "attn_tools.h"

#include <stdio.h>
#include <string.h>

#include "base/share.h"

static const char *environment;         /* "NAME=value NAME=value" */

static char *get(const char *name)
{
    static char value[8][64];
    static unsigned next;
    size_t n = strlen(name);
    for (const char *s = environment; s && *s; s += strcspn(s, " "), s += *s == ' ')
        if (!strncmp(s, name, n) && s[n] == '=') {
            char *to = value[next++ % 8];
            snprintf(to, 64, "%.*s", (int)strcspn(s + n + 1, " "), s + n + 1);
            return to;
        }
    return NULL;
}

/* Returns "i/n", or the error message. */
static const char *parse(const char *text, const char *with)
{
    struct attn_err err;
    struct attn_share s = {.index = 9, .stride = true};
    environment = with;
    int rc = attn_share_parse(&s, text, get, &err);
    ck_assert(s.stride);
    ck_assert(rc == ATTN_OK || (rc == ATTN_EUSAGE && s.index == 9));
    return rc ? printed("%s", err.msg) : printed("%d/%d", (int)s.index, (int)s.count);
}

#define refuses(text, with, part) ck_assert_msg(strstr(parse(text, with), part), \
                                                "'%s' in '%s'", part, parse(text, with))

START_TEST(test_pairs)
{
    ck_assert_str_eq(parse("0/1", ""), "0/1");
    ck_assert_str_eq(parse("6/7", ""), "6/7");
    refuses("3/3", "", "shard 3/3: shards count from 0, so that the last of 3 is 2/3");
    refuses("0/0", "", "0/0");
    refuses("1/18446744073709551615", "", "at most 9007199254740992");
    static const char *const bad[] = {"", "/", "1/", "/2", "1", "-1/3", "1/3 ", " 1/3", "1/3/5", "a/b", "1.0/3",
                                      "99999999999999999999/3", "Auto"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(bad[i], "", "expected two whole numbers, i/n, as in 0/4 to 3/4, or auto");
}
END_TEST

#define ARRAY(id, count, min, max, step) \
    "SLURM_ARRAY_TASK_ID=" id " SLURM_ARRAY_TASK_COUNT=" count " SLURM_ARRAY_TASK_MIN=" min \
    " SLURM_ARRAY_TASK_MAX=" max " SLURM_ARRAY_TASK_STEP=" step

START_TEST(test_launchers)
{
    ck_assert_str_eq(parse("auto", "SLURM_PROCID=2 SLURM_NTASKS=4"), "2/4");
    ck_assert_str_eq(parse("auto", "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2"), "1/2");
    ck_assert_str_eq(parse("auto", "PMI_RANK=0 PMI_SIZE=3"), "0/3");
    ck_assert_str_eq(parse("auto", "SLURM_PROCID=0 SLURM_NTASKS=4 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4"),
                     "3/4");
    ck_assert_str_eq(parse("auto", "PMI_RANK=1 PMI_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=2"), "1/2");
    refuses("auto", "", "no SLURM_ARRAY_TASK_ID, SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK is set");
    refuses("auto", "SLURM_PROCID=2", "SLURM_NTASKS is not set");
    refuses("auto", ARRAY("1", "2", "0", "1", "1") " SLURM_PROCID=1", "SLURM_NTASKS is not set");
    ck_assert_str_eq(parse("auto", ARRAY("1", "2", "0", "1", "1") " SLURM_PROCID=0"), "1/2");
    refuses("auto", "PMI_RANK=x PMI_SIZE=3", "PMI_RANK is 'x', expected a whole number");
    refuses("auto", "PMI_RANK=3 PMI_SIZE=3", "shard 3/3");
}
END_TEST

START_TEST(test_arrays)
{
    ck_assert_str_eq(parse("auto", ARRAY("0", "4", "0", "3", "1")), "0/4");
    ck_assert_str_eq(parse("auto", ARRAY("4", "4", "1", "4", "1")), "3/4");
    ck_assert_str_eq(parse("auto", ARRAY("5", "4", "1", "7", "2")), "2/4");
    ck_assert_str_eq(parse("auto", ARRAY("5", "4", "1", "8", "2")), "2/4");     /* 1-8:2 ends at 7 */
    ck_assert_str_eq(parse("auto", ARRAY("0", "1", "0", "0", "1")), "0/1");
    ck_assert_str_eq(parse("auto", "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1"), "1/3");
    ck_assert_str_eq(parse("auto", ARRAY("1", "2", "0", "1", "1") " SLURM_PROCID=0 SLURM_NTASKS=8"), "1/2");
    static const char agree[] = "these do not agree";
    refuses("auto", ARRAY("5", "3", "1", "9", "1"), agree);         /* 1,5,9 */
    refuses("auto", ARRAY("2", "2", "0", "3", "1"), agree);
    refuses("auto", ARRAY("0", "4", "0", "2", "1"), agree);
    refuses("auto", ARRAY("0", "0", "0", "0", "1"), agree);
    refuses("auto", ARRAY("0", "1", "0", "0", "0"), agree);
    refuses("auto", ARRAY("1", "18446744073709551615", "1", "7", "18446744073709551615"), agree);
    refuses("auto", ARRAY("2", "1", "2", "2", "1"),
            "one task alone, run again, would take all there is: say --shard i/n");
    refuses("auto", ARRAY("2", "4", "1", "7", "2"), "it is none of these");
    refuses("auto", ARRAY("9", "4", "1", "7", "2"), "it is none of these");
    refuses("auto", "SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT is not set");
    refuses("auto", "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN is not set");
    refuses("auto", ARRAY("1", "2", "0", "1", "1") " SLURM_PROCID=1 SLURM_NTASKS=8",
            "a task of a Slurm array, and by SLURM_PROCID one process of 8");
    refuses("auto", ARRAY("1", "2", "0", "1", "1") " PMI_RANK=0 PMI_SIZE=2", "by PMI_RANK one process of 2");
}
END_TEST

START_TEST(test_ranges)
{
    for (uint64_t N = 0; N < 40; N++)
        for (uint64_t n = 1; n < 12; n++) {
            uint64_t at = 0, strides = 0, from, to;
            for (uint64_t i = 0; i < n; i++) {
                attn_share_range(&(struct attn_share){i, n, false}, N, &from, &to);
                ck_assert_uint_eq(from, at);
                ck_assert_uint_eq(from, N * i / n);
                ck_assert_uint_eq(attn_share_size(&(struct attn_share){i, n, false}, N), to - from);
                strides += attn_share_size(&(struct attn_share){i, n, true}, N);
                at = to;
            }
            ck_assert_uint_eq(at, N);
            ck_assert_uint_eq(strides, N);
        }
    uint64_t from, to;
    attn_share_range(&(struct attn_share){6, 7, false}, UINT64_MAX, &from, &to);    /* where the product overflows */
    ck_assert_uint_eq(to, UINT64_MAX);
    ck_assert_uint_eq(from, 15811494920322472812u);
    attn_share_range(&(struct attn_share){0}, 5, &from, &to);
    ck_assert(from == 0 && to == 5);
    ck_assert_uint_eq(attn_share_size(&(struct attn_share){.stride = true}, 5), 5);
}
END_TEST

Suite *suite_share(void)
{
    Suite *s = suite_create("share");
    TCase *t = tcase_create("share");
    tcase_add_test(t, test_pairs);
    tcase_add_test(t, test_launchers);
    tcase_add_test(t, test_arrays);
    tcase_add_test(t, test_ranges);
    suite_add_tcase(s, t);
    return s;
}
