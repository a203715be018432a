/* derivation_write.c - prints a derivation as text for the terminal, as Markdown, as a self-contained page, or as
 * PDF. */
#include "sinks/derivation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "picture/pages.h"
#include "sinks/print.h"
#include "table/cells.h"
#include "text/label.h"

/* ---- printing what all formats share --------------------------------------------------- */

/* A number that a reader has to find is a reference to its gap. */
static void print(char buf[ATTN_NUM_FIXED_MAX + 1], struct attn_number n)
{
    if (n.gap)
        snprintf(buf, ATTN_NUM_FIXED_MAX, "(%zu)", n.gap);
    else
        buf[attn_num_fixed(buf, n.x, n.digits)] = '\0';
}

const char *attn_cell_shown(char buf[ATTN_NUM_FIXED_MAX + 1], const struct attn_cell *c)
{
    if (c->text)
        return c->text;
    print(buf, c->number);
    return buf;
}

/* Writes a number in a sum, in brackets if it is negative. */
static void operand(struct attn_out *o, struct attn_number n)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    print(buf, n);
    attn_out_printf(o, *buf == '-' ? "(%s)" : "%s", buf);
}

static void term(struct attn_out *o, const struct attn_language *l, const struct attn_term *t)
{
    if (t->kind == ATTN_ADDEND_LEFT_OUT)
        attn_out_printf(o, attn_tr(l, "[… %zu more: "), t->count);
    operand(o, t->a);
    if (t->kind == ATTN_ADDEND_LEFT_OUT)
        attn_out_char(o, ']');
    if (t->kind == ATTN_ADDEND_PRODUCT || t->kind == ATTN_ADDEND_QUOTIENT) {
        attn_out_str(o, t->kind == ATTN_ADDEND_PRODUCT ? "·" : " / ");
        operand(o, t->b);
    }
}

static void write_terms(struct attn_out *o, const struct attn_language *l, const struct attn_passage *sum)
{
    attn_out_printf(o, "%s = ", sum->text);
    for (size_t i = 0; i < sum->terms; i++) {
        attn_out_str(o, i ? " + " : "");
        term(o, l, &sum->term[i]);
    }
    attn_out_str(o, sum->terms ? " = " : "");
}

/* A result, or the gap it is to be written into. */
static void write_result(struct attn_out *o, const struct attn_language *l, const struct attn_passage *sum)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    struct attn_number n = sum->result;
    if (sum->asked && !sum->answered) {
        attn_out_printf(o, n.digits > 1 ? attn_tr(l, "__________\u00A0(%zu:\u00A0%d\u00A0decimals)")
                                        : attn_tr(l, "__________\u00A0(%zu:\u00A0%d\u00A0decimal)"), n.gap, n.digits);
        return;
    }
    n.gap = sum->asked ? 0 : n.gap;
    print(buf, n);
    attn_out_str(o, buf);
    if (sum->asked)
        attn_out_printf(o, " (%zu)", sum->result.gap);
}

static void write_sum(struct attn_out *o, const struct attn_language *l, const struct attn_passage *sum)
{
    write_terms(o, l, sum);
    write_result(o, l, sum);
}

enum { WIDEST_LINE = 100, GAP = 2, DEEP = 4, DEEPER = 8 };      /* columns; text in lines wider than 100 is hard to
                                                                 * read */

/* ---- text for the terminal: words wrapped, numbers in columns -------------------------- */

/* The length of a word at s, of a command up to the blank that ends it for a shell. */
static size_t word_length(const char *s, bool command)
{
    size_t n = 0;
    for (bool quoted = false; s[n] && (quoted || s[n] != ' '); n++) {
        if (command && s[n] == '\'')
            quoted = !quoted;
        else if (command && s[n] == '\\' && !quoted && s[n + 1])
            n++;
    }
    return n;
}

