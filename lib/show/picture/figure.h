/* figure.h - a page: a heading with model and sentence, then one section for each kind of matrix, which a pen draws on
 * pixels or as vectors.  A section has a title, panels in a grid, labels, a legend:
 *
 *     attention pattern (rows: queries, columns: keys)
 *                head 0        head 1
 *                L i s e       L i s e          labels of keys above the first row of panels
 *          Life  #             #
 *            is  # #           # #              labels of queries beside the first of each
 *                [colour bar]
 *
 * Layers are rows and heads are columns; the heads of a single layer, or layers without heads, wrap to further rows.
 * A cell in which a word is to be written is as wide as the widest word of its kind.  If a number takes fewer pixels
 * than a line of text, only every 2nd, 5th, 10th... row or column is labelled, with its number. */
#ifndef ATTN_PICTURE_FIGURE_H
#define ATTN_PICTURE_FIGURE_H

#include "picture/album.h"
#include "picture/look.h"

/* ---- numbers as steps of a palette, and back (scale.c) ---- */

enum {
    ATTN_STEP_BLANK = ATTN_STEPS,       /* hidden: by the mask, -inf, the first key; on log scales all up to 0 */
    ATTN_STEP_NAN                       /* NaN, and inf */
};

struct attn_scale {
    enum attn_color_scale scaling;
    bool hide_first;                    /* of sheets whose columns are keys */
    double low, high;                   /* at the first and last step: numbers, log10, or shares of a row */
    bool mirrored; double middle;       /* of a log scale with both signs: log10 of the magnitude in its middle, up to
                                         * which it is 0 */
    bool cut;                           /* of a log scale of one sign: there are numbers below its first step */
    bool masked;                        /* a mask hides some, which are blank and not counted */
    enum attn_sight sight;
    uint64_t nan, inf, below;           /* counts; below: -inf */
    uint64_t unlogged;                  /* count of numbers not above 0 on a log scale of one sign */
    const struct attn_language *language;       /* of its lines; NULL: English */
};

/* Makes the scale of all sheets of the kind that begins with `first`. */
void attn_scale_make(struct attn_scale *out, const struct attn_album *a, const struct attn_sheet *first,
                     const struct attn_look *look);
/* The same in the palette that was chosen or, where nobody did, that follows from the signs of the numbers: one for a
 * light ground, or for any.  Returns it. */
const struct attn_palette *attn_scale_choose(struct attn_scale *out, const struct attn_album *a,
                                             const struct attn_sheet *first, const struct attn_look *look, bool light);
/* Gets the steps of row r out of the n * rows rows of a sheet. */
void attn_scale_row(const struct attn_scale *s, uint8_t *steps, const struct attn_sheet *sheet, size_t r);
/* The value of a step: a number, or a share with ATTN_COLOR_BY_ROW. */
double attn_scale_value(const struct attn_scale *s, unsigned step);

/* Whether it is a bar of colours with numbers; else the lines of the legend have all of its colours. */
bool attn_scale_is_bar(const struct attn_scale *s);
/* Gets the ticks of a scale in ascending order, at most ATTN_TICKS_MAX; at: the position from 0 to 1. */
enum { ATTN_TICKS_MAX = 24 };
struct attn_tick { double at; char text[32]; };
size_t attn_scale_ticks(struct attn_tick tick[ATTN_TICKS_MAX], const struct attn_scale *s);
/* The number at the first or the last step, to four digits; NUL-terminated. */
void attn_scale_end(char text[32], const struct attn_scale *s, bool last);
/* Line i of the legend: how numbers were scaled, or what is outside of the scale.  False: there are no more lines. */
bool attn_legend_line(const struct attn_scale *s, size_t i, char text[96], int *step);

/* Whether colours show next to nothing of some kind of sheet, and which options show more (low_contrast.c). */
enum { ATTN_LOW_CONTRAST_TEXT = 256 };
bool attn_album_low_contrast(char text[ATTN_LOW_CONTRAST_TEXT], const struct attn_album *a,
                             const struct attn_look *look);

/* ---- the pen: the operations by which a figure is drawn ----
 *
 * Positions are whole pixels from the upper left corner.  A color is a byte: a step of the scale, or a shade between
 * paper and ink. */

enum {
    ATTN_SHADES = 14,                   /* of text: the first is paper, the last is ink */
    ATTN_PAPER = 256 - ATTN_SHADES, ATTN_INK = 255
};

struct attn_area { size_t x, y, width, height; };
struct attn_stroke { double x0, y0, x1, y1, width; };

enum attn_anchor { ATTN_BEGINS, ATTN_MIDDLE, ATTN_ENDS };           /* which part of the text is at its position */
struct attn_lettering {
    const char *s;
    size_t x, y;                        /* of its base line; `up`: written upwards, x is that of the base line */
    size_t column;                      /* width of a letter */
    enum attn_anchor anchor;
    bool up;
};

struct attn_pen {
    void *self;
    void (*fill)(void *self, const struct attn_area *a, uint8_t color);
    void (*write)(void *self, const struct attn_lettering *w);
    /* Draws a matrix over an area, each number as a part of it.  Returns 0 or the code left in err. */
    int (*cells)(void *self, const struct attn_area *a, const uint8_t *steps, size_t rows, size_t cols,
                 struct attn_err *err);
    /* Writes on the colours of cells, in ink or in paper; for albums with words. */
    void (*write_over)(void *self, const struct attn_lettering *w, uint8_t color);
    /* The steps that follow are those of a palette, one of the figure's. */
    void (*use)(void *self, const struct attn_palette *p);
    void (*line)(void *self, const struct attn_stroke *s, uint8_t color);
};

/* ---- the page ---- */

struct attn_figure {
    const struct attn_album *album;
    struct attn_section *section; size_t n;             /* section.h */
    const char *title;                  /* "": none; NULL: the model and the sentence */
    struct { char *s; size_t len, most; } heading;      /* that text; most: lines */
    const struct attn_palette *palette[2];      /* of the sections; the second NULL: one for all */
    size_t largest;                     /* numbers of the largest matrix */
    size_t width, height, margin, top;  /* pixels; top: above the first section */
};

int attn_figure_plan(struct attn_figure *f, const struct attn_album *a, const struct attn_look *look,
                     struct attn_err *err);
int attn_figure_draw(const struct attn_figure *f, const struct attn_pen *pen, struct attn_err *err);
void attn_figure_free(struct attn_figure *f);           /* zeroed is fine */

#endif
