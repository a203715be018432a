/* figure_words.c - the sentence once for each head, shaded by what one of its words looks at; that word has a frame. */
#include "picture/section.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"

/* pixels; SPACE: what stands for one before a word, JOINT: where there is none */
enum {
    WIDTH = 640, LINE = 24, NAME = 20, AFTER = 10, BASE = 15, HIGH = 20, INSIDE = 3, SPACE = 5, JOINT = 1,
    FRAME = ATTN_INK
};

struct attn_label attn_word_label(const struct attn_token *t, size_t columns, bool *spaced)
{
    bool plain = t->known && t->text && !memchr(t->text, '\n', t->text_len) && !memchr(t->text, '\t', t->text_len);
    char part[ATTN_READING];
    size_t len = 0;
    const char *text = plain ? attn_token_reading(part, t, &len) : NULL;
    *spaced = plain && len > 1 && text[0] == ' ';
    return plain ? attn_label_line(text + *spaced, len - *spaced, columns) : attn_label_token(t, columns);
}

struct spot { size_t x, line, wide; };

/* Where the next word stands, after a gap, and how wide it is. */
static struct spot next(struct spot *at, const struct attn_label *l, bool spaced, size_t width)
{
    size_t wide = larger(l->columns, 1) * ATTN_LETTER + (size_t)2 * INSIDE, gap = !at->x ? 0 : spaced ? SPACE : JOINT;
    if (at->x && at->x + gap + wide > width)
        *at = (struct spot){0, at->line + 1, 0};
    else
        at->x += gap;
    struct spot here = {at->x, at->line, wide};
    at->x += wide;
    return here;
}

/* How many lines a sentence takes, and pixels of its widest word. */
static size_t lines_of(const struct attn_tokens *t, size_t width, size_t *widest)
{
    struct spot at = {0, 0, 0};
    for (size_t i = 0; i < t->n; i++) {
        bool spaced;
        struct attn_label l = attn_word_label(&t->tok[i], ATTN_WORD_MOST, &spaced);
        struct spot here = next(&at, &l, spaced, width);
        *widest = larger(*widest, here.wide);
    }
    return at.line + 1;
}

/* wide: of the lines; cell: how high a sentence is. */
int attn_words_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    s->query = s->rows - 1;
    int rc = attn_weights_check(s->album, s->first, s->method->name, err);
    if (!rc && look->query)
        rc = attn_query_find(&s->query, attn_album_rows(s->album, s->first), look->query, err);
    if (rc)
        return rc;
    attn_section_arrange(s, look);
    attn_section_name(s, "");
    const struct attn_tokens *t = attn_album_columns(s->album, s->first);
    size_t widest = 0, wanted = width ? width : WIDTH, lines = lines_of(t, wanted, &widest);
    if (widest > wanted)
        return attn_fail(err, ATTN_EUSAGE, "%s: a word takes %d mm, and the width is %g: choose a larger --width or a "
                                           "smaller --font-size", s->first->title, attn_look_mm(look, widest),
                         look->paper);
    s->wide = wanted;
    s->cell = NAME + lines * LINE + AFTER;
    attn_section_frame(s, wanted, s->sheets * s->matrices * s->cell, width);
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
    struct spot at = {0, 0, 0};
    for (size_t i = 0; i < t->n; i++) {
        bool spaced;
        struct attn_label l = attn_word_label(&t->tok[i], ATTN_WORD_MOST, &spaced);
        struct spot here = next(&at, &l, spaced, s->wide);
        struct attn_area area = {x + here.x, y + here.line * LINE, here.wide, HIGH};
        if (steps[i] != ATTN_STEP_BLANK)
            pen->fill(pen->self, &area, steps[i]);
        pen->write_over(pen->self, &(struct attn_lettering){l.text, area.x + here.wide / 2, area.y + BASE - 1,
                                                            ATTN_LETTER, ATTN_MIDDLE, false},
                        is_bright(s->palette, steps[i]) ? ATTN_INK : ATTN_PAPER);
        if (itself && i == s->query)
            draw_frame(area.x, area.y, here.wide, pen);
    }
}

void attn_looks_name(char text[ATTN_LOOKS], const struct attn_album *a, const struct attn_sheet *sheet, size_t i,
                     size_t query)
{
    bool spaced;
    struct attn_label word = attn_word_label(&attn_album_rows(a, sheet)->tok[query], ATTN_WORD_MOST, &spaced);
    char name[64];
    attn_sheet_call(name, sheet, i, 0);
    snprintf(text, ATTN_LOOKS, "%s%swhat \"%s\" looks at", name, *name ? ": " : "", word.text);
}

int attn_words_draw(const struct attn_section *s, size_t x, size_t y, const struct attn_pen *pen, uint8_t *steps,
                    struct attn_err *err)
{
    (void)err;
    char text[ATTN_LOOKS];
    size_t legend = y + s->height - attn_legend_height(s);
    y += s->head;
    for (const struct attn_sheet *sheet = s->first; sheet; sheet = attn_album_next_sheet(s->album, sheet))
        for (size_t i = 0; i < sheet->n; i++, y += s->cell) {
            attn_looks_name(text, s->album, sheet, i, s->query);
            struct attn_label l = attn_label_line(text, strlen(text), s->wide / ATTN_LETTER);
            pen->write(pen->self, &(struct attn_lettering){l.text, x, y + BASE - 2, ATTN_LETTER, ATTN_BEGINS, false});
            attn_scale_row(&s->scale, steps, sheet, i * sheet->rows + s->query);
            draw_sentence(s, x, y + NAME, pen, steps);
        }
    attn_legend_draw(s, x + s->indent, legend, pen);
    return ATTN_OK;
}
