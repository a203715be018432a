/* outer.h - what a weight's gradient is: sums over rows of outer products.
 *
 *     y[in, out] += x[rows, in]' w[rows, out]
 *
 * Each element is one chain of fused multiply-adds over the rows, ascending, which goes on from what is there:
 * rows handed over in several calls give the same bits as in one.  Neither threads nor kernel change one. */
#ifndef ATTN_COMPUTE_OUTER_H
#define ATTN_COMPUTE_OUTER_H

#include "base/team.h"
#include "compute/rows.h"

/* x and w have as many rows. */
void attn_outer(struct attn_team *t, float *y, size_t ldy, const struct attn_rows *x, const struct attn_rows *w);
/* y[cols] += the sum of w's rows. */
void attn_outer_sum(struct attn_team *t, float *y, const struct attn_rows *w);

#endif
