#include "picture/legend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "picture/canvas.h"
#include "picture/section.h"

enum { BAR = 240, THICK = 10, TICK = 3, SWATCH = 10 };  /* pixels */
enum { MANY = 6 };                      /* at most so many steps between ticks */

/* ---- numbers next to the scale --------------------------------------------------------- */

/* m times ten to the power e, rounded only once: 3 and -1 give exactly 0.3, not a neighbour. */
static double decimal(double m, int e)
{
    return e < 0 ? m / pow(10, -e) : m * pow(10, e);
}

static size_t add_tick(struct attn_tick *tick, size_t n, const struct attn_scale *s, double x)
{
    double at = ((s->scaling == ATTN_COLOR_LOG ? log10(x) : x) - s->low) / (s->high - s->low);
    if (n == ATTN_TICKS_MAX || at < -1e-9 || at > 1 + 1e-9)
        return n;
    tick[n].at = fmin(fmax(at, 0), 1);
    tick[n].text[attn_num_f64(tick[n].text, x)] = '\0';
    return n + 1;
}

/* Powers of ten, and 2 and 5 times these if there are few. */
static size_t log_ticks(struct attn_tick *tick, const struct attn_scale *s)
{
    size_t n = 0;
    bool few = s->high - s->low < 2;
    for (int e = (int)floor(s->low); e <= (int)ceil(s->high); e++) {
        n = add_tick(tick, n, s, decimal(1, e));
        if (few)
            n = add_tick(tick, add_tick(tick, n, s, decimal(2, e)), s, decimal(5, e));
    }
    return n;
}

size_t attn_scale_ticks(struct attn_tick tick[ATTN_TICKS_MAX], const struct attn_scale *s)
{
    if (s->scaling == ATTN_COLOR_LOG)
        return log_ticks(tick, s);
    double span = s->high - s->low;
    int e = (int)floor(log10(span / MANY));
    double rest = span / MANY / pow(10, e);
    int m = rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10;
    double unit = decimal(m, e);
    size_t n = 0;
    for (double k = ceil(s->low / unit - 1e-9); k * unit <= s->high + unit * 1e-9 && n < ATTN_TICKS_MAX; k++)
        n = add_tick(tick, n, s, decimal(k * m, e) + 0.0);      /* adding 0 turns -0 into 0 */
    return n;
}

void attn_scale_end(char text[32], const struct attn_scale *s, bool last)
{
    double x = attn_scale_value(s, last ? ATTN_STEPS - 1 : 0);
    int e = x != 0 ? (int)floor(log10(fabs(x))) - 3 : 0;
    text[attn_num_f64(text, decimal(round(x / pow(10, e)), e) + 0.0)] = '\0';
}

/* ---- values outside of the scale -------------------------------------------------------- */

bool attn_legend_line(const struct attn_scale *s, size_t i, char text[96], int *step)
{
    size_t n = 0;
    *step = -1;
    if (s->scaling != ATTN_COLOR_LINEAR && i == n++) {
        strcpy(text, s->scaling == ATTN_COLOR_LOG ? "logarithmic" : "each row divided by its largest magnitude");
        return true;
    }
    if (s->hide_first && i == n++) {
        *step = ATTN_STEP_BLANK;
        strcpy(text, "first key hidden, nothing renormalised");
        return true;
    }
    if (s->triangle && i == n++) {
        *step = ATTN_STEP_BLANK;
        strcpy(text, "hidden by the mask");
        return true;
    }
    if (s->hidden && i == n++) {
        *step = ATTN_STEP_BLANK;
        snprintf(text, 96, "%" PRIu64 " of -inf", s->hidden);
        return true;
    }
    if (s->unlogged && i == n++) {
        *step = ATTN_STEP_BLANK;
        snprintf(text, 96, "%" PRIu64 " not above 0", s->unlogged);
        return true;
    }
    if (s->nan + s->inf && i == n) {
        *step = ATTN_STEP_NAN;
        if (!s->inf)
            snprintf(text, 96, "%" PRIu64 " NaN", s->nan);
        else
            snprintf(text, 96, "%" PRIu64 " NaN, %" PRIu64 " inf", s->nan, s->inf);
        return true;
    }
    return false;
}

size_t attn_legend_height(const struct attn_scale *s)
{
    char text[96];
    int step;
    size_t lines = 0;
    while (attn_legend_line(s, lines, text, &step))
        lines++;
    return THICK + TICK + ATTN_LINE + lines * ATTN_LINE + ATTN_LINE / 2;
}

/* ---- drawing --------------------------------------------------------------------------- */

static void draw_bar(size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t i = 0; i < BAR; i++) {
        struct attn_area a = {x + i, y, 1, THICK};
        pen->fill(pen->self, &a, (uint8_t)(i * (ATTN_STEPS - 1) / (BAR - 1)));
    }
}

static void draw_ticks(const struct attn_scale *s, size_t x, size_t y, const struct attn_pen *pen)
{
    struct attn_tick tick[ATTN_TICKS_MAX];
    size_t n = attn_scale_ticks(tick, s);
    double free_from = -1e9;
    for (size_t i = 0; i < n; i++) {
        double at = tick[i].at * (BAR - 1), half = (double)(strlen(tick[i].text) * ATTN_LETTER) / 2;
        size_t place = x + (size_t)lround(at);
        struct attn_area a = {place, y, 1, TICK};
        struct attn_lettering w = {tick[i].text, place, y + TICK + ATTN_LINE - 4, ATTN_LETTER, ATTN_MIDDLE, false};
        pen->fill(pen->self, &a, ATTN_INK);
        if (at - half < free_from)
            continue;
        pen->write(pen->self, &w);
        free_from = at + half + ATTN_LETTER;
    }
}

void attn_legend_draw(const struct attn_scale *s, size_t x, size_t y, const struct attn_pen *pen)
{
    char text[96];
    int step;
    draw_bar(x, y, pen);
    draw_ticks(s, x, y + THICK, pen);
    y += THICK + TICK + ATTN_LINE;
    for (size_t i = 0; attn_legend_line(s, i, text, &step); i++, y += ATTN_LINE) {
        size_t indent = step < 0 ? 0 : SWATCH + 6;
        struct attn_area swatch = {x, y + 3, SWATCH, SWATCH};
        struct attn_lettering w = {text, x + indent, y + ATTN_LINE - 4, ATTN_LETTER, ATTN_BEGINS, false};
        if (step >= 0)
            pen->fill(pen->self, &swatch, (uint8_t)step);
        pen->write(pen->self, &w);
    }
}
