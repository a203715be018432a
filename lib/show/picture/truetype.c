#include "picture/truetype.h"

#include <ctype.h>
#include <string.h>

#include "base/err.h"

/* ---- the table of tables ----------------------------------------------------------------- */

enum { HEADER = 12, ENTRY = 16, HEAD = 54, HHEA = 36, MAXP = 6, UNITS_LEAST = 16, UNITS_MOST = 16384 };
enum { NOT_EMBEDDED = 2 };              /* in OS/2: its owner does not allow it to be in documents */

static uint32_t tag(const char *s)
{
    return (uint32_t)(unsigned char)s[0] << 24 | (uint32_t)(unsigned char)s[1] << 16 |
           (uint32_t)(unsigned char)s[2] << 8 | (unsigned char)s[3];
}

/* The table of a name; none if it is not there or does not lie within the file. */
static struct attn_slab table(const struct attn_slab *file, size_t font, const char *name)
{
    for (unsigned i = 0, n = attn_slab_u16(file, font + 4); i < n; i++) {
        size_t entry = font + HEADER + (size_t)i * ENTRY, at = attn_slab_u32(file, entry + 8);
        size_t len = attn_slab_u32(file, entry + 12);
        if (attn_slab_u32(file, entry) == tag(name) && at <= file->len && len <= file->len - at)
            return (struct attn_slab){file->at + at, len};
    }
    return (struct attn_slab){file->at, 0};
}

static int find_font(const char *name, const struct attn_slab *file, size_t index, size_t *font, struct attn_err *err)
{
    bool several = attn_slab_u32(file, 0) == tag("ttcf");
    size_t n = several ? attn_slab_u32(file, 8) : 1;
    if (!n)
        return attn_fail(err, ATTN_EFORMAT, "%s: a collection of 0 fonts", name);
    if (index >= n)
        return attn_fail(err, ATTN_EUSAGE, "%s: font %zu is asked for, and the file has %zu, counted from 0: see "
                                           "--font-index", name, index, n);
    size_t room = file->len >= HEADER ? (file->len - HEADER) / 4 : 0;
    *font = !several ? 0 : index < room ? attn_slab_u32(file, HEADER + 4 * index) : file->len;
    uint32_t kind = attn_slab_u32(file, *font);
    if (kind == tag("OTTO"))
        return attn_fail(err, ATTN_EFORMAT, "%s: its outlines are CFF, of PostScript's kind: --font takes TrueType "
                                            "outlines, as most .ttf and .ttc files have them", name);
    if (kind != 0x10000 && kind != tag("true"))
        return attn_fail(err, ATTN_EFORMAT, "%s: not a TrueType font: it begins with %08x, expected 00010000, true or "
                                            "ttcf", name, (unsigned)kind);
    return ATTN_OK;
}

static int missing(const struct attn_truetype *t, const char *name, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: no table '%s' that lies within the file and is complete: is the font "
                                        "damaged?", t->file, name);
}

/* ---- from characters to glyphs ------------------------------------------------------------- */

/* Of the tables for Unicode: the one of all planes (12), else that of the first (4). */
static bool choose_cmap(struct attn_truetype *t, const struct attn_slab *all)
{
    bool found = false;
    for (unsigned i = 0, n = attn_slab_u16(all, 2); i < n && n <= 64; i++) {
        unsigned platform = attn_slab_u16(all, 4 + 8u * i), encoding = attn_slab_u16(all, 6 + 8u * i);
        size_t at = attn_slab_u32(all, 8 + 8u * i);
        struct attn_slab one = {all->at + (at < all->len ? at : 0), at < all->len ? all->len - at : 0};
        unsigned format = attn_slab_u16(&one, 0);
        bool unicode = platform == 0 || (platform == 3 && (encoding == 1 || encoding == 10));
        if (unicode && (format == 12 || (format == 4 && !found))) {
            t->cmap = one;
            found = true;
        }
    }
    return found;
}

