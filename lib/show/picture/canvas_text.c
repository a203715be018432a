/* canvas_text.c - texts on a picture of pixels.
 *
 * On paper ink only darkens, and never changes the cells of a matrix.  On cells a text is kept apart, as how much of
 * each pixel it covers, and mixed with their colours when the picture is encoded. */
#include "picture/png.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct canvas_ink { struct attn_canvas *c; unsigned over; };

static void darken(void *ctx, long x, long y, double cover)
{
    const struct canvas_ink *ink = ctx;
    struct attn_canvas *c = ink->c;
    if (x < 0 || y < 0 || (size_t)x >= c->width || (size_t)y >= c->height)
        return;
    uint8_t *pixel = &c->pixel[(size_t)y * c->width + (size_t)x];
    uint8_t dark = (uint8_t)(ATTN_PAPER + cover * (ATTN_SHADES - 1) + 0.5);
    if (*pixel >= ATTN_PAPER && dark > *pixel)
        *pixel = dark;
}

static void cover_cell(void *ctx, long x, long y, double cover)
{
    const struct canvas_ink *ink = ctx;
    struct attn_canvas *c = ink->c;
    if (x < 0 || y < 0 || (size_t)x >= c->width || (size_t)y >= c->height)
        return;
    uint8_t *over = &c->over[(size_t)y * c->width + (size_t)x], much = (uint8_t)(cover * ATTN_OVER_MOST + 0.5);
    if (much > (*over & ATTN_OVER_MOST))
        *over = (uint8_t)(ink->over | much);
}

/* Letters of some ten pixels are sharp if an x is a whole number of pixels high. */
static double whole(double size)
{
    const double x_height = 1120 / 2048.0;
    return size < 40 ? fmax(floor(size * x_height + 0.5), 1) / x_height : size;
}

bool attn_canvas_write(struct attn_canvas *c, struct attn_faces *f, const struct attn_lettering *w,
                       const uint8_t *color)
{
    struct canvas_ink ink = {c, color && *color == ATTN_PAPER ? ATTN_OVER_PAPER : 0};
    double size = whole((double)w->column * 5 / 3);
    if (color && !c->over && !(c->over = calloc(c->width * c->height + 1, 1)))
        attn_no_memory(&f->failed, NULL, "for texts on a picture of %zu x %zu pixels", c->width, c->height);
    if (f->failed.code || !attn_faces_lay(f, w->s, strlen(w->s)))
        return false;
    struct attn_placing text = attn_faces_place(f, w, size);
    for (size_t i = 0; i < f->n; i++) {
        struct attn_placing to = attn_letter_placing(f, &f->letter[i], &text);
        if (!attn_faces_outline(f, &f->letter[i]) ||
            attn_raster_fill(&f->raster, &f->outline, &to, 4 * size, color ? cover_cell : darken, &ink, &f->failed))
            return false;
    }
    return true;
}
