#include "picture/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "picture/font.h"
#include "picture/pdf.h"

/* Points.  A letter of Courier is 0.6 of its size wide, and so is a column of strokes. */
#define PAGE_WIDTH 595.28
#define PAGE_HEIGHT 841.89
#define MARGIN 56.7
#define FOOT 22.0
#define LARGEST 10.0
#define COLUMN 0.6
#define LEADING 1.4

/* the objects; each page has two, from FIRST on */
enum { CATALOG = 1, PAGES, COURIER, BOLD, SYMBOL, INFO, FIRST };

struct line { const char *s; size_t len, wide; double size; };
struct pages {
    struct line *line; size_t n, room;
    size_t *start, count, start_room;   /* the first line of each page */
    const char *title;
    struct attn_out *page;              /* what is drawn on the current one */
};

/* ---- lines ------------------------------------------------------------------------------- */

/* The length of an escape sequence that begins at s; 0: none does. */
static size_t escape_at(const char *s, size_t len)
{
    return len >= 4 && s[0] == '\033' && s[1] == '[' && s[3] == 'm' ? 4 : 0;
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
        double line = height_of(p, i, i + 1), block = i == 0 || !p->line[i - 1].len ? wanted(p, i) : line;
        if (used + line > room || (used > room / 2 && used + block > room && block < room)) {
            rc = begin_page(p, i, err);
            used = 0;
        }
        used += line;
    }
    return rc;
}

/* ---- letters ------------------------------------------------------------------------------- */

/* A character of Courier, in WinAnsiEncoding, or of Symbol; byte 0: neither has it. */
struct letter { unsigned char byte; bool symbol; };

static struct letter letter_of(uint32_t c)
{
    static const struct { uint32_t c; unsigned char byte; } symbols[] = {
        {0x3A3, 0x53}, {0x3B5, 0x65}, {0x3C6, 0x66}, {0x2192, 0xAE}, {0x2211, 0xE5}, {0x2212, 0x2D}, {0x221A, 0xD6},
        {0x221E, 0xA5},
        {0x2248, 0xBB}, {0x2264, 0xA3}, {0x2265, 0xB3}};
    if ((c >= ' ' && c <= '~') || (c >= 0xA0 && c <= 0xFF))
        return (struct letter){(unsigned char)c, false};
    if (c == 0x2026)
        return (struct letter){0x85, false};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (symbols[i].c == c)
            return (struct letter){symbols[i].byte, true};
    return (struct letter){0, false};
}

/* The letter at s, with its length.  A character with marks on it is drawn, and so has none. */
static struct letter letter_at(const char *s, size_t len, size_t *step)
{
    struct letter l = letter_of(attn_utf8_next(s, len, step));
    size_t mark;
    if (*step < len && (unsigned char)s[*step] >= 0x80 && attn_utf8_next(s + *step, len - *step, &mark) >= 0x300 &&
        !attn_utf8_width(s + *step, mark))
        l.byte = 0;
    return l;
}

/* Writes or draws the beginning of s that is of one sort, and returns its length. */
static size_t put_run(struct pages *p, const char *s, size_t len, double x, double y, double size, bool bold)
{
    size_t step, n = 0;
    struct letter first = letter_at(s, len, &step), l = first;
    struct attn_out *o = p->page;
    if (first.byte)
        attn_out_printf(o, "BT /%s %.2f Tf %.2f %.2f Td (", first.symbol ? "S" : bold ? "B" : "F", size, x, y);
    do {
        if (first.byte)
            attn_pdf_put(o, l.byte);
        n += step;
    } while (!first.symbol && n < len && s[n] != '\033' &&
             (l = letter_at(s + n, len - n, &step)).symbol == first.symbol && !l.byte == !first.byte);
    if (first.byte) {
        attn_out_str(o, ") Tj ET\n");
        return n;
    }
    double unit = COLUMN * size / ATTN_FONT_COLUMN;
    attn_out_printf(o, "q 1.1 w 1 J %.4f 0 0 %.4f %.2f %.2f cm\n", unit, unit, x, y);
    attn_font_draw(s, n, attn_pdf_stroke, o);
    attn_out_str(o, "S Q\n");
    return n;
}