static unsigned glyph_of_group(const struct attn_slab *s, uint32_t c)
{
    enum { FIRST = 16, GROUP = 12 };
    size_t room = s->len >= FIRST ? (s->len - FIRST) / GROUP : 0, low = 0, high = attn_slab_u32(s, 12);
    high = high < room ? high : room;
    while (low < high) {
        size_t middle = low + (high - low) / 2, at = FIRST + middle * GROUP;
        if (c > attn_slab_u32(s, at + 4))
            low = middle + 1;
        else if (c < attn_slab_u32(s, at))
            high = middle;
        else
            return attn_slab_u32(s, at + 8) + (c - attn_slab_u32(s, at));
    }
    return 0;
}

static unsigned glyph_of_segment(const struct attn_slab *s, uint32_t c)
{
    enum { FIRST = 14 };
    size_t twice = attn_slab_u16(s, 6) & ~1u, low = 0, high = twice / 2;        /* twice: bytes of each list */
    while (low < high) {                /* the first that ends at c or later */
        size_t middle = low + (high - low) / 2;
        if (attn_slab_u16(s, FIRST + 2 * middle) < c)
            low = middle + 1;
        else
            high = middle;
    }
    size_t start = FIRST + twice + 2 + 2 * low, delta = start + twice, range = delta + twice;
    if (c > 0xFFFF || 2 * low >= twice || attn_slab_u16(s, start) > c)
        return 0;
    unsigned skip = attn_slab_u16(s, range), glyph = c;
    if (skip)
        glyph = attn_slab_u16(s, range + skip + 2 * ((size_t)c - attn_slab_u16(s, start)));
    return skip && !glyph ? 0 : (glyph + attn_slab_u16(s, delta)) & 0xFFFF;
}

unsigned attn_truetype_glyph(const struct attn_truetype *t, uint32_t c)
{
    unsigned glyph = attn_slab_u16(&t->cmap, 0) == 12 ? glyph_of_group(&t->cmap, c) : glyph_of_segment(&t->cmap, c);
    return glyph < t->glyphs ? glyph : 0;
}

/* ---- widths, names --------------------------------------------------------------------------- */

unsigned attn_truetype_advance(const struct attn_truetype *t, unsigned glyph)
{
    unsigned last = glyph < t->advances ? glyph : t->advances - 1;
    return attn_slab_u16(&t->hmtx, 4 * (size_t)last);
}

int attn_truetype_bearing(const struct attn_truetype *t, unsigned glyph)
{
    size_t beyond = 4 * (size_t)t->advances + 2 * ((size_t)glyph - t->advances);
    return attn_slab_i16(&t->hmtx, glyph < t->advances ? 4 * (size_t)glyph + 2 : beyond);
}

/* What PostScript calls the font, from the table of names: of what may not be in a name of PDF, nothing is left. */
static void read_name(struct attn_truetype *t, const struct attn_slab *names)
{
    enum { POSTSCRIPT = 6 };
    size_t texts = attn_slab_u16(names, 4), n = 0;
    for (unsigned i = 0, count = attn_slab_u16(names, 2); i < count && !n; i++) {
        size_t record = 6 + 12 * (size_t)i, at = texts + attn_slab_u16(names, record + 10);
        size_t len = attn_slab_u16(names, record + 8);
        if (attn_slab_u16(names, record + 6) != POSTSCRIPT || at > names->len || len > names->len - at)
            continue;
        for (size_t k = 0; k < len && n + 1 < ATTN_TYPE_NAME; k++)
            if (names->at[at + k] < 0x80 && (isalnum(names->at[at + k]) || names->at[at + k] == '-'))
                t->name[n++] = (char)names->at[at + k];
    }
    t->name[n] = '\0';
    if (!n)
        strcpy(t->name, "Font");
}

