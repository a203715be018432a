/* lanes.h - vectors of sixteen floats (v16) and sixteen doubles (d16), in SSE2, AVX2, AVX-512 or NEON.
 *
 * For files that are compiled for one instruction set each.  A v16 is as many registers as it takes.  What gcc's
 * vectors can do is written once, for a register; each instruction set has a section for the rest.  (Vectors wider
 * than a register would need no struct, but gcc keeps them in memory, and is then six times slower or more.)
 *
 * What the names do not say: `max` and `dmax` return their second operand if one is NaN, as x86's instructions do.
 * `above(x, limit, y)` is y where x > limit or x is NaN, else 0.  `times_pow2_above(y, n, x, limit)` is y 2^n,
 * rounded once, where x > limit or x is NaN, and 0 elsewhere, whatever y and n are there; where it is not 0, n is
 * whole and at least -208.  `pow2` takes whole numbers that were rounded by adding MAGIC, which leaves them in the
 * low bits.  `is_zero` is whether all lanes are: -0 is, NaN is not.  `dsum` adds the two halves of a vector, then
 * the halves of that, and so on: the same order everywhere.  `sum_weights` adds sixteen floats from 0 to below 2 to
 * sums in double precision that `no_sums` begins and `sum_total` ends: what dsum makes of them; a float that is not
 * in this range may make it NaN.  `dcount` is 0 to 15.  `dsplit(x, &e)` is m with x = m 2^e and m from sqrt(1/2) to
 * sqrt(2), for a normal x > 0; for 0 it is some m and e, both finite.  `dtimes_pow2(x, n)` is x 2^n for a whole n
 * that was rounded by adding DMAGIC, where x and the result are normal.  `least_of(bits, x)` keeps the smallest
 * positive number, as its bits minus 1, so that 0 becomes the largest unsigned number.  `even_bf16` and `odd_bf16`
 * convert the lower and the upper halves of sixteen 32-bit words from bf16, `even_f16` and `odd_f16` from float16. */
#ifndef ATTN_COMPUTE_LANES_H
#define ATTN_COMPUTE_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__wasm__)
#include <wasm_simd128.h>
#else
#include <arm_neon.h>
#endif

enum { LANES = 16 };
#define MAGIC 12582912.0f               /* 1.5 * 2^23 */
#define DMAGIC 0x1.8p52
enum { BELOW_HALF = 0x7fff };           /* of the last bit bf16 keeps; plus that bit, it rounds ties to even */

/* Bits of doubles: 1, sqrt(1/2), 2^52. */
#define EXPONENT_ONE 0x3ff0000000000000
#define BITS_OF_ROOT 0x3fe6a09e667f3bcd
#define BITS_OF_2_52 0x4330000000000000

/* Arrays of vectors stay in registers only if the loops over them are unrolled.  With the checks of a sanitizer,
 * unrolled code takes minutes to compile; a page's is short rather than fast, but for its sums (products_small.h). */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__wasm__)
#define UNROLL
#elif !defined(__clang__)
#define UNROLL _Pragma("GCC unroll 8")
#elif __has_feature(address_sanitizer)
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif
#if defined(__wasm__)
#define UNROLL_SUMS _Pragma("unroll")
#define LONG static __attribute__((noinline))
#else
#define LONG static inline              /* functions that are long, and called in several places */
#endif
/* For loops around unrolled ones: where a vector is four registers, that code is long, and no faster. */
#if defined(__AVX2__)
#define UNROLL_OUTER UNROLL
#else
#define UNROLL_OUTER
#endif

/* IN: floats in a register.  EACH and DEACH repeat a statement for each register i of a v16 and of a d16, without a
 * loop, which the compiler would have to unroll first; ACROSS and DACROSS join their registers by f, in the orders
 * of `largest` and `dsum`.  FLOATS and DOUBLES list f(0), f(1) and so on for the lanes of a register; FOLD and
 * DFOLD call f with half of their number, a quarter and so on to 1 (there is no FOLD in AVX-512, which has
 * functions for that). */
