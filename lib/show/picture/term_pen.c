#include "picture/term_pen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/size.h"
#include "text/label.h"

enum { CELL = 2, BAR = 32, SHADES = 5 };        /* columns; shades of one scale */
static const char *const shades[SHADES] = {" ", "░", "▒", "▓", "█"};

struct attn_term_pen attn_term_begin(struct attn_scale *s, struct attn_out *o, const struct attn_album *a,
                                     const struct attn_sheet *first, const struct attn_look *look)
{
    struct attn_look with = *look;
    with.chosen |= !look->colors;
    return (struct attn_term_pen){o, look, attn_scale_choose(s, a, first, &with, look->light), -1};
}

/* ---- colours --------------------------------------------------------------------------- */

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

void attn_term_ground(struct attn_out *o, struct attn_rgb c, int colors)
{
    char codes[40];
    if (colors > 256)
        snprintf(codes, sizeof codes, "\x1b[48;2;%d;%d;%dm", c.r, c.g, c.b);
    else
        snprintf(codes, sizeof codes, "\x1b[48;5;%um", attn_term_256(c));
    attn_out_steer(o, codes);
}

void attn_term_letters(struct attn_out *o, struct attn_rgb ground)
{
    attn_out_steer(o, attn_is_bright(ground) ? "\x1b[38;5;16m" : "\x1b[38;5;231m");
}

static struct attn_rgb color_of(const struct attn_term_pen *p, int step)
{
    return step == ATTN_STEP_NAN ? attn_palette_nan(p->palette) : attn_palette_color(p->palette, (unsigned)step);
}

void attn_term_paint(struct attn_term_pen *p, int step)
{
    if (step == p->painted)
        return;
    p->painted = step;
    if (step < 0)
        attn_out_steer(p->out, "\x1b[0m");
    else
        attn_term_ground(p->out, color_of(p, step), p->look->colors);
}

void attn_term_paint_letters(struct attn_term_pen *p, int step)
{
    attn_term_paint(p, step);
    if (step >= 0)
        attn_term_letters(p->out, color_of(p, step));
}

void attn_term_cell(struct attn_term_pen *p, uint8_t step, size_t columns)
{
    const char *shade = step == ATTN_STEP_NAN ? "!" : step == ATTN_STEP_BLANK ? "·" :
                        shades[step * SHADES / ATTN_STEPS];
    bool paints = p->look->colors && step != ATTN_STEP_BLANK;   /* hidden cells keep the terminal's own colour */
    attn_term_paint(p, paints ? step : -1);
    for (size_t i = 0; i < columns; i++)
        attn_out_str(p->out, paints ? " " : shade);
}

/* ---- words ------------------------------------------------------------------------------ */

void attn_term_title(struct attn_term_pen *p, const struct attn_album *a, const char *title, const char *axes,
                     const char *more)
{
    char edits[ATTN_ALBUM_EDITS];
    attn_album_edits(edits, a);
    attn_out_steer(p->out, p->look->colors ? "\x1b[1m" : "");
    attn_out_printf(p->out, "%.160s%s%s", title, edits, axes);
    attn_out_steer(p->out, p->look->colors ? "\x1b[0m" : "");
    attn_out_printf(p->out, "%s\n", more);
}

/* Where a legend is: lines end before the terminal does. */
struct place { struct attn_term_pen *p; size_t at, indent; };

/* Goes on to the next line if so many columns have no room in this one; else writes what comes between. */
static void step_to(struct place *l, size_t columns, const char *between)
{
    bool first = l->at == l->indent, room = first || !l->p->look->width ||
                 l->at + strlen(between) + columns <= (size_t)l->p->look->width;
    if (room && !first)
        attn_out_str(l->p->out, between);
    l->at += (room && !first ? strlen(between) : 0) + columns;
    if (room)
        return;
    attn_out_char(l->p->out, '\n');
    attn_label_pad(l->p->out, l->indent);
    l->at = l->indent + columns;
}

/* From the lower end to the upper one, in as many colours as there is room for. */
static void put_bar(struct place *l, const struct attn_scale *s)
{
    char low[32], high[32];
    attn_scale_end(low, s, false);
    attn_scale_end(high, s, true);
    size_t ends = l->indent + strlen(low) + strlen(high) + 2, width = (size_t)l->p->look->width;
    size_t bar = width ? larger(smaller(BAR, width - smaller(ends, width)), 2) : BAR;
    step_to(l, strlen(low) + strlen(high) + bar + 2, "");
    attn_out_printf(l->p->out, "%s ", low);
    for (size_t i = 0; i < bar; i++)
        attn_term_cell(l->p, (uint8_t)(i * (ATTN_STEPS - 1) / (bar - 1)), 1);
    attn_term_paint(l->p, -1);
    attn_out_printf(l->p->out, " %s", high);
}

/* Each shade with the number it begins at. */
static void put_shades(struct place *l, const struct attn_scale *s)
{
    char text[32], high[32];
    attn_scale_end(high, s, true);
    for (size_t i = 0; i < SHADES; i++) {
        unsigned first = (unsigned)((i * ATTN_STEPS + SHADES - 1) / SHADES);
        bool last = i + 1 == SHADES;
        attn_snprintf(text, sizeof text, "%.2g", attn_scale_value(s, first) + 0.0);
        step_to(l, strlen(i ? ". from " : "blank from ") + strlen(text) + (last ? 4 + strlen(high) : 0), ", ");
        attn_out_printf(l->p->out, "%s from %s%s%s", i ? shades[i] : "blank", text, last ? " to " : "",
                        last ? high : "");
    }
}

void attn_term_legend(struct attn_term_pen *p, const struct attn_scale *s, size_t indent)
{
    struct place l = {p, indent, indent};
    char text[96];
    int step;
    attn_label_pad(p->out, indent);
    if (attn_scale_is_bar(s))
        (p->look->colors ? put_bar : put_shades)(&l, s);
    for (size_t i = 0; attn_legend_line(s, i, text, &step); i++) {
        step_to(&l, strlen(text) + (step >= 0 ? CELL + 1 : 0), "; ");
        if (step >= 0) {
            attn_term_cell(p, (uint8_t)step, CELL);
            attn_term_paint(p, -1);
            attn_out_char(p->out, ' ');
        }
        attn_out_str(p->out, text);
    }
    attn_out_char(p->out, '\n');
}
