/* subset.h - a font with some glyphs of another, without instructions: what a PDF embeds, and what is built in. */
#ifndef ATTN_PICTURE_SUBSET_H
#define ATTN_PICTURE_SUBSET_H

#include "base/out.h"
#include "picture/truetype.h"

/* A glyph of the font; its width there in units; the character it stands for in the table of characters. */
struct attn_subset_glyph { unsigned glyph, advance; uint32_t c; };
enum { ATTN_SUBSET_MOST = 60000 };      /* glyphs */

/* Writes a font whose glyph i is of[i].  The first should be the font's glyph 0, which stands for what is missing.  The
 * glyphs that others are made of follow.  cmap: with a table of characters, in which of[i].c ascend from i = 1 on. */
int attn_subset_write(struct attn_out *o, const struct attn_truetype *t, const struct attn_subset_glyph *of, size_t n,
                      bool cmap, struct attn_err *err);

#endif
