/* figure_heatmap.c - plans heat maps: how matrices stand beside each other, how large their cells are.
 *
 * A width on paper decides the arrangement; without one, what can be looked at on a screen does. */
#include "picture/section.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"

enum {                                  /* pixels */
    LEAST_PITCH = 13, LEAST_SEEN = 4,   /* of cells: so that each has a label, so that they are seen */
    WORD_LINE = 20                      /* of a cell with a word */
};
enum { NUMBERS_MOST = 10000 };          /* written in cells */

/* Rounded up, so that a larger matrix is never a smaller picture. */
static size_t choose_cell(const struct attn_section *s, const struct attn_look *look)
{
    bool alone = s->across * s->down == 1;
    size_t height = alone ? 640 : 280, width = alone ? 1400 : 1600, most = alone ? 56 : 28;
    size_t cell = smaller(parts_of(height, larger(s->rows, 1)), parts_of(width, larger(s->across * s->cols, 1)));
    return look->cell ? look->cell : s->equal.cell ? s->equal.cell : larger(smaller(cell, most), 1);
}

/* What the names above narrow panels take; where a panel has a layer and a head, they are written shorter instead. */
static size_t longest_name(const struct attn_section *s)
{
    size_t longest = 0;
    for (const struct attn_sheet *sheet = s->first; sheet; sheet = attn_album_next_sheet(s->album, sheet))
        longest = larger(longest, sheet->name ? attn_utf8_width(sheet->name, strlen(sheet->name)) : 0);
    return s->across * s->down > 1 ? longest * ATTN_LETTER : 0;
}

/* ---- words and numbers in cells ---- */

static size_t letters_of(const struct attn_label *l)
{
    return attn_utf8_width(l->text, strlen(l->text));
}

static void choose_digits(struct attn_section *s)
{
    double most = 0;
    for (const struct attn_sheet *sheet = s->first; sheet; sheet = attn_album_next_sheet(s->album, sheet))
        for (size_t i = 0; i < sheet->n * sheet->rows * sheet->cols; i++)
            if (isfinite(sheet->data[i]))
                most = fmax(most, fabs((double)sheet->data[i]));
    s->exponents = most >= 1e6 || (most > 0 && most < 1e-3);
    s->digits = s->exponents || most >= 100 ? 0 : most >= 10 ? 1 : most >= 0.05 || most == 0 ? 2 : 4;
}

static void make_room_for_words(struct attn_section *s, const struct attn_look *look)
{
    char text[ATTN_NUM_FIXED_MAX];
    s->cell = look->cell ? look->cell : WORD_LINE;
    s->wide = larger(s->cell, s->equal.wide);
    for (const struct attn_sheet *sheet = s->first; sheet; sheet = attn_album_next_sheet(s->album, sheet))
        for (size_t i = 0; i < sheet->n * sheet->rows * sheet->cols; i++)
            s->wide = larger(s->wide, (sheet->words ? letters_of(&(s->brief ? sheet->brief : sheet->words)[i])
                                                    : strlen(attn_section_number(text, s, sheet->data[i]))) *
                             ATTN_LETTER + ATTN_APART);
}

/* ---- a width on paper ---- */

static void plan_axes(struct attn_section *s)
{
    s->left = attn_section_axis(attn_album_rows(s->album, s->first), s->rows, s->cell, ATTN_LEFT_MAX, false);
    s->top = attn_section_axis(attn_album_columns(s->album, s->first), s->cols, s->wide, ATTN_TOP_MAX, true);
}

/* Finds the largest cells, of `least` or more, with which the panels are at most `most` wide; fewer of them may then
 * be side by side. */
static bool find_cells(struct attn_section *s, size_t least, size_t most)
{
    enum { LARGEST = 40 };
    for (; s->across; s->across--)
        for (size_t cell = LARGEST; cell >= least; cell--) {
            s->wide = s->cell = cell;
            plan_axes(s);
            if (attn_section_panels(s) <= most)
                return true;
        }
    return false;
}

static bool find_across(struct attn_section *s, size_t most)
{
    for (; s->across; s->across--) {
        plan_axes(s);
        if (attn_section_panels(s) <= most)
            return true;
    }
    return false;
}

/* Fits the panels into a width: so that all labels have room, else so that cells can be seen, else somehow. */
static int fit_panels(struct attn_section *s, const struct attn_look *look, size_t most, struct attn_err *err)
{
    const size_t least[] = {LEAST_PITCH, LEAST_SEEN, 1};
    size_t across = s->across;
    bool found = false, written = s->first->words || s->numbers || look->cell || s->equal.cell;
    if (written)
        found = find_across(s, most);
    else
        for (size_t i = look->dense; i < sizeof least / sizeof *least && !found; i++) {
            s->across = look->columns || i < 2 ? across : 1;
            found = find_cells(s, least[i], most);
        }
    if (!found)
        return attn_fail(err, ATTN_EUSAGE, "%s: %zu keys or columns do not fit a width of %g mm: choose a larger "
                                           "--width%s a smaller --font-size%s", s->first->title, s->cols, look->paper,
                         look->numbers ? "," : " or", look->numbers ? ", or no --annotate" : "");
    s->table = s->table && s->across == s->matrices;
    s->down = parts_of(s->sheets * s->matrices, s->across);
    if (look->columns || s->table || s->across == parts_of(s->sheets * s->matrices, s->down))
        return ATTN_OK;
    s->across = parts_of(s->sheets * s->matrices, s->down);     /* rows of equal length, with larger cells */
    if (!written)
        find_cells(s, 1, most);
    return ATTN_OK;
}

/* Numbers that nobody asked for are written where they are few and have room, words else without them. */
static int fit(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    s->cell = s->wide = choose_cell(s, look);
    if (s->first->words || s->numbers)
        make_room_for_words(s, look);
    s->name = width ? 0 : longest_name(s);
    size_t across = s->across;
    int rc = width ? fit_panels(s, look, width, err) : ATTN_OK;
    bool shorter = s->first->brief && !s->brief;
    if (!rc || ((!s->numbers || look->numbers) && !shorter))
        return rc;
    s->numbers = false;
    s->brief = shorter;
    s->across = across;
    return fit(s, look, width, err);
}

static bool few_numbers(const struct attn_album *a)
{
    enum { FEW = 300 };
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        n += a->sheet[i].numbered ? a->sheet[i].n * a->sheet[i].rows * a->sheet[i].cols : 0;
    return n > 0 && n <= FEW;
}

int attn_heatmap_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    attn_section_arrange(s, look);
    attn_section_name(s, s->first->axes);
    s->numbers = !s->first->words && (look->numbers || (s->first->numbered && few_numbers(s->album)));
    if (s->numbers && s->sheets * s->matrices * s->rows * s->cols > NUMBERS_MOST)
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: more than %d numbers cannot be read in a picture: leave --annotate out, or choose with "
                         "--layer and --head", s->first->title, NUMBERS_MOST);
    choose_digits(s);
    int rc = fit(s, look, width, err);
    if (rc)
        return rc;
    plan_axes(s);
    s->indent = s->left.margin;
    attn_section_frame(s, attn_section_panels(s), s->top.margin + s->down *
                       (attn_section_caption(s) + s->rows * s->cell + ATTN_BETWEEN), width);
    return ATTN_OK;
}
