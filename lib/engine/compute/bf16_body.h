/* bf16_body.h - converts stored rows of a weight into words (bf16.h).
 *
 * Included only by the files that compute products in pairs. */
#ifndef ATTN_COMPUTE_BF16_BODY_H
#define ATTN_COMPUTE_BF16_BODY_H

#include "compute/bf16.h"

#include "compute/lanes.h"
#include "compute/prefetch.h"

#include <string.h>

enum { BOTH = 2 * LANES, DEEP = ATTN_ABREAST };

typedef __m512i v32;                    /* 32 numbers in bf16 */

static inline v32 two(v16 first, v16 second) { return (v32)_mm512_cvtne2ps_pbh(second.v[0], first.v[0]); }
static inline v16 words16(v32 x) { return (v16){{(__m512)x}}; }

/* Loads 32 stored numbers of w as bf16. */
typedef v32 v32_from(const void *w);
static inline v32 v32_from_f32(const void *w) { return two(load(w), load((const float *)w + LANES)); }
static inline v32 v32_from_f16(const void *w) { return two(from_f16(w), from_f16((const uint16_t *)w + LANES)); }
static inline v32 v32_from_bf16(const void *w) { return _mm512_loadu_si512(w); }

/* ---- w [in, out] ---- */

/* DEEP rows of w from row k on; zeros behind the last one. */
struct rows { const char *at[DEEP]; };

static inline struct rows rows_at(const char *w, size_t bytes, size_t k, size_t K)
{
    static const _Alignas(64) float zeros[ATTN_BF16_WIDTH];
    struct rows r;
    for (size_t i = 0; i < DEEP; i++)
        r.at[i] = k + i < K ? w + (k + i) * bytes : (const char *)zeros;
    return r;
}

/* Words of 32 columns, made of two rows (steps of k) of them. */
struct paired { v32 left, right; };

static inline struct paired pair(v32 first, v32 second)
{
    const v32 left = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8,
                                      39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const v32 right = _mm512_add_epi16(left, _mm512_set1_epi16(LANES));
    return (struct paired){_mm512_permutex2var_epi16(first, left, second),
                           _mm512_permutex2var_epi16(first, right, second)};
}

/* ---- w [out, in] ---- */

/* Words of 32 steps of sixteen rows, and where they are: what is stored as pairs in bf16 already is not copied. */
struct sixteen_rows { v32 made[ATTN_TRANSPOSE]; const void *row[ATTN_TRANSPOSE]; };

/* Makes the words of steps k .. k + 32, with zeros behind the last step. */
static inline __attribute__((always_inline))
void make_words(struct sixteen_rows *t, const void *const *w, size_t k, size_t K, size_t size, v32_from *from)
{
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++) {
        const char *at = (const char *)w[l] + k * size;
        if (K - k < BOTH) {
            _Alignas(LINE_BYTES) char padded[BOTH * sizeof(float)] = {0};
            memcpy(padded, at, (K - k) * size);
            t->made[l] = from(padded);
        } else if (from != v32_from_bf16) {
            t->made[l] = from(at);
        }
        t->row[l] = K - k >= BOTH && from == v32_from_bf16 ? (const void *)at : &t->made[l];
    }
}

#endif
