/* svg.c - figures as SVG: text as text, numbers as squares.
 *
 * All squares of one colour are one path.  A matrix of more than ATTN_SVG_SQUARES numbers becomes an embedded image
 * instead, with one pixel for each number, which viewers enlarge without blurring. */
#include "picture/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/out.h"
#include "picture/png.h"
#include "text/label.h"

struct svg {
    struct attn_out *out;
    const struct attn_palette *palette;
    bool ruled;                         /* a path of rules, one pixel wide, is open, and of which colour it is */
    uint8_t rules;
};

static void put_color(const struct svg *s, uint8_t color)
{
    struct attn_rgb c = attn_canvas_color(s->palette, color);
    attn_out_printf(s->out, " fill=\"#%02x%02x%02x\"", c.r, c.g, c.b);
}

static void end_rules(struct svg *s)
{
    if (s->ruled)
        attn_out_str(s->out, "\"/>\n");
    s->ruled = false;
}

/* The border of what a mask hides is many rules, one after the other: they are one path. */
static void rule(struct svg *s, const struct attn_area *a, uint8_t color)
{
    if (!s->ruled || s->rules != color) {
        end_rules(s);
        attn_out_str(s->out, "<path");
        put_color(s, color);
        attn_out_str(s->out, " d=\"");
        s->ruled = true;
        s->rules = color;
    }
    attn_out_printf(s->out, "M%zu %zuh%zuv%zuh-%zuz", a->x, a->y, a->width, a->height, a->width);
}

static void fill(void *self, const struct attn_area *a, uint8_t color)
{
    struct svg *s = self;
    if ((a->width == 1 || a->height == 1) && a->width + a->height > 8) {
        rule(s, a, color);
        return;
    }
    end_rules(s);
    attn_out_printf(s->out, "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\"", a->x, a->y, a->width, a->height);
    put_color(s, color);
    attn_out_str(s->out, "/>\n");
}

/* Letters of a monospaced font are 0.6 of its size wide.  color NULL: ink. */
static void put_text(struct svg *s, const struct attn_lettering *w, const uint8_t *color)
{
    static const char *const anchors[] = {[ATTN_BEGINS] = "start", [ATTN_MIDDLE] = "middle", [ATTN_ENDS] = "end"};
    end_rules(s);
    attn_out_printf(s->out, "<text x=\"%zu\" y=\"%zu\" font-size=\"%zu.%zu\" text-anchor=\"%s\"", w->x, w->y,
                    w->column * 5 / 3, w->column * 50 / 3 % 10, anchors[w->anchor]);
    if (w->up)
        attn_out_printf(s->out, " transform=\"rotate(-90 %zu %zu)\"", w->x, w->y);
    if (color)
        put_color(s, *color);
    attn_out_char(s->out, '>');
    attn_out_markup(s->out, w->s, strlen(w->s));
    attn_out_str(s->out, "</text>\n");
}

static void put_words(void *self, const struct attn_lettering *w)
{
    put_text(self, w, NULL);
}

static void put_words_over(void *self, const struct attn_lettering *w, uint8_t color)
{
    put_text(self, w, color == ATTN_INK ? NULL : &color);
}

/* ---- numbers --------------------------------------------------------------------------- */

/* Draws all squares of one colour; adjacent ones of a row become one rectangle. */
static void put_squares(const struct svg *s, uint8_t color, const uint8_t *steps, size_t rows, size_t cols)
{
    attn_out_str(s->out, "<path");
    put_color(s, color);
    attn_out_str(s->out, " d=\"");
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0, n; j < cols; j += n) {
            for (n = 1; j + n < cols && steps[i * cols + j + n] == steps[i * cols + j]; n++)
                ;
            if (steps[i * cols + j] == color)
                attn_out_printf(s->out, "M%zu %zuh%zuv1h-%zuz", j, i, n, n);
        }
    attn_out_str(s->out, "\"/>\n");
}

static void put_matrix(const struct svg *s, const uint8_t *steps, size_t rows, size_t cols)
{
    bool used[256] = {false};
    for (size_t i = 0; i < rows * cols; i++)
        used[steps[i]] = true;
    for (unsigned color = 0; color < 256; color++)
        if (used[color])
            put_squares(s, (uint8_t)color, steps, rows, cols);
}

