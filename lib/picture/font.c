#include "picture/font.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/utf8.h"

enum { X_TOP = 6, LIFT = ATTN_FONT_CAP - X_TOP, PARTS = 4, CURVE = 6 };

struct point { double x, y; };
struct pen {
    struct point origin;                /* of the letter */
    double size;                        /* pixels in a unit */
    attn_stroke_fn *stroke;
    void *ctx;
};

static struct point point_at(const char *s)
{
    return (struct point){s[0] - '0', s[1] - 'd'};
}

static void line(const struct pen *p, struct point a, struct point b)
{
    struct attn_stroke s = {p->origin.x + a.x * p->size, p->origin.y + a.y * p->size, p->origin.x + b.x * p->size,
                            p->origin.y + b.y * p->size};
    p->stroke(p->ctx, &s);
}

/* Draws a quadratic Bezier curve as straight pieces. */
static void curve(const struct pen *p, struct point a, struct point bend, struct point b)
{
    struct point from = a;
    for (int i = 1; i <= CURVE; i++) {
        double t = (double)i / CURVE, u = 1 - t;
        struct point to = {u * u * a.x + 2 * u * t * bend.x + t * t * b.x,
                           u * u * a.y + 2 * u * t * bend.y + t * t * b.y};
        line(p, from, to);
        from = to;
    }
}

static void draw_strokes(const struct pen *p, const char *s)
{
    while (*s) {
        struct point at = point_at(s);
        for (s += 2; *s && *s != ' ';) {
            bool bends = *s == '~';
            struct point to = point_at(s + (bends ? 3 : 0));
            if (bends)
                curve(p, at, point_at(s + 1), to);
            else
                line(p, at, to);
            at = to;
            s += bends ? 5 : 2;
        }
        s += *s == ' ';
    }
}

static double top_of(const char *s)
{
    double top = 0;
    for (; *s; s += *s == ' ' || *s == '~' ? 1 : 2)
        if (*s != ' ' && *s != '~')
            top = fmax(top, point_at(s).y);
    return top;
}

/* ---- one character --------------------------------------------------------------------- */

struct letter { const char *parts[PARTS]; size_t n; };  /* the letter and its accents; n 0: not in the font */

static bool invisible(uint32_t c)
{
    return c == ' ' || c == 0xA0 || c == 0x3000;
}

/* Writes the decomposition of a code point: a base letter and its accents, or the code point itself; returns how
 * many. */
static size_t decompose(uint32_t out[PARTS], uint32_t c)
{
    utf8proc_int32_t parts[PARTS];
    int boundary = 0;
    utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)c, parts, PARTS, UTF8PROC_DECOMPOSE, &boundary);
    bool known = n > 0 && n <= PARTS;
    out[0] = c;
    for (utf8proc_ssize_t i = 0; known && i < n; i++)
        out[i] = (uint32_t)parts[i];
    return known ? (size_t)n : 1;
}

static struct letter find(uint32_t c)
{
    uint32_t code[PARTS];
    struct letter l = {.n = 0};
    size_t n = attn_glyph_find(c) ? 1 : decompose(code, c);
    for (size_t i = 0; i < n; i++) {
        l.parts[i] = attn_glyph_find(n == 1 ? c : code[i]);
        if (!l.parts[i])
            return l;
    }
    l.n = n;
    return l;
}

static size_t width_of(uint32_t c)
{
    char text[4];
    return attn_utf8_width(text, attn_utf8_put(text, c));
}

/* Whether c is an accent that the text has as a separate character. */
static bool is_accent(uint32_t c)
{
    return c != 0 && width_of(c) == 0 && attn_glyph_find(c);
}

static size_t columns_of(uint32_t c)
{
    return is_accent(c) ? 0 : invisible(c) || find(c).n ? width_of(c) : 2;
}

/* Draws the code point in a box; one of more than four digits takes three to a line. */
static void draw_box(const struct pen *p, uint32_t c)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t digits = c > 0xFFFFF ? 6 : c > 0xFFFF ? 5 : 4, per_line = digits > 4 ? 3 : 2;
    struct point a = {1, -2}, b = {12, -2}, d = {12, 10}, e = {1, 10};
    line(p, a, b);
    line(p, b, d);
    line(p, d, e);
    line(p, e, a);
    for (size_t i = 0; i < digits; i++) {
        struct pen small = {.size = p->size * 0.45, .stroke = p->stroke, .ctx = p->ctx};
        double x = (per_line == 2 ? 2.6 : 1.9) + (double)(i % per_line) * (per_line == 2 ? 4.2 : 3.2);
        small.origin = (struct point){p->origin.x + x * p->size, p->origin.y + (i < per_line ? 4.9 : -0.9) * p->size};
        char digit = hex[c >> 4 * (digits - 1 - i) & 15];
        draw_strokes(&small, attn_glyph_find((uint32_t)digit));
    }
}

static void draw_character(const struct pen *p, const struct letter *l, uint32_t c)
{
    struct pen above = *p;
    if (!l->n && !invisible(c))
        draw_box(p, c);
    if (!l->n)
        return;
    draw_strokes(p, l->parts[0]);
    above.origin.y += top_of(l->parts[0]) > X_TOP ? LIFT * p->size : 0;
    for (size_t i = 1; i < l->n; i++)
        draw_strokes(top_of(l->parts[i]) > X_TOP ? &above : p, l->parts[i]);
}

/* ---- texts ----------------------------------------------------------------------------- */

size_t attn_font_columns(const char *s, size_t len)
{
    size_t columns = 0, step;
    for (size_t i = 0; i < len; i += step)
        columns += columns_of(attn_utf8_next(s + i, len - i, &step));
    return columns;
}

void attn_font_note(struct attn_lacks *l, const char *s, size_t len)
{
    size_t step, k;
    for (size_t i = 0; l && i < len; i += step) {
        uint32_t c = attn_utf8_next(s + i, len - i, &step);
        if (is_accent(c) || invisible(c) || find(c).n)
            continue;
        for (k = 0; k < l->n && l->c[k] != c;)
            k++;
        if (k == l->n && k < ATTN_FONT_LACKS)
            l->c[l->n++] = c;
    }
}

void attn_font_lacks(char *text, size_t size, const struct attn_lacks *l)
{
    *text = '\0';
    if (l->n)
        snprintf(text, size, "%s%zu character%s not in the font of pictures and drawn as %s: .svg has %s as text",
                 l->n == ATTN_FONT_LACKS ? "at least " : "", l->n, l->n == 1 ? " is" : "s are",
                 l->n == 1 ? "a box" : "boxes", l->n == 1 ? "it" : "them");
}

void attn_font_draw(const char *s, size_t len, attn_stroke_fn *stroke, void *ctx)
{
    struct pen p = {.size = 1, .stroke = stroke, .ctx = ctx};
    struct letter l = {.n = 0};
    double x = 0;
    size_t step;
    for (size_t i = 0; i < len; i += step) {
        uint32_t c = attn_utf8_next(s + i, len - i, &step);
        if (is_accent(c) && l.n && l.n < PARTS) {       /* added to the letter before it, which is drawn again */
            l.parts[l.n++] = attn_glyph_find(c);
        } else {
            l = find(c);
            p.origin.x = x;
            x += (double)(columns_of(c) * ATTN_FONT_COLUMN);
        }
        draw_character(&p, &l, c);
    }
}
