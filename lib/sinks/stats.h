/* stats.h - a summary of an activation that is too large to print: its range, its mean and its upper left corner. */
#ifndef ATTN_SINKS_STATS_H
#define ATTN_SINKS_STATS_H

#include "sinks/piece.h"

enum { ATTN_CORNER_ROWS = 4, ATTN_CORNER_COLS = 6 };

struct attn_stats {
    uint64_t numbers, finite;
    double min, max, sum;               /* of the finite numbers */
    size_t rows, cols;                  /* of the corner, which is that of the first matrix */
    float corner[ATTN_CORNER_ROWS * ATTN_CORNER_COLS];
};
void attn_stats_add(struct attn_stats *s, const struct attn_piece *p);     /* s must be zeroed before the first piece */

#endif
