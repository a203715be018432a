#include "picture/pdf_fonts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/size.h"

/* ---- which glyphs are used ----------------------------------------------------------------- */

static bool take(struct attn_pdf_font *font, const struct attn_subset_glyph *g, struct attn_err *err)
{
    struct attn_subset_glyph *more = attn_grow(font->glyph, &font->room, font->n + 1, sizeof *more);
    if (more)
        font->glyph = more;
    if (!more || font->n == ATTN_SUBSET_MOST) {
        attn_no_memory(err, NULL, "for a font of %zu glyphs", font->n + 1);
        return false;
    }
    font->place[g->glyph] = (uint16_t)font->n;
    more[font->n++] = *g;
    return true;
}

/* The number of a letter's glyph in the subset, which is also its code; 0: a failure is left in the faces. */
static unsigned code_of(struct attn_pdf_fonts *p, const struct attn_letter *l)
{
    struct attn_pdf_font *font = &p->font[l->face];
    const struct attn_truetype *t = &p->faces.face[l->face].type;
    double wide = l->size > 0 ? l->advance / l->size * t->units : 0;
    struct attn_subset_glyph none = {0, attn_truetype_advance(t, 0), 0};
    struct attn_subset_glyph add = {l->glyph, (unsigned)lround(fmin(wide, 65535)), l->c};
    if (!font->place) {
        font->place = calloc(t->glyphs, sizeof *font->place);
        if (!font->place)
            attn_no_memory(&p->faces.failed, NULL, "for a font of %u glyphs", t->glyphs);
        if (!font->place || !take(font, &none, &p->faces.failed))
            return 0;
    }
    if (!font->place[l->glyph] && !take(font, &add, &p->faces.failed))
        return 0;
    return font->place[l->glyph];
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void put_utf16(struct attn_out *o, uint32_t c)
{
    if (c > 0xFFFF)
        attn_out_printf(o, "%04X%04X", 0xD800 + ((c - 0x10000) >> 10), 0xDC00 + (c & 0x3FF));
    else
        attn_out_printf(o, "%04X", c);
}

/* Whether b stands where a ends, on the same line, so that one string can hold both. */
static bool follows(const struct attn_letter *a, const struct attn_letter *b)
{
    return a->face == b->face && a->y == b->y && a->size == b->size && fabs(a->x + a->advance - b->x) < 1e-6;
}

/* Writes the letters from i on that make one string, and returns how many. */
static size_t put_string(struct attn_pdf_fonts *p, struct attn_out *page, size_t i, const struct attn_placing *t)
{
    const struct attn_letter *l = p->faces.letter;
    size_t n = 0;
    double x = t->xx * l[i].x + t->yx * l[i].y + t->x, y = t->xy * l[i].x + t->yy * l[i].y + t->y;
    attn_out_printf(page, "/F%d 1 Tf %.4f %.4f %.4f %.4f %.3f %.3f Tm <", l[i].face, t->xx * l[i].size,
                    t->xy * l[i].size, t->yx * l[i].size, t->yy * l[i].size, x, y);
    do
        attn_out_printf(page, "%04X", code_of(p, &l[i + n]));
    while (i + ++n < p->faces.n && l[i + n].face >= 0 && follows(&l[i + n - 1], &l[i + n]));
    attn_out_str(page, "> Tj\n");
    return n;
}

/* A frame's outline; its digits follow, and all of it is copied as the character. */
static void put_frame(struct attn_pdf_fonts *p, struct attn_out *page, const struct attn_letter *l,
                      const struct attn_placing *t)
{
    struct attn_placing to = attn_letter_placing(&p->faces, l, t);
    if (!attn_faces_outline(&p->faces, l))
        return;
    for (size_t i = 0; i < p->faces.outline.n; i++) {
        const struct attn_outline_point *o = &p->faces.outline.p[i];
        bool first = i == 0 || o[-1].ends;
        attn_out_printf(page, "%.3f %.3f %s", to.xx * o->x + to.yx * o->y + to.x, to.xy * o->x + to.yy * o->y + to.y,
                        first ? "m " : o->ends ? "l h " : "l ");
    }
    attn_out_str(page, "f\n");
}

void attn_pdf_text(struct attn_pdf_fonts *fonts, struct attn_out *page, const struct attn_placing *at, double bold)
{
    const struct attn_letter *l = fonts->faces.letter;
    size_t left = 0;                    /* digits of a frame that are still to come */
    for (size_t i = 0, n; i < fonts->faces.n && !fonts->faces.failed.code; i += n) {
        n = 1;
        if (l[i].face < 0) {
            left = l[i].inside;
            attn_out_str(page, "/Span<</ActualText<FEFF");
            put_utf16(page, l[i].c);
            attn_out_str(page, ">>>BDC\n");
            put_frame(fonts, page, &l[i], at);
            continue;
        }
        attn_out_str(page, "BT ");
        if (bold > 0)
            attn_out_printf(page, "2 Tr %.3f w ", bold);
        n = put_string(fonts, page, i, at);
        attn_out_str(page, bold > 0 ? "0 Tr ET\n" : "ET\n");
        if (left && !(left -= smaller(n, left)))
            attn_out_str(page, "EMC\n");
    }
}

/* ---- the objects ------------------------------------------------------------------------------ */

size_t attn_pdf_fonts_used(const struct attn_pdf_fonts *fonts)
{
    size_t used = 0;
    for (size_t i = 0; i < ATTN_FACES; i++)
        used += fonts->font[i].n > 0;
    return used;
}

void attn_pdf_fonts_name(const struct attn_pdf_fonts *fonts, struct attn_out *o, size_t first)
{
    attn_out_str(o, "/Font<<");
    for (size_t i = 0, nth = 0; i < ATTN_FACES; i++)
        if (fonts->font[i].n)
            attn_out_printf(o, "/F%zu %zu 0 R", i, first + ATTN_PDF_FONT_OBJECTS * nth++);
    attn_out_str(o, ">>");
}

/* Six letters that differ where the glyphs do, as a subset's name begins. */
static void prefix_of(char text[7], const struct attn_pdf_font *font)
{
    uint64_t hash = 14695981039346656037u;              /* FNV-1a */
    for (size_t i = 0; i < font->n; i++)
        hash = (hash ^ font->glyph[i].glyph) * 1099511628211u;
    for (size_t i = 0; i < 6; i++, hash /= 26)
        text[i] = (char)('A' + hash % 26);
    text[6] = '\0';
}

static void put_widths(const struct attn_pdf_font *font, const struct attn_truetype *t, struct attn_out *o)
{
    attn_out_str(o, "/W[0[");
    for (size_t i = 0; i < font->n; i++)
        attn_out_printf(o, "%s%.2f", i ? " " : "", 1000.0 * font->glyph[i].advance / t->units);
    attn_out_str(o, "]]");
}

static void put_stream(struct attn_pdf_file *f, const char *entries, const char *data, size_t len)
{
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<<%s/Length %zu>>stream\n", entries, len);
    attn_out_write(f->to, data, len);
    attn_out_str(f->to, "\nendstream\nendobj\n");
}

/* From codes to characters, a hundred in a block. */
static int put_characters(const struct attn_pdf_font *font, struct attn_pdf_file *f, struct attn_err *err)
{
    enum { BLOCK = 100 };
    struct attn_out *o = NULL;
    char *text = NULL;
    size_t len = 0;
    int rc = attn_out_open_memory(&o, err);
    if (rc)
        return rc;
    attn_out_str(o, "/CIDInit/ProcSet findresource begin 12 dict begin begincmap\n"
                    "/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def\n"
                    "/CMapName/Adobe-Identity-UCS def/CMapType 2 def\n"
                    "1 begincodespacerange<0000><FFFF>endcodespacerange\n");
    for (size_t i = 1; i < font->n; i++) {
        if (i % BLOCK == 1)
            attn_out_printf(o, "%zu beginbfchar\n", smaller(BLOCK, font->n - i));
        attn_out_printf(o, "<%04zX><", i);
        put_utf16(o, font->glyph[i].c);
        attn_out_str(o, i % BLOCK == 0 || i + 1 == font->n ? ">\nendbfchar\n" : ">\n");
    }
    attn_out_str(o, "endcmap CMapName currentdict/CMap defineresource pop end end");
    rc = attn_out_take(o, &text, &len, err);
    if (!rc)
        put_stream(f, "", text, len);
    free(text);
    attn_out_close(o);
    return rc;
}

static int put_glyphs(const struct attn_pdf_font *font, const struct attn_truetype *t, struct attn_pdf_file *f,
                      struct attn_err *err)
{
    struct attn_out *o = NULL;
    char *data = NULL, entries[32];
    size_t len = 0;
    int rc = attn_out_open_memory(&o, err);
    if (!rc)
        rc = attn_subset_write(o, t, font->glyph, font->n, false, err);
    if (!rc)
        rc = attn_out_take(o, &data, &len, err);
    if (!rc) {
        snprintf(entries, sizeof entries, "/Length1 %zu", len);
        put_stream(f, entries, data, len);
    }
    free(data);
    attn_out_close(o);
    return rc;
}

/* A font is five objects: itself, its glyphs' widths, facts for readers, its glyphs, and what they stand for. */
static int put_font(const struct attn_pdf_font *font, const struct attn_truetype *t, struct attn_pdf_file *f,
                    bool columns, struct attn_err *err)
{
    enum { FIXED = 1, SYMBOLIC = 4 };   /* "symbolic": codes are glyphs */
    size_t first = f->n + 1;
    char prefix[7];
    prefix_of(prefix, font);
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/Font/Subtype/Type0/BaseFont/%s+%s/Encoding/Identity-H/DescendantFonts[%zu 0 R]"
                           "/ToUnicode %zu 0 R>>\nendobj\n", prefix, t->name, first + 1, first + 4);
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/Font/Subtype/CIDFontType2/BaseFont/%s+%s/CIDSystemInfo<</Registry(Adobe)"
                           "/Ordering(Identity)/Supplement 0>>/FontDescriptor %zu 0 R/CIDToGIDMap/Identity", prefix,
                    t->name, first + 2);
    put_widths(font, t, f->to);
    attn_out_str(f->to, ">>\nendobj\n");
    attn_pdf_begin(f);
    const double k = 1000.0 / t->units;
    attn_out_printf(f->to, "<</Type/FontDescriptor/FontName/%s+%s/Flags %d/FontBBox[%.0f %.0f %.0f %.0f]/ItalicAngle 0"
                           "/Ascent %.0f/Descent %.0f/CapHeight 729/StemV 80/FontFile2 %zu 0 R>>\nendobj\n", prefix,
                    t->name, SYMBOLIC + columns, t->box[0] * k, t->box[1] * k, t->box[2] * k, t->box[3] * k,
                    t->ascent * k, t->descent * k, first + 3);
    int rc = put_glyphs(font, t, f, err);
    return rc ? rc : put_characters(font, f, err);
}

int attn_pdf_fonts_put(const struct attn_pdf_fonts *fonts, struct attn_pdf_file *f, struct attn_err *err)
{
    int rc = attn_faces_failed(&fonts->faces, err);
    for (size_t i = 0; i < ATTN_FACES && !rc; i++)
        if (fonts->font[i].n)
            rc = put_font(&fonts->font[i], &fonts->faces.face[i].type, f, i == ATTN_FACE_LATIN && fonts->faces.columns,
                          err);
    return rc;
}

void attn_pdf_fonts_free(struct attn_pdf_fonts *fonts)
{
    for (size_t i = 0; i < ATTN_FACES; i++) {
        free(fonts->font[i].place);
        free(fonts->font[i].glyph);
    }
    attn_faces_free(&fonts->faces);
}
