/* vec_body.h - the source of vec.h's functions, compiled once for each instruction set by
 * vec_avx512.c, vec_avx2.c and vec.c, which define TABLE to the name of theirs.
 *
 * Here are the functions of rows; products_body.h has the products, gradients_body.h the backward pass. */
#include "compute/vec.h"

#include "base/elementary.h"
#include "compute/lanes.h"
#include "compute/prefetch.h"
#include "compute/products_body.h"

#include <math.h>

static void vec_scale(float *y, const float *x, float s, size_t n)
{
    const v16 f = all(s);
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, mul(get(x + i, n - i, 0), f), n - i);
}

static void vec_add(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, add(get(y + i, n - i, 0), get(x + i, n - i, 0)), n - i);
}

static void vec_sum(float *y, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, add(get(a + i, n - i, 0), get(b + i, n - i, 0)), n - i);
}

static void vec_add_sum(float *y, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, add(get(y + i, n - i, 0), add(get(a + i, n - i, 0), get(b + i, n - i, 0))), n - i);
}

/* exp(x) = 2^n e^r with n whole and |r| <= ln(2)/2; e^r = 1 + r + r^2 P(r), P a minimax polynomial
 * (1.6e-10).  Results may be denormal.  Below -104 the result rounds to 0; x is at most 88.7. */
LONG v16 exp_low(v16 x)
{
    v16 n = sub(fma16(x, all(1.44269504f), all(MAGIC)), all(MAGIC));
    v16 r = fma16(n, all(-0.693359375f), x);            /* ln 2 in two parts, the first with short mantissa */
    r = fma16(n, all(2.12194440e-4f), r);
    v16 p = all(0.0001990770445f);
    p = fma16(p, r, all(0.001393373572f));
    p = fma16(p, r, all(0.008333285837f));
    p = fma16(p, r, all(0.04166646414f));
    p = fma16(p, r, all(0.1666666676f));
    p = fma16(p, r, all(0.5000000014f));
    p = add(fma16(mul(r, r), p, r), all(1.0f));
    return times_pow2_above(p, n, x, all(-104.0f));     /* below: 0, as an underflow takes as long as ten products */
}

/* Above 88.8 it is cut off there, still finite. */
static inline v16 exp16(v16 x)
{
    return exp_low(min(all(88.72283f), x));
}

static void vec_round(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, nearest_bf16(get(x + i, n - i, 0)), n - i);
}

/* The largest s * x.  The product with 0 of what is finite is 0, and of the rest NaN: while the maximum waits for its
 * own latency, that costs nothing. */
static float vec_max(const float *x, float s, size_t n, bool *finite)
{
    const v16 f = all(s), none = all(0);
    v16 m = all(-INFINITY), nonfinite = all(0);
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        v16 e = mul(load(x + i), f);
        m = max(m, e);
        nonfinite = loose16(e, none, nonfinite);
    }
    if (whole < n) {
        m = max(m, mul(load_part(x + whole, n - whole, -INFINITY), f));
        nonfinite = loose16(mul(load_part(x + whole, n - whole, 0), f), none, nonfinite);
    }
    *finite = is_zero(nonfinite);
    return largest(m);
}

/* x / sum, correctly rounded but in a third of the time of a division: 1 / sum is correctly rounded, so the
 * remainder of the first quotient corrects that to within one unit in the last place, and the remainder of
 * this one to the nearest float.  It needs remainders that are not denormal: x must be 0 or at least TINY. */
static inline v16 share(v16 x, v16 minus_sum, v16 inverse)
{
    v16 q = mul(x, inverse);
    q = fma16(fma16(q, minus_sum, x), inverse, q);
    return fma16(fma16(q, minus_sum, x), inverse, q);
}
#define TINY ((127u - 100) << 23)       /* bits of 2^-100 */

static double sum_row(const float *x, size_t n)
{
    d16 s = dall(0);
    for (size_t i = 0; i < n; i += LANES)
        s = dadd(s, wide(get(x + i, n - i, 0)));
    return dsum(s);
}

