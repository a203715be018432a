#include "base/boxmuller.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { HALF = ATTN_BOX / 2 };
static const double pi = 3.14159265358979323846;

#define INLINE static inline __attribute__((always_inline))

/* ---- log, sin and cos of the AVX2 path.  They have no branches, so that a compiler can vectorize them eight at a
 * time with the same bits. ---- */

INLINE uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

INLINE float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Evaluates c[0] x^(n-1) + ... + c[n-1] by Horner's rule. */
INLINE float horner(float x, const float *c, int n)
{
    float y = c[0];
    for (int i = 1; i < n; i++)
        y = fmaf(y, x, c[i]);
    return y;
}

/* Needs 0 < x <= 1. */
INLINE float cephes_log(float x)
{
    static const float poly[] = {
        7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
        -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f,
    };
    uint32_t bits = bits_of(x);
    float m = float_of((bits & 0x807fffffu) | 0x3f000000u);         /* the mantissa, in [0.5, 1) */
    uint32_t small = m < 0.707106781186547524f ? UINT32_MAX : 0;
    float e = (float)((int)(bits >> 23) - 126 + (int)small);
    x = (m - 1) + float_of(bits_of(m) & small);
    float z = x * x;
    float y = horner(x, poly, sizeof poly / sizeof *poly) * x;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = y - z * 0.5f;
    return fmaf(e, 0.693359375f, x + y);
}

/* Needs x >= 0. */
INLINE void cephes_sincos(float x, float *sin_x, float *cos_x)
{
    static const float cos_poly[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
    static const float sin_poly[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    uint32_t octant = ((uint32_t)(int)(x * 1.27323954473516f) + 1) & ~UINT32_C(1);
    float y = (float)(int)octant;
    x = fmaf(-0.78515625f, y, x);       /* subtracts y * pi/4, split into three parts for precision */
    x = fmaf(-2.4187564849853515625e-4f, y, x);
    x = fmaf(-3.77489497744594108e-8f, y, x);
    float z = x * x;
    uint32_t c = bits_of(fmaf(horner(z, cos_poly, 3) * z, z, -(z * 0.5f)) + 1);
    uint32_t s = bits_of(fmaf(horner(z, sin_poly, 3) * z, x, x));
    uint32_t swap = 0 - (octant >> 1 & 1), sin_sign = (octant & 4) << 29, cos_sign = (~(octant - 2) & 4) << 29;
    *sin_x = float_of(((c & swap) | (s & ~swap)) ^ sin_sign);
    *cos_x = float_of(((s & swap) | (c & ~swap)) ^ cos_sign);
}

/* ---- blocks ---- */

INLINE void fused_blocks(float *x, size_t blocks, float mean, float std)
{
    for (float *a = x; a < x + blocks * ATTN_BOX; a += ATTN_BOX)
        for (int j = 0; j < HALF; j++) {
            float sin_t, cos_t, radius = sqrtf(-2 * cephes_log(1 - a[j]));
            cephes_sincos((float)(2 * pi) * a[j + HALF], &sin_t, &cos_t);
            a[j] = fmaf(radius * cos_t, std, mean);
            a[j + HALF] = fmaf(radius * sin_t, std, mean);
        }
}

static void fused_plain(float *x, size_t blocks, float mean, float std)
{
    fused_blocks(x, blocks, mean, std);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void fused_avx2(float *x, size_t blocks, float mean, float std)
{
    fused_blocks(x, blocks, mean, std);
}

static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
static bool has_avx2(void) { return false; }
#define fused_avx2 fused_plain
#endif

static void scalar_blocks(float *x, size_t blocks, float mean, float std)
{
    for (float *a = x; a < x + blocks * ATTN_BOX; a += ATTN_BOX)
        for (int j = 0; j < HALF; j++) {
            float t = (float)(2 * pi * (double)a[j + HALF]), radius = sqrtf(-2 * logf(1 - a[j]));
            float c = radius * cosf(t), s = radius * sinf(t);
            a[j] = c * std + mean;
            a[j + HALF] = s * std + mean;
        }
}

void attn_box_muller(float *x, size_t blocks, float mean, float std, bool scalar)
{
    if (scalar)
        scalar_blocks(x, blocks, mean, std);
    else if (has_avx2())
        fused_avx2(x, blocks, mean, std);
    else
        fused_plain(x, blocks, mean, std);
}
