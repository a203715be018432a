/* png.h - figures as PNG files: 8 bits a pixel, with the palette of a canvas. */
#ifndef ATTN_PICTURE_PNG_H
#define ATTN_PICTURE_PNG_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/canvas.h"

int attn_png_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);

/* *png gets malloc'd bytes. */
int attn_png_encode(unsigned char **png, size_t *len, const struct attn_canvas *c, const struct attn_palette *palette,
                    struct attn_err *err);

#endif
