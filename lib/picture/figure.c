/* figure.c - draws the sections of a figure with a pen, below a heading. */
#include "picture/section.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"

/* ---- the legend below the matrices of a kind: what the colours mean, and how many numbers had none ---- */

enum { SWATCH = 10 };                   /* pixels */

/* Each colour reaches to the end and is drawn over by the next, so that there are no seams. */
static void draw_bar(size_t bar, size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t i = 0; i < bar; i++) {
        struct attn_area a = {x + i, y, bar - i, ATTN_LEGEND_THICK};
        pen->fill(pen->self, &a, (uint8_t)(i * (ATTN_STEPS - 1) / (bar - 1)));
    }
}

static void draw_ticks(const struct attn_scale *s, size_t bar, size_t x, size_t y, const struct attn_pen *pen)
{
    struct attn_tick tick[ATTN_TICKS_MAX];
    size_t n = attn_scale_ticks(tick, s);
    double free_from = -1e9;
    for (size_t i = 0; i < n; i++) {
        double at = tick[i].at * (double)(bar - 1), half = (double)(strlen(tick[i].text) * ATTN_LETTER) / 2;
        size_t tick_x = x + (size_t)lround(at);
        struct attn_area a = {tick_x, y, 1, ATTN_LEGEND_TICK};
        struct attn_lettering w = {tick[i].text, tick_x, y + ATTN_LEGEND_TICK + ATTN_LINE - 4, ATTN_LETTER, ATTN_MIDDLE,
                                   false};
        pen->fill(pen->self, &a, ATTN_INK);
        if (at - half < free_from)
            continue;
        pen->write(pen->self, &w);
        free_from = at + half + ATTN_LETTER;
    }
}

static void legend_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen)
{
    char text[96];
    int step;
    draw_bar(s->bar, x, y, pen);
    draw_ticks(&s->scale, s->bar, x, y + ATTN_LEGEND_THICK, pen);
    y += ATTN_LEGEND_THICK + ATTN_LEGEND_TICK + ATTN_LINE;
    for (size_t i = 0; attn_legend_line(&s->scale, i, text, &step); i++) {
        size_t indent = step < 0 ? 0 : SWATCH + 6, columns = s->legend - (step < 0 ? 0 : ATTN_LEGEND_INDENT);
        struct attn_area swatch = {x + 1, y + 4, SWATCH - 2, SWATCH - 2};
        if (step >= 0) {                /* on a border: it may be as white as paper */
            pen->fill(pen->self, &(struct attn_area){x, y + 3, SWATCH, SWATCH}, ATTN_PAPER + 4);
            pen->fill(pen->self, &swatch, (uint8_t)step);
        }
        for (char *line = text, *rest; line; line = rest, y += ATTN_LINE) {
            rest = attn_legend_piece(line, columns);
            struct attn_lettering w = {line, x + indent, y + ATTN_LINE - 4, ATTN_LETTER, ATTN_BEGINS, false};
            pen->write(pen->self, &w);
        }
    }
}

/* ---- a section ------------------------------------------------------------------------- */

enum {
    TITLE_LINE = 16,                    /* pixels: from the top of a section to the base line of its title, */
    BELOW_CENTER = 4,                   /* and from a label's middle down to its own */
    FRAME = ATTN_PAPER + 4
};

static void draw_left(const struct attn_section *s, size_t rows, size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t i = 0; i < rows; i += s->left.step) {
        struct attn_label l = attn_section_label(attn_album_rows(s->album, s->first), i, &s->left, ATTN_LEFT_MAX);
        size_t middle = y + i * s->cell + s->cell / 2;
        struct attn_lettering w = {l.text, x - ATTN_APART, middle + BELOW_CENTER, ATTN_LETTER, ATTN_ENDS, false};
        struct attn_area tick = {x - 1 - ATTN_TICK, middle, ATTN_TICK, 1};
        pen->write(pen->self, &w);
        if (s->left.step > 1)
            pen->fill(pen->self, &tick, ATTN_INK);
    }
}

