/* dtype.h - how numbers are stored: one by one, or in blocks that share a scale, as ggml quantises them.
 *
 * A row of a matrix in blocks is a whole number of blocks, and rows follow each other without gaps.  Scales are
 * float16.  A decoded number is rounded to float32 after each product and each sum in the order in which ggml does
 * them, without a fused multiply-add: every bit is what ggml's dequantize_row functions give. */
#ifndef ATTN_COMPUTE_DTYPE_H
#define ATTN_COMPUTE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

enum attn_dtype {
    ATTN_F32, ATTN_F16, ATTN_BF16,
    ATTN_Q4_0, ATTN_Q4_1, ATTN_Q5_0, ATTN_Q5_1, ATTN_Q8_0, ATTN_IQ4_NL,         /* blocks of 32 numbers */
    ATTN_Q2_K, ATTN_Q3_K, ATTN_Q4_K, ATTN_Q5_K, ATTN_Q6_K,                      /* blocks of 256 numbers */
    ATTN_DTYPES,
    ATTN_PLAIN_DTYPES = ATTN_Q4_0,      /* those before have a number in each element */
    ATTN_BLOCK_MOST = 256               /* most numbers of a block */
};

/* What a block stores.  Number i is scale * integer, with the minimum of its group added, or taken away. */
struct attn_packed {
    size_t group;                       /* numbers that share a scale */
    float integer[ATTN_BLOCK_MOST], scale[ATTN_BLOCK_MOST / 16], min[ATTN_BLOCK_MOST / 16];
};

struct attn_dtype_row {
    const char *name;                   /* as it is written in files and shown */
    size_t bytes, values;               /* of a block; of one number, 1 */
    void (*read)(struct attn_packed *out, const unsigned char *block);       /* NULL: it is no block */
    enum attn_min { ATTN_MIN_NONE, ATTN_MIN_ADDED, ATTN_MIN_TAKEN } min;
};
extern const struct attn_dtype_row attn_dtypes[ATTN_DTYPES];

bool attn_dtype_named(const char *name, enum attn_dtype *type);     /* false: no type of this name is read */

static inline bool attn_dtype_in_blocks(enum attn_dtype t) { return t >= ATTN_PLAIN_DTYPES; }

/* Bytes of a number that is not in a block. */
static inline size_t attn_dtype_size(enum attn_dtype t) { return t == ATTN_F32 ? 4 : 2; }

/* Bytes of n stored numbers; in blocks, of the whole ones among them. */
static inline size_t attn_dtype_bytes(enum attn_dtype t, size_t n)
{
    return attn_dtype_in_blocks(t) ? n / attn_dtypes[t].values * attn_dtypes[t].bytes : n * attn_dtype_size(t);
}

/* What block i of x stores. */
void attn_packed_read(struct attn_packed *out, const void *x, enum attn_dtype type, size_t i);
/* y[n] = n numbers of rows of blocks x, from number `first` on. */
void attn_blocks_decode(float *y, const void *x, enum attn_dtype type, size_t first, size_t n);

#endif
