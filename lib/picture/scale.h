/* scale.h - from numbers to the steps of a palette, and back.
 *
 *     linear   the smallest number (0 when none is below) to the largest
 *     log      the logarithm, over at most six decades below the largest number
 *     row      each row divided by its largest magnitude, so that faint rows show
 *
 * One scale serves all sheets of a kind.  A palette that diverges has 0 in its middle.  Numbers that are on no scale
 * have steps of their own, and are counted. */
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
    bool hide_first;                    /* of sheets whose columns are keys */
    double low, high;                   /* at the first and last step: numbers, logarithms to base 10, shares of a row */
    bool triangle;                      /* all sheets are, and what the mask hides is blank and not counted */
    uint64_t nan, inf, hidden;          /* counted; hidden: -inf */
    uint64_t unlogged;                  /* not above 0, on a log scale */
};

/* Of all sheets of the kind that `first` opens. */
void attn_scale_make(struct attn_scale *out, const struct attn_album *a, const struct attn_sheet *first,
                     const struct attn_look *look);
/* The steps of row r of a sheet's n * rows. */
void attn_scale_row(const struct attn_scale *s, uint8_t *steps, const struct attn_sheet *sheet, size_t r);
/* The middle of a step: a number, or for ATTN_COLOR_BY_ROW a share. */
double attn_scale_value(const struct attn_scale *s, unsigned step);

#endif
