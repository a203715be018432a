#include "picture/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/size.h"
#include "text/label.h"
#include "picture/font.h"

enum { LETTER = 7, LINE = 16 };               /* pixels: width of a label's letter, line spacing */

struct axis { size_t step, margin; bool up; };     /* every step-th is labelled; margin: pixels of the labels */

struct attn_section {
    const struct attn_album *album;
    const struct attn_sheet *first;     /* of the kind */
    char title[240];
    struct attn_scale scale;
    size_t sheets, matrices;            /* how many; most matrices of a sheet */
    size_t rows, cols;                  /* of the largest matrix */
    const struct attn_palette *palette;
    size_t cell, wide, across, down;    /* pixels of a number: its height, its width; panels */
    bool table;                         /* a row of panels for each layer */
    bool numbers; int digits;           /* are written in the cells; after the point */
    size_t bar, indent;                 /* pixels: the legend's colour bar; from the left to the legend */
    struct axis left, top;
    size_t width, height;               /* of the whole section */
};

/* ---- the legend below the matrices of a kind: what the colours mean, and how many numbers had none ---- */

enum { BAR = 240, THICK = 10, LEGEND_TICK = 3, SWATCH = 10, BESIDE_BAR = 20 };   /* pixels */

static size_t legend_height(const struct attn_scale *s)
{
    char text[96];
    int step;
    size_t lines = 0;
    while (attn_legend_line(s, lines, text, &step))
        lines++;
    return THICK + LEGEND_TICK + LINE + lines * LINE + LINE / 2;
}

/* ---- drawing --------------------------------------------------------------------------- */

/* Each colour reaches to the end and is drawn over by the next, so that there are no seams. */
static void draw_bar(size_t bar, size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t i = 0; i < bar; i++) {
        struct attn_area a = {x + i, y, bar - i, THICK};
        pen->fill(pen->self, &a, (uint8_t)(i * (ATTN_STEPS - 1) / (bar - 1)));
    }
}

static void draw_ticks(const struct attn_scale *s, size_t bar, size_t x, size_t y, const struct attn_pen *pen)
{
    struct attn_tick tick[ATTN_TICKS_MAX];
    size_t n = attn_scale_ticks(tick, s);
    double free_from = -1e9;
    for (size_t i = 0; i < n; i++) {
        double at = tick[i].at * (double)(bar - 1), half = (double)(strlen(tick[i].text) * LETTER) / 2;
        size_t tick_x = x + (size_t)lround(at);
        struct attn_area a = {tick_x, y, 1, LEGEND_TICK};
        struct attn_lettering w = {tick[i].text, tick_x, y + LEGEND_TICK + LINE - 4, LETTER, ATTN_MIDDLE, false};
        pen->fill(pen->self, &a, ATTN_INK);
        if (at - half < free_from)
            continue;
        pen->write(pen->self, &w);
        free_from = at + half + LETTER;
    }
}

static void legend_draw(const struct attn_scale *s, size_t bar, size_t x, size_t y, const struct attn_pen *pen)
{
    char text[96];
    int step;
    draw_bar(bar, x, y, pen);
    draw_ticks(s, bar, x, y + THICK, pen);
    y += THICK + LEGEND_TICK + LINE;
    for (size_t i = 0; attn_legend_line(s, i, text, &step); i++, y += LINE) {
        size_t indent = step < 0 ? 0 : SWATCH + 6;
        struct attn_area swatch = {x, y + 3, SWATCH, SWATCH};
        struct attn_lettering w = {text, x + indent, y + LINE - 4, LETTER, ATTN_BEGINS, false};
        if (step >= 0)
            pen->fill(pen->self, &swatch, (uint8_t)step);
        pen->write(pen->self, &w);
    }
}

/* ---- a section ------------------------------------------------------------------------- */

enum {
    TITLE = 26, TITLE_LINE = 16, TITLE_LETTER = 8,      /* pixels, for the title of a section */
    CAPTION = 18,                       /* of a panel */
    GAP = 14, TICK = 3, APART = 6,                      /* between panels; length of a tick; from labels to their matrix */
    BELOW_CENTER = 4,                                   /* from a label's middle down to its base line */
    LEAST_PITCH = 13, LEAST_SEEN = 4,                   /* labels closer than this would touch; cells */
    LEGEND_WIDTH = 300,
    NUMBERS_MOST = 10000,                               /* written in cells */
    WORD_LINE = 20,                                     /* of a cell with a word */
    FRAME = ATTN_PAPER + 4
};
enum { LEFT_MAX = 18, TOP_MAX = 12 };                   /* widest labels, in columns */

