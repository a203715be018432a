/* recompute.h - rows of an activation as a model's weights make them of its input: rightly, or with a mistake.
 *
 * The input is the side's own, so that what differs before does not count, and all is computed in double precision.  A
 * mistake is proven if it makes the rows of one side, and what the model does those of the other. */
#ifndef ATTN_COMPARE_RECOMPUTE_H
#define ATTN_COMPARE_RECOMPUTE_H

#include "compare/diff.h"
#include "compute/weights.h"

enum attn_slip {
    ATTN_SLIP_NONE,
    ATTN_SLIP_LEFT_OUT, ATTN_SLIP_LATE,                 /* LATE: after rotation, of queries and keys */
    ATTN_SLIP_OTHER_KIND,                               /* RMSNorm for LayerNorm, and the other way round */
    ATTN_SLIP_NO_MEAN,                                  /* LayerNorm, bias and all, of what still has its mean */
    ATTN_SLIP_OF_SAMPLE, ATTN_SLIP_EPS_OUTSIDE, ATTN_SLIP_EPS,
    ATTN_SLIP_NO_WEIGHTS, ATTN_SLIP_FROM_ONE,           /* FROM_ONE: 1 + weight for weight, and the other way round */
    ATTN_SLIPS
};

/* Makes a row of a product, before norms and rotation, of a row x. */
typedef void attn_remake_product(double *y, const double *x, const void *self);

/* How an activation is made; all zero: as the model does. */
struct attn_how {
    enum attn_slip slip; double eps;    /* of the norm that makes it, or comes after its product; eps: ATTN_SLIP_EPS */
    bool transposed;                    /* of the product */
    int biases;                         /* so many more of them than the model adds */
    const struct attn_mat *w;           /* of the product, instead of the model's */
    const struct attn_norm *first;      /* of the input, before the product; NULL: none */
    attn_remake_product *make; const void *self;        /* in place of the product; NULL: none */
};

/* The norm that makes an activation or comes after its product; NULL: it has none. */
const struct attn_norm *attn_remake_norm(const struct clue *c);
/* The largest gap between a few rows of a side and what is made of x; infinite if it cannot be: x has other shapes, or
 * lacks the side (NULL). */
double attn_remake_gap(const struct clue *c, bool a, const struct attn_pair *x, const struct attn_how *how);
/* Whether one side is made with the mistake and the other as the model does. */
bool attn_remade_with(const struct clue *c, const struct attn_pair *x, const struct attn_how *mistake, bool *a_has_it);
/* y = x w and its bias, for those who make a product themselves; line: room for a row or column of w. */
void attn_remake_multiply(double *y, const double *x, const struct attn_mat *w, float *line);
void attn_remake_add_bias(double *y, const struct attn_mat *w, int times);
/* A row of the embedding's table as it enters the stream; slip: of its norm.  out: w.n.d numbers; false: no memory. */
bool attn_remake_embedding(const struct clue *c, size_t id, double *out, enum attn_slip slip);

#endif