#define AT(n, what) { enum { i = n }; what; }
#define AT2(n, what) AT(n, what) AT(n + 1, what)
#define AT4(n, what) AT2(n, what) AT2(n + 2, what)
#define OF2(f, n) f(n), f(n + 1)
#define OF4(f, n) OF2(f, n), OF2(f, n + 2)
#if defined(__AVX512F__)
enum { IN = 16 };
#define EACH(what) AT(0, what)
#define DEACH(what) AT2(0, what)
#define ACROSS(f, v) (v)[0]
#define DACROSS(f, v) f((v)[0], (v)[1])
#define FLOATS(f) OF4(f, 0), OF4(f, 4), OF4(f, 8), OF4(f, 12)
#define DOUBLES(f) OF4(f, 0), OF4(f, 4)
#define DFOLD(f) f(4) f(2) f(1)
#elif defined(__AVX2__) && defined(__FMA__)
enum { IN = 8 };
#define EACH(what) AT2(0, what)
#define DEACH(what) AT4(0, what)
#define ACROSS(f, v) f((v)[0], (v)[1])
#define DACROSS(f, v) f(f((v)[0], (v)[2]), f((v)[1], (v)[3]))
#define FLOATS(f) OF4(f, 0), OF4(f, 4)
#define DOUBLES(f) OF4(f, 0)
#define FOLD(f) f(4) f(2) f(1)
#define DFOLD(f) f(2) f(1)
#else
enum { IN = 4 };
#define EACH(what) AT4(0, what)
#define DEACH(what) AT4(0, what) AT4(4, what)
#define ACROSS(f, v) f(f((v)[0], (v)[1]), f((v)[2], (v)[3]))
#define DACROSS(f, v) f(f(f((v)[0], (v)[4]), f((v)[2], (v)[6])), f(f((v)[1], (v)[5]), f((v)[3], (v)[7])))
#define FLOATS(f) OF4(f, 0)
#define DOUBLES(f) OF2(f, 0)
#define FOLD(f) f(2) f(1)
#define DFOLD(f) f(1)
#endif

/* A register of floats, of their bits, of doubles and of theirs; and floats anywhere in memory, at odd addresses, too:
 * rows of 16-bit numbers are read as floats. */
typedef float vf __attribute__((vector_size(4 * IN)));
typedef int32_t vi __attribute__((vector_size(4 * IN)));
typedef uint32_t vu __attribute__((vector_size(4 * IN)));
typedef double vd __attribute__((vector_size(4 * IN)));
typedef uint64_t vl __attribute__((vector_size(4 * IN)));
typedef float anywhere __attribute__((vector_size(4 * IN), aligned(1), may_alias));
typedef struct { vf v[LANES / IN]; } v16;
typedef struct { vd v[2 * LANES / IN]; } d16;
#define V16(name, parameters, value) static inline v16 name parameters { v16 to; EACH(to.v[i] = value) return to; }
#define D16(name, parameters, value) static inline d16 name parameters { d16 to; DEACH(to.v[i] = value) return to; }

/* ---- sections: what the compiler's vectors lack ---- */

#if defined(__AVX512F__)

