/* derivation_diagram.c - draws the way of attention, from what is read to the context, with shapes and numbers.
 *
 *               x
 *         q     k     v
 *          dots       |
 *         scores      |
 *         weights     |
 *              context
 *
 * One plan, in columns and lines of letters, is drawn with two pens: letters, and SVG.  It begins with what there is:
 * with queries, keys and values, or with scores, where these are given. */
#include "explain/derivation_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "text/label.h"

struct pen {
    void *self;
    void (*box)(void *self, size_t row, size_t col, size_t rows, size_t cols);
    /* Down or across; an arrow ends at the border of a box. */
    void (*line)(void *self, size_t row, size_t col, size_t to_row, size_t to_col, bool arrow);
    void (*write)(void *self, size_t row, size_t col, const char *s, bool strong);
};

/* ---- the plan ---------------------------------------------------------------------------- */

enum { BOX = 24, LEFT = 0, CENTRE = 25, RIGHT = 50, WIDE = 49, COLUMNS = 76, ROWS = 29 };
enum { HALF = BOX / 2 };

static const struct attn_cell *cells_of(const struct attn_passage *p, enum attn_stage s)
{
    return p->cell + (size_t)s * ATTN_STAGE_CELLS;
}

static bool has(const struct attn_passage *p, enum attn_stage s) { return *cells_of(p, s)->text; }

/* As many of a stage's numbers as fit, and a mark if there are more. */
static void numbers(char out[COLUMNS], const struct attn_cell *c, size_t columns)
{
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < ATTN_STAGE_NUMBERS; i++) {
        char buf[ATTN_NUM_FIXED_MAX + 1];
        const char *s = attn_cell_shown(buf, &c[3 + i]);
        size_t n = strlen(out), wide = attn_utf8_width(s, strlen(s)) + (i > 0);
        bool last = i + 1 == ATTN_STAGE_NUMBERS || (c[4 + i].text && !*c[4 + i].text);
        if (!*s || n + strlen(s) + 8 > COLUMNS)
            break;
        if (used + wide + (last ? 0 : 2) > columns) {
            snprintf(out + n, COLUMNS - n, i ? " …" : "…");
            break;
        }
        snprintf(out + n, COLUMNS - n, i ? " %s" : "%s", s);
        used += wide;
    }
}

/* Name, shape and numbers in a box, on two lines if it is narrow. */
static void stage(const struct pen *pen, const struct attn_passage *p, enum attn_stage s, size_t row, size_t col,
                  size_t cols)
{
    const struct attn_cell *c = cells_of(p, s);
    const bool narrow = cols == BOX;
    char shown[COLUMNS], name[COLUMNS];
    snprintf(name, sizeof name, "%.40s %.30s", c[0].text, c[2].text);
    size_t after = narrow ? 0 : attn_utf8_width(name, strlen(name)) + 2;
    after = after > 0 && after < 20 ? 20 : after;
    numbers(shown, c, cols - 4 - after);
    pen->box(pen->self, row, col, narrow ? 4 : 3, cols);
    pen->write(pen->self, row + 1, col + 2, name, true);
    pen->write(pen->self, row + (narrow ? 2 : 1), col + 2 + after, shown, false);
}

/* An arrow down, with how a stage is computed beside it. */
static void arrow(const struct pen *pen, const struct attn_passage *p, enum attn_stage s, size_t row, size_t col,
                  size_t to_row)
{
    pen->line(pen->self, row, col, to_row, col, true);
    pen->write(pen->self, to_row - 1, col + 2, cells_of(p, s)[1].text, false);
}

/* Where queries, keys and values stand, and the wide stages below them; stages that there are not leave no room above
 * the first one, or below the last. */
enum { VECTORS = 6, DOTS = 12, SCORES = 16, WEIGHTS = 20, CONTEXT = 25 };

static size_t first_row(const struct attn_passage *p)
{
    if (has(p, ATTN_STAGE_X))
        return 0;
    return has(p, ATTN_STAGE_Q) || has(p, ATTN_STAGE_K) ? VECTORS : has(p, ATTN_STAGE_DOTS) ? DOTS : SCORES;
}

static size_t end_row(const struct attn_passage *p) { return has(p, ATTN_STAGE_CONTEXT) ? ROWS : WEIGHTS + 3; }

/* Lines from a box that is read, its middle at `from`, to queries, keys or values that are made of it. */
static void sources(const struct pen *pen, const struct attn_passage *p, size_t from, enum attn_stage first,
                    enum attn_stage last)
{
    size_t left = from, right = from;
    bool any = false;
    for (enum attn_stage s = first; s <= last; s++) {
        const size_t col = (size_t)(s - ATTN_STAGE_Q) * CENTRE + HALF;
        if (!*cells_of(p, s)[1].text)
            continue;
        any = true;
        left = col < left ? col : left;
        right = col > right ? col : right;
        arrow(pen, p, s, 4, col, VECTORS);
    }
    if (any)
        pen->line(pen->self, 3, from, 4, from, false);
    if (left < right)
        pen->line(pen->self, 4, left, 4, right, false);
}

