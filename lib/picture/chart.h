/* chart.h - curves over a common x, as a PNG.
 *
 * Where many points share a column of pixels a curve is their mean, drawn on the range they span. */
#ifndef ATTN_PICTURE_CHART_H
#define ATTN_PICTURE_CHART_H

#include "base/out.h"

struct attn_chart_curve {
    const char *label;
    const double *x, *y; size_t n;      /* x rises; all are finite */
    bool marked;                        /* each point has a mark, and the curve the accent colour */
};
struct attn_chart { const char *title, *x_label; const struct attn_chart_curve *curve; size_t n; };

/* Without a single point the chart is empty. */
int attn_chart_write(struct attn_out *out, const struct attn_chart *c, struct attn_err *err);

#endif
