/* outer.h - the gradient of a weight: a sum over rows of outer products.
 *
 *     y[in, out] += x[rows, in]' w[rows, out]
 *
 * Each element is one chain of fused multiply-adds over the rows, ascending, that continues from y: the same rows
 * give the same bits in one call or in several, at any number of threads and with any kernel. */
#ifndef ATTN_COMPUTE_OUTER_H
#define ATTN_COMPUTE_OUTER_H

#include "base/team.h"
#include "compute/rows.h"

/* x and w must have the same number of rows. */
void attn_outer(struct attn_team *t, float *y, size_t ldy, const struct attn_rows *x, const struct attn_rows *w);
/* y[cols] += the sum of w's rows. */
void attn_outer_sum(struct attn_team *t, float *y, const struct attn_rows *w);

#endif
