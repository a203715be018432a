/* block.h - one decoder block:
 *
 *     x = x + attn(norm1(x))
 *     x = x + mlp(norm2(x))
 *
 * without the "x +" where the model has no residual and without a part it does not have; or, where
 * the branches are parallel, x = x + attn(norm1(x)) + mlp(norm2(x)). */
#ifndef ATTN_COMPUTE_BLOCK_H
#define ATTN_COMPUTE_BLOCK_H

#include "compute/pass.h"

void attn_block_run(struct attn_pass *p, size_t layer);

/* Tells all rows of an activation, sentence by sentence; `heads` 0: no head axis, else columns
 * hold the heads side by side. */
void attn_pass_tell(struct attn_pass *p, int act, int layer, float *data, size_t ld, size_t cols, size_t heads);

#endif
