/* lanes.h - vectors of sixteen floats (v16) and sixteen doubles (d16), with intrinsics of three instruction sets.
 *
 * For files that are compiled for one instruction set each.  What the names do not say: `max` and `dmax`
 * return their second operand if one is NaN, as the instructions do.  `above(x, limit, y)` is y where x > limit or x is NaN,
 * else 0.  `times_pow2_above(y, n, x, limit)` is y 2^n, rounded once, where x > limit or x is NaN, and 0 elsewhere,
 * whatever y and n are there; where it is not 0, n is whole and at least -208.  `pow2` takes whole numbers that were rounded by
 * adding MAGIC, which leaves them in the low bits.  `is_zero` is whether all lanes are: -0 is, NaN is not.  `dsum` adds the two
 * halves of a vector, then the halves of that, and so on: the same order everywhere.  `sum_weights` adds sixteen floats from 0 to
 * below 2 to sums in double precision that `no_sums` begins and `sum_total` ends: what dsum makes of them; a float that is not in
 * this range may make it NaN.  `dcount` is 0 to 15.  `dsplit(x, &e)` is m with
 * x = m 2^e and m from sqrt(1/2) to sqrt(2), for a normal x > 0; for 0 it is some m and e, both finite.
 * `dtimes_pow2(x, n)` is x 2^n for a whole n that was rounded by adding DMAGIC, where x and the result are normal.
 * `least_of(bits, x)` keeps the smallest positive number, as its bits minus 1, so that 0 becomes the largest unsigned
 * number.  `even_bf16` and `odd_bf16` convert the lower and the upper halves of sixteen 32-bit words from bf16,
 * `even_f16` and `odd_f16` from float16. */
#ifndef ATTN_COMPUTE_LANES_H
#define ATTN_COMPUTE_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16 };
#define MAGIC 12582912.0f               /* 1.5 * 2^23 */
#define DMAGIC 0x1.8p52
enum { BELOW_HALF = 0x7fff };           /* just below half of the last bit bf16 keeps; plus that bit, it rounds ties to even */

/* Bits of doubles: 1, sqrt(1/2), 2^52. */
#define EXPONENT_ONE 0x3ff0000000000000
#define BITS_OF_ROOT 0x3fe6a09e667f3bcd
#define BITS_OF_2_52 0x4330000000000000

/* Arrays of vectors stay in registers only if the loops over them are unrolled. */
#if defined(__clang__)
#if __has_feature(address_sanitizer)    /* with its checks unrolled code takes minutes to compile */
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
/* For loops around unrolled ones: where a vector is four registers, that code is long, and no faster. */
#if defined(__AVX2__)
#define UNROLL_OUTER UNROLL
#else
#define UNROLL_OUTER
#endif

#if defined(__AVX512F__)
#include "compute/lanes_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "compute/lanes_avx2.h"
#else
#include "compute/lanes_sse2.h"
#endif

#if !defined(__AVX512F__)
/* Multiplies by 2^(n/2) twice, as 2^n itself may be too small; only the second product rounds. */
static inline v16 times_pow2_above(v16 y, v16 n, v16 x, v16 limit)
{
    n = max(all(-208.0f), n);
    v16 half = fma16(n, all(0.5f), all(MAGIC));
    v16 rest = add(sub(n, sub(half, all(MAGIC))), all(MAGIC));
    return mul(mul(above(x, limit, y), pow2(half)), pow2(rest));
}

typedef d16 sums16;
static inline sums16 no_sums(void) { return dall(0); }
static inline sums16 sum_weights(sums16 s, v16 x) { return dadd(s, wide(x)); }
static inline double sum_total(sums16 s) { return dsum(s); }
#endif

/* Loads sixteen floats, or n if fewer are left; the other lanes become `fill`. */
static inline v16 get(const float *p, size_t n, float fill)
{
    return n >= LANES ? load(p) : load_part(p, n, fill);
}

static inline void put(float *p, v16 x, size_t n)
{
    if (n >= LANES)
        store(p, x);
    else
        store_part(p, x, n);
}

/* ---- transposing: sixteen rows that may be anywhere in memory, 64 bytes of each at a time ---- */

/* Four 32-bit words of each of rows l, l + 4, l + 8 and l + 12. */
static inline v16 fourths(const void *const *row, size_t l, size_t byte)
{
    const char *a = row[l], *b = row[l + 4], *c = row[l + 8], *d = row[l + 12];
    return quarters((const void *)(a + byte), (const void *)(b + byte), (const void *)(c + byte), (const void *)(d + byte));
}

/* Four words of each row in each part.  They are loaded line by line: of rows that are a power of two apart, few lines stay in the
 * cache together. */
enum { PARTS = 4 };
struct lines { v16 part[PARTS][4]; };

static inline __attribute__((always_inline)) void take_lines(struct lines *to, const void *const *row, size_t byte)
{
    UNROLL for (size_t l = 0; l < 4; l++)
        UNROLL for (size_t p = 0; p < PARTS; p++)
            to->part[p][l] = fourths(row, l, byte + 16 * p);
}

/* out[i] becomes column i of the four columns of a part. */
static inline __attribute__((always_inline)) void transpose4(v16 out[4], const v16 part[4])
{
    v16 ab = low(part[0], part[1]), cd = low(part[2], part[3]), AB = high(part[0], part[1]), CD = high(part[2], part[3]);
    out[0] = low2(ab, cd);
    out[1] = high2(ab, cd);
    out[2] = low2(AB, CD);
    out[3] = high2(AB, CD);
}

#endif
