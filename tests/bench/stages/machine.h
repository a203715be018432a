/* machine.h - the most this machine can do, which measured speeds are judged by. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "attn.h"

enum attn_limit {
    ATTN_LIMIT_F32, ATTN_LIMIT_BF16,    /* operations a second of independent multiply-adds in registers, by the
                                         * instructions that matrix products in float32 and in bf16 use */
    ATTN_LIMIT_PRODUCTS,                /* operations a second of kernels of float32 products on operands in the L1
                                         * cache: many processors lower their clock when arithmetic reads memory */
    ATTN_LIMIT_READ,                    /* bytes a second read from main memory */
    ATTN_LIMIT_WRITE,                   /* bytes a second written to new files, one per thread, by write() */
    ATTN_LIMIT_BF16_PRODUCTS,           /* as PRODUCTS, in bf16 */
    ATTN_LIMIT_SOFTMAX,                 /* numbers a second of softmax, next of activation functions, in L1 cache */
    ATTN_LIMIT_GELU, ATTN_LIMIT_GELU_NEW, ATTN_LIMIT_SILU,
    ATTN_LIMIT_NONE                     /* infinite: of what takes next to no time */
};
struct attn_limits;                     /* owns the threads and the memory that is read */
/* dir: where ATTN_LIMIT_WRITE writes its files, which are removed after each measurement. */
int attn_limits_new(struct attn_limits **out, const char *dir, struct attn_err *err);
void attn_limits_free(struct attn_limits *l);                       /* NULL is fine */
/* One short measurement of about 10 ms, meant to be repeated.  threads: at least 1. */
int attn_limits_measure(double *out, struct attn_limits *l, enum attn_limit which, int threads, struct attn_err *err);
/* Bytes a second read over and over from a buffer of so many bytes, at most attn_limits_buffer; small ones fit
 * into the caches. */
int attn_limits_read(double *out, struct attn_limits *l, size_t bytes, int threads, struct attn_err *err);
size_t attn_limits_caches(const struct attn_limits *l);             /* bytes of the last-level caches; 0: not known */
size_t attn_limits_buffer(const struct attn_limits *l);             /* bytes of the buffer read for ATTN_LIMIT_READ */

/* By what the function of an MLP is judged; of one that is not listed, by nothing. */
enum attn_limit attn_limit_of_mlp(const char *name);

#endif
