/* section.c - what all kinds of figures have in common: the matrices of a kind of activation, their colours, labels,
 * title and legend; each kind plans the rest (figures.c). */
#include "picture/section.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "picture/wrap.h"

enum {                                  /* pixels */
    CAPTION = 18,                       /* of a panel */
    LEAST_PITCH = 13,                   /* labels closer than this would touch */
    BAR = 240, BAR_LEAST = 120, BESIDE_BAR = 20,
    TITLE_ROOM = 560, LEGEND_ROOM = 400 /* where nothing is wider */
};
enum { LEGEND_LEAST = 12 };             /* columns of its lines */

/* ---- labels ---------------------------------------------------------------------------- */

struct attn_label attn_section_label(const struct attn_tokens *tokens, size_t i, const struct attn_axis *axis,
                                     size_t columns)
{
    if (!tokens || i >= tokens->n)
        return attn_label_number(i);
    struct attn_label token = attn_label_token(&tokens->tok[i], columns), all = {.columns = 0};
    if (axis->step == 1)
        return token;
    snprintf(all.text, sizeof all.text, "%zu %.170s", i, token.text);
    all.bytes = strlen(all.text);
    return all;
}

static size_t letters_of(const struct attn_label *l)
{
    return attn_utf8_width(l->text, strlen(l->text));
}

/* The first of 1, 2, 5, 10, 20... that keeps labels apart. */
static size_t step_for(size_t cell)
{
    static const size_t factors[] = {1, 2, 5};
    for (size_t ten = 1;; ten *= 10)
        for (size_t i = 0; i < 3; i++)
            if (cell * ten * factors[i] >= LEAST_PITCH)
                return ten * factors[i];
}

struct attn_axis attn_section_axis(const struct attn_tokens *tokens, size_t n, size_t cell, size_t columns,
                                   bool top)
{
    struct attn_axis axis = {.step = step_for(cell)};
    size_t widest = 1;
    for (size_t i = 0; i < n; i += axis.step) {
        struct attn_label l = attn_section_label(tokens, i, &axis, columns);
        widest = larger(widest, letters_of(&l));
    }
    axis.up = top && (axis.step > 1 || widest * ATTN_LETTER + ATTN_APART > cell);
    axis.margin = top && !axis.up ? ATTN_LINE : widest * ATTN_LETTER + ATTN_APART + ATTN_TICK;
    return axis;
}

/* ---- names ----------------------------------------------------------------------------- */

/* What the section before says of its rows and columns is not said again. */
static bool said_before(const struct attn_section *s, const char *axes)
{
    const struct attn_sheet *before = NULL;
    for (size_t i = 0; i < s->album->n && &s->album->sheet[i] != s->first; i++)
        if (attn_album_opens_kind(s->album, i))
            before = &s->album->sheet[i];
    return before && before->axes && !strcmp(before->axes, axes);
}

void attn_section_name(struct attn_section *s, const char *axes)
{
    char text[256], where[64] = "", edits[ATTN_ALBUM_EDITS];
    if (s->sheets * s->matrices == 1)
        attn_sheet_call(where, s->first, 0, 0);
    snprintf(text, sizeof text, "%s%s%.160s", where, *where ? ": " : "", s->first->title);
    struct attn_label l = attn_label_line(text, strlen(text), 160);
    attn_album_edits(edits, s->album);
    snprintf(s->title, sizeof s->title, "%s%s%s", l.text, edits, said_before(s, axes) ? "" : axes);
}

enum { TITLE_LINES = 4, TITLE_NEXT = 17 };      /* at most; pixels from one to the next */

/* Returns the pixels of the widest line of the title. */
static size_t break_title(struct attn_section *s)
{
    struct attn_wrap rest = {s->title, strlen(s->title)};
    size_t widest = 0, lines = 0;
    for (; rest.len && lines < TITLE_LINES; lines++) {
        struct attn_label l = attn_wrap_next(&rest, s->columns);
        widest = larger(widest, l.columns);
    }
    s->head = ATTN_TITLE + (larger(lines, 1) - 1) * TITLE_NEXT;
    return widest * ATTN_TITLE_LETTER;
}

void attn_section_title(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen)
{
    struct attn_wrap rest = {s->title, strlen(s->title)};
    for (size_t line = 1; rest.len; line++, y += TITLE_NEXT) {
        struct attn_label l = line < TITLE_LINES ? attn_wrap_next(&rest, s->columns) :
                              attn_wrap_last(&rest, s->columns);
        pen->write(pen->self, &(struct attn_lettering){l.text, x, y, ATTN_TITLE_LETTER, ATTN_BEGINS, false});
    }
}

