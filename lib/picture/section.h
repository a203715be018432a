/* section.h - the matrices of one kind on a page: a title, panels in a grid, labels, a legend.
 *
 *     attention pattern (rows: queries, columns: keys)
 *                head 0        head 1
 *                L i s e       L i s e          labels of keys above the first row of panels
 *          Life  #             #
 *            is  # #           # #              labels of queries beside the first of each
 *                [colour bar]
 *
 * Layers are rows and heads are columns; the heads of a single layer, or layers without heads, wrap to further rows.
 * If a number takes fewer pixels than a line of text, only every 2nd, 5th, 10th... row or column is labelled, with
 * its number. */
#ifndef ATTN_PICTURE_SECTION_H
#define ATTN_PICTURE_SECTION_H

#include "picture/pen.h"
#include "picture/scale.h"

enum { ATTN_LETTER = 7, ATTN_LINE = 16 };               /* pixels: width of a label's letter, line spacing */

struct attn_axis { size_t step, room; bool up; };       /* every step-th is labelled; room: pixels of the labels */

struct attn_section {
    const struct attn_album *album;
    const struct attn_sheet *first;     /* of the kind */
    char title[240];
    struct attn_scale scale;
    size_t sheets, matrices;            /* how many; most matrices of a sheet */
    size_t rows, cols;                  /* of the largest matrix */
    size_t cell, across, down;          /* pixels of a number; panels */
    struct attn_axis left, top;
    size_t width, height;               /* of the whole section */
};

void attn_section_plan(struct attn_section *s, const struct attn_album *a, const struct attn_sheet *first,
                       const struct attn_look *look);
/* steps: room for one matrix. */
int attn_section_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                      struct attn_err *err);

#endif
