/* figure_lines.c - lines from each word to the words it looks at, as darker as the weight is larger.
 *
 * A layer is a panel: the queries on the left, the keys on the right, a line for each weight, each head in a colour of
 * its own.  Stronger lines lie over fainter ones.  Of many tokens only the strongest lines are drawn, as the title
 * says: all of them would be a grey field. */
#include "picture/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/size.h"
#include "text/label.h"

enum {                                  /* pixels */
    GAP = 150, GAP_LEAST = 48, BETWEEN = 28, NAME = 20, SWATCH = 10, HEAD = 76, BASE = 12,
    HEADS_ROOM = 420                    /* of their names, where the panels are narrower */
};
enum { TOKENS_MOST = 300, COLUMNS_MOST = 18 };
enum { MANY_TOKENS = 60, OF_A_TOKEN = 3 };      /* from more tokens on a head has at most so many lines for each */

/* ---- where things are -------------------------------------------------------------------------- */

static size_t widest(const struct attn_tokens *t)
{
    size_t columns = 1;
    for (size_t i = 0; i < t->n; i++)
        columns = larger(columns, attn_label_token(&t->tok[i], COLUMNS_MOST).columns);
    return columns * ATTN_LETTER;
}

static size_t gap_of(const struct attn_section *s)
{
    return s->wide;
}

static size_t panel_width(const struct attn_section *s)
{
    return s->left.margin + gap_of(s) + s->top.margin;
}

static size_t heads_in_a_row(const struct attn_section *s)
{
    return larger(s->panel / HEAD, 1);
}

static size_t heads_height(const struct attn_section *s)
{
    return s->first && s->first->heads ? parts_of(s->matrices, heads_in_a_row(s)) * ATTN_LINE + ATTN_APART : 0;
}

/* The most lines that a head has. */
static size_t strongest_of(const struct attn_section *s)
{
    size_t tokens = larger(s->rows, s->cols);
    return tokens > MANY_TOKENS && s->query == SIZE_MAX ? OF_A_TOKEN * tokens : SIZE_MAX;
}

static void name(struct attn_section *s)
{
    char strongest[64] = "";
    if (strongest_of(s) < SIZE_MAX)
        snprintf(strongest, sizeof strongest, " (of each head at most the %zu strongest lines)", strongest_of(s));
    attn_section_name(s, strongest);
}

/* left.margin, top.margin: of the words on the left, on the right; wide: between them; panel: of the names of heads. */
int attn_lines_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    s->query = SIZE_MAX;
    int rc = attn_weights_check(s->album, s->first, s->method->name, err);
    if (!rc && look->query)
        rc = attn_query_find(&s->query, attn_album_rows(s->album, s->first), look->query, err);
    if (rc)
        return rc;
    attn_section_arrange(s, look);
    size_t tokens = larger(s->rows, s->cols);
    if (tokens > TOKENS_MOST)
        return attn_fail(err, ATTN_EUSAGE, "%s: lines between %zu tokens cannot be told apart, expected at most %d: "
                                           "--figure heatmap", s->first->title, tokens, TOKENS_MOST);
    s->left.margin = widest(attn_album_rows(s->album, s->first)) + ATTN_APART;
    s->top.margin = widest(attn_album_columns(s->album, s->first)) + ATTN_APART;
    size_t words = s->left.margin + s->top.margin;
    if (width && width < words + GAP_LEAST)
        return attn_fail(err, ATTN_EUSAGE, "%s: words on both sides take %d mm, and the width is %g: choose a larger "
                                           "--width or a smaller --font-size", s->first->title,
                         attn_look_mm(look, words + GAP_LEAST), look->paper);
    s->wide = width ? smaller(GAP, width - words) : GAP;
    s->across = width ? larger((width + BETWEEN) / (panel_width(s) + BETWEEN), 1) : smaller(s->sheets, 4);
    s->across = larger(smaller(s->across, s->sheets), 1);
    s->down = parts_of(s->sheets, s->across);
    s->cell = ATTN_LINE;
    s->palette = attn_palette_heads();
    s->indent = 0;
    s->width = s->across * (panel_width(s) + BETWEEN) - BETWEEN;
    s->panel = width ? width : larger(s->width, HEADS_ROOM);
    name(s);
    attn_section_frame(s, s->width, s->down * (NAME + tokens * ATTN_LINE + BETWEEN) + heads_height(s), width);
    return ATTN_OK;
}

/* ---- drawing ----------------------------------------------------------------------------------- */

static void draw_words(const struct attn_tokens *t, size_t x, size_t y, enum attn_anchor anchor,
                       const struct attn_pen *pen)
{
    for (size_t i = 0; i < t->n; i++) {
        struct attn_label l = attn_label_token(&t->tok[i], COLUMNS_MOST);
        pen->write(pen->self, &(struct attn_lettering){l.text, x, y + i * ATTN_LINE + BASE, ATTN_LETTER, anchor,
                                                       false});
    }
}

static uint8_t level_of(uint8_t step)
{
    return step < ATTN_STEPS ? (uint8_t)((step * (ATTN_LINE_LEVELS - 1) + ATTN_STEPS / 2) / (ATTN_STEPS - 1)) : 0;
}

