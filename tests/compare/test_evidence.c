/* test_evidence.c - each kind of difference is recognised in arrays that have it, and not in others. */
#include "suites.h"
#include "draw.h"

#include "compare/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { H = 3, T = 6, N = 8, ALL = H * T * N };

static float a[ALL], b[ALL];

static struct attn_pair pair(void)
{
    return attn_pair_of(a, b, H, T, N);
}

static void set_up(void)
{
    draw_numbers(a, ALL, 1);
    draw_numbers(b, ALL, 2);
}

/* Unrelated arrays show no kind of difference. */
/* One number in a hundred may be off, and one at least must not have been rounded before. */
START_TEST(test_stored)
{
    struct attn_pair p = pair();
    for (int side = 0; side < 2; side++) {
        float *round = side ? b : a, *whole = side ? a : b;
        draw_numbers(whole, ALL, 4);
        for (size_t i = 0; i < ALL; i++)
            round[i] = attn_round_bf16(whole[i]);
        struct attn_stored s = attn_seems_stored(&p);
        ck_assert(s.type && !strcmp(s.type, "bf16") && s.a_is == !side);
        for (size_t i = 0; i <= ALL / 100; i++) {       /* as many as may be off, and then one more */
            ck_assert_ptr_nonnull(attn_seems_stored(&p).type);
            round[i] = attn_round_bf16(2 * round[i]);
        }
        ck_assert_ptr_null(attn_seems_stored(&p).type);
        for (size_t i = 0; i < ALL; i++)
            round[i] = attn_round_f16(whole[i]);
        s = attn_seems_stored(&p);
        ck_assert(s.type && !strcmp(s.type, "float16") && s.a_is == !side);
        memcpy(whole, round, sizeof a);
        ck_assert_ptr_null(attn_seems_stored(&p).type);
        whole[ALL - 1] = nextafterf(whole[ALL - 1], 0);
        ck_assert_ptr_nonnull(attn_seems_stored(&p).type);
    }
}
END_TEST

START_TEST(test_nothing)
{
    struct attn_pair p = pair(), one = attn_pair_of(a, b, 1, T, N);
    struct attn_rotation from, to;
    double x;
    size_t map[H];
    bool which;
    ck_assert(!attn_seems_scaled(&p, &x) && !attn_seems_reordered(&p, map) && !attn_seems_offset(&p));
    ck_assert(!attn_seems_shuffled(&p) && !attn_seems_sum(&one, a + T * N, &x) && !attn_seems_late(a, T, b, T, N));
    ck_assert(!attn_seems_rotated(&p, 10000, &from, &to) && !attn_seems_rotated_offset(&p, 10000));
    ck_assert(!attn_seems_merged_wrong(&p, &which));
    ck_assert(attn_fit_bend(a, b, NULL, ALL) == ATTN_BENDS);
}
END_TEST

START_TEST(test_gap)
{
    float x[] = {3, 4, INFINITY}, y[] = {3, 4, INFINITY};
    ck_assert(attn_gap(x, y, 3) == 0);
    x[0] = 3.5f;
    ck_assert_double_eq_tol(attn_gap(x, y, 3), 0.1, 1e-12);     /* 0.5 of 5, in double */
    x[2] = 0;
    ck_assert(isinf(attn_gap(x, y, 3)));
}
END_TEST

START_TEST(test_scaled)
{
    double factor;
    struct attn_pair p = pair();
    memcpy(a, b, sizeof a);
    ck_assert(attn_pair_gap(&p) == 0);
    a[0] += 1;
    ck_assert(attn_pair_gap(&p) > 0);
    for (size_t i = 0; i < ALL; i++)
        a[i] = b[i] * 0.125f;
    a[0] += 1;
    ck_assert(!attn_seems_scaled(&p, &factor));
    a[0] -= 1;
    a[5] = b[5] = -INFINITY;            /* masked: no evidence for or against */
    ck_assert(attn_seems_scaled(&p, &factor));
    ck_assert_double_eq_tol(factor, 0.125, 1e-9);   /* sums in double */
    a[5] = 1;
    ck_assert(!attn_seems_scaled(&p, &factor));
}
END_TEST

