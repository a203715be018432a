/* png.h - a picture of pixels, one byte each (the colors of figure.h), which becomes a PNG file; and what is drawn that
 * way alone: curves. */
#ifndef ATTN_PICTURE_PNG_H
#define ATTN_PICTURE_PNG_H

#include "picture/figure.h"
#include "picture/lettering.h"
#include "picture/look.h"

/* [height, width], row 0 at the top.  over: where a text covers cells, how much of each pixel, and in which colour;
 * NULL: none does. */
struct attn_canvas {
    size_t width, height;
    uint8_t *pixel, *over;
    const struct attn_palette *second;  /* steps from half of them on are every second one of it, those below every
                                         * second one of the first; NULL: there is one */
};
enum { ATTN_OVER_MOST = 127, ATTN_OVER_PAPER = 128 };   /* all of a pixel; a flag: in the colour of paper, not ink */

int attn_canvas_new(struct attn_canvas *c, size_t width, size_t height, struct attn_err *err);
void attn_canvas_free(struct attn_canvas *c);           /* zeroed is fine */
/* The colour of a pixel's byte. */
struct attn_rgb attn_canvas_color(const struct attn_palette *p, uint8_t pixel);

/* Writes in ink on paper, or in ink or paper (*color) on cells.  False: a failure is left in the faces. */
bool attn_canvas_write(struct attn_canvas *c, struct attn_faces *f, const struct attn_lettering *w,
                       const uint8_t *color);

/* *png gets malloc'd bytes: 8 bits per pixel, with the palette of a canvas; 24 where texts cover cells. */
int attn_png_encode(unsigned char **png, size_t *len, const struct attn_canvas *c, const struct attn_palette *palette,
                    struct attn_err *err);

/* ---- curves over a common x axis ----
 *
 * Where many points share a column of pixels, their mean is drawn on top of their range. */

struct attn_chart_curve {
    const char *label;
    const double *x, *y; size_t n;      /* x ascends; what is not finite is drawn at the edge */
    bool marked;                        /* marks each point, and uses the accent colour */
};
struct attn_chart { const char *title, *x_label; const struct attn_chart_curve *curve; size_t n; };

/* A chart without points is drawn empty. */
int attn_chart_write(struct attn_out *out, const struct attn_chart *c, struct attn_err *err);

#endif
