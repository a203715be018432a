/* test_evidence_attention.c - mistakes in attention are recognised in small arrays that have them, on either side. */
#include "suites.h"
#include "draw.h"

#include "compare/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { H = 4, HKV = 2, T = 6, N = 8, SQUARES = H * T * T, WIDE = H * T * N };

static float a[WIDE], b[WIDE], dots[SQUARES];
static struct attn_pair square, wide;

static void set_up(void)
{
    draw_numbers(a, WIDE, 1);
    draw_numbers(b, WIDE, 2);
    draw_numbers(dots, SQUARES, 3);
    square = attn_pair_of(a, b, H, T, T);
    wide = attn_pair_of(a, b, H, T, N);
}

static bool causal(size_t i) { return i % T <= i / T % T; }

/* The softmax of scores that `shown` keys have. */
static void softmax(float *x, double scale, bool (*shown)(size_t i))
{
    for (size_t row = 0; row < SQUARES; row += T) {
        double sum = 0;
        for (size_t i = row; i < row + T; i++)
            sum += shown(i) ? exp(scale * (double)dots[i]) : 0;
        for (size_t i = row; i < row + T; i++)
            x[i] = shown(i) ? (float)(exp(scale * (double)dots[i]) / sum) : 0;
    }
}

static bool all(size_t i) { (void)i; return true; }

static void swap_sides(struct attn_pair *p)
{
    const float *x = p->a;
    p->a = p->b;
    p->b = x;
}

START_TEST(test_nothing)
{
    bool which;
    size_t by;
    double rate;
    ck_assert(!attn_seems_blind_to_itself(&square, false, &which) && !attn_seems_hidden_by_zero(&square, &which));
    ck_assert(!attn_seems_over_heads(&square, a) && !attn_seems_short_of_one(&square, &which));
    ck_assert(!attn_seems_dropped(&wide, &which, &rate) && !attn_seems_unswapped(&wide, &which));
    ck_assert(!attn_seems_by_number(&wide, &which) && !attn_seems_ahead(&wide, &by, &which));
    ck_assert(attn_fit_scores(&square, a, dots).gap > 0.1);
}
END_TEST

START_TEST(test_cap)
{
    for (size_t i = 0; i < SQUARES; i++) {
        a[i] = causal(i) ? (float)(3 * tanh(0.5 * (double)dots[i] / 3)) : -INFINITY;
        b[i] = causal(i) ? 0.5f * dots[i] : -INFINITY;
    }
    struct attn_score_fit with = attn_fit_scores(&square, a, dots), without = attn_fit_scores(&square, b, dots);
    ck_assert_double_eq_tol(with.cap, 3, 1e-3);     /* numbers of float32 */
    ck_assert_double_eq_tol(with.scale, 0.5, 1e-4);
    ck_assert(with.gap < 1e-5 && isinf(without.cap));
    ck_assert_double_eq_tol(without.scale, 0.5, 1e-6);
}
END_TEST

START_TEST(test_slopes)
{
    double slope[H];
    for (size_t i = 0; i < SQUARES; i++)
        a[i] = 0.25f * dots[i] + ldexpf(1, -(int)(i / (T * T))) * (float)(i % T);
    struct attn_slopes_fit f = attn_fit_score_slopes(slope, &square, a, dots);
    ck_assert(f.gap < 1e-5 && f.plain > 0.1);
    ck_assert_double_eq_tol(f.scale, 0.25, 1e-5);
    for (size_t h = 0; h < H; h++)
        ck_assert_double_eq_tol(slope[h], ldexp(1, -(int)h), 1e-5);
    for (size_t i = 0; i < SQUARES; i++)
        a[i] = 0.25f * dots[i];
    f = attn_fit_score_slopes(slope, &square, a, dots);
    ck_assert(f.plain < 1e-6);
}
END_TEST

START_TEST(test_hidden)
{
    bool of_a;
    for (int side = 0; side < 2; side++, swap_sides(&square)) {
        for (size_t i = 0; i < SQUARES; i++) {
            a[i] = causal(i) && i % T != i / T % T ? dots[i] : -INFINITY;
            b[i] = causal(i) ? dots[i] : -INFINITY;
        }
        ck_assert(attn_seems_blind_to_itself(&square, false, &of_a) && of_a == !side);
        a[1] = 1;
        ck_assert(!attn_seems_blind_to_itself(&square, false, &of_a));
        for (size_t i = 0; i < SQUARES; i++)
            a[i] = causal(i) ? dots[i] : 0;
        ck_assert(attn_seems_hidden_by_zero(&square, &of_a) && of_a == !side);
        a[1] = 1;
        ck_assert(!attn_seems_hidden_by_zero(&square, &of_a));
    }
}
END_TEST

START_TEST(test_rows_short_of_one)
{
    bool of_a;
    for (int side = 0; side < 2; side++, swap_sides(&square)) {
        softmax(a, 0.5, all);
        softmax(b, 0.5, causal);
        for (size_t i = 0; i < SQUARES; i++)
            a[i] = causal(i) ? a[i] : 0;
        ck_assert(attn_seems_short_of_one(&square, &of_a) && of_a == !side);
        ck_assert(attn_seems_hidden_late(&square, of_a, dots, 0.5));
        ck_assert_msg(!attn_seems_hidden_late(&square, of_a, dots, 1), "another scale hides other weights");
        for (size_t i = 0; i < SQUARES; i++)            /* a fifth is on keys that are not here */
            a[i] = 0.8f * b[i];
        ck_assert(attn_seems_short_of_one(&square, &of_a) && of_a == !side);
        ck_assert(!attn_seems_hidden_late(&square, of_a, dots, 0.5));
        a[T] *= 0.5f;
        ck_assert(!attn_seems_short_of_one(&square, &of_a));
    }
}
END_TEST