static void draw_top(const struct attn_section *s, size_t cols, size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t j = 0; j < cols; j += s->top.step) {
        struct attn_label l = attn_section_label(attn_album_columns(s->album, s->first), j, &s->top, ATTN_TOP_MAX);
        size_t middle = x + j * s->wide + s->wide / 2;
        struct attn_lettering up = {l.text, middle + BELOW_CENTER, y - ATTN_APART, ATTN_LETTER, ATTN_BEGINS, true};
        struct attn_lettering flat = {l.text, middle, y - ATTN_APART, ATTN_LETTER, ATTN_MIDDLE, false};
        struct attn_area tick = {middle, y - 1 - ATTN_TICK, 1, ATTN_TICK};
        pen->write(pen->self, s->top.up ? &up : &flat);
        if (s->top.step > 1)
            pen->fill(pen->self, &tick, ATTN_INK);
    }
}

/* Writes the longest name that fits, or as much of the shortest as fits. */
static void draw_caption(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t x, size_t y,
                         const struct attn_pen *pen)
{
    char text[64];
    size_t k = 0, columns = (attn_section_pitch(s) - 2) / ATTN_LETTER;
    do
        attn_sheet_call(text, sheet, i, k);
    while (strlen(text) > columns && ++k < ATTN_BREVITIES);
    struct attn_label l = attn_label_line(text, strlen(text), columns);
    struct attn_lettering w = {l.text, x, y, ATTN_LETTER, ATTN_BEGINS, false};
    pen->write(pen->self, &w);
}

static void draw_frame(size_t x, size_t y, size_t width, size_t height, const struct attn_pen *pen)
{
    const struct attn_area sides[] = {
        {x - 1, y - 1, width + 2, 1}, {x - 1, y + height, width + 2, 1}, {x - 1, y, 1, height},
        {x + width, y, 1, height}};
    for (size_t i = 0; i < 4; i++)
        pen->fill(pen->self, &sides[i], FRAME);
}

static bool is_bright(const struct attn_palette *palette, uint8_t step)
{
    struct attn_rgb c = step < ATTN_STEPS ? attn_palette_color(palette, step)
                        : step == ATTN_STEP_NAN ? attn_palette_nan(palette) : attn_palette_blank(palette);
    return attn_is_bright(c);
}

/* The cells of matrix i, each with its word or number; hidden ones have none. */
static void draw_words(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t x, size_t y,
                       const struct attn_pen *pen, const uint8_t *steps)
{
    for (size_t cell = 0; cell < sheet->rows * sheet->cols; cell++) {
        struct attn_area a = {x + cell % sheet->cols * s->wide, y + cell / sheet->cols * s->cell, s->wide, s->cell};
        size_t nth = i * sheet->rows * sheet->cols + cell;
        char text[ATTN_NUM_FIXED_MAX];
        const char *word = sheet->words ? sheet->words[nth].text
                           : steps[cell] == ATTN_STEP_BLANK ? "" : attn_section_number(text, s, sheet->data[nth]);
        struct attn_lettering w = {word, a.x + a.width / 2, a.y + a.height / 2 + BELOW_CENTER, ATTN_LETTER, ATTN_MIDDLE,
                                   false};
        pen->fill(pen->self, &a, steps[cell]);
        pen->write_over(pen->self, &w, is_bright(s->palette, steps[cell]) ? ATTN_INK : ATTN_PAPER);
    }
}

static bool is_hidden(const struct attn_sheet *sheet, const uint8_t *steps, size_t r, size_t c)
{
    return steps[r * sheet->cols + c] == ATTN_STEP_BLANK;
}

/* Draws the border between what is seen and what the mask hides, which may have nearly the same colour as 0. */
static void draw_edges(const struct attn_section *s, const struct attn_sheet *sheet, size_t x, size_t y,
                       const struct attn_pen *pen, const uint8_t *steps)
{
    for (size_t r = 0; r < sheet->rows; r++) {
        for (size_t c = 1; c < sheet->cols; c++)
            if (is_hidden(sheet, steps, r, c) != is_hidden(sheet, steps, r, c - 1))
                pen->fill(pen->self, &(struct attn_area){x + c * s->wide, y + r * s->cell, 1, s->cell}, FRAME);
        for (size_t c = 0, n; r && c < sheet->cols; c += n) {
            bool border = is_hidden(sheet, steps, r, c) != is_hidden(sheet, steps, r - 1, c);
            for (n = 1; c + n < sheet->cols && border == (is_hidden(sheet, steps, r, c + n) !=
                                                         is_hidden(sheet, steps, r - 1, c + n)); n++)
                ;
            if (border)
                pen->fill(pen->self, &(struct attn_area){x + c * s->wide, y + r * s->cell, n * s->wide, 1}, FRAME);
        }
    }
}

