/* lanes_sse2.h - lanes.h in SSE2, which every x86-64 has: four registers hold sixteen floats. */
#ifndef ATTN_COMPUTE_LANES_SSE2_H
#define ATTN_COMPUTE_LANES_SSE2_H

#include <emmintrin.h>

#define TARGET "generic"
#define FUSED false
#define TILE_ROWS 3
#define TILE_COLS 1                     /* 3 x 4 accumulators of 16 registers */
typedef struct { __m128 a, b, c, d; } v16;
typedef struct { __m128d a, b, c, d, e, f, g, h; } d16;
#define EACH(op, x, y) ((v16){op((x).a, (y).a), op((x).b, (y).b), op((x).c, (y).c), op((x).d, (y).d)})
static inline v16 load(const float *p)
{
    return (v16){_mm_loadu_ps(p), _mm_loadu_ps(p + 4), _mm_loadu_ps(p + 8), _mm_loadu_ps(p + 12)};
}
static inline void store(float *p, v16 x)
{
    _mm_storeu_ps(p, x.a);
    _mm_storeu_ps(p + 4, x.b);
    _mm_storeu_ps(p + 8, x.c);
    _mm_storeu_ps(p + 12, x.d);
}
static inline v16 all(float x)
{
    __m128 v = _mm_set1_ps(x);
    return (v16){v, v, v, v};
}
static inline v16 add(v16 x, v16 y) { return EACH(_mm_add_ps, x, y); }
static inline v16 sub(v16 x, v16 y) { return EACH(_mm_sub_ps, x, y); }
static inline v16 mul(v16 x, v16 y) { return EACH(_mm_mul_ps, x, y); }
static inline v16 quot(v16 x, v16 y) { return EACH(_mm_div_ps, x, y); }
static inline v16 root(v16 x) { return (v16){_mm_sqrt_ps(x.a), _mm_sqrt_ps(x.b), _mm_sqrt_ps(x.c), _mm_sqrt_ps(x.d)}; }
static inline v16 fma16(v16 x, v16 y, v16 z) { return add(mul(x, y), z); }
static inline v16 max(v16 x, v16 y) { return EACH(_mm_max_ps, x, y); }
static inline v16 min(v16 x, v16 y) { return EACH(_mm_min_ps, x, y); }
static inline v16 above(v16 x, v16 limit, v16 y)
{
    v16 mask = EACH(_mm_cmpnle_ps, x, limit);
    return EACH(_mm_and_ps, mask, y);
}
static inline v16 low(v16 x, v16 y) { return EACH(_mm_unpacklo_ps, x, y); }
static inline v16 high(v16 x, v16 y) { return EACH(_mm_unpackhi_ps, x, y); }
static inline __m128 high2_part(__m128 x, __m128 y) { return _mm_movehl_ps(y, x); }
static inline v16 low2(v16 x, v16 y) { return EACH(_mm_movelh_ps, x, y); }
static inline v16 high2(v16 x, v16 y) { return EACH(high2_part, x, y); }
#undef EACH
static inline v16 quarters(const float *p, const float *q, const float *r, const float *s)
{
    return (v16){_mm_loadu_ps(p), _mm_loadu_ps(q), _mm_loadu_ps(r), _mm_loadu_ps(s)};
}
static inline __m128 even_part(__m128 x) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_castps_si128(x), 16)); }
static inline __m128 odd_part(__m128 x)
{
    return _mm_castsi128_ps(_mm_and_si128(_mm_castps_si128(x), _mm_set1_epi32(~0xffff)));
}
static inline v16 even_bf16(v16 x) { return (v16){even_part(x.a), even_part(x.b), even_part(x.c), even_part(x.d)}; }
static inline v16 odd_bf16(v16 x) { return (v16){odd_part(x.a), odd_part(x.b), odd_part(x.c), odd_part(x.d)}; }
static inline __m128 nearest_part(__m128 x)
{
    __m128i i = _mm_castps_si128(x), last = _mm_and_si128(_mm_srli_epi32(i, 16), _mm_set1_epi32(1));
    __m128 up = _mm_castsi128_ps(_mm_add_epi32(i, _mm_add_epi32(last, _mm_set1_epi32(BELOW_HALF)))), nan = _mm_cmpunord_ps(x, x);
    return _mm_or_ps(_mm_and_ps(nan, x), _mm_andnot_ps(nan, odd_part(up)));
}
static inline v16 nearest_bf16(v16 x) { return (v16){nearest_part(x.a), nearest_part(x.b), nearest_part(x.c), nearest_part(x.d)}; }
static inline __m128 where_neg_part(__m128 s, __m128 x, __m128 y)
{
    __m128 mask = _mm_castsi128_ps(_mm_srai_epi32(_mm_castps_si128(s), 31));
    return _mm_or_ps(_mm_and_ps(mask, x), _mm_andnot_ps(mask, y));
}
static inline v16 where_neg(v16 s, v16 x, v16 y)
{
    return (v16){where_neg_part(s.a, x.a, y.a), where_neg_part(s.b, x.b, y.b), where_neg_part(s.c, x.c, y.c),
                 where_neg_part(s.d, x.d, y.d)};
}
static inline __m128 pow2_part(__m128 n)
{
    return _mm_castsi128_ps(_mm_add_epi32(_mm_slli_epi32(_mm_castps_si128(n), 23), _mm_set1_epi32(0x3f800000)));
}
static inline v16 pow2(v16 n) { return (v16){pow2_part(n.a), pow2_part(n.b), pow2_part(n.c), pow2_part(n.d)}; }
/* Stubs: only the code for fused multiply-add needs these two. */
static inline v16 least_of(v16 bits, v16 x) { (void)x; return bits; }
static inline uint32_t smallest(v16 bits) { (void)bits; return 0; }
static inline bool is_zero(v16 x)
{
    const __m128 zero = _mm_setzero_ps(), first = _mm_or_ps(_mm_cmpneq_ps(x.a, zero), _mm_cmpneq_ps(x.b, zero));
    return _mm_movemask_ps(_mm_or_ps(first, _mm_or_ps(_mm_cmpneq_ps(x.c, zero), _mm_cmpneq_ps(x.d, zero)))) == 0;
}
static inline float largest(v16 x)
{
    __m128 four = _mm_max_ps(_mm_max_ps(x.a, x.b), _mm_max_ps(x.c, x.d)), two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
/* Float16 to float32: each word has a float16 in its lower half, and 0 in the upper. */
static inline __m128 f16_part(__m128i x)
{
    const __m128i wider = _mm_set1_epi32((127 - 15) << 23), quiet = _mm_set1_epi32(1 << 22);
    __m128i rest = _mm_and_si128(x, _mm_set1_epi32(0x7fff)), sign = _mm_slli_epi32(_mm_xor_si128(x, rest), 16);
    __m128i normal = _mm_add_epi32(_mm_slli_epi32(rest, 13), wider), is_tiny = _mm_cmplt_epi32(rest, _mm_set1_epi32(0x400));
    __m128i tiny = _mm_castps_si128(_mm_mul_ps(_mm_cvtepi32_ps(rest), _mm_set1_ps(0x1p-24f)));
    __m128i bits = _mm_or_si128(_mm_and_si128(is_tiny, tiny), _mm_andnot_si128(is_tiny, normal));
    /* inf and NaN keep their payload, and a NaN becomes quiet, as the conversion instructions of the other sets do it */
    __m128i is_endless = _mm_cmpgt_epi32(rest, _mm_set1_epi32(0x7bff)), is_nan = _mm_cmpgt_epi32(rest, _mm_set1_epi32(0x7c00));
    bits = _mm_or_si128(_mm_add_epi32(bits, _mm_and_si128(is_endless, wider)), _mm_and_si128(is_nan, quiet));
    return _mm_castsi128_ps(_mm_or_si128(bits, sign));
}
/* Not inlined: it is long, and is called in many places. */
static __attribute__((noinline)) v16 f16_words(__m128i x, __m128i y, __m128i z, __m128i w)
{
    return (v16){f16_part(x), f16_part(y), f16_part(z), f16_part(w)};
}
static inline v16 from_f16(const uint16_t *p)
{
    const __m128i zero = _mm_setzero_si128(), x = _mm_loadu_si128((const void *)p), y = _mm_loadu_si128((const void *)(p + 8));
    return f16_words(_mm_unpacklo_epi16(x, zero), _mm_unpackhi_epi16(x, zero), _mm_unpacklo_epi16(y, zero),
                     _mm_unpackhi_epi16(y, zero));
}
static inline __m128i low_words(__m128 x) { return _mm_and_si128(_mm_castps_si128(x), _mm_set1_epi32(0xffff)); }
static inline __m128i high_words(__m128 x) { return _mm_srli_epi32(_mm_castps_si128(x), 16); }
static inline v16 even_f16(v16 x) { return f16_words(low_words(x.a), low_words(x.b), low_words(x.c), low_words(x.d)); }
static inline v16 odd_f16(v16 x) { return f16_words(high_words(x.a), high_words(x.b), high_words(x.c), high_words(x.d)); }
static inline v16 from_bf16(const uint16_t *p)
{
    const __m128i zero = _mm_setzero_si128(), x = _mm_loadu_si128((const void *)p), y = _mm_loadu_si128((const void *)(p + 8));
    return (v16){_mm_castsi128_ps(_mm_unpacklo_epi16(zero, x)), _mm_castsi128_ps(_mm_unpackhi_epi16(zero, x)),
                 _mm_castsi128_ps(_mm_unpacklo_epi16(zero, y)), _mm_castsi128_ps(_mm_unpackhi_epi16(zero, y))};
}
static inline __m128d upper(__m128 x) { return _mm_cvtps_pd(_mm_movehl_ps(x, x)); }
static inline d16 wide(v16 x)
{
    return (d16){_mm_cvtps_pd(x.a), upper(x.a), _mm_cvtps_pd(x.b), upper(x.b), _mm_cvtps_pd(x.c), upper(x.c),
                 _mm_cvtps_pd(x.d), upper(x.d)};
}
static inline __m128 narrow_part(__m128d x, __m128d y) { return _mm_movelh_ps(_mm_cvtpd_ps(x), _mm_cvtpd_ps(y)); }
static inline v16 narrow(d16 x)
{
    return (v16){narrow_part(x.a, x.b), narrow_part(x.c, x.d), narrow_part(x.e, x.f), narrow_part(x.g, x.h)};
}
#define EACH(op, x, y) ((d16){op((x).a, (y).a), op((x).b, (y).b), op((x).c, (y).c), op((x).d, (y).d), \
                              op((x).e, (y).e), op((x).f, (y).f), op((x).g, (y).g), op((x).h, (y).h)})
