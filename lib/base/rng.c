#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { WORDS = 624, AHEAD = 397, BLOCK = 16, HALF = BLOCK / 2 };

static const double pi = 3.14159265358979323846;

/* ---- the engine ------------------------------------------------------------------------ */

void attn_rng_seed(struct attn_rng *r, uint64_t seed)
{
    r->mt[0] = (uint32_t)seed;          /* torch, too, drops the high half */
    for (uint32_t i = 1; i < WORDS; i++)
        r->mt[i] = 1812433253u * (r->mt[i - 1] ^ (r->mt[i - 1] >> 30)) + i;
    r->next = WORDS;
    r->has_saved = false;
}

static void refill(uint32_t *mt)
{
    for (unsigned k = 0; k < WORDS; k++) {
        uint32_t y = (mt[k] & 0x80000000u) | (mt[(k + 1) % WORDS] & 0x7fffffffu);
        mt[k] = mt[(k + AHEAD) % WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
}

uint32_t attn_rng_u32(struct attn_rng *r)
{
    if (r->next == WORDS) {
        refill(r->mt);
        r->next = 0;
    }
    uint32_t y = r->mt[r->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

static float unit24(struct attn_rng *r)
{
    return (float)(attn_rng_u32(r) & 0xffffff) / 16777216.0f;
}

static double unit53(struct attn_rng *r)
{
    uint64_t high = attn_rng_u32(r);    /* drawn first: the order of two calls in one expression is open */
    uint64_t word = high << 32 | attn_rng_u32(r);
    return (double)(word & ((UINT64_C(1) << 53) - 1)) / 9007199254740992.0;
}

/* x * scale + shift, rounded once on the AVX2 path and twice on the scalar one. */
static float affine(const struct attn_rng *r, float x, float scale, float shift)
{
    return r->scalar ? x * scale + shift : fmaf(x, scale, shift);
}

void attn_rng_uniform(struct attn_rng *r, float *out, size_t n, float lo, float hi)
{
    for (size_t i = 0; i < n; i++)
        out[i] = affine(r, unit24(r), hi - lo, lo);
}

float attn_rng_linear_bound(size_t n_in)
{
    return (float)(1.0 / sqrt((double)n_in));
}

/* ---- log, sin and cos of the AVX2 path: Cephes polynomials with fused steps -------------- */

/* c[0] x^(n-1) + ... + c[n-1] */
static float horner(float x, const float *c, size_t n)
{
    float y = c[0];
    for (size_t i = 1; i < n; i++)
        y = fmaf(y, x, c[i]);
    return y;
}

/* For 0 < x <= 1. */
static float cephes_log(float x)
{
    static const float poly[] = {
        7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
        -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f,
    };
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    float e = (float)((int)(bits >> 23) - 126);
    bits = (bits & 0x807fffffu) | 0x3f000000u;          /* the mantissa, in [0.5, 1) */
    memcpy(&x, &bits, sizeof x);
    if (x < 0.707106781186547524f) {
        e -= 1;
        x = (x - 1) + x;
    } else {
        x = x - 1;
    }
    float z = x * x;
    float y = horner(x, poly, sizeof poly / sizeof *poly) * x;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = y - z * 0.5f;
    return fmaf(e, 0.693359375f, x + y);
}

/* For x >= 0. */
static void cephes_sincos(float x, float *sin_x, float *cos_x)
{
    static const float cos_poly[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
    static const float sin_poly[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    int octant = ((int)(x * 1.27323954473516f) + 1) & ~1;
    float y = (float)octant;
    x = fmaf(-0.78515625f, y, x);       /* minus y * pi/4, in three parts */
    x = fmaf(-2.4187564849853515625e-4f, y, x);
    x = fmaf(-3.77489497744594108e-8f, y, x);
    float z = x * x;
    float c = fmaf(horner(z, cos_poly, 3) * z, z, -(z * 0.5f)) + 1;
    float s = fmaf(horner(z, sin_poly, 3) * z, x, x);
    bool swap = octant & 2;
    *sin_x = octant & 4 ? -(swap ? c : s) : (swap ? c : s);
    *cos_x = (octant - 2) & 4 ? (swap ? s : c) : -(swap ? s : c);
}

/* ---- normal numbers -------------------------------------------------------------------- */

/* 16 uniforms to 16 normals. */
static void box_muller(const struct attn_rng *r, float a[BLOCK], float mean, float std)
{
    for (int j = 0; j < HALF; j++) {
        float u1 = 1 - a[j], u2 = a[j + HALF], log_u1, sin_t, cos_t;
        if (r->scalar) {
            float t = (float)(2 * pi * (double)u2);
            log_u1 = logf(u1), sin_t = sinf(t), cos_t = cosf(t);
        } else {
            log_u1 = cephes_log(u1);
            cephes_sincos((float)(2 * pi) * u2, &sin_t, &cos_t);
        }
        float radius = sqrtf(-2 * log_u1);
        a[j] = affine(r, radius * cos_t, std, mean);
        a[j + HALF] = affine(r, radius * sin_t, std, mean);
    }
}

/* One of a pair; the other is saved for the next call. */
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
    if (n < BLOCK) {
        for (size_t i = 0; i < n; i++)
            out[i] = (float)(one_normal(r) * std + mean);
        return;
    }
    attn_rng_uniform(r, out, n, 0, 1);
    for (size_t i = 0; i + BLOCK <= n; i += BLOCK)
        box_muller(r, out + i, (float)mean, (float)std);
    if (n % BLOCK == 0)
        return;
    attn_rng_uniform(r, out + n - BLOCK, BLOCK, 0, 1);  /* torch draws the last block anew, over finished numbers */
    box_muller(r, out + n - BLOCK, (float)mean, (float)std);
}
