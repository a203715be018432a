/* elementary.c - each function brings its argument into a short interval, where a Taylor polynomial is exact to a
 * double, and carries what rounding takes away in a second double.
 *
 * Nothing here may be contracted to a fused multiply-add: like all files it is compiled with -ffp-contract=off. */
#include "base/elementary.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- numbers of two doubles ---- */

struct pair { double hi, lo; };         /* hi + lo, lo at most half a unit in the last place of hi */

static struct pair fast_sum(double a, double b)         /* exact for |a| >= |b| */
{
    double s = a + b;
    return (struct pair){s, b - (s - a)};
}

static struct pair sum(double a, double b)              /* exact */
{
    double s = a + b, other = s - a;
    return (struct pair){s, (a - (s - other)) + (b - other)};
}

/* The upper 26 bits of a, so that products of halves are exact. */
static double upper(double a)
{
    double c = 0x1.000002p27 * a;
    return c - (c - a);
}

static struct pair product(double a, double b)          /* exact below 2^996 */
{
    double p = a * b, ah = upper(a), al = a - ah, bh = upper(b), bl = b - bh;
    return (struct pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static struct pair times(struct pair a, struct pair b)
{
    struct pair p = product(a.hi, b.hi);
    return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static struct pair plus(struct pair a, struct pair b)   /* |a| >= |b| */
{
    struct pair s = sum(a.hi, b.hi);
    return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

/* The nearest whole number, for |x| below 2^51. */
static double whole(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

static uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* 2^n for n from -1022 to 1023 */
static double power_of_two(int n)
{
    uint64_t u = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* c[0] + c[1] x + ... */
static double polynomial(const double *c, int terms, double x)
{
    double y = c[terms - 1];
    for (int i = terms - 2; i >= 0; i--)
        y = y * x + c[i];
    return y;
}
#define POLYNOMIAL(c, x) polynomial(c, (int)(sizeof (c) / sizeof *(c)), x)

/* ---- exponentials and logarithms ---- */

static const double LN2_HI = 0x1.62e42feep-1, LN2_LO = 0x1.a39ef35793c76p-33, LN2_END = 0x1.cc01f97b57ap-87;

/* e^(x + lo) = 2^n e^r with n whole and |r| <= ln(2)/2 */
static double exp_of(struct pair x)
{
    static const double c[] = {1 / 2., 1 / 6., 1 / 24., 1 / 120., 1 / 720., 1 / 5040., 1 / 40320., 1 / 362880.,
                               1 / 3628800., 1 / 39916800., 1 / 479001600., 1 / 6227020800.};
    if (isnan(x.hi))
        return x.hi;
    if (x.hi > 710)
        return (double)INFINITY;
    if (x.hi < -746)
        return 0;
    double n = whole(x.hi * 0x1.71547652b82fep0);
    struct pair r = sum(x.hi - n * LN2_HI, x.lo - n * LN2_LO), one = fast_sum(1, r.hi);
    double y = one.hi + (one.lo + (r.lo + r.hi * r.hi * POLYNOMIAL(c, r.hi)));
    int half = (int)n / 2;              /* in two steps, since 2^n itself may be too large or too small */
    return y * power_of_two(half) * power_of_two((int)n - half);
}

double attn_exp(double x) { return exp_of((struct pair){x, 0}); }

/* x = 2^k m, m from sqrt(1/2) to sqrt(2); x is finite and above 0. */
static double mantissa_of(double x, double *k)
{
    int e = 0;
    if (x < DBL_MIN)
        x *= 0x1p54, e = -54;
    uint64_t u = bits_of(x);
    e += (int)(u >> 52) - 1023;
    u = (u & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u;
    double m;
    memcpy(&m, &u, sizeof m);
    if (m > 0x1.6a09e667f3bcdp0)
        m /= 2, e++;
    *k = e;
    return m;
}

/* log(m) = 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1), where |s| < 0.172.  To some 65 bits:
 * powers need more than 53. */
static struct pair log_of(double x)
{
    static const double c[] = {2 / 5., 2 / 7., 2 / 9., 2 / 11., 2 / 13., 2 / 15., 2 / 17., 2 / 19., 2 / 21., 2 / 23.,
                               2 / 25., 2 / 27.};
    static const struct pair thirds = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
    double k, m = mantissa_of(x, &k), f = m - 1;
    struct pair below = sum(m, 1);
    double s = f / below.hi;
    struct pair back = product(s, below.hi);
    struct pair t = fast_sum(s, (f - back.hi - back.lo - s * below.lo) / below.hi);
    struct pair z = times(t, t), cube = times(t, times(z, thirds));
    double rest = t.hi * z.hi * z.hi * POLYNOMIAL(c, z.hi);
    struct pair of_m = plus((struct pair){2 * t.hi, 2 * t.lo}, plus(cube, (struct pair){rest, 0}));
    if (k == 0)
        return of_m;
    struct pair of_k = fast_sum(k * LN2_HI, k * LN2_LO);            /* k has 11 bits, and LN2_HI 32 */
    of_k.lo += k * LN2_END;
    return plus(of_k, of_m);
}

double attn_log(double x)
{
    if (isnan(x) || x < 0)
        return (double)NAN;
    return x == 0 ? -(double)INFINITY : isinf(x) ? x : log_of(x).hi;
}

double attn_log1p(double x)
{
    if (!(x > -1) || isinf(x))
        return attn_log(1 + x);
    if (x == 0)
        return x;                       /* with its sign */
    struct pair u = sum(1, x), l = log_of(u.hi);
    return l.hi + (l.lo + u.lo / u.hi);
}

double attn_pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (!(x > 0) || isinf(x) || !isfinite(y))
        return x == 0 || isinf(x) ? ((x == 0) == (y > 0) ? 0 : (double)INFINITY) : pow(x, y);
    struct pair l = log_of(x);
    if (fabs(y * l.hi) > 800)           /* beyond all doubles, and where the exact product might overflow */
        return attn_exp(y * l.hi);
    struct pair p = product(y, l.hi);
    return exp_of(fast_sum(p.hi, p.lo + y * l.lo));
}

/* ---- sines and cosines ---- */

/* x = n pi/2 + r with n whole and |r| <= pi/4, for |x| below FAR: pi/2 is the sum of parts of 24 bits, so that their
 * products with n are exact. */
static const double FAR = 8e8;

static struct pair quarter_turns(double x, unsigned *n)
{
    static const double part[] = {0x1.921fb4p0, 0x1.4442dp-24, 0x1.846988p-48, 0x1.8cc516p-72, 0x1.01b839a25204ap-96};
    double turns = whole(x * 0x1.45f306dc9c883p-1);
    struct pair r = {x, 0};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        struct pair s = sum(r.hi, -(turns * part[i]));
        r = sum(s.hi, s.lo + r.lo);
    }
    *n = (unsigned)((int)turns & 3);
    return r;
}

static double sine(struct pair r)
{
    static const double c[] = {-1 / 6., 1 / 120., -1 / 5040., 1 / 362880., -1 / 39916800., 1 / 6227020800.,
                               -1 / 1307674368000., 1 / 355687428096000.};
    double z = r.hi * r.hi;
    return r.hi + (r.lo * (1 - z / 2) + r.hi * z * POLYNOMIAL(c, z));
}

static double cosine(struct pair r)
{
    static const double c[] = {1 / 24., -1 / 720., 1 / 40320., -1 / 3628800., 1 / 479001600., -1 / 87178291200.,
                               1 / 20922789888000., -1 / 6402373705728000.};
    struct pair z = product(r.hi, r.hi), y = fast_sum(1, -z.hi / 2);
    return y.hi + (y.lo + (z.hi * z.hi * POLYNOMIAL(c, z.hi) - z.lo / 2 - r.hi * r.lo));
}

void attn_sin_cos(double *sin_x, double *cos_x, double x)
{
    if (!(fabs(x) < FAR)) {
        *sin_x = sin(x), *cos_x = cos(x);
        return;
    }
    unsigned n;
    struct pair r = quarter_turns(x, &n);
    double s = x == 0 ? x : sine(r), c = cosine(r);     /* the sine of -0 is -0 */
    *sin_x = n == 0 ? s : n == 1 ? c : n == 2 ? -s : -c;
    *cos_x = n == 0 ? c : n == 1 ? -s : n == 2 ? -c : s;
}

double attn_cos(double x)
{
    double s, c;
    attn_sin_cos(&s, &c, x);
    return c;
}

/* ---- lengths ---- */

double attn_hypot(double x, double y)
{
    double a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
    if (isinf(x) || isinf(y))
        return (double)INFINITY;
    if (isnan(x) || isnan(y) || b == 0)
        return isnan(x) || isnan(y) ? (double)NAN : a;
    double scale = a > 0x1p500 ? 0x1p-600 : b < 0x1p-450 ? 0x1p600 : 1;
    if (scale > 1 && a > 0x1p-300)      /* then b makes no difference, and a must not overflow */
        return a;
    a *= scale, b *= scale;
    struct pair s = plus(product(a, a), product(b, b));
    double h = sqrt(s.hi);
    struct pair square = product(h, h);
    return (h + (s.hi - square.hi - square.lo + s.lo) / (2 * h)) / scale;
}
