/* outline.c - outlines of the glyphs of a font: simple ones, and those made of others. */
#include "picture/truetype.h"

#include "base/err.h"
#include "base/grow.h"

/* What glyphs made of glyphs may come to: no font needs nearly as much. */
enum { DEPTH_MOST = 6, COMPONENTS_MOST = 256, POINTS_MOST = 1 << 16 };

struct reading {
    const struct attn_truetype *type;
    struct attn_outline *out;
    size_t components;
    struct attn_err *err;
};

static int damaged(const struct reading *r, unsigned glyph, const char *what)
{
    return attn_fail(r->err, ATTN_EFORMAT, "%s: glyph %u %s: is the font damaged?", r->type->file, glyph, what);
}

int attn_outline_add(struct attn_outline *o, struct attn_outline_point p, struct attn_err *err)
{
    struct attn_outline_point *more = attn_grow(o->p, &o->room, o->n + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for an outline of %zu points", o->n + 1);
    o->p = more;
    more[o->n++] = p;
    return ATTN_OK;
}

/* ---- glyphs of their own ----------------------------------------------------------------- */

enum { ON = 1, X_BYTE = 2, Y_BYTE = 4, REPEAT = 8, X_SAME = 16, Y_SAME = 32 };          /* flags of a point */

/* Whether all of the flags and distances that a glyph claims are there; *x and *y get where those begin. */
static bool measure(const struct attn_slab *g, size_t at, size_t points, size_t *x, size_t *y)
{
    size_t wide = 0, high = 0;
    for (size_t n = 0; n < points;) {
        if (at >= g->len)
            return false;
        unsigned flag = g->at[at++];
        size_t times = 1;
        if (flag & REPEAT && at < g->len)
            times += g->at[at++];
        n += times;
        wide += times * (flag & X_BYTE ? 1 : flag & X_SAME ? 0 : 2);
        high += times * (flag & Y_BYTE ? 1 : flag & Y_SAME ? 0 : 2);
    }
    *x = at;
    *y = at + wide;
    return *y <= g->len && high <= g->len - *y;
}

/* How far a coordinate moves from one point to the next. */
static int distance(const struct attn_slab *g, size_t *at, unsigned flag, unsigned byte, unsigned same)
{
    int d = 0;
    if (flag & byte)
        d = *at < g->len ? flag & same ? g->at[*at] : -g->at[*at] : 0;
    else if (!(flag & same))
        d = attn_slab_i16(g, *at);
    *at += flag & byte ? 1 : flag & same ? 0 : 2;
    return d;
}

static int read_simple(struct reading *r, unsigned glyph, const struct attn_slab *g)
{
    enum { ENDS = 10 };
    size_t curves = (size_t)attn_slab_i16(g, 0), at = ENDS + 2 * curves, x_at = 0, y_at = 0;
    size_t points = attn_slab_u16(g, at - 2) + 1u, curve = 0, times = 0;
    unsigned flag = 0;
    int rc = ATTN_OK;
    long x = 0, y = 0;
    if (!curves)
        return ATTN_OK;
    if (g->len < at + 2)
        return damaged(r, glyph, "is cut off");
    at += 2 + (size_t)attn_slab_u16(g, at);
    if (!measure(g, at, points, &x_at, &y_at))
        return damaged(r, glyph, "is cut off");
    if (points > POINTS_MOST - r->out->n)
        return damaged(r, glyph, "has too many points");
    for (size_t i = 0; i < points && !rc; i++, times--) {
        if (!times) {
            flag = g->at[at++];
            times = 1 + (size_t)(flag & REPEAT ? g->at[at++] : 0);
        }
        x += distance(g, &x_at, flag, X_BYTE, X_SAME);
        y += distance(g, &y_at, flag, Y_BYTE, Y_SAME);
        bool ends = i == attn_slab_u16(g, ENDS + 2 * curve);
        curve += ends;
        rc = attn_outline_add(r->out, (struct attn_outline_point){(double)x, (double)y, flag & ON,
                              ends || i + 1 == points}, r->err);
    }
    return rc;
}

/* ---- glyphs made of others --------------------------------------------------------------- */

bool attn_glyph_is_composed(const struct attn_slab *glyph)
{
    return glyph->len && attn_slab_i16(glyph, 0) < 0;
}

static double fraction(const struct attn_slab *g, size_t at)
{
    return attn_slab_i16(g, at) / 16384.0;
}

bool attn_glyph_part_next(struct attn_glyph_part *c, const struct attn_slab *g, bool *bad)
{
    enum { FIRST = 10, SCALE = 8, TWO_SCALES = 0x40, MATRIX = 0x80 };
    size_t at = c->next ? c->next : FIRST;
    if (c->next && !(c->flags & ATTN_PART_MORE))
        return false;
    *c = (struct attn_glyph_part){.at = at, .flags = attn_slab_u16(g, at), .glyph = attn_slab_u16(g, at + 2), .xx = 1,
                                 .yy = 1};
    bool words = c->flags & ATTN_PART_WORDS, shifts = c->flags & ATTN_PART_SHIFTS;
    size_t after = at + (words ? 8 : 6);
    size_t scales = c->flags & SCALE ? 1 : c->flags & TWO_SCALES ? 2 : c->flags & MATRIX ? 4 : 0;
    c->next = after + 2 * scales;
    *bad = c->next > g->len;
    if (*bad)
        return false;
    if (words) {
        c->a = shifts ? attn_slab_i16(g, at + 4) : (int)attn_slab_u16(g, at + 4);
        c->b = shifts ? attn_slab_i16(g, at + 6) : (int)attn_slab_u16(g, at + 6);
    } else {
        c->a = shifts ? (int8_t)g->at[at + 4] : g->at[at + 4];
        c->b = shifts ? (int8_t)g->at[at + 5] : g->at[at + 5];
    }
    if (scales)
        c->xx = c->yy = fraction(g, after);
    if (scales > 1)
        c->yy = fraction(g, after + 2 * (scales - 1));
    if (scales == 4) {
        c->xy = fraction(g, after + 2);
        c->yx = fraction(g, after + 4);
    }
    return true;
}

/* Turns and scales the points from `first` on, and moves them to where the component is. */
static int place(struct reading *r, unsigned glyph, const struct attn_glyph_part *c, size_t parent, size_t first)
{
    struct attn_outline *o = r->out;
    double dx = c->a, dy = c->b;
    for (size_t i = first; i < o->n; i++) {
        struct attn_outline_point *p = &o->p[i], from = *p;
        p->x = c->xx * from.x + c->yx * from.y;
        p->y = c->xy * from.x + c->yy * from.y;
    }
    if (!(c->flags & ATTN_PART_SHIFTS)) {
        size_t a = parent + (size_t)c->a, b = first + (size_t)c->b;
        if (a >= first || b >= o->n)
            return damaged(r, glyph, "joins points that are not there");
        dx = o->p[a].x - o->p[b].x;
        dy = o->p[a].y - o->p[b].y;
    }
    for (size_t i = first; i < o->n; i++) {
        o->p[i].x += dx;
        o->p[i].y += dy;
    }
    return ATTN_OK;
}

static int read_glyph(struct reading *r, unsigned glyph, size_t depth)
{
    struct attn_slab g;
    struct attn_glyph_part c = {0};
    bool bad = false;
    size_t parent = r->out->n;
    int rc = attn_truetype_find(r->type, glyph, &g, r->err);
    if (rc || !g.len)
        return rc;
    if (!attn_glyph_is_composed(&g))
        return read_simple(r, glyph, &g);
    if (depth == DEPTH_MOST)
        return damaged(r, glyph, "is made of glyphs that are made of others, too deep");
    while (!rc && attn_glyph_part_next(&c, &g, &bad)) {
        size_t first = r->out->n;
        if (++r->components > COMPONENTS_MOST)
            return damaged(r, glyph, "is made of too many others");
        rc = read_glyph(r, c.glyph, depth + 1);
        if (!rc)
            rc = place(r, glyph, &c, parent, first);
    }
    return bad ? damaged(r, glyph, "is cut off") : rc;
}

int attn_truetype_outline(const struct attn_truetype *t, unsigned glyph, struct attn_outline *o, struct attn_err *err)
{
    struct reading r = {t, o, 0, err};
    return read_glyph(&r, glyph, 0);
}
