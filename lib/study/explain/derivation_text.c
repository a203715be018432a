/* derivation_text.c - prints a derivation for the terminal: words wrapped, numbers in columns, weights in colour. */
#include "explain/derivation_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "sinks/print.h"
#include "text/label.h"

enum { WIDEST_LINE = 100, GAP = 2, DEEP = 4, DEEPER = 8 };      /* columns; wider lines are hard to read */

/* ---- words wrapped ----------------------------------------------------------------------- */

/* The length of a command's word, up to the blank that ends it for a shell. */
static size_t argument_length(const char *s)
{
    size_t n = 0;
    for (bool quoted = false; s[n] && (quoted || s[n] != ' '); n++) {
        if (s[n] == '\'')
            quoted = !quoted;
        else if (s[n] == '\\' && !quoted && s[n + 1])
            n++;
    }
    return n;
}

static bool is_among(const char *s, size_t n, const char *marks)
{
    const char *at = memmem(marks, strlen(marks), s, n);
    return at != NULL;
}

/* A line may also end between two characters of which one is Chinese or the like, but does not begin with a mark that
 * closes, and not end with one that opens. */
static size_t word_length(const char *s)
{
    static const char closing[] = "，。、；：？！）」』”’》…,.;:?!)]}", opening[] = "（「『“‘《([{";
    const size_t len = strlen(s);
    size_t n = 0, step, next;
    for (; n < len && s[n] != ' '; n += step) {
        attn_utf8_next(s + n, len - n, &step);
        if (n + step >= len || s[n + step] == ' ')
            continue;
        attn_utf8_next(s + n + step, len - n - step, &next);
        bool wide = attn_utf8_width(s + n, step) > 1 || attn_utf8_width(s + n + step, next) > 1;
        if (wide && !is_among(s + n, step, opening) && !is_among(s + n + step, next, closing))
            return n + step;
    }
    return n;
}

/* Breaks the text at spaces, but not from `whole` on; lines after the first are indented by `hang`. */
static void wrap(struct attn_out *o, const char *s, const char *whole, bool command, size_t indent, size_t hang,
                 size_t width)
{
    size_t column = indent, blank = 0, blanks;
    attn_label_pad(o, indent);
    for (bool first = true; *s; first = false) {
        size_t len = whole && s == whole ? strlen(s) : command ? argument_length(s) : word_length(s);
        size_t columns = attn_utf8_width(s, len);
        if (!first && width && column + blank + columns > width) {
            attn_out_char(o, '\n');
            attn_label_pad(o, hang);
            column = hang;
        } else {
            attn_label_pad(o, blank);
            column += blank;
        }
        attn_out_write(o, s, len);
        column += columns;
        blanks = strspn(s + len, " ");
        blank = blanks > 0;
        s += len + blanks;
    }
    attn_out_char(o, '\n');
}

static void text_heading(struct attn_out *o, const char *s, const char *number, bool color)
{
    attn_paint(o, color, ATTN_BOLD);
    attn_out_printf(o, *number ? "%s %s" : "%s%s", number, s);
    attn_paint(o, color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static int text_sum(struct attn_out *o, const struct attn_language *l, const struct attn_passage *p, size_t width,
                    struct attn_err *err)
{
    struct attn_out *line;
    char *text;
    size_t len;
    int rc = attn_out_open_memory(&line, err);
    if (rc)
        return rc;
    attn_sum_terms(line, l, p);
    size_t result = (size_t)attn_out_bytes(line);
    attn_sum_result(line, l, p);
    rc = attn_out_take(line, &text, &len, err);
    attn_out_close(line);
    if (rc)
        return rc;
    wrap(o, text, text + result, false, GAP, DEEP, width);
    free(text);
    return ATTN_OK;
}

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

/* On paper any colour, on a terminal one of 256. */
enum { ANY_COLOR = 1 << 24, TERM_COLORS = 256 };

static void text_cell(struct attn_out *o, const struct attn_passage *p, size_t i, size_t width, bool last,
                      const struct attn_derivation_style *style)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    struct attn_rgb shade;
    const char *s = attn_cell_shown(buf, &p->cell[i]);
    size_t blank = width - attn_utf8_width(s, strlen(s));
    bool label = i % p->cols == 0, shaded = style->color && attn_cell_color(&shade, &p->cell[i]);
    bool paint = style->color && (i < p->cols || p->cell[i].strong || shaded);
    attn_label_pad(o, GAP - shaded + (label || shaded ? 0 : blank));
    attn_paint(o, paint && (i < p->cols || p->cell[i].strong), i < p->cols ? ATTN_DIM : ATTN_BOLD);
    if (shaded) {
        attn_term_ground(o, shade, style->paper ? ANY_COLOR : TERM_COLORS);
        attn_term_letters(o, shade);
        attn_label_pad(o, 1 + blank);
    }
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

static void text_table(struct attn_out *o, const struct attn_passage *p, const struct attn_derivation_style *style)
{
    for (size_t row = 0; row < p->cells; row += p->cols) {
        size_t n = used(p, row);
        for (size_t j = 0; j < n; j++)
            text_cell(o, p, row + j, width_of(p, j), j == n - 1, style);
        attn_out_char(o, '\n');
    }
}

static bool same_kind(const struct attn_derivation *d, size_t i)
{
    return i > 0 && d->passage[i - 1].kind == d->passage[i].kind && d->passage[i].kind == ATTN_PASSAGE_SUM;
}

int attn_derivation_text(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                         struct attn_err *err)
{
    struct attn_headings h = {0};
    char number[48];
    size_t width = style->width > WIDEST_LINE ? WIDEST_LINE : (size_t)style->width;
    int rc = ATTN_OK;
    text_heading(o, d->title, "", style->color);
    for (size_t i = 0; i < d->n && !rc; i++) {
        const struct attn_passage *p = &d->passage[i];
        attn_out_str(o, same_kind(d, i) ? "" : "\n");
        switch (p->kind) {
        case ATTN_PASSAGE_STEP:
        case ATTN_PASSAGE_PART:    text_heading(o, p->text, attn_heading_number(number, &h, p->kind), style->color);
                                   break;
        case ATTN_PASSAGE_WORDS:   wrap(o, p->text, NULL, false, 0, 0, width); break;
        case ATTN_PASSAGE_COMMAND: wrap(o, p->text, NULL, true, DEEP, DEEPER, style->paper ? width : 0);
                                   break;
        case ATTN_PASSAGE_FORMULA: attn_label_pad(o, DEEP);
                                   attn_formula_print(o, d->language, p->formula.text);
                                   attn_out_char(o, '\n');
                                   break;
        case ATTN_PASSAGE_SUM:     rc = text_sum(o, d->language, p, width, err); break;
        case ATTN_PASSAGE_TABLE:   text_table(o, p, style); break;
        case ATTN_PASSAGE_DIAGRAM: rc = attn_diagram_text(o, p, GAP, err); break;
        }
    }
    return rc;
}

