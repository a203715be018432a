/* lanes_avx2.h - lanes.h in AVX2 with FMA: two registers hold sixteen floats. */
#ifndef ATTN_COMPUTE_LANES_AVX2_H
#define ATTN_COMPUTE_LANES_AVX2_H

#include <immintrin.h>

#define TARGET "avx2"
#define FUSED true
#define TILE_ROWS 6
#define TILE_COLS 1                     /* 6 x 2 accumulators of 16 registers */
typedef struct { __m256 a, b; } v16;
typedef struct { __m256d a, b, c, d; } d16;
static inline v16 load(const float *p) { return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
static inline void store(float *p, v16 x) { _mm256_storeu_ps(p, x.a); _mm256_storeu_ps(p + 8, x.b); }
static inline v16 all(float x) { return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
static inline v16 add(v16 x, v16 y) { return (v16){_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
static inline v16 sub(v16 x, v16 y) { return (v16){_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
static inline v16 mul(v16 x, v16 y) { return (v16){_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
static inline v16 quot(v16 x, v16 y) { return (v16){_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
static inline v16 root(v16 x) { return (v16){_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b)}; }
static inline v16 fma16(v16 x, v16 y, v16 z)
{
    return (v16){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
static inline v16 max(v16 x, v16 y) { return (v16){_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
static inline v16 min(v16 x, v16 y) { return (v16){_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
static inline v16 where_neg(v16 s, v16 x, v16 y)
{
    return (v16){_mm256_blendv_ps(y.a, x.a, s.a), _mm256_blendv_ps(y.b, x.b, s.b)};
}
static inline v16 above(v16 x, v16 limit, v16 y)
{
    return (v16){_mm256_and_ps(_mm256_cmp_ps(x.a, limit.a, _CMP_NLE_UQ), y.a),
                 _mm256_and_ps(_mm256_cmp_ps(x.b, limit.b, _CMP_NLE_UQ), y.b)};
}
static inline __m256 pow2_half(__m256 n)
{
    __m256i i = _mm256_slli_epi32(_mm256_castps_si256(n), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(i, _mm256_set1_epi32(0x3f800000)));
}
static inline v16 pow2(v16 n) { return (v16){pow2_half(n.a), pow2_half(n.b)}; }
static inline __m256 least_half(__m256 bits, __m256 x)
{
    __m256i less = _mm256_sub_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(1));
    return _mm256_castsi256_ps(_mm256_min_epu32(_mm256_castps_si256(bits), less));
}
static inline v16 least_of(v16 bits, v16 x) { return (v16){least_half(bits.a, x.a), least_half(bits.b, x.b)}; }
static inline v16 from_f16(const uint16_t *p)
{
    return (v16){_mm256_cvtph_ps(_mm_loadu_si128((const void *)p)),
                 _mm256_cvtph_ps(_mm_loadu_si128((const void *)(p + 8)))};
}
static inline __m256 bf16_half(const uint16_t *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p)), 16));
}
static inline v16 from_bf16(const uint16_t *p) { return (v16){bf16_half(p), bf16_half(p + 8)}; }
static inline __m256 halves(const float *p, const float *q)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(q), 1);
}
static inline v16 quarters(const float *p, const float *q, const float *r, const float *s)
{
    return (v16){halves(p, q), halves(r, s)};
}
static inline v16 low(v16 x, v16 y) { return (v16){_mm256_unpacklo_ps(x.a, y.a), _mm256_unpacklo_ps(x.b, y.b)}; }
static inline v16 high(v16 x, v16 y) { return (v16){_mm256_unpackhi_ps(x.a, y.a), _mm256_unpackhi_ps(x.b, y.b)}; }
static inline __m256d twos(__m256 x) { return _mm256_castps_pd(x); }
static inline v16 low2(v16 x, v16 y)
{
    return (v16){_mm256_castpd_ps(_mm256_unpacklo_pd(twos(x.a), twos(y.a))),
                 _mm256_castpd_ps(_mm256_unpacklo_pd(twos(x.b), twos(y.b)))};
}
static inline v16 high2(v16 x, v16 y)
{
    return (v16){_mm256_castpd_ps(_mm256_unpackhi_pd(twos(x.a), twos(y.a))),
                 _mm256_castpd_ps(_mm256_unpackhi_pd(twos(x.b), twos(y.b)))};
}
static inline __m256 even_half(__m256 x) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 16)); }
static inline __m256 odd_half(__m256 x)
{
    return _mm256_castsi256_ps(_mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(~0xffff)));
}
static inline v16 even_bf16(v16 x) { return (v16){even_half(x.a), even_half(x.b)}; }
static inline v16 odd_bf16(v16 x) { return (v16){odd_half(x.a), odd_half(x.b)}; }
/* Float16 to float32: each word has a float16 in its lower half, and 0 in the upper. */
static inline __m256 f16_half(__m256i x)
{
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(x, x), 0x08);
    return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
}
static inline __m256i low_words(__m256 x) { return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0xffff)); }
static inline __m256i high_words(__m256 x) { return _mm256_srli_epi32(_mm256_castps_si256(x), 16); }
static inline v16 even_f16(v16 x) { return (v16){f16_half(low_words(x.a)), f16_half(low_words(x.b))}; }
static inline v16 odd_f16(v16 x) { return (v16){f16_half(high_words(x.a)), f16_half(high_words(x.b))}; }
static inline __m256 nearest_half(__m256 x)
{
    __m256i i = _mm256_castps_si256(x), last = _mm256_and_si256(_mm256_srli_epi32(i, 16), _mm256_set1_epi32(1));
    __m256i up = _mm256_add_epi32(i, _mm256_add_epi32(last, _mm256_set1_epi32(BELOW_HALF)));
    return _mm256_blendv_ps(odd_half(_mm256_castsi256_ps(up)), x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
static inline v16 nearest_bf16(v16 x) { return (v16){nearest_half(x.a), nearest_half(x.b)}; }
static inline d16 wide(v16 x)
{
    return (d16){_mm256_cvtps_pd(_mm256_castps256_ps128(x.a)), _mm256_cvtps_pd(_mm256_extractf128_ps(x.a, 1)),
                 _mm256_cvtps_pd(_mm256_castps256_ps128(x.b)), _mm256_cvtps_pd(_mm256_extractf128_ps(x.b, 1))};
}
static inline v16 narrow(d16 x)
{
    return (v16){_mm256_set_m128(_mm256_cvtpd_ps(x.b), _mm256_cvtpd_ps(x.a)),
                 _mm256_set_m128(_mm256_cvtpd_ps(x.d), _mm256_cvtpd_ps(x.c))};
}
#define EACH(op, x, y) ((d16){op((x).a, (y).a), op((x).b, (y).b), op((x).c, (y).c), op((x).d, (y).d)})
static inline d16 dall(double x)
{
    __m256d v = _mm256_set1_pd(x);
    return (d16){v, v, v, v};
}
static inline d16 dadd(d16 x, d16 y) { return EACH(_mm256_add_pd, x, y); }
static inline d16 dsub(d16 x, d16 y) { return EACH(_mm256_sub_pd, x, y); }
static inline d16 dmul(d16 x, d16 y) { return EACH(_mm256_mul_pd, x, y); }
static inline d16 dquot(d16 x, d16 y) { return EACH(_mm256_div_pd, x, y); }
static inline d16 dmax(d16 x, d16 y) { return EACH(_mm256_max_pd, x, y); }
static inline d16 dfma(d16 x, d16 y, d16 z)
{
    return (d16){_mm256_fmadd_pd(x.a, y.a, z.a), _mm256_fmadd_pd(x.b, y.b, z.b), _mm256_fmadd_pd(x.c, y.c, z.c),
                 _mm256_fmadd_pd(x.d, y.d, z.d)};
}
static inline __m256d abs_part(__m256d x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
static inline d16 dabs(d16 x) { return (d16){abs_part(x.a), abs_part(x.b), abs_part(x.c), abs_part(x.d)}; }
static inline d16 dcount(void)
{
    return (d16){_mm256_set_pd(3, 2, 1, 0), _mm256_set_pd(7, 6, 5, 4), _mm256_set_pd(11, 10, 9, 8), _mm256_set_pd(15, 14, 13, 12)};
}
static inline __m256d split_part(__m256d x, __m256d *e)
{
    __m256i i = _mm256_castpd_si256(x), n = _mm256_add_epi64(i, _mm256_set1_epi64x(EXPONENT_ONE - BITS_OF_ROOT));
    __m256i k = _mm256_srli_epi64(n, 52);
    *e = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(k, _mm256_set1_epi64x(BITS_OF_2_52))), _mm256_set1_pd(0x1p52 + 1023));
    return _mm256_castsi256_pd(_mm256_sub_epi64(i, _mm256_sub_epi64(_mm256_slli_epi64(k, 52), _mm256_set1_epi64x(EXPONENT_ONE))));
}
static inline d16 dsplit(d16 x, d16 *e)
{
    return (d16){split_part(x.a, &e->a), split_part(x.b, &e->b), split_part(x.c, &e->c), split_part(x.d, &e->d)};
}
static inline __m256d times_part(__m256d x, __m256d n)
{
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(x), _mm256_slli_epi64(_mm256_castpd_si256(n), 52)));
}
static inline d16 dtimes_pow2(d16 x, d16 n) { return EACH(times_part, x, n); }
static inline double dsum(d16 x)
{
    __m256d four = _mm256_add_pd(_mm256_add_pd(x.a, x.c), _mm256_add_pd(x.b, x.d));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
static inline bool is_zero(v16 x)
{
    const __m256 zero = _mm256_setzero_ps();
    return _mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps(x.a, zero, _CMP_NEQ_UQ), _mm256_cmp_ps(x.b, zero, _CMP_NEQ_UQ))) == 0;
}
static inline float largest(v16 x)
{
    __m256 eight = _mm256_max_ps(x.a, x.b);
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
static inline uint32_t smallest(v16 bits)
{
    __m256i eight = _mm256_min_epu32(_mm256_castps_si256(bits.a), _mm256_castps_si256(bits.b));
    __m128i four = _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    __m128i two = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(two, _mm_shuffle_epi32(two, 0xb1)));
}
/* A mask of eight lanes: whether lane from + i is below n. */
static inline __m256i first(size_t n, int from)
{
    __m256i lane = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(from));
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}
static inline __m256 part_half(const float *p, __m256i mask, float fill)
{
    return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}
static inline v16 load_part(const float *p, size_t n, float fill)
{
    return (v16){part_half(p, first(n, 0), fill), part_half(p + 8, first(n, 8), fill)};
}
static inline void store_part(float *p, v16 x, size_t n)
{
    _mm256_maskstore_ps(p, first(n, 0), x.a);
    _mm256_maskstore_ps(p + 8, first(n, 8), x.b);
}
#undef EACH

#endif
