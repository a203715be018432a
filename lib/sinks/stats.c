#include "sinks/stats.h"

#include <math.h>

static void add_number(struct attn_stats *s, double x)
{
    s->numbers++;
    if (!isfinite(x))
        return;
    if (!s->finite || x < s->min)
        s->min = x;
    if (!s->finite || x > s->max)
        s->max = x;
    s->finite++;
    s->sum += x;
}

void attn_stats_add(struct attn_stats *s, const struct attn_piece *p)
{
    s->rows = p->T < ATTN_CORNER_ROWS ? p->T : ATTN_CORNER_ROWS;
    s->cols = p->cols < ATTN_CORNER_COLS ? p->cols : ATTN_CORNER_COLS;
    for (size_t i = 0; i < p->rows; i++) {
        const float *row = attn_piece_row(p, i);
        for (size_t j = 0; j < p->cols; j++)
            add_number(s, row[j]);
        for (size_t j = 0; j < s->cols && p->nth == 0 && p->row0 + i < s->rows; j++)
            s->corner[(p->row0 + i) * s->cols + j] = row[j];
    }
}