#define TARGET "avx512"
#define FUSED true
#define TILE_ROWS 6
#define TILE_COLS 4                     /* 6 x 4 accumulators of 32 registers */
typedef __mmask16 lane_mask;
static inline vf vf_root(vf x) { return _mm512_sqrt_ps(x); }
static inline vf vf_fma(vf x, vf y, vf z) { return _mm512_fmadd_ps(x, y, z); }
static inline vf vf_max(vf x, vf y) { return _mm512_max_ps(x, y); }
static inline vf vf_min(vf x, vf y) { return _mm512_min_ps(x, y); }
static inline vu vu_min(vu x, vu y) { return (vu)_mm512_min_epu32((__m512i)x, (__m512i)y); }
static inline vd vd_fma(vd x, vd y, vd z) { return _mm512_fmadd_pd(x, y, z); }
static inline vd vd_max(vd x, vd y) { return _mm512_max_pd(x, y); }
static inline lane_mask is_neg(vf x) { return _mm512_movepi32_mask((__m512i)x); }
static inline lane_mask is_nan(vf x) { return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q); }
static inline lane_mask is_above(vf x, vf limit) { return _mm512_cmp_ps_mask(x, limit, _CMP_NLE_UQ); }
static inline lane_mask is_not_0(vf x) { return _mm512_cmp_ps_mask(x, (vf){0}, _CMP_NEQ_UQ); }
static inline bool any(lane_mask mask) { return mask != 0; }
static inline vf choose(lane_mask mask, vf x, vf y) { return _mm512_mask_blend_ps(mask, y, x); }
static inline vf keep(lane_mask mask, vf x) { return _mm512_maskz_mov_ps(mask, x); }
static inline vd lower(vf x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
static inline vd upper(vf x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
static inline vf joined(vd x, vd y)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x)), _mm512_cvtpd_ps(y), 1);
}
static inline v16 from_f16(const uint16_t *p) { return (v16){{_mm512_cvtph_ps(_mm256_loadu_si256((const void *)p))}}; }
static inline v16 from_bf16(const uint16_t *p)
{
    return (v16){{(vf)((vu)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p)) << 16)}};
}
/* The lower halves of all words side by side, then the upper halves. */
static inline __m512i halves_apart(v16 x)
{
    const __m512i apart = _mm512_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1,
                                           30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutexvar_epi16(apart, (__m512i)x.v[0]);
}
static inline v16 even_f16(v16 x) { return (v16){{_mm512_cvtph_ps(_mm512_castsi512_si256(halves_apart(x)))}}; }
static inline v16 odd_f16(v16 x) { return (v16){{_mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves_apart(x), 1))}}; }
/* Four floats from each of four places, side by side; halves first, as narrower registers are filled twice as fast. */
static inline v16 quarters(const float *p, const float *q, const float *r, const float *s)
{
    __m256 x = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(q), 1);
    __m256 y = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(r)), _mm_loadu_ps(s), 1);
    return (v16){{_mm512_insertf32x8(_mm512_castps256_ps512(x), y, 1)}};
}
static inline __mmask16 first(size_t n) { return (__mmask16)((1u << n) - 1); }
static inline v16 load_part(const float *p, size_t n, float fill)
{
    return (v16){{_mm512_mask_loadu_ps(_mm512_set1_ps(fill), first(n), p)}};
}
static inline void store_part(float *p, v16 x, size_t n) { _mm512_mask_storeu_ps(p, first(n), x.v[0]); }

#else                                   /* a mask is a register, too */

typedef vu lane_mask;
static inline lane_mask is_neg(vf x) { return (vu)((vi)x < 0); }
static inline lane_mask is_nan(vf x) { return (vu)(x != x); }
static inline lane_mask is_above(vf x, vf limit) { return ~(vu)(x <= limit); }
static inline lane_mask is_not_0(vf x) { return (vu)(x != 0.0f); }
static inline vf keep(lane_mask mask, vf x) { return (vf)(mask & (vu)x); }

#if defined(__AVX2__) && defined(__FMA__)

#define TARGET "avx2"
#define FUSED true
#define TILE_ROWS 6
#define TILE_COLS 1                     /* 6 x 2 accumulators of 16 registers */
static inline vf vf_root(vf x) { return _mm256_sqrt_ps(x); }
static inline vf vf_fma(vf x, vf y, vf z) { return _mm256_fmadd_ps(x, y, z); }
static inline vf vf_max(vf x, vf y) { return _mm256_max_ps(x, y); }
static inline vf vf_min(vf x, vf y) { return _mm256_min_ps(x, y); }
static inline vu vu_min(vu x, vu y) { return (vu)_mm256_min_epu32((__m256i)x, (__m256i)y); }
static inline vd vd_fma(vd x, vd y, vd z) { return _mm256_fmadd_pd(x, y, z); }
static inline vd vd_max(vd x, vd y) { return _mm256_max_pd(x, y); }
static inline bool any(lane_mask mask) { return _mm256_movemask_ps((vf)mask) != 0; }
static inline vf choose(lane_mask mask, vf x, vf y) { return _mm256_blendv_ps(y, x, (vf)mask); }
static inline vd lower(vf x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
static inline vd upper(vf x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
static inline vf joined(vd x, vd y) { return _mm256_set_m128(_mm256_cvtpd_ps(y), _mm256_cvtpd_ps(x)); }
static inline __m128i eight(const uint16_t *p) { return _mm_loadu_si128((const void *)p); }
V16(from_f16, (const uint16_t *p), _mm256_cvtph_ps(eight(p + i * IN)))
V16(from_bf16, (const uint16_t *p), (vf)((vu)_mm256_cvtepu16_epi32(eight(p + i * IN)) << 16))
/* Float16 to float32: each word has a float16 in its lower half, and 0 in the upper. */
static inline vf vf_f16(vu x)
{
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32((__m256i)x, (__m256i)x), 0x08);
    return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
}
V16(even_f16, (v16 x), vf_f16((vu)x.v[i] & 0xffff))
V16(odd_f16, (v16 x), vf_f16((vu)x.v[i] >> 16))
static inline vf halves(const float *p, const float *q)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(q), 1);
}
static inline v16 quarters(const float *p, const float *q, const float *r, const float *s)
{
    return (v16){{halves(p, q), halves(r, s)}};
}
/* Of eight lanes, those for which from + i is below n. */
static inline __m256i first(size_t n, int from)
{
    __m256i lane = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(from));
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}
static inline vf part_half(const float *p, __m256i mask, float fill)
{
    return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, mask), (vf)mask);
}
static inline v16 load_part(const float *p, size_t n, float fill)
{
    return (v16){{part_half(p, first(n, 0), fill), part_half(p + 8, first(n, 8), fill)}};
}
static inline void store_part(float *p, v16 x, size_t n)
{
    _mm256_maskstore_ps(p, first(n, 0), x.v[0]);
    _mm256_maskstore_ps(p + 8, first(n, 8), x.v[1]);
}

