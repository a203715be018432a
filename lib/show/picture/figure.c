/* figure.c - a figure: its sections below a heading, beside each other where they are alike, and drawn with a pen. */
#include "picture/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "base/utf8.h"
#include "picture/wrap.h"

enum {                                  /* pixels; HEADING_NEXT: from one line of a title to the next */
    MARGIN = 20, NARROW = 4, HEADING = 28, HEADING_LINE = 15, HEADING_NEXT = 19, HEADING_LETTER = 9, LEAST_WIDTH = 460,
    SHELF = 1000, ASIDE = 36            /* of sections beside each other: all of them, and what is between two */
};
enum { SIDE_MAX = 32000, PIXELS_MAX = 1 << 28 };        /* what viewers can open; 256 MB */
enum { HEADING_LINES = 3 };             /* of the model and the sentence; of a title that was given any number */

static int check_size(const struct attn_figure *f, struct attn_err *err)
{
    if (f->width <= SIDE_MAX && f->height <= SIDE_MAX && f->width * f->height <= PIXELS_MAX)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "a picture of %zu x %zu pixels is more than %d x %d or %d million: choose with "
                                       "--show, --layer and --head, or a smaller --cell", f->width, f->height, SIDE_MAX,
                     SIDE_MAX, PIXELS_MAX / 1000000);
}

/* ---- the heading ------------------------------------------------------------------------- */

static bool has_heading(const struct attn_look *look)
{
    return !look->title || *look->title;
}

static char *append(char *to, const char *from, size_t len, size_t most)
{
    size_t n = attn_utf8_valid(from, smaller(len, most));
    return mempcpy(to, from, n ? n : smaller(len, most));
}

/* The title, or the model and the sentence; more of them than has room is left out. */
static int make_heading(struct attn_figure *f, const struct attn_look *look, struct attn_err *err)
{
    const size_t most = 4096;           /* bytes of each */
    static const char looks[] = ", looking at: ";
    const struct attn_album *a = f->album;
    const char *model = a->model ? a->model : "";
    size_t title = look->title ? strlen(look->title) : 0;
    char *to = f->heading.s = malloc(title + 3 * most + sizeof looks + 2);
    if (!to)
        return attn_no_memory(err, NULL, "for a title");
    if (look->title)
        to = append(to, look->title, title, title);
    else
        to = append(to, model, strlen(model), most);
    if (!look->title && a->text) {
        to = append(to, ": ", a->model ? 2 : 0, 2);
        to = append(to, a->text, a->text_len, most);
    }
    if (!look->title && a->keys_text) {
        to = append(to, looks, sizeof looks - 1, sizeof looks);
        to = append(to, a->keys_text, a->keys_len, most);
    }
    f->heading.len = (size_t)(to - f->heading.s);
    f->heading.most = look->title ? SIZE_MAX : HEADING_LINES;
    return ATTN_OK;
}

static size_t heading_columns(const struct attn_figure *f)
{
    return (f->width - 2 * f->margin) / HEADING_LETTER;
}

/* What a heading of several lines takes more than one. */
static size_t further_lines(const struct attn_figure *f)
{
    size_t lines = attn_wrap_count(f->heading.s, f->heading.len, heading_columns(f), f->heading.most);
    return lines > 1 ? (lines - 1) * HEADING_NEXT : 0;
}

static void draw_heading(const struct attn_figure *f, const struct attn_pen *pen)
{
    struct attn_wrap rest = {f->heading.s, f->heading.len};
    /* Letters with accents have room above. */
    size_t y = f->margin < MARGIN ? f->margin + HEADING_LINE : MARGIN + HEADING_LETTER, line = 1;
    for (; rest.len; y += HEADING_NEXT, line++) {
        struct attn_label l = line < f->heading.most ? attn_wrap_next(&rest, heading_columns(f)) :
                              attn_wrap_last(&rest, heading_columns(f));
        pen->write(pen->self, &(struct attn_lettering){l.text, f->margin, y, HEADING_LETTER, ATTN_BEGINS, false});
    }
}

