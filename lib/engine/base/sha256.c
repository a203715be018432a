#include "base/sha256.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/features.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* Computes w[0..64): the 16 big-endian words of the block and the 48 derived from them. */
static void schedule(uint32_t w[64], const unsigned char *p)
{
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void blocks_plain(uint32_t state[8], const unsigned char *p, size_t blocks)
{
    for (; blocks > 0; blocks--, p += 64) {
        uint32_t w[64];
        schedule(w, p);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (size_t i = 0; i < 64; i++) {
            uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
            uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i];
            uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
            uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1;
            d = c, c = b, b = a, a = t1 + t2;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

#if defined(__x86_64__)
static bool has_sha(void) { return attn_has_feature(x86_cpu_SSE4_1) && attn_has_feature(x86_cpu_SHA); }

#define SHA static inline __attribute__((always_inline, target("sha,sse4.1")))

/* The instructions take the state as two registers, (a b e f) and (c d g h), highest lane first, and advance it by
 * two rounds.  w holds words of the schedule; those of rounds 4i..4i+3 are in w[i % 4]. */
struct stream { __m128i abef, cdgh, w[4]; const unsigned char *p; };

SHA struct stream load_state(const uint32_t state[8], const unsigned char *p)
{
    const __m128i *from = (const __m128i *)state;
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(from), 0xB1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(from + 1), 0x1B);
    return (struct stream){.abef = _mm_alignr_epi8(cdab, efgh, 8), .cdgh = _mm_blend_epi16(efgh, cdab, 0xF0), .p = p};
}

SHA void store_state(uint32_t state[8], const struct stream *s)
{
    __m128i *to = (__m128i *)state;
    __m128i feba = _mm_shuffle_epi32(s->abef, 0x1B), dchg = _mm_shuffle_epi32(s->cdgh, 0xB1);
    _mm_storeu_si128(to, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(to + 1, _mm_alignr_epi8(dchg, feba, 8));
}

SHA void load_block(struct stream *s)
{
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        s->w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)s->p + i), big_endian);
    s->p += 64;
}

/* Rounds 4i..4i+3. */
SHA void four_rounds(struct stream *s, size_t i)
{
    __m128i *w0 = &s->w[i % 4], w1 = s->w[(i + 1) % 4], w2 = s->w[(i + 2) % 4], w3 = s->w[(i + 3) % 4];
    __m128i wk = _mm_add_epi32(*w0, _mm_loadu_si128((const __m128i *)(K + 4 * i)));
    s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, wk);
    s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(wk, 0x0E));
    __m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(*w0, w1), _mm_alignr_epi8(w3, w2, 4));
    *w0 = _mm_sha256msg2_epu32(next, w3);
}

/* n must be a constant.  Rounds wait for the one before, so two interleaved streams take little longer than one. */
SHA void blocks_of_streams(struct stream *s, size_t n, size_t blocks)
{
    for (; blocks > 0; blocks--) {
        struct stream old[2];
#pragma GCC unroll 2
        for (size_t k = 0; k < n; k++) {
            old[k] = s[k];
            load_block(&s[k]);
        }
#pragma GCC unroll 16
        for (size_t i = 0; i < 16; i++)
    #pragma GCC unroll 2
        for (size_t k = 0; k < n; k++)
                four_rounds(&s[k], i);
#pragma GCC unroll 2
        for (size_t k = 0; k < n; k++) {
            s[k].abef = _mm_add_epi32(s[k].abef, old[k].abef);
            s[k].cdgh = _mm_add_epi32(s[k].cdgh, old[k].cdgh);
        }
    }
}

__attribute__((target("sha,sse4.1")))
static void blocks_sha(uint32_t state[8], const unsigned char *p, size_t blocks)
{
    struct stream s = load_state(state, p);
    blocks_of_streams(&s, 1, blocks);
    store_state(state, &s);
}

__attribute__((target("sha,sse4.1")))
static void blocks_sha_two(uint32_t a[8], const unsigned char *p, uint32_t b[8], const unsigned char *q, size_t blocks)
{
    struct stream s[2] = {load_state(a, p), load_state(b, q)};
    blocks_of_streams(s, 2, blocks);
    store_state(a, &s[0]);
    store_state(b, &s[1]);
}
#endif

static void add_blocks(struct attn_sha256 *s, const unsigned char *p, size_t blocks)
{
#if defined(__x86_64__)
    if (!s->plain && has_sha()) {
        blocks_sha(s->state, p, blocks);
        return;
    }
#endif
    blocks_plain(s->state, p, blocks);
}

void attn_sha256_start(struct attn_sha256 *s)
{
    /* The first 32 bits of the fractional parts of the square roots of the first eight primes. */
    *s = (struct attn_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void attn_sha256_add(struct attn_sha256 *s, const void *data, size_t len)
{
    const unsigned char *p = data;
    size_t kept = s->bytes % 64;
    if (len == 0)
        return;                         /* data may be NULL */
    s->bytes += len;
    if (kept > 0) {
        size_t n = len < 64 - kept ? len : 64 - kept;
        memcpy(s->block + kept, p, n);
        if (kept + n < 64)
            return;
        add_blocks(s, s->block, 1);
        p += n;
        len -= n;
    }
    add_blocks(s, p, len / 64);
    if (len % 64 > 0)
        memcpy(s->block, p + len / 64 * 64, len % 64);
}

void attn_sha256_add_two(struct attn_sha256 *a, const void *p, struct attn_sha256 *b, const void *q, size_t len)
{
#if defined(__x86_64__)
    if (len % 64 == 0 && a->bytes % 64 == 0 && b->bytes % 64 == 0 && !a->plain && !b->plain && has_sha()) {
        blocks_sha_two(a->state, p, b->state, q, len / 64);
        a->bytes += len;
        b->bytes += len;
        return;
    }
#endif
    attn_sha256_add(a, p, len);
    attn_sha256_add(b, q, len);
}

void attn_sha256_end(struct attn_sha256 *s, char hex[65])
{
    static const unsigned char one_bit[64] = {0x80};
    unsigned char length[8];
    for (size_t i = 0; i < 8; i++)
        length[i] = (unsigned char)(s->bytes * 8 >> (56 - 8 * i));
    attn_sha256_add(s, one_bit, 1 + (119 - s->bytes % 64) % 64);    /* pads up to 8 bytes before the end of a block */
    attn_sha256_add(s, length, sizeof length);
    for (size_t i = 0; i < 64; i++)
        hex[i] = "0123456789abcdef"[s->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = '\0';
}

void attn_sha256_of(char hex[65], const void *data, size_t len)
{
    struct attn_sha256 s;
    attn_sha256_start(&s);
    attn_sha256_add(&s, data, len);
    attn_sha256_end(&s, hex);
}
