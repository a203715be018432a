/* dequantise_lanes.h - vectors that have a number, or a word, of each of 32 rows.
 *
 * For dequantise_body.h alone, which is compiled for one instruction set each.  Two chains of multiply-adds side by
 * side do not wait for each other, so a vector is two of lanes.h. */
#ifndef ATTN_COMPUTE_DEQUANTISE_LANES_H
#define ATTN_COMPUTE_DEQUANTISE_LANES_H

#include "compute/lanes.h"

typedef struct { v16 h[2]; } v32;
#define V32(name, parameters, value) static inline v32 name parameters \
{ \
    v32 to; \
    { enum { g = 0 }; to.h[g] = value; } \
    { enum { g = 1 }; to.h[g] = value; } \
    return to; \
}
V32(all_same, (float x), all(x))
V32(loaded, (const float *p), load(p + g * LANES))
V32(total, (v32 x, v32 y), add(x.h[g], y.h[g]))
V32(rest, (v32 x, v32 y), sub(x.h[g], y.h[g]))
V32(product, (v32 x, v32 y), mul(x.h[g], y.h[g]))
V32(plus_product, (v32 sum, float x, v32 y), fma16(all(x), y.h[g], sum.h[g]))
V32(even_halves, (v32 x), even_f16(x.h[g]))
V32(odd_halves, (v32 x), odd_f16(x.h[g]))
static inline void stored(float *p, v32 x)
{
    store(p, x.h[0]);
    store(p + LANES, x.h[1]);
}

/* ---- words of the rows ---- */

/* Four words from a byte of each row on. */
static inline __attribute__((always_inline)) void words_at(v32 out[4], const void *const *row, size_t byte)
{
    UNROLL for (size_t g = 0; g < 2; g++) {
        v16 part[4] = {0}, words[4];
        UNROLL for (size_t l = 0; l < 4; l++)
            part[l] = fourths(row + g * LANES, l, byte);
        transpose4(words, part);
        UNROLL for (size_t i = 0; i < 4; i++)
            out[i].h[g] = words[i];
    }
}

/* Eight words from a byte of each row on.  AVX-512 loads them in one piece. */
static inline __attribute__((always_inline)) void eight_words(v32 *out, const void *const *row, size_t byte)
{
#if defined(__AVX512F__)
    UNROLL for (size_t g = 0; g < 2; g++) {
        v16 part[8] = {0}, near[4], far[4];           /* rows l and l + 4; words 0 to 3 and 4 to 7 in turns */
        UNROLL for (size_t l = 0; l < 8; l++) {
            const char *const *two = (const char *const *)row + g * LANES + l / 4 * 8 + l % 4;
            const __m256 x = _mm256_loadu_ps((const void *)(two[0] + byte));
            const __m256 y = _mm256_loadu_ps((const void *)(two[4] + byte));
            part[l].v[0] = _mm512_insertf32x8(_mm512_castps256_ps512(x), y, 1);
        }
        transpose4(near, part);
        transpose4(far, part + 4);
        UNROLL for (size_t i = 0; i < 4; i++) {
            out[i].h[g].v[0] = _mm512_shuffle_f32x4(near[i].v[0], far[i].v[0], 0x88);
            out[i + 4].h[g].v[0] = _mm512_shuffle_f32x4(near[i].v[0], far[i].v[0], 0xdd);
        }
    }
#else
    words_at(out, row, byte);
    words_at(out + 4, row, byte + 16);
#endif
}

/* Bits from `shift` on, and in place; joined; with some turned over; moved up; as numbers, without a sign, and with
 * one: what is left of byte `at` without its lowest bits, of which there are `down` - 24. */
V16(bits16, (v16 w, unsigned shift, uint32_t mask), (vf)((vu)w.v[i] >> shift & mask))
V16(joined16, (v16 x, v16 y), (vf)((vu)x.v[i] | (vu)y.v[i]))
V16(moved16, (v16 w, unsigned by), (vf)((vu)w.v[i] << by))
V16(turned16, (v16 w, uint32_t which), (vf)((vu)w.v[i] ^ which))
V16(signed16, (v16 w, unsigned at, int down), __builtin_convertvector((vi)((vu)w.v[i] << (24 - 8 * at)) >> down, vf))
V16(float16, (v16 w), __builtin_convertvector((vi)w.v[i], vf))
V32(bits, (v32 w, unsigned shift, uint32_t mask), bits16(w.h[g], shift, mask))
V32(joined_bits, (v32 x, v32 y), joined16(x.h[g], y.h[g]))
V32(moved_up, (v32 w, unsigned by), moved16(w.h[g], by))
V32(turned, (v32 w, uint32_t which), turned16(w.h[g], which))
V32(signed_bits, (v32 w, unsigned at, int down), signed16(w.h[g], at, down))
V32(to_float, (v32 w), float16(w.h[g]))
static inline v32 number(v32 w, unsigned shift, uint32_t mask) { return to_float(bits(w, shift, mask)); }

/* Four bits from `shift` on choose one of sixteen numbers; n bits, two to five, are a number from `first` on, which
 * AVX-512 also chooses. */
#if defined(__AVX512F__)
static inline v16 level16(v16 w, unsigned shift, v16 table)
{
    return (v16){{_mm512_permutexvar_ps((__m512i)((vu)w.v[0] >> shift), table.v[0])}};
}
static inline v16 few16(v16 w, unsigned shift, unsigned n, float first)
{
    static const float count[][LANES] = {
        {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
    const v16 table = add(load(count[n < 4 ? n - 2 : 2]), all(first));
    const __m512i at = (__m512i)((vu)w.v[0] >> shift);
    if (n < 5)
        return (v16){{_mm512_permutexvar_ps(at, table.v[0])}};
    return (v16){{_mm512_permutex2var_ps(table.v[0], at, add(table, all(LANES)).v[0])}};
}
#else
static inline v16 few16(v16 w, unsigned shift, unsigned n, float first)
{
    const v16 q = float16(bits16(w, shift, (1u << n) - 1));
    return first == 0 ? q : add(q, all(first));
}
#if defined(__AVX2__) && defined(__FMA__)
static inline vf vf_level(vu i, v16 table)
{
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(table.v[0], (__m256i)i),
                            _mm256_permutevar8x32_ps(table.v[1], (__m256i)i), (vf)(i << 28));
}
V16(level16, (v16 w, unsigned shift, v16 table), vf_level((vu)w.v[i] >> shift, table))
#else
static inline v16 level16(v16 w, unsigned shift, v16 table)
{
    float from[LANES], to[LANES];
    uint32_t at[LANES];
    store(from, table);
    memcpy(at, &w, sizeof at);
    for (size_t l = 0; l < LANES; l++)
        to[l] = from[at[l] >> shift & 15];
    return load(to);
}
#endif
#endif
V32(level, (v32 w, unsigned shift, v16 table), level16(w.h[g], shift, table))
V32(few_bits, (v32 w, unsigned shift, unsigned n, float first), few16(w.h[g], shift, n, first))

#endif
