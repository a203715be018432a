/* lanes.h - sixteen floats and sixteen doubles at a time, in three spellings.
 *
 * For files that are compiled for one instruction set each.  `max` keeps a NaN
 * in its second operand, as the instruction does; `above(x, limit, y)` is y where x is, or is no
 * number, and else 0; `times_pow2(x, n)` is x 2^n for a whole n down to -208, rounded once, and `pow2`
 * takes whole numbers that were rounded by adding MAGIC, which leaves them in the low bits.  `dsum`
 * adds the halves, then their halves, and so on: one order for all.  `least_of(bits, x)` keeps the
 * smallest of what is positive, as bits minus 1, a whole number.  `even_bf16` and `odd_bf16` are the lower and the upper
 * halves of sixteen words, in bf16; `even_f16` and `odd_f16` those in float16. */
#ifndef ATTN_COMPUTE_LANES_H
#define ATTN_COMPUTE_LANES_H

#include <stdint.h>
#include <string.h>

enum { LANES = 16 };
#define MAGIC 12582912.0f               /* 1.5 * 2^23 */
enum { BELOW_HALF = 0x7fff };           /* of the last bit bf16 keeps; with that bit added ties go to even */

/* Arrays of them stay in registers only where the loops over them are unrolled. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#if defined(__AVX512F__)
#include "compute/lanes_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "compute/lanes_avx2.h"
#else
#include "compute/lanes_sse2.h"
#endif

#if !defined(__AVX512F__)
/* In two halves, so that a denormal result is rounded once. */
static inline v16 times_pow2(v16 x, v16 n)
{
    v16 half = fma16(n, all(0.5f), all(MAGIC));
    v16 rest = add(sub(n, sub(half, all(MAGIC))), all(MAGIC));
    return mul(mul(x, pow2(half)), pow2(rest));
}
#endif

/* The next of n floats, sixteen or as many as are left; the other lanes hold `fill`. */
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

#endif
