/* Attention over plain arrays, as the articles' simple_attention takes them, with all its options. */

#include "suites.h"
#include "draw.h"

#include "attn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, H = 4, HKV = 2, TQ = 70, TK = 90, DH = 5, DV = 3, SQUARE = B * H * TQ * TK };

static float q[B * H * TQ * DH], k[B * HKV * TK * DH], v[B * HKV * TK * DV], context[B * H * TQ * DV];
static float dots[SQUARE], scores[SQUARE], pattern[SQUARE];
static uint8_t mask[TQ * TK];

static void setup(void)
{
    draw_numbers(q, sizeof q / sizeof *q, 1);
    draw_numbers(k, sizeof k / sizeof *k, 2);
    draw_numbers(v, sizeof v / sizeof *v, 3);
    for (size_t i = 0; i < TQ * TK; i++)
        mask[i] = i % 7 != 2 && i / TK != 13;       /* row 13 sees no key */
}

static const enum attn_form forms[] = {ATTN_FULL, ATTN_CAUSAL, ATTN_CAUSAL_RENORM, ATTN_MASKED};
enum { FORMS = sizeof forms / sizeof *forms };

static struct attn_attention plain(void)
{
    return (struct attn_attention){
        .batch = B, .H = H, .Hkv = HKV, .Tq = TQ, .Tk = TK, .dh = DH, .dv = DV, .scale = 0.4f, .threads = 2,
        .dots = dots, .scores = scores, .pattern = pattern};
}

static bool visible(const struct attn_attention *a, size_t t, size_t j)
{
    return a->kind.form == ATTN_FULL || (a->kind.form == ATTN_MASKED ? mask[t * TK + j] != 0 : j <= a->pos + t);
}

/* Compares one row with double precision.  Rounding in float32 leaves 1e-6 of sums of at most 90 numbers of order 1. */
static void expect_row(const struct attn_attention *a, size_t b, size_t h, size_t t)
{
    const double tolerance = 1e-6;
    const float *x = q + ((b * H + h) * TQ + t) * DH;
    const float *keys = k + (b * HKV + h / 2) * TK * DH, *values = v + (b * HKV + h / 2) * TK * DV;
    size_t row = ((b * H + h) * TQ + t) * TK;
    double weight[TK], sum = 0;
    for (size_t j = 0; j < TK; j++) {
        double dot = 0;
        for (size_t i = 0; i < DH; i++)
            dot += (double)x[i] * keys[j * DH + i];
        ck_assert_double_le(fabs(dots[row + j] - dot), tolerance);
        weight[j] = visible(a, t, j) ? exp(dot * (double)a->scale) : 0;
        sum += weight[j];
        if (visible(a, t, j) || a->kind.form == ATTN_CAUSAL_RENORM)
            ck_assert(scores[row + j] == dots[row + j] * a->scale);
        else
            ck_assert(scores[row + j] == -INFINITY);
    }
    for (size_t j = 0; j < TK; j++) {
        double want = sum > 0 ? weight[j] / sum : 0;
        ck_assert_double_le(fabs(pattern[row + j] - want), tolerance);
        ck_assert(visible(a, t, j) || pattern[row + j] == 0);
    }
    for (size_t i = 0; i < DV; i++) {
        double want = 0;
        for (size_t j = 0; j < TK && sum > 0; j++)
            want += weight[j] / sum * values[j * DV + i];
        ck_assert_double_le(fabs(context[((b * H + h) * TQ + t) * DV + i] - want), tolerance);
    }
}

static void expect_all(const struct attn_attention *a)
{
    struct attn_err err = {0};
    ck_assert_msg(!attn_attention(context, q, k, v, a, &err), "%s", err.msg);
    for (size_t b = 0; b < B; b++)
        for (size_t h = 0; h < H; h++)
            for (size_t t = 0; t < TQ; t++)
                expect_row(a, b, h, t);
}

START_TEST(every_masking_is_right)
{
    struct attn_attention a = plain();
    a.kind.form = forms[_i];
    a.mask = mask;
    expect_all(&a);
    a.pos = 20;                         /* the queries continue a text */
    expect_all(&a);
}
END_TEST

/* The optional arrays only receive copies of what is computed anyway. */
START_TEST(asking_for_arrays_changes_nothing)
{
    static float again[B * H * TQ * DV];
    struct attn_attention a = plain();
    a.kind.form = forms[_i];
    a.mask = mask;
    ck_assert(!attn_attention(context, q, k, v, &a, NULL));
    a.dots = a.scores = a.pattern = NULL;
    a.threads = 1;
    ck_assert(!attn_attention(again, q, k, v, &a, NULL));
    ck_assert(memcmp(context, again, sizeof again) == 0);
}
END_TEST