/* Breaks the text at spaces; lines after the first are indented by `hang`. */
static void wrap(struct attn_out *o, const char *s, bool command, size_t indent, size_t hang, size_t width)
{
    size_t column = indent;
    attn_label_pad(o, indent);
    for (bool first = true; *s; first = false) {
        size_t len = word_length(s, command), columns = attn_utf8_width(s, len);
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

static void text_heading(struct attn_out *o, const char *s, size_t number, bool color)
{
    attn_paint(o, color, ATTN_BOLD);
    if (number)
        attn_out_printf(o, "%zu. ", number);
    attn_out_str(o, s);
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
    write_sum(line, l, p);
    rc = attn_out_take(line, &text, &len, err);
    attn_out_close(line);
    if (rc)
        return rc;
    wrap(o, text, false, GAP, DEEP, width);
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

static void text_cell(struct attn_out *o, const struct attn_passage *p, size_t i, size_t width, bool last, bool color)
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

static void text_table(struct attn_out *o, const struct attn_passage *p, bool color)
{
    for (size_t row = 0; row < p->cells; row += p->cols) {
        size_t n = used(p, row);
        for (size_t j = 0; j < n; j++)
            text_cell(o, p, row + j, width_of(p, j), j == n - 1, color);
        attn_out_char(o, '\n');
    }
}

static bool same_kind(const struct attn_derivation *d, size_t i)
{
    return i > 0 && d->passage[i - 1].kind == d->passage[i].kind && d->passage[i].kind == ATTN_PASSAGE_SUM;
}

static int write_text(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                      struct attn_err *err)
{
    size_t width = style->width > WIDEST_LINE ? WIDEST_LINE : (size_t)style->width, steps = 0;
    int rc = ATTN_OK;
    text_heading(o, d->title, 0, style->color);
    for (size_t i = 0; i < d->n && !rc; i++) {
        const struct attn_passage *p = &d->passage[i];
        attn_out_str(o, same_kind(d, i) ? "" : "\n");
        switch (p->kind) {
        case ATTN_PASSAGE_STEP:    text_heading(o, p->text, ++steps, style->color); break;
        case ATTN_PASSAGE_WORDS:   wrap(o, p->text, false, 0, 0, width); break;
        case ATTN_PASSAGE_COMMAND: wrap(o, p->text, true, DEEP, DEEPER, style->paper ? width : 0); break;
        case ATTN_PASSAGE_FORMULA: wrap(o, p->formula.text, false, DEEP, DEEP, width); break;
        case ATTN_PASSAGE_SUM:     rc = text_sum(o, d->language, p, width, err); break;
        case ATTN_PASSAGE_TABLE:   text_table(o, p, style->color); break;
        }
    }
    return rc;
}

/* ---- Markdown: tables with pipes, formulas and sums as code ---------------------------- */

static void md_cell(struct attn_out *o, const struct attn_cell *c)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    const char *s = attn_cell_shown(buf, c), *around = c->strong && *s ? "**" : "";
    attn_out_printf(o, "| %s", around);
    attn_cell_markdown(o, s);
    attn_out_printf(o, "%s ", around);
}

static void md_table(struct attn_out *o, const struct attn_passage *p)
{
    for (size_t i = 0; i < p->cells; i++) {
        md_cell(o, &p->cell[i]);
        if (i % p->cols < p->cols - 1)
            continue;
        attn_out_str(o, "|\n");
        for (size_t j = 0; i < p->cols && j < p->cols; j++)
            attn_out_str(o, j ? "---:|" : "|:---|");
        attn_out_str(o, i < p->cols ? "\n" : "");
    }
}

static void md_paragraph(struct attn_out *o, const char *s)
{
    attn_cell_markdown(o, s);
    attn_out_char(o, '\n');
}

static void md_passage(struct attn_out *o, const struct attn_language *l, const struct attn_passage *p, size_t *steps)
{
    switch (p->kind) {
    case ATTN_PASSAGE_STEP:
        attn_out_printf(o, "## %zu. ", ++*steps);
        md_paragraph(o, p->text);
        break;
    case ATTN_PASSAGE_WORDS:
        md_paragraph(o, p->text);
        break;
    case ATTN_PASSAGE_COMMAND:
        attn_out_printf(o, "    %s\n", p->text);
        break;
    case ATTN_PASSAGE_FORMULA:
        attn_out_printf(o, "    %s\n", p->formula.text);
        break;
    case ATTN_PASSAGE_SUM:
        attn_out_str(o, "    ");
        write_sum(o, l, p);
        attn_out_char(o, '\n');
        break;
    case ATTN_PASSAGE_TABLE:
        md_table(o, p);
        break;
    }
}

static int write_md(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                    struct attn_err *err)
{
    (void)style;
    (void)err;
    size_t steps = 0;
    attn_out_str(o, "# ");
    md_paragraph(o, d->title);
    for (size_t i = 0; i < d->n; i++) {
        bool goes_on = i > 0 && d->passage[i].kind == ATTN_PASSAGE_SUM && d->passage[i - 1].kind == ATTN_PASSAGE_SUM;
        attn_out_str(o, goes_on ? "" : "\n");
        md_passage(o, d->language, &d->passage[i], &steps);
    }
    return ATTN_OK;
}

/* ---- a page for reading, printing and handing out, with formulas in MathML ------------- */

/* The page has no fonts, and its content policy forbids loading anything.  Only a worksheet has a script, which checks
 * answers. */
static const char html_head[] =
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'";

static const char script[] =
    "<script>\n"
    "for (const field of document.querySelectorAll('input')) {\n"
    "  field.addEventListener('input', () => {\n"
    "    const typed = field.value.trim().replace(',', '.').replace('\u2212', '-'), x = Number(typed);\n"
    "    const right = Math.abs(x - Number(field.dataset.x)) <= Number(field.dataset.within);\n"
    "    field.nextElementSibling.value = typed === '' || typed === '-' ? '' : right ? '\u2713' : '\u2717';\n"
    "    field.setAttribute('aria-invalid', String(typed !== '' && !right));\n"
    "  });\n"
    "}\n"
    "</script>\n";

static const char style_sheet[] =
    "<style>\n:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --quiet: #5a5a5a; --line: #c8c8c8; "
    "--mark: #fff3c4; }\n@media (prefers-color-scheme: dark) {\n  :root { --ink: #e6e6e6; --paper: #161616; --quiet: "
    "#a8a8a8; --line: #484848; --mark: #4a3f10; }\n}\nbody { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; "
    "font: 1rem/1.5 system-ui, sans-serif;\n  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; "
    "}\nh1 { font-size: 1.5rem; line-height: 1.25; }\nh2 { font-size: 1.15rem; margin: 2rem 0 .5rem; break-after: "
    "avoid; }\n.wide { overflow: auto hidden; margin: .75rem 0; break-inside: avoid; }\ntable { border-collapse: "
    "collapse; font-variant-numeric: tabular-nums; }\nth, td { padding: .15rem .6rem; text-align: right; white-space: "
    "nowrap; }\nth { font-weight: normal; color: var(--quiet); }\nthead th { border-bottom: 1px solid var(--line); "
    "}\nth:first-child { text-align: left; }\n.strong { font-weight: 600; background: var(--mark); color: var(--ink); "
    "}\n.sum { margin: .25rem 0 .25rem 2rem; text-indent: -1rem; font-variant-numeric: tabular-nums; }\ninput { font: "
    "inherit; width: 7rem; color: inherit; background: var(--mark); border: 0; border-bottom: 1px solid var(--ink); "
    "}\npre { white-space: pre-wrap; margin-left: 2rem; }\nmath { font-size: 1.1rem; padding: .25rem 0; }\n@media "
    "print {\n  :root { --ink: #000; --paper: #fff; --quiet: #444; --line: #999; --mark: #eee; }\n  body { max-width: "
    "none; margin: 0; font-size: 10pt; }\n}\n</style>\n";

static void html_escaped(struct attn_out *o, const char *s)
{
    attn_out_markup(o, s, strlen(s));
}

static void element(struct attn_out *o, const char *tag, const char *s)
{
    attn_out_printf(o, "<%s>", tag);
    html_escaped(o, s);
    attn_out_printf(o, "</%s>\n", tag);
}

static void html_cell(struct attn_out *o, const struct attn_passage *p, size_t i)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    const struct attn_cell *c = &p->cell[i];
    const char *tag = i < p->cols || i % p->cols == 0 ? "th" : "td";
    const char *scope = i < p->cols ? " scope=\"col\"" : i % p->cols == 0 ? " scope=\"row\"" : "";
    attn_out_printf(o, "<%s%s%s>", tag, scope, c->strong ? " class=\"strong\"" : "");
    html_escaped(o, attn_cell_shown(buf, c));
    attn_out_printf(o, "</%s>", tag);
}

static void html_table(struct attn_out *o, const struct attn_passage *p)
{
    attn_out_str(o, "<div class=\"wide\"><table>\n<thead>\n");
    for (size_t row = 0; row < p->cells; row += p->cols) {
        attn_out_str(o, row == p->cols ? "</thead>\n<tbody>\n<tr>" : "<tr>");
        for (size_t j = 0; j < p->cols; j++)
            html_cell(o, p, row + j);
        attn_out_str(o, "</tr>\n");
    }
    attn_out_str(o, p->cells > p->cols ? "</tbody>\n</table></div>\n" : "</thead>\n</table></div>\n");
}

static void html_step(struct attn_out *o, const struct attn_passage *p, size_t number)
{
    attn_out_printf(o, "<h2>%zu. ", number);
    html_escaped(o, p->text);
    attn_out_str(o, "</h2>\n");
}

/* A field that says whether what is typed is right: to one unit of the last digit, as rounding in between may cost
 * that. */
static void html_gap(struct attn_out *o, const struct attn_language *l, const struct attn_number *n)
{
    char x[ATTN_NUM_FIXED_MAX + 1];
    x[attn_num_fixed(x, n->x, n->digits)] = '\0';
    attn_out_str(o, "<input inputmode=\"decimal\" size=\"10\" autocomplete=\"off\" aria-label=\"");
    attn_out_printf(o, attn_tr(l, "gap %zu"), n->gap);
    attn_out_printf(o, "\" data-x=\"%s\" data-within=\"%.10g\"> <output></output> ", x, 1.001 * pow(10, -n->digits));
    attn_out_printf(o, n->digits > 1 ? attn_tr(l, "(%zu: %d decimals)") : attn_tr(l, "(%zu: %d decimal)"), n->gap,
                    n->digits);
}

/* A sum needs no escaping: it has no user text, only a name of ours and numbers. */
static void html_sum(struct attn_out *o, const struct attn_language *l, const struct attn_passage *p)
{
    attn_out_str(o, p->asked && p->answered ? "<p class=\"sum strong\">" : "<p class=\"sum\">");
    write_terms(o, l, p);
    if (p->asked && !p->answered)
        html_gap(o, l, &p->result);
    else
        write_result(o, l, p);
    attn_out_str(o, "</p>\n");
}

static bool has_gaps(const struct attn_derivation *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->passage[i].asked && !d->passage[i].answered)
            return true;
    return false;
}

