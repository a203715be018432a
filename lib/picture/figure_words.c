/* figure_words.c - the sentence once for each head, shaded by what one of its words looks at; that word has a frame. */
#include "picture/section.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"

enum {                                  /* pixels */
    WIDTH = 640, LINE = 22, NAME = 20, AFTER = 10, BASE = 15, HIGH = 20, INSIDE = 2, FRAME = ATTN_INK
};
enum { COLUMNS_MOST = 40 };

/* A line feed is seen; a space is as wide as it is. */
static struct attn_label label_of(const struct attn_token *t)
{
    bool spaced = t->known && t->text && !memchr(t->text, '\n', t->text_len) && !memchr(t->text, '\t', t->text_len);
    char part[ATTN_READING];
    size_t len = 0;
    const char *text = spaced ? attn_token_reading(part, t, &len) : NULL;
    return spaced ? attn_label_line(text, len, COLUMNS_MOST) : attn_label_token(t, COLUMNS_MOST);
}

struct spot { size_t x, line; };

/* Where the next word stands, which is so wide. */
static struct spot next(struct spot *at, size_t wide, size_t width)
{
    if (at->x && at->x + wide > width)
        *at = (struct spot){0, at->line + 1};
    struct spot here = *at;
    at->x += wide;
    return here;
}

static size_t wide_of(const struct attn_label *l)
{
    return larger(l->columns, 1) * ATTN_LETTER + INSIDE;
}

static size_t lines_of(const struct attn_tokens *t, size_t width)
{
    struct spot at = {0, 0};
    for (size_t i = 0; i < t->n; i++) {
        struct attn_label l = label_of(&t->tok[i]);
        next(&at, wide_of(&l), width);
    }
    return at.line + 1;
}

/* wide: of the lines; cell: how high a sentence is. */
int attn_words_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    int rc = attn_section_weights(s, err);
    if (!rc)
        rc = attn_section_query(s, look->query, s->rows - 1, err);
    if (rc)
        return rc;
    attn_section_arrange(s, look);
    attn_section_name(s);
    attn_section_legend(s, width);
    const struct attn_tokens *t = attn_album_columns(s->album, s->first);
    size_t widest = 0, wanted = larger(width ? width : WIDTH, attn_utf8_width(s->title, strlen(s->title)) *
                                       (width ? 0 : ATTN_TITLE_LETTER));
    for (size_t i = 0; i < t->n; i++) {
        struct attn_label l = label_of(&t->tok[i]);
        widest = larger(widest, wide_of(&l));
    }
    if (widest > wanted)
        return attn_fail(err, ATTN_EUSAGE, "%s: a word takes %zu pixels of the %zu of a width: choose a larger --width "
                                           "or a smaller --font-size", s->first->title, widest, wanted);
    s->wide = wanted;
    s->cell = NAME + lines_of(t, wanted) * LINE + AFTER;
    s->indent = 0;
    s->width = wanted;
    s->height = ATTN_TITLE + s->sheets * s->matrices * s->cell + attn_legend_height(s);
    return ATTN_OK;
}

static bool is_bright(const struct attn_palette *p, uint8_t step)
{
    return step >= ATTN_STEPS || attn_is_bright(attn_palette_color(p, step));
}

static void draw_frame(size_t x, size_t y, size_t wide, const struct attn_pen *pen)
{
    const struct attn_area sides[] = {{x, y, wide, 1}, {x, y + HIGH - 1, wide, 1}, {x, y, 1, HIGH},
                                      {x + wide - 1, y, 1, HIGH}};
    for (size_t i = 0; i < 4; i++)
        pen->fill(pen->self, &sides[i], FRAME);
}

static void draw_sentence(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen,
                          const uint8_t *steps)
{
    const struct attn_tokens *t = attn_album_columns(s->album, s->first);
    const struct attn_tokens *rows = attn_album_rows(s->album, s->first);
    bool itself = !s->album->keys_text && rows->n == t->n;
    struct spot at = {0, 0};
    for (size_t i = 0; i < t->n; i++) {
        struct attn_label l = label_of(&t->tok[i]);
        size_t wide = wide_of(&l);
        struct spot here = next(&at, wide, s->wide);
        struct attn_area area = {x + here.x, y + here.line * LINE, wide, HIGH};
        if (steps[i] != ATTN_STEP_BLANK)
            pen->fill(pen->self, &area, steps[i]);
        pen->write_over(pen->self, &(struct attn_lettering){l.text, area.x + wide / 2, area.y + BASE - 1, ATTN_LETTER,
                                                            ATTN_MIDDLE, false},
                        is_bright(s->palette, steps[i]) ? ATTN_INK : ATTN_PAPER);
        if (itself && i == s->query)
            draw_frame(area.x, area.y, wide, pen);
    }
}

int attn_words_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                    struct attn_err *err)
{
    (void)err;
    struct attn_label word = attn_label_token(&attn_album_rows(s->album, s->first)->tok[s->query], COLUMNS_MOST);
    char name[64], text[64 + sizeof word.text + 32];
    size_t legend = y + s->height - attn_legend_height(s);
    y += ATTN_TITLE;
    for (const struct attn_sheet *sheet = s->first; sheet; sheet = attn_album_next_sheet(s->album, sheet))
        for (size_t i = 0; i < sheet->n; i++, y += s->cell) {
            attn_sheet_call(name, sheet, i, 0);
            snprintf(text, sizeof text, "%s%swhat \"%s\" looks at", name, *name ? ": " : "", word.text);
            struct attn_label l = attn_label_line(text, strlen(text), s->wide / ATTN_LETTER);
            pen->write(pen->self, &(struct attn_lettering){l.text, x, y + BASE - 2, ATTN_LETTER, ATTN_BEGINS, false});
            attn_scale_row(&s->scale, steps, sheet, i * sheet->rows + s->query);
            draw_sentence(s, x, y + NAME, pen, steps);
        }
    attn_legend_draw(s, x + s->indent, legend, pen);
    return ATTN_OK;
}
