/* lanes.c - compares each operation of lanes.h with a plain loop, bit by bit.
 *
 * It needs nothing else of the library: so it can be compiled for a processor that is not there, and emulated. */
#include "compute/lanes.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 20000 };

static int failures;

static uint32_t bits_of(float x) { uint32_t u; memcpy(&u, &x, sizeof u); return u; }
static float float_of(uint32_t u) { float x; memcpy(&x, &u, sizeof x); return x; }
static double double_of(uint64_t u) { double x; memcpy(&x, &u, sizeof x); return x; }

static uint32_t noise(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* Numbers that arithmetic meets, and now and then those that it breaks on. */
static float any_float(void)
{
    static const float odd[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1p-130f, 0x1.fffffep127f, 1, -1};
    uint32_t n = noise();
    return n % 8 ? float_of((n & 0x807fffff) | (97 + (n >> 23) % 60) << 23) : odd[noise() % (sizeof odd / sizeof *odd)];
}

/* How a set computes x y + z. */
static float fma_of(float x, float y, float z) { return FUSED ? fmaf(x, y, z) : x * y + z; }
static double dfma_of(double x, double y, double z) { return FUSED ? fma(x, y, z) : x * y + z; }

/* A result that is NaN must be NaN: which one is left to the processor. */
static void same(const char *what, const float *is, const float *should)
{
    for (size_t i = 0; i < LANES; i++)
        if (memcmp(is + i, should + i, sizeof *is) != 0 && !(isnan(is[i]) && isnan(should[i]))) {
            if (failures++ < 20)
                printf("%s: lane %zu is %a (%08x), not %a (%08x)\n", what, i, (double)is[i], (unsigned)bits_of(is[i]),
                       (double)should[i], (unsigned)bits_of(should[i]));
            return;
        }
}

static void dsame(const char *what, const double *is, const double *should, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(is + i, should + i, sizeof *is) != 0 && !(isnan(is[i]) && isnan(should[i]))) {
            if (failures++ < 20)
                printf("%s: lane %zu is %a, not %a\n", what, i, is[i], should[i]);
            return;
        }
}

static void equal(const char *what, double is, double should) { dsame(what, &is, &should, 1); }

static void spill(double *to, d16 x) { memcpy(to, &x, sizeof x); }

/* The value in `vector` must have in lane i what `scalar` says of lane i. */
#define CHECK(what, vector, scalar) do { \
    float is_[LANES], should_[LANES]; \
    store(is_, vector); \
    for (size_t i = 0; i < LANES; i++) \
        should_[i] = scalar; \
    same(what, is_, should_); \
} while (0)
#define DCHECK(what, vector, scalar) do { \
    double is_[LANES], should_[LANES]; \
    spill(is_, vector); \
    for (size_t i = 0; i < LANES; i++) \
        should_[i] = scalar; \
    dsame(what, is_, should_, LANES); \
} while (0)

static void arithmetic(const float *a, const float *b, const float *c)
{
    v16 x = load(a), y = load(b), z = load(c);
    CHECK("all", all(a[0]), a[0]);
    CHECK("add", add(x, y), a[i] + b[i]);
    CHECK("sub", sub(x, y), a[i] - b[i]);
    CHECK("mul", mul(x, y), a[i] * b[i]);
    CHECK("quot", quot(x, y), a[i] / b[i]);
    CHECK("root", root(x), sqrtf(a[i]));
    CHECK("fma16", fma16(x, y, z), fma_of(a[i], b[i], c[i]));
    CHECK("max", max(x, y), a[i] > b[i] ? a[i] : b[i]);
    CHECK("min", min(x, y), a[i] < b[i] ? a[i] : b[i]);
    CHECK("where_neg", where_neg(x, y, z), bits_of(a[i]) >> 31 ? b[i] : c[i]);
    CHECK("above", above(x, y, z), a[i] <= b[i] ? 0 : c[i]);
}

