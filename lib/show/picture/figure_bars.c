/* figure_bars.c - numbers with names as bars from a common line at 0: those below it to the left, in another colour. */
#include "picture/section.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"

enum {                                  /* pixels; NUMBER: beside a bar, with what is between */
    LINE = 17, THICK = 11, BARS = 320, BARS_LEAST = 40, NUMBER = 9 * ATTN_LETTER, AXIS = 30, BASE = 13
};
enum { NAME_MOST = 24, DIGITS = 4, BELOW = ATTN_STEPS / 6, ABOVE = ATTN_STEPS - ATTN_STEPS / 6, GRID = ATTN_PAPER + 2 };

/* wide: of all bars; low and high of the scale, as magnitudes: what they reach on either side. */
static int plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    double low = 0, high = 0;
    size_t numbers = 0;
    if (!s->rows)
        return attn_fail(err, ATTN_EUSAGE, "%s: there is nothing to draw", s->first->title);
    for (size_t i = 0; i < s->rows; i++)
        if (isfinite(s->first->data[i])) {
            low = fmin(low, (double)s->first->data[i]);
            high = fmax(high, (double)s->first->data[i]);
        }
    numbers = (size_t)NUMBER * ((low < 0) + (high > 0 || low == 0));
    s->left = attn_section_axis(attn_album_rows(s->album, s->first), s->rows, LINE, NAME_MOST, false);
    if (width && width < s->left.margin + numbers + BARS_LEAST)
        return attn_fail(err, ATTN_EUSAGE, "%s: names and numbers take %d mm, and the width is %g: choose a larger "
                                           "--width or a smaller --font-size", s->first->title,
                         attn_look_mm(look, s->left.margin + numbers + BARS_LEAST), look->paper);
    s->wide = smaller(width ? width - s->left.margin - numbers : BARS, (size_t)2 * BARS);
    s->palette = look->chosen ? look->palette : attn_palette_usual(true, true);
    s->scale = (struct attn_scale){.scaling = ATTN_COLOR_LINEAR, .low = low, .high = high > low ? high : low + 1};
    s->across = s->down = 1;
    s->indent = s->left.margin + (low < 0 ? NUMBER : 0);
    attn_section_name(s, s->first->axes);
    attn_section_frame(s, s->left.margin + numbers + s->wide, s->rows * LINE + AXIS, width);
    return ATTN_OK;
}

static size_t place(const struct attn_section *s, double v)
{
    return (size_t)lround((v - s->scale.low) / (s->scale.high - s->scale.low) * (double)s->wide);
}

/* Numbers along the bottom, and faint lines up from them. */
static void draw_axis(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen)
{
    struct attn_tick tick[ATTN_TICKS_MAX];
    size_t n = attn_scale_ticks(tick, &s->scale), high = s->rows * LINE;
    double free_from = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)lround(tick[i].at * (double)s->wide);
        double half = (double)(strlen(tick[i].text) * ATTN_LETTER) / 2;
        pen->fill(pen->self, &(struct attn_area){x + at, y, 1, high + ATTN_LEGEND_TICK}, GRID);
        if ((double)at - half < free_from)
            continue;
        pen->write(pen->self, &(struct attn_lettering){tick[i].text, x + at, y + high + ATTN_LEGEND_TICK + BASE,
                                                       ATTN_LETTER, ATTN_MIDDLE, false});
        free_from = (double)at + half + ATTN_LETTER;
    }
    pen->fill(pen->self, &(struct attn_area){x + place(s, 0), y, 1, high + ATTN_LEGEND_TICK}, ATTN_PAPER + 8);
}

static void draw_bar(const struct attn_section *s, float v, size_t x, size_t y, const struct attn_pen *pen)
{
    char text[ATTN_NUM_FIXED_MAX];
    size_t zero = place(s, 0), end = isfinite(v) ? place(s, (double)v) : zero;
    struct attn_area bar = {x + smaller(zero, end), y + (LINE - THICK) / 2, larger(zero, end) - smaller(zero, end),
                            THICK};
    bool below = v < 0;
    if (bar.width)
        pen->fill(pen->self, &bar, below ? BELOW : ABOVE);
    text[attn_num_fixed(text, (double)v, DIGITS)] = '\0';
    pen->write(pen->self, &(struct attn_lettering){text, below ? x + end - 4 : x + larger(end, zero) + 5, y + BASE,
                                                   ATTN_LETTER, below ? ATTN_ENDS : ATTN_BEGINS, false});
}

static int draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                struct attn_err *err)
{
    size_t bars = x + s->indent;
    (void)steps;
    (void)err;
    y += s->head;
    draw_axis(s, bars, y, pen);
    for (size_t i = 0; i < s->rows; i++) {
        struct attn_label l = attn_section_label(attn_album_rows(s->album, s->first), i, &s->left, NAME_MOST);
        pen->write(pen->self, &(struct attn_lettering){l.text, x + s->left.margin - ATTN_APART, y + i * LINE + BASE,
                                                       ATTN_LETTER, ATTN_ENDS, false});
        draw_bar(s, s->first->data[i], bars, y + i * LINE, pen);
    }
    return ATTN_OK;
}

const struct attn_figure_method attn_figure_bars = {"bars", plan, draw, NULL, ATTN_FIGURE_NO_LEGEND, NULL, NULL};