START_TEST(test_reordered)
{
    size_t map[H];
    struct attn_pair p = pair();
    const size_t want[H] = {2, 1, 0};
    for (size_t h = 0; h < H; h++)
        memcpy(a + h * T * N, b + want[h] * T * N, T * N * sizeof *a);
    ck_assert(attn_seems_reordered(&p, map));
    ck_assert(memcmp(map, want, sizeof want) == 0);
    memcpy(a, b, sizeof a);
    ck_assert_msg(!attn_seems_reordered(&p, map), "all heads are at home");
}
END_TEST

/* The time grows with the square of the heads, of which a small file may have very many. */
START_TEST(test_too_many_heads_to_reorder)
{
    enum { MANY = ATTN_HEADS_TRIED + 1 };
    static float x[MANY], y[MANY];
    static size_t map[MANY];
    for (size_t h = 0; h < MANY; h++)
        x[h] = y[MANY - 1 - h] = (float)h;
    const struct attn_pair most = attn_pair_of(x + 1, y, ATTN_HEADS_TRIED, 1, 1), more = attn_pair_of(x, y, MANY, 1, 1);
    ck_assert(attn_seems_reordered(&most, map) && map[0] == ATTN_HEADS_TRIED - 1);
    ck_assert(!attn_seems_reordered(&more, map));
}
END_TEST

START_TEST(test_offset)
{
    struct attn_pair p = pair();
    for (size_t i = 0; i < ALL; i++)
        a[i] = b[i] + 0.01f * (float)(i % N + i / (T * N));
    ck_assert(attn_seems_offset(&p));
    a[0] += 0.1f;
    ck_assert(!attn_seems_offset(&p));
}
END_TEST

START_TEST(test_merged_wrong)
{
    bool a_is_wrong;
    struct attn_pair whole = attn_pair_of(a, b, 1, T, H * N), p = attn_pair_split(&whole, H);
    for (size_t t = 0; t < T; t++)
        for (size_t h = 0; h < H; h++)
            for (size_t j = 0; j < N; j++)
                a[t * H * N + j * H + h] = b[t * H * N + h * N + j];
    ck_assert(attn_seems_merged_wrong(&p, &a_is_wrong) && a_is_wrong);
    b[0] += 1;
    ck_assert(!attn_seems_merged_wrong(&p, &a_is_wrong));
    b[0] -= 1;
    struct attn_pair other = p;
    other.a = p.b;
    other.b = p.a;
    ck_assert(attn_seems_merged_wrong(&other, &a_is_wrong) && !a_is_wrong);
    ck_assert(attn_seems_shuffled(&p));
}
END_TEST

START_TEST(test_sum_and_late)
{
    double sign;
    float term[T * N];
    struct attn_pair p = attn_pair_of(a, b, 1, T, N);
    draw_numbers(term, T * N, 3);
    for (size_t i = 0; i < T * N; i++)
        a[i] = b[i] - term[i];
    ck_assert(attn_seems_sum(&p, term, &sign) && sign == -1);
    memcpy(a, b + N, (T - 1) * N * sizeof *a);
    ck_assert(attn_seems_late(a, T, b, T, N) && !attn_seems_late(b, T, a, T, N));
}
END_TEST

/* ---- attention ---- */

static float softmax_of(float *out, const float *x, size_t n, float factor)
{
    float sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += out[k] = expf(factor * x[k]);
    for (size_t k = 0; k < n; k++)
        out[k] /= sum;
    return sum;
}

START_TEST(test_stretched_and_capped)
{
    struct attn_pair p = attn_pair_of(a, b, 1, H * T, N);
    double factor, cap;
    bool a_is;
    for (size_t i = 0; i < ALL; i++)
        a[i] = 0.9f * b[i] + (float)(i % N);
    ck_assert(attn_seems_stretched(&p, &factor) && fabs(factor - 0.9) < 1e-5);
    a[5] += 0.1f;
    ck_assert(!attn_seems_stretched(&p, &factor));
    for (size_t i = 0; i < ALL; i++)
        a[i] = 2 * tanhf(b[i] / 2);
    ck_assert(attn_seems_capped(&p, &cap, &a_is) && a_is && fabs(cap - 2) < 1e-4);
    p = attn_pair_of(b, a, 1, H * T, N);
    ck_assert(attn_seems_capped(&p, &cap, &a_is) && !a_is && fabs(cap - 2) < 1e-4);
    set_up();
    ck_assert(!attn_seems_capped(&p, &cap, &a_is));
}
END_TEST