/* ---- which lines ---- */

struct line { float weight; uint8_t level; size_t head, row, col; };
struct lines { struct line *of; size_t n, room; };

static int by_weight(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : (x->col > y->col) - (x->col < y->col);
}

static int by_level(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->head != y->head ? (x->head > y->head) - (x->head < y->head) : by_weight(x, y);
}

/* Adds those of head i that are seen, of many the strongest. */
static int add_lines(struct lines *l, const struct attn_section *s, const struct attn_sheet *sheet, size_t i,
                     uint8_t *steps, struct attn_err *err)
{
    size_t before = l->n, most = strongest_of(s);
    for (size_t r = 0; r < sheet->rows; r++) {
        const float *row = sheet->data + (i * sheet->rows + r) * sheet->cols;
        if (s->query != SIZE_MAX && r != s->query)
            continue;
        attn_scale_row(&s->scale, steps, sheet, i * sheet->rows + r);
        for (size_t c = 0; c < sheet->cols; c++) {
            uint8_t level = level_of(steps[c]);
            struct line *more = level ? attn_grow(l->of, &l->room, l->n + 1, sizeof *more) : l->of;
            if (level && !more)
                return attn_no_memory(err, NULL, "for %zu lines", l->n + 1);
            l->of = more;
            if (level)
                l->of[l->n++] = (struct line){row[c], level, i, r, c};
        }
    }
    if (l->n - before > most) {
        qsort(l->of + before, l->n - before, sizeof *l->of, by_weight);
        l->n = before + most;
    }
    return ATTN_OK;
}

static void draw_line(const struct attn_section *s, const struct line *l, size_t x, size_t y,
                      const struct attn_pen *pen)
{
    const double middle = ATTN_LINE / 2.0, thin = 0.8, thicker = 1.4;
    struct attn_stroke line = {(double)(x + s->left.margin), (double)(y + l->row * ATTN_LINE) + middle,
                               (double)(x + s->left.margin + gap_of(s)), (double)(y + l->col * ATTN_LINE) + middle,
                               thin + thicker * l->level / (ATTN_LINE_LEVELS - 1)};
    pen->line(pen->self, &line, (uint8_t)(l->head % ATTN_LINE_HEADS * ATTN_LINE_LEVELS + l->level));
}

static int draw_lines(const struct attn_section *s, const struct attn_sheet *sheet, size_t x, size_t y,
                      const struct attn_pen *pen, uint8_t *steps, struct attn_err *err)
{
    struct lines l = {0};
    int rc = ATTN_OK;
    for (size_t i = 0; i < sheet->n && !rc; i++)
        rc = add_lines(&l, s, sheet, i, steps, err);
    if (l.n && !rc)
        qsort(l.of, l.n, sizeof *l.of, by_level);
    for (size_t k = 0; k < l.n && !rc; k++)
        draw_line(s, &l.of[k], x, y, pen);
    free(l.of);
    return rc;
}

static void draw_heads(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen)
{
    for (size_t i = 0; i < s->first->n; i++) {
        size_t row = i / heads_in_a_row(s), at = x + i % heads_in_a_row(s) * HEAD;
        char text[32];
        snprintf(text, sizeof text, "head %zu", s->first->heads[i]);
        pen->fill(pen->self, &(struct attn_area){at, y + row * ATTN_LINE + 3, SWATCH, SWATCH},
                  (uint8_t)((i % ATTN_LINE_HEADS + 1) * ATTN_LINE_LEVELS - 1));
        pen->write(pen->self, &(struct attn_lettering){text, at + SWATCH + 5, y + row * ATTN_LINE + BASE, ATTN_LETTER,
                                                       ATTN_BEGINS, false});
    }
}

int attn_lines_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                    struct attn_err *err)
{
    size_t nth = 0, down = NAME + larger(s->rows, s->cols) * ATTN_LINE + BETWEEN;
    int rc = ATTN_OK;
    for (const struct attn_sheet *sheet = s->first; sheet && !rc;
         sheet = attn_album_next_sheet(s->album, sheet), nth++) {
        size_t px = x + nth % s->across * (panel_width(s) + BETWEEN), py = y + s->head + nth / s->across * down;
        char name[64];
        snprintf(name, sizeof name, "layer %d", sheet->layer);
        if (sheet->layer >= 0 && s->sheets * s->matrices > 1)
            pen->write(pen->self, &(struct attn_lettering){name, px, py + BASE, ATTN_LETTER, ATTN_BEGINS, false});
        py += NAME;
        draw_words(attn_album_rows(s->album, sheet), px + s->left.margin - ATTN_APART, py, ATTN_ENDS, pen);
        draw_words(attn_album_columns(s->album, sheet), px + s->left.margin + gap_of(s) + ATTN_APART, py, ATTN_BEGINS,
                   pen);
        rc = draw_lines(s, sheet, px, py, pen, steps, err);
    }
    if (heads_height(s))
        draw_heads(s, x, y + s->head + s->down * down, pen);
    return rc;
}
