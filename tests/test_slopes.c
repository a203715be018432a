/* Derivatives in every instruction set against double precision; products over rows against a plain loop. */
#include "suites.h"

#include "compute/slopes.h"
#include "sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 131 };                       /* several registers and a part of one */

static void agree(const char *set, const char *what, size_t i, double got, double want, double scale)
{
    /* a handful of roundings to float32, in functions that are accurate to 1e-7 */
    ck_assert_msg(fabs(got - want) <= 2e-6 * scale, "%s: %s[%zu] is %.9g, expected %.9g", set, what, i, got, want);
}

/* ---- the mlp ---- */

static double phi(double x) { return erfc(-x * sqrt(0.5)) / 2; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double twice_u(double x) { return 2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x); }

static double gelu(double x, double *slope)
{
    *slope = phi(x) + x * exp(-x * x / 2) / sqrt(2 * acos(-1));
    return x * phi(x);
}

static double gelu_new(double x, double *slope)
{
    double s = sigmoid(twice_u(x));
    *slope = s + x * s * sigmoid(-twice_u(x)) * 2 * sqrt(2 / acos(-1)) * (1 + 3 * 0.044715 * x * x);
    return x * s;
}

START_TEST(gelus)
{
    static double (*const plain[])(double, double *) = {gelu, gelu_new};
    float x[N], was[N], dy[N], d[N];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= N; n++) {
            fill(was, n, (unsigned)n, 15);
            fill(d, n, 7, 3);
            memcpy(x, was, sizeof x), memcpy(dy, d, sizeof dy);
            (_i ? sets[s]->gelu_new_back : sets[s]->gelu_back)(dy, x, n);
            for (size_t i = 0; i < n; i++) {
                double slope, y = plain[_i](was[i], &slope);
                agree(sets[s]->target, "gelu", i, x[i], y, 1 + fabs(y));
                agree(sets[s]->target, "its slope", i, dy[i], slope * d[i], 1 + fabs((double)d[i]));
            }
        }
}
END_TEST

START_TEST(swiglu)
{
    float g[N], x[N], dy[N], was_g[N], was_x[N], d[N];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= N; n++) {
            fill(was_g, n, (unsigned)n, 15), fill(was_x, n, 3, 2), fill(d, n, 7, 3);
            memcpy(g, was_g, sizeof g), memcpy(x, was_x, sizeof x), memcpy(dy, d, sizeof dy);
            sets[s]->silu_mul_back(dy, g, x, n);
            for (size_t i = 0; i < n; i++) {
                double at = was_g[i], y = at * sigmoid(at), slope = sigmoid(at) * (1 + at * sigmoid(-at)), by = was_x[i];
                agree(sets[s]->target, "silu(g) x", i, g[i], y * by, 1 + fabs(y * by));
                agree(sets[s]->target, "by x", i, x[i], y * d[i], 1 + fabs(y * d[i]));
                agree(sets[s]->target, "by g", i, dy[i], slope * by * d[i], 1 + fabs(by * d[i]));
            }
        }
}
END_TEST

/* Where exp() overflows or underflows, the slopes must still be 0 and 1. */
START_TEST(far_from_zero)
{
    static const float far[] = {-1e30f, -1e10f, -100, 100, 1e10f, 1e30f};
    for (int s = 0; s < n_sets; s++)
        for (size_t i = 0; i < 6; i++) {
            double side = far[i] > 0;
            float x = far[i], dy = 1, g = far[i], one = 1, by = 1;
            sets[s]->gelu_back(&dy, &x, 1);
            ck_assert_msg(dy == side && (side ? x == far[i] : x == 0), "%s: gelu(%g) %g %g", sets[s]->target, (double)far[i], (double)x, (double)dy);
            sets[s]->silu_mul_back(&one, &g, &by, 1);
            agree(sets[s]->target, "silu", i, one, side, 1);
        }
}
END_TEST

static void softmax(const struct attn_vec_ops *set, float *x, size_t n)
{
    bool finite;
    set->softmax(x, 1, set->max(x, 1, n, &finite), n);
}

/* ---- softmax and the loss ---- */

START_TEST(softmax_slope)
{
    float p[N], dp[N], d[N];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= N; n++) {
            double dot = 0;
            fill(p, n, (unsigned)n, 4), fill(d, n, 9, 5);
            softmax(sets[s], p, n);
            for (size_t i = 0; i < n; i++)
                dot += (double)p[i] * (double)d[i];
            memcpy(dp, d, sizeof dp);
            sets[s]->softmax_back(dp, p, 0.25f, n);
            for (size_t i = 0; i < n; i++)
                agree(sets[s]->target, "scores", i, dp[i], 0.25 * p[i] * (d[i] - dot), 5);
        }
}
END_TEST

