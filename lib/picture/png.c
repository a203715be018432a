#include "picture/png.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "picture/font.h"
#include "picture/scale.h"

_Static_assert((int)ATTN_STEP_NAN < (int)ATTN_PAPER, "steps and shades share a byte");

int attn_canvas_new(struct attn_canvas *c, size_t width, size_t height, struct attn_err *err)
{
    size_t size;
    *c = (struct attn_canvas){.width = width, .height = height};
    c->pixel = __builtin_mul_overflow(width, height, &size) ? NULL : malloc(size ? size : 1);
    if (!c->pixel)
        return attn_no_memory(err, NULL, "for a picture of %zu x %zu pixels", width, height);
    memset(c->pixel, ATTN_PAPER, size);
    return ATTN_OK;
}

void attn_canvas_free(struct attn_canvas *c)
{
    free(c->pixel);
}

struct attn_rgb attn_canvas_color(const struct attn_palette *p, uint8_t pixel)
{
    if (pixel < ATTN_STEPS)
        return attn_palette_color(p, pixel);
    if (pixel == ATTN_STEP_BLANK)
        return attn_palette_blank(p);
    if (pixel == ATTN_STEP_NAN)
        return attn_palette_nan(p);
    uint8_t grey = (uint8_t)(255 - (pixel - ATTN_PAPER) * 229 / (ATTN_SHADES - 1));     /* ink is not quite black */
    return (struct attn_rgb){grey, grey, grey};
}

void attn_canvas_fill(struct attn_canvas *c, const struct attn_area *a, uint8_t pixel)
{
    size_t right = a->x < c->width ? a->x + smaller(a->width, c->width - a->x) : a->x;
    size_t bottom = a->y < c->height ? a->y + smaller(a->height, c->height - a->y) : a->y;
    for (size_t row = a->y; row < bottom && right > a->x; row++)
        memset(c->pixel + row * c->width + a->x, pixel, right - a->x);
}

/* ---- writing --------------------------------------------------------------------------- */

struct writing { struct attn_canvas *c; double x, y, unit, radius; bool up; };

static double distance(double px, double py, double x0, double y0, double x1, double y1)
{
    double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    double t = length > 0 ? ((px - x0) * dx + (py - y0) * dy) / length : 0;
    t = fmin(fmax(t, 0), 1);
    return hypot(px - x0 - t * dx, py - y0 - t * dy);
}

/* Ink only darkens, and never changes the cells of a matrix. */
static void shade(struct attn_canvas *c, long x, long y, double cover)
{
    if (cover <= 0 || x < 0 || y < 0 || (size_t)x >= c->width || (size_t)y >= c->height)
        return;
    uint8_t *pixel = &c->pixel[(size_t)y * c->width + (size_t)x];
    uint8_t dark = (uint8_t)(ATTN_PAPER + fmin(cover, 1) * (ATTN_SHADES - 1) + 0.5);
    if (*pixel >= ATTN_PAPER && dark > *pixel)
        *pixel = dark;
}

static void write_stroke(void *ctx, const struct attn_stroke *s)
{
    const struct writing *w = ctx;
    double x0 = w->x + w->unit * (w->up ? -s->y0 : s->x0), y0 = w->y - w->unit * (w->up ? s->x0 : s->y0);
    double x1 = w->x + w->unit * (w->up ? -s->y1 : s->x1), y1 = w->y - w->unit * (w->up ? s->x1 : s->y1);
    double reach = w->radius + 0.5;
    for (long y = lround(floor(fmin(y0, y1) - reach)); y <= lround(ceil(fmax(y0, y1) + reach)); y++)
        for (long x = lround(floor(fmin(x0, x1) - reach)); x <= lround(ceil(fmax(x0, x1) + reach)); x++)
            shade(w->c, x, y, reach - distance((double)x, (double)y, x0, y0, x1, y1));
}

void attn_canvas_write(struct attn_canvas *c, const struct attn_lettering *w)
{
    size_t len = strlen(w->s);
    double unit = (double)w->column / ATTN_FONT_COLUMN, length = (double)(attn_font_columns(w->s, len) * w->column);
    double back = w->anchor == ATTN_BEGINS ? 0 : w->anchor == ATTN_ENDS ? length : floor(length / 2);
    struct writing to = {c, (double)w->x - (w->up ? 0 : back), (double)w->y + (w->up ? back : 0), unit, 0.55 * unit, w->up};
    attn_font_draw(w->s, len, write_stroke, &to);
}

/* ---- a file ---------------------------------------------------------------------------- */

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
        return attn_no_memory(err, NULL, "for a PNG of %zu x %zu pixels", c->width, c->height);
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
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            struct attn_area square = {x + j * cell, y + i * cell, cell, cell};
            attn_canvas_fill(self, &square, steps[i * cols + j]);
        }
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
