/* crc32.c - eight bytes a step by tables: table k holds the effect of a byte k bytes later.  Where the processor
 * multiplies polynomials, 64 bytes a step: the remainder so far, times a power of x, is added to the bytes that
 * follow. */
#include "base/crc32.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

void attn_crc32_make(struct attn_crc32 *c)
{
    uint32_t (*t)[256] = c->table;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t x = i;
        for (int bit = 0; bit < 8; bit++)
            x = x >> 1 ^ (x & 1 ? 0xEDB88320u : 0);
        t[0][i] = x;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xFF];
}

/* Unlike attn_crc32_add, complements neither its input nor its result. */
static uint32_t by_table(const struct attn_crc32 *c, uint32_t crc, const unsigned char *p, size_t n)
{
    const uint32_t (*t)[256] = c->table;
    for (; n >= 8; n -= 8, p += 8) {
        crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = t[7][crc & 0xFF] ^ t[6][crc >> 8 & 0xFF] ^ t[5][crc >> 16 & 0xFF] ^ t[4][crc >> 24] ^
              t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    }
    for (; n; n--, p++)
        crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xFF];
    return crc;
}

#if defined(__x86_64__)
#define CLMUL __attribute__((target("pclmul")))

/* Moves 16 bytes ahead: multiplies their halves by two powers of x and adds the bytes already there. */
CLMUL static inline __m128i fold(__m128i x, __m128i powers, __m128i there)
{
    __m128i low = _mm_clmulepi64_si128(x, powers, 0x00), high = _mm_clmulepi64_si128(x, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

/* Folds n / 16 * 16 bytes, at least 64, into 16 bytes with the same remainder. */
CLMUL static void fold_all(unsigned char left[16], uint32_t crc, const unsigned char *p, size_t n)
{
    /* With bits reversed and shifted by one: x^(512+32), x^(512-32), x^(128+32) and x^(128-32) mod the polynomial. */
    const __m128i by_64 = _mm_set_epi64x(0x1C6E41596, 0x154442BD4), by_16 = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
    const __m128i *in = (const __m128i *)p;
    __m128i x[4];
    for (int k = 0; k < 4; k++)
        x[k] = _mm_loadu_si128(in++);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)crc));
    for (n -= 64; n >= 64; n -= 64)
        for (int k = 0; k < 4; k++)
            x[k] = fold(x[k], by_64, _mm_loadu_si128(in++));
    for (int k = 1; k < 4; k++)
        x[k] = fold(x[k - 1], by_16, x[k]);
    for (; n >= 16; n -= 16)
        x[3] = fold(x[3], by_16, _mm_loadu_si128(in++));
    _mm_storeu_si128((__m128i *)left, x[3]);
}
#endif

uint32_t attn_crc32_add(const struct attn_crc32 *c, uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;
    crc = ~crc;
#if defined(__x86_64__)
    if (n >= 64 && __builtin_cpu_supports("pclmul")) {
        unsigned char left[16];
        fold_all(left, crc, p, n);
        crc = by_table(c, 0, left, sizeof left);
        p += n / 16 * 16;
        n %= 16;
    }
#endif
    return ~by_table(c, crc, p, n);
}
