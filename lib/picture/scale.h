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

#endif
