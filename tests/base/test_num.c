/* test_num.c - numbers as text: the digits that printf writes, in any locale. */
#include "suites.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/num.h"
#include "base/simd.h"
#include "scratch.h"

static uint64_t random_u64(void)
{
    static uint64_t x = 0x9E3779B97F4A7C15u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void check_f32(uint32_t bits)
{
    char text[ATTN_NUM_MAX + 1], expected[32];
    float x = float_of(bits);
    text[attn_num_f32(text, x)] = '\0';
    if (isnan(x)) {
        ck_assert_str_eq(text, "nan");
        return;
    }
    snprintf(expected, sizeof expected, "%.9g", (double)x);
    float back = strtof(text, NULL);
    if (strcmp(text, expected) != 0 || memcmp(&back, &x, sizeof x) != 0)
        ck_abort_msg("%08x is written %s, printf writes %s", bits, text, expected);
}

static void check_around(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (uint32_t i = 0; i < 9; i++)
        check_f32(bits - 4 + i);
}

START_TEST(f32_is_what_printf_writes)
{
    for (int i = 0; i < 500000; i++)
        check_f32((uint32_t)random_u64());
    for (int i = 0; i < 100000; i++)            /* magnitudes of weights: exponents -20..10 */
        check_f32((uint32_t)((107 + random_u64() % 31) << 23 | (random_u64() & 0x807FFFFF)));
    for (uint32_t i = 0; i < 65536; i++)        /* every bfloat16: few bits, so many ties at nine digits */
        check_f32(i << 16);
    for (uint32_t i = 0; i < 100000; i++)       /* every 1/512 in 1..10 has up to nine decimals */
        check_around(1 + (float)i / 512);
}
END_TEST

START_TEST(f32_at_the_edges)
{
    for (uint32_t i = 0; i < 20000; i++) {
        check_f32(i);                           /* the smallest denormals */
        check_f32(0x00800000 - i);              /* the largest denormals */
        check_f32(0x7F7FFFFF - i);              /* the largest finite numbers */
        check_f32(0x80000000 + i);
    }
    for (uint32_t i = 0; i < 512; i++)
        check_around(float_of(i << 23));        /* powers of two, both signs, infinities, NaNs */
    for (int e = -45; e <= 38; e++)
        for (int digit = 1; digit <= 9; digit++)
            check_around((float)(digit * pow(10, e)));
}
END_TEST

START_TEST(f32_where_one_product_misleads)
{
    /* Some of the 61 positive floats that are so close to half way between two texts that the product of two doubles
     * rounds to the wrong side; found by trying all floats. */
    static const uint32_t rows[] = {
        0x00488a0f, 0x03855f84, 0x06b9b3d4, 0x0739b3d4, 0x07d8a722, 0x082a3a2d, 0x086820c9, 0x08e820c9,
        0x0b486d52, 0x0cf38bfc, 0x100edbf3, 0x10a78038, 0x1aa55df9, 0x721c9b40, 0x7574b294,
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_around(float_of(rows[i]));
}
END_TEST

/* Compares rows of every length up to a few blocks, filled by `next`, with numbers printed one at a time. */
static void check_rows(float (*next)(void), size_t rows)
{
    enum { MOST = 200 };
    static char text[ATTN_NUM_F32S(MOST)], expected[sizeof text];
    float x[MOST];
    for (size_t i = 0; i < rows; i++) {
        size_t n = i % (MOST + 1), len = 0;
        for (size_t j = 0; j < n; j++) {
            x[j] = next();
            expected[len++] = ';';
            len += attn_num_f32(expected + len, x[j]);
        }
        ck_assert_uint_eq(attn_num_f32s(text, x, n, ';'), len);
        ck_assert_mem_eq(text, expected, len);
    }
}

static float any_bits(void)
{
    return float_of((uint32_t)random_u64());
}

/* Exponents in sequence, so that neighbours differ in everything that branches depend on. */
static float any_exponent(void)
{
    static uint32_t exponent;
    return float_of(exponent++ % 512 << 23 | (uint32_t)(random_u64() & 0x7FFFFF));
}

static float few_bits(void)
{
    return float_of((uint32_t)random_u64() & 0xFFFF0000);
}

static float mostly_zero(void)
{
    uint64_t r = random_u64();
    return r % 8 ? 0 : float_of((uint32_t)(r >> 32));
}

#define NAME(id, name) #name,
static const char *const widths[] = {ATTN_SIMD_SETS(NAME)};     /* a processor may not have all of them */
#undef NAME

START_TEST(rows_of_f32)
{
    setenv("ATTN_SIMD", widths[_i], 1);
    check_rows(any_bits, 10000);
    check_rows(any_exponent, 10000);
    check_rows(few_bits, 2000);
    check_rows(mostly_zero, 2000);
}
END_TEST

static const struct { float x; const char *text; } f32_rows[] = {
    {0.0f, "0"}, {-0.0f, "-0"}, {1.0f, "1"}, {0.5f, "0.5"}, {-0.1f, "-0.100000001"}, {100.0f, "100"},
    {123456789.0f, "123456792"}, {1e9f, "1e+09"}, {0.0001f, "9.99999975e-05"}, {0.00025f, "0.000250000012"},
    {1.001953125f, "1.00195312"}, {1e-45f, "1.40129846e-45"}, {INFINITY, "inf"}, {-INFINITY, "-inf"},
};

START_TEST(f32_texts)
{
    char text[ATTN_NUM_MAX];
    size_t n = attn_num_f32(text, f32_rows[_i].x);
    ck_assert_uint_eq(n, strlen(f32_rows[_i].text));
    ck_assert_mem_eq(text, f32_rows[_i].text, n);
}
END_TEST

static const struct { double x; int digits; const char *text; } fixed_rows[] = {
    {0.5, 0, "0"}, {1.5, 0, "2"}, {2.5, 0, "2"}, {0.125, 2, "0.12"}, {0.375, 2, "0.38"}, {1.005, 2, "1.00"},
    {-0.00004, 4, "0.0000"}, {-0.0, 4, "0.0000"}, {-0.0, 0, "0"}, {-0.00005001, 4, "-0.0001"},
    {0.1, 17, "0.10000000000000001"},
    {-123.456, 1, "-123.5"}, {9.99996, 4, "10.0000"}, {1e22, 3, "10000000000000000000000.000"},
    {-1e39, 17, "-999999999999999939709166371603178586112.00000000000000000"}, {1e300, 2, "1.00e+300"},
    {INFINITY, 4, "inf"}, {-INFINITY, 4, "-inf"}, {NAN, 4, "nan"}, {4503599627370496.5, 1, "4503599627370496.0"},
};

static void check_fixed(size_t i)
{
    char text[ATTN_NUM_FIXED_MAX + 1];
    size_t n = attn_num_fixed(text, fixed_rows[i].x, fixed_rows[i].digits);
    ck_assert_uint_le(n, ATTN_NUM_FIXED_MAX);
    text[n] = '\0';
    ck_assert_str_eq(text, fixed_rows[i].text);
}

START_TEST(fixed_texts)
{
    check_fixed((size_t)_i);
}
END_TEST

START_TEST(right_is_fixed_after_blanks)
{
    for (size_t columns = 0; columns <= 80; columns++) {
        char text[ATTN_NUM_FIXED_MAX + 80 + 1];
        size_t n = attn_num_right(text, columns, fixed_rows[_i].x, fixed_rows[_i].digits);
        ck_assert_uint_le(n, ATTN_NUM_FIXED_MAX + columns);
        text[n] = '\0';
        ck_assert_str_eq(text, printed("%*s", (int)columns, fixed_rows[_i].text));
    }
}
END_TEST

START_TEST(fixed_is_what_printf_writes)
{
    for (int i = 0; i < 200000; i++) {
        int digits = (int)(random_u64() % 18);
        double x = ldexp((double)(random_u64() >> 11), -(int)(random_u64() % 80));
        if (i % 2)
            x = (double)(random_u64() % 100000) / (double)(1 << random_u64() % 16);    /* ties */
        char text[ATTN_NUM_FIXED_MAX + 1];
        text[attn_num_fixed(text, x, digits)] = '\0';
        ck_assert_str_eq(text, printed("%.*f", digits, x));
    }
}
END_TEST

static const struct { double x; const char *text; } f64_rows[] = {
    {0, "0"}, {-0.0, "-0"}, {1e-5, "1e-05"}, {10000, "10000"}, {0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"},
    {0.1 + 0.2, "0.30000000000000004"}, {-0x1.fffffffffffffp-1023, "-2.2250738585072014e-308"},
    {0x1p-1074, "4.94065645841247e-324"}, {INFINITY, "inf"}, {-INFINITY, "-inf"}, {NAN, "nan"},
};

static void check_f64(size_t i)
{
    char text[ATTN_NUM_MAX + 1];
    double back;
    size_t n = attn_num_f64(text, f64_rows[i].x);
    ck_assert_uint_le(n, ATTN_NUM_MAX);
    text[n] = '\0';
    ck_assert_str_eq(text, f64_rows[i].text);
    ck_assert(attn_num_parse_f64(text, n, &back));
    ck_assert(isnan(back) ? isnan(f64_rows[i].x) : back == f64_rows[i].x);
}

START_TEST(f64_texts)
{
    check_f64((size_t)_i);
}
END_TEST

START_TEST(u64_both_ways)
{
    static const uint64_t values[] = {0, 9, 10, 1234567890, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[ATTN_NUM_MAX];
        uint64_t back = 1;
        ck_assert(attn_num_parse_u64(text, attn_num_u64(text, values[i]), &back));
        ck_assert_uint_eq(back, values[i]);
    }
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "18446744073709551616",
                                      "99999999999999999999"};
    uint64_t out;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!attn_num_parse_u64(bad[i], strlen(bad[i]), &out), "'%s' was taken", bad[i]);
    ck_assert(attn_num_parse_u64("12x", 2, &out));
    ck_assert_uint_eq(out, 12);
}
END_TEST

START_TEST(f64_taken_and_refused)
{
    static const struct { const char *text; double x; } good[] = {
        {"0", 0}, {"-1.5", -1.5}, {"+2", 2}, {".5", 0.5}, {"5.", 5}, {"1e-5", 1e-5}, {"1E+2", 100}, {"0.1", 0.1},
        {"1e999", INFINITY}, {"inf", INFINITY}, {"-inf", -INFINITY},
    };
    static const char *const bad[] = {
        "", ".", "-", "+-1", " 1", "1 ", "0x10", "1e", "1e+", "e5", "1,5", "infinity", "INF", "nan(1)", "1.2.3",
        "--1", "1f",
    };
    double x;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(attn_num_parse_f64(good[i].text, strlen(good[i].text), &x), "'%s' was refused", good[i].text);
        ck_assert(x == good[i].x);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!attn_num_parse_f64(bad[i], strlen(bad[i]), &x), "'%s' was taken", bad[i]);
    ck_assert(attn_num_parse_f64("nan", 3, &x) && isnan(x));
    ck_assert(attn_num_parse_f64("1.5e3garbage", 5, &x) && x == 1500);
    ck_assert(!attn_num_parse_f64("1\0002", 3, &x));
}
END_TEST