START_TEST(test_over_heads)
{
    softmax(b, 1, all);
    ck_assert(!attn_seems_over_heads(&square, b));
    for (size_t i = 0; i < T * T; i++) {
        double sum = 0;
        for (size_t h = 0; h < H; h++)
            sum += exp((double)dots[h * T * T + i]);
        for (size_t h = 0; h < H; h++)
            a[h * T * T + i] = (float)(exp((double)dots[h * T * T + i]) / sum);
    }
    ck_assert(attn_seems_over_heads(&square, a));
}
END_TEST

START_TEST(test_dropped)
{
    bool of_a;
    double rate;
    for (int side = 0; side < 2; side++, swap_sides(&wide)) {
        uint32_t seed = 5;
        for (size_t i = 0; i < WIDE; i++)
            a[i] = draw_below(&seed, 5) ? b[i] / 0.8f : 0;
        ck_assert(attn_seems_dropped(&wide, &of_a, &rate) && of_a == !side);
        ck_assert_double_eq_tol(rate, 0.2, 1e-5);
        for (size_t i = 0; i < WIDE; i++)               /* too many zeros for what the others grow by */
            a[i] = i % 2 ? b[i] / 0.8f : 0;
        ck_assert(!attn_seems_dropped(&wide, &of_a, &rate));
        for (size_t i = 0; i < WIDE; i++)
            a[i] = b[i] / 0.8f;
        ck_assert_msg(!attn_seems_dropped(&wide, &of_a, &rate), "this is a scale");
    }
}
END_TEST

START_TEST(test_order_of_heads)
{
    bool of_a;
    for (int side = 0; side < 2; side++, swap_sides(&wide)) {
        for (size_t i = 0; i < WIDE; i++) {             /* b[h][t] is the row of token h * T + t over H in a */
            size_t at = i / N;
            b[i] = a[(at % H * T + at / H) * N + i % N];
        }
        ck_assert(attn_seems_unswapped(&wide, &of_a) && of_a == !side);
        for (size_t h = 0; h < H; h++)
            for (size_t j = 0; j < N; j++) {
                size_t at = j * H + h;
                a[h * T * N + j] = b[at / N * T * N + at % N];
            }
        ck_assert(attn_seems_by_number(&wide, &of_a) && of_a == !side);
    }
}
END_TEST

START_TEST(test_grouped)
{
    float q[WIDE], k[HKV * T * N];
    draw_numbers(q, WIDE, 7);
    draw_numbers(k, HKV * T * N, 8);
    const struct attn_pair from = attn_pair_of(q, q, H, T, N), kv = attn_pair_of(k, k, HKV, T, N);
    const struct attn_grouped scores = {&square, &from, &kv, a, q, k}, context = {&wide, &square, &kv, b, a, k};
    for (size_t i = 0; i < SQUARES; i++) {
        a[i] = 0;
        for (size_t j = 0; j < N; j++)
            a[i] += q[i / T * N + j] * k[(i / (T * T) % HKV * T + i % T) * N + j];
    }
    for (size_t i = 0; i < WIDE; i++) {
        b[i] = 0;
        for (size_t key = 0; key < T; key++)
            b[i] += a[i / N * T + key] * k[(i / (T * N) / (H / HKV) * T + key) * N + i % N];
    }
    ck_assert(attn_grouped_dots_gap(&scores, true) < 1e-5 && attn_grouped_dots_gap(&scores, false) > 0.1);
    ck_assert(attn_grouped_context_gap(&context, false) < 1e-5 && attn_grouped_context_gap(&context, true) > 0.1);
}
END_TEST

START_TEST(test_ahead)
{
    bool of_a;
    size_t by;
    struct attn_pair p = attn_pair_of(a, b, 1, H * T, N);
    for (int side = 0; side < 2; side++, swap_sides(&p)) {
        memcpy(a, b + 3 * N, (H * T - 3) * N * sizeof *a);
        ck_assert(attn_seems_ahead(&p, &by, &of_a) && of_a == !side && by == 3);
        a[0] += 1;
        ck_assert(!attn_seems_ahead(&p, &by, &of_a));
    }
}
END_TEST

Suite *suite_evidence_attention(void)
{
    Suite *s = suite_create("evidence_attention");
    TCase *c = tcase_create("evidence_attention");
    tcase_add_checked_fixture(c, set_up, NULL);
    tcase_add_test(c, test_nothing);
    tcase_add_test(c, test_cap);
    tcase_add_test(c, test_slopes);
    tcase_add_test(c, test_hidden);
    tcase_add_test(c, test_rows_short_of_one);
    tcase_add_test(c, test_over_heads);
    tcase_add_test(c, test_dropped);
    tcase_add_test(c, test_order_of_heads);
    tcase_add_test(c, test_grouped);
    tcase_add_test(c, test_ahead);
    suite_add_tcase(s, c);
    return s;
}
