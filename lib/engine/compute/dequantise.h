/* dequantise.h - 32 rows of numbers in blocks (dtype.h), decoded side by side.
 *
 * Each lane of two vectors has one row.  The words of the rows are transposed as they are stored, four bytes of each
 * row at a time; shifts, masks and conversions then make four numbers or more of each word, and scales are vectors,
 * too: one number of each row.  So the cost of transposing is that of the bytes, not of the floats, and one row of x is
 * multiplied while weights are decoded in registers.  Products of more rows read what was decoded from a buffer in the
 * cache; it is never a whole weight.  The numbers have the bits of the plain loops of dtype.c, and are summed up in the
 * order of gemm.h.
 *
 * Compiled from dequantise_body.h once for each set of instructions, as vec.h's functions are. */
#ifndef ATTN_COMPUTE_DEQUANTISE_H
#define ATTN_COMPUTE_DEQUANTISE_H

#include "compute/vec.h"

enum { ATTN_DEQUANTISE_ROWS = 32 };

struct attn_dequantise_row {
    size_t unit;                        /* numbers that are decoded at a time; a block has one unit or two */
    /* y[n, 32], rows ld floats apart: y[k * ld + l] is number first + k of row l, to whose blocks row[l] points.  first
     * and n are multiples of the unit. */
    void (*transpose)(float *y, size_t ld, const void *const *row, size_t first, size_t n);
    /* y[32] += x[n] times the same numbers. */
    void (*one_row)(float *y, const float *x, const void *const *row, size_t first, size_t n,
                    struct attn_prefetch *prefetch);
};

struct attn_dequantise_ops {
    struct attn_dequantise_row of[ATTN_DTYPES];             /* of types in blocks */
    /* y[n, 32] += x[n, K] w[K, 32] for at most ATTN_STREAM rows. */
    void (*few_rows)(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t K);
};
#define ATTN_DEQUANTISE_SET(id, name) extern const struct attn_dequantise_ops attn_dequantise_##name;
ATTN_SIMD_SETS(ATTN_DEQUANTISE_SET)
#undef ATTN_DEQUANTISE_SET

/* The same as the functions above by the instruction set in use, for any `first` and n. */
void attn_dequantise_transpose(float *y, size_t ld, enum attn_dtype type, const void *const *row, size_t first,
                               size_t n);
/* y[n, 32] += x[n, K] times K numbers of the rows from `first` on; n <= ATTN_STREAM.  Fetches `prefetch` meanwhile. */
void attn_dequantise_stream(float *y, size_t ldy, const float *x, size_t ldx, enum attn_dtype type,
                            const void *const *row, size_t first, size_t n, size_t K, struct attn_prefetch *prefetch);

#endif
