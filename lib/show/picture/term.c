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
#include "picture/section.h"
#include "picture/term_pen.h"

enum { LEFT_MAX = 16, TOP_MAX = 8, GAP = 2, CELL = 2 };       /* columns and rows of the terminal */

struct term {
    struct attn_out *out;
    struct attn_term_pen pen;
    const struct attn_album *album;
    const struct attn_look *look;
    const struct attn_sheet *first;     /* of the kind that is printed */
    struct attn_scale scale;
    size_t left, cell, pool;            /* columns of row labels and of a cell; a cell stands for pool x pool numbers */
    size_t across;                      /* matrices next to each other */
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

/* ---- pooling --------------------------------------------------------------------------- */

/* The step farthest from 0 represents a pool; NaN always wins. */
static uint8_t stronger(const struct term *t, uint8_t a, uint8_t b)
{
    int middle = attn_palette_diverges(t->pen.palette) ? ATTN_STEPS / 2 : 0;
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
            attn_term_cell(&t->pen, row < c[k].rows ? c[k].step[row * c[k].cols + j] : ATTN_STEP_BLANK, t->cell);
        attn_term_paint(&t->pen, -1);
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
    char more[96] = "";
    if (t->pool > 1)
        snprintf(more, sizeof more, "; a cell is the largest of %zu x %zu", t->pool, t->pool);
    attn_term_title(&t->pen, t->album, t->first->title, t->first->axes, more);
}

int attn_heatmap_print(struct attn_out *o, const struct attn_album *a, const struct attn_sheet *first,
                       const struct attn_look *look, struct attn_err *err)
{
    struct term t = {.out = o, .album = a, .look = look, .first = first};
    struct band b = {.n = 0};
    bool opens = true;
    int rc = ATTN_OK;
    plan(&t);
    t.pen = attn_term_begin(&t.scale, o, a, first, look);
    if (!look->bare)
        put_title(&t);
    for (const struct attn_sheet *s = first; s && !rc; s = attn_album_next_sheet(a, s))
        for (size_t i = 0; i < s->n && !rc; i++) {
            b.sheet[b.n] = s;
            b.head[b.n++] = i;
            if (b.n < t.across)
                continue;
            rc = put_band(&t, &b, opens, err);
            opens = false;
            b.n = 0;
        }
    if (!rc && b.n)
        rc = put_band(&t, &b, opens, err);
    if (!look->bare)
        attn_term_legend(&t.pen, &t.scale, t.left + GAP);
    return rc;
}

int attn_term_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err)
{
    const struct attn_figure_method *method = look->figure;
    int rc = method ? ATTN_OK : attn_figure_find(&method, NULL, err);
    if (!rc && !method->print)
        rc = attn_fail(err, ATTN_EUSAGE, "a figure of %s is not drawn on a terminal, but as png, svg or pdf",
                       method->name);
    for (size_t i = 0, kinds = 0; i < a->n && !rc; i++)
        if (attn_album_opens_kind(a, i)) {
            if (kinds++)
                attn_out_char(o, '\n');
            rc = method->print(o, a, &a->sheet[i], look, err);
        }
    return rc;
}
