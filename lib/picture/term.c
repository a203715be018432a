/* term.c - heat maps on a terminal: in 24-bit or 256 colours, or as shades without colours.
 *
 * Matrices are put next to each other as the width allows, with their keys written downwards above the first ones.  A
 * matrix wider than the terminal is pooled: each cell is the largest of k x k numbers, which the title mentions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "base/utf8.h"
#include "text/label.h"
#include "picture/png.h"

enum { LEFT_MAX = 16, TOP_MAX = 8, GAP = 2, CELL = 2, BAR = 32 };       /* columns and rows of the terminal */

struct term {
    struct attn_out *out;
    const struct attn_album *album;
    const struct attn_look *look;
    const struct attn_sheet *first;     /* of the kind that is printed */
    struct attn_scale scale;
    size_t left, cell, pool;            /* columns of row labels and of a cell; a cell stands for pool x pool numbers */
    size_t across;                      /* matrices next to each other */
    int painted;                        /* the colour cells are currently printed in; -1: none */
};

/* A matrix as cells: pooled steps, [rows, cols]. */
struct cells { uint8_t *step; size_t rows, cols; };

/* ---- labels written downwards, one character below the other, with accents on their letters ---- */

/* Length of the character at s with the accents after it. */
static size_t letter(const char *s, size_t *columns)
{
    size_t len = strlen(s), step, n;
    attn_utf8_next(s, len, &n);
    *columns = attn_utf8_width(s, n);
    for (; n < len; n += step) {
        attn_utf8_next(s + n, len - n, &step);
        if (attn_utf8_width(s + n, step))
            break;
    }
    return n;
}

static size_t stack_height(const struct attn_label *l)
{
    size_t n = 0, columns;
    for (const char *s = l->text; *s; s += letter(s, &columns))
        n++;
    return n;
}

static bool stack_fits(const struct attn_label *l, size_t columns)
{
    size_t taken = 0;
    for (const char *s = l->text; *s && taken <= columns;)
        s += letter(s, &taken);
    return taken <= columns;
}

static void stack_write(struct attn_out *o, const struct attn_label *l, size_t i, size_t columns)
{
    const char *s = l->text;
    size_t taken, n = letter(s, &taken);
    for (; i > 0; i--) {
        s += n;
        n = letter(s, &taken);
    }
    attn_out_write(o, s, n);
    attn_label_pad(o, columns - taken);
}

/* ---- one cell -------------------------------------------------------------------------- */

static unsigned nearest_of(const unsigned *levels, unsigned n, unsigned x)
{
    unsigned best = 0;
    for (unsigned i = 1; i < n; i++)
        if (abs((int)levels[i] - (int)x) < abs((int)levels[best] - (int)x))
            best = i;
    return best;
}

static unsigned apart(struct attn_rgb c, unsigned r, unsigned g, unsigned b)
{
    int dr = c.r - (int)r, dg = c.g - (int)g, db = c.b - (int)b;
    return (unsigned)(dr * dr + dg * dg + db * db);
}

unsigned attn_term_256(struct attn_rgb c)
{
    static const unsigned cube[] = {0, 95, 135, 175, 215, 255};
    unsigned r = nearest_of(cube, 6, c.r), g = nearest_of(cube, 6, c.g), b = nearest_of(cube, 6, c.b);
    unsigned mean = (c.r + c.g + c.b) / 3u, grey = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 3) / 10,
    level = 8 + 10 * grey;
    bool greyer = apart(c, level, level, level) < apart(c, cube[r], cube[g], cube[b]);
    return greyer ? 232 + grey : 16 + 36 * r + 6 * g + b;
}

static void paint(struct term *t, int step)
{
    if (step == t->painted)
        return;
    t->painted = step;
    if (step < 0) {
        attn_out_steer(t->out, "\x1b[0m");
        return;
    }
    struct attn_rgb c = attn_canvas_color(t->look->palette, (uint8_t)step);
    char codes[40];
    if (t->look->colors > 256)
        snprintf(codes, sizeof codes, "\x1b[48;2;%d;%d;%dm", c.r, c.g, c.b);
    else
        snprintf(codes, sizeof codes, "\x1b[48;5;%um", attn_term_256(c));
    attn_out_steer(t->out, codes);
}

static void put_cell(struct term *t, uint8_t step, size_t columns)
{
    static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
    const char *shade = step == ATTN_STEP_NAN ? "!" : step == ATTN_STEP_BLANK ? "·" : shades[step * 5 / ATTN_STEPS];
    bool paints = t->look->colors && step != ATTN_STEP_BLANK;      /* hidden cells keep the terminal's own colour */
    paint(t, paints ? step : -1);
    for (size_t i = 0; i < columns; i++)
        attn_out_str(t->out, paints ? " " : shade);
}

/* ---- pooling --------------------------------------------------------------------------- */

