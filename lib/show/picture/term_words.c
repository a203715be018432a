/* term_words.c - the sentence on a terminal, once for each head, shaded by what one of its words looks at; without
 * colours, with the weights below the words. */
#include "picture/section.h"
#include "picture/term_pen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/size.h"

struct words {
    struct attn_out *out;
    struct attn_term_pen pen;
    const struct attn_album *album;
    const struct attn_tokens *keys;
    struct attn_scale scale;
    size_t query, width;
    bool itself;                        /* the word that looks is one of those that are looked at */
};

enum { INDENT = 2, NUMBER = 4 };        /* columns: of lines; of a percentage with the blank before it */

static size_t columns_of(const struct words *w, size_t i)
{
    bool spaced;
    struct attn_label l = attn_word_label(&w->keys->tok[i], ATTN_WORD_MOST, &spaced);
    size_t columns = larger(l.columns, 1) + (w->itself && i == w->query ? 2 : 0);
    return w->pen.look->colors ? columns + (spaced || w->itself) : larger(columns + 1, NUMBER);
}

/* The words from one on that have room in a line. */
static size_t line_end(const struct words *w, size_t from)
{
    size_t at = INDENT, end = from;
    while (end < w->keys->n && (end == from || at + columns_of(w, end) <= w->width))
        at += columns_of(w, end++);
    return end;
}

static void put_word(struct words *w, size_t i, uint8_t step)
{
    bool spaced, looks = w->itself && i == w->query, colored = w->pen.look->colors;
    struct attn_label l = attn_word_label(&w->keys->tok[i], ATTN_WORD_MOST, &spaced);
    if (colored && step != ATTN_STEP_BLANK)
        attn_term_paint_letters(&w->pen, step);
    attn_out_str(w->out, looks ? "[" : "");
    attn_out_str(w->out, l.columns ? l.text : " ");
    attn_out_str(w->out, looks ? "]" : "");
    attn_term_paint(&w->pen, -1);
    attn_label_pad(w->out, columns_of(w, i) - larger(l.columns, 1) - (looks ? 2 : 0));
}

/* Percentages begin where their words do. */
static void put_number(struct words *w, size_t i, double x, bool hidden)
{
    char text[32] = "·";
    if (!hidden)
        attn_snprintf(text, sizeof text, "%.0f", 100 * x);
    attn_out_str(w->out, text);
    attn_label_pad(w->out, columns_of(w, i) - (hidden ? 1 : smaller(strlen(text), columns_of(w, i))));
}

static void put_sentence(struct words *w, const float *row, const uint8_t *steps)
{
    for (size_t from = 0, end; from < w->keys->n; from = end) {
        end = line_end(w, from);
        attn_label_pad(w->out, INDENT);
        for (size_t i = from; i < end; i++)
            put_word(w, i, steps[i]);
        attn_out_char(w->out, '\n');
        if (w->pen.look->colors)
            continue;
        attn_label_pad(w->out, INDENT);
        for (size_t i = from; i < end; i++)
            put_number(w, i, (double)row[i], steps[i] == ATTN_STEP_BLANK);
        attn_out_str(w->out, end < w->keys->n ? "\n" : " %\n");
    }
}

static void put_sheet(struct words *w, const struct attn_sheet *sheet, uint8_t *steps)
{
    char text[ATTN_LOOKS];
    for (size_t i = 0; i < sheet->n; i++) {
        size_t row = i * sheet->rows + w->query;
        attn_looks_name(text, w->album, sheet, i, w->query);
        attn_out_printf(w->out, "%s\n", text);
        attn_scale_row(&w->scale, steps, sheet, row);
        put_sentence(w, sheet->data + row * sheet->cols, steps);
    }
}

int attn_words_print(struct attn_out *o, const struct attn_album *a, const struct attn_sheet *first,
                     const struct attn_look *look, struct attn_err *err)
{
    struct words w = {.out = o, .album = a, .keys = attn_album_columns(a, first), .query = first->rows - 1,
                      .width = look->width ? (size_t)look->width : SIZE_MAX};
    int rc = attn_weights_check(a, first, "words", err);
    if (!rc && look->query)
        rc = attn_query_find(&w.query, attn_album_rows(a, first), look->query, err);
    uint8_t *steps = rc ? NULL : malloc(first->cols + 1);
    if (!rc && !steps)
        return attn_no_memory(err, NULL, "for a sentence of %zu tokens", first->cols);
    if (rc)
        return rc;
    w.itself = !a->keys_text && first->rows == first->cols;
    w.pen = attn_term_begin(&w.scale, o, a, first, look);
    attn_term_title(&w.pen, a, first->title, "", "");
    for (const struct attn_sheet *s = first; s; s = attn_album_next_sheet(a, s))
        put_sheet(&w, s, steps);
    if (look->colors)
        attn_term_legend(&w.pen, &w.scale, INDENT);
    free(steps);
    return ATTN_OK;
}
