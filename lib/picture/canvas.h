/* canvas.h - a picture of pixels, one byte each: a step of the scale (scale.h), or a shade between paper and ink. */
#ifndef ATTN_PICTURE_CANVAS_H
#define ATTN_PICTURE_CANVAS_H

#include "picture/look.h"
#include "picture/pen.h"

enum {
    ATTN_SHADES = 14,                   /* of text: the first is paper, the last is ink */
    ATTN_PAPER = 256 - ATTN_SHADES, ATTN_INK = 255
};

struct attn_canvas { size_t width, height; uint8_t *pixel; };       /* [height, width], row 0 at the top */

int attn_canvas_new(struct attn_canvas *c, size_t width, size_t height, struct attn_err *err);
void attn_canvas_free(struct attn_canvas *c);           /* zeroed is fine */
/* The colour of a pixel's byte. */
struct attn_rgb attn_canvas_color(const struct attn_palette *p, uint8_t pixel);

/* Parts outside of the canvas are clipped. */
void attn_canvas_fill(struct attn_canvas *c, const struct attn_area *a, uint8_t pixel);
void attn_canvas_write(struct attn_canvas *c, const struct attn_lettering *w);
void attn_canvas_cells(struct attn_canvas *c, size_t x, size_t y, size_t cell, const uint8_t *steps, size_t rows, size_t cols);

#endif
