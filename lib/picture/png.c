#include "picture/png.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "picture/figure.h"

static void fill_colors(unsigned char colors[256 * 3], const struct attn_palette *palette)
{
    for (size_t i = 0; i < 256; i++) {
        struct attn_rgb c = attn_canvas_color(palette, (uint8_t)i);
        memcpy(colors + 3 * i, (unsigned char[]){c.r, c.g, c.b}, 3);
    }
}

int attn_png_encode(unsigned char **png, size_t *len, const struct attn_canvas *c, const struct attn_palette *palette,
                    struct attn_err *err)
{
    unsigned char colors[256 * 3];
    /* FAST: no filters, which help only photographs, and light compression: a third of the time for a tenth more
     * bytes. */
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)c->width, .height = (png_uint_32)c->height,
                       .format = PNG_FORMAT_RGB_COLORMAP, .colormap_entries = 256, .flags = PNG_IMAGE_FLAG_FAST};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    fill_colors(colors, palette);
    *len = 0;
    *png = malloc(size);
    if (!*png)
        return attn_fail(err, ATTN_ENOMEM, "no memory for a PNG of %zu x %zu pixels", c->width, c->height);
    if (png_image_write_to_memory(&image, *png, &size, 0, c->pixel, (png_int_32)c->width, colors)) {
        *len = size;
        return ATTN_OK;
    }
    free(*png);
    *png = NULL;
    return attn_fail(err, ATTN_ENOMEM, "a PNG of %zu x %zu pixels cannot be made: %s", c->width, c->height, image.message);
}

/* ---- a figure -------------------------------------------------------------------------- */

static void fill(void *self, const struct attn_area *a, uint8_t color)
{
    attn_canvas_fill(self, a, color);
}

static void put_words(void *self, const struct attn_lettering *w)
{
    attn_canvas_write(self, w);
}

static int cells(void *self, size_t x, size_t y, size_t cell, const uint8_t *steps, size_t rows, size_t cols, struct attn_err *err)
{
    (void)err;
    attn_canvas_cells(self, x, y, cell, steps, rows, cols);
    return ATTN_OK;
}

static int draw(struct attn_canvas *c, const struct attn_figure *f, struct attn_err *err)
{
    struct attn_pen pen = {c, fill, put_words, cells};
    int rc = attn_canvas_new(c, f->width, f->height, err);
    return rc ? rc : attn_figure_draw(f, &pen, err);
}

int attn_png_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    struct attn_figure f;
    struct attn_canvas c = {0};
    unsigned char *png = NULL;
    size_t len = 0;
    int rc = attn_figure_plan(&f, a, look, err);
    if (!rc)
        rc = draw(&c, &f, err);
    if (!rc)
        rc = attn_png_encode(&png, &len, &c, look->palette, err);
    attn_out_write(o, png, len);
    free(png);
    attn_canvas_free(&c);
    attn_figure_free(&f);
    return rc;
}
