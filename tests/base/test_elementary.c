/* test_elementary.c - functions with the same bits everywhere: within a unit in the last place of the true value, and
 * some of their bits as they were first computed. */
#include "suites.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "base/splitmix.h"

/* How far y lies from the true value, in units in the last place of that.  long double has 11 bits more than
 * double, or 60. */
static double units(double y, long double truth)
{
    int e = ilogbl(truth);
    return (double)(fabsl((long double)y - truth) / ldexpl(1, (e < -1022 ? -1022 : e) - 52));
}

static uint64_t state;

static double within(double lo, double hi) { return lo + (hi - lo) * attn_splitmix_unit(attn_splitmix_next(&state)); }

/* Any size: 2^within(lo, hi). */
static double any(double lo, double hi)
{
    double e = within(lo, hi);
    return ldexp(1 + within(0, 1), (int)e);
}

enum { DRAWS = 100000 };

static double sine(double x)
{
    double s, c;
    attn_sin_cos(&s, &c, x);
    return s;
}

#define CHECK(function, truth, x) do { \
    double at = x, far = units(function(at), truth((long double)at)); \
    ck_assert_msg(far < 1, #function "(%a) = %a is %g units off", at, function(at), far); \
    worst = fmax(worst, far); \
} while (0)

START_TEST(one_argument)
{
    double worst = 0;
    state = 1;
    for (int i = 0; i < DRAWS; i++) {
        double sign = i & 1 ? 1 : -1;
        CHECK(attn_exp, expl, within(-745, 709));
        CHECK(attn_exp, expl, sign * any(-60, 1));
        CHECK(attn_log, logl, any(-1022, 1023));
        CHECK(attn_log, logl, within(0.5, 2));
        CHECK(attn_log, logl, 1 + sign * any(-52, -2));
        CHECK(attn_log, logl, any(-1074, -1022));
        CHECK(attn_log1p, log1pl, sign * any(-60, -1));
        CHECK(attn_log1p, log1pl, any(-1, 60));
        CHECK(sine, sinl, sign * any(-40, 29));
        CHECK(attn_cos, cosl, sign * any(-40, 29));
        CHECK(sine, sinl, (double)(i * 0x1.921fb54442d18p0L));          /* near multiples of pi/2 */
        CHECK(attn_cos, cosl, (double)(i * 0x1.921fb54442d18p0L));
    }
    ck_assert_msg(worst < 0.8, "the worst is %g units off", worst);        /* attn_log1p: 0.75 */
}
END_TEST

START_TEST(two_arguments)
{
    state = 2;
    for (int i = 0; i < DRAWS; i++) {
        double x = any(-8, 24), y = within(-30, 30), far = units(attn_pow(x, y), powl(x, y));
        ck_assert_msg(far < 1, "pow(%a, %a) is %g units off", x, y, far);
        double a = any(-960, 960), b = a * any(-30, 30);
        far = units(attn_hypot(a, b), hypotl(a, b));
        ck_assert_msg(far < 1, "hypot(%a, %a) is %g units off", a, b, far);
        a = any(-1074, -400), b = any(-1074, -400);
        far = units(attn_hypot(a, b), hypotl(a, b));
        ck_assert_msg(far < 1, "hypot(%a, %a) is %g units off", a, b, far);
    }
}
END_TEST

static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

START_TEST(ends)
{
    double inf = (double)INFINITY;
    ck_assert(attn_exp(-inf) == 0 && attn_exp(inf) == inf && attn_exp(0) == 1 && attn_exp(-800) == 0 &&
              attn_exp(800) == inf);
    ck_assert(same(attn_exp(-745), 0x1p-1074));
    ck_assert(isnan(attn_exp((double)NAN)) && isnan(attn_log((double)NAN)) && isnan(attn_log(-1)) &&
              isnan(attn_log1p(-2)));
    ck_assert(attn_log(0) == -inf && attn_log(inf) == inf && same(attn_log(1), 0) && attn_log1p(-1) == -inf);
    ck_assert(same(attn_log1p(-0.0), -0.0) && attn_log1p(inf) == inf);
    ck_assert(attn_pow(3, 0) == 1 && attn_pow(1, inf) == 1 && attn_pow(2, -8) == 0x1p-8 && attn_pow(10, 400) == inf &&
              attn_pow(10, -400) == 0);
    ck_assert(attn_pow(0, 2) == 0 && attn_pow(0, -2) == inf && attn_pow(inf, 2) == inf && attn_pow(inf, -2) == 0 &&
              isnan(attn_pow(-2, 0.5)));
    ck_assert(same(sine(-0.0), -0.0) && attn_cos(0) == 1 && isnan(sine(inf)) && isnan(attn_cos((double)NAN)));
    ck_assert(attn_hypot(3, -4) == 5 && attn_hypot(0, 0) == 0 && attn_hypot(-inf, (double)NAN) == inf &&
              isnan(attn_hypot(0, (double)NAN)));
    ck_assert(attn_hypot(DBL_MAX, 0) == DBL_MAX && attn_hypot(DBL_MAX, DBL_MAX) == inf &&
              attn_hypot(0x1p-1074, 0) == 0x1p-1074);
}
END_TEST

/* FNV-1a over the bits of many results. */
static uint64_t hash;

static void add(double y)
{
    unsigned char byte[sizeof y];
    memcpy(byte, &y, sizeof y);
    for (size_t i = 0; i < sizeof y; i++)
        hash = (hash ^ byte[i]) * 0x100000001B3u;
}

/* The same bits whatever compiles and runs it: these were seen with gcc and clang, on Zen 5. */
START_TEST(bits)
{
    state = 3, hash = 0xCBF29CE484222325u;
    for (int i = 0; i < 10000; i++) {
        double x = any(-20, 8), y = within(-20, 20);
        add(attn_exp(y)), add(attn_log(x)), add(attn_log1p(x)), add(attn_pow(x, y)), add(sine(x)), add(attn_cos(x));
        add(attn_hypot(x, y));
    }
    ck_assert_msg(hash == 0xde7111cb7bbdec7cu, "%#llx", (unsigned long long)hash);
}
END_TEST

Suite *suite_elementary(void)
{
    Suite *s = suite_create("elementary");
    TCase *t = tcase_create("elementary");
    tcase_add_test(t, one_argument);
    tcase_add_test(t, two_arguments);
    tcase_add_test(t, ends);
    tcase_add_test(t, bits);
    suite_add_tcase(s, t);
    return s;
}
