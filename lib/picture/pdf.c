/* pdf.c - figures as PDF, one page of the figure's size: text as text in Helvetica, which every reader has, numbers as
 * squares.
 *
 * Characters that Helvetica lacks here are drawn with the strokes of font.h.  A square reaches under the ones to its
 * right and below, which are drawn after it, so that no seams show.  A matrix of more than ATTN_PDF_SQUARES numbers is
 * an image, a pixel each.  The same figure has the same bytes: there is no date. */
#include "picture/look.h"

#include <stdlib.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/out.h"
#include "base/utf8.h"
#include "picture/font.h"
#include "picture/pdf.h"
#include "picture/png.h"

enum { OBJECTS = 6 };                   /* objects that every file has; images follow */

struct image { uint8_t *steps; size_t rows, cols; };

struct pdf {
    struct attn_out *page;              /* what is drawn */
    const struct attn_palette *palette;
    struct image *image; size_t images, room;
    struct attn_lacks *lacks;
};

/* ---- colours and squares ----------------------------------------------------------------- */

static void set_color(struct pdf *p, uint8_t color)
{
    struct attn_rgb c = attn_canvas_color(p->palette, color);
    attn_out_printf(p->page, "%.3f %.3f %.3f rg ", c.r / 255.0, c.g / 255.0, c.b / 255.0);
}

static void fill(void *self, const struct attn_area *a, uint8_t color)
{
    struct pdf *p = self;
    set_color(p, color);
    attn_out_printf(p->page, "%zu %zu %zu %zu re f\n", a->x, a->y, a->width, a->height);
}

/* In rows of one colour, each up to the last row and column. */
static void draw_squares(struct pdf *p, size_t cell, const uint8_t *steps, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0, n; j < cols; j += n) {
            for (n = 1; j + n < cols && steps[i * cols + j + n] == steps[i * cols + j]; n++)
                ;
            struct attn_area a = {j * cell, i * cell, (cols - j) * cell, (rows - i) * cell};
            fill(p, &a, steps[i * cols + j]);
        }
}