#else                                   /* registers of four floats, without masked loads and stores */

#if defined(__x86_64__)

#define TARGET "generic"
#define FUSED false
#define TILE_ROWS 3
#define TILE_COLS 1                     /* 3 x 4 accumulators of 16 registers */
static inline vf vf_root(vf x) { return _mm_sqrt_ps(x); }
static inline vf vf_fma(vf x, vf y, vf z) { return x * y + z; }
static inline vf vf_max(vf x, vf y) { return _mm_max_ps(x, y); }
static inline vf vf_min(vf x, vf y) { return _mm_min_ps(x, y); }
static inline vd vd_fma(vd x, vd y, vd z) { return x * y + z; }
static inline vd vd_max(vd x, vd y) { return _mm_max_pd(x, y); }
static inline bool any(lane_mask mask) { return _mm_movemask_ps((vf)mask) != 0; }
static inline vf choose(lane_mask mask, vf x, vf y) { return _mm_or_ps(keep(mask, x), _mm_andnot_ps((vf)mask, y)); }
static inline vu vu_min(vu x, vu y) { return (vu)choose((vu)(x < y), (vf)x, (vf)y); }
static inline vd lower(vf x) { return _mm_cvtps_pd(x); }
static inline vd upper(vf x) { return _mm_cvtps_pd(_mm_movehl_ps(x, x)); }
static inline vf joined(vd x, vd y) { return _mm_movelh_ps(_mm_cvtpd_ps(x), _mm_cvtpd_ps(y)); }
typedef __m128i words8;
static inline words8 no_words(void) { return _mm_setzero_si128(); }
static inline words8 eight(const uint16_t *p) { return _mm_loadu_si128((const void *)p); }
static inline vu low_four(words8 x, words8 y) { return (vu)_mm_unpacklo_epi16(x, y); }
static inline vu high_four(words8 x, words8 y) { return (vu)_mm_unpackhi_epi16(x, y); }

#elif defined(__wasm__)

