/* font.h - lettering made of strokes, so that it can be drawn at any size and rotated.
 *
 * All letters have the same width: a column.  Letters with accents are composed.  A character that the font lacks is
 * drawn as a box of two columns with its code point. */
#ifndef ATTN_PICTURE_FONT_H
#define ATTN_PICTURE_FONT_H

#include "attn.h"

enum {                                  /* in units; a column is FONT_COLUMN units, lines stand on y = 0, y grows
                                         * upwards */
    ATTN_FONT_COLUMN = 7, ATTN_FONT_CAP = 9, ATTN_FONT_ACCENT = 12, ATTN_FONT_BELOW = 3
};

/* Draws straight strokes with a pen of width 1; a curve is many strokes. */
struct attn_stroke { double x0, y0, x1, y1; };
typedef void attn_stroke_fn(void *ctx, const struct attn_stroke *s);

/* The number of columns a text takes. */
size_t attn_font_columns(const char *s, size_t len);
/* Draws all strokes of a text that begins at x = 0. */
void attn_font_draw(const char *s, size_t len, attn_stroke_fn *stroke, void *ctx);

/* The characters that the font lacks, each once, as far as there is room. */
enum { ATTN_FONT_LACKS = 64 };
struct attn_lacks { uint32_t c[ATTN_FONT_LACKS]; size_t n; };
void attn_font_note(struct attn_lacks *l, const char *s, size_t len);   /* adds those of a text; l NULL: nobody asks */
/* "6 characters are not in the font of pictures ...", cut to a size; "" if there are none. */
void attn_font_lacks(char *text, size_t size, const struct attn_lacks *l);

/* glyphs.c: the strokes of a letter in the notation described there; NULL: the font lacks it. */
const char *attn_glyph_find(uint32_t c);

#endif