START_TEST(test_sums_of_terms)
{
    float x[ALL], c[ALL];
    const float *const terms[] = {a, b, NULL, c}, *const fewer[] = {a, NULL, NULL, c};
    int times[4];
    double gap;
    draw_numbers(c, ALL, 3);
    for (size_t i = 0; i < ALL; i++) {
        c[i] *= i % N ? 1 : 1000;       /* a column that is much larger does not hide the others */
        x[i] = a[i] + 2 * c[i];
    }
    ck_assert(attn_fit_sum(times, &gap, x, terms, 4, H * T, N) && gap < 1e-6);
    ck_assert(times[0] == 1 && times[1] == 0 && times[2] == 0 && times[3] == 2);
    ck_assert(attn_fit_sum_gap((const int[]){1, 1, 0, 2}, x, terms, 4, H * T, N) > 1e-3);
    ck_assert(isinf(attn_fit_sum_gap((const int[]){1, 1, 0, 2}, x, fewer, 4, H * T, N)));
    ck_assert(!attn_fit_sum(times, &gap, x, (const float *const[]){a, b}, 2, H * T, N));
    memcpy(x, c, sizeof x);
    memcpy(b, c, sizeof b);             /* of sums that are the same, the one of fewer terms */
    ck_assert(attn_fit_sum(times, &gap, x, terms, 4, H * T, N) && times[0] == 0 && times[1] + times[3] == 1);
}
END_TEST

START_TEST(test_tied_rows)
{
    enum { V = 20 };
    static const int32_t id[T] = {3, 0, 19, 7, 3, 11};
    float logits[T * V];
    draw_numbers(logits, T * V, 5);
    memcpy(b + 4 * N, b, N * sizeof *b);                /* the same token twice */
    for (size_t t = 0; t < T; t++)
        for (size_t k = 0; k < T; k++) {
            double sum = 0;
            for (size_t j = 0; j < N; j++)
                sum += 2.5 * (double)a[t * N + j] * (double)b[k * N + j];
            logits[t * V + (size_t)id[k]] = (float)sum;
        }
    ck_assert(attn_fit_tied(logits, V, a, b, id, T, N) < 1e-6);
    logits[T * V - 1]++;
    ck_assert(attn_fit_tied(logits, V, a, b, id, T, N) > 1e-3);
}
END_TEST

START_TEST(test_later)
{
    struct attn_pair p = attn_pair_of(a, b, 1, H * T, N);
    size_t by;
    ck_assert(!attn_seems_later(&p, a, b, &by));
    memcpy(a, b + 3 * N, (ALL - 3 * N) * sizeof *a);
    ck_assert(attn_seems_later(&p, a, b, &by) && by == 3);
    ck_assert(!attn_seems_later(&p, b, a, &by));
}
END_TEST

START_TEST(test_tempered)
{
    double factor;
    float scores[ALL];
    struct attn_pair p = pair();
    draw_numbers(scores, ALL, 4);
    for (size_t i = 0; i < ALL; i += N) {
        softmax_of(a + i, scores + i, N, 40);           /* the smallest weights are rounded to 0 */
        softmax_of(b + i, scores + i, N, 5);
        a[i] = a[i] < 1e-10f ? 0 : a[i];
    }
    ck_assert(attn_seems_tempered(&p, &factor));
    ck_assert_double_eq_tol(factor, 8, 1e-3);   /* weights are rounded to float32 */
    struct attn_pair back = attn_pair_of(b, a, H, T, N);
    ck_assert(attn_seems_tempered(&back, &factor));
    ck_assert_double_eq_tol(factor, 0.125, 1e-4);   /* likewise */
    float was = b[3];
    b[3] = b[4];
    b[4] = was;
    ck_assert(!attn_seems_tempered(&p, &factor));
    for (size_t i = 0; i < ALL; i++)
        a[i] = b[i] / 2;                /* rows that sum to 1/2 */
    ck_assert(!attn_seems_tempered(&p, &factor) && !attn_seems_tempered(&back, &factor));
    ck_assert(attn_seems_scaled(&p, &factor) && factor == 0.5);
}
END_TEST

