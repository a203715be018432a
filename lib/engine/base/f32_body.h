/* f32_body.h - float32 as text, a block of numbers at a time; compiled once for each instruction set.
 *
 * The nine digits are x * 10^k, computed in double precision and rounded.  Only 61 of all positive floats are so
 * close to half way between two texts that this would round them wrong; all that are about as close are left to
 * printf.  The digits of a block are found by loops without branches, which the compiler vectorizes (`long` where
 * `int` would do, because it then sees a gather); the texts differ in length and are written one after the other. */
#ifndef ATTN_BASE_F32_BODY_H
#define ATTN_BASE_F32_BODY_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn.h"


enum { ATTN_F32_BLOCK = 64 };           /* most numbers handled at a time */

/* As attn_num_f32s of num.h, for n up to ATTN_F32_BLOCK. */
size_t attn_f32_block_avx2(char *buf, const float *x, size_t n, char before);
size_t attn_f32_block_avx512(char *buf, const float *x, size_t n, char before);
/* The rare cases: inf, nan, and numbers too close to half way between two texts. */
size_t attn_f32_seldom(char *buf, float x);

enum { LEAST = 1, MOST = 0x7F7FFFFF };  /* bits of the smallest and the largest positive float */

struct block {
    uint64_t rest[ATTN_F32_BLOCK];      /* digits 2 to 9, one a byte, digit 2 in the lowest */
    uint32_t first[ATTN_F32_BLOCK];     /* at first all nine digits, later only digit 1 */
    int32_t e[ATTN_F32_BLOCK];          /* the number is d.dddddddd * 10^e */
    uint32_t open[ATTN_F32_BLOCK];      /* not 0: the other fields are not valid, see attn_f32_seldom */
};

enum { TEN_MIN = -44, TEN_MAX = 53 };   /* 1.4e-45, the smallest float, times 1e53 has nine digits */
static const double tens[TEN_MAX - TEN_MIN + 1] = {
    1e-44, 1e-43, 1e-42, 1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31,
    1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17,
    1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3,
    1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25,
    1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 1e39,
    1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47, 1e48, 1e49, 1e50, 1e51, 1e52, 1e53,
};

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double ten(long k)
{
    return tens[k - TEN_MIN];
}

/* Finds digits and exponents of n numbers and marks those it cannot do. */
static inline void split(struct block *restrict b, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = bits_of(x[i]) & 0x7FFFFFFF;
        uint32_t usual = magnitude < LEAST ? LEAST : magnitude > MOST ? MOST : magnitude;
        uint32_t none = usual != magnitude;         /* it is 0, inf or nan */
        float f;
        memcpy(&f, &usual, sizeof f);
        double v = (double)f;
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        long e2 = (long)(bits >> 52) - 1023;
        long e = e2 * 78913 >> 18;      /* floor(e2 * log10(2)): exact or one too small */
        e += v >= ten(e + 1);
        double product = v * ten(8 - e);            /* off by two roundings at most */
        double rounded = product + 0x1p52 - 0x1p52; /* between 2^52 and 2^53 all doubles are integers */
        uint32_t close = fabs(fabs(product - rounded) - 0.5) < product * 0x1p-51;
        long carry = rounded == 1e9;
        b->first[i] = (uint32_t)(int32_t)(carry ? 1e8 : rounded);
        b->e[i] = (int32_t)(e + carry);
        b->open[i] = none | close;
    }
}

/* The eight digits of n < 10^8, one a byte, the first in the lowest.  All lanes are divided at once, by 10^4, 10^2
 * and 10, with multiplications instead of divisions. */
static inline uint64_t spread_digits(uint32_t n)
{
    uint64_t v = n / 10000 | (uint64_t)(n % 10000) << 32;
    uint64_t q = v * 10486 >> 20 & 0x0000007F0000007Fu;
    v = q | (v - q * 100) << 16;
    q = v * 103 >> 10 & 0x000F000F000F000Fu;
    return q | (v - q * 10) << 8;
}

static inline void spread(struct block *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t digits = b->first[i], first = digits / 100000000;
        b->rest[i] = spread_digits(digits - first * 100000000);
        b->first[i] = first;
    }
}

/* Nine digits as characters: one, then eight with the first in the lowest byte.  `n` digits are left when trailing
 * zeros are dropped. */
struct nine { char first; uint64_t rest; size_t n; };

/* Both functions that follow store whole words and so write beyond the end of the text. */
static inline size_t put_plain(char *buf, struct nine t, int e)
{
    if (e < 0) {
        size_t zeros = (size_t)-e;      /* including the one before the point */
        memcpy(buf, "0.000000", 8);
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

static inline size_t put_scientific(char *buf, struct nine t, int e)
{
    size_t n = t.n == 1 ? 1 : t.n + 1;
    int magnitude = abs(e);             /* two digits suffice: 1.4e-45 to 3.4e38 */
    buf[0] = t.first;
    buf[1] = '.';
    memcpy(buf + 2, &t.rest, 8);
    buf[n] = 'e';
    buf[n + 1] = e < 0 ? '-' : '+';
    buf[n + 2] = (char)('0' + magnitude / 10);
    buf[n + 3] = (char)('0' + magnitude % 10);
    return n + 4;
}

static inline size_t put(char *buf, const struct block *b, size_t i, float x)
{
    size_t sign = bits_of(x) >> 31;
    buf[0] = '-';
    buf[sign] = '0';
    if (b->open[i])
        return x == 0 ? sign + 1 : attn_f32_seldom(buf, x);
    uint64_t rest = b->rest[i];
    struct nine t = {
        .first = (char)('0' + b->first[i]), .rest = rest | 0x3030303030303030u,
        .n = rest == 0 ? 1 : 9 - (size_t)__builtin_clzll(rest) / 8,
    };
    int e = b->e[i];
    return sign + (e >= -4 && e <= 8 ? put_plain(buf + sign, t, e) : put_scientific(buf + sign, t, e));
}

static inline size_t put_block(char *buf, const float *x, size_t n, char before)
{
    struct block b;
    char *at = buf;
    split(&b, x, n);
    spread(&b, n);
    for (size_t i = 0; i < n; i++) {
        *at++ = before;
        at += put(at, &b, i, x[i]);
    }
    return (size_t)(at - buf);
}

#endif