START_TEST(empty_rows_are_zeros_or_refused)
{
    struct attn_err err = {0};
    struct attn_attention a = plain();
    a.kind.form = ATTN_MASKED;
    a.mask = mask;
    ck_assert(!attn_attention(context, q, k, v, &a, &err));
    for (size_t i = 0; i < DV; i++)
        ck_assert(context[13 * DV + i] == 0);
    a.refuse_empty = true;
    ck_assert_int_eq(attn_attention(context, q, k, v, &a, &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "8 of 560 rows"));        /* one for each head and sentence */
}
END_TEST

/* Hidden scores far above the visible ones: the softmax of the latter underflows to 0, and dividing by the row's sum
 * would give 0/0. */
START_TEST(renormalising_may_lose_a_row)
{
    const float one[] = {1}, keys[] = {0, 5, 120}, values[] = {1, 2, 3};
    float c, p[3];
    struct attn_attention a = {.batch = 1, .H = 1, .Hkv = 1, .Tq = 1, .Tk = 3, .dh = 1, .dv = 1, .pos = 1, .scale = 1,
                               .kind = {.form = ATTN_CAUSAL_RENORM}, .pattern = p};
    ck_assert(!attn_attention(&c, one, keys, values, &a, NULL));
    ck_assert(c == 0 && p[0] == 0 && p[1] == 0 && p[2] == 0);
    a.refuse_empty = true;
    ck_assert_int_ne(attn_attention(&c, one, keys, values, &a, NULL), 0);
    a.kind.form = ATTN_CAUSAL;            /* masking with -inf keeps the row */
    ck_assert(!attn_attention(&c, one, keys, values, &a, NULL));
    ck_assert(p[0] > 0.006f && p[1] > 0.99f && p[2] == 0);
}
END_TEST

/* Three queries of one head over three keys, whose dots are 1e30 times what `q` says, squared. */
static struct attn_lost overflow_of(float c[3], float p[9], const float x[3], struct attn_kind kind,
                                    const uint8_t *hide)
{
    struct attn_lost lost;
    const float keys[] = {1e30f, 1e30f, 1e30f}, values[] = {1, 2, 3};
    float queries[3];
    struct attn_attention a = {.batch = 1, .H = 1, .Hkv = 1, .Tq = 3, .Tk = 3, .dh = 1, .dv = 1, .scale = 1,
                               .kind = kind, .mask = hide, .pattern = p, .overflow = &lost};
    struct attn_err err = {0};
    for (int i = 0; i < 3; i++)
        queries[i] = x[i];
    ck_assert_msg(!attn_attention(c, queries, keys, values, &a, &err), "%s", err.msg);
    return lost;
}

static const struct attn_kind every[] = {
    {.form = ATTN_FULL}, {.form = ATTN_CAUSAL}, {.form = ATTN_CAUSAL_RENORM}, {.form = ATTN_WINDOW, .w = 2},
    {.form = ATTN_STRIDED, .w = 1, .s = 1},
    {.form = ATTN_RANDOM, .w = 1, .r = 1, .seed = 3}, {.form = ATTN_BLOCK, .b = 2, .causal = true},
    {.form = ATTN_MASKED}};
enum { EVERY = sizeof every / sizeof *every };

/* Finite queries and keys whose products are inf, or -inf: the row is told of, whoever looks on, and is NaN, not 0. */
START_TEST(dots_that_overflow_are_told)
{
    static const uint8_t see[9] = {1, 0, 0, 1, 1, 0, 0, 1, 200};
    static const float signs[] = {1e30f, -1e30f};
    for (int s = 0; s < 2; s++)
        for (int watched = 0; watched < 2; watched++) {
            const float x[] = {1, signs[s], 2};
            float c[3], p[9];
            struct attn_lost lost = overflow_of(c, watched ? p : NULL, x, every[_i], see);
            ck_assert(lost.rows == 1 && lost.seq == 0 && lost.head == 0 && lost.row == 1);
            ck_assert(isfinite(c[0]) && isnan(c[1]) && isfinite(c[2]));
            ck_assert(!watched || isnan(p[3]));
        }
}
END_TEST

