/* grid.h - prints a matrix for people: tokens on the left, tokens or column numbers on top, numbers of a
 * fixed precision right-aligned in columns of one width.  If all numbers would be printed as zero, the
 * precision is raised.  A matrix wider than the terminal is printed in blocks of columns, one below the
 * other. */
#ifndef ATTN_SINKS_GRID_H
#define ATTN_SINKS_GRID_H

#include "base/out.h"

struct attn_grid {
    const float *data;                  /* [rows, cols] */
    size_t rows, cols;
    const struct attn_tokens *tokens;   /* of the rows, at least `rows` */
    const struct attn_tokens *keys;     /* of the columns; NULL: columns are numbered */
    bool more_rows, more_cols;          /* it is the corner of a larger matrix */
    int precision, width;               /* digits after the point; columns of the terminal, 0: no limit */
    bool color;
};
/* Digits after the point: `precision` or, if even the largest number would be printed as zero, enough for three digits
 * of it. */
int attn_grid_digits(double largest, int precision);
void attn_grid_print(struct attn_out *o, const struct attn_grid *g);

#endif
