/* peak.h - what one core can do at most: multiply-adds that wait for nothing, and reading memory.
 *
 * These are the loops other loops are measured against, so they do no work anybody needs.  The widest
 * instructions of the processor are used, whatever ATTN_SIMD asks of vec.h: the limit is the machine's. */
#ifndef ATTN_COMPUTE_PEAK_H
#define ATTN_COMPUTE_PEAK_H

#include <stddef.h>

/* Floating point operations done in so many rounds of independent multiply-adds in registers. */
double attn_peak_f32(size_t rounds);
double attn_peak_bf16(size_t rounds);   /* by the instruction that multiplies bf16 (base/cpu.h) */

/* Reads x[n], n a multiple of 128 and x aligned to 64 bytes. */
void attn_peak_read(const float *x, size_t n);

#endif