START_TEST(f64_of_many_digits)
{
    char text[ATTN_NUM_LONGEST + 1];
    double x;
    memset(text, '1', sizeof text);
    text[1] = '.';
    ck_assert(attn_num_parse_f64(text, ATTN_NUM_LONGEST, &x));
    ck_assert(x == 10.0 / 9.0);
    ck_assert(!attn_num_parse_f64(text, ATTN_NUM_LONGEST + 1, &x));
}
END_TEST

/* The bits that strtod gives, of all numbers of digits and all places of the point; ties are among them. */
START_TEST(f64_as_strtod_reads_them)
{
    for (int i = 0; i < 300000; i++) {
        char text[64];
        double x;
        uint64_t r = random_u64(), digits = random_u64() >> (r % 64);
        int n = snprintf(text, sizeof text, "%s%llu", r >> 6 & 1 ? "-" : "", (unsigned long long)digits);
        int first = text[0] == '-', point = first + (int)((r >> 8) % (unsigned)(n - first + 1));
        if (r >> 7 & 1)
            n = snprintf(text, sizeof text, "%.*s%llu.%s%llu", first, "-", (unsigned long long)(r >> 40 & 0xFF),
                         (r >> 16) % 4 ? "" : "000", (unsigned long long)digits);
        else if ((r >> 16) % 4) {
            memmove(text + point + 1, text + point, (size_t)(n - point) + 1);
            text[point] = '.';
            n++;
        }
        double right = strtod(text, NULL);
        ck_assert_msg(attn_num_parse_f64(text, (size_t)n, &x) && memcmp(&x, &right, sizeof x) == 0, "%s", text);
    }
    for (uint64_t i = 0; i < 100000; i++) {             /* half-way between two doubles: 53 bits and one more */
        char text[64];
        double x;
        int n = snprintf(text, sizeof text,
                         "%llu.%u", (unsigned long long)((1ull << 52) + (random_u64() >> 12)), i % 2 ? 5 : 50);
        ck_assert(attn_num_parse_f64(text, (size_t)n, &x) && x == strtod(text, NULL));
    }
}
END_TEST

