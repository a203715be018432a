#include "picture/subset.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { HEAD = 54, HHEA = 36, MAXP = 32, TABLES_MOST = 7 };

struct subset {
    const struct attn_truetype *type;
    struct attn_subset_glyph *glyph; size_t n;
    uint16_t *renamed;                  /* [glyphs of the font]: a glyph's place here, + 1 */
    unsigned char *glyf; size_t len;
    uint32_t *loca;
    struct attn_err *err;
};

static void put16(unsigned char *at, unsigned x)
{
    at[0] = (unsigned char)(x >> 8);
    at[1] = (unsigned char)x;
}

static void put32(unsigned char *at, uint32_t x)
{
    put16(at, x >> 16);
    put16(at + 2, x & 0xFFFF);
}

/* ---- which glyphs --------------------------------------------------------------------------- */

/* Adds the glyphs that glyph i is made of. */
static int add_components(struct subset *s, size_t i)
{
    struct attn_slab g;
    struct attn_glyph_part c = {0};
    bool bad = false;
    int rc = attn_truetype_find(s->type, s->glyph[i].glyph, &g, s->err);
    if (rc || !attn_glyph_is_composed(&g))
        return rc;
    while (attn_glyph_part_next(&c, &g, &bad)) {
        unsigned of = c.glyph < s->type->glyphs ? c.glyph : 0;
        if (s->renamed[of])
            continue;
        if (s->n == ATTN_SUBSET_MOST)
            return attn_fail(s->err, ATTN_EFORMAT, "%s: more than %d glyphs are needed", s->type->file,
                             ATTN_SUBSET_MOST);
        s->glyph[s->n++] = (struct attn_subset_glyph){of, attn_truetype_advance(s->type, of), 0};
        s->renamed[of] = (uint16_t)s->n;
    }
    return bad ? attn_fail(s->err, ATTN_EFORMAT, "%s: glyph %u is cut off: is the font damaged?", s->type->file,
                           s->glyph[i].glyph) : ATTN_OK;
}

/* A glyph may be there twice, with different widths: others are made of its first one. */
static int collect(struct subset *s, const struct attn_subset_glyph *of, size_t n)
{
    int rc = ATTN_OK;
    for (; s->n < n; s->n++) {
        s->glyph[s->n] = of[s->n];
        if (of[s->n].glyph < s->type->glyphs && !s->renamed[of[s->n].glyph])
            s->renamed[of[s->n].glyph] = (uint16_t)(s->n + 1);
    }
    for (size_t i = 0; i < s->n && !rc; i++)
        rc = add_components(s, i);
    return rc;
}

/* ---- their outlines ------------------------------------------------------------------------- */

/* Copies a glyph made of others: these have other numbers here. */
static size_t copy_composed(const struct subset *s, unsigned char *to, const struct attn_slab *g)
{
    struct attn_glyph_part c = {0};
    bool bad = false;
    memcpy(to, g->at, g->len);
    while (attn_glyph_part_next(&c, g, &bad)) {
        put16(to + c.at, c.flags & ~(unsigned)ATTN_PART_INSTRUCTED);
        put16(to + c.at + 2, s->renamed[c.glyph < s->type->glyphs ? c.glyph : 0] - 1u);
    }
    return c.next < g->len ? c.next : g->len;
}

/* Copies a simple glyph without its instructions. */
static size_t copy_simple(unsigned char *to, const struct attn_slab *g)
{
    enum { ENDS = 10 };
    size_t at = ENDS + 2 * (size_t)attn_slab_i16(g, 0), skip = attn_slab_u16(g, at);
    if (at + 2 + skip > g->len || at == ENDS)
        return 0;                       /* cut off, or without curves: nothing to draw */
    memcpy(to, g->at, at);
    put16(to + at, 0);
    memcpy(to + at + 2, g->at + at + 2 + skip, g->len - at - 2 - skip);
    return g->len - skip;
}