#if defined(ATTN_WASM)                 /* from the Makefile: the bits of a fused multiply-add, by fused.h */
#define TARGET "wasm"
#define FUSED true
#else
#define TARGET "generic"
#define FUSED false
#endif
#define TILE_ROWS 3
#define TILE_COLS 1
static inline vf vf_root(vf x) { return (vf)wasm_f32x4_sqrt((v128_t)x); }
static inline vf choose(lane_mask mask, vf x, vf y)
{
    return (vf)wasm_v128_bitselect((v128_t)x, (v128_t)y, (v128_t)mask);
}
/* Their second operand, if one is NaN. */
static inline vf vf_max(vf x, vf y) { return choose((vu)(x > y), x, y); }
static inline vf vf_min(vf x, vf y) { return choose((vu)(x < y), x, y); }
static inline vu vu_min(vu x, vu y) { return (vu)wasm_u32x4_min((v128_t)x, (v128_t)y); }
static inline vd vd_max(vd x, vd y)
{
    return (vd)wasm_v128_bitselect((v128_t)x, (v128_t)y, (v128_t)(x > y));
}
static inline bool any(lane_mask mask) { return wasm_v128_any_true((v128_t)mask); }
static inline vd lower(vf x) { return (vd)wasm_f64x2_promote_low_f32x4((v128_t)x); }
static inline vd upper(vf x) { return lower(__builtin_shufflevector(x, x, 2, 3, 2, 3)); }
static inline vf joined(vd x, vd y)
{
    return __builtin_shufflevector((vf)wasm_f32x4_demote_f64x2_zero((v128_t)x),
                                   (vf)wasm_f32x4_demote_f64x2_zero((v128_t)y), 0, 1, 4, 5);
}
#if defined(ATTN_WASM)
#include "compute/fused.h"
#else
static inline vf vf_fma(vf x, vf y, vf z) { return x * y + z; }
static inline vd vd_fma(vd x, vd y, vd z) { return x * y + z; }
#endif
typedef uint16_t words8 __attribute__((vector_size(16)));
typedef uint16_t words8_anywhere __attribute__((vector_size(16), aligned(1), may_alias));
static inline words8 no_words(void) { return (words8){0}; }
static inline words8 eight(const uint16_t *p) { return *(const words8_anywhere *)p; }
static inline vu low_four(words8 x, words8 y) { return (vu)__builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11); }
static inline vu high_four(words8 x, words8 y) { return (vu)__builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15); }

#else                                   /* AArch64 */

#if defined(ATTN_NEON)                  /* from the Makefile: every compiler for AArch64 knows its instructions */
#define TARGET "neon"
#define FUSED true
static inline vf vf_fma(vf x, vf y, vf z) { return vfmaq_f32(z, x, y); }
static inline vd vd_fma(vd x, vd y, vd z) { return vfmaq_f64(z, x, y); }
#else                                   /* with the bits of x86's generic ones */
#define TARGET "generic"
#define FUSED false
static inline vf vf_fma(vf x, vf y, vf z) { return x * y + z; }
static inline vd vd_fma(vd x, vd y, vd z) { return x * y + z; }
#endif
#define TILE_ROWS 6
#define TILE_COLS 1                     /* 6 x 4 accumulators of 32 registers */
static inline vf vf_root(vf x) { return vsqrtq_f32(x); }
static inline vf choose(lane_mask mask, vf x, vf y) { return vbslq_f32(mask, x, y); }
/* Its own maximum would be NaN if either is. */
static inline vf vf_max(vf x, vf y) { return choose((vu)(x > y), x, y); }
static inline vf vf_min(vf x, vf y) { return choose((vu)(x < y), x, y); }
static inline vu vu_min(vu x, vu y) { return vminq_u32(x, y); }
static inline vd vd_max(vd x, vd y) { return vbslq_f64((vl)(x > y), x, y); }
static inline bool any(lane_mask mask) { return vmaxvq_u32(mask) != 0; }
static inline vd lower(vf x) { return vcvt_f64_f32(vget_low_f32(x)); }
static inline vd upper(vf x) { return vcvt_high_f64_f32(x); }
static inline vf joined(vd x, vd y) { return vcvt_high_f32_f64(vcvt_f32_f64(x), y); }
static inline vf vf_f16(uint16x4_t x) { return vcvt_f32_f16(vreinterpret_f16_u16(x)); }
static inline vf vf_bf16(uint16x4_t x) { return (vf)(vmovl_u16(x) << 16); }
V16(from_f16, (const uint16_t *p), vf_f16(vld1_u16(p + i * IN)))
V16(from_bf16, (const uint16_t *p), vf_bf16(vld1_u16(p + i * IN)))
V16(even_f16, (v16 x), vf_f16(vmovn_u32((vu)x.v[i])))
V16(odd_f16, (v16 x), vf_f16(vshrn_n_u32((vu)x.v[i], 16)))

#endif

#if !defined(__aarch64__)

