/* pdf_fonts.h - texts in a PDF file, which brings along the glyphs that they are written with.
 *
 * Each face that is used is embedded as a subset, with a table from glyphs to characters, so that a reader finds and
 * copies the text.  A frame for a character that no face has is copied as that character, too. */
#ifndef ATTN_PICTURE_PDF_FONTS_H
#define ATTN_PICTURE_PDF_FONTS_H

#include "picture/lettering.h"
#include "picture/pdf.h"
#include "picture/subset.h"

struct attn_pdf_font {                  /* of one face */
    uint16_t *place;                    /* [glyphs of the face]: its number here; 0: not used */
    struct attn_subset_glyph *glyph; size_t n, room;    /* the first stands for what is missing */
};
struct attn_pdf_fonts { struct attn_faces faces; struct attn_pdf_font font[ATTN_FACES]; };

/* Writes what fonts->faces has laid out; `bold`: the width of a line around the letters, 0: none.  The first failure is
 * left in the faces. */
void attn_pdf_text(struct attn_pdf_fonts *fonts, struct attn_out *page, const struct attn_placing *at, double bold);

enum { ATTN_PDF_FONT_OBJECTS = 5 };     /* of each face that is used */
size_t attn_pdf_fonts_used(const struct attn_pdf_fonts *fonts);
/* "/Font<<...>>", of fonts whose objects begin with number `first`. */
void attn_pdf_fonts_name(const struct attn_pdf_fonts *fonts, struct attn_out *o, size_t first);
/* Their objects. */
int attn_pdf_fonts_put(const struct attn_pdf_fonts *fonts, struct attn_pdf_file *f, struct attn_err *err);
void attn_pdf_fonts_free(struct attn_pdf_fonts *fonts);             /* not the struct itself; zeroed is fine */

#endif
