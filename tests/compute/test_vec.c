/* Every instruction set the processor has, compared with libm in double precision and with each other. */

#include "suites.h"

#include "compute/vec.h"
#include "sets.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* exp is accurate to 1.5 units of 2^-23, the sum to 2^-53, their quotient adds half a unit. */
static const double SOFTMAX_ERROR = 2.5 * 0x1p-23;

/* Small whole numbers, which every type holds exactly. */
static float number(size_t l, size_t k) { return (float)((l * 37 + k * 11) % 251); }

static void put_number(void *x, enum attn_dtype type, size_t i, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint16_t *half = x;
    if (type == ATTN_F32)
        ((float *)x)[i] = f;
    else if (type == ATTN_BF16)
        half[i] = (uint16_t)(bits >> 16);
    else
        half[i] = (uint16_t)(f == 0 ? 0 : (bits - 0x38000000u) >> 13);
}

START_TEST(turned)
{
    enum { N = 70, LD = ATTN_PANEL };
    static float x[ATTN_TRANSPOSE][N + 1], y[(N + 1) * LD];
    const void *row[ATTN_TRANSPOSE];
    enum attn_dtype type = (enum attn_dtype)_i;
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++) {
        row[l] = (char *)x[l] + l % 2 * attn_dtype_size(type);      /* at any address */
        for (size_t k = 0; k < N; k++)
            put_number((char *)x[l] + l % 2 * attn_dtype_size(type), type, k, number(l, k));
    }
    for (int i = 0; i < n_sets * (N + 1); i++) {
        size_t n = (size_t)(i / n_sets);
        memset(y, 0xff, sizeof y);
        sets[i % n_sets]->of[type].transpose(y, row, n);
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < ATTN_TRANSPOSE; l++)
                ck_assert(y[k * LD + l] == number(l, k));
        ck_assert(isnan(y[n * LD]) && isnan(y[ATTN_TRANSPOSE]));         /* nothing else was written */
    }
}
END_TEST

/* The value of a float16. */
static float of_half(unsigned h)
{
    int exponent = h >> 10 & 31, digits = h & 0x3ff;
    float finite = ldexpf((float)(digits + (exponent ? 1024 : 0)), (exponent ? exponent : 1) - 25);
    float f = exponent < 31 ? finite : digits ? NAN : INFINITY;
    return h & 0x8000 ? -f : f;
}

/* All 65536 float16 numbers, in rows and transposed. */
START_TEST(halves_become_floats)
{
    enum { ALL = 1 << 16, N = ALL / ATTN_TRANSPOSE };
    static uint16_t half[ALL];
    static float flat[ALL], turned_to[N * ATTN_PANEL];
    const void *row[ATTN_TRANSPOSE];
    const struct attn_vec_typed *f16 = &sets[_i % n_sets]->of[ATTN_F16];
    for (unsigned h = 0; h < ALL; h++)
        half[h] = (uint16_t)h;
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++)
        row[l] = half + l * N;
    f16->widen(flat, half, ALL);
    f16->transpose(turned_to, row, N);
    for (unsigned h = 0; h < ALL; h++) {
        float want = of_half(h), *other = &turned_to[h % N * ATTN_PANEL + h / N];
        ck_assert(memcmp(&flat[h], other, sizeof want) == 0);
        ck_assert(isnan(want) ? isnan(flat[h]) &&
                  !signbit(flat[h]) == !(h & 0x8000) : memcmp(&flat[h], &want, sizeof want) == 0);
    }
}
END_TEST