/* ---- where sections are -------------------------------------------------------------------- */

/* Whether maps of both are equal, so that they can stand in a row. */
static bool alike(const struct attn_section *a, const struct attn_section *b)
{
    return a->method == b->method && a->rows == b->rows && a->cols == b->cols;
}

/* Sections of equal matrices get equal cells: the smallest or, where something is written in them, the widest. */
static bool equalise(const struct attn_figure *f, const struct attn_section *s, struct attn_cell_size *equal)
{
    bool differ = false;
    *equal = (struct attn_cell_size){s->cell, s->wide};
    for (size_t i = 0; i < f->n; i++) {
        const struct attn_section *other = &f->section[i];
        if (!alike(s, other) || !s->cell || s->numbers != other->numbers)
            continue;
        differ |= other->cell != s->cell || other->wide != s->wide;
        equal->cell = smaller(equal->cell, other->cell);
        equal->wide = s->numbers ? larger(equal->wide, other->wide) : smaller(equal->wide, other->wide);
    }
    return differ;
}

static int plan_sections(struct attn_figure *f, const struct attn_look *look, struct attn_err *err)
{
    const struct attn_album *a = f->album;
    size_t limit = attn_look_limit(look), width = limit ? limit - 2 * f->margin : 0;
    struct attn_cell_size equal;
    int rc = ATTN_OK;
    f->n = 0;
    for (size_t i = 0; i < a->n && !rc; i++)
        if (attn_album_opens_kind(a, i))
            rc = attn_section_plan(&f->section[f->n++], a, &a->sheet[i], look, width, NULL, err);
    for (size_t i = 0; i < f->n && !rc; i++)
        if (equalise(f, &f->section[i], &equal))
            rc = attn_section_plan(&f->section[i], a, f->section[i].first, look, width, &equal, err);
    return rc;
}

/* Puts sections below each other, or beside each other where they are alike and have room.  Returns the height. */
static size_t place(struct attn_figure *f, size_t room)
{
    size_t x = 0, y = 0, high = 0;
    for (size_t i = 0; i < f->n; i++) {
        struct attn_section *s = &f->section[i];
        const struct attn_section *before = i ? s - 1 : NULL;
        bool beside = before && alike(before, s) && before->down == s->down && x + s->width <= room;
        if (before && !beside) {
            y += high + f->margin;
            x = high = 0;
        }
        s->x = x;
        s->y = y;
        x += s->width + ASIDE;
        high = larger(high, s->height);
        f->width = larger(f->width, s->x + s->width);
    }
    return y + high;
}

/* Sections in a row begin at the same height, whatever their titles take. */
static void level(struct attn_figure *f)
{
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->n; k++)
            if (f->section[k].y == f->section[i].y && f->section[k].head > f->section[i].head) {
                f->section[i].height += f->section[k].head - f->section[i].head;
                f->section[i].head = f->section[k].head;
            }
}

static int plan(struct attn_figure *f, const struct attn_look *look, struct attn_err *err)
{
    size_t limit = attn_look_limit(look), widest = 0;
    int rc = plan_sections(f, look, err);
    f->width = limit ? 0 : LEAST_WIDTH;
    f->palette[0] = f->palette[1] = NULL;
    f->top = has_heading(look) ? HEADING + f->margin / 2 : f->margin;
    for (size_t i = 0; i < f->n && !rc; i++) {
        const struct attn_section *s = &f->section[i];
        widest = larger(widest, s->width);
        f->largest = larger(f->largest, s->rows * larger(s->rows, s->cols));
        if (s->palette != f->palette[0])
            f->palette[f->palette[0] ? 1 : 0] = s->palette;
    }
    if (rc)
        return rc;
    size_t room = limit ? limit - 2 * f->margin : larger(widest, SHELF);
    place(f, room);
    level(f);
    size_t high = place(f, room);
    f->width = limit ? limit : f->width + 2 * f->margin;
    f->top += further_lines(f);
    f->height = f->top + high + f->margin;
    return ATTN_OK;
}