START_TEST(test_masks)
{
    float x[16] = {0}, y[16] = {0};
    struct attn_pair p = attn_pair_of(x, y, 1, 4, 4);
    for (size_t i = 0; i < 16; i++)
        x[i] = y[i] = i % 4 > i / 4 ? -INFINITY : (float)i;
    ck_assert(attn_seems_masked(&p, false).kind == ATTN_MASK_SAME);
    for (size_t i = 0; i < 16; i++)
        y[i] = (float)i;
    struct attn_mask_found f = attn_seems_masked(&p, false);
    ck_assert(f.kind == ATTN_MASK_FUTURE && f.a_hides);
    for (size_t i = 0; i < 16; i++)
        y[i] = i % 4 > i / 4 || i / 4 >= i % 4 + 2 ? -INFINITY : (float)i;
    f = attn_seems_masked(&p, false);
    ck_assert(f.kind == ATTN_MASK_PAST && !f.a_hides && f.window == 2);
    for (size_t i = 0; i < 16; i++)
        y[i] = i % 4 > i / 4 ? -1e9f : (float)i;
    f = attn_seems_masked(&p, false);
    ck_assert(f.kind == ATTN_MASK_NUMBER && !f.a_hides && f.number == -1e9f);
    for (size_t i = 0; i < 16; i++)
        y[i] = i % 4 > i / 4 ? -10000 : (float)i;      /* what many models mask with */
    f = attn_seems_masked(&p, false);
    ck_assert(f.kind == ATTN_MASK_NUMBER && !f.a_hides && f.number == -10000);
    y[0] = -INFINITY;
    y[3] = 1;
    ck_assert(attn_seems_masked(&p, false).kind == ATTN_MASK_OTHER);
}
END_TEST

START_TEST(test_axes_of_a_pattern)
{
    float x[16] = {0}, y[16] = {0};
    struct attn_pair p = attn_pair_of(x, y, 1, 4, 4);
    draw_numbers(a, 16, 5);
    for (size_t i = 0; i < 16; i += 4)
        softmax_of(y + i, a + i, 4, 3);
    for (size_t i = 0; i < 16; i++)
        x[i] = y[i % 4 * 4 + i / 4];
    ck_assert(attn_seems_wrong_axis(x, &p) && !attn_seems_wrong_axis(y, &p) && attn_seems_flipped(&p));
    x[1] += 0.1f;
    ck_assert(!attn_seems_flipped(&p));
}
END_TEST

START_TEST(test_restacked)
{
    enum attn_restacking how;
    enum { HEADS = 4 };
    float rows[3 * HEADS * N], x[3 * HEADS * N], y[3 * HEADS * N];
    draw_numbers(rows, 3 * HEADS * N, 6);
    for (size_t i = 0; i < 3 * HEADS; i++) {            /* part i / HEADS of head i % HEADS */
        memcpy(x + i * N, rows + (3 * (i % HEADS) + i / HEADS) * N, N * sizeof *x);
        memcpy(y + i * N, rows + i * N, N * sizeof *y);
    }
    ck_assert(attn_seems_restacked(x, y, HEADS, N, &how) && how == ATTN_STACK_A_INTERLEAVED);
    ck_assert(attn_seems_restacked(y, x, HEADS, N, &how) && how == ATTN_STACK_B_INTERLEAVED);
    memcpy(x, y + N, N * sizeof *x);
    memcpy(x + N, y, N * sizeof *x);
    memcpy(x + 2 * N, y + 2 * N, (3 * HEADS - 2) * N * sizeof *x);
    ck_assert(attn_seems_restacked(x, y, HEADS, N, &how) && how == ATTN_STACK_OTHER);
    for (size_t i = 0; i < 3 * HEADS * N; i++)
        x[i] = y[i % N * 3 * HEADS + i / N];
    ck_assert(attn_seems_restacked(x, y, HEADS, N, &how) && how == ATTN_STACK_NUMBERS);
    draw_numbers(x, 3 * HEADS * N, 7);
    ck_assert(!attn_seems_restacked(x, y, HEADS, N, &how));
}
END_TEST

/* ---- rotary positions ---- */

/* Applies a rotation.  attn_rotate_back undoes one, so this is turning back by the opposite angles, as of
 * a negative position. */