/* Sums of a few rows of x with some rows of w are continued; each is a chain over k. */
START_TEST(streamed_by_outputs)
{
    enum { K = 150, LD = ATTN_TRANSPOSE + 1 };
    static float w[ATTN_TRANSPOSE][K + 1], x[ATTN_STREAM][K];
    const void *row[ATTN_TRANSPOSE];
    enum attn_dtype type = (enum attn_dtype)_i;
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++) {
        row[l] = (char *)w[l] + l % 2 * attn_dtype_size(type);
        for (size_t k = 0; k < K; k++)
            put_number((char *)w[l] + l % 2 * attn_dtype_size(type), type, k, number(l, k));
    }
    for (size_t i = 0; i < ATTN_STREAM; i++)
        fill(x[i], K, (unsigned)i, 3);
    for (int i = 0; i < n_sets * (K + 1); i++)
        for (size_t n = 1; n <= ATTN_STREAM; n++) {
            const struct attn_vec_ops *set = sets[i % n_sets];
            size_t steps = (size_t)(i / n_sets);
            float y[ATTN_STREAM * LD];
            for (size_t l = 0; l < n * LD; l++)
                y[l] = (float)l;
            struct attn_prefetch prefetch = attn_prefetch_rows(row[0], 19, 100, 100);
            set->of[type].stream_transposed(y, LD, x[0], K, row, n, steps, &prefetch);
            for (size_t l = 0; l < n * LD; l++) {
                float want = (float)l;
                for (size_t k = 0; k < steps && l % LD < ATTN_TRANSPOSE; k++)
                    want = set->fused ? fmaf(x[l / LD][k], number(l % LD, k), want) :
                        x[l / LD][k] * number(l % LD, k) + want;
                ck_assert(memcmp(&y[l], &want, sizeof want) == 0);
            }
        }
}
END_TEST

/* The first rows of a product read w as it is stored, and leave a float32 copy for the others. */
START_TEST(leaves_a_copy)
{
    enum { K = 9, LDW = ATTN_PANEL + 3, LDY = ATTN_PANEL + 1, MOST = 6 };
    static float w[K * LDW + 1];
    float x[MOST * K];
    enum attn_dtype type = (enum attn_dtype)_i;
    char *at = (char *)w + attn_dtype_size(type);                  /* at any address */
    for (size_t i = 0; i < K * LDW; i++)
        put_number(at, type, i, number(i / LDW, i % LDW));
    fill(x, MOST * K, 1, 3);
    for (int i = 0; i < 2 * n_sets; i++) {
        const struct attn_vec_ops *set = sets[i / 2];
        bool more = i % 2;
        struct attn_prefetch prefetch = attn_prefetch_rows(w, 19, 100, 100);
        float y[MOST * LDY], copy[(K + 1) * ATTN_PANEL];
        ck_assert_uint_le(set->tile_rows, MOST);
        for (size_t l = 0; l < MOST * LDY; l++)
            y[l] = (float)l;
        memset(copy, 0xff, sizeof copy);
        set->of[type].panel_copy(y, LDY, x, K, copy, at, LDW, K, more, &prefetch);
        for (size_t l = 0; l < MOST * LDY; l++) {
            size_t row = l / LDY, column = l % LDY;
            bool summed = row < set->tile_rows && column < ATTN_PANEL;
            float want = more || !summed ? (float)l : 0;
            for (size_t k = 0; k < K && summed; k++)
                want = set->fused ? fmaf(x[row * K + k], number(k, column), want) :
                    x[row * K + k] * number(k, column) + want;
            ck_assert(memcmp(&y[l], &want, sizeof want) == 0);
        }
        for (size_t l = 0; l < K * ATTN_PANEL; l++)
            ck_assert(copy[l] == number(l / ATTN_PANEL, l % ATTN_PANEL));
        ck_assert(isnan(copy[K * ATTN_PANEL]));
    }
}
END_TEST