/* Draws matrix i of a sheet as a panel at x, y. */
static int draw_panel(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t x, size_t y,
                      const struct attn_pen *pen, uint8_t *steps, struct attn_err *err)
{
    for (size_t r = 0; r < sheet->rows; r++)
        attn_scale_row(&s->scale, steps + r * sheet->cols, sheet, i * sheet->rows + r);
    struct attn_area area = {x, y, s->panel ? s->panel : sheet->cols * s->wide,
                             s->panel ? s->panel : sheet->rows * s->cell};
    draw_frame(x, y, area.width, area.height, pen);
    if (sheet->words || s->numbers) {
        draw_words(s, sheet, i, x, y, pen, steps);
        return ATTN_OK;
    }
    int rc = pen->cells(pen->self, &area, steps, sheet->rows, sheet->cols, err);
    if (s->panel == 0 && (s->scale.triangle || s->scale.hides))
        draw_edges(s, sheet, x, y, pen, steps);
    return rc;
}

/* Of a grid: a layer's name beside its row, a head's above its column; or above each panel the shortest name. */
static void draw_grid_names(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t nth,
                            size_t x, size_t y, const struct attn_pen *pen)
{
    char text[64];
    size_t room = s->panel / ATTN_LETTER;
    if (s->table && nth % s->across == 0) {
        snprintf(text, sizeof text, "L%d", sheet->layer);
        pen->write(pen->self, &(struct attn_lettering){text, x - ATTN_APART, y + s->panel / 2 + BELOW_CENTER,
                                                       ATTN_LETTER, ATTN_ENDS, false});
    }
    if (s->table && nth >= s->across)
        return;
    if (s->table && sheet->heads && sheet->heads[i] != ATTN_NO_HEAD)
        snprintf(text, sizeof text, room < 3 ? "%zu" : "H%zu", sheet->heads[i]);
    else
        attn_sheet_call(text, sheet, i, ATTN_BREVITIES - 2);
    struct attn_label l = attn_label_line(text, strlen(text), larger(room, 1));
    pen->write(pen->self, &(struct attn_lettering){l.text, x + s->panel / 2, y - ATTN_APART / 2 - 1, ATTN_LETTER,
                                                   ATTN_MIDDLE, false});
}

static int draw_at(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t nth, size_t x,
                   size_t y, const struct attn_pen *pen, uint8_t *steps, struct attn_err *err)
{
    size_t column = nth % s->across, row = nth / s->across, caption = attn_section_caption(s);
    size_t px = x + s->left.margin + column * attn_section_pitch(s);
    size_t py = y + ATTN_TITLE + s->top.margin + caption + row * (caption + attn_section_down(s));
    if (s->panel) {
        draw_grid_names(s, sheet, i, nth, px, py, pen);
        return draw_panel(s, sheet, i, px, py, pen, steps, err);
    }
    if (caption)
        draw_caption(s, sheet, i, px, py - (row ? 0 : s->top.margin) - ATTN_APART, pen);
    if (column == 0)
        draw_left(s, sheet->rows, px, py, pen);
    if (row == 0)
        draw_top(s, sheet->cols, px, py, pen);
    return draw_panel(s, sheet, i, px, py, pen, steps, err);
}

static int draw_section(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                        struct attn_err *err)
{
    size_t row = 0, nth = 0;
    int rc = ATTN_OK;
    struct attn_lettering title = {s->title, x, y + TITLE_LINE, ATTN_TITLE_LETTER, ATTN_BEGINS, false};
    pen->use(pen->self, s->palette);
    pen->write(pen->self, &title);
    if (s->figure == ATTN_FIGURE_LINES)
        return attn_lines_draw(s, x, y, pen, steps, err);
    if (s->figure == ATTN_FIGURE_WORDS)
        attn_words_draw(s, x, y, pen, steps);
    for (const struct attn_sheet *sheet = s->first; sheet && !rc && s->figure != ATTN_FIGURE_WORDS;
         sheet = attn_album_next_sheet(s->album, sheet)) {
        for (size_t i = 0; i < sheet->n && !rc; i++)
            rc = draw_at(s, sheet, i, nth++, x, y, pen, steps, err);
        row++;
        if (s->table)                   /* a layer with fewer heads leaves the end of its row empty */
            nth = larger(nth, row * s->matrices);
    }
    legend_draw(s, x + s->indent, y + s->height - attn_legend_height(s), pen);
    return rc;
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
