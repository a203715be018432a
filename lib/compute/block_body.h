/* block_body.h - converts stored numbers (float32, float16, bf16) to float32: rows of them, and blocks of
 * weights, which become contiguous [K, 64] panels for the micro-kernel.  Included by vec_body.h alone. */
#ifndef ATTN_COMPUTE_BLOCK_BODY_H
#define ATTN_COMPUTE_BLOCK_BODY_H

#include "compute/turn4.h"

static inline __attribute__((always_inline))
void widen(float *y, const uint16_t *x, size_t n, v16 (*from)(const uint16_t *))
{
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES)
        store(y + i, from(x + i));
    uint16_t part[LANES] = {0};
    memcpy(part, x + whole, (n - whole) * sizeof *part);
    put(y + whole, from(part), n - whole);
}

static void widen_f32(float *y, const void *x, size_t n) { memcpy(y, x, n * sizeof *y); }
static void widen_f16(float *y, const void *x, size_t n) { widen(y, x, n, from_f16); }
static void widen_bf16(float *y, const void *x, size_t n) { widen(y, x, n, from_bf16); }

/* Of a weight stored [in, out]: K rows of 64 numbers, ld elements apart. */
#define BLOCK(name, type, from) static void name(float *y, const void *x, size_t ld, size_t K) \
{ \
    const type *row = x; \
    for (size_t k = 0; k < K; k++, row += ld, y += ATTN_PANEL) \
        UNROLL for (size_t c = 0; c < ATTN_PANEL; c += LANES) \
            store(y + c, from(row + c)); \
}
BLOCK(block_f32, float, load) BLOCK(block_f16, uint16_t, from_f16) BLOCK(block_bf16, uint16_t, from_bf16)
#undef BLOCK

/* Copies the last n bytes of 16 rows, too few to transpose at once, into rows padded with zeros. */
static void last_bytes(const void **row, char (*room)[16], const void *const *x, size_t from, size_t n)
{
    for (size_t l = 0; l < ATTN_TURN; l++) {
        memcpy(room[l], (const char *)x[l] + from, n);
        row[l] = room[l];
    }
}

static void turn_f32(float *y, const void *const *x, size_t n)
{
    v16 out[4];
    size_t k = 0;
    for (; k + 4 <= n; k += 4, y += 4 * ATTN_PANEL) {
        turn4(out, x, k * sizeof(float));
        UNROLL for (size_t i = 0; i < 4; i++)
            store(y + i * ATTN_PANEL, out[i]);
    }
    if (k < n) {
        char room[ATTN_TURN][16] = {{0}};
        const void *row[ATTN_TURN];
        last_bytes(row, room, x, k * sizeof(float), (n - k) * sizeof(float));
        turn4(out, row, 0);
        for (size_t i = 0; i < n - k; i++)
            store(y + i * ATTN_PANEL, out[i]);
    }
}

/* Numbers of 16 bits: two neighbours are transposed as one word of 32 bits, then taken apart. */
#define TURN(name, even, odd) \
static void name(float *y, const void *const *x, size_t n) \
{ \
    v16 out[4]; \
    size_t k = 0; \
    for (; k + 8 <= n; k += 8, y += 8 * ATTN_PANEL) { \
        turn4(out, x, k * sizeof(uint16_t)); \
        UNROLL for (size_t i = 0; i < 4; i++) { \
            store(y + 2 * i * ATTN_PANEL, even(out[i])); \
            store(y + (2 * i + 1) * ATTN_PANEL, odd(out[i])); \
        } \
    } \
    if (k < n) { \
        char room[ATTN_TURN][16] = {{0}}; \
        const void *row[ATTN_TURN]; \
        last_bytes(row, room, x, k * sizeof(uint16_t), (n - k) * sizeof(uint16_t)); \
        turn4(out, row, 0); \
        for (size_t i = 0; i < n - k; i++) \
            store(y + i * ATTN_PANEL, i % 2 ? odd(out[i / 2]) : even(out[i / 2])); \
    } \
}
TURN(turn_f16, even_f16, odd_f16) TURN(turn_bf16, even_bf16, odd_bf16)
#undef TURN

#endif
