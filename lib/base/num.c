#include "base/num.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEN_MIN = -44, TEN_MAX = 53 };   /* 1.4e-45, the smallest float, has nine digits when times 1e53 */
static const double tens[TEN_MAX - TEN_MIN + 1] = {
    1e-44, 1e-43, 1e-42, 1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31,
    1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17,
    1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3,
    1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25,
    1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 1e39,
    1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47, 1e48, 1e49, 1e50, 1e51, 1e52, 1e53,
};

/* Kept out of line, so that the usual way needs no stack frame: a quarter of its time. */
#define SELDOM __attribute__((noinline, cold))

static double ten(int k)
{
    return tens[k - TEN_MIN];
}

/* round_scaled where the product is within a hair of half way between two integers. */
static SELDOM int64_t round_close(double v, int k)
{
    if (k < 0 || k > 22)
        return -1;
    double product = v * ten(k);
    int64_t n = (int64_t)product;
    double above = product - (double)n - 0.5;
    if (above == 0)                     /* the power is exact, so fma gives what the product left out */
        above = fma(v, ten(k), -product);
    return n + (above > 0 || (above == 0 && n % 2 == 1));
}

/* Rounds v * 10^k < 2^52 to the nearest integer, a tie to the even one, as printf does.  The
 * product of two doubles is off by a rounding of the product and, outside 10^0..10^22, one of the
 * power: -1 where that leaves it open which way to go. */
static int64_t round_scaled(double v, int k)
{
    double product = v * ten(k);
    double rounded = product + 0x1p52 - 0x1p52;     /* between 2^52 and 2^53 doubles are the integers */
    if (fabs(fabs(product - rounded) - 0.5) < product * 0x1p-51)
        return round_close(v, k);
    return (int64_t)rounded;
}

struct decimal { uint32_t digits; int e; };    /* d.dddddddd * 10^e: nine digits, the first not 0 */

/* printf's digits by printf itself, skipping the decimal point of whatever locale there is. */
static SELDOM struct decimal decimal_by_libc(double v)
{
    struct decimal d = {0, 0};
    char text[64], *s = text;
    snprintf(text, sizeof text, "%.8e", v);
    for (; *s != 'e'; s++)
        if (*s >= '0' && *s <= '9')
            d.digits = d.digits * 10 + (uint32_t)(*s - '0');
    d.e = atoi(s + 1);
    return d;
}

/* v > 0 is the value of a float32. */
static struct decimal decimal_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int e2 = (int)(bits >> 52) - 1023;
    struct decimal d = {.e = e2 * 78913 >> 18};         /* floor(e2 * log10(2)): right or one too small */
    d.e += v >= ten(d.e + 1);
    int64_t digits = round_scaled(v, 8 - d.e);
    if (digits < 0)
        return decimal_by_libc(v);
    if (digits == 1000000000) {
        digits = 100000000;
        d.e++;
    }
    d.digits = (uint32_t)digits;
    return d;
}

/* The eight digits of n < 10^8, one a byte, the first in the lowest: divides in all lanes at once,
 * by 10^4, 10^2 and 10, with quotients by multiplication. */
static uint64_t spread_digits(uint32_t n)
{
    uint64_t v = n / 10000 | (uint64_t)(n % 10000) << 32;
    uint64_t q = v * 10486 >> 20 & 0x0000007F0000007Fu;
    v = q | (v - q * 100) << 16;
    q = v * 103 >> 10 & 0x000F000F000F000Fu;
    return q | (v - q * 10) << 8;
}

/* Nine digits as characters: one, then eight with the first in the lowest byte; `n` of them are
 * left when trailing zeros are dropped. */
struct nine { char first; uint64_t rest; size_t n; };

static struct nine nine_of(uint32_t digits)
{
    uint64_t rest = spread_digits(digits % 100000000);
    return (struct nine){
        .first = (char)('0' + digits / 100000000),
        .rest = rest | 0x3030303030303030u,
        .n = rest == 0 ? 1 : 9 - (size_t)__builtin_clzll(rest) / 8,
    };
}

/* Both writers store whole words, spilling into the rest of buf[0..ATTN_NUM_MAX). */
static size_t put_plain(char *buf, struct nine t, int e)
{
    if (e < 0) {
        size_t zeros = (size_t)-e;      /* with the one before the point */
        memset(buf, '0', 8);
        buf[1] = '.';
        buf[1 + zeros] = t.first;
        memcpy(buf + 2 + zeros, &t.rest, 8);
        return 1 + zeros + t.n;
    }
    size_t whole = (size_t)e + 1;
    buf[0] = t.first;
    memcpy(buf + 1, &t.rest, 8);
    if (t.n <= whole)
        return whole;
    t.rest >>= 8 * e;
    buf[whole] = '.';
    memcpy(buf + whole + 1, &t.rest, 8);
    return t.n + 1;
}