static float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A bf16 is the upper half of a float32: 1 is 0x3f80. */
START_TEST(rounded_to_bf16)
{
    static const struct { uint32_t from, to; } cases[] = {
        {0x3f800000, 0x3f800000}, {0x3f807fff, 0x3f800000}, {0x3f808000, 0x3f800000}, {0x3f808001, 0x3f810000},
        {0x3f818000, 0x3f820000}, {0xbf818000, 0xbf820000}, {0x3fffffff, 0x40000000}, {0x00000001, 0x00000000},
        {0x80008000, 0x80000000}, {0x00018000, 0x00020000}, {0x7f7f0000, 0x7f7f0000}, {0x7f7fffff, 0x7f800000},
        {0x7f800000, 0x7f800000}, {0xff800000, 0xff800000}, {0x00000000, 0x00000000}, {0x80000000, 0x80000000},
        {0xbf808001, 0xbf810000}};
    enum { N = sizeof cases / sizeof *cases };
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= N; n++) {
            float x[N + 1], y[N + 1], nan[] = {of_bits(0x7fffffff), of_bits(0xff800001)};
            for (size_t i = 0; i < n; i++)
                x[i] = of_bits(cases[N - n + i].from);
            y[n] = -77;
            sets[s]->round(y, x, n);
            for (size_t i = 0; i < n; i++)
                ck_assert(memcmp(&y[i], &cases[N - n + i].to, sizeof *y) == 0);
            ck_assert(y[n] == -77);
            sets[s]->round(nan, nan, 2);
            ck_assert(isnan(nan[0]) && isnan(nan[1]));
        }
}
END_TEST

static void softmax(const struct attn_vec_ops *set, float *x, float scale, size_t n)
{
    bool finite;
    set->normalise(x, set->exp_and_sum(x, scale, set->max(x, scale, n, &finite), n), n);
}

START_TEST(softmax_is_right)
{
    static const float scales[] = {1, 0.125f, 0.3f};
    float x[67], y[67];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= 67; n++) {
            const float scale = scales[n % 3];
            double sum = 0;
            fill(x, n, (unsigned)n, 30 / scale);
            memcpy(y, x, sizeof x);
            softmax(sets[s], y, scale, n);
            float max = x[0] * scale;
            for (size_t i = 0; i < n; i++)
                max = x[i] * scale > max ? x[i] * scale : max;
            for (size_t i = 0; i < n; i++)
                sum += exp((double)(x[i] * scale - max));
            for (size_t i = 0; i < n; i++) {
                double want = exp((double)(x[i] * scale - max)) / sum;
                ck_assert_double_le(fabs(y[i] - want), SOFTMAX_ERROR * want + 0x1p-149);
            }
        }
}
END_TEST

/* One number that is not finite, or becomes so when it is scaled, is seen wherever it is; and padding is not
 * taken for one. */
START_TEST(the_maximum_tells_of_what_overflows)
{
    static const float wild[] = {INFINITY, -INFINITY, NAN, 3e38f, -3e38f};
    float x[67];
    bool finite;
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= 67; n++) {
            fill(x, n, (unsigned)n, 30);
            float most = x[0] * 2;
            for (size_t i = 0; i < n; i++)
                most = x[i] * 2 > most ? x[i] * 2 : most;
            ck_assert(sets[s]->max(x, 2, n, &finite) == most && finite);
            for (size_t i = 0; i < 5 * n; i++) {
                float was = x[i / 5];
                x[i / 5] = wild[i % 5];
                sets[s]->max(x, 2, n, &finite);
                ck_assert_msg(!finite, "%g at %zu of %zu", (double)wild[i % 5], i / 5, n);
                x[i / 5] = was;
            }
        }
    ck_assert(sets[0]->max(x, 1, 0, &finite) == -INFINITY && finite);
}
END_TEST

/* Under a sum of 1 a weight is the exponential itself; under a sum of n it must be exactly that divided by n, even if
 * that is denormal. */
START_TEST(softmax_divides_exactly)
{
    enum { N = 700, LOW = 16 };
    float one[N], many[N];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n < N - LOW; n++) {
            for (size_t i = 0; i < N; i++)
                many[i] = one[i] = i < LOW ? -20 - (float)((i * 7 + n) % (n % 2 ? 47 : 84)) * 1.01f : 0;
            softmax(sets[s], one, 1, LOW + 1);
            softmax(sets[s], many, 1, LOW + n);
            ck_assert(one[LOW] == 1 && many[LOW] == 1.0f / (float)n);
            for (size_t i = 0; i < LOW; i++)
                ck_assert(many[i] == one[i] / (float)n);
        }
}
END_TEST