/* The step farthest from 0 represents a pool; NaN always wins. */
static uint8_t stronger(const struct term *t, uint8_t a, uint8_t b)
{
    int middle = attn_palette_diverges(t->look->palette) ? ATTN_STEPS / 2 : 0;
    if (a == ATTN_STEP_NAN || b == ATTN_STEP_BLANK)
        return a;
    if (b == ATTN_STEP_NAN || a == ATTN_STEP_BLANK)
        return b;
    return abs(a - middle) >= abs(b - middle) ? a : b;
}

static int make_cells(struct cells *c, const struct term *t, const struct attn_sheet *sheet, size_t i,
                      struct attn_err *err)
{
    *c = (struct cells){.rows = parts_of(sheet->rows, t->pool), .cols = parts_of(sheet->cols, t->pool)};
    c->step = calloc(c->rows * c->cols + 1, sizeof *c->step);
    uint8_t *row = malloc(sheet->cols + 1);
    if (!c->step || !row) {
        free(row);
        return attn_no_memory(err, NULL, "to draw %zu x %zu numbers", sheet->rows, sheet->cols);
    }
    memset(c->step, ATTN_STEP_BLANK, c->rows * c->cols);
    for (size_t r = 0; r < sheet->rows; r++) {
        attn_scale_row(&t->scale, row, sheet, i * sheet->rows + r);
        uint8_t *to = c->step + r / t->pool * c->cols;
        for (size_t j = 0; j < sheet->cols; j++)
            to[j / t->pool] = stronger(t, to[j / t->pool], row[j]);
    }
    free(row);
    return ATTN_OK;
}

/* ---- labels ---------------------------------------------------------------------------- */

static struct attn_label label_of(const struct attn_tokens *tokens, size_t i, size_t columns)
{
    return tokens && i < tokens->n ? attn_label_token(&tokens->tok[i], columns) : attn_label_number(i);
}

static const struct attn_tokens *column_tokens(const struct term *t)
{
    return t->pool == 1 ? attn_album_columns(t->album, t->first) : NULL;
}

/* The number of lines that the keys take when written downwards; 0: some letter is wider than its column. */
static size_t key_lines(const struct term *t)
{
    const struct attn_tokens *tokens = column_tokens(t);
    size_t lines = 0;
    for (size_t j = 0; tokens && j < t->first->cols; j++) {
        struct attn_label l = label_of(tokens, j, TOP_MAX);
        if (!stack_fits(&l, t->cell))
            return 0;
        lines = stack_height(&l) > lines ? stack_height(&l) : lines;
    }
    return lines;
}

/* Writes one line of the labels above the columns, which are aligned at the bottom. */
static void put_letters(struct term *t, size_t cols, size_t line, size_t lines)
{
    for (size_t j = 0; j < cols; j++) {
        struct attn_label l = label_of(column_tokens(t), j, TOP_MAX);
        size_t above = lines - stack_height(&l);
        if (line >= above)
            stack_write(t->out, &l, line - above, t->cell);
        else
            attn_label_pad(t->out, t->cell);
    }
}

/* Writes the numbers of columns, as many as fit. */
static void put_numbers(struct term *t, size_t cols)
{
    size_t at = 0, end = parts_of(cols, t->pool) * t->cell;
    for (size_t j = 0; j * t->cell < end; j++) {
        struct attn_label l = attn_label_number(j * t->pool);
        if (j * t->cell < at || j * t->cell + l.columns > end)
            continue;
        attn_label_pad(t->out, j * t->cell + (at ? 1 : 0) - at);
        attn_out_str(t->out, l.text);
        at = j * t->cell + l.columns + 1;
    }
    attn_label_pad(t->out, end + (at ? 1 : 0) - at);
}

/* ---- a line of matrices ---------------------------------------------------------------- */

struct band { const struct attn_sheet *sheet[64]; size_t head[64], n; };

static void pad_left(struct term *t)
{
    attn_label_pad(t->out, t->left);
}

static void put_captions(struct term *t, const struct band *b)
{
    pad_left(t);
    attn_label_pad(t->out, GAP);
    for (size_t k = 0; k < b->n; k++) {
        char text[64] = "";
        size_t columns = parts_of(b->sheet[k]->cols, t->pool) * t->cell, brevity = 0;
        do
            attn_sheet_call(text, b->sheet[k], b->head[k], brevity);
        while (strlen(text) > columns && b->n > 1 && ++brevity < ATTN_BREVITIES);
        struct attn_label l = attn_label_line(text, strlen(text), b->n > 1 ? columns + GAP - 1 : sizeof text);
        attn_label_left(t->out, &l, k + 1 < b->n ? columns + GAP : columns);
    }
    attn_out_char(t->out, '\n');
}

static void put_keys(struct term *t, const struct band *b)
{
    size_t lines = key_lines(t);
    for (size_t line = 0; line < (lines ? lines : 1); line++) {
        pad_left(t);
        for (size_t k = 0; k < b->n; k++) {
            attn_label_pad(t->out, GAP);
            if (lines)
                put_letters(t, b->sheet[k]->cols, line, lines);
            else
                put_numbers(t, b->sheet[k]->cols);
        }
        attn_out_char(t->out, '\n');
    }
}

