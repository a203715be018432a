/* chart.h - curves over a common x axis, as a PNG.
 *
 * Where many points share a column of pixels, their mean is drawn on top of their range. */
#ifndef ATTN_PICTURE_CHART_H
#define ATTN_PICTURE_CHART_H

#include "base/out.h"

struct attn_chart_curve {
    const char *label;
    const double *x, *y; size_t n;      /* x ascends; all are finite */
    bool marked;                        /* marks each point, and uses the accent colour */
};
struct attn_chart { const char *title, *x_label; const struct attn_chart_curve *curve; size_t n; };

/* A chart without points is drawn empty. */
int attn_chart_write(struct attn_out *out, const struct attn_chart *c, struct attn_err *err);

#endif
