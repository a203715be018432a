#include "picture/look.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "picture/lettering.h"

enum { KNOTS = 9 };                     /* evenly spaced; colours between two knots are interpolated linearly */

struct attn_palette { const char *name; bool diverges; uint32_t knots[KNOTS], nan, blank; };

/* viridis and magma follow the well-known colour maps, whose lightness rises evenly, so that equal steps look equal,
 * also to the colour-blind and in print.  balance is light in the middle, blue below and orange above.  blues
 * and ink begin with white or nearly, for paper; what blues and balance hide is white. */
static const struct attn_palette palettes[] = {
    {"viridis", false, {0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21908C, 0x27AD81, 0x5DC863, 0xAADC32, 0xFDE725},
     0xFF5A4F, 0xECECEC},
    {"magma", false, {0x000004, 0x1D1147, 0x51127C, 0x822681, 0xB63679, 0xE65164, 0xFB8861, 0xFEC287, 0xFCFDBF},
     0x00B8C8, 0xE2E6EC},
    {"cividis", false, {0x00204D, 0x05366E, 0x35456C, 0x575C6D, 0x737475, 0x928D78, 0xB3A772, 0xD6C463, 0xFFEA46},
     0xE0457B, 0xECECEC},
    {"gray", false, {0x000000, 0x202020, 0x404040, 0x606060, 0x808080, 0x9F9F9F, 0xBFBFBF, 0xDFDFDF, 0xFFFFFF},
     0xFF5A4F, 0xCFE4F7},
    {"blues", false, {0xF8FAFD, 0xD9E6F4, 0xBFD6EC, 0x9ABFE0, 0x72A5D2, 0x4B8AC2, 0x2A6CAC, 0x124C8C, 0x08285A},
     0xD9480F, 0xFFFFFF},
    {"ink", false, {0xFFFFFF, 0xDFDFDF, 0xBFBFBF, 0x9F9F9F, 0x808080, 0x606060, 0x404040, 0x202020, 0x000000},
     0xD9480F, 0xCFE4F7},
    {"balance", true, {0x0B3C6F, 0x2268A5, 0x5B9BCB, 0xABCDE4, 0xF4F4F1, 0xF5CDA4, 0xE5964B, 0xBE5F12, 0x7F3207},
     0x18A05E, 0xFFFFFF},
};
enum { PALETTES = sizeof palettes / sizeof palettes[0] };

static struct attn_rgb rgb(uint32_t c)
{
    return (struct attn_rgb){(uint8_t)(c >> 16), (uint8_t)(c >> 8), (uint8_t)c};
}

static uint8_t between(uint8_t a, uint8_t b, double t)
{
    return (uint8_t)(a + t * (b - a) + 0.5);
}

/* The colours of lines, one for each head, as others draw them, too. */
static const struct attn_palette heads = {
    "heads", false, {0x1F77B4, 0xFF7F0E, 0x2CA02C, 0xD62728, 0x9467BD, 0x8C564B, 0xE377C2, 0x17BECF}, 0xFFFFFF,
    0xFFFFFF};

static struct attn_rgb head_color(unsigned step)
{
    const struct attn_rgb paper = {255, 255, 255}, full = rgb(heads.knots[step / ATTN_LINE_LEVELS]);
    double t = (double)(step % ATTN_LINE_LEVELS) / (ATTN_LINE_LEVELS - 1);
    return (struct attn_rgb){between(paper.r, full.r, t), between(paper.g, full.g, t), between(paper.b, full.b, t)};
}

struct attn_rgb attn_palette_color(const struct attn_palette *p, unsigned step)
{
    if (p == &heads)
        return head_color(step);
    double at = (double)step * (KNOTS - 1) / (ATTN_STEPS - 1);
    unsigned i = at < KNOTS - 1 ? (unsigned)at : KNOTS - 2;
    struct attn_rgb a = rgb(p->knots[i]), b = rgb(p->knots[i + 1]);
    return (struct attn_rgb){between(a.r, b.r, at - i), between(a.g, b.g, at - i), between(a.b, b.b, at - i)};
}

struct attn_rgb attn_palette_nan(const struct attn_palette *p) { return rgb(p->nan); }
struct attn_rgb attn_palette_blank(const struct attn_palette *p) { return rgb(p->blank); }
const struct attn_palette *attn_palette_at(size_t i) { return i < PALETTES ? &palettes[i] : NULL; }
const char *attn_palette_name(const struct attn_palette *p) { return p->name; }
bool attn_palette_diverges(const struct attn_palette *p) { return p->diverges; }
const struct attn_palette *attn_palette_heads(void) { return &heads; }

/* On a terminal whose ground nobody knows: light colours would glare on a dark one, and the strongest of a light
 * palette sink into it.  Dark cells with light peaks stand out from both, as those of viridis do. */
