/* derivation_text.c - a derivation for the terminal: words wrapped, numbers in columns. */
#include <stdlib.h>
#include <string.h>

#include "text/label.h"
#include "base/utf8.h"
#include "sinks/derivation.h"
#include "sinks/paint.h"

enum { WIDEST_LINE = 100, GAP = 2, DEEP = 4 };          /* columns; text in lines wider than 100 is hard to read */

/* ---- lines ----------------------------------------------------------------------------- */

/* Breaks the text at spaces; lines after the first are indented by `hang`. */
static void wrap(struct attn_out *o, const char *s, size_t indent, size_t hang, size_t width)
{
    size_t column = indent;
    attn_label_pad(o, indent);
    for (bool first = true; *s; first = false) {
        size_t len = strcspn(s, " "), columns = attn_utf8_width(s, len);
        if (!first && width && column + 1 + columns > width) {
            attn_out_char(o, '\n');
            attn_label_pad(o, hang);
            column = hang;
        } else if (!first) {
            attn_out_char(o, ' ');
            column++;
        }
        attn_out_write(o, s, len);
        column += columns;
        s += len + strspn(s + len, " ");
    }
    attn_out_char(o, '\n');
}

static void heading(struct attn_out *o, const char *s, size_t number, bool color)
{
    attn_paint(o, color, ATTN_BOLD);
    if (number)
        attn_out_printf(o, "%zu. ", number);
    attn_out_str(o, s);
    attn_paint(o, color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static int sum(struct attn_out *o, const struct attn_passage *p, size_t width, struct attn_err *err)
{
    struct attn_out *line;
    char *text;
    size_t len;
    int rc = attn_out_open_memory(&line, err);
    if (rc)
        return rc;
    attn_sum_write(line, p);
    rc = attn_out_take(line, &text, &len, err);
    attn_out_close(line);
    if (rc)
        return rc;
    wrap(o, text, GAP, DEEP, width);
    free(text);
    return ATTN_OK;
}

/* ---- tables ---------------------------------------------------------------------------- */

static size_t width_of(const struct attn_passage *p, size_t column)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    size_t most = 0;
    for (size_t i = column; i < p->cells; i += p->cols) {
        const char *s = attn_cell_shown(buf, &p->cell[i]);
        size_t w = attn_utf8_width(s, strlen(s));
        most = w > most ? w : most;
    }
    return most;
}

static void cell(struct attn_out *o, const struct attn_passage *p, size_t i, size_t width, bool last, bool color)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    const char *s = attn_cell_shown(buf, &p->cell[i]);
    size_t blank = width - attn_utf8_width(s, strlen(s));
    bool label = i % p->cols == 0, paint = color && (i < p->cols || p->cell[i].strong);
    attn_label_pad(o, GAP + (label ? 0 : blank));
    attn_paint(o, paint, i < p->cols ? ATTN_DIM : ATTN_BOLD);
    attn_out_str(o, s);
    attn_paint(o, paint, ATTN_PLAIN);
    attn_label_pad(o, label && !last ? blank : 0);
}

/* How many cells the row has up to the last one that is not empty. */
static size_t used(const struct attn_passage *p, size_t row)
{
    size_t n = p->cols;
    while (n > 1 && p->cell[row + n - 1].text && !*p->cell[row + n - 1].text)
        n--;
    return n;
}

static void table(struct attn_out *o, const struct attn_passage *p, bool color)
{
    for (size_t row = 0; row < p->cells; row += p->cols) {
        size_t n = used(p, row);
        for (size_t j = 0; j < n; j++)
            cell(o, p, row + j, width_of(p, j), j == n - 1, color);
        attn_out_char(o, '\n');
    }
}

/* ---- the whole ------------------------------------------------------------------------- */

static bool same_kind(const struct attn_derivation *d, size_t i)
{
    return i > 0 && d->part[i - 1].kind == d->part[i].kind && d->part[i].kind == ATTN_PASSAGE_SUM;
}

int attn_derivation_text(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                         struct attn_err *err)
{
    size_t width = style->width > WIDEST_LINE ? WIDEST_LINE : (size_t)style->width, steps = 0;
    int rc = ATTN_OK;
    heading(o, d->title, 0, style->color);
    for (size_t i = 0; i < d->n && !rc; i++) {
        const struct attn_passage *p = &d->part[i];
        attn_out_str(o, same_kind(d, i) ? "" : "\n");
        switch (p->kind) {
        case ATTN_PASSAGE_STEP:    heading(o, p->text, ++steps, style->color); break;
        case ATTN_PASSAGE_WORDS:   wrap(o, p->text, 0, 0, width); break;
        case ATTN_PASSAGE_COMMAND: attn_out_printf(o, "%*s%s\n", DEEP, "", p->text); break;
        case ATTN_PASSAGE_FORMULA: wrap(o, p->formula.text, DEEP, DEEP, width); break;
        case ATTN_PASSAGE_SUM:     rc = sum(o, p, width, err); break;
        case ATTN_PASSAGE_TABLE:   table(o, p, style->color); break;
        }
    }
    return rc;
}