/* Sets a locale with a decimal comma; NULL if the machine has none and cannot make one. */
static const char *comma_locale(void)
{
    static const char *const known[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (setlocale(LC_NUMERIC, known[i]))
            return known[i];
    char command[128];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", scratch_dir);
    if (system(command) != 0)
        return NULL;
    setenv("LOCPATH", scratch_dir, 1);
    return setlocale(LC_NUMERIC, "de_DE.UTF-8");
}

START_TEST(numbers_in_a_comma_locale)
{
    if (!comma_locale())
        return;                         /* neither a locale nor localedef: nothing to test with */
    ck_assert_str_eq(localeconv()->decimal_point, ",");
    double x;
    ck_assert(attn_num_parse_f64("1.5", 3, &x) && x == 1.5);
    ck_assert(!attn_num_parse_f64("1,5", 3, &x));
    for (size_t i = 0; i < sizeof fixed_rows / sizeof *fixed_rows; i++)
        check_fixed(i);
    for (size_t i = 0; i < sizeof f64_rows / sizeof *f64_rows; i++)
        check_f64(i);
    char text[ATTN_NUM_MAX];
    static const uint32_t by_printf[] = {0x00488a0f, 0x1aa55df9, 0x721c9b40};
    for (size_t i = 0; i < sizeof by_printf / sizeof *by_printf; i++) {
        float f = float_of(by_printf[i]);
        size_t n = attn_num_f32(text, f);
        ck_assert(attn_num_parse_f64(text, n, &x));
        float back = (float)x;
        ck_assert_mem_eq(&back, &f, sizeof f);
    }
    struct attn_err err;
    attn_fail(&err, ATTN_EUSAGE, "%.2f and %g", 0.5, 0.25);
    ck_assert_str_eq(err.msg, "0.50 and 0.25");
    char *formatted;
    ck_assert_int_eq(attn_asprintf(&formatted, "%.2f and %g", 0.5, 0.25), 13);
    ck_assert_str_eq(formatted, "0.50 and 0.25");
    free(formatted);
    ck_assert_str_eq(localeconv()->decimal_point, ",");     /* as the host program left it */
    setlocale(LC_NUMERIC, "C");
}
END_TEST

Suite *suite_num(void)
{
    Suite *s = suite_create("num");
    TCase *c = tcase_create("num");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, f32_is_what_printf_writes);
    tcase_add_test(c, f32_at_the_edges);
    tcase_add_test(c, f32_where_one_product_misleads);
    tcase_add_loop_test(c, rows_of_f32, 0, sizeof widths / sizeof *widths);
    tcase_add_loop_test(c, f32_texts, 0, sizeof f32_rows / sizeof *f32_rows);
    tcase_add_loop_test(c, fixed_texts, 0, sizeof fixed_rows / sizeof *fixed_rows);
    tcase_add_loop_test(c, right_is_fixed_after_blanks, 0, sizeof fixed_rows / sizeof *fixed_rows);
    tcase_add_test(c, fixed_is_what_printf_writes);
    tcase_add_loop_test(c, f64_texts, 0, sizeof f64_rows / sizeof *f64_rows);
    tcase_add_test(c, u64_both_ways);
    tcase_add_test(c, f64_taken_and_refused);
    tcase_add_test(c, f64_of_many_digits);
    tcase_add_test(c, f64_as_strtod_reads_them);
    tcase_add_test(c, numbers_in_a_comma_locale);
    suite_add_tcase(s, c);
    return s;
}