static const struct attn_palette dusk = {
    "dusk", true, {0x9BD3FF, 0x4FA3E8, 0x2670B8, 0x1B4470, 0x26262B, 0x6B3C12, 0xB3661A, 0xEA9A3A, 0xFFD38A},
    0x18A05E, 0x26262B};

const struct attn_palette *attn_palette_usual(bool light, bool diverges)
{
    enum { VIRIDIS = 0, BLUES = 4, BALANCE = 6 };
    return light ? &palettes[diverges ? BALANCE : BLUES] : diverges ? &dusk : &palettes[VIRIDIS];
}

static int find_palette(const struct attn_palette **out, const char *name, struct attn_err *err)
{
    char list[128] = "";
    for (size_t i = 0; i < PALETTES; i++) {
        if (!name || !strcmp(palettes[i].name, name)) {
            *out = &palettes[i];
            return ATTN_OK;
        }
        strcat(strcat(list, i ? ", " : ""), palettes[i].name);
    }
    return attn_fail(err, ATTN_EUSAGE, "unknown palette '%s': expected one of %s", name, list);
}

static int find_scaling(enum attn_color_scale *out, const char *name, struct attn_err *err)
{
    static const char *const names[] = {[ATTN_COLOR_LINEAR] = "linear", [ATTN_COLOR_LOG] = "log",
                                        [ATTN_COLOR_BY_ROW] = "row", [ATTN_COLOR_SQRT] = "sqrt",
                                        [ATTN_COLOR_AUTO] = "auto"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i], name ? name : "auto")) {
            *out = (enum attn_color_scale)i;
            return ATTN_OK;
        }
    return attn_fail(err, ATTN_EUSAGE, "unknown colour scale '%s': expected linear, sqrt, log or row", name);
}

enum { WIDTH_LEAST = 20, WIDTH_MOST = 2000 };           /* millimetres */
static const double LETTERS = 7, POINTS_OF_INCH = 72, MM_OF_INCH = 25.4;
static const double UNITS_OF_SIZE = 35 / 3.0;           /* of labels, whose letters are 7 units wide */

double attn_look_unit(const struct attn_look *look)
{
    return (look->letters > 0 ? look->letters : LETTERS) / UNITS_OF_SIZE;
}

size_t attn_look_limit(const struct attn_look *look)
{
    return look->paper > 0 ? (size_t)(look->paper / MM_OF_INCH * POINTS_OF_INCH / attn_look_unit(look)) : 0;
}

int attn_look_mm(const struct attn_look *look, size_t units)
{
    enum { MARGINS = 8 };
    return (int)ceil((double)(units + MARGINS) * attn_look_unit(look) / POINTS_OF_INCH * MM_OF_INCH);
}

double attn_look_points(const struct attn_look *look, size_t units)
{
    return look->paper > 0 ? look->paper / MM_OF_INCH * POINTS_OF_INCH : (double)units * attn_look_unit(look);
}

void attn_look_say(const struct attn_look *look, const char *format, ...)
{
    va_list args;
    if (!look->note || *look->note)
        return;
    va_start(args, format);
    attn_vsnprintf(look->note, ATTN_PLOT_NOTE, format, args);
    va_end(args);
}

int attn_look_make(struct attn_look *out, const struct attn_picture_opts *o, struct attn_err *err)
{
    *out = (struct attn_look){.hide_first = o->hide_first, .cell = o->cell, .colors = o->colors, .paper = o->width,
                              .letters = o->letters, .title = o->title, .columns = o->columns, .numbers = o->numbers,
                              .font = o->font, .font_index = o->font_index, .query = o->query, .axes = o->axes,
                              .light = o->light, .note = o->note,
                              .chosen = o->palette};
    if (o->width != 0 && !(o->width >= WIDTH_LEAST && o->width <= WIDTH_MOST))
        return attn_fail(err, ATTN_EUSAGE, "a width of %g mm: expected %d to %d", o->width, WIDTH_LEAST, WIDTH_MOST);
    if (o->letters != 0 && !(o->letters >= ATTN_LETTERS_LEAST && o->letters <= ATTN_LETTERS_MOST))
        return attn_fail(err, ATTN_EUSAGE, "letters of %g points: expected %d to %d", o->letters, ATTN_LETTERS_LEAST,
                         ATTN_LETTERS_MOST);
    int rc = o->lang ? attn_language_choose(&out->language, o->lang, err) : ATTN_OK;
    if (!rc)
        rc = attn_font_check(o->font, o->font_index, err);
    if (!rc)
        rc = find_palette(&out->palette, o->palette, err);
    if (!rc)
        rc = find_scaling(&out->scaling, o->scale, err);
    return rc || !o->figure ? rc : attn_figure_find(&out->figure, o->figure, err);
}