static inline d16 dall(double x)
{
    __m128d v = _mm_set1_pd(x);
    return (d16){v, v, v, v, v, v, v, v};
}
static inline d16 dadd(d16 x, d16 y) { return EACH(_mm_add_pd, x, y); }
static inline d16 dsub(d16 x, d16 y) { return EACH(_mm_sub_pd, x, y); }
static inline d16 dmul(d16 x, d16 y) { return EACH(_mm_mul_pd, x, y); }
static inline d16 dquot(d16 x, d16 y) { return EACH(_mm_div_pd, x, y); }
static inline d16 dmax(d16 x, d16 y) { return EACH(_mm_max_pd, x, y); }
static inline __m128d times_part(__m128d x, __m128d n)
{
    return _mm_castsi128_pd(_mm_add_epi64(_mm_castpd_si128(x), _mm_slli_epi64(_mm_castpd_si128(n), 52)));
}
static inline d16 dtimes_pow2(d16 x, d16 n) { return EACH(times_part, x, n); }
#undef EACH
static inline d16 dfma(d16 x, d16 y, d16 z) { return dadd(dmul(x, y), z); }
static inline __m128d abs_part(__m128d x) { return _mm_andnot_pd(_mm_set1_pd(-0.0), x); }
static inline d16 dabs(d16 x)
{
    return (d16){abs_part(x.a), abs_part(x.b), abs_part(x.c), abs_part(x.d), abs_part(x.e), abs_part(x.f), abs_part(x.g),
                 abs_part(x.h)};
}
static inline d16 dcount(void)
{
    return (d16){_mm_set_pd(1, 0), _mm_set_pd(3, 2), _mm_set_pd(5, 4), _mm_set_pd(7, 6), _mm_set_pd(9, 8), _mm_set_pd(11, 10),
                 _mm_set_pd(13, 12), _mm_set_pd(15, 14)};
}
static inline __m128d split_part(__m128d x, __m128d *e)
{
    __m128i i = _mm_castpd_si128(x), n = _mm_add_epi64(i, _mm_set1_epi64x(EXPONENT_ONE - BITS_OF_ROOT));
    __m128i k = _mm_srli_epi64(n, 52);
    *e = _mm_sub_pd(_mm_castsi128_pd(_mm_or_si128(k, _mm_set1_epi64x(BITS_OF_2_52))), _mm_set1_pd(0x1p52 + 1023));
    return _mm_castsi128_pd(_mm_sub_epi64(i, _mm_sub_epi64(_mm_slli_epi64(k, 52), _mm_set1_epi64x(EXPONENT_ONE))));
}
static inline d16 dsplit(d16 x, d16 *e)
{
    return (d16){split_part(x.a, &e->a), split_part(x.b, &e->b), split_part(x.c, &e->c), split_part(x.d, &e->d),
                 split_part(x.e, &e->e), split_part(x.f, &e->f), split_part(x.g, &e->g), split_part(x.h, &e->h)};
}
static inline double dsum(d16 x)
{
    __m128d p = _mm_add_pd(_mm_add_pd(x.a, x.e), _mm_add_pd(x.c, x.g));
    __m128d q = _mm_add_pd(_mm_add_pd(x.b, x.f), _mm_add_pd(x.d, x.h));
    __m128d two = _mm_add_pd(p, q);
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
static inline v16 load_part(const float *p, size_t n, float fill)
{
    float buf[LANES];
    for (size_t i = 0; i < LANES; i++)
        buf[i] = i < n ? p[i] : fill;
    return load(buf);
}
static inline void store_part(float *p, v16 x, size_t n)
{
    float buf[LANES];
    store(buf, x);
    memcpy(p, buf, n * sizeof *p);
}

#endif
