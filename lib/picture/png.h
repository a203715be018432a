/* png.h - a picture of pixels, one byte each (the colors of figure.h), which becomes a PNG file. */
#ifndef ATTN_PICTURE_PNG_H
#define ATTN_PICTURE_PNG_H

#include "picture/figure.h"
#include "picture/look.h"

struct attn_canvas { size_t width, height; uint8_t *pixel; };       /* [height, width], row 0 at the top */

int attn_canvas_new(struct attn_canvas *c, size_t width, size_t height, struct attn_err *err);
void attn_canvas_free(struct attn_canvas *c);           /* zeroed is fine */
/* The colour of a pixel's byte. */
struct attn_rgb attn_canvas_color(const struct attn_palette *p, uint8_t pixel);

/* Parts outside of the canvas are clipped. */
void attn_canvas_fill(struct attn_canvas *c, const struct attn_area *a, uint8_t pixel);
void attn_canvas_write(struct attn_canvas *c, const struct attn_lettering *w);

/* *png gets malloc'd bytes: 8 bits a pixel, with the palette of a canvas. */
int attn_png_encode(unsigned char **png, size_t *len, const struct attn_canvas *c, const struct attn_palette *palette,
                    struct attn_err *err);

#endif