static double halves_of(const double *x)
{
    double at[LANES];
    memcpy(at, x, sizeof at);
    for (size_t n = LANES / 2; n > 0; n /= 2)
        for (size_t i = 0; i < n; i++)
            at[i] += at[i + n];
    return at[0];
}

static void doubles(const float *a, const float *b, const float *c)
{
    d16 x = wide(load(a)), y = wide(load(b)), z = wide(load(c));
    double p[LANES], q[LANES], e[LANES], power[LANES];
    DCHECK("wide", x, (double)a[i]);
    DCHECK("dall", dall(a[0] / 3.0), a[0] / 3.0);
    DCHECK("dcount", dcount(), (double)i);
    DCHECK("dadd", dadd(x, y), (double)a[i] + (double)b[i]);
    DCHECK("dsub", dsub(x, y), (double)a[i] - (double)b[i]);
    DCHECK("dmul", dmul(x, y), (double)a[i] * (double)b[i]);
    DCHECK("dquot", dquot(x, y), (double)a[i] / (double)b[i]);
    DCHECK("dmax", dmax(x, y), (double)(a[i] > b[i] ? a[i] : b[i]));
    DCHECK("dabs", dabs(x), fabs((double)a[i]));
    d16 third = dquot(x, dall(3));
    spill(p, third);
    DCHECK("dfma", dfma(third, y, z), dfma_of(p[i], (double)b[i], (double)c[i]));
    CHECK("narrow", narrow(third), (float)p[i]);
    equal("dsum", dsum(third), halves_of(p));
    for (size_t i = 0; i < LANES; i++) {
        p[i] = double_of((uint64_t)(1 + noise() % 2046) << 52 | (uint64_t)noise() << 20 | noise() >> 12);
        power[i] = (double)(int)(noise() % 200) - 100;
    }
    d16 positive, exponent, m, n, mantissa;
    memcpy(&positive, p, sizeof p);
    m = dsplit(positive, &exponent);
    spill(e, exponent);
    DCHECK("dsplit", m, ldexp(p[i], -(int)e[i]));
    spill(q, m);
    for (size_t i = 0; i < LANES; i++)
        if (!(q[i] >= 0x1.6a09e667f3bcdp-1 && q[i] <= 0x1.6a09e667f3bcdp0) && failures++ < 20)
            printf("dsplit: %a is not from sqrt(1/2) to sqrt(2)\n", q[i]);
    memcpy(&n, power, sizeof power);
    memcpy(&mantissa, q, sizeof q);
    DCHECK("dtimes_pow2", dtimes_pow2(mantissa, dadd(n, dall(DMAGIC))), ldexp(q[i], (int)power[i]));
}

/* From 2^-180 to 2^119: what is rounded, and what is not. */
static void powers(const float *a, const float *b)
{
    float n[LANES], y[LANES];
    for (size_t i = 0; i < LANES; i++) {
        n[i] = (float)(int)(noise() % 300) - 180;
        y[i] = fabsf(a[i]) < 3 ? 1 + fabsf(a[i]) : 1.5f;
    }
    CHECK("times_pow2_above", times_pow2_above(load(y), load(n), load(a), load(b)),
          a[i] <= b[i] ? 0 : ldexpf(y[i], (int)n[i]));
    CHECK("pow2", pow2(add(load(n), all(MAGIC))), float_of((uint32_t)(127 + (int)n[i]) << 23));
}

static void together(const float *a)
{
    float x[LANES], some[LANES], zeros[LANES] = {0};
    double wider[LANES];
    for (size_t i = 0; i < LANES; i++) {
        x[i] = isnan(a[i]) ? 0 : a[i];
        some[i] = float_of(bits_of(x[i]) & 0x3fffffff);             /* from 0 to below 2 */
        wider[i] = (double)some[i] + (double)some[i];
        zeros[i] = noise() % 2 ? 0 : -0.0f;
    }
    float most = x[0], least = INFINITY;
    for (size_t i = 0; i < LANES; i++) {
        most = x[i] > most ? x[i] : most;
        least = some[i] > 0 && some[i] < least ? some[i] : least;
    }
    equal("largest", (double)largest(load(x)) + 0, (double)most + 0);
    equal("smallest", smallest(least_of(all(INFINITY), load(some))), bits_of(least) - (least < INFINITY));
    equal("sum_weights", sum_total(sum_weights(sum_weights(no_sums(), load(some)), load(some))), halves_of(wider));
    equal("is_zero", is_zero(load(zeros)), 1);
    zeros[noise() % LANES] = noise() % 2 ? NAN : 0x1p-149f;
    equal("is_zero of another", is_zero(load(zeros)), 0);
}