static double vec_exp_and_sum(float *x, float scale_by, float maximum, size_t n)
{
    const v16 scale = all(scale_by), top = all(maximum);
    sums16 sums = no_sums();
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        v16 e = exp_low(sub(mul(load(x + i), scale), top));
        sums = sum_weights(sums, e);
        store(x + i, e);
    }
    if (whole < n) {
        v16 e = exp_low(sub(mul(load_part(x + whole, n - whole, -INFINITY), scale), top));      /* 0 for -inf */
        sums = sum_weights(sums, e);
        store_part(x + whole, e, n - whole);
    }
    const double sum = sum_total(sums);
    return isnan(sum) ? sum_row(x, n) : sum;            /* what is NaN, or beyond the range, is added as it is */
}

/* Whether each of n numbers, a multiple of LANES, is 0 or at least TINY. */
static bool none_tiny(const float *x, size_t n)
{
    v16 least = all(NAN);
    for (size_t i = 0; i < n; i += LANES)
        least = least_of(least, load(x + i));
    return smallest(least) >= TINY - 1;
}

static void vec_normalise(float *x, double sum, size_t n)
{
    const float rounded = (float)sum;
    const v16 inverse = all(1 / rounded), minus = all(-rounded), by = all(rounded);
    size_t whole = n - n % LANES;
    bool exact = SHARES && none_tiny(x, whole);
    for (size_t i = 0; i < whole; i += LANES)
        store(x + i, exact ? share(load(x + i), minus, inverse) : quot(load(x + i), by));
    if (whole < n)
        store_part(x + whole, quot(load_part(x + whole, n - whole, 0), by), n - whole);
}

/* elu(x) + 1 */
static void vec_feature(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 a = get(x + i, n - i, 0);
        put(y + i, where_neg(a, exp16(a), add(a, all(1.0f))), n - i);
    }
}

/* sum over (x - c)^2 */
static double sum_squares(const float *x, double c, size_t n)
{
    const d16 mid = dall(c);
    d16 s = dall(0);
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        d16 e = dsub(wide(load(x + i)), mid);
        s = dadd(s, dmul(e, e));
    }
    double tail = 0;
    for (size_t i = whole; i < n; i++)
        tail += (x[i] - c) * (x[i] - c);
    return dsum(s) + tail;
}

static inline v16 centred(v16 x, d16 mean, d16 inv)
{
    return narrow(dmul(dsub(wide(x), mean), inv));
}

static void vec_layernorm(float *y, const float *x, const float *w, const float *b, float eps, size_t n)
{
    double mu = sum_row(x, n) / (double)n;
    double var = sum_squares(x, mu, n) / (double)n;
    const d16 mean = dall(mu), inv = dall(1 / sqrt(var + (double)eps));
    for (size_t i = 0; i < n; i += LANES) {
        v16 scaled = mul(centred(get(x + i, n - i, 0), mean, inv), get(w + i, n - i, 0));
        put(y + i, b ? add(scaled, get(b + i, n - i, 0)) : scaled, n - i);
    }
}

static void vec_rmsnorm(float *y, const float *x, const float *w, float eps, size_t n)
{
    const d16 zero = dall(0), inv = dall(1 / sqrt(sum_squares(x, 0, n) / (double)n + (double)eps));
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, mul(centred(get(x + i, n - i, 0), zero, inv), get(w + i, n - i, 0)), n - i);
}

/* ln x = e ln 2 + ln m, where x = m 2^e.  With f = m - 1 and s = f / (2 + f), |s| <= 0.172, ln m is 2 atanh(s) = 2 s
 * + s z Q(z), z = s^2, and 2 s is f - s f.  Q is a minimax polynomial (1.3e-18 of the whole). */
LONG d16 log16(d16 x)
{
    d16 e, m = dsplit(x, &e), f = dsub(m, dall(1)), s = dquot(f, dadd(m, dall(1))), z = dmul(s, s),
    q = dall(0.14796105556057478);
    q = dfma(q, z, dall(0.15314035814324084));
    q = dfma(q, z, dall(0.18183564867954755));
    q = dfma(q, z, dall(0.2222219856344929));
    q = dfma(q, z, dall(0.28571428742475385));
    q = dfma(q, z, dall(0.39999999999414315));
    q = dfma(q, z, dall(0.6666666666666734));
    return dfma(e, dall(0.69314718055994531), dfma(s, dsub(dmul(q, z), f), f));
}

