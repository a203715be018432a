/* figure_vectors.c - vectors of tokens as arrows from the origin, on two axes or on three in a projection, and beside
 * them a table of the cosines between all of them.
 *
 * All axes have the same scale, so that angles are seen as they are. */
#include "picture/section.h"
#include "picture/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "text/label.h"

enum {                                  /* pixels; of the plot, without width and at least; around arrows in it */
    PLOT = 340, PLOT_LEAST = 180, INSIDE = 34, INSIDE_DOWN = 20, GAP = 28, BASE = 14,
    NAME = 18, TICKS_LEFT = 40, TICKS_BELOW = 36,       /* of axes: what names and numbers take */
    CELL = 20, CELL_WIDE = 36, TABLE = 340, ACROSS = 1400
};
enum { WRITTEN = 12, COLUMNS_MOST = 18, AXIS = ATTN_PAPER + 6, DROP = ATTN_PAPER + 4 };

/* ---- where things are ------------------------------------------------------------------------ */

static size_t table_width(const struct attn_section *s) { return s->left.margin + s->rows * s->wide; }
static size_t table_height(const struct attn_section *s) { return s->top.margin + s->rows * s->cell; }

static size_t each_width(const struct attn_section *s)
{
    return s->table ? s->panel + GAP + table_width(s) : larger(s->panel, table_width(s));
}

static size_t each_height(const struct attn_section *s)
{
    size_t plot = s->panel, table = table_height(s);
    return attn_section_caption(s) + (s->table ? larger(plot, table) : plot + GAP / 2 + table) + ATTN_BETWEEN;
}

static void plan_table(struct attn_section *s, size_t cell, bool numbers)
{
    const struct attn_tokens *t = attn_album_rows(s->album, s->first);
    s->numbers = numbers;
    s->cell = numbers ? CELL : cell;
    s->wide = numbers ? CELL_WIDE : cell;
    s->left = attn_section_axis(t, s->rows, s->cell, COLUMNS_MOST, false);
    s->top = attn_section_axis(t, s->rows, s->wide, ATTN_TOP_MAX, true);
}

/* The table with its numbers, if they have room, else with the largest cells that do. */
static int fit_table(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    size_t cell = larger(smaller(CELL, TABLE / s->rows), 1);
    plan_table(s, cell, s->rows <= WRITTEN);
    if (width && s->numbers && table_width(s) > width)
        plan_table(s, cell, false);
    for (; width && cell > 1 && table_width(s) > width; cell--)
        plan_table(s, cell - 1, false);
    if (!width || table_width(s) <= width)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "%s: the cosines of %zu vectors take %d mm, and the width is %g: choose a "
                                       "larger --width or a smaller --font-size", s->first->title, s->rows,
                     attn_look_mm(look, table_width(s)), look->paper);
}

int attn_vectors_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    size_t n = s->sheets * s->matrices;
    if (!s->rows || s->rows > ATTN_VECTORS_MOST)
        return attn_fail(err, ATTN_EUSAGE, "%s: a figure of vectors shows at least 1 and at most %d of them, and here "
                                           "are %zu", s->first->title, ATTN_VECTORS_MOST, s->rows);
    int rc = attn_axes_read(&s->axes, look->axes, s->cols, err);
    if (!rc)
        rc = fit_table(s, look, width, err);
    if (rc)
        return rc;
    size_t beside = width > table_width(s) + GAP ? width - table_width(s) - GAP : 0;
    s->table = !width || beside >= PLOT_LEAST;
    s->panel = !width ? PLOT : smaller(s->table ? beside : width, PLOT);
    s->across = larger(((width ? width : ACROSS) + GAP) / (each_width(s) + GAP), 1);
    s->across = smaller(look->columns ? smaller(look->columns, s->across) : s->across, n);
    s->down = parts_of(n, s->across);
    s->palette = attn_palette_usual(true, true);
    s->scale = (struct attn_scale){.scaling = ATTN_COLOR_LINEAR, .low = -1, .high = 1};
    attn_section_name(s, " (arrows: tokens; cells: cosines between them)");
    attn_section_frame(s, s->across * (each_width(s) + GAP) - GAP, s->down * each_height(s), width);
    return ATTN_OK;
}

/* ---- a projection ----------------------------------------------------------------------------- */

/* Where the unit vectors of the axes point, y upwards: of three, the first comes towards the reader. */
static const double directions[2][ATTN_AXES][2] = {{{1, 0}, {0, 1}}, {{-0.5, -0.36}, {1, 0}, {0, 1}}};

