#include "base/rng.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"

/* ---- Box-Muller ------------------------------------------------------------------------
 *
 * Eight uniforms of a block give the radii, eight the angles.  torch's AVX2 path computes logarithms and sines by
 * Cephes polynomials with fused multiply-adds, its scalar path by the C library. */

enum { BOX = 16, HALF = BOX / 2 };
static const double pi = 3.14159265358979323846;

#define INLINE static inline __attribute__((always_inline))

/* log, sin and cos of the AVX2 path have no branches: so a compiler can do eight at a time with the same bits. */

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

INLINE void fused_blocks(float *x, size_t blocks, float mean, float std)
{
    for (float *a = x; a < x + blocks * BOX; a += BOX)
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

static bool has_avx2(void) { return attn_cpu_widest() >= ATTN_SIMD_AVX2; }
#else
static bool has_avx2(void) { return false; }
#define fused_avx2 fused_plain
#endif

static void scalar_blocks(float *x, size_t blocks, float mean, float std)
{
    for (float *a = x; a < x + blocks * BOX; a += BOX)
        for (int j = 0; j < HALF; j++) {
            float t = (float)(2 * pi * (double)a[j + HALF]), radius = sqrtf(-2 * logf(1 - a[j]));
            float c = radius * cosf(t), s = radius * sinf(t);
            a[j] = c * std + mean;
            a[j + HALF] = s * std + mean;
        }
}

/* Replaces `blocks` blocks of 16 uniforms in [0, 1) by normals. */
static void box_muller(float *x, size_t blocks, float mean, float std, bool scalar)
{
    if (scalar)
        scalar_blocks(x, blocks, mean, std);
    else if (has_avx2())
        fused_avx2(x, blocks, mean, std);
    else
        fused_plain(x, blocks, mean, std);
}

enum { WORDS = 624, AHEAD = 397 };

/* ---- the engine ------------------------------------------------------------------------ */

void attn_rng_seed(struct attn_rng *r, uint64_t seed)
{
    r->mt[0] = (uint32_t)seed;          /* torch also drops the high half */
    for (uint32_t i = 1; i < WORDS; i++)
        r->mt[i] = 1812433253u * (r->mt[i - 1] ^ (r->mt[i - 1] >> 30)) + i;
    r->next = WORDS;
    r->has_saved = false;
}

static uint32_t twist(uint32_t high, uint32_t low, uint32_t ahead)
{
    uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return ahead ^ (y >> 1) ^ ((0 - (y & 1)) & 0x9908b0dfu);
}

static void refill(struct attn_rng *r)
{
    uint32_t *mt = r->mt;
    unsigned k = 0;
    for (; k < WORDS - AHEAD; k++)
        mt[k] = twist(mt[k], mt[k + 1], mt[k + AHEAD]);
    for (; k < WORDS - 1; k++)
        mt[k] = twist(mt[k], mt[k + 1], mt[k + AHEAD - WORDS]);
    mt[k] = twist(mt[k], mt[0], mt[AHEAD - 1]);
    r->next = 0;
}

static uint32_t temper(uint32_t y)
{
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint32_t attn_rng_u32(struct attn_rng *r)
{
    if (r->next == WORDS)
        refill(r);
    return temper(r->mt[r->next++]);
}

/* Uniform numbers in [0, 1), one word each. */
static void units(struct attn_rng *r, float *out, size_t n)
{
    while (n > 0) {
        if (r->next == WORDS)
            refill(r);
        size_t some = n < WORDS - r->next ? n : WORDS - r->next;
        for (size_t i = 0; i < some; i++)
            out[i] = (float)(int)(temper(r->mt[r->next + i]) & 0xffffff) / 16777216.0f;
        r->next += (unsigned)some;
        out += some;
        n -= some;
    }
}

static double unit53(struct attn_rng *r)
{
    uint64_t high = attn_rng_u32(r);    /* a statement of its own: C leaves the order of calls in an expression open */
    uint64_t word = high << 32 | attn_rng_u32(r);
    return (double)(word & ((UINT64_C(1) << 53) - 1)) / 9007199254740992.0;
}

/* x * scale + shift, rounded once on the AVX2 path, twice on the scalar one. */
static float affine(const struct attn_rng *r, float x, float scale, float shift)
{
    return r->scalar ? x * scale + shift : fmaf(x, scale, shift);
}

void attn_rng_uniform(struct attn_rng *r, float *out, size_t n, float lo, float hi)
{
    units(r, out, n);
    for (size_t i = 0; i < n; i++)
        out[i] = affine(r, out[i], hi - lo, lo);
}

float attn_rng_linear_bound(size_t n_in)
{
    return (float)(1.0 / sqrt((double)n_in));
}

/* ---- normal numbers -------------------------------------------------------------------- */

/* Box-Muller gives two normals; the second is saved for the next call. */
static double one_normal(struct attn_rng *r)
{
    if (r->has_saved) {
        r->has_saved = false;
        return r->saved;
    }
    double u1 = unit53(r), u2 = unit53(r);
    double radius = sqrt(-2 * log1p(-u2)), t = 2 * pi * u1;
    r->saved = radius * sin(t);
    r->has_saved = true;
    return radius * cos(t);
}

void attn_rng_normal(struct attn_rng *r, float *out, size_t n, double mean, double std)
{
    if (n < BOX) {
        for (size_t i = 0; i < n; i++)
            out[i] = (float)(one_normal(r) * std + mean);
        return;
    }
    units(r, out, n);
    box_muller(out, n / BOX, (float)mean, (float)std, r->scalar);
    if (n % BOX == 0)
        return;
    float *last = out + n - BOX;   /* as torch does, draws the last block anew, over numbers that were finished */
    units(r, last, BOX);
    box_muller(last, 1, (float)mean, (float)std, r->scalar);
}
