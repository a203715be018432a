/* Attention over plain arrays, as the articles' simple_attention takes them, with all its options. */

#include "suites.h"

#include "attn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, H = 4, HKV = 2, TQ = 70, TK = 90, DH = 5, DV = 3, SQUARE = B * H * TQ * TK };

static float q[B * H * TQ * DH], k[B * HKV * TK * DH], v[B * HKV * TK * DV], context[B * H * TQ * DV];
static float dots[SQUARE], scores[SQUARE], pattern[SQUARE];
static uint8_t mask[TQ * TK];

static void fill(float *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
}

static void setup(void)
{
    fill(q, sizeof q / sizeof *q, 1);
    fill(k, sizeof k / sizeof *k, 2);
    fill(v, sizeof v / sizeof *v, 3);
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

/* Compares one row with double precision.  Rounding in float32 leaves 1e-6 at these sizes: sums of at most 90 numbers of order
 * 1. */
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

/* Hidden scores far above the visible ones: the softmax of the latter underflows to 0, and dividing by the row's sum would be
 * 0/0. */
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
    tcase_add_test(c, nonsense_is_refused);
    suite_add_tcase(s, c);
    return s;
}