/* x, y: of the origin; plot: what arrows and their labels have. */
struct box { double x, y, width, height; };
struct view { const double (*of)[2]; size_t n; double scale, x, y; struct box plot; };
struct spot { double x, y; };

static struct spot project(const struct view *v, const double *at)
{
    struct spot p = {v->x, v->y};
    for (size_t k = 0; k < v->n && k < ATTN_AXES; k++) {
        p.x += v->scale * v->of[k][0] * at[k];
        p.y -= v->scale * v->of[k][1] * at[k];
    }
    return p;
}

/* The least and most of the points and the origin, across and down. */
static void find_extent(double extent[4], const struct view *v, const struct attn_vectors *vectors)
{
    for (size_t i = 0; i < vectors->n; i++) {
        struct spot p = project(v, vectors->at[i]);
        extent[0] = fmin(extent[0], p.x);
        extent[1] = fmax(extent[1], p.x);
        extent[2] = fmin(extent[2], p.y);
        extent[3] = fmax(extent[3], p.y);
    }
}

static struct view make_view(const struct attn_vectors *vectors, size_t x, size_t y, size_t side)
{
    double e[4] = {0, 0, 0, 0};
    bool deep = vectors->axes.n == ATTN_AXES;
    struct view v = {directions[deep], vectors->axes.n, 1, 0, 0,
                     {(double)x, (double)y, (double)side, (double)side}};
    if (!deep)
        v.plot = (struct box){(double)(x + TICKS_LEFT), (double)(y + NAME), (double)(side - TICKS_LEFT),
                              (double)(side - NAME - TICKS_BELOW)};
    find_extent(e, &v, vectors);
    double wide = e[1] - e[0], high = e[3] - e[2];
    double across = wide > 0 ? (v.plot.width - 2 * INSIDE) / wide : INFINITY;
    double down = high > 0 ? (v.plot.height - 2 * INSIDE_DOWN) / high : INFINITY;
    v.scale = isfinite(fmin(across, down)) ? fmax(fmin(across, down), 0) : 1;
    v.x = v.plot.x + (v.plot.width - v.scale * (e[0] + e[1])) / 2;
    v.y = v.plot.y + (v.plot.height - v.scale * (e[2] + e[3])) / 2;
    return v;
}

/* ---- labels that don't lie on each other -------------------------------------------------------- */

static double overlap(const struct box *a, const struct box *b)
{
    double w = fmin(a->x + a->width, b->x + b->width) - fmax(a->x, b->x);
    double h = fmin(a->y + a->height, b->y + b->height) - fmax(a->y, b->y);
    return w > 0 && h > 0 ? w * h : 0;
}

/* Around a point: nearest to the direction it lies in, then further around, at a distance that keeps off the arrow. */
static struct box beside(struct spot p, double angle, size_t columns)
{
    double w = (double)(columns * ATTN_LETTER), h = 12, far = 6;
    double x = p.x + cos(angle) * (far + w / 2), y = p.y - sin(angle) * (far + h / 2);
    return (struct box){x - w / 2, y - h / 2, w, h};
}

static struct box choose_box(const struct box *taken, size_t n, const struct box *plot, struct spot p, double angle,
                             size_t columns)
{
    enum { TURNS = 16 };
    struct box best = {0};
    double least = INFINITY;
    for (int turn = 0; turn < TURNS && least > 0; turn++) {
        int away = (turn + 1) / 2 * (turn % 2 ? 1 : -1);
        double around = angle + away * 2 * M_PI / TURNS, bad = 0;
        struct box b = beside(p, around, columns);
        for (size_t i = 0; i < n; i++)
            bad += overlap(&b, &taken[i]);
        bad += 2 * (b.width * b.height - overlap(&b, plot));
        if (bad < least) {
            least = bad;
            best = b;
        }
    }
    return best;
}

/* ---- the plot ----------------------------------------------------------------------------------- */

static void draw_line(struct spot a, struct spot b, double width, uint8_t color, const struct attn_pen *pen)
{
    pen->line(pen->self, &(struct attn_stroke){a.x, a.y, b.x, b.y, width}, color);
}

static void draw_arrow(struct spot from, struct spot to, const struct attn_pen *pen)
{
    const double wing = 6, open = 0.42;
    double dx = from.x - to.x, dy = from.y - to.y, length = attn_hypot(dx, dy), angle = atan2(dy, dx);
    draw_line(from, to, 1.2, ATTN_INK, pen);
    for (int side = -1; side <= 1 && length > wing; side += 2) {
        double a = angle + side * open;
        draw_line(to, (struct spot){to.x + wing * cos(a), to.y + wing * sin(a)}, 1.2, ATTN_INK, pen);
    }
}