/* Float16 to float32: each word has a float16 in its lower half, and 0 in the upper. */
static inline vf vf_f16(vu x)
{
    const vu wider = (vu){0} + ((127 - 15) << 23), rest = x & 0x7fff, is_tiny = (vu)((vi)rest < 0x400);
    const vf tiny = __builtin_convertvector((vi)rest, vf) * 0x1p-24f;
    vu bits = (is_tiny & (vu)tiny) | (~is_tiny & ((rest << 13) + wider));
    /* inf and NaN keep their payload, and a NaN becomes quiet, as the instructions of the other sets do it */
    bits = (bits + ((vu)((vi)rest > 0x7bff) & wider)) | ((vu)((vi)rest > 0x7c00) & (1 << 22));
    return (vf)(bits | (x ^ rest) << 16);
}
/* Not inlined: it is long, and is called in many places. */
static __attribute__((noinline)) v16 f16_words(vu x, vu y, vu z, vu w)
{
    return (v16){{vf_f16(x), vf_f16(y), vf_f16(z), vf_f16(w)}};
}
static inline v16 even_f16(v16 x)
{
    return f16_words((vu)x.v[0] & 0xffff, (vu)x.v[1] & 0xffff, (vu)x.v[2] & 0xffff, (vu)x.v[3] & 0xffff);
}
static inline v16 odd_f16(v16 x)
{
    return f16_words((vu)x.v[0] >> 16, (vu)x.v[1] >> 16, (vu)x.v[2] >> 16, (vu)x.v[3] >> 16);
}
/* low_four, high_four: words of a number of x and one of y above it. */
static inline v16 from_f16(const uint16_t *p)
{
    const words8 zero = no_words(), x = eight(p), y = eight(p + 8);
    return f16_words(low_four(x, zero), high_four(x, zero), low_four(y, zero), high_four(y, zero));
}
static inline v16 from_bf16(const uint16_t *p)
{
    const words8 zero = no_words(), x = eight(p), y = eight(p + 8);
    return (v16){{(vf)low_four(zero, x), (vf)high_four(zero, x), (vf)low_four(zero, y), (vf)high_four(zero, y)}};
}

#endif

static inline v16 quarters(const float *p, const float *q, const float *r, const float *s)
{
    return (v16){{*(const anywhere *)p, *(const anywhere *)q, *(const anywhere *)r, *(const anywhere *)s}};
}
LONG v16 load_part(const float *p, size_t n, float fill)
{
    float buf[LANES];
    for (size_t i = 0; i < LANES; i++)
        buf[i] = i < n ? p[i] : fill;
    v16 to;
    memcpy(&to, buf, sizeof to);
    return to;
}
LONG void store_part(float *p, v16 x, size_t n)
{
    float buf[LANES];
    memcpy(buf, &x, sizeof buf);
    memcpy(p, buf, n * sizeof *p);
}

#endif
#endif

/* ---- what all have in common ---- */

/* In blocks of four lanes: those of the lower or upper halves of two blocks in turns; these halves side by side. */
#define LOW(i) ((i) & ~3) + ((i) & 3) / 2 + ((i) & 1) * IN
#define HIGH(i) LOW(i) + 2
#define LOW2(i) ((i) & ~3) + ((i) & 1) + ((i) & 2) / 2 * IN
#define HIGH2(i) LOW2(i) + 2
#define SAME(i) x
#define LANE(i) i