static void put_row(struct term *t, const struct band *b, const struct cells *c, size_t row)
{
    struct attn_label l = label_of(attn_album_rows(t->album, t->first), row * t->pool, LEFT_MAX);
    attn_label_right(t->out, &l, t->left);
    for (size_t k = 0; k < b->n; k++) {
        attn_label_pad(t->out, GAP);
        for (size_t j = 0; j < c[k].cols; j++)
            put_cell(t, row < c[k].rows ? c[k].step[row * c[k].cols + j] : ATTN_STEP_BLANK, t->cell);
        paint(t, -1);
    }
    attn_out_char(t->out, '\n');
}

static int put_band(struct term *t, const struct band *b, bool first, struct attn_err *err)
{
    struct cells c[64] = {{0}};
    size_t rows = 0;
    int rc = ATTN_OK;
    for (size_t k = 0; k < b->n && !rc; k++) {
        rc = make_cells(&c[k], t, b->sheet[k], b->head[k], err);
        rows = c[k].rows > rows ? c[k].rows : rows;
    }
    if (!rc) {
        put_captions(t, b);
        if (first && !t->look->bare)
            put_keys(t, b);
        for (size_t row = 0; row < rows; row++)
            put_row(t, b, c, row);
        if (!t->look->bare)
            attn_out_char(t->out, '\n');
    }
    for (size_t k = 0; k < b->n; k++)
        free(c[k].step);
    return rc;
}

/* ---- a kind of matrices ---------------------------------------------------------------- */

static void put_legend(struct term *t)
{
    char text[96];
    int step;
    pad_left(t);
    attn_label_pad(t->out, GAP);
    attn_scale_end(text, &t->scale, false);
    attn_out_printf(t->out, "%s ", text);
    for (size_t i = 0; i < BAR; i++)
        put_cell(t, (uint8_t)(i * (ATTN_STEPS - 1) / (BAR - 1)), 1);
    paint(t, -1);
    attn_scale_end(text, &t->scale, true);
    attn_out_printf(t->out, " %s\n", text);
    for (size_t i = 0; attn_legend_line(&t->scale, i, text, &step); i++) {
        pad_left(t);
        attn_label_pad(t->out, GAP);
        if (step >= 0) {
            put_cell(t, (uint8_t)step, CELL);
            paint(t, -1);
            attn_out_char(t->out, ' ');
        }
        attn_out_printf(t->out, "%s\n", text);
    }
}

static void plan(struct term *t)
{
    size_t widest = 1, n = 0;
    for (size_t i = 0; i < t->first->rows; i++) {
        struct attn_label l = label_of(attn_album_rows(t->album, t->first), i, LEFT_MAX);
        widest = l.columns > widest ? l.columns : widest;
    }
    t->left = widest;
    t->cell = t->look->cell ? t->look->cell : CELL;
    size_t least = widest + GAP + t->cell;     /* of a narrower terminal lines are wrapped, with a cell in each */
    size_t width = t->look->width ? larger((size_t)t->look->width, least) - widest - GAP : SIZE_MAX / 2;
    t->pool = width / t->cell ? parts_of(t->first->cols, width / t->cell) : 1;
    t->pool = t->pool ? t->pool : 1;
    n = (width + GAP) / (parts_of(t->first->cols, t->pool) * t->cell + GAP);
    t->across = n < 1 ? 1 : n > 64 ? 64 : n;
}

static void put_title(struct term *t)
{
    char edits[ATTN_ALBUM_EDITS];
    attn_album_edits(edits, t->album);
    attn_out_steer(t->out, t->look->colors ? "\x1b[1m" : "");
    attn_out_printf(t->out, "%.160s%s%s", t->first->title, edits, t->first->axes);
    attn_out_steer(t->out, t->look->colors ? "\x1b[0m" : "");
    if (t->pool > 1)
        attn_out_printf(t->out, "; a cell is the largest of %zu x %zu", t->pool, t->pool);
    attn_out_char(t->out, '\n');
}

static int put_kind(struct term *t, struct attn_err *err)
{
    struct band b = {.n = 0};
    bool first = true;
    int rc = ATTN_OK;
    plan(t);
    attn_scale_make(&t->scale, t->album, t->first, t->look);
    if (!t->look->bare)
        put_title(t);
    for (const struct attn_sheet *s = t->first; s && !rc; s = attn_album_next_sheet(t->album, s))
        for (size_t i = 0; i < s->n && !rc; i++) {
            b.sheet[b.n] = s;
            b.head[b.n++] = i;
            if (b.n < t->across)
                continue;
            rc = put_band(t, &b, first, err);
            first = false;
            b.n = 0;
        }
    if (!rc && b.n)
        rc = put_band(t, &b, first, err);
    if (!t->look->bare)
        put_legend(t);
    return rc;
}

int attn_term_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    struct term t = {.out = o, .album = a, .look = look, .painted = -1};
    int rc = ATTN_OK;
    for (size_t i = 0, kinds = 0; i < a->n && !rc; i++)
        if (attn_album_opens_kind(a, i)) {
            t.first = &a->sheet[i];
            if (kinds++)
                attn_out_char(o, '\n');
            rc = put_kind(&t, err);
        }
    return rc;
}
