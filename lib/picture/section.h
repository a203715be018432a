/* section.h - a section of a figure: the matrices of one kind, as section.c arranges them and figure.c draws them. */
#ifndef ATTN_PICTURE_SECTION_H
#define ATTN_PICTURE_SECTION_H

#include "base/num.h"
#include "picture/figure.h"

/* A kind of figure: a row of the table in figures.c. */
struct attn_section;
struct attn_figure_method {
    const char *name;
    int (*plan)(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
    int (*draw)(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                struct attn_err *err);
    unsigned flags;
};
/* shows one row of a matrix, divided by its largest number unless a scale is chosen */
enum { ATTN_FIGURE_ONE_ROW = 1 };

enum {                                  /* pixels */
    ATTN_LETTER = 7, ATTN_LINE = 16,    /* width of a label's letter; line spacing */
    ATTN_TITLE = 26, ATTN_TITLE_LETTER = 8,             /* a title with the space below it; its letters */
    ATTN_BETWEEN = 14, ATTN_GRID_BETWEEN = 4, ATTN_TICK = 3, ATTN_APART = 6,   /* between panels; length of a tick; from labels to their
                                                         * matrix */
    ATTN_LEGEND_THICK = 10, ATTN_LEGEND_TICK = 3, ATTN_LEGEND_WIDTH = 300       /* of the colour bar; with its lines */
};
/* columns: widest labels; beside a swatch */
enum { ATTN_LEFT_MAX = 18, ATTN_TOP_MAX = 12, ATTN_LEGEND_INDENT = 3 };

struct attn_axis { size_t step, margin; bool up; };     /* every step-th is labelled; margin: pixels of the labels */

struct attn_section {
    const struct attn_album *album;
    const struct attn_sheet *first;     /* of the kind */
    char title[240 + ATTN_ALBUM_EDITS];
    struct attn_scale scale;
    size_t sheets, matrices;            /* how many; most matrices of a sheet */
    size_t rows, cols;                  /* of the largest matrix */
    const struct attn_palette *palette;
    const struct attn_figure_method *method;
    size_t query;                       /* of lines: the row that is shown; SIZE_MAX: all; of words: the row */
    size_t panel;                       /* of a grid: pixels of a side of a panel; 0: cells have a size of their own */
    size_t cell, wide, across, down;    /* pixels of a number: its height, its width; panels */
    size_t name;                        /* pixels of the longest name above a panel */
    bool table;                         /* a row of panels for each layer */
    bool numbers, exponents; int digits;        /* are written in the cells, all with an exponent; after the point */
    size_t bar, indent;                 /* pixels: the legend's colour bar; from the left to the legend */
    size_t legend;                      /* columns of its lines */
    struct attn_axis left, top;
    size_t width, height;               /* of the whole section */
};

/* width: what panels and title may take; 0: any. */
int attn_section_plan(struct attn_section *s, const struct attn_album *a, const struct attn_sheet *first,
                      const struct attn_look *look, size_t width, struct attn_err *err);
size_t attn_section_caption(const struct attn_section *s);         /* height of a panel's caption; 0: panels have
                                                                    * none */
size_t attn_section_pitch(const struct attn_section *s);            /* from the left of a panel to that of the next
                                                                     * one */
size_t attn_section_down(const struct attn_section *s);             /* from the top of a panel to that of the one below,
                                                                     * less its caption */
size_t attn_legend_height(const struct attn_section *s);
/* Ends a line of the legend after so many columns, at a blank; returns what goes onto the next one.  NULL: it ends by
 * itself. */
char *attn_legend_piece(char *text, size_t columns);
/* The label of row or column i: its token, with its number where not all are labelled. */
struct attn_label attn_section_label(const struct attn_tokens *tokens, size_t i, const struct attn_axis *axis,
                                     size_t columns);
/* How many matrices stand beside each other, and in how many rows. */
void attn_section_arrange(struct attn_section *s, const struct attn_look *look);
void attn_section_name(struct attn_section *s);         /* after that: its title */
void attn_section_legend(struct attn_section *s, size_t width);         /* bar, lines and title within a width; 0: any */
size_t attn_section_panels(const struct attn_section *s);               /* width of all panels with their labels */
struct attn_axis attn_section_axis(const struct attn_tokens *tokens, size_t n, size_t cell, size_t columns, bool top);
/* Fails unless the section's numbers are weights from tokens to tokens. */
int attn_section_weights(const struct attn_section *s, struct attn_err *err);

/* The rows of the table, and what draws matrices as panels. */
int attn_heatmap_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
int attn_grid_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
int attn_lines_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
int attn_words_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
int attn_panels_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                     struct attn_err *err);
int attn_lines_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                    struct attn_err *err);
int attn_words_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                    struct attn_err *err);
void attn_legend_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen);
/* The row of a token, by its index or its text; NULL: `without`. */
int attn_section_query(struct attn_section *s, const char *query, size_t without, struct attn_err *err);
/* A number as it is written into its cell. */
const char *attn_section_number(char text[ATTN_NUM_FIXED_MAX], const struct attn_section *s, float x);

#endif