V16(load, (const float *p), *(const anywhere *)(p + i * IN))
static inline void store(float *p, v16 x) { EACH(*(anywhere *)(p + i * IN) = x.v[i]) }
V16(all, (float x), ((vf){FLOATS(SAME)}))
V16(add, (v16 x, v16 y), x.v[i] + y.v[i])
V16(sub, (v16 x, v16 y), x.v[i] - y.v[i])
V16(mul, (v16 x, v16 y), x.v[i] * y.v[i])
V16(quot, (v16 x, v16 y), x.v[i] / y.v[i])
V16(root, (v16 x), vf_root(x.v[i]))
#if defined(ATTN_WASM)                  /* long, and called in many places */
static __attribute__((noinline)) v16 fma16(v16 x, v16 y, v16 z)
{
    EACH(x.v[i] = vf_fma(x.v[i], y.v[i], z.v[i]))
    return x;
}
#else
V16(fma16, (v16 x, v16 y, v16 z), vf_fma(x.v[i], y.v[i], z.v[i]))
#endif
/* Where the product is exact, or its rounding does not matter; and whether fused multiply-adds make quotients. */
#if defined(ATTN_WASM)
V16(loose16, (v16 x, v16 y, v16 z), x.v[i] * y.v[i] + z.v[i])
#define SHARES false
#else
static inline v16 loose16(v16 x, v16 y, v16 z) { return fma16(x, y, z); }
#define SHARES FUSED
#endif
V16(max, (v16 x, v16 y), vf_max(x.v[i], y.v[i]))
V16(min, (v16 x, v16 y), vf_min(x.v[i], y.v[i]))
V16(where_neg, (v16 s, v16 x, v16 y), choose(is_neg(s.v[i]), x.v[i], y.v[i]))
V16(above, (v16 x, v16 limit, v16 y), keep(is_above(x.v[i], limit.v[i]), y.v[i]))
V16(pow2, (v16 n), (vf)(((vu)n.v[i] << 23) + 0x3f800000))
V16(least_of, (v16 bits, v16 x), (vf)vu_min((vu)bits.v[i], (vu)x.v[i] - 1))
V16(low, (v16 x, v16 y), __builtin_shufflevector(x.v[i], y.v[i], FLOATS(LOW)))
V16(high, (v16 x, v16 y), __builtin_shufflevector(x.v[i], y.v[i], FLOATS(HIGH)))
V16(low2, (v16 x, v16 y), __builtin_shufflevector(x.v[i], y.v[i], FLOATS(LOW2)))
V16(high2, (v16 x, v16 y), __builtin_shufflevector(x.v[i], y.v[i], FLOATS(HIGH2)))
static inline vf vf_even(vf x) { return (vf)((vu)x << 16); }
static inline vf vf_odd(vf x) { return (vf)((vu)x & ~0xffffu); }
static inline vf vf_nearest(vf x)
{
    vu i = (vu)x;
    return choose(is_nan(x), x, vf_odd((vf)(i + ((i >> 16 & 1) + BELOW_HALF))));
}
V16(even_bf16, (v16 x), vf_even(x.v[i]))
V16(odd_bf16, (v16 x), vf_odd(x.v[i]))
V16(nearest_bf16, (v16 x), vf_nearest(x.v[i]))
D16(wide, (v16 x), i % 2 ? upper(x.v[i / 2]) : lower(x.v[i / 2]))
V16(narrow, (d16 x), joined(x.v[2 * i], x.v[2 * i + 1]))

D16(dall, (double x), ((vd){DOUBLES(SAME)}))
D16(dcount, (void), ((vd){DOUBLES(LANE)}) + i * IN / 2)
D16(dadd, (d16 x, d16 y), x.v[i] + y.v[i])
D16(dsub, (d16 x, d16 y), x.v[i] - y.v[i])
D16(dmul, (d16 x, d16 y), x.v[i] * y.v[i])
D16(dquot, (d16 x, d16 y), x.v[i] / y.v[i])
#if defined(ATTN_WASM)
static __attribute__((noinline)) d16 dfma(d16 x, d16 y, d16 z)
{
    for (int i = 0; i < 2 * LANES / IN; i++)
        x.v[i] = vd_fma(x.v[i], y.v[i], z.v[i]);
    return x;
}
#else
D16(dfma, (d16 x, d16 y, d16 z), vd_fma(x.v[i], y.v[i], z.v[i]))
#endif
D16(dmax, (d16 x, d16 y), vd_max(x.v[i], y.v[i]))
D16(dabs, (d16 x), (vd)((vl)x.v[i] & INT64_MAX))
D16(dtimes_pow2, (d16 x, d16 n), (vd)((vl)x.v[i] + ((vl)n.v[i] << 52)))
static inline vd vd_split(vd x, vd *e)
{
    vl i = (vl)x, k = (i + (EXPONENT_ONE - BITS_OF_ROOT)) >> 52;
    *e = (vd)(k | BITS_OF_2_52) - (0x1p52 + 1023);
    return (vd)(i - ((k << 52) - EXPONENT_ONE));
}
D16(dsplit, (d16 x, d16 *e), vd_split(x.v[i], &e->v[i]))