START_TEST(softmax_at_the_edges)
{
    for (int s = 0; s < n_sets; s++) {
        float one[] = {-3e38f}, hidden[] = {1, -INFINITY, 1}, far[] = {0, -104.5f, -87.5f, -1e30f}, bad[] = {0, NAN, 1};
        softmax(sets[s], one, 1, 1);
        ck_assert(one[0] == 1);
        softmax(sets[s], hidden, 1, 3);
        ck_assert(hidden[0] == 0.5f && hidden[1] == 0 && hidden[2] == 0.5f);
        softmax(sets[s], far, 1, 4);
        ck_assert(far[0] == 1 && far[1] == 0 && far[3] == 0);
        ck_assert_float_gt(far[2], 0);  /* a denormal number, not flushed to 0 */
        softmax(sets[s], bad, 1, 3);
        ck_assert(isnan(bad[0]) && isnan(bad[1]) && isnan(bad[2]));
    }
}
END_TEST

/* What sixteen sums in double, in which each number has the lane of its place, come to. */
static double sum_in_lanes(const float *x, size_t n)
{
    double lane[16] = {0};
    for (size_t i = 0; i < n; i++)
        lane[i % 16] += (double)x[i];
    for (size_t half = 8; half; half /= 2)
        for (size_t i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

START_TEST(exps_are_summed_in_double)
{
    enum { N = 100, SPREAD = 110 };     /* down to -110: exp becomes denormal, and then 0 */
    static const float others[] = {NAN, -NAN, INFINITY};
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 0; n <= N; n++) {
            float x[N];
            fill(x, n, (unsigned)n + 1, SPREAD);
            for (size_t i = 0; i < n; i++)
                x[i] = -fabsf(i % 3 ? x[i] : x[i] / SPREAD);
            double sum = sets[s]->exp_and_sum(x, 1, 0, n);
            ck_assert_msg(sum == sum_in_lanes(x, n),
                          "%s, %zu: %a, expected %a", sets[s]->target, n, sum, sum_in_lanes(x, n));
            for (size_t i = 0; i < n; i++) {
                float y[N] = {0};
                y[i] = others[i % 3];
                ck_assert(isnan(sets[s]->exp_and_sum(y, 1, y[i] == INFINITY ? INFINITY : 0, n)));
            }
        }
}
END_TEST

static double gelu_of(double x) { return x * 0.5 * erfc(-x * 0.70710678118654752); }
static double gelu_new_of(double x) { return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))); }
static double silu_of(double x) { return x / (1 + exp(-x)); }

/* The figure in vec.h: arguments are rounded a few times before exp. */
static const double ACTIVATION_ERROR = 1.1e-7;

START_TEST(activations_are_right)
{
    for (int s = 0; s < n_sets; s++)
        for (int i = -30000; i <= 30000; i++) {
            float x = (float)i * 0.001f, one = 1, y;
            double bound = ACTIVATION_ERROR * (1 + fabs(x));
            sets[s]->gelu(&y, &x, 1);
            ck_assert_double_le(fabs(y - gelu_of(x)), bound);
            sets[s]->gelu_new(&y, &x, 1);
            ck_assert_double_le(fabs(y - gelu_new_of(x)), bound);
            sets[s]->silu_mul(&y, &x, &one, 1);
            ck_assert_double_le(fabs(y - silu_of(x)), bound);
        }
}
END_TEST

