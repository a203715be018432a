#include "peak.h"

#include "base/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

/* Enough independent chains to hide the instruction's latency, and few enough for the registers: 16, or 32 with AVX-512
 * and with NEON. */
enum { CHAINS = 12, WIDE_CHAINS = 16 };

/* Each chain computes x = x/2 + 1/2, which converges to 1 and so cannot overflow or become denormal. */
#define HALF 0.5f

typedef float four __attribute__((vector_size(16), may_alias));

/* Makes the compiler believe that x is used, so that it keeps the loop. */
static void use(float x)
{
    __asm__ volatile("" : : "m"(x));
}

/* Defines a function that takes `step` in n independent chains, and returns how many operations that was: `each`
 * multiplies and adds in a step. */
#define CHAINED(name, vector, n, start, step, each)          \
    static double name(size_t rounds)                        \
    {                                                        \
        const vector half = (vector){0} + HALF;              \
        vector x[n], sum = {0};                              \
        for (int c = 0; c < n; c++)                          \
            x[c] = (vector){0} + (float)(start);             \
        for (size_t i = 0; i < rounds; i++)                  \
            for (int c = 0; c < n; c++)                      \
                x[c] = step;                                 \
        for (int c = 0; c < n; c++)                          \
            sum += x[c];                                     \
        use(sum[0]);                                         \
        return 2.0 * (each) * n * (double)rounds;            \
    }

CHAINED(f32_generic, four, CHAINS, c, x[c] * half + half, 4)

#if defined(__x86_64__)

__attribute__((target("avx512f")))
CHAINED(f32_avx512, __m512, WIDE_CHAINS, c, _mm512_fmadd_ps(x[c], half, half), 16)
__attribute__((target("avx2,fma")))
CHAINED(f32_avx2, __m256, CHAINS, c, _mm256_fmadd_ps(x[c], half, half), 8)
#define HALVES _mm512_cvtne2ps_pbh(half, half)
__attribute__((target("avx512f,avx512bf16")))
CHAINED(bf16_dots, __m512, WIDE_CHAINS, 0, _mm512_dpbf16_ps(x[c], HALVES, HALVES), 2 * 16)

/* The tiles are loaded first, as in real products: empty ones would be multiplied faster. */
__attribute__((target("amx-tile,amx-bf16")))
static double bf16_tiles(size_t rounds)
{
    enum { SIDE = 16, BF16_HALF = 0x3f00 };
    static const struct { unsigned char palette,
                         unused[15]; unsigned short bytes[16]; unsigned char rows[16]; } tiles = {
        .palette = 1, .bytes = {64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16}};
    unsigned short halves[SIDE][2 * SIDE];
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < 2 * SIDE; j++)
            halves[i][j] = BF16_HALF;
    __asm__ volatile("" : : "r"(halves) : "memory");    /* gcc's intrinsics do not say that they read memory */
    _tile_loadconfig(&tiles);
    _tile_loadd(4, halves, sizeof *halves);
    _tile_loadd(5, halves, sizeof *halves);
    for (size_t i = 0; i < rounds; i++) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_release();
    return 2.0 * 4 * 16 * 16 * 32 * (double)rounds;
}

#else

CHAINED(f32_neon, float32x4_t, WIDE_CHAINS, c, vfmaq_f32(half, x[c], half), 4)

#endif

double attn_peak_f32(size_t rounds)
{
#define SET(id, name) f32_##name,
    static double (*const by_width[])(size_t) = {ATTN_SIMD_SETS(SET)};
#undef SET
    return by_width[attn_cpu_widest()](rounds);
}

double attn_peak_bf16(size_t rounds)
{
    switch (attn_cpu_bf16()) {
#if defined(__x86_64__)
    case ATTN_BF16_TILES: return bf16_tiles(rounds);
    case ATTN_BF16_DOTS: return bf16_dots(rounds);
#endif
    default: return attn_peak_f32(rounds);
    }
}

enum { LINE = 16, PLACES = 8 };         /* floats of a cache line; most places */

/* Four floats at a time are enough: memory is slower than any instruction set.  Callers pass a constant for places. */
static inline __attribute__((always_inline)) void read_places(const float *x, size_t n, int places)
{
    size_t part = n / (size_t)places;
    four sum[PLACES];
    for (int p = 0; p < places; p++)
        sum[p] = (four){0};
    for (size_t i = 0; i < part; i += LINE)
        for (int p = 0; p < places; p++)
            for (size_t j = 0; j < LINE; j += 4)
                sum[p] += *(const four *)(x + (size_t)p * part + i + j);
    for (int p = 1; p < places; p++)
        sum[0] += sum[p];
    use(sum[0][0]);
}

void attn_peak_read(const float *x, size_t n, int places)
{
    switch (places) {
    case 2: read_places(x, n, 2); break;
    case 4: read_places(x, n, 4); break;
    default: read_places(x, n, PLACES); break;
    }
}
