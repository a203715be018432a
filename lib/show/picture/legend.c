/* legend.c - what the colours of a section mean: a bar with numbers and, below it, what has a colour of its own. */
#include "picture/section.h"

#include <math.h>
#include <string.h>

#include "base/size.h"
#include "picture/wrap.h"

static size_t bar_height(const struct attn_section *s)
{
    return attn_scale_is_bar(&s->scale) ? ATTN_LEGEND_THICK + ATTN_LEGEND_TICK + ATTN_LINE : 0;
}

size_t attn_legend_height(const struct attn_section *s)
{
    char text[96];
    int step;
    size_t lines = 0;
    for (size_t i = 0; attn_legend_line(&s->scale, i, text, &step); i++)
        lines += attn_wrap_count(text, strlen(text), s->legend - (step >= 0 ? ATTN_LEGEND_INDENT : 0), SIZE_MAX);
    return bar_height(s) + lines * ATTN_LINE + ATTN_LINE / 2;
}

size_t attn_legend_width(const struct attn_section *s)
{
    char text[96];
    int step;
    size_t widest = 0;
    for (size_t i = 0; attn_legend_line(&s->scale, i, text, &step); i++)
        for (struct attn_wrap rest = {text, strlen(text)}; rest.len;) {
            size_t beside = step >= 0 ? ATTN_LEGEND_INDENT : 0;
            widest = larger(widest, beside + attn_wrap_next(&rest, s->legend - beside).columns);
        }
    return widest * ATTN_LETTER;
}

enum { SWATCH = 10 };                   /* pixels */

/* Each colour reaches to the end and is drawn over by the next, so that there are no seams. */
static void draw_bar(size_t bar, size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t i = 0; i < bar; i++) {
        struct attn_area a = {x + i, y, bar - i, ATTN_LEGEND_THICK};
        pen->fill(pen->self, &a, (uint8_t)(i * (ATTN_STEPS - 1) / (bar - 1)));
    }
}

static void draw_ticks(const struct attn_scale *s, size_t bar, size_t x, size_t y, const struct attn_pen *pen)
{
    struct attn_tick tick[ATTN_TICKS_MAX];
    size_t n = attn_scale_ticks(tick, s);
    double free_from = -1e9;
    for (size_t i = 0; i < n; i++) {
        double at = tick[i].at * (double)(bar - 1), half = (double)(strlen(tick[i].text) * ATTN_LETTER) / 2;
        size_t tick_x = x + (size_t)lround(at);
        struct attn_area a = {tick_x, y, 1, ATTN_LEGEND_TICK};
        struct attn_lettering w = {tick[i].text, tick_x, y + ATTN_LEGEND_TICK + ATTN_LINE - 4, ATTN_LETTER, ATTN_MIDDLE,
                                   false};
        pen->fill(pen->self, &a, ATTN_INK);
        if (at - half < free_from)
            continue;
        pen->write(pen->self, &w);
        free_from = at + half + ATTN_LETTER;
    }
}

void attn_legend_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen)
{
    char text[96];
    int step;
    if (attn_scale_is_bar(&s->scale)) {
        draw_bar(s->bar, x, y, pen);
        draw_ticks(&s->scale, s->bar, x, y + ATTN_LEGEND_THICK, pen);
    }
    y += bar_height(s);
    for (size_t i = 0; attn_legend_line(&s->scale, i, text, &step); i++) {
        size_t indent = step < 0 ? 0 : SWATCH + 6, columns = s->legend - (step < 0 ? 0 : ATTN_LEGEND_INDENT);
        struct attn_area swatch = {x + 1, y + 4, SWATCH - 2, SWATCH - 2};
        if (step >= 0) {                /* on a border: it may be as white as paper */
            pen->fill(pen->self, &(struct attn_area){x, y + 3, SWATCH, SWATCH}, ATTN_PAPER + 4);
            pen->fill(pen->self, &swatch, (uint8_t)step);
        }
        for (struct attn_wrap rest = {text, strlen(text)}; rest.len; y += ATTN_LINE) {
            struct attn_label line = attn_wrap_next(&rest, columns);
            struct attn_lettering w = {line.text, x + indent, y + ATTN_LINE - 4, ATTN_LETTER, ATTN_BEGINS, false};
            pen->write(pen->self, &w);
        }
    }
}