START_TEST(norms_are_right)
{
    float x[97], w[97], b[97], y[97];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= 97; n++) {
            double mean = 0, var = 0, square = 0;
            fill(x, n, (unsigned)n, 50);
            fill(w, n, 7, 2);
            fill(b, n, 9, 1);
            for (size_t i = 0; i < n; i++) {
                mean += (double)x[i] / (double)n;
                square += (double)x[i] * x[i] / (double)n;
            }
            for (size_t i = 0; i < n; i++)
                var += (x[i] - mean) * (x[i] - mean) / (double)n;
            sets[s]->layernorm(y, x, w, b, 1e-5f, n);
            for (size_t i = 0; i < n; i++) {        /* three roundings to float32 */
                double want = (x[i] - mean) / sqrt(var + (double)1e-5f) * w[i] + b[i];
                ck_assert_double_le(fabs(y[i] - want), 3 * 0x1p-24 * (fabs(want) + fabs((double)b[i]) + 1));
            }
            sets[s]->rmsnorm(y, x, w, 1e-5f, n);
            for (size_t i = 0; i < n; i++) {
                double want = x[i] / sqrt(square + (double)1e-5f) * w[i];
                ck_assert_double_le(fabs(y[i] - want), 3 * 0x1p-24 * (fabs(want) + 1));
            }
        }
}
END_TEST

/* Values of +-0.5 around a mean of a million: sums in float32 would lose them. */
START_TEST(layernorm_keeps_small_differences)
{
    float x[64], w[64], y[64];
    for (int s = 0; s < n_sets; s++) {
        for (int i = 0; i < 64; i++) {
            x[i] = 1e6f + (i % 2 ? 0.5f : -0.5f);
            w[i] = 1;
        }
        sets[s]->layernorm(y, x, w, NULL, 0, 64);
        for (int i = 0; i < 64; i++)
            ck_assert_float_eq(y[i], i % 2 ? 1.0f : -1.0f);
    }
}
END_TEST

START_TEST(widening_is_exact)
{
    uint16_t h[65536];
    float y[65536], bits;
    for (int i = 0; i < 65536; i++)
        h[i] = (uint16_t)i;
    for (int s = 0; s < n_sets; s++) {
        sets[s]->of[ATTN_F16].widen(y, h, 65536);
        for (int i = 0; i < 65536; i++) {
            int e = i >> 10 & 31, m = i & 1023;
            double want = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
            ck_assert(isnan(want) ? isnan(y[i]) : y[i] == (i >> 15 ? -want : want));
        }
        sets[s]->of[ATTN_BF16].widen(y, h, 65533);           /* the last ones fill only a part of a register */
        for (uint32_t i = 0; i < 65533; i++) {
            uint32_t u = i << 16;
            memcpy(&bits, &u, sizeof bits);
            ck_assert(memcmp(&bits, &y[i], sizeof bits) == 0);
        }
    }
}
END_TEST

START_TEST(finds_what_is_not_finite)
{
    float x[40];
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= 40; n++)
            for (size_t at = 0; at < n; at++) {
                fill(x, n, 3, 3e38f);
                ck_assert(sets[s]->finite(x, n));
                x[at] = bad[at % 3];
                ck_assert(!sets[s]->finite(x, n));
            }
}
END_TEST

/* x ln x of each weight alone, of all sizes that there are; libm's own error is half a unit. */
START_TEST(x_ln_x_is_right)
{
    double entropy, distance;
    for (int s = 0; s < n_sets; s++)
        for (uint32_t bits = 1; bits < 0x7f800000; bits += bits >> 24 == 0x3f ? 997 : 65521) {
            float x = of_bits(bits);
            long double right = -(long double)x * logl((long double)x);
            sets[s]->attention_stats(&entropy, &distance, &x, -3, 1);
            ck_assert_msg(fabsl((long double)entropy - right) <= 2.5 * 0x1p-52 * fabsl(right),
                          "%g: %g", (double)x, entropy);
            ck_assert(distance == 3 * (double)x);
        }
}
END_TEST

START_TEST(looks_at_whole_rows)
{
    float x[70];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 0; n < 70; n++) {
            double entropy, distance, at = (double)(n % 9) - 2, h = 0, d = 0, sizes = 0;
            fill(x, n, (unsigned)n, 1);
            for (size_t i = 0; i < n; i++) {
                h -= x[i] > 0 ? (double)x[i] * log((double)x[i]) : 0;
                d += (double)x[i] * fabs((double)i - at);
                sizes += fabs((double)x[i]) * (double)n;
            }
            sets[s]->attention_stats(&entropy, &distance, x, at, n);
            ck_assert_double_le(fabs(entropy - h), 1e-15 * (1 + (double)n));        /* no term is larger than 1 / e */
            ck_assert_double_le(fabs(distance - d), (double)(n + 1) * 0x1p-52 * (sizes + 1));
        }
}
END_TEST