/* What is read, and how queries, keys and values come from it. */
static void read_and_vectors(const struct pen *pen, const struct attn_passage *p)
{
    const bool two = has(p, ATTN_STAGE_Y);
    const size_t x = two ? LEFT : CENTRE, y = CENTRE + HALF;
    const size_t v_row = first_row(p) < VECTORS ? VECTORS : first_row(p);
    if (has(p, ATTN_STAGE_X)) {
        stage(pen, p, ATTN_STAGE_X, 0, x, BOX);
        sources(pen, p, x + HALF, ATTN_STAGE_Q, two ? ATTN_STAGE_Q : ATTN_STAGE_V);
    }
    if (two) {
        stage(pen, p, ATTN_STAGE_Y, 0, y, BOX);
        sources(pen, p, y + HALF, ATTN_STAGE_K, ATTN_STAGE_V);
    }
    if (has(p, ATTN_STAGE_Q))
        stage(pen, p, ATTN_STAGE_Q, VECTORS, LEFT, BOX);
    if (has(p, ATTN_STAGE_K))
        stage(pen, p, ATTN_STAGE_K, VECTORS, CENTRE, BOX);
    if (has(p, ATTN_STAGE_V)) {
        stage(pen, p, ATTN_STAGE_V, v_row, RIGHT, BOX);
        pen->line(pen->self, v_row + 3, RIGHT + HALF, WEIGHTS + 3, RIGHT + HALF, false);
    }
}

static void plan(const struct pen *pen, const struct attn_passage *p)
{
    enum { MIDDLE = WIDE / 2, END = (MIDDLE + RIGHT + HALF) / 2 };
    read_and_vectors(pen, p);
    if (has(p, ATTN_STAGE_Q) && has(p, ATTN_STAGE_K)) {
        pen->line(pen->self, VECTORS + 3, LEFT + HALF, VECTORS + 4, LEFT + HALF, false);
        pen->line(pen->self, VECTORS + 3, CENTRE + HALF, VECTORS + 4, CENTRE + HALF, false);
        pen->line(pen->self, VECTORS + 4, LEFT + HALF, VECTORS + 4, CENTRE + HALF, false);
        arrow(pen, p, ATTN_STAGE_DOTS, VECTORS + 4, MIDDLE, DOTS);
    }
    if (has(p, ATTN_STAGE_DOTS)) {
        stage(pen, p, ATTN_STAGE_DOTS, DOTS, LEFT, WIDE);
        arrow(pen, p, ATTN_STAGE_SCORES, DOTS + 2, MIDDLE, SCORES);
    }
    stage(pen, p, ATTN_STAGE_SCORES, SCORES, LEFT, WIDE);
    arrow(pen, p, ATTN_STAGE_WEIGHTS, SCORES + 2, MIDDLE, WEIGHTS);
    stage(pen, p, ATTN_STAGE_WEIGHTS, WEIGHTS, LEFT, WIDE);
    if (has(p, ATTN_STAGE_CONTEXT)) {
        pen->line(pen->self, WEIGHTS + 2, MIDDLE, WEIGHTS + 3, MIDDLE, false);
        pen->line(pen->self, WEIGHTS + 3, MIDDLE, WEIGHTS + 3, RIGHT + HALF, false);
        arrow(pen, p, ATTN_STAGE_CONTEXT, WEIGHTS + 3, END, CONTEXT);
        stage(pen, p, ATTN_STAGE_CONTEXT, CONTEXT, END - HALF, BOX);
    }
}

/* ---- a pen that draws with letters --------------------------------------------------------- */

enum { UP = 1, DOWN = 2, ON_LEFT = 4, ON_RIGHT = 8 };

/* Where lines go from each place; texts of a line, in the order of columns, stand on them. */
struct piece { size_t col; char *s; };
struct letters { uint8_t to[ROWS][COLUMNS]; struct piece piece[ROWS][ATTN_STAGES]; size_t n[ROWS]; bool failed; };

static void letters_line(void *self, size_t row, size_t col, size_t to_row, size_t to_col, bool arrow)
{
    struct letters *l = self;
    (void)arrow;
    for (size_t r = row; r < to_row; r++) {
        l->to[r][col] |= DOWN;
        l->to[r + 1][col] |= UP;
    }
    for (size_t c = col; c < to_col; c++) {
        l->to[row][c] |= ON_RIGHT;
        l->to[row][c + 1] |= ON_LEFT;
    }
}