static void write_at(const char *text, double x, double y, enum attn_anchor anchor, const struct attn_pen *pen)
{
    pen->write(pen->self, &(struct attn_lettering){text, (size_t)lround(fmax(x, 0)), (size_t)lround(fmax(y, 0)),
                                                   ATTN_LETTER, anchor, false});
}

/* Numbers along an edge of the plot, as far apart as they need. */
static void draw_ticks(const struct view *v, bool up, const struct attn_pen *pen)
{
    const struct box *b = &v->plot;
    struct attn_scale s = {.scaling = ATTN_COLOR_LINEAR, .low = (b->x - v->x) / v->scale,
                           .high = (b->x + b->width - v->x) / v->scale};
    struct attn_tick tick[ATTN_TICKS_MAX];
    if (up) {
        s.low = (v->y - b->y - b->height) / v->scale;
        s.high = (v->y - b->y) / v->scale;
    }
    size_t n = attn_scale_ticks(tick, &s);
    double free_from = -INFINITY, below = b->y + b->height;
    for (size_t i = 0; i < n; i++) {
        double x = up ? b->x : b->x + tick[i].at * b->width, y = up ? below - tick[i].at * b->height : below;
        double half = up ? 8 : (double)(strlen(tick[i].text) * ATTN_LETTER) / 2, at = up ? -y : x;
        draw_line((struct spot){x, y}, (struct spot){up ? x - ATTN_TICK : x, up ? y : y + ATTN_TICK}, 0.8, AXIS, pen);
        if (at - half < free_from)
            continue;
        write_at(tick[i].text, up ? x - ATTN_TICK - 3 : x, up ? y + 4 : y + ATTN_TICK + 13, up ? ATTN_ENDS :
                 ATTN_MIDDLE, pen);
        free_from = at + half + ATTN_LETTER;
    }
}

/* Two axes: a frame with numbers, lines through the origin, names outside. */
static void draw_frame(const struct attn_vectors *v, const struct view *view, const struct attn_pen *pen)
{
    const struct box *b = &view->plot;
    const double right = b->x + b->width, below = b->y + b->height;
    const struct spot corner[] = {{b->x, b->y}, {right, b->y}, {right, below}, {b->x, below}, {b->x, b->y}};
    char name[48], text[64];
    for (size_t i = 0; i < 4; i++)
        draw_line(corner[i], corner[i + 1], 0.8, AXIS, pen);
    draw_line((struct spot){b->x, view->y}, (struct spot){right, view->y}, 0.6, DROP, pen);
    if (view->n > 1)
        draw_line((struct spot){view->x, b->y}, (struct spot){view->x, below}, 0.6, DROP, pen);
    for (size_t k = 0; k < smaller(view->n, 2); k++) {
        draw_ticks(view, k, pen);
        attn_axis_name(name, v, k);
        snprintf(text, sizeof text, k ? "↑ %s" : "→ %s", name);
        write_at(text, k ? b->x : right, k ? b->y - 6 : below + TICKS_BELOW - 4, k ? ATTN_BEGINS : ATTN_ENDS, pen);
    }
}

/* Three axes: each as far as the vectors reach, with its name at the positive end. */
static void draw_axes(const struct attn_vectors *v, const struct view *view, struct box *taken,
                      const struct attn_pen *pen)
{
    for (size_t k = 0; k < view->n; k++) {
        double low[ATTN_AXES] = {0}, high[ATTN_AXES] = {0};
        char text[48];
        for (size_t i = 0; i < v->n; i++) {
            low[k] = fmin(low[k], v->at[i][k]);
            high[k] = fmax(high[k], v->at[i][k]);
        }
        struct spot from = project(view, low), to = project(view, high);
        double dx = 18 * view->of[k][0], dy = -18 * view->of[k][1];
        draw_line((struct spot){from.x, from.y}, (struct spot){to.x + dx, to.y + dy}, 0.8, AXIS, pen);
        attn_axis_name(text, v, k);
        double wide = (double)(strlen(text) * ATTN_LETTER), x = to.x + dx * 1.2, y = to.y + dy * 1.2 + (dy ? 0 : 14);
        x = fmin(fmax(x - wide / 2, view->plot.x), view->plot.x + view->plot.width - wide);
        y = fmax(y + (dy > 0 ? 12 : -3), view->plot.y + 10);
        taken[k] = (struct box){x, y - 10, wide, 12};
        write_at(text, x, y, ATTN_BEGINS, pen);
    }
}