static void turn(float *y, const float *x, const struct attn_rotation *how)
{
    size_t half = how->pairing == ATTN_UNROTATED ? 0 : how->r / 2;
    double grow = how->attention_factor > 0 ? how->attention_factor : 1;
    memcpy(y, x, sizeof a);
    for (size_t i = 0; i < half; i++)
        for (size_t row = 0; row < H * T; row++) {
            double speed = how->inv_freq ? how->inv_freq[i] : pow(how->theta, -2.0 * (double)i / (double)how->r);
            double angle = ((double)(row % T) + (double)how->start) * (how->backwards ? -speed : speed);
            float *u = y + row * N + how->first + (how->pairing == ATTN_HALVES ? i : 2 * i);
            float *v = u + (how->pairing == ATTN_HALVES ? half : 1);
            double first = *u, second = *v;
            *u = (float)(grow * (first * cos(angle) - second * sin(angle)));
            *v = (float)(grow * (first * sin(angle) + second * cos(angle)));
        }
}

#define TURN(pairs, by, numbers) {.pairing = (pairs), .theta = (by), .r = (numbers)}
static const struct { struct attn_rotation a, b; } turned[] = {
    {TURN(ATTN_HALVES, 10000, N), TURN(ATTN_ADJACENT, 10000, N)},
    {TURN(ATTN_ADJACENT, 500000, N), TURN(ATTN_HALVES, 500000, N)},
    {TURN(ATTN_HALVES, 10000, N), {.pairing = ATTN_UNROTATED}},
    {TURN(ATTN_HALVES, 10000, N), TURN(ATTN_HALVES, 500000, N)},
    {TURN(ATTN_HALVES, 10000, N / 2), TURN(ATTN_HALVES, 10000, N)},
    {TURN(ATTN_HALVES, 1234, N), TURN(ATTN_ADJACENT, 1234, N)},
};

START_TEST(test_turned)
{
    float from[ALL], back[ALL];
    struct attn_rotation x, y;
    struct attn_pair p = pair();
    draw_numbers(from, ALL, 8);
    turn(a, from, &turned[_i].a);
    turn(b, from, &turned[_i].b);
    attn_rotate_back(back, a, &p, &turned[_i].a);
    ck_assert(attn_gap(back, from, ALL) < 1e-6);        /* rounded twice */
    ck_assert(attn_seems_rotated(&p, 1234, &x, &y));
    ck_assert(x.pairing == turned[_i].a.pairing && x.theta == turned[_i].a.theta && x.r == turned[_i].a.r);
    ck_assert(y.pairing == turned[_i].b.pairing && y.theta == turned[_i].b.theta && y.r == turned[_i].b.r);
}
END_TEST

START_TEST(test_turned_offset)
{
    float from[ALL], more[ALL];
    const struct attn_rotation how = TURN(ATTN_HALVES, 10000, N);
    struct attn_pair p = pair();
    draw_numbers(from, ALL, 9);
    for (size_t i = 0; i < ALL; i++)
        more[i] = from[i] + 0.1f * (float)(i % N);
    turn(a, from, &how);
    turn(b, more, &how);
    ck_assert(attn_seems_rotated_offset(&p, 0));
    ck_assert(!attn_seems_offset(&p));
}
END_TEST

/* Any speeds, directions and starts, where it is known how one side is rotated. */
START_TEST(test_turned_as_known)
{
    static const double speeds[N / 2] = {0.9, 0.2, 0.07, 0.003};
    const struct attn_rotation right = TURN(ATTN_HALVES, 100, N);
    struct attn_rotation own = right, other[] = {{.pairing = ATTN_UNROTATED}, right, right, right,
                                                 TURN(ATTN_HALVES, 100, N / 2)};
    float from[ALL];
    double measured[N / 2];
    struct attn_pair p = pair();
    size_t which;
    bool a_is;
    other[1].backwards = true;
    other[2].start = 3;
    other[3].attention_factor = 1.5;
    own.inv_freq = speeds;
    other[4].first = N / 2;
    draw_numbers(from, ALL, 10);
    turn(b, from, &right);
    for (size_t i = 0; i < 5; i++) {
        turn(a, from, &other[i]);
        ck_assert(attn_seems_misrotated(&p, &right, other, 5, &which, &a_is) && which == i && a_is);
    }
    own.attention_factor = 1.25;
    turn(a, from, &own);
    ck_assert(fabs(attn_rope_measure(measured, a, from, &p, &right) - 1.25) < 1e-6);
    for (size_t i = 0; i < N / 2; i++)
        ck_assert(fabs(measured[i] - speeds[i]) < 1e-6);
    set_up();
    ck_assert(!attn_seems_misrotated(&p, &right, other, 5, &which, &a_is));
}
END_TEST

