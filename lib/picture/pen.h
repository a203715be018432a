/* pen.h - what a figure is drawn with, on pixels or as vectors.
 *
 * Places are whole pixels from the upper left corner.  A color is a pixel of a canvas (canvas.h). */
#ifndef ATTN_PICTURE_PEN_H
#define ATTN_PICTURE_PEN_H

#include "attn.h"

struct attn_area { size_t x, y, width, height; };

enum attn_anchor { ATTN_BEGINS, ATTN_MIDDLE, ATTN_ENDS };           /* what of a text is at its place */
struct attn_words {
    const char *s;
    size_t x, y;                        /* of its line; `up`: written upwards, x is the line's */
    size_t column;                      /* width of a letter */
    enum attn_anchor anchor;
    bool up;
};

struct attn_pen {
    void *self;
    void (*fill)(void *self, const struct attn_area *a, uint8_t color);
    void (*write)(void *self, const struct attn_words *w);
    /* A matrix, each number a square of `cell` pixels.  Returns 0 or the code left in err. */
    int (*cells)(void *self, size_t x, size_t y, size_t cell, const uint8_t *steps, size_t rows, size_t cols,
                 struct attn_err *err);
};

#endif
