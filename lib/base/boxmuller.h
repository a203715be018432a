/* boxmuller.h - uniform numbers to normal ones, sixteen at a time, with the bits of torch.
 *
 * Eight uniforms of a block give the radii, eight the angles; torch's AVX2 path takes logarithms and sines
 * from Cephes polynomials with fused steps, its scalar path from the C library. */
#ifndef ATTN_BASE_BOXMULLER_H
#define ATTN_BASE_BOXMULLER_H

#include <stdbool.h>
#include <stddef.h>

enum { ATTN_BOX = 16 };

/* x: so many blocks of uniforms from 0 to below 1, replaced by normals. */
void attn_box_muller(float *x, size_t blocks, float mean, float std, bool scalar);

#endif