static int copy_glyphs(struct subset *s)
{
    size_t room = 0;
    struct attn_slab g;
    int rc = ATTN_OK;
    for (size_t i = 0; i < s->n && !rc; i++, room += g.len + 4)
        rc = attn_truetype_find(s->type, s->glyph[i].glyph, &g, s->err);
    s->glyf = rc ? NULL : calloc(room + 4, 1);
    s->loca = rc ? NULL : calloc(s->n + 1, sizeof *s->loca);
    if (!rc && (!s->glyf || !s->loca))
        return attn_no_memory(s->err, s->type->file, "for %zu glyphs", s->n);
    for (size_t i = 0; i < s->n && !rc; i++) {
        rc = attn_truetype_find(s->type, s->glyph[i].glyph, &g, s->err);
        s->loca[i] = (uint32_t)s->len;
        if (!rc && g.len)
            s->len += attn_glyph_is_composed(&g) ? copy_composed(s, s->glyf + s->len, &g) :
                      copy_simple(s->glyf + s->len, &g);
        s->len = (s->len + 3) & ~(size_t)3;
    }
    if (!rc)
        s->loca[s->n] = (uint32_t)s->len;
    if (!s->len)
        s->len = 1;                     /* a table is never empty */
    return rc;
}

/* ---- the file ------------------------------------------------------------------------------- */

struct part { const char *tag; unsigned char *data; size_t len; };

static uint32_t sum_of(const unsigned char *data, size_t len)
{
    struct attn_slab s = {data, len};
    uint32_t sum = 0;
    for (size_t i = 0; i < len / 4 * 4; i += 4)
        sum += attn_slab_u32(&s, i);
    for (size_t i = len / 4 * 4; i < len; i++)
        sum += (uint32_t)data[i] << 8 * (3 - i % 4);
    return sum;
}

/* A table of characters, of groups that are adjacent both in characters and in glyphs. */
static size_t fill_cmap(const struct subset *s, unsigned char *to, size_t n)
{
    enum { TABLE = 12, GROUPS = TABLE + 16, GROUP = 12 };
    size_t groups = 0;
    for (size_t i = 1; i < n; i++) {
        unsigned char *last = to + GROUPS + GROUP * groups;
        uint32_t c = s->glyph[i].c;
        if (!groups || c != s->glyph[i - 1].c + 1) {
            put32(last, c);
            put32(last + 8, (uint32_t)i);
            last += GROUP;
            groups++;
        }
        put32(last - GROUP + 4, c);
    }
    size_t len = GROUPS + GROUP * groups;
    put16(to + 2, 1);
    put16(to + 4, 3);                   /* Windows, */
    put16(to + 6, 10);                  /* all planes of Unicode */
    put32(to + 8, TABLE);
    put16(to + TABLE, 12);
    put32(to + TABLE + 4, (uint32_t)(len - TABLE));
    put32(to + TABLE + 12, (uint32_t)groups);
    return len;
}

static void fill_tables(const struct subset *s, struct part *p)
{
    unsigned char *head = p[1].data, *hhea = p[2].data, *maxp = p[5].data;
    memcpy(head, s->type->head.at, HEAD);
    put32(head + 8, 0);                 /* a sum over the file, which nobody checks in a document */
    memset(head + 20, 0, 16);           /* when the font was made: at another moment for each release of a system */
    put16(head + 50, 1);
    put32(hhea, 0x10000);
    put16(hhea + 4, (unsigned)s->type->ascent);
    put16(hhea + 6, (unsigned)s->type->descent);
    put16(hhea + 18, 1);
    put16(hhea + 34, (unsigned)s->n);
    put32(maxp, 0x10000);
    put16(maxp + 4, (unsigned)s->n);
    for (size_t at = 6; at < 14; at += 2)
        put16(maxp + at, 0xFFFF);       /* points and curves: an upper limit */
    put16(maxp + 14, 1);
    put16(maxp + 28, 0xFFFF);
    put16(maxp + 30, 6);
    for (size_t i = 0; i < s->n; i++) {
        put16(p[3].data + 4 * i, s->glyph[i].advance);
        put16(p[3].data + 4 * i + 2, (unsigned)attn_truetype_bearing(s->type, s->glyph[i].glyph));
    }
    for (size_t i = 0; i <= s->n; i++)
        put32(p[4].data + 4 * i, s->loca[i]);
}

