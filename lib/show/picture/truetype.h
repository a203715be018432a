/* truetype.h - fonts with TrueType outlines: which glyph a character has, how wide it is, and its outline.
 *
 * A file is one font or a collection of several.  It begins with a table of tables: head (units of the em), maxp (how
 * many glyphs), cmap (from characters to glyphs), hhea and hmtx (widths), loca (where each glyph begins), glyf (the
 * outlines).  Nobody vouches for a file: places are checked before they are read, a glyph when it is used.
 * Instructions for small sizes are not followed.  Fonts whose outlines are of another kind (CFF) are refused. */
#ifndef ATTN_PICTURE_TRUETYPE_H
#define ATTN_PICTURE_TRUETYPE_H

#include "attn.h"

struct attn_slab { const unsigned char *at; size_t len; };          /* some bytes of a file */

enum { ATTN_TYPE_NAME = 64 };
struct attn_truetype {
    const char *file;                   /* its name, borrowed, for messages */
    struct attn_slab head, hmtx, loca, glyf, cmap;      /* cmap: the one of its tables that is used */
    unsigned units, glyphs, advances;   /* units of the em; how many glyphs; how many of them have a width */
    bool long_loca;
    int ascent, descent, box[4];        /* in units; box: x and y, least and most */
    char name[ATTN_TYPE_NAME];          /* as PostScript calls it: letters, digits and hyphens */
};

/* Borrows data and file.  index: which font of a collection; 0 of a single font. */
int attn_truetype_open(struct attn_truetype *t, const char *file, const void *data, size_t len, size_t index,
                       struct attn_err *err);
unsigned attn_truetype_glyph(const struct attn_truetype *t, uint32_t c);        /* 0: it has none */
unsigned attn_truetype_advance(const struct attn_truetype *t, unsigned glyph);
/* The distance from the left of a glyph's place to its outline. */
int attn_truetype_bearing(const struct attn_truetype *t, unsigned glyph);
/* The bytes of a glyph, none if there is nothing to draw. */
int attn_truetype_find(const struct attn_truetype *t, unsigned glyph, struct attn_slab *out, struct attn_err *err);

/* Closed curves: a point that is not `on` bends the line between its neighbours; two such have one between them. */
struct attn_outline_point { double x, y; bool on, ends; };          /* ends: the last of its curve */
struct attn_outline { struct attn_outline_point *p; size_t n, room; };

/* Adds the outline of a glyph, in units. */
int attn_truetype_outline(const struct attn_truetype *t, unsigned glyph, struct attn_outline *o, struct attn_err *err);
int attn_outline_add(struct attn_outline *o, struct attn_outline_point p, struct attn_err *err);

/* ---- glyphs made of others ---- */

struct attn_glyph_part {
    size_t at, next;                    /* where it and the next one begin in the glyph */
    unsigned flags, glyph;
    int a, b;                           /* a shift, or points that are to meet */
    double xx, xy, yx, yy;              /* of a point: x' = xx x + yx y, y' = xy x + yy y */
};
enum {                                  /* flags */
    ATTN_PART_WORDS = 1, ATTN_PART_SHIFTS = 2, ATTN_PART_MORE = 0x20, ATTN_PART_INSTRUCTED = 0x100
};
bool attn_glyph_is_composed(const struct attn_slab *glyph);
/* Gets the next component; begin with a zeroed one.  False: there are no more, or, with *bad, the glyph is cut off. */
bool attn_glyph_part_next(struct attn_glyph_part *c, const struct attn_slab *glyph, bool *bad);

/* A number of two or four bytes; 0 if the bytes end before it. */
static inline unsigned attn_slab_u16(const struct attn_slab *s, size_t at)
{
    return at <= s->len && s->len - at >= 2 ? (unsigned)(s->at[at] << 8 | s->at[at + 1]) : 0;
}

static inline int attn_slab_i16(const struct attn_slab *s, size_t at)
{
    return (int16_t)attn_slab_u16(s, at);
}

static inline uint32_t attn_slab_u32(const struct attn_slab *s, size_t at)
{
    return at <= s->len && s->len - at >= 4 ? (uint32_t)attn_slab_u16(s, at) << 16 | attn_slab_u16(s, at + 2) : 0;
}

#endif
