/* term.h - heat maps on a terminal: in 24-bit or 256 colours, or as shades without colours.
 *
 * Matrices are put next to each other as the width allows, with their keys written downwards above the first ones.  A
 * matrix wider than the terminal is pooled: each cell is the largest of k x k numbers, which the title mentions. */
#ifndef ATTN_PICTURE_TERM_H
#define ATTN_PICTURE_TERM_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/look.h"

int attn_term_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);

/* The nearest of those terminal colours (16 to 255 of 256) that are the same everywhere. */
unsigned attn_term_256(struct attn_rgb c);

#endif