START_TEST(looks_at_rows_out_of_the_ordinary)
{
    const float one[] = {1, 0}, below[] = {-2, -0.0f, 1}, nan[] = {0.5f, NAN}, inf[] = {0.5f, INFINITY};
    double entropy, distance;
    for (int s = 0; s < n_sets; s++) {
        sets[s]->attention_stats(&entropy, &distance, one, 0, 2);
        ck_assert(entropy == 0 && !signbit(entropy) && distance == 0);
        sets[s]->attention_stats(&entropy, &distance, below, 3, 3);
        ck_assert(entropy == 0 && distance == -5);
        sets[s]->attention_stats(&entropy, &distance, nan, 0, 2);
        ck_assert(isnan(entropy) && isnan(distance));
        sets[s]->attention_stats(&entropy, &distance, inf, 0, 2);
        ck_assert(entropy == -INFINITY && distance == INFINITY);
    }
}
END_TEST

/* exp of each number alone; 1.1 units, as libm's own error is half a unit of 2^-53. */
START_TEST(exp_in_double_precision_is_right)
{
    for (int s = 0; s < n_sets; s++)
        for (uint32_t bits = 0x80000000; bits < 0xc4160000 /* -600 */; bits += 9973) {
            float x = of_bits(bits);
            long double right = expl((long double)x);
            double got = sets[s]->exp_sum(&x, 0, 1);
            ck_assert_msg(fabsl((long double)got - right) <= 1.1 * 0x1p-52 * right, "%g: %.17g", (double)x, got);
        }
}
END_TEST

START_TEST(sums_exp_of_whole_rows)
{
    float x[70];
    for (int s = 0; s < n_sets; s++)
        for (size_t n = 1; n < 70; n++) {
            double top = -INFINITY, right = 0;
            fill(x, n, (unsigned)n, 30);
            x[n / 3] = -FLT_MAX;                                    /* as good as none */
            x[n / 2] = n % 2 ? 1e30f : -1e30f;
            for (size_t i = 0; i < n; i++)
                top = fmax(top, (double)x[i]);
            for (size_t i = 0; i < n; i++)
                right += exp((double)x[i] - top);
            /* no term is above 1 */
            ck_assert_double_le(fabs(sets[s]->exp_sum(x, top, n) - right), 0x1p-51 * (double)n);
            x[n - 1] = -INFINITY;
            ck_assert(isfinite(sets[s]->exp_sum(x, top, n)));
            x[n - 1] = NAN;
            ck_assert(isnan(sets[s]->exp_sum(x, top, n)));
        }
}
END_TEST