/* ---- labels ---------------------------------------------------------------------------- */

static struct attn_label label_of(const struct attn_tokens *tokens, size_t i, const struct axis *axis, size_t columns)
{
    if (!tokens || i >= tokens->n)
        return attn_label_number(i);
    struct attn_label token = attn_label_token(&tokens->tok[i], columns), all = {.columns = 0};
    if (axis->step == 1)
        return token;
    snprintf(all.text, sizeof all.text, "%zu %.170s", i, token.text);
    return all;
}

static size_t letters(const struct attn_label *l)
{
    return attn_font_columns(l->text, strlen(l->text));
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

static struct axis plan_axis(const struct attn_tokens *tokens, size_t n, size_t cell, size_t columns, bool top)
{
    struct axis axis = {.step = step_for(cell)};
    size_t widest = 1;
    for (size_t i = 0; i < n; i += axis.step) {
        struct attn_label l = label_of(tokens, i, &axis, columns);
        widest = larger(widest, letters(&l));
    }
    axis.up = top && (axis.step > 1 || widest * LETTER + APART > cell);
    axis.margin = top && !axis.up ? LINE : widest * LETTER + APART + TICK;
    return axis;
}

/* ---- names ----------------------------------------------------------------------------- */

static void name_section(struct attn_section *s)
{
    char text[256], where[64] = "";
    if (s->across * s->down == 1)
        attn_sheet_call(where, s->first, 0, 0);
    snprintf(text, sizeof text, "%s%s%.160s", where, *where ? ": " : "", s->first->title);
    struct attn_label l = attn_label_line(text, strlen(text), 160);
    snprintf(s->title, sizeof s->title, "%s%s", l.text, s->first->axes);
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
    s->across = s->table ? s->matrices : look->columns ? smaller(look->columns, n) : wide ? 1 : larger(smaller(n, 4), 1);
    while (!s->table && !look->columns && !wide && s->across * s->across < n)
        s->across++;
    s->down = parts_of(n, larger(s->across, 1));
}

static size_t choose_cell(const struct attn_section *s, const struct attn_look *look)
{
    bool alone = s->across * s->down == 1;
    size_t height = alone ? 640 : 280, width = alone ? 1400 : 1600, most = alone ? 56 : 28;
    size_t cell = smaller(height / larger(s->rows, 1), width / larger(s->across * s->cols, 1));
    return look->cell ? look->cell : larger(smaller(cell, most), 1);
}

/* ---- words and numbers in cells ---- */

static const char *number_of(char text[ATTN_NUM_FIXED_MAX], const struct attn_section *s, float x)
{
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
    s->digits = most >= 100 ? 0 : most >= 10 ? 1 : most >= 0.05 || most == 0 ? 2 : 4;
}

static void make_room_for_words(struct attn_section *s, const struct attn_look *look)
{
    char text[ATTN_NUM_FIXED_MAX];
    s->cell = look->cell ? look->cell : WORD_LINE;
    s->wide = s->cell;
    for (const struct attn_sheet *sheet = s->first; sheet; sheet = attn_album_next_sheet(s->album, sheet))
        for (size_t i = 0; i < sheet->n * sheet->rows * sheet->cols; i++)
            s->wide = larger(s->wide, (sheet->words ? letters(&sheet->words[i])
                                                    : strlen(number_of(text, s, sheet->data[i]))) * LETTER + APART);
}

static size_t caption_height(const struct attn_section *s)
{
    return s->across * s->down > 1 ? CAPTION : 0;
}

static size_t panels_width(const struct attn_section *s)
{
    return s->left.margin + s->across * (s->cols * s->wide + GAP) - GAP;
}

static void plan_axes(struct attn_section *s)
{
    s->left = plan_axis(attn_album_rows(s->album, s->first), s->rows, s->cell, LEFT_MAX, false);
    s->top = plan_axis(attn_album_columns(s->album, s->first), s->cols, s->wide, TOP_MAX, true);
}

/* Finds the largest cells of at least `least` with which the panels, fewer beside each other if need be, are no wider than `most`. */
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
        return attn_fail(err, ATTN_EUSAGE, "%s: %zu keys or columns do not fit a width of %g mm: choose a larger --width, a smaller "
                         "--font-size%s", s->first->title, s->cols, look->paper, s->numbers ? ", or no --annotate" : "");
    s->table = s->table && s->across == s->matrices;
    s->down = parts_of(s->sheets * s->matrices, s->across);
    return ATTN_OK;
}

