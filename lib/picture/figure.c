#include "picture/figure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "text/label.h"
#include "base/size.h"

enum { MARGIN = 20, BOTH_MARGINS = 2 * MARGIN, HEADING = 28, LETTER = 9, LEAST_WIDTH = 460 };      /* pixels */
enum { SIDE_MAX = 32000, PIXELS_MAX = 1 << 28 };        /* what viewers can open; 256 MB */

static int check_size(const struct attn_figure *f, struct attn_err *err)
{
    if (f->width <= SIDE_MAX && f->height <= SIDE_MAX && f->width * f->height <= PIXELS_MAX)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "a picture of %zu x %zu pixels is more than %d x %d or %d million: choose with --show, "
                     "--layer and --head, or a smaller --cell", f->width, f->height, SIDE_MAX, SIDE_MAX, PIXELS_MAX / 1000000);
}

int attn_figure_plan(struct attn_figure *f, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    *f = (struct attn_figure){.album = a, .width = LEAST_WIDTH, .height = HEADING};
    f->section = calloc(a->n ? a->n : 1, sizeof *f->section);
    if (!f->section)
        return attn_fail(err, ATTN_ENOMEM, "no memory to arrange %zu activations", a->n);
    for (size_t i = 0; i < a->n; i++) {
        if (!attn_album_opens_kind(a, i))
            continue;
        struct attn_section *s = &f->section[f->n++];
        attn_section_plan(s, a, &a->sheet[i], look);
        f->width = larger(f->width, s->width);
        f->height += s->height + MARGIN;
        f->largest = larger(f->largest, s->rows * s->cols);
    }
    f->width += BOTH_MARGINS;
    f->height += MARGIN;
    return check_size(f, err);
}

static const char looks[] = ", looking at: ";

static void draw_heading(const struct attn_figure *f, const struct attn_pen *pen)
{
    const struct attn_album *a = f->album;
    size_t columns = (f->width - BOTH_MARGINS) / LETTER;
    struct attn_label model = attn_label_line(a->model ? a->model : "", a->model ? strlen(a->model) : 0, columns / 2);
    size_t left = columns - model.columns - 2, each = a->keys_text ? (left - strlen(looks)) / 2 : left;
    struct attn_label sentence = attn_label_line(a->text ? a->text : "", a->text ? a->text_len : 0, each);
    struct attn_label other = attn_label_line(a->keys_text ? a->keys_text : "", a->keys_text ? a->keys_len : 0, each);
    char text[3 * sizeof model.text + sizeof looks + 4];
    snprintf(text, sizeof text, "%s%s%s%s%s", model.text, a->model && a->text ? ": " : "", sentence.text,
             a->keys_text ? looks : "", other.text);
    struct attn_lettering w = {text, MARGIN, MARGIN + LETTER, LETTER, ATTN_BEGINS, false};
    pen->write(pen->self, &w);
}

int attn_figure_draw(const struct attn_figure *f, const struct attn_pen *pen, struct attn_err *err)
{
    size_t y = HEADING + MARGIN / 2;
    uint8_t *steps = malloc(f->largest ? f->largest : 1);
    int rc = steps ? ATTN_OK : attn_fail(err, ATTN_ENOMEM, "no memory to draw a matrix of %zu numbers", f->largest);
    draw_heading(f, pen);
    for (size_t i = 0; i < f->n && !rc; i++) {
        rc = attn_section_draw(&f->section[i], MARGIN, y, pen, steps, err);
        y += f->section[i].height + MARGIN;
    }
    free(steps);
    return rc;
}

void attn_figure_free(struct attn_figure *f)
{
    free(f->section);
}