/* Float16 without a conversion instruction. */
static float half_of(uint32_t h)
{
    uint32_t rest = h & 0x3ff, exponent = h >> 10 & 31;
    float size = exponent > 0 ? ldexpf((float)(rest + 0x400), (int)exponent - 25) : ldexpf((float)rest, -24);
    if (exponent == 31)
        size = rest > 0 ? NAN : INFINITY;
    return h & 0x8000 ? -size : size;
}

static void stored(void)
{
    uint16_t h[2 * LANES];
    for (size_t i = 0; i < 2 * LANES; i++)
        h[i] = (uint16_t)noise();
    float words[LANES];
    memcpy(words, h, sizeof words);
    v16 w = load((const float *)(const void *)words);
    CHECK("from_f16", from_f16(h), half_of(h[i]));
    CHECK("from_bf16", from_bf16(h), float_of((uint32_t)h[i] << 16));
    CHECK("even_f16", even_f16(w), half_of(h[2 * i]));
    CHECK("odd_f16", odd_f16(w), half_of(h[2 * i + 1]));
    CHECK("even_bf16", even_bf16(w), float_of((uint32_t)h[2 * i] << 16));
    CHECK("odd_bf16", odd_bf16(w), float_of((uint32_t)h[2 * i + 1] << 16));
    CHECK("nearest_bf16", nearest_bf16(w), isnan(words[i]) ? words[i]
          : float_of((bits_of(words[i]) + 0x7fff + (bits_of(words[i]) >> 16 & 1)) & 0xffff0000));
}

static void memory(const float *a, const float *b)
{
    size_t n = noise() % (LANES + 1);
    float to[LANES + 2], filled[LANES + 1];
    memcpy(filled + 1, a, LANES * sizeof *a);           /* off by one: no load may ask for an aligned address */
    CHECK("get", get(filled + 1, n, b[0]), i < n ? a[i] : b[0]);
    memcpy(to + 1, b, LANES * sizeof *b);
    to[LANES + 1] = 7;
    put(to + 1, load(a), n);
    CHECK("put", load(to + 1), i < n ? a[i] : b[i]);
    if (to[LANES + 1] != 7 && failures++ < 20)
        printf("put wrote behind the end\n");
}

static void transposes(const float *a)
{
    float matrix[LANES][LANES];
    const void *row[LANES];
    struct lines lines;
    v16 out[4];
    for (size_t l = 0; l < LANES; l++) {
        row[l] = matrix[l];
        for (size_t k = 0; k < LANES; k++)
            matrix[l][k] = a[(l + 3 * k) % LANES] + (float)l;
    }
    take_lines(&lines, row, 0);
    for (size_t p = 0; p < PARTS; p++) {
        transpose4(out, lines.part[p]);
        for (size_t c = 0; c < 4; c++)
            CHECK("transpose4", out[c], matrix[i][4 * p + c]);
    }
}

int main(void)
{
    for (size_t t = 0; t < TIMES; t++) {
        float a[LANES], b[LANES], c[LANES];
        for (size_t i = 0; i < LANES; i++)
            a[i] = any_float(), b[i] = any_float(), c[i] = any_float();
        arithmetic(a, b, c);
        doubles(a, b, c);
        powers(a, b);
        together(a);
        stored();
        memory(a, b);
        transposes(a);
    }
    printf("lanes: %s, %s\n", TARGET, failures ? "differs from plain loops" : "the bits of plain loops");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