static int write_html(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                      struct attn_err *err)
{
    (void)style;
    (void)err;
    size_t steps = 0;
    bool asks = has_gaps(d);
    attn_out_printf(o, "<!DOCTYPE html>\n<html lang=\"%s\">\n", attn_language_code(d->language));
    attn_out_printf(o, "%s%s\">\n", html_head, asks ? "; script-src 'unsafe-inline'" : "");
    element(o, "title", d->title);
    attn_out_str(o, style_sheet);
    attn_out_str(o, "</head>\n<body>\n");
    element(o, "h1", d->title);
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_passage *p = &d->passage[i];
        switch (p->kind) {
        case ATTN_PASSAGE_STEP:    html_step(o, p, ++steps); break;
        case ATTN_PASSAGE_WORDS:   element(o, "p", p->text); break;
        case ATTN_PASSAGE_COMMAND: element(o, "pre", p->text); break;
        case ATTN_PASSAGE_FORMULA: attn_out_printf(o, "<div class=\"wide\"><math display=\"block\">%s</math></div>\n",
                                                   p->formula.mathml); break;
        case ATTN_PASSAGE_SUM:     html_sum(o, d->language, p); break;
        case ATTN_PASSAGE_TABLE:   html_table(o, p); break;
        }
    }
    attn_out_printf(o, "%s</body>\n</html>\n", asks ? script : "");
    return ATTN_OK;
}

