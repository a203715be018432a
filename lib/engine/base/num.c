#include "base/num.h"

#include <assert.h>
#include <endian.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"
#include "base/f32_body.h"
#include "base/format.h"

/* round_scaled for a product very close to half way between two integers. */
static __attribute__((noinline, cold)) int64_t round_close(double v, int k)
{
    double product = v * ten(k);
    int64_t n = (int64_t)product;
    double above = product - (double)n - 0.5;
    if (above == 0)                     /* the power of ten is exact, so fma yields the rounding error of the product */
        above = fma(v, ten(k), -product);
    return n + (above > 0 || (above == 0 && n % 2 == 1));
}

/* Rounds v * 10^k < 2^52, k = 0..17, to the nearest integer, ties to even, as printf does. */
static int64_t round_scaled(double v, int k)
{
    double product = v * ten(k);
    double rounded = product + 0x1p52 - 0x1p52;     /* between 2^52 and 2^53 all doubles are integers */
    if (fabs(fabs(product - rounded) - 0.5) < product * 0x1p-51)
        return round_close(v, k);
    return (int64_t)rounded;
}

/* The text of inf, -inf or nan. */
static size_t special(char *buf, double x)
{
    return (size_t)(stpcpy(buf, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf") - buf);
}

size_t attn_num_u64(char *buf, uint64_t x)
{
    char text[20];
    size_t n = 0;
    do
        text[sizeof text - ++n] = (char)('0' + x % 10);
    while (x /= 10);
    memcpy(buf, text + sizeof text - n, n);
    return n;
}

static size_t fixed_by_libc(char *buf, double x, int digits)
{
    return (size_t)attn_snprintf(buf, ATTN_NUM_FIXED_MAX, fabs(x) < 1e40 ? "%.*f" : "%.*e", digits, x);
}

enum { WORD_DIGITS = 8 };
static const uint64_t WORD_MOST = 99999999, ZEROS = 0x3030303030303030;

static void put_word(char *buf, uint64_t w)
{
    w = htole64(w);
    memcpy(buf, &w, sizeof w);
}

/* attn_num_right for n / 10^digits.  Unwanted digits are shifted out; bytes written behind the text do not count. */
static size_t put_word_right(char *buf, size_t columns, bool minus, uint64_t n, int digits)
{
    enum { FIXED = 16 };                /* a fixed number of bytes takes no call */
    uint64_t w = spread_digits((uint32_t)n) + ZEROS;    /* text, the first digit in the lowest byte */
    size_t whole = WORD_DIGITS - (size_t)digits, zeros = n ? (size_t)__builtin_ctzll(w - ZEROS) / 8 : whole;
    zeros = zeros < whole ? zeros : whole - 1;
    size_t len = minus + WORD_DIGITS - zeros + (digits > 0), blanks = len < columns ? columns - len : 0;
    char *at = buf + blanks;
    memset(buf, ' ', FIXED);
    if (blanks > FIXED)
        memset(buf + FIXED, ' ', blanks - FIXED);
    *at = '-';
    put_word(at + minus, w >> 8 * zeros);
    at += minus + whole - zeros;
    if (digits > 0) {
        *at = '.';
        put_word(at + 1, w >> 8 * whole);
    }
    return blanks + len;
}

/* Writes n / 10^digits so that it ends at `end`; returns where it begins. */
static char *put_back(char *end, uint64_t n, int digits)
{
    char *at = end;
    for (int i = 0; i < digits; i++, n /= 10)
        *--at = (char)('0' + n % 10);
    if (digits > 0)
        *--at = '.';
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    return at;
}

size_t attn_num_right(char *buf, size_t columns, double x, int digits)
{
    char text[ATTN_NUM_FIXED_MAX], *end = text + sizeof text, *at = text;
    assert(digits >= 0 && digits <= 17);
    if (isfinite(x) && fabs(x) * ten(digits) < 0x1p52) {
        uint64_t n = (uint64_t)round_scaled(fabs(x), digits);
        bool minus = x < 0 && n > 0;    /* for human readers: never -0.0000 */
        if (n <= WORD_MOST && digits < WORD_DIGITS)
            return put_word_right(buf, columns, minus, n, digits);
        at = put_back(end, n, digits);
        *--at = '-';
        at += !minus;
    } else {
        end = text + (isfinite(x) ? fixed_by_libc(text, x, digits) : special(text, x));
    }
    size_t len = (size_t)(end - at), blanks = len < columns ? columns - len : 0;
    memset(buf, ' ', blanks);
    memcpy(buf + blanks, at, len);
    return blanks + len;
}

size_t attn_num_fixed(char *buf, double x, int digits)
{
    char text[ATTN_NUM_FIXED_MAX];
    size_t n = attn_num_right(text, 0, x, digits);
    memcpy(buf, text, n);
    return n;
}

size_t attn_num_f64(char *buf, double x)
{
    if (!isfinite(x))
        return special(buf, x);
    size_t n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        char text[48];
        double back;
        n = (size_t)attn_snprintf(text, sizeof text, "%.*g", digits, x);
        memcpy(buf, text, n);
        if (attn_num_parse_f64(buf, n, &back) && back == x)
            break;
    }
    return n;
}

/* ---- float32 in the digits that read back: f32_body.h, in the build for this processor --------- */

size_t attn_f32_seldom(char *buf, float x)
{
    if (!isfinite(x))
        return special(buf, (double)x);
    return (size_t)attn_snprintf(buf, ATTN_NUM_MAX, "%.9g", (double)x);
}

/* Worth a loop of its own: causal masking leaves long runs of zeros. */
static size_t count_zeros(const float *x, size_t n)
{
    size_t i = 0;
    while (i < n && bits_of(x[i]) == 0)
        i++;
    return i;
}

static size_t put_zeros(char *buf, size_t n, char before)
{
    for (size_t i = 0; i < n; i++) {
        buf[2 * i] = before;
        buf[2 * i + 1] = '0';
    }
    return 2 * n;
}

size_t attn_num_f32s(char *buf, const float *x, size_t n, char before)
{
    static size_t (*const by_width[])(char *, const float *, size_t, char) = {
#if defined(__x86_64__)
        put_block, attn_f32_block_avx2, attn_f32_block_avx512
#else
        put_block, put_block            /* every AArch64 has NEON: the compiler uses it in both */
#endif
    };
    enum attn_simd width = attn_cpu_simd();
    char *at = buf;
    for (size_t i = 0, m; i < n; i += m) {
        m = count_zeros(x + i, n - i);
        if (m > 0) {
            at += put_zeros(at, m, before);
        } else {
            m = n - i < ATTN_F32_BLOCK ? n - i : ATTN_F32_BLOCK;
            at += by_width[width](at, x + i, m, before);
        }
    }
    return (size_t)(at - buf);
}

size_t attn_num_f32(char *buf, float x)
{
    struct block b;
    split(&b, &x, 1);
    spread(&b, 1);
    return put(buf, &b, 0, x);
}

/* ---- text to numbers --------------------------------------------------------------------- */

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

/* Whether s, after any sign, is digits with an optional point and exponent.  strtod alone would also accept white
 * space, hexadecimal, "infinity" and "nan(...)". */
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

enum { DIGITS_MOST = 19 };                /* so many fit into 64 bits */

/* w / 10^k, w > 0, k <= 19, rounded once: both are shifted until their top bits are set, so that the quotient has 63
 * bits or more. What the division leaves becomes its last bit, which is far below those that a double keeps. */
static double decimal_of(uint64_t w, unsigned k)
{
    __extension__ typedef unsigned __int128 wide;
    static const uint64_t powers[DIGITS_MOST + 1] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
        1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
        1000000000000000000, 10000000000000000000u,
    };
    int up = __builtin_clzll(w), down = __builtin_clzll(powers[k]);
    uint64_t by = powers[k] << down;
    wide n = (wide)(w << up) << 63;
    uint64_t q = (uint64_t)(n / by), rest = (uint64_t)n - q * by;
    return ldexp((double)(q | (rest > 0)), down - up - 63);
}

/* Nearly all numbers: at most 19 digits, and no exponent.  False: another one, or none. */
static bool parse_short(const char *s, size_t len, double *out)
{
    bool minus = len > 0 && *s == '-';
    uint64_t w = 0;
    size_t point = len, digits = 0;
    if (len > DIGITS_MOST + 2)
        return false;
    for (size_t i = minus; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)s[i] - '0';
        if (digit <= 9) {
            w = w * 10 + digit;
            digits++;
        } else if (s[i] == '.' && point == len) {
            point = i;
        } else {
            return false;
        }
    }
    if (digits == 0 || digits > DIGITS_MOST)
        return false;
    double x = w ? decimal_of(w, point < len ? (unsigned)(len - point - 1) : 0) : 0;
    *out = minus ? -x : x;
    return true;
}

bool attn_num_parse_f64(const char *text, size_t len, double *out)
{
    if (parse_short(text, len, out))
        return true;
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