/* Cuts the title to a width: first what is said of the axes. */
static void shorten_title(struct attn_section *s, size_t width)
{
    char text[sizeof s->title];
    size_t columns = width / TITLE_LETTER, axes = strlen(s->first->axes);
    if (attn_font_columns(s->title, strlen(s->title)) > columns)
        s->title[strlen(s->title) - axes] = '\0';
    strcpy(text, s->title);
    struct attn_label l = attn_label_line(text, strlen(text), columns);
    snprintf(s->title, sizeof s->title, "%s", l.text);
}

/* width: of the section; 0: any. */
static int plan_section(struct attn_section *s, const struct attn_album *a, const struct attn_sheet *first,
                        const struct attn_look *look, size_t width, struct attn_err *err)
{
    *s = (struct attn_section){.album = a, .first = first, .palette = look->palette, .bar = BAR};
    count_sheets(s);
    arrange(s, look);
    name_section(s);
    attn_scale_make(&s->scale, a, first, look);
    s->cell = s->wide = choose_cell(s, look);
    s->numbers = look->numbers && !first->words;
    if (s->numbers && s->sheets * s->matrices * s->rows * s->cols > NUMBERS_MOST)
        return attn_fail(err, ATTN_EUSAGE, "%s: more than %d numbers cannot be read in a picture: leave --annotate out, or choose with "
                         "--layer and --head", first->title, NUMBERS_MOST);
    choose_digits(s);
    if (first->words || s->numbers)
        make_room_for_words(s, look);
    if (width && fit_panels(s, look, width, err))
        return err->code;
    plan_axes(s);
    s->indent = s->left.margin;
    if (width) {
        shorten_title(s, width);
        s->indent = 0;
        s->bar = smaller(BAR, larger(width, BESIDE_BAR + 2) - BESIDE_BAR);
    }
    s->width = larger(panels_width(s), larger(s->indent + LEGEND_WIDTH, attn_font_columns(s->title, strlen(s->title)) * TITLE_LETTER));
    s->height = TITLE + s->top.margin + s->down * (caption_height(s) + s->rows * s->cell + GAP) + legend_height(&s->scale);
    return ATTN_OK;
}

/* ---- drawing --------------------------------------------------------------------------- */

static void draw_left(const struct attn_section *s, size_t rows, size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t i = 0; i < rows; i += s->left.step) {
        struct attn_label l = label_of(attn_album_rows(s->album, s->first), i, &s->left, LEFT_MAX);
        size_t middle = y + i * s->cell + s->cell / 2;
        struct attn_lettering w = {l.text, x - APART, middle + BELOW_CENTER, LETTER, ATTN_ENDS, false};
        struct attn_area tick = {x - 1 - TICK, middle, TICK, 1};
        pen->write(pen->self, &w);
        if (s->left.step > 1)
            pen->fill(pen->self, &tick, ATTN_INK);
    }
}

static void draw_top(const struct attn_section *s, size_t cols, size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t j = 0; j < cols; j += s->top.step) {
        struct attn_label l = label_of(attn_album_columns(s->album, s->first), j, &s->top, TOP_MAX);
        size_t middle = x + j * s->wide + s->wide / 2;
        struct attn_lettering up = {l.text, middle + BELOW_CENTER, y - APART, LETTER, ATTN_BEGINS, true};
        struct attn_lettering flat = {l.text, middle, y - APART, LETTER, ATTN_MIDDLE, false};
        struct attn_area tick = {middle, y - 1 - TICK, 1, TICK};
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
    size_t k = 0, columns = (s->cols * s->wide + GAP - 2) / LETTER;
    do
        attn_sheet_call(text, sheet, i, k);
    while (strlen(text) > columns && ++k < ATTN_BREVITIES);
    struct attn_label l = attn_label_line(text, strlen(text), columns);
    struct attn_lettering w = {l.text, x, y, LETTER, ATTN_BEGINS, false};
    pen->write(pen->self, &w);
}

static void draw_frame(size_t x, size_t y, size_t width, size_t height, const struct attn_pen *pen)
{
    const struct attn_area sides[] = {
        {x - 1, y - 1, width + 2, 1}, {x - 1, y + height, width + 2, 1}, {x - 1, y, 1, height}, {x + width, y, 1, height}};
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
                           : steps[cell] == ATTN_STEP_BLANK ? "" : number_of(text, s, sheet->data[nth]);
        struct attn_lettering w = {word, a.x + a.width / 2, a.y + a.height / 2 + BELOW_CENTER, LETTER, ATTN_MIDDLE, false};
        pen->fill(pen->self, &a, steps[cell]);
        pen->write_over(pen->self, &w, is_bright(s->palette, steps[cell]) ? ATTN_INK : ATTN_PAPER);
    }
}