static void put_line(struct pages *p, const char *s, size_t len, double y, double size)
{
    double x = MARGIN;
    bool bold = false;
    for (size_t n; len > 0; s += n, len -= n) {
        n = escape_at(s, len);
        if (n) {
            bold = s[2] == '1';
            attn_out_str(p->page, s[2] == '2' ? "0.4 g 0.4 G\n" : "0 g 0 G\n");
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
    size_t n = (size_t)snprintf(number, sizeof number, "page %zu of %zu", i + 1, p->count), title = strlen(p->title);
    size_t room = (size_t)((PAGE_WIDTH - 2 * MARGIN) / (COLUMN * SIZE));
    put_line(p, number, n, MARGIN - FOOT / 2, SIZE);
    if (width_of(p->title, title) + n + 2 > room)
        return;
    attn_out_printf(p->page, "q 1 0 0 1 %.2f 0 cm\n", COLUMN * SIZE * (double)(room - width_of(p->title, title)));
    put_line(p, p->title, title, MARGIN - FOOT / 2, SIZE);
    attn_out_str(p->page, "Q\n");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_font(struct attn_pdf_file *f, const char *name, bool letters)
{
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/Font/Subtype/Type1/BaseFont/%s%s>>\nendobj\n", name, letters ?
                    "/Encoding/WinAnsiEncoding" : "");
}

static void put_head(struct attn_pdf_file *f, const struct pages *p)
{
    attn_out_str(f->to, "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n");
    attn_pdf_begin(f);
    attn_out_printf(f->to, "<</Type/Catalog/Pages %d 0 R>>\nendobj\n", PAGES);
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Type/Pages/Kids[");
    for (size_t i = 0; i < p->count; i++)
        attn_out_printf(f->to, "%zu 0 R ", FIRST + 2 * i);
    attn_out_printf(f->to, "]/Count %zu/MediaBox[0 0 %.2f %.2f]/Resources<</Font<</F %d 0 R/B %d 0 R/S %d 0 "
                           "R>>>>>>\nendobj\n", p->count,
                    PAGE_WIDTH, PAGE_HEIGHT, COURIER, BOLD, SYMBOL);
    put_font(f, "Courier", true);
    put_font(f, "Courier-Bold", true);
    put_font(f, "Symbol", false);
    attn_pdf_begin(f);
    attn_out_str(f->to, "<</Producer(attn-cli)>>\nendobj\n");
}

static int put_page(struct attn_pdf_file *f, struct pages *p, size_t i, struct attn_err *err)
{
    char *drawn = NULL;
    size_t len = 0;
    double y = PAGE_HEIGHT - MARGIN;
    int rc = attn_out_open_memory(&p->page, err);
    for (size_t k = p->start[i]; !rc && k < p->start[i + 1]; k++) {
        y -= LEADING * p->line[k].size;
        put_line(p, p->line[k].s, p->line[k].len, y, p->line[k].size);
    }
    if (!rc) {
        put_foot(p, i);
        rc = attn_out_take(p->page, &drawn, &len, err);
    }
    if (!rc) {
        attn_pdf_begin(f);
        attn_out_printf(f->to, "<</Type/Page/Parent %d 0 R/Contents %zu 0 R>>\nendobj\n", PAGES, FIRST + 2 * i + 1);
        attn_pdf_begin(f);
        attn_out_printf(f->to, "<</Length %zu>>stream\n", len);
        attn_out_write(f->to, drawn, len);
        attn_out_str(f->to, "\nendstream\nendobj\n");
    }
    free(drawn);
    attn_out_close(p->page);
    p->page = NULL;
    return rc;
}

int attn_pages_write(struct attn_out *o, const char *text, size_t len, const char *title, struct attn_err *err)
{
    struct pages p = {.title = title};
    struct attn_pdf_file f = {.to = o};
    int rc = split(&p, text, len, err);
    choose_sizes(&p);
    if (!rc)
        rc = paginate(&p, err);
    if (!rc && !(f.begins = calloc(FIRST + 2 * p.count, sizeof *f.begins)))
        rc = attn_no_memory(err, NULL, "for %zu pages", p.count);
    if (!rc)
        put_head(&f, &p);
    for (size_t i = 0; i < p.count && !rc; i++)
        rc = put_page(&f, &p, i, err);
    if (!rc)
        attn_pdf_end(&f, CATALOG, INFO);
    free(f.begins);
    free(p.start);
    free(p.line);
    return rc;
}
