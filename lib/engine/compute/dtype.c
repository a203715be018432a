/* dtype.c - the table of types, and the plain loops that read a block: the definition that dequantise_body.h follows
 * in vectors.
 *
 * d and m are a block's scale and minimum, q the numbers of few bits.  In blocks of 32, the low halves of 16 bytes are
 * numbers 0 to 15, the high ones 16 to 31.  In blocks of 256, groups of 16 or 32 numbers have scales of their own,
 * of few bits, which d and m multiply. */
#include "compute/dtype.h"

#include "base/size.h"

#include <stdint.h>
#include <string.h>

typedef const unsigned char bytes;

/* A float16.  A NaN becomes quiet, as the processor's instruction makes it. */
static float half(bytes *p)
{
    const uint32_t h = (uint32_t)p[0] | (uint32_t)p[1] << 8, rest = h & 0x7fff, sign = (h & 0x8000) << 16;
    uint32_t bits = (rest << 13) + ((127u - 15) << 23);
    float f = (float)rest * 0x1p-24f;
    if (rest < 0x400)
        memcpy(&bits, &f, sizeof bits);
    else if (rest >= 0x7c00)
        bits = (rest << 13) | 0x7f800000 | (rest > 0x7c00 ? 1u << 22 : 0);
    bits |= sign;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---- blocks of 32 ---- */

enum { HALF = 16 };

static int low(bytes *q, size_t j) { return q[j] & 15; }
static int high(bytes *q, size_t j) { return q[j] >> 4; }

/* The fifth bit of number j, from 32 bits in a row. */
static int fifth(bytes *h, size_t j) { return (h[j / 8] >> j % 8 & 1) << 4; }

/* Integers of few bits in halves of 16 bytes, less `from`; h: their fifth bits, or NULL. */
static void take_halves(struct attn_packed *out, bytes *q, bytes *h, int from)
{
    out->group = 2 * (size_t)HALF;
    for (size_t j = 0; j < HALF; j++) {
        out->integer[j] = (float)((low(q, j) | (h ? fifth(h, j) : 0)) - from);
        out->integer[j + HALF] = (float)((high(q, j) | (h ? fifth(h, j + HALF) : 0)) - from);
    }
}

static void q4_0(struct attn_packed *out, bytes *b)
{
    out->scale[0] = half(b);
    take_halves(out, b + 2, NULL, 8);
}

static void q4_1(struct attn_packed *out, bytes *b)
{
    out->scale[0] = half(b);
    out->min[0] = half(b + 2);
    take_halves(out, b + 4, NULL, 0);
}

static void q5_0(struct attn_packed *out, bytes *b)
{
    out->scale[0] = half(b);
    take_halves(out, b + 6, b + 2, 16);
}

static void q5_1(struct attn_packed *out, bytes *b)
{
    out->scale[0] = half(b);
    out->min[0] = half(b + 2);
    take_halves(out, b + 8, b + 4, 0);
}

static void q8_0(struct attn_packed *out, bytes *b)
{
    out->scale[0] = half(b);
    out->group = 2 * (size_t)HALF;
    for (size_t j = 0; j < out->group; j++)
        out->integer[j] = (float)(int8_t)b[2 + j];
}

/* The four bits choose one of these levels. */
static void iq4_nl(struct attn_packed *out, bytes *b)
{
    static const float level[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    out->scale[0] = half(b);
    out->group = 2 * (size_t)HALF;
    for (size_t j = 0; j < HALF; j++) {
        out->integer[j] = level[low(b + 2, j)];
        out->integer[j + HALF] = level[high(b + 2, j)];
    }
}

/* ---- blocks of 256 ---- */

enum { MOST = ATTN_BLOCK_MOST, GROUP = 32, SMALL = 16 };

/* Two bits a number: a byte has one of each of four groups, first those of the first half of the block. */
static int two_bits(bytes *q, size_t i) { return q[i / 128 * GROUP + i % GROUP] >> i % 128 / GROUP * 2 & 3; }

static void q2_k(struct attn_packed *out, bytes *b)
{
    const float d = half(b + 80), m = half(b + 82);
    out->group = SMALL;
    for (size_t k = 0; k < MOST / SMALL; k++) {
        out->scale[k] = d * (float)(b[k] & 15);
        out->min[k] = m * (float)(b[k] >> 4);
    }
    for (size_t i = 0; i < MOST; i++)
        out->integer[i] = (float)two_bits(b + 16, i);
}

static void q3_k(struct attn_packed *out, bytes *b)
{
    bytes *a = b + 96;
    const float d = half(b + 108);
    out->group = SMALL;
    for (size_t k = 0; k < MOST / SMALL; k++) {
        const int few = k < 8 ? a[k] & 15 : a[k - 8] >> 4, scale = few | (a[8 + k % 4] >> k / 4 * 2 & 3) << 4;
        out->scale[k] = d * (float)(scale - 32);
    }
    for (size_t i = 0; i < MOST; i++)
        out->integer[i] = (float)(two_bits(b + 32, i) - (b[i % GROUP] >> i / GROUP & 1 ? 0 : 4));
}

/* Scale and minimum of group j, six bits each: the last four have their upper bits with the first four. */
static void six_bits(struct attn_packed *out, bytes *b)
{
    const float d = half(b), m = half(b + 2);
    bytes *s = b + 4;
    out->group = GROUP;
    for (size_t j = 0; j < MOST / GROUP; j++) {
        out->scale[j] = d * (float)(j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4);
        out->min[j] = m * (float)(j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4);
    }
}

static void q4_k(struct attn_packed *out, bytes *b)
{
    six_bits(out, b);
    for (size_t i = 0; i < MOST; i++) {
        const size_t j = i / GROUP, l = i % GROUP;
        out->integer[i] = (float)(b[16 + j / 2 * GROUP + l] >> j % 2 * 4 & 15);
    }
}

static void q5_k(struct attn_packed *out, bytes *b)
{
    six_bits(out, b);
    for (size_t i = 0; i < MOST; i++) {
        const size_t j = i / GROUP, l = i % GROUP;
        const int q = b[48 + j / 2 * GROUP + l] >> j % 2 * 4 & 15, top = b[16 + l] >> j & 1;
        out->integer[i] = (float)(q | top << 4);
    }
}

static void q6_k(struct attn_packed *out, bytes *b)
{
    const float d = half(b + 208);
    out->group = SMALL;
    for (size_t k = 0; k < MOST / SMALL; k++)
        out->scale[k] = d * (float)(int8_t)b[192 + k];
    for (size_t i = 0; i < MOST; i++) {
        const size_t n = i / 128, j = i % 128 / GROUP, l = i % GROUP;
        const int few = b[n * 64 + j % 2 * GROUP + l] >> j / 2 * 4 & 15, top = b[128 + n * GROUP + l] >> j * 2 & 3;
        out->integer[i] = (float)((few | top << 4) - 32);
    }
}

/* ---- all of them ---- */

const struct attn_dtype_row attn_dtypes[ATTN_DTYPES] = {
    [ATTN_F32] = {.name = "F32", 4, 1}, [ATTN_F16] = {.name = "F16", 2, 1}, [ATTN_BF16] = {.name = "BF16", 2, 1},
    [ATTN_Q4_0] = {"Q4_0", 18, 32, q4_0, ATTN_MIN_NONE}, [ATTN_Q4_1] = {"Q4_1", 20, 32, q4_1, ATTN_MIN_ADDED},
    [ATTN_Q5_0] = {"Q5_0", 22, 32, q5_0, ATTN_MIN_NONE}, [ATTN_Q5_1] = {"Q5_1", 24, 32, q5_1, ATTN_MIN_ADDED},
    [ATTN_Q8_0] = {"Q8_0", 34, 32, q8_0, ATTN_MIN_NONE}, [ATTN_IQ4_NL] = {"IQ4_NL", 18, 32, iq4_nl, ATTN_MIN_NONE},
    [ATTN_Q2_K] = {"Q2_K", 84, 256, q2_k, ATTN_MIN_TAKEN}, [ATTN_Q3_K] = {"Q3_K", 110, 256, q3_k, ATTN_MIN_NONE},
    [ATTN_Q4_K] = {"Q4_K", 144, 256, q4_k, ATTN_MIN_TAKEN}, [ATTN_Q5_K] = {"Q5_K", 176, 256, q5_k, ATTN_MIN_TAKEN},
    [ATTN_Q6_K] = {"Q6_K", 210, 256, q6_k, ATTN_MIN_NONE},
};

void attn_packed_read(struct attn_packed *out, const void *x, enum attn_dtype type, size_t i)
{
    const struct attn_dtype_row *t = &attn_dtypes[type];
    t->read(out, (bytes *)x + i * t->bytes);
}

static void decode(float *y, const struct attn_dtype_row *t, bytes *block)
{
    struct attn_packed b;
    t->read(&b, block);
    for (size_t i = 0; i < t->values; i++) {
        const float x = b.scale[i / b.group] * b.integer[i];
        y[i] = t->min == ATTN_MIN_NONE ? x : t->min == ATTN_MIN_ADDED ? x + b.min[i / b.group] : x - b.min[i / b.group];
    }
}

void attn_blocks_decode(float *y, const void *x, enum attn_dtype type, size_t first, size_t n)
{
    const struct attn_dtype_row *t = &attn_dtypes[type];
    bytes *block = (bytes *)x + first / t->values * t->bytes;
    for (size_t skip = first % t->values, some; n; n -= some, y += some, block += t->bytes, skip = 0) {
        some = smaller(n, t->values - skip);
        if (some == t->values) {
            decode(y, t, block);
            continue;
        }
        float whole[ATTN_BLOCK_MOST];
        decode(whole, t, block);
        memcpy(y, whole + skip, some * sizeof *y);
    }
}

bool attn_dtype_named(const char *name, enum attn_dtype *type)
{
    int t = 0;
    while (t < ATTN_DTYPES && strcmp(name, attn_dtypes[t].name) != 0)
        t++;
    *type = t < ATTN_DTYPES ? (enum attn_dtype)t : ATTN_F32;
    return t < ATTN_DTYPES;
}