/* Adds the lanes half a register away, a quarter and so on, until the first lane has all. */
#define BY_4(i) (i) ^ 4
#define BY_2(i) (i) ^ 2
#define BY_1(i) (i) ^ 1
#define SUM(n) x = x + __builtin_shufflevector(x, x, DOUBLES(BY_##n));
static inline vd vd_sum(vd x) { DFOLD(SUM) return x; }
static inline vd vd_add(vd x, vd y) { return x + y; }
static inline double dsum(d16 x) { return vd_sum(DACROSS(vd_add, x.v))[0]; }
static inline vf vf_or(vf x, vf y) { return (vf)((vu)x | (vu)y); }
static inline bool is_zero(v16 x) { return !any(is_not_0(ACROSS(vf_or, x.v))); }   /* -0 | 0 is a zero, too */

#if defined(__AVX512F__)

static inline float largest(v16 x) { return _mm512_reduce_max_ps(x.v[0]); }
static inline uint32_t smallest(v16 bits) { return _mm512_reduce_min_epu32((__m512i)bits.v[0]); }

static inline v16 times_pow2_above(v16 y, v16 n, v16 x, v16 limit)
{
    return (v16){{_mm512_maskz_scalef_ps(is_above(x.v[0], limit.v[0]), y.v[0], n.v[0])}};
}

/* A conversion to double takes as long as four additions.  But the bits of a float, moved down by three places, are
 * those of a double that is 2^-896 times as large: its exponent has three more bits, which are 0 in floats from 0 to
 * below 2.  `bits` are those that any float had; even, odd: sums of such doubles, and their lanes. */
typedef struct { vd even, odd; vl bits; } sums16;
static inline sums16 no_sums(void) { return (sums16){0}; }
static inline sums16 sum_weights(sums16 s, v16 x)
{
    const uint64_t whole = ~0x1fffffffull;              /* bits of a moved float; behind them are its neighbour's */
    vl i = (vl)x.v[0];
    return (sums16){s.even + (vd)(i << 32 >> 3), s.odd + (vd)(i >> 3 & whole), s.bits | i};
}
static inline double sum_total(sums16 s)
{
    const uint64_t beyond = 0xc0000000c0000000;         /* the sign, and the exponent of 2 and more, inf and NaN */
    d16 in_order = {{__builtin_shufflevector(s.even, s.odd, 0, 8, 1, 9, 2, 10, 3, 11),
                     __builtin_shufflevector(s.even, s.odd, 4, 12, 5, 13, 6, 14, 7, 15)}};
    return _mm512_test_epi64_mask((__m512i)s.bits, (__m512i)((vl){0} + beyond)) ? NAN : dsum(in_order) * 0x1p896;
}

#else

#define MAX(n) x = vf_max(x, __builtin_shufflevector(x, x, FLOATS(BY_##n)));
#define MIN(n) x = vu_min(x, __builtin_shufflevector(x, x, FLOATS(BY_##n)));
static inline vf vf_largest(vf x) { FOLD(MAX) return x; }
static inline vu vu_smallest(vu x) { FOLD(MIN) return x; }
static inline vf vf_least(vf x, vf y) { return (vf)vu_min((vu)x, (vu)y); }
static inline float largest(v16 x) { return vf_largest(ACROSS(vf_max, x.v))[0]; }
static inline uint32_t smallest(v16 bits) { return vu_smallest((vu)ACROSS(vf_least, bits.v))[0]; }

/* Multiplies by 2^(n/2) twice, as 2^n itself may be too small; only the second product rounds. */
static inline v16 times_pow2_above(v16 y, v16 n, v16 x, v16 limit)
{
    n = max(all(-208.0f), n);
    v16 half = loose16(n, all(0.5f), all(MAGIC));
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
    return quarters((const void *)(a + byte), (const void *)(b + byte), (const void *)(c + byte),
                    (const void *)(d + byte));
}

/* Four words of each row in each part.  They are loaded line by line: of rows that are a power of two apart, few lines
 * stay in the cache together. */
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
    v16 ab = low(part[0], part[1]), cd = low(part[2], part[3]);
    v16 AB = high(part[0], part[1]), CD = high(part[2], part[3]);
    out[0] = low2(ab, cd);
    out[1] = high2(ab, cd);
    out[2] = low2(AB, CD);
    out[3] = high2(AB, CD);
}

#endif
