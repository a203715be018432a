/* fused.h - the bits of fused multiply-adds where vectors have none, for WebAssembly.
 *
 * The product of two floats is exact in double precision.  The sum with a third, rounded to double and then to float,
 * is rounded twice, which differs from once only where the double lies halfway between two floats (or the float is
 * denormal, and such places are elsewhere): one in 2^29 of arbitrary numbers.  There the sum is rounded to odd first.
 * Included by lanes.h alone. */
#ifndef ATTN_COMPUTE_FUSED_H
#define ATTN_COMPUTE_FUSED_H

#define BELOW_FLOAT 0x1fffffffull       /* bits of a double that a float of its size lacks, and the first of them */
#define HALF_FLOAT 0x10000000ull

/* A double with more bits than a float, so that rounding it again rounds once: what is lost shows in the last bit.  Of
 * what is not finite e is NaN, and nothing is lost. */
static inline vd odd_sum(vd p, vd z)
{
    const vd s = p + z, b = s - p, e = (p - (s - b)) + (z - b);
    const vl off = (vl)(e < 0) | (vl)(e > 0), even = (vl)(((vl)s & 1) == 0), same = (vl)((((vl)e ^ (vl)s) >> 63) == 0);
    return (vd)((vl)s + (off & even & ((same & 1) | ~same)));
}

static __attribute__((noinline)) vf vf_fma_exact(vf x, vf y, vf z)
{
    return joined(odd_sum(lower(x) * lower(y), lower(z)), odd_sum(upper(x) * upper(y), upper(z)));
}

static inline vf vf_fma(vf x, vf y, vf z)
{
    const vd low = lower(x) * lower(y) + lower(z), high = upper(x) * upper(y) + upper(z);
    const vf to = joined(low, high);
    const vl halfway = (vl)(((vl)low & BELOW_FLOAT) == HALF_FLOAT) | (vl)(((vl)high & BELOW_FLOAT) == HALF_FLOAT);
    const vu small = (vu)(((vu)to & 0x7fffffff) < 0x800000);
    return __builtin_expect(any((vu)halfway | small), 0) ? vf_fma_exact(x, y, z) : to;
}

/* x as the sum of two numbers of 26 bits. */
static inline vd vd_half(vd x)
{
    const vd c = x * 0x1p27 + x;
    return c - (c - x);
}

/* Of doubles, by Boldo and Melquiond: the product and both sums are made exact by their errors, which are added to odd.
 * What is 0 or not finite is so anyway. */
static inline vd vd_fma(vd x, vd y, vd z)
{
    const vd plain = x * y, a = vd_half(x), b = vd_half(y);
    const vd rest = ((a * b - plain) + a * (y - b) + (x - a) * b) + (x - a) * (y - b);
    const vd t = z + rest, tb = t - z, t_rest = (z - (t - tb)) + (rest - tb);
    const vd v = plain + t, vb = v - plain, v_rest = (plain - (v - vb)) + (t - vb);
    const vd to = v + odd_sum(t_rest, v_rest);
    const vl good = (vl)(to - to == 0) & (vl)(to != 0);
    return (vd)((good & (vl)to) | (~good & (vl)(plain + z)));
}

#endif