START_TEST(loss_and_its_slope)
{
    float x[N], was[N];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= N; n++) {
            double sum = 0, max = -INFINITY;
            size_t target = n * 7 / 3 % n;
            fill(was, n, (unsigned)n, n % 3 ? 8 : 300);
            memcpy(x, was, sizeof x);
            for (size_t i = 0; i < n; i++)
                max = fmax(max, (double)was[i]);
            for (size_t i = 0; i < n; i++)
                sum += exp(was[i] - max);
            double loss = sets[s]->loss(x, target, 0.125f, n), want = log(sum) + max - was[target];
            /* exp is right to 1.8e-7 (vec.h), and so is the logarithm of its sum */
            ck_assert_msg(fabs(loss - want) <= 3e-7 * (1 + fabs(want)), "%s: loss %.9g, expected %.9g", sets[s]->target, loss, want);
            for (size_t i = 0; i < n; i++)
                agree(sets[s]->target, "logits", i, x[i], 0.125 * (exp(was[i] - max) / sum - (i == target)), 0.125);
        }
}
END_TEST

START_TEST(a_wild_logit_makes_the_loss_wild)
{
    static const float wild[] = {NAN, INFINITY, -INFINITY};
    for (int s = 0; s < n_sets; s++)
        for (size_t i = 0; i < 40; i++)
            for (size_t k = 0; k < 2; k++) {
                float x[40];
                fill(x, 40, 1, 5);
                x[i] = wild[k];
                ck_assert(!isfinite(sets[s]->loss(x, 3, 1, 40)));
            }
    for (int s = 0; s < n_sets; s++) {
        float x[] = {1, -INFINITY, 2};
        ck_assert(!isfinite(sets[s]->loss(x, 1, 1, 3)));
    }
}
END_TEST

/* ---- norms ---- */

/* The gradient of one row of a norm by x, in double precision. */
static void plain_norm(double *dx, double *h, const float *dy, const float *x, const float *w, double eps, bool rms, size_t n)
{
    double mean = 0, square = 0, g = 0, along = 0;
    for (size_t i = 0; i < n && !rms; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    double inv = 1 / sqrt(square + eps);
    for (size_t i = 0; i < n; i++) {
        h[i] = (x[i] - mean) * inv;
        g += rms ? 0 : (double)dy[i] * (double)w[i] / (double)n;
        along += (double)dy[i] * (double)w[i] * h[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        dx[i] = inv * ((double)dy[i] * (double)w[i] - g - h[i] * along);
}

START_TEST(norm_slopes)
{
    float x[N], dy[N], w[N], dx[N], dw[N], db[N];
    double want[N], h[N];
    bool rms = _i;
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 2; n <= N; n++) {
            fill(x, n, (unsigned)n, 3), fill(dy, n, 4, 2), fill(w, n, 5, 2);
            for (size_t i = 0; i < n; i++)
                dx[i] = 1, dw[i] = 2, db[i] = 3;        /* gradients are added to these */
            struct attn_norm_back b = {.dx = dx, .dw = dw, .db = rms ? NULL : db, .w = w, .eps = 1e-2f, .rms = rms};
            sets[s]->norm_back(&b, dy, x, n);
            plain_norm(want, h, dy, x, w, 1e-2f, rms, n);
            for (size_t i = 0; i < n; i++) {
                agree(sets[s]->target, "x", i, dx[i], 1 + want[i], 40);
                agree(sets[s]->target, "weight", i, dw[i], 2 + dy[i] * h[i], 8);
                agree(sets[s]->target, "bias", i, db[i], rms ? 3 : 3 + dy[i], 8);
            }
        }
}
END_TEST

/* ---- dropping ---- */

START_TEST(chance_knows_key_row_and_place)
{
    enum { LONG = 40000 };
    static float x[LONG], y[LONG], other[LONG];
    struct attn_drop d = {.key = 77, .below = (uint32_t)(0.2 * 0x1p32), .scale = 1.25f};
    for (size_t i = 0; i < LONG; i++)
        x[i] = (float)(i + 1);
    for (int s = 0; s < n_sets; s++) {
        size_t kept = 0, both = 0;
        sets[s]->drop(y, x, &d, 5, LONG);
        for (size_t i = 0; i < LONG; i++) {
            ck_assert(y[i] == 0 || y[i] == x[i] * 1.25f);
            kept += y[i] != 0;
        }
        ck_assert_double_le(fabs((double)kept / LONG - 0.8), 4 * sqrt(0.16 / LONG));
        memcpy(other, x, sizeof other);
        sets[s]->drop(other, other, &d, 5, 1001);       /* in place, and only the first 1001 */
        ck_assert(memcmp(other, y, 1001 * sizeof *y) == 0 && other[1001] == x[1001]);
        sets[s]->drop(other, x, &d, 6, LONG);
        for (size_t i = 0; i < LONG; i++)
            both += y[i] != 0 && other[i] != 0;
        ck_assert_double_le(fabs((double)both / LONG - 0.64), 4 * sqrt(0.64 * 0.36 / LONG));
    }
}
END_TEST

/* ---- products over rows ---- */

static float step(float x, float w, float sum, bool fused)
{
    return fused ? fmaf(x, w, sum) : x * w + sum;
}

START_TEST(panels_go_on_from_what_is_there)
{
    enum { K = 37, MOST = 20, LDX = 23, LDW = 70, LDY = 66 };
    static float x[K * LDX], w[K * LDW], y[MOST * LDY], want[MOST * LDY];
    fill(x, K * LDX, 1, 1), fill(w, K * LDW, 2, 1);
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= MOST; n++) {
            fill(want, MOST * LDY, 3, 1);
            memcpy(y, want, sizeof y);
            for (size_t k = 0; k < K; k++)
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j < ATTN_PANEL; j++)
                        want[i * LDY + j] = step(x[k * LDX + i], w[k * LDW + j], want[i * LDY + j], sets[s]->fused);
            sets[s]->outer(y, LDY, x, LDX, w, LDW, n, K);
            ck_assert_msg(memcmp(y, want, sizeof y) == 0, "%s, %zu rows", sets[s]->target, n);
        }
}
END_TEST