static int put_image(const struct svg *s, const uint8_t *steps, size_t rows, size_t cols, struct attn_err *err)
{
    struct attn_canvas c = {.width = cols, .height = rows, .pixel = (uint8_t *)steps};
    unsigned char *png;
    size_t len;
    int rc = attn_png_encode(&png, &len, &c, s->palette, err);
    if (rc)
        return rc;
    attn_out_printf(s->out, "<image width=\"%zu\" height=\"%zu\" preserveAspectRatio=\"none\" "
                            "image-rendering=\"pixelated\" href=\"data:image/png;base64,", cols, rows);
    attn_out_base64(s->out, png, len);
    attn_out_str(s->out, "\"/>\n");
    free(png);
    return ATTN_OK;
}

static int cells(void *self, const struct attn_area *a, const uint8_t *steps, size_t rows, size_t cols,
                 struct attn_err *err)
{
    struct svg *s = self;
    int rc = ATTN_OK;
    end_rules(s);
    attn_out_printf(s->out, "<g transform=\"translate(%zu %zu) scale(%.6g", a->x, a->y,
                    (double)a->width / (double)cols);
    if (a->width * rows != a->height * cols)
        attn_out_printf(s->out, " %.6g", (double)a->height / (double)rows);
    attn_out_str(s->out, ")\" shape-rendering=\"crispEdges\">\n");
    if (rows * cols > ATTN_SVG_SQUARES)
        rc = put_image(s, steps, rows, cols, err);
    else
        put_matrix(s, steps, rows, cols);
    attn_out_str(s->out, "</g>\n");
    return rc;
}

static void use(void *self, const struct attn_palette *p)
{
    struct svg *s = self;
    end_rules(s);
    s->palette = p;
}

static void line(void *self, const struct attn_stroke *l, uint8_t color)
{
    struct svg *s = self;
    struct attn_rgb c = attn_canvas_color(s->palette, color);
    end_rules(s);
    attn_out_printf(s->out, "<path d=\"M%.6g %.6gL%.6g %.6g\" stroke=\"#%02x%02x%02x\" stroke-width=\"%.3g\"/>\n",
                    l->x0, l->y0, l->x1, l->y1, c.r, c.g, c.b, l->width);
}

/* What a screen reader says of the picture: its heading. */
static void put_title(struct attn_out *o, const struct attn_figure *f)
{
    enum { COLUMNS = 100 };
    const struct attn_album *a = f->album;
    const char *first = f->title ? f->title : a->model ? a->model : "";
    struct attn_label text = attn_label_line(a->text && !f->title ? a->text :
                                             "", a->text && !f->title ? a->text_len : 0, COLUMNS);
    if (!*first && !text.bytes)
        return;
    attn_out_str(o, "<title>");
    attn_out_markup(o, first, strlen(first));
    attn_out_str(o, *first && text.bytes ? ": " : "");
    attn_out_markup(o, text.text, text.bytes);
    attn_out_str(o, "</title>\n");
}

int attn_svg_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    struct svg s = {.out = o, .palette = look->palette};
    struct attn_pen pen = {&s, fill, put_words, cells, put_words_over, use, line};
    struct attn_figure f;
    int rc = attn_figure_plan(&f, a, look, err);
    if (!rc) {
        char size[64];
        if (look->paper > 0)
            attn_snprintf(size, sizeof size, "width=\"%.3fmm\" height=\"%.3fmm\"", look->paper,
                     look->paper * (double)f.height / (double)f.width);
        else
            snprintf(size, sizeof size, "width=\"%zu\" height=\"%zu\"", f.width, f.height);
        attn_out_printf(o, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" %s viewBox=\"0 0 %zu %zu\" "
                           "font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" fill=\"#1a1a1a\" "
                           "xml:space=\"preserve\">\n",
                        size, f.width, f.height);
        put_title(o, &f);
        attn_out_str(o, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
        rc = attn_figure_draw(&f, &pen, err);
        end_rules(&s);
        attn_out_str(o, "</svg>\n");
    }
    attn_figure_free(&f);
    return rc;
}
