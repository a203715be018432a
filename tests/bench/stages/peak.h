/* peak.h - the most one core can do: independent multiply-adds in registers, and reading memory.
 *
 * Other loops are measured against these, which do no useful work.  They use the widest instructions of
 * the processor, whatever ATTN_SIMD asks of vec.h: the limit is the machine's. */
#ifndef ATTN_COMPUTE_PEAK_H
#define ATTN_COMPUTE_PEAK_H

#include <stddef.h>

/* Does so many rounds of multiply-adds; returns how many floating point operations these were. */
double attn_peak_f32(size_t rounds);
double attn_peak_bf16(size_t rounds);   /* the same with the processor's instruction for bf16 (base/simd.h) */

/* Reads x[n], n a multiple of 128 and x aligned to 64 bytes, in 2, 4 or 8 places side by side.  Which is the fastest
 * depends on what the processor fetches ahead. */
void attn_peak_read(const float *x, size_t n, int places);

#endif