static int draw_image(struct pdf *p, size_t cell, const uint8_t *steps, size_t rows, size_t cols, struct attn_err *err)
{
    struct image *more = attn_grow(p->image, &p->room, p->images + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu pictures", p->images + 1);
    p->image = more;
    struct image add = {malloc(rows * cols), rows, cols};
    if (!add.steps)
        return attn_no_memory(err, NULL, "for a picture of %zu x %zu numbers", rows, cols);
    memcpy(add.steps, steps, rows * cols);
    more[p->images++] = add;
    attn_out_printf(p->page, "q %zu 0 0 -%zu 0 %zu cm /I%zu Do Q\n", cols * cell, rows * cell, rows * cell, p->images);
    return ATTN_OK;
}

static int cells(void *self, size_t x, size_t y, size_t cell, const uint8_t *steps, size_t rows, size_t cols,
                 struct attn_err *err)
{
    struct pdf *p = self;
    int rc = ATTN_OK;
    attn_out_printf(p->page, "q 1 0 0 1 %zu %zu cm\n", x, y);
    if (rows * cols > ATTN_PDF_SQUARES)
        rc = draw_image(p, cell, steps, rows, cols, err);
    else
        draw_squares(p, cell, steps, rows, cols);
    attn_out_str(p->page, "Q\n");
    return rc;
}

/* ---- text -------------------------------------------------------------------------------- */

/* Widths of Helvetica's letters from space to ~, in thousandths of its size, as Adobe's metrics have them. */
static const uint16_t helvetica[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
};
_Static_assert(sizeof helvetica / sizeof *helvetica == '~' - ' ' + 1, "a width for each letter");

struct letter { unsigned char byte; unsigned width; };  /* as WinAnsiEncoding has it; width 0: Helvetica lacks it
                                                         * here */

/* An accented letter is as wide as the letter, except i, whose accents are wider. */
static struct letter letter_of(uint32_t c)
{
    utf8proc_int32_t parts[4];
    int boundary = 0;
    if (c >= ' ' && c <= '~')
        return (struct letter){(unsigned char)c, helvetica[c - ' ']};
    if (c == 0xB7)
        return (struct letter){0xB7, 278};
    if (c == 0x2026)
        return (struct letter){0x85, 1000};
    if (c < 0xC0 || c > 0xFF ||
        utf8proc_decompose_char((utf8proc_int32_t)c, parts, 4, UTF8PROC_DECOMPOSE, &boundary) < 2)
        return (struct letter){0};
    return (struct letter){(unsigned char)c, parts[0] == 'i' ? 278 : helvetica[parts[0] - ' ']};
}

/* The width in thousandths; 0: there is a character that is to be drawn. */
static unsigned width_of(const char *s, size_t len)
{
    unsigned width = 0;
    size_t step;
    for (size_t i = 0; i < len; i += step) {
        struct letter l = letter_of(attn_utf8_next(s + i, len - i, &step));
        if (!l.width)
            return 0;
        width += l.width;
    }
    return width;
}

void attn_pdf_put(struct attn_out *page, unsigned char c)
{
    if (c == '(' || c == ')' || c == '\\' || c > '~')
        attn_out_printf(page, "\\%03o", c);
    else
        attn_out_char(page, (char)c);
}

static void put_string(struct pdf *p, const char *s, size_t len)
{
    size_t step;
    attn_out_char(p->page, '(');
    for (size_t i = 0; i < len; i += step)
        attn_pdf_put(p->page, letter_of(attn_utf8_next(s + i, len - i, &step)).byte);
    attn_out_char(p->page, ')');
}

/* A letter's column is 0.6 of the size, as elsewhere; what would take more than its columns is written more
 * narrowly. */
static void write_letters(struct pdf *p, const struct attn_lettering *w, unsigned width, double room)
{
    size_t len = strlen(w->s);
    double size = (double)w->column * 5 / 3, length = size * width / 1000, narrow = length > room ? room / length : 1;
    double back = length * narrow * (w->anchor == ATTN_BEGINS ? 0 : w->anchor == ATTN_ENDS ? 1 : 0.5);
    attn_out_printf(p->page, "BT /F %.3f Tf %.2f Tz ", size, 100 * narrow);
    if (w->up)
        attn_out_printf(p->page, "0 -1 -1 0 %.3f %.3f Tm ", (double)w->x, (double)w->y + back);
    else
        attn_out_printf(p->page, "1 0 0 -1 %.3f %.3f Tm ", (double)w->x - back, (double)w->y);
    put_string(p, w->s, len);
    attn_out_str(p->page, " Tj ET\n");
}

void attn_pdf_stroke(void *page, const struct attn_stroke *s)
{
    attn_out_printf(page, "%.2f %.2f m %.2f %.2f l\n", s->x0, s->y0, s->x1, s->y1);
}

static void draw_letters(struct pdf *p, const struct attn_lettering *w, uint8_t color, double room)
{
    double unit = (double)w->column / ATTN_FONT_COLUMN;
    double back = room * (w->anchor == ATTN_BEGINS ? 0 : w->anchor == ATTN_ENDS ? 1 : 0.5);
    struct attn_rgb c = attn_canvas_color(p->palette, color);
    attn_out_printf(p->page, "q %.3f %.3f %.3f RG 1.1 w 1 J ", c.r / 255.0, c.g / 255.0, c.b / 255.0);
    if (w->up)
        attn_out_printf(p->page, "0 %.4f %.4f 0 %.3f %.3f cm\n", -unit, -unit, (double)w->x, (double)w->y + back);
    else
        attn_out_printf(p->page, "%.4f 0 0 %.4f %.3f %.3f cm\n", unit, -unit, (double)w->x - back, (double)w->y);
    attn_font_note(p->lacks, w->s, strlen(w->s));
    attn_font_draw(w->s, strlen(w->s), attn_pdf_stroke, p->page);
    attn_out_str(p->page, "S Q\n");
}

static void put_words_over(void *self, const struct attn_lettering *w, uint8_t color)
{
    struct pdf *p = self;
    size_t len = strlen(w->s);
    double room = (double)(attn_font_columns(w->s, len) * w->column);
    unsigned width = width_of(w->s, len);
    if (!len)
        return;
    if (width) {
        set_color(p, color);
        write_letters(p, w, width, room);
    } else {
        draw_letters(p, w, color, room);
    }
}

static void put_words(void *self, const struct attn_lettering *w)
{
    put_words_over(self, w, ATTN_INK);
}

/* ---- the file ---------------------------------------------------------------------------- */

void attn_pdf_begin(struct attn_pdf_file *f)
{
    f->begins[f->n++] = attn_out_bytes(f->to);
    attn_out_printf(f->to, "%zu 0 obj\n", f->n);
}

static void put_image(struct attn_pdf_file *f, const struct pdf *p, const struct image *i)
{
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/XObject/Subtype/Image/Width %zu/Height %zu/BitsPerComponent "
                           "8/ColorSpace[/Indexed/DeviceRGB 255<",
                    i->cols, i->rows);
    for (unsigned k = 0; k < 256; k++) {
        struct attn_rgb c = attn_canvas_color(p->palette, (uint8_t)k);
        attn_out_printf(f->to, "%02x%02x%02x", c.r, c.g, c.b);
    }
    attn_out_printf(f->to, ">]/Length %zu>>stream\n", i->rows * i->cols);
    attn_out_write(f->to, i->steps, i->rows * i->cols);
    attn_out_str(f->to, "\nendstream\nendobj\n");
}

