#include "picture/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "picture/look.h"
#include "picture/pdf_fonts.h"

/* Points. */
#define PAGE_WIDTH 595.28
#define PAGE_HEIGHT 841.89
#define MARGIN 56.7
#define FOOT 22.0
#define LARGEST 10.0
#define COLUMN ATTN_COLUMN
#define LEADING 1.4

/* the objects; each page has two, from FIRST on; then come fonts */
enum { CATALOG = 1, PAGES, INFO, FIRST };

struct line { const char *s; size_t len, wide; double size; };
struct pages {
    struct line *line; size_t n, room;
    size_t *start, count, start_room;   /* the first line of each page */
    const char *title, *number;
    struct attn_out *page;              /* what is drawn on the current one */
    struct attn_pdf_fonts fonts;
};

/* ---- lines ------------------------------------------------------------------------------- */

/* The length of an escape sequence that begins at s; 0: none does. */
static size_t escape_at(const char *s, size_t len)
{
    size_t n = 2;
    if (len < 3 || s[0] != '\033' || s[1] != '[')
        return 0;
    while (n < len && ((s[n] >= '0' && s[n] <= '9') || s[n] == ';'))
        n++;
    return n < len && s[n] == 'm' ? n + 1 : 0;
}

/* Which sides of its place a line between letters goes to; 0: the character at s is none. */
enum { UP = 1, DOWN = 2, ON_LEFT = 4, ON_RIGHT = 8, LINE_BYTES = 3 };
static unsigned sides_at(const char *s, size_t len)
{
    static const struct { const char *s; unsigned sides; } lines[] = {
        {"─", ON_LEFT | ON_RIGHT}, {"│", UP | DOWN}, {"┌", DOWN | ON_RIGHT}, {"┐", DOWN | ON_LEFT},
        {"└", UP | ON_RIGHT}, {"┘", UP | ON_LEFT}, {"├", UP | DOWN | ON_RIGHT}, {"┤", UP | DOWN | ON_LEFT},
        {"┬", DOWN | ON_LEFT | ON_RIGHT},
        {"┴", UP | ON_LEFT | ON_RIGHT}, {"┼", UP | DOWN | ON_LEFT | ON_RIGHT}};
    for (size_t i = 0; len >= LINE_BYTES && i < sizeof lines / sizeof *lines; i++)
        if (!memcmp(s, lines[i].s, LINE_BYTES))
            return lines[i].sides;
    return 0;
}

static size_t width_of(const char *s, size_t len)
{
    size_t wide = 0, n;
    for (const char *end = s + len; s < end; s += n) {
        n = escape_at(s, (size_t)(end - s));
        if (n)
            continue;
        while (s + n < end && (n == 0 || s[n] != '\033'))
            n++;
        wide += attn_utf8_width(s, n);
    }
    return wide;
}

static int split(struct pages *p, const char *text, size_t len, struct attn_err *err)
{
    for (const char *end = text + len; text < end;) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        struct line *more = attn_grow(p->line, &p->room, p->n + 1, sizeof *more);
        if (!more)
            return attn_no_memory(err, NULL, "for %zu lines", p->n + 1);
        p->line = more;
        size_t n = (size_t)((stop ? stop : end) - text);
        more[p->n++] = (struct line){text, n, width_of(text, n), LARGEST};
        text = stop ? stop + 1 : end;
    }
    return ATTN_OK;
}

static size_t block_end(const struct pages *p, size_t i)
{
    while (i < p->n && p->line[i].len)
        i++;
    return i;
}

/* All lines of a block have one size, so that columns stay columns. */
static void choose_sizes(struct pages *p)
{
    for (size_t i = 0, end; i < p->n; i = end + 1) {
        size_t widest = 1;
        end = block_end(p, i);
        for (size_t k = i; k < end; k++)
            widest = p->line[k].wide > widest ? p->line[k].wide : widest;
        double fits = (PAGE_WIDTH - 2 * MARGIN) / (COLUMN * (double)widest);
        for (size_t k = i; k < end && fits < LARGEST; k++)
            p->line[k].size = fits;
    }
}

static double height_of(const struct pages *p, size_t from, size_t to)
{
    double height = 0;
    for (; from < to; from++)
        height += LEADING * p->line[from].size;
    return height;
}

/* A drawing is not cut; it is indented, and its first line begins with a corner. */
static bool is_drawing(const struct pages *p, size_t i)
{
    const struct line *l = &p->line[i];
    const size_t blanks = l->len ? strspn(l->s, " ") : 0;
    return blanks < l->len && sides_at(l->s + blanks, l->len - blanks) > 0;
}

