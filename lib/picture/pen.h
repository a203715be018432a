/* pen.h - the operations by which a figure is drawn, on pixels or as vectors.
 *
 * Positions are whole pixels from the upper left corner.  A color is a pixel value of a canvas (canvas.h). */
#ifndef ATTN_PICTURE_PEN_H
#define ATTN_PICTURE_PEN_H

#include "attn.h"

struct attn_area { size_t x, y, width, height; };

enum attn_anchor { ATTN_BEGINS, ATTN_MIDDLE, ATTN_ENDS };           /* which part of the text is at its position */
struct attn_lettering {
    const char *s;
    size_t x, y;                        /* of its base line; `up`: written upwards, x is that of the base line */
    size_t column;                      /* width of a letter */
    enum attn_anchor anchor;
    bool up;
};

struct attn_pen {
    void *self;
    void (*fill)(void *self, const struct attn_area *a, uint8_t color);
    void (*write)(void *self, const struct attn_lettering *w);
    /* Draws a matrix, each number as a square of `cell` pixels.  Returns 0 or the code left in err. */
    int (*cells)(void *self, size_t x, size_t y, size_t cell, const uint8_t *steps, size_t rows, size_t cols,
                 struct attn_err *err);
};

#endif
