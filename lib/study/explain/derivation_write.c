/* derivation_write.c - prints a derivation in any format: what formats share, Markdown, and PDF; text and pages are
 * derivation_text.c and derivation_html.c. */
#include "explain/derivation_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "picture/pages.h"
#include "table/cells.h"

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

void attn_sum_terms(struct attn_out *o, const struct attn_language *l, const struct attn_passage *sum)
{
    attn_out_printf(o, "%s = ", sum->text);
    for (size_t i = 0; i < sum->terms; i++) {
        attn_out_str(o, i ? " + " : "");
        term(o, l, &sum->term[i]);
    }
    attn_out_str(o, sum->terms ? " = " : "");
}

/* A result, or the gap it is to be written into. */
void attn_sum_result(struct attn_out *o, const struct attn_language *l, const struct attn_passage *sum)
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

const char *attn_heading_number(char buf[48], struct attn_headings *h, enum attn_passage_kind kind)
{
    h->part = kind == ATTN_PASSAGE_PART ? h->part + 1 : 0;
    h->step += kind == ATTN_PASSAGE_STEP;
    snprintf(buf, 48, h->part ? "%zu.%zu" : "%zu.", h->step, h->part);
    return buf;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Tags of MathML and commands of TeX are no words; nor are lone letters.  Names such as Attention(Q, K, V) stay. */
void attn_formula_print(struct attn_out *o, const struct attn_language *l, const char *s)
{
    while (*s) {
        char word[32];
        size_t n = *s == '<' ? strcspn(s, ">") : *s == '\\', letters = 0;
        while (n ? *s == '\\' && is_letter(s[n]) : is_letter(s[letters]))
            ++*(n ? &n : &letters);
        if (letters > 1 && letters < sizeof word && *s >= 'a') {
            snprintf(word, sizeof word, "%.*s", (int)letters, s);
            attn_out_str(o, attn_tr(l, word));
        } else
            attn_out_write(o, s, letters = n ? n : letters ? letters : 1);
        s += letters;
    }
}

bool attn_cell_color(struct attn_rgb *out, const struct attn_cell *c)
{
    double x = c->number.x;
    if (!c->weight || c->text || c->number.gap || !(x >= 0 && x <= 1))
        return false;
    *out = attn_palette_color(attn_palette_usual(true, false), (unsigned)(x * (ATTN_STEPS - 1)));
    return true;
}

/* ---- Markdown: tables with pipes, formulas in TeX, sums as code --------------------------- */

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

static int md_passage(struct attn_out *o, const struct attn_language *l, const struct attn_passage *p,
                      struct attn_headings *h, struct attn_err *err)
{
    char number[48];
    switch (p->kind) {
    case ATTN_PASSAGE_STEP:
    case ATTN_PASSAGE_PART:
        attn_out_printf(o, "%s %s ", p->kind == ATTN_PASSAGE_PART ? "###" : "##",
                        attn_heading_number(number, h, p->kind));
        md_paragraph(o, p->text);
        break;
    case ATTN_PASSAGE_WORDS:
        md_paragraph(o, p->text);
        break;
    case ATTN_PASSAGE_COMMAND:
        attn_out_printf(o, "    %s\n", p->text);
        break;
    case ATTN_PASSAGE_FORMULA:
        attn_out_str(o, "$$");
        attn_formula_print(o, l, p->formula.tex);
        attn_out_str(o, "$$\n");
        break;
    case ATTN_PASSAGE_SUM:
        attn_out_str(o, "    ");
        attn_sum_terms(o, l, p);
        attn_sum_result(o, l, p);
        attn_out_char(o, '\n');
        break;
    case ATTN_PASSAGE_TABLE:
        md_table(o, p);
        break;
    case ATTN_PASSAGE_DIAGRAM:
        return attn_diagram_text(o, p, 4, err);
    }
    return ATTN_OK;
}

static int write_md(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                    struct attn_err *err)
{
    struct attn_headings h = {0};
    int rc = ATTN_OK;
    (void)style;
    attn_out_str(o, "# ");
    md_paragraph(o, d->title);
    for (size_t i = 0; i < d->n && !rc; i++) {
        bool goes_on = i > 0 && d->passage[i].kind == ATTN_PASSAGE_SUM && d->passage[i - 1].kind == ATTN_PASSAGE_SUM;
        attn_out_str(o, goes_on ? "" : "\n");
        rc = md_passage(o, d->language, &d->passage[i], &h, err);
    }
    return rc;
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
    rc = attn_derivation_text(all, d, &paper, err);
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
        attn_derivation_writer *write;
    } formats[] = {
        {"text", attn_derivation_text}, {"md", write_md}, {"html", attn_derivation_html}, {"pdf", write_pdf}};
    if (d->failed)
        return attn_no_memory(err, NULL, "for the derivation");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(format, formats[i].name))
            return formats[i].write(o, d, style, err);
    return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected one of text, md, html, pdf", format);
}