/* That a mask leaves a query a key is seen whichever key it is, though the one score it has is -inf. */
START_TEST(a_row_of_one_key_may_overflow)
{
    static const uint8_t see[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const float x[] = {-1e30f, -1e30f, -1e30f};
    float c[3], p[9];
    ck_assert_uint_eq(overflow_of(c, p, x, (struct attn_kind){.form = ATTN_MASKED}, see).rows, 3);
    ck_assert(isnan(c[0]) && isnan(c[1]) && isnan(c[2]));
}
END_TEST

START_TEST(what_does_not_overflow_is_not_told)
{
    static const uint8_t none[9] = {0};
    const float x[] = {1, -3, 2e8f};            /* a dot of 2e38 */
    for (int i = 0; i < EVERY; i++) {
        float c[3], p[9];
        ck_assert_uint_eq(overflow_of(c, p, x, every[i], none).rows, 0);
        ck_assert_uint_eq(overflow_of(c, NULL, x, every[i], none).rows, 0);
        ck_assert(every[i].form != ATTN_MASKED || (c[0] == 0 && c[1] == 0 && c[2] == 0));
    }
}
END_TEST

/* The dots of linear attention are sums of phi(q) phi(k), and what they are divided by is their sum. */
START_TEST(linear_sums_overflow_too)
{
    const float x[] = {1, 1e30f, 1e30f};
    for (int watched = 0; watched < 2; watched++) {
        float c[3], p[9];
        struct attn_lost lost = overflow_of(c, watched ? p : NULL, x,
                                            (struct attn_kind){.form = ATTN_LINEAR, .causal = true}, NULL);
        ck_assert(lost.rows == 2 && lost.row == 1 && c[0] == 1 && isnan(c[1]) && isnan(c[2]));
    }
}
END_TEST

/* A dot that is -inf beside finite ones leaves them their weights; and a scale may overflow what the
 * product did not. */
START_TEST(some_dots_of_a_row_may_overflow)
{
    const float x[] = {-1e20f}, keys[] = {1e30f, 1e-20f, 1e-20f}, values[] = {7, 1, 3}, large[] = {1e-20f, 3e20f, 0};
    float c, p[3];
    struct attn_lost lost;
    struct attn_attention a = {.batch = 1, .H = 1, .Hkv = 1, .Tq = 1, .Tk = 3, .dh = 1, .dv = 1, .scale = 1,
                               .overflow = &lost, .pattern = p};
    ck_assert(!attn_attention(&c, x, keys, values, &a, NULL));
    ck_assert(lost.rows == 1 && p[0] == 0 && p[1] == 0.5f && p[2] == 0.5f && c == 2);
    ck_assert(!attn_attention(&c, x, large, values, &a, NULL));
    ck_assert(lost.rows == 1);
    a.scale = 0.01f;                    /* -3e40 is -inf before it is scaled */
    ck_assert(!attn_attention(&c, x, large, values, &a, NULL));
    ck_assert(lost.rows == 1);
    const float small[] = {1e-20f, 3e18f, 0};
    ck_assert(!attn_attention(&c, x, small, values, &a, NULL));
    ck_assert(lost.rows == 0);
    a.scale = 2;                        /* -3e38 is finite, twice that is not */
    ck_assert(!attn_attention(&c, x, small, values, &a, NULL));
    ck_assert(lost.rows == 1 && p[1] == 0);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    struct attn_err err = {0};
    struct attn_attention a = plain();
    size_t *zero[] = {&a.batch, &a.H, &a.Hkv, &a.Tq, &a.Tk, &a.dh, &a.dv};
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
        size_t was = *zero[i];
        *zero[i] = 0;
        ck_assert_int_eq(attn_attention(context, q, k, v, &a, &err), ATTN_EUSAGE);
        *zero[i] = was;
    }
    a.Hkv = 3;
    ck_assert_int_eq(attn_attention(context, q, k, v, &a, &err), ATTN_EUSAGE);
    a = plain();
    a.kind.form = ATTN_MASKED;
    ck_assert_int_eq(attn_attention(context, q, k, v, &a, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "[70, 90]"));
}
END_TEST

Suite *suite_attention(void)
{
    Suite *s = suite_create("attention");
    TCase *c = tcase_create("attention");
    tcase_add_checked_fixture(c, setup, NULL);
    tcase_add_loop_test(c, every_masking_is_right, 0, FORMS);
    tcase_add_loop_test(c, asking_for_arrays_changes_nothing, 0, FORMS);
    tcase_add_test(c, empty_rows_are_zeros_or_refused);
    tcase_add_test(c, renormalising_may_lose_a_row);
    tcase_add_loop_test(c, dots_that_overflow_are_told, 0, EVERY);
    tcase_add_test(c, a_row_of_one_key_may_overflow);
    tcase_add_test(c, what_does_not_overflow_is_not_told);
    tcase_add_test(c, linear_sums_overflow_too);
    tcase_add_test(c, some_dots_of_a_row_may_overflow);
    tcase_add_test(c, nonsense_is_refused);
    suite_add_tcase(s, c);
    return s;
}
