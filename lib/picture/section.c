/* section.c - where everything of a section is: how matrices stand beside each other, how large their cells are, which
 * labels fit.
 *
 * A width on paper decides the arrangement; without one, what can be looked at on a screen does. */
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
    LEAST_PITCH = 13, LEAST_SEEN = 4,   /* labels closer than this would touch; cells */
    BAR = 240, BESIDE_BAR = 20, LEGEND_WIDTH = 300,
    WORD_LINE = 20,                     /* of a cell with a word */
    GRID_BETWEEN = 4, GRID_NAME = 28, GRID_WIDTH = 760, GRID_LEAST = 12, GRID_MOST = 160
};
enum { LEGEND_LEAST = 12, LEGEND_ANY = 1000 };          /* columns of its lines */
enum { NUMBERS_MOST = 10000 };          /* written in cells */

/* ---- the legend -------------------------------------------------------------------------- */

char *attn_legend_piece(char *text, size_t columns)
{
    size_t end = columns;
    if (strlen(text) <= columns)
        return NULL;
    while (end > 0 && text[end] != ' ')
        end--;
    if (!end)
        return NULL;                    /* a word longer than a line */
    text[end] = '\0';
    return text + end + 1;
}

size_t attn_legend_height(const struct attn_section *s)
{
    char text[96];
    int step;
    size_t lines = 0;
    for (size_t i = 0; attn_legend_line(&s->scale, i, text, &step); i++)
        for (char *rest = text; rest; rest = attn_legend_piece(rest, s->legend - (step >= 0 ? ATTN_LEGEND_INDENT : 0)))
            lines++;
    return ATTN_LEGEND_THICK + ATTN_LEGEND_TICK + ATTN_LINE + lines * ATTN_LINE + ATTN_LINE / 2;
}

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

static size_t letters(const struct attn_label *l)
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

static struct attn_axis plan_axis(const struct attn_tokens *tokens, size_t n, size_t cell, size_t columns, bool top)
{
    struct attn_axis axis = {.step = step_for(cell)};
    size_t widest = 1;
    for (size_t i = 0; i < n; i += axis.step) {
        struct attn_label l = attn_section_label(tokens, i, &axis, columns);
        widest = larger(widest, letters(&l));
    }
    axis.up = top && (axis.step > 1 || widest * ATTN_LETTER + ATTN_APART > cell);
    axis.margin = top && !axis.up ? ATTN_LINE : widest * ATTN_LETTER + ATTN_APART + ATTN_TICK;
    return axis;
}

/* ---- names ----------------------------------------------------------------------------- */

static void name_section(struct attn_section *s)
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

static void arrange(struct attn_section *s, const struct attn_look *look)
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