/* Labels are chosen so that none hides another; where the plot is too full, some are left out. */
static void draw_labels(const struct attn_tokens *t, const struct attn_vectors *v, const struct view *view,
                        struct box *taken, size_t n, const struct attn_pen *pen)
{
    enum { CROWD = 40 };
    for (size_t i = 0; i < v->n; i++) {
        struct spot p = project(view, v->at[i]);
        taken[n++] = (struct box){p.x - 3, p.y - 3, 6, 6};
    }
    for (size_t i = 0; i < v->n; i++) {
        struct attn_label l = t && i < t->n ? attn_label_token(&t->tok[i], COLUMNS_MOST) : attn_label_number(i);
        struct spot p = project(view, v->at[i]);
        struct box b = choose_box(taken, n, &view->plot, p, atan2(view->y - p.y, p.x - view->x), l.columns);
        double bad = 0;
        for (size_t k = 0; k < n; k++)
            bad += overlap(&b, &taken[k]);
        if (v->n > CROWD && bad > b.width * b.height / 3)
            continue;
        taken[n++] = b;
        write_at(l.text, b.x + b.width / 2, b.y + 10, ATTN_MIDDLE, pen);
    }
}

static int draw_plot(const struct attn_section *s, const struct attn_sheet *sheet, const struct attn_vectors *v,
                     size_t x, size_t y, const struct attn_pen *pen, struct attn_err *err)
{
    struct view view = make_view(v, x, y, s->panel);
    const struct spot origin = {view.x, view.y};
    bool deep = v->axes.n == ATTN_AXES;
    struct box *taken = calloc(2 * v->n + ATTN_AXES, sizeof *taken);
    if (!taken)
        return attn_no_memory(err, NULL, "for the labels of %zu vectors", v->n);
    if (deep)
        draw_axes(v, &view, taken, pen);
    else
        draw_frame(v, &view, pen);
    for (size_t i = 0; i < v->n && deep; i++) {         /* down to the floor, which shows the depth */
        const double floor[ATTN_AXES] = {v->at[i][0], v->at[i][1], 0};
        draw_line(project(&view, v->at[i]), project(&view, floor), 0.6, DROP, pen);
    }
    for (size_t i = 0; i < v->n; i++)
        draw_arrow(origin, project(&view, v->at[i]), pen);
    draw_labels(attn_album_rows(s->album, sheet), v, &view, taken, deep ? ATTN_AXES : 0, pen);
    free(taken);
    return ATTN_OK;
}

/* ---- the table ------------------------------------------------------------------------------------ */

static int draw_table(const struct attn_section *s, const struct attn_tokens *t, const struct attn_vectors *v, size_t x,
                      size_t y, const struct attn_pen *pen, uint8_t *steps, struct attn_err *err)
{
    const struct attn_sheet cosines = {.n = 1, .rows = v->n, .cols = v->n, .data = v->cosine, .keys = true};
    const struct attn_album of = {.queries = t, .keys = t};
    struct attn_section table = *s;
    table.album = &of;
    table.first = &cosines;
    table.panel = 0;
    table.digits = 2;
    return attn_panel_draw(&table, &cosines, 0, x + s->left.margin, y + s->top.margin, pen, steps, err);
}

int attn_vectors_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                      struct attn_err *err)
{
    size_t nth = 0, caption = attn_section_caption(s);
    int rc = ATTN_OK;
    for (const struct attn_sheet *sheet = s->first; sheet && !rc; sheet = attn_album_next_sheet(s->album, sheet))
        for (size_t i = 0; i < sheet->n && !rc; i++, nth++) {
            struct attn_vectors v = {.n = 0};
            char name[64];
            size_t px = x + nth % s->across * (each_width(s) + GAP);
            size_t py = y + s->head + nth / s->across * each_height(s) + caption;
            attn_sheet_call(name, sheet, i, 0);
            if (caption)
                pen->write(pen->self, &(struct attn_lettering){name, px, py - caption + BASE, ATTN_LETTER, ATTN_BEGINS,
                                                               false});
            rc = attn_vectors_make(&v, sheet, i, &s->axes, err);
            if (!rc)
                rc = draw_plot(s, sheet, &v, px, py, pen, err);
            if (!rc)
                rc = draw_table(s, attn_album_rows(s->album, sheet), &v, s->table ? px + s->panel + GAP : px,
                                s->table ? py : py + s->panel + GAP / 2, pen, steps, err);
            attn_vectors_free(&v);
        }
    attn_legend_draw(s, x + s->indent, y + s->height - attn_legend_height(s), pen);
    return rc;
}
