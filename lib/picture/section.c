/* section.c - what all kinds of figures have in common: the matrices of a kind of activation, their colours, labels,
 * title and legend; each kind plans the rest (figures.c). */
#include "picture/section.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "text/label.h"

enum {                                  /* pixels */
    CAPTION = 18,                       /* of a panel */
    LEAST_PITCH = 13,                   /* labels closer than this would touch */
    BAR = 240, BESIDE_BAR = 20
};
enum { LEGEND_LEAST = 12, LEGEND_ANY = 1000 };          /* columns of its lines */

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

void attn_section_name(struct attn_section *s)
{
    char text[256], where[64] = "", edits[ATTN_ALBUM_EDITS];
    if (s->across * s->down == 1)
        attn_sheet_call(where, s->first, 0, 0);
    snprintf(text, sizeof text, "%s%s%.160s", where, *where ? ": " : "", s->first->title);
    struct attn_label l = attn_label_line(text, strlen(text), 160);
    attn_album_edits(edits, s->album);
    snprintf(s->title, sizeof s->title, "%s%s%s", l.text, edits, s->first->axes);
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

void attn_section_arrange(struct attn_section *s, const struct attn_look *look)
{
    size_t n = s->sheets * s->matrices;
    bool wide = s->cols > 3 * s->rows;
    s->table = s->sheets > 1 && s->matrices > 1 && (!look->columns || look->columns == s->matrices);
    s->across = s->table ? s->matrices : look->columns ? smaller(look->columns, n) : wide ? 1 :
                larger(smaller(n, 4), 1);
    while (!s->table && !look->columns && !wide && s->across * s->across < n)
        s->across++;
    s->down = parts_of(n, larger(s->across, 1));
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

/* Cuts the title to a width: first what is said of the axes. */
static void shorten_title(struct attn_section *s, size_t width)
{
    char text[sizeof s->title];
    size_t columns = width / ATTN_TITLE_LETTER, axes = strlen(s->first->axes);
    if (attn_utf8_width(s->title, strlen(s->title)) > columns)
        s->title[strlen(s->title) - axes] = '\0';
    strcpy(text, s->title);
    struct attn_label l = attn_label_line(text, strlen(text), columns);
    snprintf(s->title, sizeof s->title, "%s", l.text);
}

void attn_section_legend(struct attn_section *s, size_t width)
{
    s->legend = width ? larger(width / ATTN_LETTER, LEGEND_LEAST) : LEGEND_ANY;
    if (width) {
        shorten_title(s, width);
        s->indent = 0;
        s->bar = smaller(BAR, larger(width, BESIDE_BAR + 2) - BESIDE_BAR);
    }
}

/* The palette, where nobody chose one, follows from the signs of the numbers. */
static void choose_colors(struct attn_section *s, const struct attn_look *look)
{
    struct attn_look with = *look;
    if ((s->method->flags & ATTN_FIGURE_ONE_ROW) && look->scaling == ATTN_COLOR_AUTO)
        with.scaling = ATTN_COLOR_BY_ROW;
    with.palette = look->chosen ? look->palette : attn_palette_light(false);
    attn_scale_make(&s->scale, s->album, s->first, &with);
    if (!look->chosen && attn_scale_value(&s->scale, 0) < 0 && attn_scale_value(&s->scale, ATTN_STEPS - 1) > 0) {
        with.palette = attn_palette_light(true);
        attn_scale_make(&s->scale, s->album, s->first, &with);
    }
    s->palette = with.palette;
}

int attn_section_plan(struct attn_section *s, const struct attn_album *a, const struct attn_sheet *first,
                      const struct attn_look *look, size_t width, struct attn_err *err)
{
    *s = (struct attn_section){.album = a, .first = first, .method = look->figure, .bar = BAR};
    int rc = look->figure ? ATTN_OK : attn_figure_find(&s->method, NULL, err);
    if (rc)
        return rc;
    count_sheets(s);
    choose_colors(s, look);
    return s->method->plan(s, look, width, err);
}

int attn_section_weights(const struct attn_section *s, struct attn_err *err)
{
    const struct attn_tokens *rows = attn_album_rows(s->album, s->first);
    const struct attn_tokens *columns = attn_album_columns(s->album, s->first);
    if (rows && columns && rows->n == s->rows && columns->n == s->cols && attn_scale_value(&s->scale, 0) >= 0)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "%s: a figure of %s shows weights from tokens to tokens, none below 0: "
                                       "--show pattern", s->first->title, s->method->name);
}
