/* svg.h - figures as SVG: text as text, numbers as squares.
 *
 * All squares of one colour are one path.  A matrix of more than ATTN_SVG_SQUARES numbers becomes an embedded image
 * instead, with one pixel for each number, which viewers enlarge without blurring. */
#ifndef ATTN_PICTURE_SVG_H
#define ATTN_PICTURE_SVG_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/look.h"

enum { ATTN_SVG_SQUARES = 10000 };

int attn_svg_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);

#endif