/* ---- pages --------------------------------------------------------------------------------- */

enum { PAGE = 257 };                    /* millimetres: A4 between margins of 20 */

static double height_on_paper(const struct attn_figure *f, const struct attn_look *look)
{
    return look->paper * (double)f->height / (double)f->width;
}

/* Where nobody chose a figure, matrices that would take more than a page get smaller: labels are fewer, then none. */
static int fit_page(struct attn_figure *f, const struct attn_look *look, struct attn_err *err)
{
    static const char *const done[] = {"labels are fewer", "it is drawn as --figure grid, without labels"};
    struct attn_look with = *look;
    struct attn_err ignored = {0};
    const double asked = height_on_paper(f, look);
    bool open = !look->figure && !look->columns && !look->cell;
    for (size_t i = 0; open && i < sizeof done / sizeof *done; i++) {
        with.dense = true;
        int rc = i ? attn_figure_find(&with.figure, "grid", err) : ATTN_OK;
        if (rc || plan(f, &with, &ignored) || height_on_paper(f, look) > PAGE)
            continue;
        attn_look_say(look, "with the labels of all tokens the figure would be %.0f mm high, and a page has room for "
                            "%d: %s; --figure heatmap has them all", asked, PAGE, done[i]);
        return ATTN_OK;
    }
    attn_look_say(look, "the figure is %.0f mm high, and a page of A4 has room for %d: choose fewer matrices with "
                        "--layer and --head%s", asked, PAGE, open || !strcmp(look->figure ? look->figure->name :
                                                                             "heatmap", "heatmap") ?
                  ", or --figure grid" : "");
    return plan(f, look, err);
}

int attn_figure_plan(struct attn_figure *f, const struct attn_album *a, const struct attn_look *look,
                     struct attn_err *err)
{
    size_t limit = attn_look_limit(look);
    *f = (struct attn_figure){.album = a, .title = look->title, .margin = limit ? NARROW : MARGIN};
    f->section = calloc(a->n ? a->n : 1, sizeof *f->section);
    if (!f->section)
        return attn_no_memory(err, NULL, "to arrange %zu activations", a->n);
    int rc = make_heading(f, look, err);
    if (!rc)
        rc = plan(f, look, err);
    if (!rc && limit && height_on_paper(f, look) > PAGE)
        rc = fit_page(f, look, err);
    for (size_t i = 0; i < f->n && !rc; i++)
        if (look->columns > f->section[i].across && look->columns <= f->section[i].sheets * f->section[i].matrices)
            attn_look_say(look, "--columns %zu: only %zu matrices fit beside each other at %g mm: there are so many in "
                                "a row; --figure grid has room for more", look->columns, f->section[i].across,
                          look->paper);
    return rc ? rc : check_size(f, err);
}

/* ---- drawing ------------------------------------------------------------------------------- */

static int draw_section(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                        struct attn_err *err)
{
    enum { FIRST_LINE = 16 };           /* pixels from the top of a section to the base line of its title */
    pen->use(pen->self, s->palette);
    attn_section_title(s, x, y + FIRST_LINE, pen);
    return s->method->draw(s, x, y, pen, steps, err);
}

int attn_figure_draw(const struct attn_figure *f, const struct attn_pen *pen, struct attn_err *err)
{
    uint8_t *steps = calloc(f->largest ? f->largest : 1, 1);
    int rc = steps ? ATTN_OK : attn_no_memory(err, NULL, "to draw a matrix of %zu numbers", f->largest);
    draw_heading(f, pen);
    for (size_t i = 0; i < f->n && !rc; i++)
        rc = draw_section(&f->section[i], f->margin + f->section[i].x, f->top + f->section[i].y, pen, steps, err);
    free(steps);
    return rc;
}

void attn_figure_free(struct attn_figure *f)
{
    free(f->section);
    free(f->heading.s);
}
