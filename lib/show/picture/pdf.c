/* pdf.c - figures as PDF, one page of the figure's size: text as text, in fonts that the file brings along, numbers as
 * squares.
 *
 * A square reaches under the ones to its
 * right and below, which are drawn after it, so that no seams show.  A matrix of more than ATTN_PDF_SQUARES numbers is
 * an image, a pixel each.  The same figure has the same bytes: there is no date. */
#include "picture/look.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/out.h"
#include "picture/pdf_fonts.h"
#include "picture/png.h"

enum { OBJECTS = 5 };                   /* objects that every file has; images follow, then fonts */

struct image { uint8_t *steps; size_t rows, cols; const struct attn_palette *palette; };

struct pdf {
    struct attn_out *page;              /* what is drawn */
    const struct attn_palette *palette;
    struct image *image; size_t images, room;
    struct attn_pdf_fonts fonts;
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
static void draw_squares(struct pdf *p, const uint8_t *steps, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0, n; j < cols; j += n) {
            for (n = 1; j + n < cols && steps[i * cols + j + n] == steps[i * cols + j]; n++)
                ;
            struct attn_area a = {j, i, cols - j, rows - i};
            fill(p, &a, steps[i * cols + j]);
        }
}

static int draw_image(struct pdf *p, const uint8_t *steps, size_t rows, size_t cols, struct attn_err *err)
{
    struct image *more = attn_grow(p->image, &p->room, p->images + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu pictures", p->images + 1);
    p->image = more;
    struct image add = {malloc(rows * cols), rows, cols, p->palette};
    if (!add.steps)
        return attn_no_memory(err, NULL, "for a picture of %zu x %zu numbers", rows, cols);
    memcpy(add.steps, steps, rows * cols);
    more[p->images++] = add;
    attn_out_printf(p->page, "q %zu 0 0 -%zu 0 %zu cm /I%zu Do Q\n", cols, rows, rows, p->images);
    return ATTN_OK;
}

static int cells(void *self, const struct attn_area *a, const uint8_t *steps, size_t rows, size_t cols,
                 struct attn_err *err)
{
    struct pdf *p = self;
    int rc = ATTN_OK;
    attn_out_printf(p->page, "q %.6g 0 0 %.6g %zu %zu cm\n", (double)a->width / (double)cols,
                    (double)a->height / (double)rows, a->x, a->y);
    if (rows * cols > ATTN_PDF_SQUARES)
        rc = draw_image(p, steps, rows, cols, err);
    else
        draw_squares(p, steps, rows, cols);
    attn_out_str(p->page, "Q\n");
    return rc;
}

/* ---- text -------------------------------------------------------------------------------- */

static void put_words_over(void *self, const struct attn_lettering *w, uint8_t color)
{
    struct pdf *p = self;
    if (!attn_faces_lay(&p->fonts.faces, w->s, strlen(w->s)) || !p->fonts.faces.n)
        return;
    struct attn_placing at = attn_faces_place(&p->fonts.faces, w, (double)w->column * 5 / 3);
    set_color(p, color);
    attn_pdf_text(&p->fonts, p->page, &at, 0);
}

static void put_words(void *self, const struct attn_lettering *w)
{
    put_words_over(self, w, ATTN_INK);
}

static void use(void *self, const struct attn_palette *palette)
{
    ((struct pdf *)self)->palette = palette;
}

static void line(void *self, const struct attn_stroke *s, uint8_t color)
{
    struct pdf *p = self;
    struct attn_rgb c = attn_canvas_color(p->palette, color);
    attn_out_printf(p->page, "%.3f %.3f %.3f RG %.3g w %.6g %.6g m %.6g %.6g l S\n", c.r / 255.0, c.g / 255.0,
                    c.b / 255.0, s->width, s->x0, s->y0, s->x1, s->y1);
}

/* ---- the file ---------------------------------------------------------------------------- */

void attn_pdf_begin(struct attn_pdf_file *f)
{
    f->begins[f->n++] = attn_out_bytes(f->to);
    attn_out_printf(f->to, "%zu 0 obj\n", f->n);
}

static void put_image(struct attn_pdf_file *f, const struct image *i)
{
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/XObject/Subtype/Image/Width %zu/Height %zu/BitsPerComponent "
                           "8/ColorSpace[/Indexed/DeviceRGB 255<",
                    i->cols, i->rows);
    for (unsigned k = 0; k < 256; k++) {
        struct attn_rgb c = attn_canvas_color(i->palette, (uint8_t)k);
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

static int put_file(struct attn_pdf_file *f, const struct pdf *p, const char *page, size_t len, double width,
                    double height, struct attn_err *err)
{
    attn_out_str(f->to, "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n");
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Type/Catalog/Pages 2 0 R>>\nendobj\n");
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n");
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 %.3f %.3f]/Contents 4 0 R/Resources<<",
                    width, height);
    attn_pdf_fonts_name(&p->fonts, f->to, OBJECTS + p->images + 1);
    attn_out_str(f->to, "/XObject<<");
    for (size_t i = 0; i < p->images; i++)
        attn_out_printf(f->to, "/I%zu %zu 0 R", i + 1, OBJECTS + i + 1);
    attn_out_str(f->to, ">>>>>>\nendobj\n");
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Length %zu>>stream\n", len);
    attn_out_write(f->to, page, len);
    attn_out_str(f->to, "\nendstream\nendobj\n");
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Producer(attn-cli)>>\nendobj\n");
    for (size_t i = 0; i < p->images; i++)
        put_image(f, &p->image[i]);
    int rc = attn_pdf_fonts_put(&p->fonts, f, err);
    attn_pdf_end(f, 1, OBJECTS);
    return rc;
}

static int write_file(struct attn_out *o, struct pdf *p, const struct attn_figure *f, double unit, struct attn_err *err)
{
    char *page = NULL;
    size_t len = 0;
    size_t objects = OBJECTS + p->images + ATTN_PDF_FONT_OBJECTS * attn_pdf_fonts_used(&p->fonts);
    struct attn_pdf_file file = {.to = o, .begins = calloc(objects + 1, sizeof *file.begins)};
    int rc = file.begins ? attn_out_take(p->page, &page, &len, err) :
             attn_no_memory(err, NULL, "for a PDF of %zu objects", objects);
    if (!rc)
        rc = put_file(&file, p, page, len, (double)f->width * unit, (double)f->height * unit, err);
    free(page);
    free(file.begins);
    return rc;
}

static int draw(struct pdf *p, const struct attn_figure *f, double unit, struct attn_err *err)
{
    struct attn_pen pen = {p, fill, put_words, cells, put_words_over, use, line};
    attn_out_printf(p->page, "%.6f 0 0 -%.6f 0 %.4f cm\n", unit, unit, (double)f->height * unit);
    return attn_figure_draw(f, &pen, err);
}

int attn_pdf_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    struct pdf p = {.palette = look->palette, .fonts.faces = attn_look_faces(look)};
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
    attn_pdf_fonts_free(&p.fonts);
    attn_figure_free(&f);
    return rc;
}
