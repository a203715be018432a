#include "picture/lettering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "picture/faces.h"

enum { CLUSTER = 8 };                   /* a character and its accents; more than fit are left out */

struct cluster { utf8proc_int32_t c[CLUSTER]; size_t n, columns; };

/* ---- characters -------------------------------------------------------------------------- */

static size_t width_of(uint32_t c)
{
    char text[4];
    return attn_utf8_width(text, attn_utf8_put(text, c));
}

/* What has no shape of its own: it says how others are drawn. */
static bool is_silent(uint32_t c)
{
    return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF) ||
           utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_CF;
}

/* Scripts in which a letter's shape or place depends on its neighbours, or which run from right to left, and emoji. */
static bool needs_more(uint32_t c)
{
    static const struct { uint32_t first, last; } ranges[] = {
        {0x0590, 0x109F}, {0x1780, 0x18AF}, {0x1900, 0x1CFF}, {0xA800, 0xA82F}, {0xA840, 0xABFF}, {0xFB1D, 0xFDFF},
        {0xFE70, 0xFEFC}, {0x10800, 0x10FFF}, {0x11000, 0x11FFF}, {0x1E800, 0x1EFFF}, {0x1F000, 0x1FAFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static void note(struct attn_lacks *l, uint32_t c)
{
    size_t k = 0;
    while (l && k < l->n && l->c[k] != c)
        k++;
    if (l && k == l->n && k < ATTN_LACKS)
        l->c[l->n++] = c;
}

void attn_lacks_text(char *text, size_t size, const struct attn_lacks *l, const char *others)
{
    size_t more = 0, all = l->n;
    const char *least = all == ATTN_LACKS ? "at least " : "";
    for (size_t i = 0; i < all; i++)
        more += needs_more(l->c[i]);
    *text = '\0';
    if (!all)
        return;
    if (all == 1)
        snprintf(text, size, "1 character is drawn as a box: it %s", more ? "needs shaping or colours" :
                 "is in none of the faces");
    else if (more == 0 || more == all)
        snprintf(text, size, "%s%zu characters are drawn as boxes: they %s", least, all, more ?
                 "need shaping or colours" : "are in none of the faces");
    else
        snprintf(text, size, "%s%zu characters are drawn as boxes: of them %zu need shaping or colours", least, all,
                 more);
    size_t n = strlen(text);
    if (more < all)
        snprintf(text + n, size - n, "; take --font FILE%s%s%s", more ? " for the others, or " : ", or ", others,
                 more ? " for all" : "");
    else
        snprintf(text + n, size - n, "; take %s", others);
}

static struct cluster cluster_at(const char *s, size_t len, size_t *bytes)
{
    struct cluster k = {.n = 0};
    size_t step;
    for (*bytes = 0; *bytes < len; *bytes += step) {
        uint32_t c = attn_utf8_next(s + *bytes, len - *bytes, &step);
        size_t columns = width_of(c);
        if (k.n && columns)
            break;
        if (k.n < CLUSTER && !is_silent(c)) {
            k.c[k.n++] = (utf8proc_int32_t)c;
            k.columns += columns;
        }
    }
    return k;
}

/* ---- letters ------------------------------------------------------------------------------- */

static bool add(struct attn_faces *f, struct attn_letter l)
{
    struct attn_letter *more = attn_grow(f->letter, &f->room, f->n + 1, sizeof *more);
    if (!more)
        attn_no_memory(&f->failed, NULL, "for a text of %zu letters", f->n + 1);
    else
        (f->letter = more)[f->n++] = l;
    return more;
}

/* The face that has a character, and its glyph; negative: none. */
static int find(struct attn_faces *f, uint32_t c, unsigned *glyph)
{
    for (int i = 0; i < ATTN_FACES && !f->failed.code; i++)
        if (attn_face_ready(f, i, c) && (*glyph = attn_truetype_glyph(&f->face[i].type, c)) != 0)
            return i;
    return -1;
}

static double ems(const struct attn_faces *f, int face, double units)
{
    return units / f->face[face].type.units;
}

/* Where a glyph's outline is, in ems: left, right, bottom, top. */
static bool extent(struct attn_faces *f, int face, unsigned glyph, double at[4])
{
    struct attn_letter l = {.face = face, .glyph = glyph};
    if (!attn_faces_outline(f, &l))
        return false;
    at[0] = at[2] = 1e9;
    at[1] = at[3] = -1e9;
    for (size_t i = 0; i < f->outline.n; i++) {
        double x = ems(f, face, f->outline.p[i].x), y = ems(f, face, f->outline.p[i].y);
        at[0] = x < at[0] ? x : at[0];
        at[1] = x > at[1] ? x : at[1];
        at[2] = y < at[2] ? y : at[2];
        at[3] = y > at[3] ? y : at[3];
    }
    return f->outline.n > 0;
}

/* Centres an accent on its letter, and raises it above one that is higher than an x. */
static void add_accent(struct attn_faces *f, const struct attn_letter *on, uint32_t c)
{
    enum { LEFT, RIGHT, BOTTOM, TOP };
    const double x_height = 0.56;
    double letter[4], accent[4], y = 0;
    unsigned glyph = 0;
    int face = find(f, c, &glyph);
    if (face < 0) {
        note(f->lacks, c);
        return;
    }
    if (!extent(f, on->face, on->glyph, letter) || !extent(f, face, glyph, accent))
        return;
    if (accent[BOTTOM] >= x_height - 0.05 && letter[TOP] > x_height)
        y = letter[TOP] - x_height;
    double x = on->x + (letter[LEFT] + letter[RIGHT] - accent[LEFT] - accent[RIGHT]) / 2;
    add(f, (struct attn_letter){.face = face, .glyph = glyph, .c = c, .x = x, .y = y, .size = 1});
}

/* A frame as wide as the character's columns, with its code point in digits of two lines. */
static void add_frame(struct attn_faces *f, uint32_t c, size_t columns)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t digits = c > 0xFFFFF ? 6 : c > 0xFFFF ? 5 : 4, line = digits > 4 ? 3 : 2;
    double wide = (double)(columns ? columns : 1) * ATTN_COLUMN, room = wide - 0.3;
    double size = room / (ATTN_COLUMN * (double)line);
    size = size > 0.55 ? 0.55 : size;
    double left = (wide - size * ATTN_COLUMN * (double)line) / 2;
    note(f->lacks, c);
    if (!add(f, (struct attn_letter){.face = -1, .inside = digits, .c = c, .x = f->width, .size = 1, .advance = wide}))
        return;
    for (size_t i = 0; i < digits; i++) {
        uint32_t digit = (unsigned char)hex[c >> 4 * (digits - 1 - i) & 15];
        unsigned glyph = 0;
        int face = find(f, digit, &glyph);
        double x = f->width + left + (double)(i % line) * size * ATTN_COLUMN;
        double y = 0.345 + (i < line ? 0.06 : -0.06 - 0.73 * size);
        if (face < 0 || !add(f, (struct attn_letter){.face = face, .glyph = glyph, .c = digit, .x = x, .y = y,
                                                     .size = size,
                                                     .advance = size * ems(f, face, attn_truetype_advance(
                                                                &f->face[face].type, glyph))}))
            return;
    }
    f->width += wide;
}

static void add_letter(struct attn_faces *f, int face, unsigned glyph, const struct cluster *k)
{
    /* A letter of two columns fills a little more of them, so that readers do not take the rest for a space. */
    double size = f->columns && k->columns > 1 ? 1.06 : 1;
    double natural = size * ems(f, face, attn_truetype_advance(&f->face[face].type, glyph));
    double wide = f->columns ? (double)k->columns * ATTN_COLUMN : natural;
    struct attn_letter l = {.face = face, .glyph = glyph, .c = (uint32_t)k->c[0], .x = f->width + (wide - natural) / 2,
                            .size = size, .advance = wide};
    if (!add(f, l))
        return;
    for (size_t i = 1; i < k->n; i++)
        add_accent(f, &l, (uint32_t)k->c[i]);
    f->width += wide;
}

static void add_cluster(struct attn_faces *f, const struct cluster *k)
{
    struct cluster joined = *k;
    unsigned glyph = 0;
    utf8proc_ssize_t n = k->n < 2 ? 0 : utf8proc_normalize_utf32(joined.c, (utf8proc_ssize_t)k->n, UTF8PROC_STABLE |
                                                                 UTF8PROC_COMPOSE);
    joined.n = n > 0 ? (size_t)n : k->n;
    uint32_t c = (uint32_t)joined.c[0];
    int face = needs_more(c) ? -1 : find(f, c, &glyph);
    if (f->failed.code)
        return;
    if (face >= 0)
        add_letter(f, face, glyph, &joined);
    else if (attn_utf8_space(c))
        f->width += (double)k->columns * ATTN_COLUMN;
    else
        add_frame(f, (uint32_t)k->c[0], k->columns);
}

bool attn_faces_lay(struct attn_faces *f, const char *s, size_t len)
{
    f->n = 0;
    f->width = 0;
    for (size_t at = 0, bytes; at < len && !f->failed.code; at += bytes) {
        struct cluster k = cluster_at(s + at, len - at, &bytes);
        if (k.n)
            add_cluster(f, &k);
    }
    if (f->failed.code)
        f->n = 0;
    return !f->failed.code;
}

/* ---- where they are ---------------------------------------------------------------------- */

struct attn_placing attn_faces_place(const struct attn_faces *f, const struct attn_lettering *w, double size)
{
    double room = (double)(attn_utf8_width(w->s, strlen(w->s)) * w->column), length = f->width * size;
    double narrow = length > room && length > 0 ? room / length : 1;
    double back = length * narrow * (w->anchor == ATTN_BEGINS ? 0 : w->anchor == ATTN_ENDS ? 1 : 0.5);
    double x = (double)w->x, y = (double)w->y;
    if (w->up)
        return (struct attn_placing){0, -size * narrow, -size, 0, x, y + back};
    return (struct attn_placing){size * narrow, 0, 0, -size, x - back, y};
}

struct attn_placing attn_letter_placing(const struct attn_faces *f, const struct attn_letter *l,
                                        const struct attn_placing *t)
{
    double k = l->face < 0 ? 1 : l->size / f->face[l->face].type.units;
    return (struct attn_placing){t->xx * k, t->xy * k, t->yx * k, t->yy * k, t->xx * l->x + t->yx * l->y + t->x,
                                 t->xy * l->x + t->yy * l->y + t->y};
}

/* A frame is two rectangles, the inner one the other way round. */
static bool frame(struct attn_faces *f, const struct attn_letter *l)
{
    const double thick = 0.055, side = 0.06, low = -0.19, high = 0.88;
    for (int inner = 0; inner < 2; inner++) {
        double t = inner ? thick : 0, left = side + t, right = l->advance - side - t;
        double x[4] = {left, inner ? right : left, right, inner ? left : right};
        double y[4] = {low + t, inner ? low + t : high, high - t, inner ? high - t : low};
        for (int i = 0; i < 4; i++)
            if (attn_outline_add(&f->outline, (struct attn_outline_point){x[i], y[i], true, i == 3}, &f->failed))
                return false;
    }
    return true;
}

bool attn_faces_outline(struct attn_faces *f, const struct attn_letter *l)
{
    f->outline.n = 0;
    if (f->failed.code)
        return false;
    if (l->face < 0)
        return frame(f, l);
    return attn_truetype_outline(&f->face[l->face].type, l->glyph, &f->outline, &f->failed) == ATTN_OK;
}

struct attn_faces attn_look_faces(const struct attn_look *look)
{
    return (struct attn_faces){.path = look->font, .index = look->font_index, .lacks = look->lacks};
}

int attn_faces_failed(const struct attn_faces *f, struct attn_err *err)
{
    return attn_fail_as(err, &f->failed);
}