static int read_facts(struct attn_truetype *t, const struct attn_slab *hhea, const struct attn_slab *maxp,
                      struct attn_err *err)
{
    t->units = attn_slab_u16(&t->head, 18);
    t->long_loca = attn_slab_u16(&t->head, 50) != 0;
    for (size_t i = 0; i < 4; i++)
        t->box[i] = attn_slab_i16(&t->head, 36 + 2 * i);
    t->ascent = attn_slab_i16(hhea, 4);
    t->descent = attn_slab_i16(hhea, 6);
    t->advances = attn_slab_u16(hhea, 34);
    t->glyphs = attn_slab_u16(maxp, 4);
    if (t->units < UNITS_LEAST || t->units > UNITS_MOST)
        return attn_fail(err, ATTN_EFORMAT, "%s: table 'head' has %u units in an em, expected %d to %d", t->file,
                         t->units, UNITS_LEAST, UNITS_MOST);
    if (!t->advances || t->advances > t->glyphs || t->hmtx.len < 4 * (size_t)t->advances)
        return attn_fail(err, ATTN_EFORMAT, "%s: %u widths for %u glyphs in %zu bytes of table 'hmtx': is the font "
                                            "damaged?", t->file, t->advances, t->glyphs, t->hmtx.len);
    if (t->loca.len / (t->long_loca ? 4 : 2) < (size_t)t->glyphs + 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: table 'loca' has %zu bytes, too few for %u glyphs: is the font "
                                            "damaged?", t->file, t->loca.len, t->glyphs);
    return ATTN_OK;
}

int attn_truetype_open(struct attn_truetype *t, const char *file, const void *data, size_t len, size_t index,
                       struct attn_err *err)
{
    struct attn_slab all = {data, len};
    size_t font = 0;
    *t = (struct attn_truetype){.file = file};
    int rc = find_font(file, &all, index, &font, err);
    if (rc)
        return rc;
    struct attn_slab hhea = table(&all, font, "hhea"), maxp = table(&all, font, "maxp");
    struct attn_slab cmap = table(&all, font, "cmap"), names = table(&all, font, "name");
    struct attn_slab rights = table(&all, font, "OS/2");
    t->head = table(&all, font, "head");
    t->hmtx = table(&all, font, "hmtx");
    t->loca = table(&all, font, "loca");
    t->glyf = table(&all, font, "glyf");
    const struct { const char *name; size_t len, least; } needed[] = {
        {"head", t->head.len, HEAD}, {"hhea", hhea.len, HHEA}, {"maxp", maxp.len, MAXP}, {"hmtx", t->hmtx.len, 4},
        {"loca", t->loca.len, 4}, {"glyf", t->glyf.len, 1}, {"cmap", cmap.len, 4}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].len < needed[i].least)
            return missing(t, needed[i].name, err);
    if (!choose_cmap(t, &cmap))
        return attn_fail(err, ATTN_EFORMAT, "%s: no table of characters in Unicode (a 'cmap' of format 4 or 12)", file);
    if ((attn_slab_u16(&rights, 8) & 0xF) == NOT_EMBEDDED)
        return attn_fail(err, ATTN_EFORMAT, "%s: whoever made this font does not allow it to be embedded in documents: "
                                            "choose another", file);
    read_name(t, &names);
    return read_facts(t, &hhea, &maxp, err);
}

int attn_truetype_find(const struct attn_truetype *t, unsigned glyph, struct attn_slab *out, struct attn_err *err)
{
    size_t i = glyph < t->glyphs ? glyph : 0;
    size_t from = t->long_loca ? attn_slab_u32(&t->loca, 4 * i) : 2 * (size_t)attn_slab_u16(&t->loca, 2 * i);
    size_t to = t->long_loca ? attn_slab_u32(&t->loca, 4 * i + 4) : 2 * (size_t)attn_slab_u16(&t->loca, 2 * i + 2);
    if (from > to || to > t->glyf.len)
        return attn_fail(err, ATTN_EFORMAT, "%s: glyph %u lies from byte %zu to %zu of the %zu of table 'glyf': is the "
                                            "font damaged?", t->file, glyph, from, to, t->glyf.len);
    *out = (struct attn_slab){t->glyf.at + from, to - from};
    return ATTN_OK;
}
