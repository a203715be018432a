/* figure.c - draws the sections of a figure with a pen, below a heading. */
#include "picture/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"

static int draw_section(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                        struct attn_err *err)
{
    enum { TITLE_LINE = 16 };           /* pixels from the top of a section to the base line of its title */
    struct attn_lettering title = {s->title, x, y + TITLE_LINE, ATTN_TITLE_LETTER, ATTN_BEGINS, false};
    pen->use(pen->self, s->palette);
    pen->write(pen->self, &title);
    return s->method->draw(s, x, y, pen, steps, err);
}

/* ---- the page -------------------------------------------------------------------------- */

enum {                                  /* pixels; HEADING_NEXT: from one line of a title to the next */
    MARGIN = 20, NARROW = 4, HEADING = 28, HEADING_LINE = 15, HEADING_NEXT = 19, HEADING_LETTER = 9, LEAST_WIDTH = 460
};
enum { SIDE_MAX = 32000, PIXELS_MAX = 1 << 28 };        /* what viewers can open; 256 MB */

static int check_size(const struct attn_figure *f, struct attn_err *err)
{
    if (f->width <= SIDE_MAX && f->height <= SIDE_MAX && f->width * f->height <= PIXELS_MAX)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "a picture of %zu x %zu pixels is more than %d x %d or %d million: choose with "
                                       "--show, --layer and --head, or a smaller --cell", f->width, f->height, SIDE_MAX,
                     SIDE_MAX, PIXELS_MAX / 1000000);
}

static bool has_heading(const struct attn_look *look)
{
    return !look->title || *look->title;
}

/* Whether all of a text is drawn in so many columns; a label has bytes for some 190 of them. */
static bool fits(const char *text, size_t len, size_t columns)
{
    enum { ANY = 1000 };
    struct attn_label l = attn_label_line(text, len, ANY);
    return l.bytes + ATTN_VISIBLE < sizeof l.text && attn_utf8_width(l.text, l.bytes) <= columns;
}

/* The next line of a title: the words that fit, or the beginning of one that is longer.  *rest: what is left. */
static struct attn_label title_line(const char **rest, size_t columns)
{
    const char *text = *rest;
    size_t len = strcspn(text, " ");
    for (size_t more; text[len]; len = more) {
        more = len + strspn(text + len, " ");
        more += strcspn(text + more, " ");
        if (!fits(text, more, columns))
            break;
    }
    *rest = text + len + strspn(text + len, " ");
    return attn_label_line(text, len, columns);
}

static size_t heading_columns(const struct attn_figure *f)
{
    return (f->width - 2 * f->margin) / HEADING_LETTER;
}

/* What a title of several lines takes more than one. */
static size_t further_lines(const struct attn_figure *f)
{
    size_t lines = 0;
    for (const char *rest = f->title; rest && *rest; lines++)
        title_line(&rest, heading_columns(f));
    return lines > 1 ? (lines - 1) * HEADING_NEXT : 0;
}

int attn_figure_plan(struct attn_figure *f, const struct attn_album *a, const struct attn_look *look,
                     struct attn_err *err)
{
    size_t limit = attn_look_limit(look), margin = limit ? NARROW : MARGIN;
    *f = (struct attn_figure){.album = a, .title = look->title, .margin = margin, .width = limit ? 0 : LEAST_WIDTH,
                              .top = has_heading(look) ? HEADING + margin / 2 : margin};
    f->section = calloc(a->n ? a->n : 1, sizeof *f->section);
    if (!f->section)
        return attn_no_memory(err, NULL, "to arrange %zu activations", a->n);
    f->height = f->top - margin / 2;
    for (size_t i = 0; i < a->n; i++) {
        if (!attn_album_opens_kind(a, i))
            continue;
        struct attn_section *s = &f->section[f->n++];
        int rc = attn_section_plan(s, a, &a->sheet[i], look, limit ? limit - 2 * margin : 0, err);
        if (rc)
            return rc;
        f->width = larger(f->width, s->width);
        f->height += s->height + margin;
        f->largest = larger(f->largest, s->rows * s->cols);
        if (s->palette != f->palette[0])
            f->palette[f->palette[0] ? 1 : 0] = s->palette;
    }
    f->width = limit ? limit : f->width + 2 * margin;
    size_t more = further_lines(f);
    f->top += more;
    f->height += margin + more;
    return check_size(f, err);
}

static const char looks[] = ", looking at: ";

/* Letters with accents have room above. */
static size_t heading_line(const struct attn_figure *f)
{
    return f->margin < MARGIN ? f->margin + HEADING_LINE : MARGIN + HEADING_LETTER;
}

static void draw_title(const struct attn_figure *f, const struct attn_pen *pen)
{
    const char *rest = f->title;
    for (size_t y = heading_line(f); *rest; y += HEADING_NEXT) {
        struct attn_label l = title_line(&rest, heading_columns(f));
        struct attn_lettering w = {l.text, f->margin, y, HEADING_LETTER, ATTN_BEGINS, false};
        pen->write(pen->self, &w);
    }
}

static void draw_heading(const struct attn_figure *f, const struct attn_pen *pen)
{
    const struct attn_album *a = f->album;
    size_t columns = heading_columns(f);
    struct attn_label model = attn_label_line(a->model ? a->model : "", a->model ? strlen(a->model) : 0, columns / 2);
    size_t left = columns - attn_utf8_width(model.text, model.bytes) - 2,
    each = a->keys_text ? (left - strlen(looks)) / 2 : left;
    struct attn_label sentence = attn_label_line(a->text ? a->text : "", a->text ? a->text_len : 0, each);
    struct attn_label other = attn_label_line(a->keys_text ? a->keys_text : "", a->keys_text ? a->keys_len : 0, each);
    char text[3 * sizeof model.text + sizeof looks + 4];
    snprintf(text, sizeof text, "%s%s%s%s%s", model.text, a->model && a->text ? ": " : "", sentence.text,
             a->keys_text ? looks : "", other.text);
    struct attn_lettering w = {text, f->margin, heading_line(f), HEADING_LETTER, ATTN_BEGINS, false};
    pen->write(pen->self, &w);
}

int attn_figure_draw(const struct attn_figure *f, const struct attn_pen *pen, struct attn_err *err)
{
    size_t y = f->top;
    uint8_t *steps = calloc(f->largest ? f->largest : 1, 1);
    int rc = steps ? ATTN_OK : attn_no_memory(err, NULL, "to draw a matrix of %zu numbers", f->largest);
    if (f->title)
        draw_title(f, pen);
    else
        draw_heading(f, pen);
    for (size_t i = 0; i < f->n && !rc; i++) {
        rc = draw_section(&f->section[i], f->margin, y, pen, steps, err);
        y += f->section[i].height + f->margin;
    }
    free(steps);
    return rc;
}

void attn_figure_free(struct attn_figure *f)
{
    free(f->section);
}
