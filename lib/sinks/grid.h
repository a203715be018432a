/* grid.h - a matrix for eyes: tokens on the left, tokens or column numbers on top, numbers of a
 * fixed precision right-aligned in columns of one width.  Where all would read as zero the
 * precision is higher.  What is wider than the terminal comes in blocks of columns, one below the
 * other. */
#ifndef ATTN_SINKS_GRID_H
#define ATTN_SINKS_GRID_H

#include "base/out.h"

struct attn_grid {
    const float *data;                  /* [rows, cols] */
    size_t rows, cols;
    const struct attn_tokens *tokens;   /* of the rows, at least so many */
    const struct attn_tokens *keys;     /* of the columns; NULL: they are numbered */
    bool more_rows, more_cols;          /* this is the corner of something larger */
    int precision, width;               /* width 0: never in blocks */
    bool color;
};
/* A matrix of small numbers is not to read as one of zeros: where that would happen to its largest,
 * that gets three digits. */
int attn_grid_digits(double largest, int precision);
void attn_grid_print(struct attn_out *o, const struct attn_grid *g);

#endif