/* Tables stand in the order of their names. */
static void put_file(struct attn_out *o, const struct part *p, size_t n)
{
    enum { HEADER = 12, ENTRY = 16 };
    unsigned char top[HEADER + ENTRY * TABLES_MOST] = {0};
    size_t at = HEADER + ENTRY * n, power = n < 4 ? 2 : 4;
    put32(top, 0x10000);
    put16(top + 4, (unsigned)n);
    put16(top + 6, (unsigned)(power * 16));
    put16(top + 8, power == 4 ? 2 : 1);
    put16(top + 10, (unsigned)((n - power) * 16));
    for (size_t i = 0; i < n; i++) {
        unsigned char *entry = top + HEADER + ENTRY * i;
        memcpy(entry, p[i].tag, 4);
        put32(entry + 4, sum_of(p[i].data, p[i].len));
        put32(entry + 8, (uint32_t)at);
        put32(entry + 12, (uint32_t)p[i].len);
        at += (p[i].len + 3) / 4 * 4;
    }
    attn_out_write(o, top, HEADER + ENTRY * n);
    for (size_t i = 0; i < n; i++) {
        attn_out_write(o, p[i].data, p[i].len);
        attn_out_write(o, "\0\0\0", (4 - p[i].len % 4) % 4);
    }
}

static int write_file(const struct subset *s, struct attn_out *o, size_t n, bool cmap)
{
    size_t hmtx = 4 * s->n, loca = 4 * (s->n + 1), characters = cmap ? 28 + 12 * n : 0;
    unsigned char *room = calloc(HEAD + HHEA + MAXP + hmtx + loca + characters + 1, 1), *at = room;
    if (!room)
        return attn_no_memory(s->err, s->type->file, "for the tables of %zu glyphs", s->n);
    struct part p[] = {{"cmap", at, characters}, {"head", at + characters, HEAD}, {"hhea", NULL, HHEA},
                       {"hmtx", NULL, hmtx}, {"loca", NULL, loca}, {"maxp", NULL, MAXP}, {"glyf", s->glyf, s->len}};
    for (size_t i = 2; i < 6; i++)
        p[i].data = p[i - 1].data + p[i - 1].len;
    fill_tables(s, p);
    if (cmap)
        p[0].len = fill_cmap(s, p[0].data, n);
    /* "glyf" stands after "cmap". */
    struct part sorted[] = {p[0], p[6], p[1], p[2], p[3], p[4], p[5]};
    put_file(o, cmap ? sorted : sorted + 1, cmap ? TABLES_MOST : TABLES_MOST - 1);
    free(room);
    return ATTN_OK;
}

int attn_subset_write(struct attn_out *o, const struct attn_truetype *t, const struct attn_subset_glyph *of, size_t n,
                      bool cmap, struct attn_err *err)
{
    struct subset s = {.type = t, .err = err};
    int rc = ATTN_OK;
    if (n > ATTN_SUBSET_MOST)
        return attn_fail(err, ATTN_EUSAGE, "%s: %zu glyphs are more than the %d that a part of a font may have",
                         t->file, n, ATTN_SUBSET_MOST);
    s.glyph = calloc(ATTN_SUBSET_MOST, sizeof *s.glyph);
    s.renamed = calloc(t->glyphs, sizeof *s.renamed);
    if (!s.glyph || !s.renamed)
        rc = attn_no_memory(err, t->file, "for a part of a font");
    if (!rc)
        rc = collect(&s, of, n);
    if (!rc)
        rc = copy_glyphs(&s);
    if (!rc)
        rc = write_file(&s, o, n, cmap);
    free(s.loca);
    free(s.glyf);
    free(s.renamed);
    free(s.glyph);
    return rc;
}