static size_t put_scientific(char *buf, struct nine t, int e)
{
    size_t n = t.n == 1 ? 1 : t.n + 1;
    int magnitude = abs(e);             /* two digits do: 1.4e-45 to 3.4e38 */
    buf[0] = t.first;
    buf[1] = '.';
    memcpy(buf + 2, &t.rest, 8);
    buf[n] = 'e';
    buf[n + 1] = e < 0 ? '-' : '+';
    buf[n + 2] = (char)('0' + magnitude / 10);
    buf[n + 3] = (char)('0' + magnitude % 10);
    return n + 4;
}

static size_t put_special(char *buf, double x)
{
    return (size_t)(stpcpy(buf, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf") - buf);
}

size_t attn_num_f32(char *buf, float x)
{
    if (!isfinite(x))
        return put_special(buf, x);
    size_t sign = signbit(x) != 0;
    buf[0] = '-';
    buf[sign] = '0';
    if (x == 0)
        return sign + 1;
    struct decimal d = decimal_of(fabs((double)x));
    struct nine t = nine_of(d.digits);
    if (d.e >= -4 && d.e <= 8)
        return sign + put_plain(buf + sign, t, d.e);
    return sign + put_scientific(buf + sign, t, d.e);
}

/* Decimal digits of x, at least `least` of them. */
static size_t put_u64(char *buf, uint64_t x, size_t least)
{
    char text[20];
    size_t n = 0;
    for (; x > 0 || n < least; x /= 10)
        text[sizeof text - ++n] = (char)('0' + x % 10);
    memcpy(buf, text + sizeof text - n, n);
    return n;
}

size_t attn_num_u64(char *buf, uint64_t x)
{
    return put_u64(buf, x, 1);
}

/* Copies what snprintf wrote, with a point for whatever the locale puts between the digits. */
static size_t put_point(char *buf, const char *text)
{
    size_t n = 0;
    for (; *text; text++) {
        if (strchr("+-e0123456789", *text))
            buf[n++] = *text;
        else if (n > 0 && buf[n - 1] != '.')
            buf[n++] = '.';
    }
    return n;
}

static size_t fixed_by_libc(char *buf, double x, int digits)
{
    char text[80];
    snprintf(text, sizeof text, fabs(x) < 1e40 ? "%.*f" : "%.*e", digits, x);
    return put_point(buf, text);
}

size_t attn_num_fixed(char *buf, double x, int digits)
{
    assert(digits >= 0 && digits <= 17);
    if (!isfinite(x))
        return put_special(buf, x);
    if (fabs(x) * ten(digits) >= 0x1p52)
        return fixed_by_libc(buf, x, digits);
    int64_t n = round_scaled(fabs(x), digits);
    size_t sign = x < 0 && n > 0;       /* people read these: no -0.0000 */
    buf[0] = '-';
    size_t len = sign + put_u64(buf + sign, (uint64_t)n, (size_t)digits + 1);
    if (digits == 0)
        return len;
    memmove(buf + len - digits + 1, buf + len - digits, (size_t)digits);
    buf[len - (size_t)digits] = '.';
    return len + 1;
}

size_t attn_num_f64(char *buf, double x)
{
    if (!isfinite(x))
        return put_special(buf, x);
    size_t n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        char text[48];
        double back;
        snprintf(text, sizeof text, "%.*g", digits, x);
        n = put_point(buf, text);
        if (attn_num_parse_f64(buf, n, &back) && back == x)
            break;
    }
    return n;
}

bool attn_num_parse_u64(const char *text, size_t len, uint64_t *out)
{
    uint64_t x = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, digit, &x))
            return false;
    }
    *out = x;
    return len > 0;
}

static const char *skip_digits(const char *s)
{
    while (*s >= '0' && *s <= '9')
        s++;
    return s;
}

/* Whether s, after any sign, is digits with perhaps a point and an exponent.  strtod would also
 * take white space, hexadecimal, "infinity" and "nan(...)". */
static bool is_decimal(const char *s)
{
    const char *whole = s;
    s = skip_digits(s);
    bool any = s > whole;
    if (*s == '.') {
        const char *fraction = s + 1;
        s = skip_digits(fraction);
        any |= s > fraction;
    }
    if (any && (*s == 'e' || *s == 'E')) {
        const char *exponent = s + 1 + (s[1] == '+' || s[1] == '-');
        s = skip_digits(exponent);
        any = s > exponent;
    }
    return any && *s == '\0';
}

bool attn_num_parse_f64(const char *text, size_t len, double *out)
{
    char copy[ATTN_NUM_LONGEST + 1];
    if (len > ATTN_NUM_LONGEST || memchr(text, '\0', len))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    const char *body = copy + (copy[0] == '-' || copy[0] == '+');
    if (!is_decimal(body) && strcmp(body, "inf") != 0 && strcmp(body, "nan") != 0)
        return false;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        return false;
    *out = strtod_l(copy, NULL, c);
    freelocale(c);
    return true;
}