/* Draws matrix i of a sheet as a panel at x, y. */
static int draw_panel(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t x, size_t y,
                      const struct attn_pen *pen, uint8_t *steps, struct attn_err *err)
{
    for (size_t r = 0; r < sheet->rows; r++)
        attn_scale_row(&s->scale, steps + r * sheet->cols, sheet, i * sheet->rows + r);
    draw_frame(x, y, sheet->cols * s->wide, sheet->rows * s->cell, pen);
    if (sheet->words || s->numbers) {
        draw_words(s, sheet, i, x, y, pen, steps);
        return ATTN_OK;
    }
    return pen->cells(pen->self, x, y, s->cell, steps, sheet->rows, sheet->cols, err);
}

static int draw_at(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t nth, size_t x, size_t y,
                   const struct attn_pen *pen, uint8_t *steps, struct attn_err *err)
{
    size_t column = nth % s->across, row = nth / s->across, caption = caption_height(s);
    size_t px = x + s->left.margin + column * (s->cols * s->wide + GAP);
    size_t py = y + TITLE + s->top.margin + caption + row * (caption + s->rows * s->cell + GAP);
    if (caption)
        draw_caption(s, sheet, i, px, py - (row ? 0 : s->top.margin) - APART, pen);
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
    struct attn_lettering title = {s->title, x, y + TITLE_LINE, TITLE_LETTER, ATTN_BEGINS, false};
    pen->write(pen->self, &title);
    for (const struct attn_sheet *sheet = s->first; sheet && !rc; sheet = attn_album_next_sheet(s->album, sheet)) {
        for (size_t i = 0; i < sheet->n && !rc; i++)
            rc = draw_at(s, sheet, i, nth++, x, y, pen, steps, err);
        row++;
        if (s->table)                   /* a layer with fewer heads leaves the end of its row empty */
            nth = larger(nth, row * s->matrices);
    }
    legend_draw(&s->scale, s->bar, x + s->indent, y + s->height - legend_height(&s->scale), pen);
    return rc;
}

/* ---- the page -------------------------------------------------------------------------- */

enum { MARGIN = 20, NARROW = 4, HEADING = 28, HEADING_LINE = 15, HEADING_LETTER = 9, LEAST_WIDTH = 460 };      /* pixels */
enum { SIDE_MAX = 32000, PIXELS_MAX = 1 << 28 };        /* what viewers can open; 256 MB */

static int check_size(const struct attn_figure *f, struct attn_err *err)
{
    if (f->width <= SIDE_MAX && f->height <= SIDE_MAX && f->width * f->height <= PIXELS_MAX)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "a picture of %zu x %zu pixels is more than %d x %d or %d million: choose with --show, "
                     "--layer and --head, or a smaller --cell", f->width, f->height, SIDE_MAX, SIDE_MAX, PIXELS_MAX / 1000000);
}

static bool has_heading(const struct attn_look *look)
{
    return !look->title || *look->title;
}

int attn_figure_plan(struct attn_figure *f, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
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
        int rc = plan_section(s, a, &a->sheet[i], look, limit ? limit - 2 * margin : 0, err);
        if (rc)
            return rc;
        f->width = larger(f->width, s->width);
        f->height += s->height + margin;
        f->largest = larger(f->largest, s->rows * s->cols);
    }
    f->width = limit ? limit : f->width + 2 * margin;
    f->height += margin;
    return check_size(f, err);
}

static const char looks[] = ", looking at: ";

/* Letters with accents have room above. */
static size_t heading_line(const struct attn_figure *f)
{
    return f->margin < MARGIN ? f->margin + HEADING_LINE : MARGIN + HEADING_LETTER;
}

static void draw_heading(const struct attn_figure *f, const struct attn_pen *pen)
{
    const struct attn_album *a = f->album;
    size_t columns = (f->width - 2 * f->margin) / HEADING_LETTER;
    if (f->title) {
        struct attn_label l = attn_label_line(f->title, strlen(f->title), columns);
        struct attn_lettering w = {l.text, f->margin, heading_line(f), HEADING_LETTER, ATTN_BEGINS, false};
        pen->write(pen->self, &w);
        return;
    }
    struct attn_label model = attn_label_line(a->model ? a->model : "", a->model ? strlen(a->model) : 0, columns / 2);
    size_t left = columns - model.columns - 2, each = a->keys_text ? (left - strlen(looks)) / 2 : left;
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
    if (!f->title || *f->title)
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
