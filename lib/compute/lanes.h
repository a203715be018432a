/* lanes.h - sixteen floats and sixteen doubles at a time, in three spellings.
 *
 * Included by vec_body.h alone, which is compiled once for each instruction set.  `max` keeps a NaN
 * in its second operand, as the instruction does; `above(x, limit, y)` is y where x is, or is no
 * number, and else 0; `times_pow2(x, n)` is x 2^n for a whole n down to -208,
 * rounded once, and `pow2` takes whole numbers that were rounded by adding MAGIC, which leaves them
 * in the low bits.  `dsum` adds the halves, then their halves, and so on: one order for all.
 * `least_of(bits, x)` keeps the smallest of what is positive, as bits minus 1, a whole number. */
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
static inline v16 times_pow2(v16 x, v16 n) { return _mm512_scalef_ps(x, n); }
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
/* four times four numbers side by side */
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
static inline double dsum(d16 x)
{
    __m512d eight = _mm512_add_pd(x.a, x.b);
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
static inline float largest(v16 x) { return _mm512_reduce_max_ps(x); }
static inline uint32_t smallest(v16 bits) { return _mm512_reduce_min_epu32(_mm512_castps_si512(bits)); }
static inline __mmask16 first(size_t n) { return (__mmask16)((1u << n) - 1); }
static inline v16 load_part(const float *p, size_t n, float fill)
{
    return _mm512_mask_loadu_ps(all(fill), first(n), p);
}
static inline void store_part(float *p, v16 x, size_t n) { _mm512_mask_storeu_ps(p, first(n), x); }

#elif defined(__AVX2__) && defined(__FMA__)
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
static inline double dsum(d16 x)
{
    __m256d four = _mm256_add_pd(_mm256_add_pd(x.a, x.c), _mm256_add_pd(x.b, x.d));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
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
/* Which of lanes `from`.. to from + 7 are below n. */
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

#else                                   /* SSE2, which every x86-64 has */
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
/* Of use to those alone that multiply and add in one. */
static inline v16 least_of(v16 bits, v16 x) { (void)x; return bits; }
static inline uint32_t smallest(v16 bits) { (void)bits; return 0; }
static inline float largest(v16 x)
{
    __m128 four = _mm_max_ps(_mm_max_ps(x.a, x.b), _mm_max_ps(x.c, x.d)), two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
static inline float of_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}
static inline float f16_one(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    if (rest >= 0x7c00)                 /* inf and NaN keep their payload; a NaN comes out quiet, as the instruction does */
        return of_bits(sign | 0x7f800000u | (rest & 0x3ff) << 13 | (rest > 0x7c00 ? 0x400000u : 0));
    if (rest >= 0x400)
        return of_bits(sign | ((rest << 13) + 0x38000000u));
    float tiny = (float)rest * 0x1p-24f;
    return sign ? -tiny : tiny;
}
static inline v16 from_f16(const uint16_t *p)
{
    float f[LANES];
    for (int i = 0; i < LANES; i++)
        f[i] = f16_one(p[i]);
    return load(f);
}
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
#undef EACH
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
