/* fused.h - fused multiply-adds where vectors have none: their bits, from sums in double precision.
 *
 * The product of two floats is exact in double precision; the sum is rounded to odd there, so that rounding it to float
 * rounds once. */
#ifndef ATTN_COMPUTE_FUSED_H
#define ATTN_COMPUTE_FUSED_H

static inline vd odd_sum(vd p, vd z)
{
    const vd s = p + z, b = s - p, e = (p - (s - b)) + (z - b);
    const vl off = (vl)(e != 0), even = (vl)(((vl)s & 1) == 0), same = (vl)((((vl)e ^ (vl)s) >> 63) == 0);
    return (vd)((vl)s + (off & even & ((same & 1) | ~same)));
}
static inline vf vf_fma(vf x, vf y, vf z)
{
    return joined(odd_sum(lower(x) * lower(y), lower(z)), odd_sum(upper(x) * upper(y), upper(z)));
}
static inline vd vd_fma(vd x, vd y, vd z) { return x * y + z; }

#endif
