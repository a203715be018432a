/* boxmuller.h - turns uniform random numbers into normal ones, sixteen at a time, with the same bits as torch.
 *
 * Eight uniforms of a block give the radii, eight the angles.  torch's AVX2 path computes logarithms and sines by
 * Cephes polynomials with fused multiply-adds, its scalar path by the C library. */
#ifndef ATTN_BASE_BOXMULLER_H
#define ATTN_BASE_BOXMULLER_H

#include <stdbool.h>
#include <stddef.h>

enum { ATTN_BOX = 16 };

/* x holds `blocks` blocks of 16 uniforms in [0, 1), which are replaced by normals. */
void attn_box_muller(float *x, size_t blocks, float mean, float std, bool scalar);

#endif
