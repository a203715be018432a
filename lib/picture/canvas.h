/* canvas.h - a picture of pixels, one byte each: a step of the scale (scale.h), or a shade from paper to ink. */
#ifndef ATTN_PICTURE_CANVAS_H
#define ATTN_PICTURE_CANVAS_H

#include "picture/look.h"
#include "picture/pen.h"

enum {
    ATTN_SHADES = 14,                   /* of writing, the first is paper and the last is ink */
    ATTN_PAPER = 256 - ATTN_SHADES, ATTN_INK = 255
};

struct attn_canvas { size_t width, height; uint8_t *pixel; };       /* [height, width], row 0 on top */

int attn_canvas_new(struct attn_canvas *c, size_t width, size_t height, struct attn_err *err);
void attn_canvas_free(struct attn_canvas *c);           /* zeroed is fine */
/* What a pixel's byte stands for. */
struct attn_rgb attn_canvas_color(const struct attn_palette *p, uint8_t pixel);

/* Parts that lie beside the canvas are left out. */
void attn_canvas_fill(struct attn_canvas *c, const struct attn_area *a, uint8_t pixel);
void attn_canvas_write(struct attn_canvas *c, const struct attn_words *w);
void attn_canvas_cells(struct attn_canvas *c, size_t x, size_t y, size_t cell, const uint8_t *steps, size_t rows, size_t cols);

#endif