/* What is not above 0 counts as 0, with a logarithm that is finite. */
static void vec_attention_stats(double *entropy, double *distance, const float *x, double at, size_t n)
{
    d16 information = dall(0), length = dall(0), from = dsub(dcount(), dall(at));
    for (size_t i = 0; i < n; i += LANES) {
        v16 w = get(x + i, n - i, 0);
        d16 positive = wide(above(w, all(0), w));
        information = dfma(positive, log16(positive), information);
        length = dfma(wide(w), dabs(from), length);
        from = dadd(from, dall(LANES));
    }
    *entropy = 0 - dsum(information);   /* 0 is not to become -0 */
    *distance = dsum(length);
}

/* e^x for x from -700 to 700, to 1 unit of 2^-52: x = n ln 2 + r, ln 2 in two parts, the first with so short a
 * mantissa that its product with n is exact; e^r by its series. */
LONG d16 dexp16(d16 x)
{
    static const double nth[] = {1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0,
                                 1 / 40320.0,
                                 1 / 5040.0, 1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5, 1, 1};  /* 1/13! to 1/0! */
    d16 shifted = dfma(x, dall(1.4426950408889634), dall(DMAGIC)), n = dsub(shifted, dall(DMAGIC));
    d16 r = dfma(n, dall(-0x1.62e42feep-1), x), p = dall(nth[0]);
    r = dfma(n, dall(-0x1.a39ef35793c76p-33), r);
    for (size_t i = 1; i < sizeof nth / sizeof *nth; i++)
        p = dfma(p, r, dall(nth[i]));
    return dtimes_pow2(p, shifted);
}

/* What is 690 below the top changes no sum that has 1 in it, and its e^x is still normal. */
static double vec_exp_sum(const float *x, double top, size_t n)
{
    d16 s = dall(0);
    for (size_t i = 0; i < n; i += LANES)
        s = dadd(s, dexp16(dmax(dall(-690), dsub(wide(get(x + i, n - i, -INFINITY)), dall(top)))));
    return dsum(s);
}

/* erfc(z) / 2 for z >= 0 is exp(-z^2) t Q(t) / 2 with t = 1 / (1 + z/2); Q is a minimax polynomial
 * (2e-8 relative for z up to 10).  Phi(x) = erfc(-x / sqrt(2)) / 2; bell is exp(-x^2 / 2). */
LONG v16 phi16(v16 x, v16 *bell)
{
    v16 z = max(mul(x, all(0.707106781f)), mul(x, all(-0.707106781f)));
    v16 t = quot(all(1.0f), fma16(z, all(0.5f), all(1.0f)));
    v16 q = all(0.01228320669f);
    q = fma16(q, t, all(-0.1232513175f));
    q = fma16(q, t, all(0.4289211149f));
    q = fma16(q, t, all(-0.6700136219f));
    q = fma16(q, t, all(0.4212676439f));
    q = fma16(q, t, all(-0.09831446988f));
    q = fma16(q, t, all(0.2255408932f));
    q = fma16(q, t, all(0.2386450134f));
    q = fma16(q, t, all(0.2828570176f));
    q = fma16(q, t, all(0.2820644999f));
    *bell = exp16(mul(mul(z, z), all(-1.0f)));
    v16 tail = mul(mul(mul(q, t), all(0.5f)), *bell);
    return where_neg(x, tail, sub(all(1.0f), tail));
}

static void vec_gelu(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 bell, at = get(x + i, n - i, 0);
        put(y + i, mul(at, phi16(at, &bell)), n - i);
    }
}

LONG v16 gelu_new16(v16 x)
{
    v16 u = mul(all(-1.59576912f), mul(x, fma16(mul(x, x), all(0.044715f), all(1.0f))));    /* -2 sqrt(2/pi) */
    return quot(x, add(all(1.0f), exp16(u)));
}

static void vec_gelu_new(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, gelu_new16(get(x + i, n - i, 0)), n - i);
}