/* ---- where things are ------------------------------------------------------------------ */

static void count_sheets(struct attn_section *s)
{
    for (const struct attn_sheet *sheet = s->first; sheet; sheet = attn_album_next_sheet(s->album, sheet)) {
        s->sheets++;
        s->matrices = larger(s->matrices, sheet->n);
        s->rows = larger(s->rows, sheet->rows);
        s->cols = larger(s->cols, sheet->cols);
    }
}

/* As many as are looked at together, in rows of equal length where that can be; of wide matrices those that fit. */
static size_t choose_across(const struct attn_section *s, size_t n)
{
    enum { WIDE = 1200, WIDE_CELL = 28, FEW = 4 };
    size_t across = s->cols > 3 * s->rows ? larger(WIDE / (s->cols * WIDE_CELL + ATTN_BETWEEN), 1) : FEW;
    while (s->cols <= 3 * s->rows && across * across < n)
        across++;
    across = smaller(across, larger(n, 1));
    return parts_of(n, larger(parts_of(n, across), 1));
}

void attn_section_arrange(struct attn_section *s, const struct attn_look *look)
{
    size_t n = s->sheets * s->matrices;
    s->table = s->sheets > 1 && s->matrices > 1 && (!look->columns || look->columns == s->matrices);
    s->across = s->table ? s->matrices : look->columns ? smaller(look->columns, n) : choose_across(s, n);
    s->across = larger(s->across, 1);
    s->down = parts_of(n, s->across);
}

/* ---- words and numbers in cells ---- */

const char *attn_section_number(char text[ATTN_NUM_FIXED_MAX], const struct attn_section *s, float x)
{
    if (s->exponents && x != 0 && isfinite(x))
        attn_snprintf(text, ATTN_NUM_FIXED_MAX, "%.1e", (double)x);
    else
        text[attn_num_fixed(text, (double)x, s->digits)] = '\0';
    return text;
}

size_t attn_section_caption(const struct attn_section *s)
{
    return s->across * s->down > 1 && !(s->panel && s->table) ? CAPTION : 0;
}

size_t attn_section_down(const struct attn_section *s)
{
    return s->panel ? s->panel + ATTN_GRID_BETWEEN : s->rows * s->cell + ATTN_BETWEEN;
}

size_t attn_section_pitch(const struct attn_section *s)
{
    return s->panel ? s->panel + ATTN_GRID_BETWEEN : larger(s->cols * s->wide, s->name) + ATTN_BETWEEN;
}

size_t attn_section_panels(const struct attn_section *s)
{
    return s->left.margin + s->across * attn_section_pitch(s) - ATTN_BETWEEN;
}

/* The bar is as wide as what is above it, within limits, and its first number does not stand out to the left. */
void attn_section_frame(struct attn_section *s, size_t inner, size_t body, size_t width)
{
    size_t room = width ? width : larger(inner, TITLE_ROOM), beside = larger(inner, s->indent) - s->indent;
    if (width && width < s->indent + BAR_LEAST + BESIDE_BAR)
        s->indent = 0;
    if (width && !(s->method->flags & ATTN_FIGURE_NO_LEGEND))
        s->indent = larger(s->indent, smaller((size_t)2 * ATTN_LETTER, width / 4));
    s->bar = smaller(BAR, larger(beside, BAR_LEAST));
    if (width)
        s->bar = larger(smaller(s->bar, width - smaller(width, s->indent + BESIDE_BAR)), 2);
    s->columns = larger(room / ATTN_TITLE_LETTER, 1);
    s->legend = larger(((width ? width : larger(inner, LEGEND_ROOM)) - s->indent) / ATTN_LETTER, LEGEND_LEAST);
    size_t title = break_title(s);
    s->width = larger(larger(inner, title), s->method->flags & ATTN_FIGURE_NO_LEGEND ? 0 :
                      s->indent + larger(s->bar + BESIDE_BAR, attn_legend_width(s)));
    s->height = s->head + body + (s->method->flags & ATTN_FIGURE_NO_LEGEND ? 0 : attn_legend_height(s));
}

int attn_section_plan(struct attn_section *s, const struct attn_album *a, const struct attn_sheet *first,
                      const struct attn_look *look, size_t width, const struct attn_cell_size *equal,
                      struct attn_err *err)
{
    *s = (struct attn_section){.album = a, .first = first, .method = look->figure};
    if (equal)
        s->equal = *equal;
    int rc = look->figure ? ATTN_OK : attn_figure_find(&s->method, NULL, err);
    if (rc)
        return rc;
    count_sheets(s);
    s->palette = attn_scale_choose(&s->scale, a, first, look, true);
    return s->method->plan(s, look, width, err);
}
