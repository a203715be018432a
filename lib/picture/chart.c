#include "picture/chart.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "picture/png.h"

enum {                                  /* pixels */
    WIDTH = 800, HEIGHT = 440, LEFT = 72, RIGHT = 24, TOP = 64, BOTTOM = 56, LETTER = 8, MARK = 5,
    ACROSS = WIDTH - LEFT - RIGHT, DOWN = HEIGHT - TOP - BOTTOM
};
enum { GRID = ATTN_PAPER + 2, RANGE = ATTN_PAPER + 4, PLAIN = ATTN_INK, ACCENT = ATTN_STEPS / 3 };      /* colours */

struct axis { double low, high, tick; };
struct drawing { struct attn_canvas canvas; struct axis x, y; };

/* ---- axes ------------------------------------------------------------------------------ */

/* The distance between ticks: 1, 2 or 5 times a power of ten, such that the range has four to nine of them. */
static double tick_of(double range)
{
    double power = pow(10, floor(log10(range))), share = range / power;
    return power * (share < 2 ? 0.2 : share < 5 ? 0.5 : 1);
}

static struct axis axis_of(double low, double high)
{
    if (!(high > low)) {                /* no point, or all values are equal */
        low = isfinite(low) ? low - 1 : 0;
        high = low + 2;
    }
    double tick = tick_of(high - low);
    return (struct axis){floor(low / tick) * tick, ceil(high / tick) * tick, tick};
}

static void find_axes(struct drawing *d, const struct attn_chart *c)
{
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (size_t k = 0; k < c->n; k++)
        for (size_t i = 0; i < c->curve[k].n; i++) {
            x[0] = fmin(x[0], c->curve[k].x[i]);
            x[1] = fmax(x[1], c->curve[k].x[i]);
            y[0] = fmin(y[0], c->curve[k].y[i]);
            y[1] = fmax(y[1], c->curve[k].y[i]);
        }
    d->x = axis_of(fmin(x[0], 0), x[1]);
    d->y = axis_of(y[0], y[1]);
}

static double share(const struct axis *a, double v)
{
    return (v - a->low) / (a->high - a->low);
}

static size_t column(const struct drawing *d, double x)
{
    return LEFT + (size_t)(share(&d->x, x) * (ACROSS - 1));
}

static size_t row(const struct drawing *d, double y)
{
    return TOP + (size_t)((1 - share(&d->y, y)) * (DOWN - 1));
}

static void fill(struct drawing *d, size_t x, size_t y, size_t width, size_t height, uint8_t color)
{
    attn_canvas_fill(&d->canvas, &(struct attn_area){x, y, width, height}, color);
}

static void write_words(struct drawing *d, const char *s, size_t x, size_t y, enum attn_anchor anchor)
{
    attn_canvas_write(&d->canvas, &(struct attn_lettering){s, x, y, LETTER, anchor, false});
}

static void write_number(struct drawing *d, const struct axis *a, double v, size_t x, size_t y, enum attn_anchor anchor)
{
    char text[ATTN_NUM_FIXED_MAX + 1];
    int digits = a->tick < 1 ? (int)ceil(-log10(a->tick)) : 0;
    text[attn_num_fixed(text, v, digits < 9 ? digits : 9)] = '\0';
    write_words(d, text, x, y, anchor);
}

static int ticks(const struct axis *a)
{
    return (int)lround((a->high - a->low) / a->tick);
}

static void draw_axes(struct drawing *d)
{
    for (int i = 0; i <= ticks(&d->y); i++) {
        double v = d->y.low + i * d->y.tick;
        fill(d, LEFT, row(d, v), ACROSS, 1, GRID);
        write_number(d, &d->y, v, LEFT - LETTER, row(d, v) + LETTER / 2, ATTN_ENDS);
    }
    for (int i = 0; i <= ticks(&d->x); i++) {
        double v = d->x.low + i * d->x.tick;
        fill(d, column(d, v), TOP, 1, DOWN, GRID);
        write_number(d, &d->x, v, column(d, v), HEIGHT - BOTTOM + 2 * LETTER, ATTN_MIDDLE);
    }
}

/* ---- curves ---------------------------------------------------------------------------- */

static void draw_line(struct drawing *d, size_t x0, size_t y0, size_t x1, size_t y1, uint8_t color)
{
    double rise = x1 > x0 ? ((double)y1 - (double)y0) / (double)(x1 - x0) : 0;
    for (size_t x = x0; x <= x1; x++) {
        double from = (double)y0 + rise * (double)(x - x0), to = x < x1 ? from + rise : from;
        double top = fmin(from, to);
        fill(d, x, (size_t)top, 2, (size_t)fabs(to - from) + 2, color);
    }
}

/* Draws the range of the points from i on that share a column of pixels; *mean gets the row of their mean. */
static size_t draw_column(struct drawing *d, const struct attn_chart_curve *c, size_t i, size_t *mean)
{
    size_t at = column(d, c->x[i]), n = 0;
    double sum = 0, low = INFINITY, high = -INFINITY;
    for (; i < c->n && column(d, c->x[i]) == at; i++, n++) {
        sum += c->y[i];
        low = fmin(low, c->y[i]);
        high = fmax(high, c->y[i]);
    }
    if (n > 1)
        fill(d, at, row(d, high), 1, row(d, low) - row(d, high) + 1, RANGE);
    *mean = row(d, sum / (double)n);
    return i;
}

static void draw_curve(struct drawing *d, const struct attn_chart_curve *c)
{
    uint8_t color = c->marked ? ACCENT : PLAIN;
    size_t x = 0, y = 0;
    for (size_t i = 0, next, mean; i < c->n; i = next) {
        size_t at = column(d, c->x[i]);
        next = draw_column(d, c, i, &mean);
        if (i > 0)
            draw_line(d, x, y, at, mean, color);
        if (c->marked)
            fill(d, at - MARK / 2, mean - MARK / 2, MARK + 1, MARK + 1, color);
        x = at;
        y = mean;
    }
}

static void draw_legend(struct drawing *d, const struct attn_chart *c)
{
    write_words(d, c->title, LEFT, TOP / 2 - LETTER / 2, ATTN_BEGINS);
    write_words(d, c->x_label, WIDTH - RIGHT, HEIGHT - LETTER, ATTN_ENDS);
    for (size_t k = 0; k < c->n; k++) {
        size_t letter = LETTER, x = LEFT + k * (ACROSS / 2), y = TOP - letter;
        fill(d, x, y - letter / 2, 3 * letter, 2, c->curve[k].marked ? ACCENT : PLAIN);
        write_words(d, c->curve[k].label, x + 4 * letter, y, ATTN_BEGINS);
    }
}

int attn_chart_write(struct attn_out *out, const struct attn_chart *c, struct attn_err *err)
{
    struct drawing d = {.canvas = {0}};
    unsigned char *png = NULL;
    size_t len = 0;
    int rc = attn_canvas_new(&d.canvas, WIDTH, HEIGHT, err);
    if (rc)
        return rc;
    find_axes(&d, c);
    draw_axes(&d);
    for (size_t k = 0; k < c->n; k++)
        draw_curve(&d, &c->curve[k]);
    draw_legend(&d, c);
    rc = attn_png_encode(&png, &len, &d.canvas, attn_palette_at(0), err);
    attn_out_write(out, png, len);
    free(png);
    attn_canvas_free(&d.canvas);
    return rc;
}
