/* summed.h - the size of what was summed, by which a difference is judged: see rounding.h. */
#ifndef ATTN_COMPARE_SUMMED_H
#define ATTN_COMPARE_SUMMED_H

#include "compare/diff.h"

#include <float.h>
#include <math.h>

/* Of one activation: element (h, t, k) is as large as row[h T + t], times column[h / group, k], or times itself; or as
 * row[t] where all heads of a token count.  Kept for the next one. */
struct attn_summed { double *row, *column; size_t rows, columns, group; bool by_head, of_columns, of_itself; };
/* Of one row: each of its numbers is at least as large as itself. */
struct attn_summed_row { double row, least; const double *column; bool of_itself; };

/* Measures an activation; false: there is no memory. */
bool attn_summed_of(struct attn_summed *s, const struct attn_diff *d, const struct attn_pair *p, int act, int layer);
/* least: numbers below have fewer bits. */
struct attn_summed_row attn_summed_row(const struct attn_summed *s, const struct attn_pair *p, size_t h, size_t t,
                                       double least);
void attn_summed_free(struct attn_summed *s);

double attn_largest(const float *x, size_t n);          /* of the finite ones, without their signs */

static inline double attn_summed_at(const struct attn_summed_row *s, double a, double b, size_t k)
{
    double x = fabs(a), y = fabs(b), itself = x > y ? x : y, row = s->column ? s->row * s->column[k] : s->row;
    if (s->of_itself)
        return s->row * itself + s->least;
    return (itself < DBL_MAX && itself > row ? itself : row) + s->least;
}

#endif
