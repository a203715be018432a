/* term.h - heat maps on a terminal: colours of 24 bits or of 256, or shades where there is no colour.
 *
 * Matrices stand side by side as the width allows, their keys written downwards above the first ones.  What is wider
 * than the terminal is pooled: a cell is the largest of k x k numbers, which the title says. */
#ifndef ATTN_PICTURE_TERM_H
#define ATTN_PICTURE_TERM_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/look.h"

int attn_term_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);

/* The nearest of a terminal's 256 colours that are the same everywhere: 16 to 255. */
unsigned attn_term_256(struct attn_rgb c);

#endif
