/* look.h - how pictures of an album look: palettes, other choices of the user, and the formats that draw. */
#ifndef ATTN_PICTURE_LOOK_H
#define ATTN_PICTURE_LOOK_H

#include "attn_tools.h"
#include "base/out.h"
#include "language/language.h"
#include "picture/album.h"

struct attn_rgb { uint8_t r, g, b; };
/* Whether dark text stands out from a colour more than white text does: its luminance is above .195, where a number of
 * sRGB squared is nearly linear. */
static inline bool attn_is_bright(struct attn_rgb c)
{
    return 2126 * c.r * c.r + 7152 * c.g * c.g + 722 * c.b * c.b > 149300000;
}

/* The colours of a scale, and clearly different ones for cells outside of it. */
struct attn_palette;
enum { ATTN_STEPS = 240 };              /* colours of a scale; 8-bit images use the rest for text and special cells */
struct attn_rgb attn_palette_color(const struct attn_palette *p, unsigned step);        /* step < ATTN_STEPS */
struct attn_rgb attn_palette_nan(const struct attn_palette *p);         /* NaN */
/* hidden: -inf, and on a log scale of one sign 0 or less */
struct attn_rgb attn_palette_blank(const struct attn_palette *p);
const struct attn_palette *attn_palette_at(size_t i);                   /* NULL after the last; 0 is the default */
/* What stands for the ground is 0: it is light, as paper is, or it may be any, as of most terminals; for numbers of one
 * sign, and of both. */
const struct attn_palette *attn_palette_usual(bool light, bool diverges);
/* For lines: ATTN_LINE_HEADS colours of ATTN_LINE_LEVELS steps, from paper to the colour. */
const struct attn_palette *attn_palette_heads(void);
enum { ATTN_LINE_HEADS = 8, ATTN_LINE_LEVELS = ATTN_STEPS / ATTN_LINE_HEADS };
const char *attn_palette_name(const struct attn_palette *p);
bool attn_palette_diverges(const struct attn_palette *p);               /* its middle stands for 0 */

enum attn_color_scale { ATTN_COLOR_LINEAR, ATTN_COLOR_LOG, ATTN_COLOR_BY_ROW, ATTN_COLOR_SQRT,
                        ATTN_COLOR_AUTO };      /* sqrt for patterns of more than ATTN_MANY_KEYS, else linear */
enum { ATTN_MANY_KEYS = 24 };
struct attn_figure_method;              /* a kind of figure: section.h */
/* Bars with names, a sheet of one column: no choice of the user, but what some answers are. */
extern const struct attn_figure_method attn_figure_bars;
struct attn_look {
    const struct attn_palette *palette;
    bool chosen;                        /* the palette was asked for: else each section of a figure has its own */
    enum attn_color_scale scaling;
    bool light;                         /* of a terminal: its ground is */
    bool hide_first;                    /* column 0 is left blank and out of the scale */
    size_t cell;                        /* pixels, or columns of a terminal; 0: as fits */
    int colors;                         /* of a terminal: 0 (shades), 256 or 1 << 24 */
    int width;                          /* of a terminal in columns; 0: no limit */
    bool words;                         /* a page begins with tokens merged into words */
    bool bare;                          /* on a terminal: the maps alone, without title, keys and legend */
    double paper;                       /* of figures: width in millimetres; 0: as it comes out */
    double letters;                     /* of figures, as what follows; as in struct attn_picture_opts */
    const char *title;
    size_t columns;
    bool numbers;
    const char *font; size_t font_index;
    const struct attn_figure_method *figure;    /* NULL: heat maps */
    const char *query, *axes;
    bool dense;                         /* labels may be fewer than would fit, so that more matrices do */
    char *note;                         /* gets what was arranged otherwise than asked, ATTN_PLOT_NOTE bytes; or NULL */
    const struct attn_language *language;       /* of pages; NULL: English */
    struct attn_lacks *lacks;           /* gets what is drawn as a box for want of a letter; NULL: nobody asks */
};
/* A figure is laid out in units, which are the pixels of a PNG without a width.  Points of a unit on paper: labels have
 * the size that was asked for. */
double attn_look_unit(const struct attn_look *look);
size_t attn_look_limit(const struct attn_look *look);   /* the width of a figure in units, rounded; 0: any */
/* What so many units and the margins take on paper, in whole millimetres, rounded up. */
int attn_look_mm(const struct attn_look *look, size_t units);
/* the width on paper of a figure that is so many units wide */
double attn_look_points(const struct attn_look *look, size_t units);
/* Leaves a note, unless there is one or nobody asks. */
void attn_look_say(const struct attn_look *look, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An invalid choice is a usage error that lists the valid ones. */
int attn_look_make(struct attn_look *out, const struct attn_picture_opts *o, struct attn_err *err);

/* A kind of figure by its name (NULL: the first); an unknown one is a usage error that lists them. */
int attn_figure_find(const struct attn_figure_method **out, const char *name, struct attn_err *err);

/* The formats: term.c, png.c, svg.c, pdf.c, html.c. */
int attn_term_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);
int attn_png_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);
int attn_svg_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);
int attn_pdf_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);
/* The steps of a training, with a slider. */
int attn_history_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look,
                       struct attn_err *err);
int attn_html_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);

enum { ATTN_SVG_SQUARES = 10000, ATTN_PDF_SQUARES = 2500 };         /* a matrix with more numbers is an image in an SVG,
                                                                     * in a PDF */
unsigned attn_term_256(struct attn_rgb c);              /* the nearest of the fixed ones, 16 to 255 of 256 */
/* What follows on a terminal of 256 colours or more gets this ground, and letters that stand out from such a ground. */
void attn_term_ground(struct attn_out *o, struct attn_rgb c, int colors);
void attn_term_letters(struct attn_out *o, struct attn_rgb ground);

#endif