/* ---- pages to print: the text as a terminal shows it -------------------------------------- */

static int write_pdf(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                     struct attn_err *err)
{
    struct attn_faces faces = {.columns = true, .path = style->font, .index = style->font_index,
                               .lacks = style->lacks};
    struct attn_derivation_style paper = {.color = true, .width = ATTN_PAGES_COLUMNS, .paper = true};
    struct attn_out *all;
    char *text = NULL;
    size_t len;
    int rc = attn_out_open_memory(&all, err);
    if (rc)
        return rc;
    rc = write_text(all, d, &paper, err);
    if (!rc)
        rc = attn_out_take(all, &text, &len, err);
    if (!rc)
        rc = attn_pages_write(o, text, len, d->title, attn_tr(d->language, "page %zu of %zu"), &faces, err);
    free(text);
    attn_out_close(all);
    return rc;
}

/* ---- any of them ----------------------------------------------------------------------- */

int attn_derivation_write(struct attn_out *o, const struct attn_derivation *d, const char *format,
                          const struct attn_derivation_style *style, struct attn_err *err)
{
    static const struct {
        const char *name;
        int (*write)(struct attn_out *, const struct attn_derivation *, const struct attn_derivation_style *,
                     struct attn_err *);
    } formats[] = {
        {"text", write_text}, {"md", write_md}, {"html", write_html}, {"pdf", write_pdf}};
    if (d->failed)
        return attn_no_memory(err, NULL, "for the derivation");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(format, formats[i].name))
            return formats[i].write(o, d, style, err);
    return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected one of text, md, html, pdf", format);
}