/* The bits of a model must not depend on which of the two instruction sets computes it. */
START_TEST(avx2_and_avx512_agree_bit_for_bit)
{
    if (n_sets < 3)
        return;
    enum { N = 131 };
    float x[N] = {0}, g[N], w[N], a[N], b[N];
    double p[2], q[2];
    for (size_t n = 1; n <= N; n++) {
        fill(x, n, (unsigned)n, 20);
        fill(g, n, (unsigned)n + 1, 20);
        fill(w, n, 5, 2);
#define SAME(call_a, call_b) \
        do { \
            memcpy(a, x, sizeof a); \
            memcpy(b, x, sizeof b); \
            call_a; \
            call_b; \
            ck_assert(memcmp(a, b, sizeof a) == 0); \
            ck_assert(memcmp(a + n, x + n, (N - n) * sizeof *a) == 0); \
        } while (0)
        SAME(softmax(sets[1], a, 0.3f, n), softmax(sets[2], b, 0.3f, n));
        SAME(p[0] = sets[1]->exp_and_sum(a, 0.3f, 7, n), q[0] = sets[2]->exp_and_sum(b, 0.3f, 7, n));
        ck_assert(p[0] == q[0]);
        SAME(sets[1]->scale(a, x, 0.3f, n), sets[2]->scale(b, x, 0.3f, n));
        SAME(sets[1]->add(a, g, n), sets[2]->add(b, g, n));
        SAME(sets[1]->gelu(a, x, n), sets[2]->gelu(b, x, n));
        SAME(sets[1]->gelu_new(a, x, n), sets[2]->gelu_new(b, x, n));
        SAME(sets[1]->silu(a, x, n), sets[2]->silu(b, x, n));
        SAME(sets[1]->silu_mul(a, g, x, n), sets[2]->silu_mul(b, g, x, n));
        SAME(sets[1]->gelu_mul(a, g, x, n), sets[2]->gelu_mul(b, g, x, n));
        SAME(sets[1]->gelu_new_mul(a, g, x, n), sets[2]->gelu_new_mul(b, g, x, n));
        SAME(sets[1]->layernorm(a, x, w, g, 1e-5f, n), sets[2]->layernorm(b, x, w, g, 1e-5f, n));
        SAME(sets[1]->rmsnorm(a, x, w, 1e-5f, n), sets[2]->rmsnorm(b, x, w, 1e-5f, n));
        SAME(sets[1]->rotate(a, w, g, n / 2 * 2), sets[2]->rotate(b, w, g, n / 2 * 2));
#undef SAME
        sets[1]->attention_stats(&p[0], &p[1], x, 2, n);
        sets[2]->attention_stats(&q[0], &q[1], x, 2, n);
        ck_assert(p[0] == q[0] && p[1] == q[1]);
        ck_assert(sets[1]->exp_sum(x, 20, n) == sets[2]->exp_sum(x, 20, n));
    }
}
END_TEST

START_TEST(names_its_target)
{
    const char *name = attn_vec_target();
    bool known = false;
#define NAME(id, set) known |= !strcmp(name, #set);
    ATTN_SIMD_SETS(NAME)
#undef NAME
    ck_assert(known);
    ck_assert_int_eq(attn_vec_fused(), strcmp(name, "generic") != 0);
}
END_TEST

Suite *suite_vec(void)
{
    Suite *s = suite_create("vec");
    TCase *c = tcase_create("vec");
    tcase_add_unchecked_fixture(c, find_sets, NULL);
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, turned, ATTN_F32, ATTN_BF16 + 1);
    tcase_add_loop_test(c, halves_become_floats, 0, 3);
    tcase_add_loop_test(c, streamed_by_outputs, ATTN_F32, ATTN_BF16 + 1);
    tcase_add_loop_test(c, leaves_a_copy, ATTN_F32, ATTN_BF16 + 1);
    tcase_add_test(c, rounded_to_bf16);
    tcase_add_test(c, softmax_is_right);
    tcase_add_test(c, the_maximum_tells_of_what_overflows);
    tcase_add_test(c, softmax_divides_exactly);
    tcase_add_test(c, softmax_at_the_edges);
    tcase_add_test(c, exps_are_summed_in_double);
    tcase_add_test(c, activations_are_right);
    tcase_add_test(c, norms_are_right);
    tcase_add_test(c, layernorm_keeps_small_differences);
    tcase_add_test(c, widening_is_exact);
    tcase_add_test(c, finds_what_is_not_finite);
    tcase_add_test(c, x_ln_x_is_right);
    tcase_add_test(c, looks_at_whole_rows);
    tcase_add_test(c, looks_at_rows_out_of_the_ordinary);
    tcase_add_test(c, exp_in_double_precision_is_right);
    tcase_add_test(c, sums_exp_of_whole_rows);
    tcase_add_test(c, avx2_and_avx512_agree_bit_for_bit);
    tcase_add_test(c, names_its_target);
    suite_add_tcase(s, c);
    return s;
}