void attn_pdf_end(struct attn_pdf_file *f, size_t root, size_t info)
{
    uint64_t at = attn_out_bytes(f->to);
    attn_out_printf(f->to, "xref\n0 %zu\n0000000000 65535 f \n", f->n + 1);
    for (size_t i = 0; i < f->n; i++)
        attn_out_printf(f->to, "%010llu 00000 n \n", (unsigned long long)f->begins[i]);
    attn_out_printf(f->to, "trailer<</Size %zu/Root %zu 0 R/Info %zu 0 R>>\nstartxref\n%llu\n%%%%EOF\n", f->n + 1, root,
                    info, (unsigned long long)at);
}

static void put_file(struct attn_pdf_file *f, const struct pdf *p, const char *page, size_t len, double width,
                     double height)
{
    attn_out_str(f->to, "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n");
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Type/Catalog/Pages 2 0 R>>\nendobj\n");
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n");
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 %.3f %.3f]/Contents 4 0 R/Resources<</Font<</F 5 0 "
                           "R>>/XObject<<",
                    width, height);
    for (size_t i = 0; i < p->images; i++)
        attn_out_printf(f->to, "/I%zu %zu 0 R", i + 1, OBJECTS + i + 1);
    attn_out_str(f->to, ">>>>>>\nendobj\n");
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Length %zu>>stream\n", len);
    attn_out_write(f->to, page, len);
    attn_out_str(f->to, "\nendstream\nendobj\n");
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>\nendobj\n");
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Producer(attn-cli)>>\nendobj\n");
    for (size_t i = 0; i < p->images; i++)
        put_image(f, p, &p->image[i]);
    attn_pdf_end(f, 1, OBJECTS);
}

static int write_file(struct attn_out *o, struct pdf *p, const struct attn_figure *f, double unit, struct attn_err *err)
{
    char *page = NULL;
    size_t len = 0;
    struct attn_pdf_file file = {.to = o, .begins = calloc(OBJECTS + p->images + 1, sizeof *file.begins)};
    int rc = file.begins ? attn_out_take(p->page, &page, &len, err) : attn_no_memory(err, NULL,
                                                                                     "for %zu pictures", p->images);
    if (!rc)
        put_file(&file, p, page, len, (double)f->width * unit, (double)f->height * unit);
    free(page);
    free(file.begins);
    return rc;
}

static int draw(struct pdf *p, const struct attn_figure *f, double unit, struct attn_err *err)
{
    struct attn_pen pen = {p, fill, put_words, cells, put_words_over};
    attn_out_printf(p->page, "%.6f 0 0 -%.6f 0 %.4f cm\n", unit, unit, (double)f->height * unit);
    return attn_figure_draw(f, &pen, err);
}

int attn_pdf_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    struct pdf p = {.palette = look->palette, .lacks = look->lacks};
    struct attn_figure f;
    double unit = 0;
    int rc = attn_figure_plan(&f, a, look, err);
    if (!rc)
        rc = attn_out_open_memory(&p.page, err);
    if (!rc)
        rc = draw(&p, &f, unit = attn_look_points(look, f.width) / (double)f.width, err);
    if (!rc)
        rc = write_file(o, &p, &f, unit, err);
    for (size_t i = 0; i < p.images; i++)
        free(p.image[i].steps);
    free(p.image);
    attn_out_close(p.page);
    attn_figure_free(&f);
    return rc;
}
