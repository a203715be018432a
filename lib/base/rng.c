#include "base/rng.h"

#include "base/boxmuller.h"

#include <math.h>

enum { WORDS = 624, AHEAD = 397 };

static const double pi = 3.14159265358979323846;

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
    if (n < ATTN_BOX) {
        for (size_t i = 0; i < n; i++)
            out[i] = (float)(one_normal(r) * std + mean);
        return;
    }
    units(r, out, n);
    attn_box_muller(out, n / ATTN_BOX, (float)mean, (float)std, r->scalar);
    if (n % ATTN_BOX == 0)
        return;
    float *last = out + n - ATTN_BOX;   /* as torch does, draws the last block anew, over numbers that were finished */
    units(r, last, ATTN_BOX);
    attn_box_muller(last, 1, (float)mean, (float)std, r->scalar);
}
