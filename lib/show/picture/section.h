/* section.h - a section of a figure: the matrices of one kind, as section.c arranges them and figure.c draws them. */
#ifndef ATTN_PICTURE_SECTION_H
#define ATTN_PICTURE_SECTION_H

#include "base/num.h"
#include "picture/figure.h"
#include "picture/axes.h"

/* A kind of figure: a row of the table in figures.c. */
struct attn_section;
struct attn_figure_method {
    const char *name;
    int (*plan)(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
    int (*draw)(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                struct attn_err *err);
    /* The same of the matrices of a kind on a terminal; NULL: it cannot be. */
    int (*print)(struct attn_out *o, const struct attn_album *a, const struct attn_sheet *first,
                 const struct attn_look *look, struct attn_err *err);
    unsigned flags;
    const char *takes;                  /* the option that only figures of some kinds use; NULL: none */
    const char *show;                   /* of a run, unless something is chosen; NULL: what pictures show */
};
/* shows one row of a matrix, divided by its largest number unless a scale is chosen */
enum { ATTN_FIGURE_ONE_ROW = 1, ATTN_FIGURE_NO_LEGEND = 2 };

enum {                                  /* pixels */
    ATTN_LETTER = 7, ATTN_LINE = 16,    /* width of a label's letter; line spacing */
    ATTN_TITLE = 26, ATTN_TITLE_LETTER = 8,             /* a title with the space below it; its letters */
    ATTN_BETWEEN = 14, ATTN_GRID_BETWEEN = 4, ATTN_TICK = 3, ATTN_APART = 6,   /* between panels; length of a
                                                                                 * tick; from labels to their matrix */
    ATTN_LEGEND_THICK = 10, ATTN_LEGEND_TICK = 3        /* of the colour bar */
};
/* columns: widest labels; beside a swatch */
enum { ATTN_LEFT_MAX = 18, ATTN_TOP_MAX = 12, ATTN_LEGEND_INDENT = 3 };

struct attn_cell_size { size_t cell, wide; };               /* pixels of a number: its height, its width */
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
    struct attn_axes axes;              /* of vectors */
    size_t query;                       /* of lines: the row that is shown; SIZE_MAX: all; of words: the row */
    size_t panel;                       /* of a grid: pixels of a side of a panel; 0: cells have a size of their own */
    size_t cell, wide, across, down;    /* pixels of a number: its height, its width; panels */
    size_t name;                        /* pixels of the longest name above a panel */
    bool table;                         /* a row of panels for each layer */
    bool brief;                         /* words are the shorter ones */
    bool numbers, exponents; int digits;        /* are written in the cells, all with an exponent; after the point */
    size_t bar, indent;                 /* pixels: the legend's colour bar; from the left to the legend */
    size_t legend, columns;             /* columns of its lines, of those of the title */
    struct attn_axis left, top;
    size_t head;                        /* pixels of the title with the space below it */
    struct attn_cell_size equal;            /* cells are to be like those of another section; 0: as fits */
    size_t x, y, width, height;         /* of the whole section */
};

/* width: what panels and title may take; 0: any.  equal: cells to be taken; NULL: as fits. */
int attn_section_plan(struct attn_section *s, const struct attn_album *a, const struct attn_sheet *first,
                      const struct attn_look *look, size_t width, const struct attn_cell_size *equal,
                      struct attn_err *err);
size_t attn_section_caption(const struct attn_section *s);          /* height of a panel's caption, or 0 */
size_t attn_section_pitch(const struct attn_section *s);            /* from the left of a panel to that of the next */
size_t attn_section_down(const struct attn_section *s);             /* from the top of a panel to that of the one below,
                                                                     * less its caption */
size_t attn_legend_height(const struct attn_section *s);
size_t attn_legend_width(const struct attn_section *s);            /* of its lines */
/* The label of row or column i: its token, with its number where not all are labelled. */
struct attn_label attn_section_label(const struct attn_tokens *tokens, size_t i, const struct attn_axis *axis,
                                     size_t columns);
/* How many matrices stand beside each other, and in how many rows. */
void attn_section_arrange(struct attn_section *s, const struct attn_look *look);
/* After that: its title; axes: what it says of rows and columns. */
void attn_section_name(struct attn_section *s, const char *axes);
/* After the title and the indent: breaks the title, plans the legend, and adds them to what is between, inner pixels
 * wide and body high.  width: what there is for all; 0: any. */
void attn_section_frame(struct attn_section *s, size_t inner, size_t body, size_t width);
/* Writes the title, from its first base line on. */
void attn_section_title(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen);
size_t attn_section_panels(const struct attn_section *s);               /* width of all panels with their labels */
struct attn_axis attn_section_axis(const struct attn_tokens *tokens, size_t n, size_t cell, size_t columns, bool top);
/* Fails unless the numbers of a kind are weights from tokens to tokens; figure: "lines". */
int attn_weights_check(const struct attn_album *a, const struct attn_sheet *first, const char *figure,
                       struct attn_err *err);

/* The rows of the table, and what draws matrices as panels. */
int attn_heatmap_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
int attn_grid_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
int attn_lines_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
int attn_vectors_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
int attn_words_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err);
/* One matrix as cells, with labels on both sides. */
int attn_panel_draw(const struct attn_section *s, const struct attn_sheet *sheet, size_t i, size_t x, size_t y,
                    const struct attn_pen *pen, uint8_t *steps, struct attn_err *err);
int attn_panels_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                     struct attn_err *err);
int attn_lines_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                    struct attn_err *err);
int attn_vectors_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                      struct attn_err *err);
int attn_words_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                    struct attn_err *err);
int attn_heatmap_print(struct attn_out *o, const struct attn_album *a, const struct attn_sheet *first,
                       const struct attn_look *look, struct attn_err *err);
int attn_words_print(struct attn_out *o, const struct attn_album *a, const struct attn_sheet *first,
                     const struct attn_look *look, struct attn_err *err);
int attn_vectors_print(struct attn_out *o, const struct attn_album *a, const struct attn_sheet *first,
                       const struct attn_look *look, struct attn_err *err);
void attn_legend_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen);
/* The row of a token, by its index or its text. */
int attn_query_find(size_t *row, const struct attn_tokens *t, const char *query, struct attn_err *err);
/* A token without the space before it (*spaced: there is one), as a word of a sentence. */
struct attn_label attn_word_label(const struct attn_token *t, size_t columns, bool *spaced);
/* "layer 3, head 0: what "it" looks at" */
enum { ATTN_WORD_MOST = 40, ATTN_LOOKS = sizeof(struct attn_label) + 96 };
void attn_looks_name(char text[ATTN_LOOKS], const struct attn_album *a, const struct attn_sheet *sheet, size_t i,
                     size_t query);
/* A number as it is written into its cell. */
const char *attn_section_number(char text[ATTN_NUM_FIXED_MAX], const struct attn_section *s, float x);

#endif