LONG v16 silu16(v16 x)
{
    return quot(x, add(all(1.0f), exp16(mul(x, all(-1.0f)))));
}

static void vec_silu(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, silu16(get(x + i, n - i, 0)), n - i);
}

static void vec_silu_mul(float *y, const float *g, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, mul(silu16(get(g + i, n - i, 0)), get(x + i, n - i, 0)), n - i);
}

static void vec_relu(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, max(all(0), get(x + i, n - i, 0)), n - i);
}

static void vec_relu2(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 at = max(all(0), get(x + i, n - i, 0));
        put(y + i, mul(at, at), n - i);
    }
}

static void vec_gelu_mul(float *y, const float *g, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 bell, at = get(g + i, n - i, 0);
        put(y + i, mul(mul(at, phi16(at, &bell)), get(x + i, n - i, 0)), n - i);
    }
}

static void vec_gelu_new_mul(float *y, const float *g, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        put(y + i, mul(gelu_new16(get(g + i, n - i, 0)), get(x + i, n - i, 0)), n - i);
}

/* tanh(u) = u + u z Q(z), z = u^2, for small u: Q interpolates at Chebyshev's points (6e-10 relative).  Otherwise it is
 * 1 - 2 / (e^(2 |u|) + 1) with the sign of u. */
LONG v16 tanh16(v16 u)
{
    const v16 minus = mul(u, all(-1.0f)), size = max(minus, u);
    v16 z = mul(u, u), q = all(0.002292744816f);
    q = fma16(q, z, all(-0.008343945516f));
    q = fma16(q, z, all(0.02176891865f));
    q = fma16(q, z, all(-0.05395925958f));
    q = fma16(q, z, all(0.1333330356f));
    q = fma16(q, z, all(-0.3333333317f));
    v16 large = sub(all(1.0f), quot(all(2.0f), add(exp16(add(size, size)), all(1.0f))));
    large = where_neg(u, mul(large, all(-1.0f)), large);
    return where_neg(sub(size, all(0.625f)), fma16(mul(u, z), q, u), large);
}

static void vec_cap(float *x, float cap, size_t n)
{
    const v16 c = all(cap);
    for (size_t i = 0; i < n; i += LANES)
        put(x + i, mul(tanh16(quot(get(x + i, n - i, 0), c)), c), n - i);
}

static void vec_rotate_interleaved(float *x, const float *c, const float *s, size_t r)
{
    for (size_t i = 0; i < r / 2; i++) {
        float a = x[2 * i], b = x[2 * i + 1];
        x[2 * i] = a * c[i] - b * s[i];
        x[2 * i + 1] = b * c[i] + a * s[i];
    }
}

static void vec_rotate(float *x, const float *c, const float *s, size_t r)
{
    size_t half = r / 2;
    for (size_t i = 0; i < half; i++) {
        float a = x[i], b = x[i + half];
        x[i] = a * c[i] - b * s[i];
        x[i + half] = b * c[i] + a * s[i];
    }
}

/* x - x is 0 for what is finite and NaN for the rest */
static bool vec_finite(const float *x, size_t n)
{
    v16 s = all(0);
    for (size_t i = 0; i < n; i += LANES) {
        v16 e = get(x + i, n - i, 0);
        s = add(s, sub(e, e));
    }
    return is_zero(s);
}

#include "compute/gradients_body.h"

/* The table of vec.h's lists: this file's vec_NAME and name_TYPE. */
#define DO(name, parameters, arguments) .name = vec_##name,
#define GET(type, name, parameters, arguments) .name = vec_##name,
#define F32(name, parameters) .name = name##_f32,
#define F16(name, parameters) .name = name##_f16,
#define BF16(name, parameters) .name = name##_bf16,
const struct attn_vec_ops TABLE = {
    .target = TARGET, .fused = FUSED, .tile_rows = TILE_ROWS,
    ATTN_VEC_OPS(DO, GET)
    .of = {[ATTN_F32] = {ATTN_VEC_TYPED_OPS(F32)}, [ATTN_F16] = {ATTN_VEC_TYPED_OPS(F16)},
           [ATTN_BF16] = {ATTN_VEC_TYPED_OPS(BF16)}}
};