static size_t choose_cell(const struct attn_section *s, const struct attn_look *look)
{
    bool alone = s->across * s->down == 1;
    size_t height = alone ? 640 : 280, width = alone ? 1400 : 1600, most = alone ? 56 : 28;
    /* Rounded up, so that a larger matrix is never a smaller picture. */
    size_t cell = smaller(parts_of(height, larger(s->rows, 1)), width / larger(s->across * s->cols, 1));
    return look->cell ? look->cell : larger(smaller(cell, most), 1);
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

const char *attn_section_number(char text[ATTN_NUM_FIXED_MAX], const struct attn_section *s, float x)
{
    if (s->exponents && x != 0 && isfinite(x))
        attn_snprintf(text, ATTN_NUM_FIXED_MAX, "%.1e", (double)x);
    else
        text[attn_num_fixed(text, (double)x, s->digits)] = '\0';
    return text;
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
    s->wide = s->cell;
    for (const struct attn_sheet *sheet = s->first; sheet; sheet = attn_album_next_sheet(s->album, sheet))
        for (size_t i = 0; i < sheet->n * sheet->rows * sheet->cols; i++)
            s->wide = larger(s->wide, (sheet->words ? letters(&sheet->words[i])
                                                    : strlen(attn_section_number(text, s, sheet->data[i]))) *
                             ATTN_LETTER + ATTN_APART);
}

size_t attn_section_caption(const struct attn_section *s)
{
    return s->across * s->down > 1 && !(s->panel && s->table) ? CAPTION : 0;
}

size_t attn_section_down(const struct attn_section *s)
{
    return s->panel ? s->panel + GRID_BETWEEN : s->rows * s->cell + ATTN_BETWEEN;
}

size_t attn_section_pitch(const struct attn_section *s)
{
    return s->panel ? s->panel + GRID_BETWEEN : larger(s->cols * s->wide, s->name) + ATTN_BETWEEN;
}

static size_t panels_width(const struct attn_section *s)
{
    return s->left.margin + s->across * attn_section_pitch(s) - ATTN_BETWEEN;
}

static void plan_axes(struct attn_section *s)
{
    s->left = plan_axis(attn_album_rows(s->album, s->first), s->rows, s->cell, ATTN_LEFT_MAX, false);
    s->top = plan_axis(attn_album_columns(s->album, s->first), s->cols, s->wide, ATTN_TOP_MAX, true);
}

/* Finds the largest cells of at least `least` with which the panels, fewer beside each other if need be, are no wider
 * than `most`. */
static bool find_cells(struct attn_section *s, size_t least, size_t most)
{
    enum { LARGEST = 40 };
    for (; s->across; s->across--)
        for (size_t cell = LARGEST; cell >= least; cell--) {
            s->wide = s->cell = cell;
            plan_axes(s);
            if (panels_width(s) <= most)
                return true;
        }
    return false;
}

static bool find_across(struct attn_section *s, size_t most)
{
    for (; s->across; s->across--) {
        plan_axes(s);
        if (panels_width(s) <= most)
            return true;
    }
    return false;
}

/* Fits the panels into a width: so that all labels have room, else so that cells can be seen, else somehow. */
static int fit_panels(struct attn_section *s, const struct attn_look *look, size_t most, struct attn_err *err)
{
    const size_t least[] = {LEAST_PITCH, LEAST_SEEN, 1};
    size_t across = s->across;
    bool found = false;
    if (s->first->words || s->numbers || look->cell)
        found = find_across(s, most);
    else
        for (size_t i = 0; i < sizeof least / sizeof *least && !found; i++) {
            s->across = look->columns || i < 2 ? across : 1;
            found = find_cells(s, least[i], most);
        }
    if (!found)
        return attn_fail(err, ATTN_EUSAGE, "%s: %zu keys or columns do not fit a width of %g mm: choose a larger "
                                           "--width, a smaller --font-size%s", s->first->title, s->cols, look->paper,
                         look->numbers ? ", or no --annotate" :
                         "");
    s->table = s->table && s->across == s->matrices;
    s->down = parts_of(s->sheets * s->matrices, s->across);
    return ATTN_OK;
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

static void add_legend(struct attn_section *s, size_t width)
{
    s->legend = width ? larger(width / ATTN_LETTER, LEGEND_LEAST) : LEGEND_ANY;
    if (width) {
        shorten_title(s, width);
        s->indent = 0;
        s->bar = smaller(BAR, larger(width, BESIDE_BAR + 2) - BESIDE_BAR);
    }
}

/* Panels of one size, as large as they fit beside each other. */
static int plan_grid(struct attn_section *s, size_t width, struct attn_err *err)
{
    size_t room = (width ? width : GRID_WIDTH) - (s->table ? GRID_NAME : 0), each = room / larger(s->across, 1);
    s->left.margin = s->table ? GRID_NAME : 0;
    s->top.margin = s->table ? ATTN_LINE : 0;
    if (each < GRID_LEAST + GRID_BETWEEN)
        return attn_fail(err, ATTN_EUSAGE, "%s: %zu panels do not fit beside each other in a grid: choose fewer with "
                                           "--columns, --layer and --head, or a larger --width", s->first->title,
                         s->across);
    s->panel = smaller(each - GRID_BETWEEN, GRID_MOST);
    add_legend(s, width);
    s->width = larger(panels_width(s), larger(s->indent + LEGEND_WIDTH,
                                              attn_utf8_width(s->title, strlen(s->title)) * ATTN_TITLE_LETTER));
    s->height = ATTN_TITLE + s->top.margin + s->down * (attn_section_caption(s) + attn_section_down(s)) +
                ATTN_BETWEEN + attn_legend_height(s);
    return ATTN_OK;
}

static int plan_other(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    bool lines = look->figure == ATTN_FIGURE_LINES;
    const struct attn_tokens *rows = attn_album_rows(s->album, s->first);
    const struct attn_tokens *columns = attn_album_columns(s->album, s->first);
    if (!rows || !columns || rows->n != s->rows || columns->n != s->cols || attn_scale_value(&s->scale, 0) < 0)
        return attn_fail(err, ATTN_EUSAGE, "%s: a figure of %s shows weights from tokens to tokens, none below 0: "
                                           "--show pattern", s->first->title, lines ? "lines" : "words");
    int rc = attn_section_query(s, look->query, lines ? SIZE_MAX : s->rows - 1, err);
    add_legend(s, width);
    return rc ? rc : lines ? attn_lines_plan(s, width, err) : attn_words_plan(s, width, err);
}

int attn_section_plan(struct attn_section *s, const struct attn_album *a, const struct attn_sheet *first,
                      const struct attn_look *look, size_t width, struct attn_err *err)
{
    struct attn_look with = *look;
    *s = (struct attn_section){.album = a, .first = first, .figure = look->figure, .bar = BAR};
    count_sheets(s);
    arrange(s, look);
    name_section(s);
    if (look->figure == ATTN_FIGURE_WORDS && look->scaling == ATTN_COLOR_AUTO)
        with.scaling = ATTN_COLOR_BY_ROW;               /* one row is shown */
    with.palette = look->chosen ? look->palette : attn_palette_light(false);
    attn_scale_make(&s->scale, a, first, &with);
    if (!look->chosen && attn_scale_value(&s->scale, 0) < 0 && attn_scale_value(&s->scale, ATTN_STEPS - 1) > 0) {
        with.palette = attn_palette_light(true);
        attn_scale_make(&s->scale, a, first, &with);
    }
    s->palette = with.palette;
    if (look->figure == ATTN_FIGURE_GRID)
        return plan_grid(s, width, err);
    if (look->figure != ATTN_FIGURE_HEATMAP)
        return plan_other(s, look, width, err);
    s->cell = s->wide = choose_cell(s, look);
    s->numbers = look->numbers && !first->words;
    if (s->numbers && s->sheets * s->matrices * s->rows * s->cols > NUMBERS_MOST)
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: more than %d numbers cannot be read in a picture: leave --annotate out, or choose with "
                         "--layer and --head", first->title, NUMBERS_MOST);
    choose_digits(s);
    if (first->words || s->numbers)
        make_room_for_words(s, look);
    s->name = width ? 0 : longest_name(s);
    int rc = width ? fit_panels(s, look, width, err) : ATTN_OK;
    if (rc)
        return rc;
    plan_axes(s);
    s->indent = s->left.margin;
    add_legend(s, width);
    s->width = larger(panels_width(s),
                      larger(s->indent + LEGEND_WIDTH,
                             attn_utf8_width(s->title, strlen(s->title)) * ATTN_TITLE_LETTER));
    s->height = ATTN_TITLE + s->top.margin + s->down * (attn_section_caption(s) + s->rows * s->cell + ATTN_BETWEEN) +
                attn_legend_height(s);
    return ATTN_OK;
}
