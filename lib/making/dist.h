/* dist.h - fills part of a tensor with the numbers of one distribution.
 *
 * An area is a whole tensor or the columns of one head.  Random numbers are drawn as torch draws one tensor, row by
 * row, so `uniform` over an area of a larger matrix gives the same numbers as for a separate matrix.  `linear` draws
 * what torch.nn.Linear holds, [out, in], and stores it transposed. */
#ifndef ATTN_DIST_H
#define ATTN_DIST_H

#include "base/rng.h"

enum attn_dist_kind { ATTN_DIST_UNIFORM, ATTN_DIST_NORMAL, ATTN_DIST_LINEAR, ATTN_DIST_CONSTANT, ATTN_DIST_IDENTITY,
                      ATTN_DIST_FILE };

struct attn_dist {
    enum attn_dist_kind kind;
    double a, b;                        /* uniform: from, to; normal: mean, std; constant: a */
    size_t rows;                        /* draw so many rows and keep the first ones; 0: as many as the area has */
    const char *path; size_t path_len;  /* file: CSV text, one row a line; borrowed */
};

struct attn_submatrix { float *x; size_t rows, cols, ld; };              /* element (i, j) is x[i * ld + j] */

/* n_in: number of inputs of the linear layer that the area belongs to. */
int attn_dist_fill(const struct attn_submatrix *area, struct attn_rng *rng, const struct attn_dist *dist, size_t n_in,
                   struct attn_err *err);

#endif
