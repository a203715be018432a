/* pages.h - a text as a terminal shows it, on pages of A4, as PDF.
 *
 * Letters are those of lettering.h in columns; bold and dim are as the escape sequences \x1b[1m, \x1b[2m and
 * \x1b[0m say, \x1b[48;2;R;G;Bm is the colour behind them, other sequences say nothing, and each line begins without.
 * Lines between U+2500 and U+253C are drawn, so that they meet.  Blank lines separate blocks.  A block wider than
 * ATTN_PAGES_COLUMNS is set smaller, and a page ends between two of them where that leaves it more than half full.  The
 * same text gives the same bytes. */
#ifndef ATTN_PICTURE_PAGES_H
#define ATTN_PICTURE_PAGES_H

#include "base/out.h"
#include "picture/lettering.h"

enum { ATTN_PAGES_COLUMNS = 80 };

/* The title stands, with the number of the page as in "page %zu of %zu", at its foot; all is UTF-8, as the text.
 * faces: with columns, none of them open; they are copied. */
int attn_pages_write(struct attn_out *o, const char *text, size_t len, const char *title, const char *number,
                     const struct attn_faces *faces, struct attn_err *err);

#endif