START_TEST(any_shape_gives_the_bits_of_the_plain_loop)
{
    static const size_t shapes[][3] = {{1, 1, 1}, {5, 3, 64}, {300, 97, 65}, {129, 200, 130}, {256, 96, 64}, {1000, 7, 200}, {64, 193, 1}};
    size_t rows = shapes[_i][0], in = shapes[_i][1], out = shapes[_i][2], ldx = in + 3, ldw = out + 5, ldy = out + 1;
    float *x = malloc(rows * ldx * sizeof *x), *w = malloc(rows * ldw * sizeof *w), *y = malloc(in * ldy * sizeof *y);
    float *want = malloc(in * ldy * sizeof *want), *sum = calloc(out, sizeof *sum);
    fill(x, rows * ldx, 1, 1), fill(w, rows * ldw, 2, 1), fill(want, in * ldy, 3, 1);
    memcpy(y, want, in * ldy * sizeof *y);
    for (size_t k = 0; k < rows; k++)
        for (size_t i = 0; i < in; i++)
            for (size_t j = 0; j < out; j++)
                want[i * ldy + j] = step(x[k * ldx + i], w[k * ldw + j], want[i * ldy + j], attn_vec_fused());
    struct attn_rows a = {x, ldx, rows, in}, b = {w, ldw, rows, out};
    struct attn_team *t = NULL;
    ck_assert_int_eq(attn_team_new(&t, 1 + _i % 3, NULL), ATTN_OK);
    attn_outer(t, y, ldy, &a, &b);
    ck_assert_mem_eq(y, want, in * ldy * sizeof *y);
    attn_outer_sum(t, sum, &b);
    for (size_t j = 0; j < out; j++) {
        float all = 0;
        for (size_t k = 0; k < rows; k++)
            all += w[k * ldw + j];
        ck_assert(sum[j] == all);
    }
    attn_team_free(t);
    free(x), free(w), free(y), free(want), free(sum);
}
END_TEST

START_TEST(avx2_and_avx512_agree_bit_for_bit)
{
    if (n_sets < 3)
        return;
    float x[2][N], dy[2][N], dw[2][N], p[N], w[N];
    for (size_t n = 1; n <= N; n++) {
        double loss[2];
        fill(p, n, 3, 4), fill(w, n, 4, 2);
        softmax(sets[1], p, n);
        for (int s = 0; s < 2; s++) {
            const struct attn_vec_ops *set = sets[s + 1];
            float g[N];
            fill(x[s], n, (unsigned)n, 20), fill(dy[s], n, 6, 3), fill(g, n, 7, 9), memset(dw[s], 0, sizeof dw[s]);
            set->gelu_back(dy[s], x[s], n);
            set->gelu_new_back(x[s], dy[s], n);
            set->silu_mul_back(dy[s], g, x[s], n);
            set->softmax_back(dy[s], p, 0.5f, n);
            set->norm_back(&(struct attn_norm_back){.dx = x[s], .dw = dw[s], .w = w, .eps = 1e-5f, .rms = n % 2}, dy[s], g, n);
            loss[s] = set->loss(dy[s], n - 1, 2, n);
        }
        ck_assert(memcmp(x[0], x[1], n * sizeof(float)) == 0 && memcmp(dy[0], dy[1], n * sizeof(float)) == 0);
        ck_assert(memcmp(dw[0], dw[1], n * sizeof(float)) == 0 && memcmp(&loss[0], &loss[1], sizeof *loss) == 0);
    }
}
END_TEST

Suite *suite_slopes(void)
{
    Suite *s = suite_create("slopes");
    TCase *c = tcase_create("slopes");
    tcase_add_unchecked_fixture(c, find_sets, NULL);
    tcase_add_loop_test(c, gelus, 0, 2);
    tcase_add_test(c, swiglu);
    tcase_add_test(c, far_from_zero);
    tcase_add_test(c, softmax_slope);
    tcase_add_test(c, loss_and_its_slope);
    tcase_add_test(c, a_wild_logit_makes_the_loss_wild);
    tcase_add_loop_test(c, norm_slopes, 0, 2);
    tcase_add_test(c, chance_knows_key_row_and_place);
    tcase_add_test(c, panels_go_on_from_what_is_there);
    tcase_add_loop_test(c, any_shape_gives_the_bits_of_the_plain_loop, 0, 7);
    tcase_add_test(c, avx2_and_avx512_agree_bit_for_bit);
    suite_add_tcase(s, c);
    return s;
}
