/* block.h - one decoder block:
 *
 *     x = x + attn(norm1(x))
 *     x = x + mlp(norm2(x))
 *
 * A model without residual connections has no "x +", one without norms or MLP leaves these out.  If
 * the branches are parallel, x = x + attn(norm1(x)) + mlp(norm2(x)). */
#ifndef ATTN_COMPUTE_BLOCK_H
#define ATTN_COMPUTE_BLOCK_H

#include "compute/pass.h"

void attn_block_run(struct attn_pass *p, size_t layer);

/* Announces all rows of an activation to the trace, sentence by sentence.  `heads` 0: it has no head axis;
 * else its columns hold so many heads side by side. */
void attn_pass_tell(struct attn_pass *p, int act, int layer, float *data, size_t ld, size_t cols, size_t heads);

#endif
