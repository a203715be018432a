/* raster.h - outlines as pixels: how much of each pixel an outline covers.
 *
 * A pixel's cover is its exact area inside of the outline, up to curves being straight pieces.  Only additions,
 * products, quotients and floor are used, in a fixed order: the same cover on every machine. */
#ifndef ATTN_PICTURE_RASTER_H
#define ATTN_PICTURE_RASTER_H

#include "picture/truetype.h"

/* From an outline to pixels: x' = xx x + yx y + x, y' = xy x + yy y + y; pixels count from the upper left corner. */
struct attn_placing { double xx, xy, yx, yy, x, y; };
struct attn_touched { long from, to; };                 /* columns */
struct attn_raster {                    /* zeroed is fine; frees: attn_raster_free */
    double *sum; size_t room;           /* all 0 between outlines */
    struct attn_touched *touched; size_t rows;          /* of each row, what may differ from 0: a thin line has little
                                                         * of its box */
};
/* cover: above 0, at most 1 */
typedef void attn_cover_fn(void *ctx, long x, long y, double cover);

/* What lies further than `reach` pixels from the placing's x, y is cut off. */
int attn_raster_fill(struct attn_raster *r, const struct attn_outline *o, const struct attn_placing *p, double reach,
                     attn_cover_fn *cover, void *ctx, struct attn_err *err);
void attn_raster_free(struct attn_raster *r);

#endif
