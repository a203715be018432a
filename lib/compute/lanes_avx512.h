/* lanes_avx512.h - lanes.h in AVX-512: a register holds sixteen floats. */
#ifndef ATTN_COMPUTE_LANES_AVX512_H
#define ATTN_COMPUTE_LANES_AVX512_H

#include <immintrin.h>

#define TARGET "avx512"
#define FUSED true
#define TILE_ROWS 6
#define TILE_COLS 4                     /* 6 x 4 accumulators of 32 registers */
typedef __m512 v16;
typedef struct { __m512d a, b; } d16;
static inline v16 load(const float *p) { return _mm512_loadu_ps(p); }
static inline void store(float *p, v16 x) { _mm512_storeu_ps(p, x); }
static inline v16 all(float x) { return _mm512_set1_ps(x); }
static inline v16 add(v16 x, v16 y) { return _mm512_add_ps(x, y); }
static inline v16 sub(v16 x, v16 y) { return _mm512_sub_ps(x, y); }
static inline v16 mul(v16 x, v16 y) { return _mm512_mul_ps(x, y); }
static inline v16 quot(v16 x, v16 y) { return _mm512_div_ps(x, y); }
static inline v16 root(v16 x) { return _mm512_sqrt_ps(x); }
static inline v16 fma16(v16 x, v16 y, v16 z) { return _mm512_fmadd_ps(x, y, z); }
static inline v16 max(v16 x, v16 y) { return _mm512_max_ps(x, y); }
static inline v16 min(v16 x, v16 y) { return _mm512_min_ps(x, y); }
static inline v16 where_neg(v16 s, v16 x, v16 y)
{
    return _mm512_mask_blend_ps(_mm512_movepi32_mask(_mm512_castps_si512(s)), y, x);
}
static inline v16 above(v16 x, v16 limit, v16 y)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLE_UQ), y);
}
static inline v16 times_pow2_above(v16 y, v16 n, v16 x, v16 limit)
{
    return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLE_UQ), y, n);
}
static inline v16 least_of(v16 bits, v16 x)
{
    __m512i less = _mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(1));
    return _mm512_castsi512_ps(_mm512_min_epu32(_mm512_castps_si512(bits), less));
}
static inline v16 from_f16(const uint16_t *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)p)); }
static inline v16 from_bf16(const uint16_t *p)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p)), 16));
}
/* Four floats from each of four places, side by side. */
static inline v16 quarters(const float *p, const float *q, const float *r, const float *s)
{
    __m512 x = _mm512_castps128_ps512(_mm_loadu_ps(p));
    x = _mm512_insertf32x4(x, _mm_loadu_ps(q), 1);
    x = _mm512_insertf32x4(x, _mm_loadu_ps(r), 2);
    return _mm512_insertf32x4(x, _mm_loadu_ps(s), 3);
}
static inline v16 low(v16 x, v16 y) { return _mm512_unpacklo_ps(x, y); }
static inline v16 high(v16 x, v16 y) { return _mm512_unpackhi_ps(x, y); }
static inline __m512d twos(v16 x) { return _mm512_castps_pd(x); }
static inline v16 low2(v16 x, v16 y) { return _mm512_castpd_ps(_mm512_unpacklo_pd(twos(x), twos(y))); }
static inline v16 high2(v16 x, v16 y) { return _mm512_castpd_ps(_mm512_unpackhi_pd(twos(x), twos(y))); }
static inline v16 even_bf16(v16 x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(x), 16)); }
static inline v16 odd_bf16(v16 x)
{
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(~0xffff)));
}
/* The lower halves of all words side by side, then the upper halves. */
static inline __m512i halves_apart(v16 x)
{
    const __m512i apart = _mm512_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1,
                                           30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutexvar_epi16(apart, _mm512_castps_si512(x));
}
static inline v16 even_f16(v16 x) { return _mm512_cvtph_ps(_mm512_castsi512_si256(halves_apart(x))); }
static inline v16 odd_f16(v16 x) { return _mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves_apart(x), 1)); }
static inline v16 nearest_bf16(v16 x)
{
    __m512i i = _mm512_castps_si512(x), last = _mm512_and_si512(_mm512_srli_epi32(i, 16), _mm512_set1_epi32(1));
    __m512i up = _mm512_add_epi32(i, _mm512_add_epi32(last, _mm512_set1_epi32(BELOW_HALF)));
    return _mm512_mask_mov_ps(odd_bf16(_mm512_castsi512_ps(up)), _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x);
}
static inline d16 wide(v16 x)
{
    return (d16){_mm512_cvtps_pd(_mm512_castps512_ps256(x)), _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))};
}
static inline v16 narrow(d16 x)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x.a)), _mm512_cvtpd_ps(x.b), 1);
}
static inline d16 dall(double x) { return (d16){_mm512_set1_pd(x), _mm512_set1_pd(x)}; }
static inline d16 dadd(d16 x, d16 y) { return (d16){_mm512_add_pd(x.a, y.a), _mm512_add_pd(x.b, y.b)}; }
static inline d16 dsub(d16 x, d16 y) { return (d16){_mm512_sub_pd(x.a, y.a), _mm512_sub_pd(x.b, y.b)}; }
static inline d16 dmul(d16 x, d16 y) { return (d16){_mm512_mul_pd(x.a, y.a), _mm512_mul_pd(x.b, y.b)}; }
static inline d16 dquot(d16 x, d16 y) { return (d16){_mm512_div_pd(x.a, y.a), _mm512_div_pd(x.b, y.b)}; }
static inline d16 dmax(d16 x, d16 y) { return (d16){_mm512_max_pd(x.a, y.a), _mm512_max_pd(x.b, y.b)}; }
static inline d16 dfma(d16 x, d16 y, d16 z)
{
    return (d16){_mm512_fmadd_pd(x.a, y.a, z.a), _mm512_fmadd_pd(x.b, y.b, z.b)};
}
static inline d16 dabs(d16 x) { return (d16){_mm512_abs_pd(x.a), _mm512_abs_pd(x.b)}; }
static inline d16 dcount(void)
{
    return (d16){_mm512_set_pd(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set_pd(15, 14, 13, 12, 11, 10, 9, 8)};
}
static inline __m512d split_half(__m512d x, __m512d *e)
{
    __m512i i = _mm512_castpd_si512(x), n = _mm512_add_epi64(i, _mm512_set1_epi64(EXPONENT_ONE - BITS_OF_ROOT));
    __m512i k = _mm512_srli_epi64(n, 52);
    *e = _mm512_sub_pd(_mm512_castsi512_pd(_mm512_or_si512(k, _mm512_set1_epi64(BITS_OF_2_52))), _mm512_set1_pd(0x1p52 + 1023));
    return _mm512_castsi512_pd(_mm512_sub_epi64(i, _mm512_sub_epi64(_mm512_slli_epi64(k, 52), _mm512_set1_epi64(EXPONENT_ONE))));
}
static inline d16 dsplit(d16 x, d16 *e) { return (d16){split_half(x.a, &e->a), split_half(x.b, &e->b)}; }
static inline __m512d times_half(__m512d x, __m512d n)
{
    return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(x), _mm512_slli_epi64(_mm512_castpd_si512(n), 52)));
}
static inline d16 dtimes_pow2(d16 x, d16 n) { return (d16){times_half(x.a, n.a), times_half(x.b, n.b)}; }
static inline double dsum(d16 x)
{
    __m512d eight = _mm512_add_pd(x.a, x.b);
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
/* A conversion to double takes as long as four additions.  But the bits of a float, moved down by three places, are those of a
 * double that is 2^-896 times as large: its exponent has three more bits, which are 0 in floats from 0 to below 2.  `bits` are
 * those that any float had; even, odd: sums of such doubles, and their lanes. */
typedef struct { __m512d even, odd; __m512i bits; } sums16;
static inline sums16 no_sums(void) { return (sums16){_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_si512()}; }
static inline sums16 sum_weights(sums16 s, v16 x)
{
    const __m512i whole = _mm512_set1_epi64(~0x1fffffff);       /* bits of a moved float; behind them are its neighbour's */
    __m512i i = _mm512_castps_si512(x), even = _mm512_srli_epi64(_mm512_slli_epi64(i, 32), 3);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi64(i, 3), whole);
    return (sums16){_mm512_add_pd(s.even, _mm512_castsi512_pd(even)), _mm512_add_pd(s.odd, _mm512_castsi512_pd(odd)),
                    _mm512_or_si512(s.bits, i)};
}
static inline double sum_total(sums16 s)
{
    const __m512i beyond = _mm512_set1_epi32((int)0xc0000000);  /* the sign, and the exponent of 2 and more, inf and NaN */
    const __m512i a = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), b = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    d16 in_order = {_mm512_permutex2var_pd(s.even, a, s.odd), _mm512_permutex2var_pd(s.even, b, s.odd)};
    return _mm512_test_epi32_mask(s.bits, beyond) ? NAN : dsum(in_order) * 0x1p896;
}
static inline bool is_zero(v16 x) { return _mm512_cmp_ps_mask(x, all(0), _CMP_NEQ_UQ) == 0; }
static inline float largest(v16 x) { return _mm512_reduce_max_ps(x); }
static inline uint32_t smallest(v16 bits) { return _mm512_reduce_min_epu32(_mm512_castps_si512(bits)); }
static inline __mmask16 first(size_t n) { return (__mmask16)((1u << n) - 1); }
static inline v16 load_part(const float *p, size_t n, float fill)
{
    return _mm512_mask_loadu_ps(all(fill), first(n), p);
}
static inline void store_part(float *p, v16 x, size_t n) { _mm512_mask_storeu_ps(p, first(n), x); }

#endif
