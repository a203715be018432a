/* scale.h - maps numbers to the steps of a palette, and back.
 *
 *     linear   from the smallest number (0 if none is below) to the largest
 *     log      the logarithm, over at most six decades below the largest number
 *     row      each row divided by its largest magnitude, so that faint rows show
 *
 * One scale serves all sheets of a kind.  A diverging palette has 0 in its middle.  Numbers outside of the scale have
 * special steps, and are counted. */
#ifndef ATTN_PICTURE_SCALE_H
#define ATTN_PICTURE_SCALE_H

#include "picture/album.h"
#include "picture/look.h"

enum {
    ATTN_STEP_BLANK = ATTN_STEPS,       /* hidden: by the mask, -inf, the first key; on a log scale what is not above 0 */
    ATTN_STEP_NAN                       /* NaN, and inf */
};

struct attn_scale {
    enum attn_color_scale scaling;
    bool hide_first;                    /* for sheets whose columns are keys */
    double low, high;                   /* at the first and last step: numbers, log10, or shares of a row */
    bool triangle;                      /* all sheets are triangles, whose hidden part is blank and not counted */
    uint64_t nan, inf, hidden;          /* counts; hidden: -inf */
    uint64_t unlogged;                  /* count of numbers not above 0 on a log scale */
};

/* Makes the scale of all sheets of the kind that begins with `first`. */
void attn_scale_make(struct attn_scale *out, const struct attn_album *a, const struct attn_sheet *first,
                     const struct attn_look *look);
/* Gets the steps of row r out of the n * rows rows of a sheet. */
void attn_scale_row(const struct attn_scale *s, uint8_t *steps, const struct attn_sheet *sheet, size_t r);
/* The value of a step: a number, or a share with ATTN_COLOR_BY_ROW. */
double attn_scale_value(const struct attn_scale *s, unsigned step);

/* ---- what a legend says of it ---- */

/* Gets the ticks of a scale in ascending order, at most ATTN_TICKS_MAX; at: the position from 0 to 1. */
enum { ATTN_TICKS_MAX = 24 };
struct attn_tick { double at; char text[32]; };
size_t attn_scale_ticks(struct attn_tick tick[ATTN_TICKS_MAX], const struct attn_scale *s);
/* The number at the first or the last step, to four digits; NUL-terminated. */
void attn_scale_end(char text[32], const struct attn_scale *s, bool last);
/* Line i of the legend: how numbers were scaled, or what is outside of the scale.  False: there are no more lines. */
bool attn_legend_line(const struct attn_scale *s, size_t i, char text[96], int *step);

#endif