/* What should stand on one page with line i, at which a block begins: the block, and with a heading the next one. */
static double wanted(const struct pages *p, size_t i)
{
    size_t end = block_end(p, i);
    bool heading = end == i + 1 && *p->line[i].s == '\033';
    return height_of(p, i, heading && end < p->n ? block_end(p, end + 1) : end);
}

static int begin_page(struct pages *p, size_t line, struct attn_err *err)
{
    size_t *more = attn_grow(p->start, &p->start_room, p->count + 2, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu pages", p->count + 1);
    p->start = more;
    more[p->count++] = line;
    more[p->count] = p->n;
    return ATTN_OK;
}

static int paginate(struct pages *p, struct attn_err *err)
{
    const double room = PAGE_HEIGHT - 2 * MARGIN - FOOT;
    double used = 0;
    int rc = begin_page(p, 0, err);
    for (size_t i = 0; i < p->n && !rc; i++) {
        bool begins = i == 0 || !p->line[i - 1].len;
        double line = height_of(p, i, i + 1), block = begins ? wanted(p, i) : line;
        bool late = used > room / 2 || (begins && is_drawing(p, i));
        if (used + line > room || (late && used + block > room && block < room)) {
            rc = begin_page(p, i, err);
            used = 0;
        }
        used += line;
    }
    return rc;
}

/* ---- letters ------------------------------------------------------------------------------- */

/* How far s goes up to a change of its look, or to a line between letters. */
static size_t run_length(const char *s, size_t len)
{
    size_t n = 1;
    while (n < len && s[n] != '\033' && !sides_at(s + n, len - n))
        n++;
    return n;
}

/* A line from the middle of a letter's place to its sides; below the base line is a quarter of its height. */
static void put_sides(struct pages *p, unsigned sides, double x, double y, double size)
{
    const double high = LEADING * size, middle = y + high / 4, centre = x + COLUMN * size / 2;
    const struct { unsigned side; double dx, dy; } to[] = {
        {UP, 0, high / 2}, {DOWN, 0, -high / 2}, {ON_LEFT, -COLUMN * size / 2, 0}, {ON_RIGHT, COLUMN * size / 2, 0}};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (sides & to[i].side)
            attn_out_printf(p->page, "0.5 w %.2f %.2f m %.2f %.2f l S\n", centre, middle, centre + to[i].dx,
                            middle + to[i].dy);
}

/* The colour behind the letters up to the end of the next run; what is written before it is no part of it. */
static void put_behind(struct pages *p, const char *escape, const char *s, size_t len, double x, double y, double size)
{
    unsigned r, g, b;
    size_t n = 0, step;
    if (sscanf(escape, "\033[48;2;%u;%u;%um", &r, &g, &b) != 3)
        return;
    while ((step = escape_at(s, len)) > 0)
        s += step, len -= step;
    n = run_length(s, len);
    attn_out_printf(p->page, "q %.3f %.3f %.3f rg %.2f %.2f %.2f %.2f re f Q\n", r / 255.0, g / 255.0, b / 255.0, x,
                    y - 0.35 * size, COLUMN * size * ((double)attn_utf8_width(s, n) + .5), LEADING * size - 0.4);
    attn_out_str(p->page, attn_is_bright((struct attn_rgb){(uint8_t)r, (uint8_t)g, (uint8_t)b}) ? "" : "1 g 1 G\n");
}

/* Writes the beginning of s up to a change of its look, and returns its length. */
static size_t put_run(struct pages *p, const char *s, size_t len, double x, double y, double size, bool bold)
{
    const double heavier = 0.045;       /* ems: what makes letters bold is a line around them */
    size_t n = run_length(s, len);
    struct attn_placing at = {size, 0, 0, size, x, y};
    if (attn_faces_lay(&p->fonts.faces, s, n))
        attn_pdf_text(&p->fonts, p->page, &at, bold ? heavier * size : 0);
    return n;
}

static void put_line(struct pages *p, const char *s, size_t len, double y, double size)
{
    double x = MARGIN;
    bool bold = false;
    for (size_t n; len > 0; s += n, len -= n) {
        n = escape_at(s, len);
        if (n == sizeof "\033[0m" - 1) {
            bold = s[2] == '1';
            attn_out_str(p->page, s[2] == '2' ? "0.4 g 0.4 G\n" : "0 g 0 G\n");
            continue;
        }
        if (n) {
            put_behind(p, s, s + n, len - n, x, y, size);
            continue;
        }
        if (sides_at(s, len)) {
            n = LINE_BYTES;
            put_sides(p, sides_at(s, len), x, y, size);
            x += COLUMN * size;
            continue;
        }
        n = put_run(p, s, len, x, y, size, bold);
        x += COLUMN * size * (double)attn_utf8_width(s, n);
    }
    attn_out_str(p->page, "0 g 0 G\n");
}

static void put_foot(struct pages *p, size_t i)
{
    enum { SIZE = 8 };
    char number[64];
    size_t n = (size_t)snprintf(number, sizeof number, p->number, i + 1, p->count), title = strlen(p->title);
    size_t wide = width_of(number, n), room = (size_t)((PAGE_WIDTH - 2 * MARGIN) / (COLUMN * SIZE));
    put_line(p, number, n, MARGIN - FOOT / 2, SIZE);
    if (width_of(p->title, title) + wide + 2 > room)
        return;
    attn_out_printf(p->page, "q 1 0 0 1 %.2f 0 cm\n", COLUMN * SIZE * (double)(room - width_of(p->title, title)));
    put_line(p, p->title, title, MARGIN - FOOT / 2, SIZE);
    attn_out_str(p->page, "Q\n");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_head(struct attn_pdf_file *f, const struct pages *p)
{
    attn_out_str(f->to, "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n");
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/Catalog/Pages %d 0 R>>\nendobj\n", PAGES);
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Type/Pages/Kids[");
    for (size_t i = 0; i < p->count; i++)
        attn_out_printf(f->to, "%zu 0 R ", FIRST + 2 * i);
    attn_out_printf(f->to, "]/Count %zu/MediaBox[0 0 %.2f %.2f]/Resources<<", p->count, PAGE_WIDTH, PAGE_HEIGHT);
    attn_pdf_fonts_name(&p->fonts, f->to, FIRST + 2 * p->count);
    attn_out_str(f->to, ">>>>\nendobj\n");
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Producer(attn-cli)>>\nendobj\n");
}

/* What is drawn on page i, malloc'd. */
static int draw_page(struct pages *p, size_t i, char **drawn, size_t *len, struct attn_err *err)
{
    double y = PAGE_HEIGHT - MARGIN;
    int rc = attn_out_open_memory(&p->page, err);
    if (rc)
        return rc;
    for (size_t k = p->start[i]; k < p->start[i + 1]; k++) {
        y -= LEADING * p->line[k].size;
        put_line(p, p->line[k].s, p->line[k].len, y, p->line[k].size);
    }
    put_foot(p, i);
    rc = attn_faces_failed(&p->fonts.faces, err);
    if (!rc)
        rc = attn_out_take(p->page, drawn, len, err);
    attn_out_close(p->page);
    p->page = NULL;
    return rc;
}

static void put_page(struct attn_pdf_file *f, size_t i, const char *drawn, size_t len)
{
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/Page/Parent %d 0 R/Contents %zu 0 R>>\nendobj\n", PAGES, FIRST + 2 * i + 1);
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Length %zu>>stream\n", len);
    attn_out_write(f->to, drawn, len);
    attn_out_str(f->to, "\nendstream\nendobj\n");
}

/* Pages are drawn before the file is begun, which names the fonts at its top. */
struct drawn { char *s; size_t len; };

static int put_file(struct attn_out *o, struct pages *p, struct drawn *page, struct attn_err *err)
{
    struct attn_pdf_file f = {.to = o};
    int rc = ATTN_OK;
    for (size_t i = 0; i < p->count && !rc; i++)
        rc = draw_page(p, i, &page[i].s, &page[i].len, err);
    if (rc)
        return rc;
    size_t objects = FIRST + 2 * p->count + ATTN_PDF_FONT_OBJECTS * attn_pdf_fonts_used(&p->fonts);
    f.begins = calloc(objects, sizeof *f.begins);
    if (!f.begins)
        return attn_no_memory(err, NULL, "for %zu pages", p->count);
    put_head(&f, p);
    for (size_t i = 0; i < p->count; i++)
        put_page(&f, i, page[i].s, page[i].len);
    rc = attn_pdf_fonts_put(&p->fonts, &f, err);
    attn_pdf_end(&f, CATALOG, INFO);
    free(f.begins);
    return rc;
}

int attn_pages_write(struct attn_out *o, const char *text, size_t len, const char *title, const char *number,
                     const struct attn_faces *faces, struct attn_err *err)
{
    struct pages p = {.title = title, .number = number, .fonts.faces = *faces};
    struct drawn *page = NULL;
    int rc = split(&p, text, len, err);
    choose_sizes(&p);
    if (!rc)
        rc = paginate(&p, err);
    if (!rc && !(page = calloc(p.count + 1, sizeof *page)))
        rc = attn_no_memory(err, NULL, "for %zu pages", p.count);
    if (!rc)
        rc = put_file(o, &p, page, err);
    for (size_t i = 0; i < p.count && page; i++)
        free(page[i].s);
    free(page);
    attn_pdf_fonts_free(&p.fonts);
    free(p.start);
    free(p.line);
    return rc;
}