/* ---- norms and activation functions ---- */

static void norm(float *y, const float *x, bool rms, double eps)
{
    for (size_t t = 0; t < H * T; t++) {
        double mean = 0, var = 0;
        for (size_t j = 0; j < N && !rms; j++)
            mean += (double)x[t * N + j] / N;
        for (size_t j = 0; j < N; j++)
            var += ((double)x[t * N + j] - mean) * ((double)x[t * N + j] - mean) / N;
        for (size_t j = 0; j < N; j++)
            y[t * N + j] =
                (float)(((double)x[t * N + j] - mean) / sqrt(var + eps) * (1 + 0.1 * (double)j) + (rms ? 0 : 0.3));
    }
}

START_TEST(test_norms)
{
    static const double eps[] = {1e-12, 1e-6, 1e-5, 1e-3};
    struct attn_norm_fit f;
    for (size_t i = 0; i < ALL; i++)
        a[i] *= 0.003f * (float)(1 + i / N);            /* rows of various sizes, small enough for epsilon to matter */
    for (int rms = 0; rms < 2; rms++)
        for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
            norm(b, a, rms, eps[i]);
            ck_assert(attn_fit_norm(&f, a, b, H * T, N));
            /* b is rounded to float32 */
            ck_assert_msg(f.eps == eps[i] && f.gap < 1e-5, "%g was seen as %g (%g)", eps[i], f.eps, f.gap);
            ck_assert(f.kind == (rms ? ATTN_FIT_RMS : ATTN_FIT_LAYER));
        }
    ck_assert_msg(!attn_fit_norm(&f, a, b, 2, N), "two rows fit any norm");
}
END_TEST

START_TEST(test_bends)
{
    for (size_t i = 0; i < ALL; i++) {
        double x = 2 * (double)b[i];
        b[i] = (float)x;
        x = b[i];
        a[i] = (float)(0.5 * x * (1 + erf(x / sqrt(2))));
    }
    ck_assert(attn_fit_bend(a, b, NULL, ALL) == ATTN_BEND_GELU);
    for (size_t i = 0; i < ALL; i++) {
        double x = b[i];
        a[i] = (float)(0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))));
    }
    ck_assert(attn_fit_bend(a, b, NULL, ALL) == ATTN_BEND_GELU_NEW);
    for (size_t i = 0; i < ALL; i++)
        a[i] = (float)((double)b[i] / (1 + exp(-(double)b[i])) * (double)b[ALL - 1 - i]);
    float linear[ALL];
    for (size_t i = 0; i < ALL; i++)
        linear[i] = b[ALL - 1 - i];
    ck_assert(attn_fit_bend(a, b, linear, ALL) == ATTN_BEND_SILU);
    ck_assert(attn_fit_bend(a, b, NULL, ALL) == ATTN_BENDS);
}
END_TEST

Suite *suite_evidence(void)
{
    Suite *s = suite_create("evidence");
    TCase *t = tcase_create("evidence");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, test_stored);
    tcase_add_test(t, test_nothing);
    tcase_add_test(t, test_gap);
    tcase_add_test(t, test_scaled);
    tcase_add_test(t, test_reordered);
    tcase_add_test(t, test_too_many_heads_to_reorder);
    tcase_add_test(t, test_offset);
    tcase_add_test(t, test_merged_wrong);
    tcase_add_test(t, test_sum_and_late);
    tcase_add_test(t, test_tempered);
    tcase_add_test(t, test_masks);
    tcase_add_test(t, test_axes_of_a_pattern);
    tcase_add_test(t, test_restacked);
    tcase_add_loop_test(t, test_turned, 0, sizeof turned / sizeof *turned);
    tcase_add_test(t, test_turned_offset);
    tcase_add_test(t, test_turned_as_known);
    tcase_add_test(t, test_stretched_and_capped);
    tcase_add_test(t, test_sums_of_terms);
    tcase_add_test(t, test_tied_rows);
    tcase_add_test(t, test_later);
    tcase_add_test(t, test_norms);
    tcase_add_test(t, test_bends);
    suite_add_tcase(s, t);
    return s;
}
