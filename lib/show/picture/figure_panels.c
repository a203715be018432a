/* figure_panels.c - draws the matrices of a section as panels: labels, captions, cells with their colours, words and
 * numbers, the border of what a mask hides. */
#include "picture/section.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "text/label.h"

enum {
    BELOW_CENTER = 4,                   /* pixels from a label's middle down to its base line */
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
        const char *word = sheet->words ? (s->brief ? sheet->brief : sheet->words)[nth].text
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
    if (s->panel == 0 && s->scale.masked)
        draw_edges(s, sheet, x, y, pen, steps);
    return rc;
}

int attn_panel_draw(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t x, size_t y,
                    const struct attn_pen *pen, uint8_t *steps, struct attn_err *err)
{
    draw_left(s, sheet->rows, x, y, pen);
    draw_top(s, sheet->cols, x, y, pen);
    return draw_panel(s, sheet, i, x, y, pen, steps, err);
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
    size_t py = y + s->head + s->top.margin + caption + row * (caption + attn_section_down(s));
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

int attn_panels_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                     struct attn_err *err)
{
    size_t row = 0, nth = 0;
    int rc = ATTN_OK;
    for (const struct attn_sheet *sheet = s->first; sheet && !rc; sheet = attn_album_next_sheet(s->album, sheet)) {
        for (size_t i = 0; i < sheet->n && !rc; i++)
            rc = draw_at(s, sheet, i, nth++, x, y, pen, steps, err);
        row++;
        if (s->table)                   /* a layer with fewer heads leaves the end of its row empty */
            nth = larger(nth, row * s->matrices);
    }
    attn_legend_draw(s, x + s->indent, y + s->height - attn_legend_height(s), pen);
    return rc;
}