static void letters_box(void *self, size_t row, size_t col, size_t rows, size_t cols)
{
    letters_line(self, row, col, row, col + cols - 1, false);
    letters_line(self, row + rows - 1, col, row + rows - 1, col + cols - 1, false);
    letters_line(self, row, col, row + rows - 1, col, false);
    letters_line(self, row, col + cols - 1, row + rows - 1, col + cols - 1, false);
}

static void letters_write(void *self, size_t row, size_t col, const char *s, bool strong)
{
    struct letters *l = self;
    (void)strong;
    if (!*s || l->n[row] == ATTN_STAGES)
        return;
    char *copy = strdup(s);
    l->failed |= !copy;
    size_t at = l->n[row]++;
    for (; at > 0 && l->piece[row][at - 1].col > col; at--)
        l->piece[row][at] = l->piece[row][at - 1];
    l->piece[row][at] = (struct piece){col, copy};
}

static void put_lines(struct attn_out *o, const uint8_t *to, size_t from, size_t until)
{
    static const char *const drawn[16] = {" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                          "─", "└", "┌", "├", "─", "┴", "┬", "┼"};
    for (size_t c = from; c < until; c++)
        attn_out_str(o, drawn[to[c] & 15]);
}

static void put_row(struct attn_out *o, const struct letters *l, size_t row, size_t indent)
{
    size_t col = 0, end = COLUMNS;
    while (end > 0 && !l->to[row][end - 1])
        end--;
    attn_label_pad(o, indent);
    for (size_t i = 0; i < l->n[row] && l->piece[row][i].s; i++) {
        const struct piece *p = &l->piece[row][i];
        put_lines(o, l->to[row], col, p->col > col ? p->col : col);
        attn_out_str(o, p->s);
        col = (p->col > col ? p->col : col) + attn_utf8_width(p->s, strlen(p->s));
    }
    put_lines(o, l->to[row], col, end);
    attn_out_char(o, '\n');
}

int attn_diagram_text(struct attn_out *o, const struct attn_passage *p, size_t indent, struct attn_err *err)
{
    struct letters *l = calloc(1, sizeof *l);
    if (!l)
        return attn_no_memory(err, NULL, "for a diagram");
    plan(&(struct pen){l, letters_box, letters_line, letters_write}, p);
    bool failed = l->failed;
    for (size_t row = first_row(p); row < end_row(p); row++)
        put_row(o, l, row, indent);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < l->n[row]; i++)
            free(l->piece[row][i].s);
    free(l);
    return failed ? attn_no_memory(err, NULL, "for a diagram") : ATTN_OK;
}

/* ---- a pen that draws SVG ------------------------------------------------------------------- */

enum { ACROSS = 8, HIGH = 18, AROUND = 8 };     /* pixels of a letter, and around the picture */

static double pixel_x(size_t col) { return AROUND + ACROSS * ((double)col + .5); }
static double pixel_y(size_t row) { return AROUND + HIGH * ((double)row + .5); }

static void svg_box(void *self, size_t row, size_t col, size_t rows, size_t cols)
{
    attn_out_printf(self, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%zu\" height=\"%zu\" rx=\"5\"></rect>\n", pixel_x(col),
                    pixel_y(row), ACROSS * (cols - 1), HIGH * (rows - 1));
}

static void svg_line(void *self, size_t row, size_t col, size_t to_row, size_t to_col, bool arrow)
{
    attn_out_printf(self, "<path d=\"M%.0f %.0fL%.0f %.0f\"%s></path>\n", pixel_x(col), pixel_y(row), pixel_x(to_col),
                    pixel_y(to_row) - arrow, arrow ? " marker-end=\"url(#arrow)\"" : "");
}

static void svg_write(void *self, size_t row, size_t col, const char *s, bool strong)
{
    if (!*s)
        return;
    attn_out_printf(self, "<text x=\"%.0f\" y=\"%.0f\"%s>", pixel_x(col) - ACROSS / 2.0, pixel_y(row) + HIGH / 4.0,
                    strong ? " class=\"name\"" : "");
    attn_out_markup(self, s, strlen(s));
    attn_out_str(self, "</text>\n");
}

void attn_diagram_svg(struct attn_out *o, const struct attn_language *l, const struct attn_passage *p)
{
    const size_t top = first_row(p) * HIGH, high = (end_row(p) - first_row(p)) * HIGH + (size_t)2 * AROUND;
    attn_out_printf(o, "<div class=\"wide\"><svg viewBox=\"0 %zu %d %zu\" width=\"%d\" role=\"img\" "
                       "aria-label=\"%s\">\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
                       "markerWidth=\"7\" "
                       "markerHeight=\"7\" orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"></path></marker>"
                       "</defs>\n",
                    top, COLUMNS * ACROSS + 2 * AROUND, high, COLUMNS * ACROSS + 2 * AROUND,
                    attn_tr(l, "attention, from what is read to the context vector"));
    plan(&(struct pen){o, svg_box, svg_line, svg_write}, p);
    attn_out_str(o, "</svg></div>\n");
}
