/* derivation_md.c - a derivation as Markdown: tables with pipes, formulas and sums as code. */
#include <string.h>

#include "sinks/derivation.h"

/* Escapes what Markdown could take for emphasis, a link, an element or the end of a cell, so that a token shows as it is. */
static void escaped(struct attn_out *o, const char *s)
{
    for (; *s; s++) {
        if (*s == '<' || *s == '&') {
            attn_out_str(o, *s == '<' ? "&lt;" : "&amp;");
            continue;
        }
        if (strchr("\\`*_{}[]#|~$!>", *s))
            attn_out_char(o, '\\');
        attn_out_char(o, *s);
    }
}

static void cell(struct attn_out *o, const struct attn_cell *c)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    const char *s = attn_cell_shown(buf, c), *around = c->strong && *s ? "**" : "";
    attn_out_printf(o, "| %s", around);
    escaped(o, s);
    attn_out_printf(o, "%s ", around);
}

static void table(struct attn_out *o, const struct attn_passage *p)
{
    for (size_t i = 0; i < p->cells; i++) {
        cell(o, &p->cell[i]);
        if (i % p->cols < p->cols - 1)
            continue;
        attn_out_str(o, "|\n");
        for (size_t j = 0; i < p->cols && j < p->cols; j++)
            attn_out_str(o, j ? "---:|" : "|:---|");
        attn_out_str(o, i < p->cols ? "\n" : "");
    }
}

static void paragraph(struct attn_out *o, const char *s)
{
    escaped(o, s);
    attn_out_char(o, '\n');
}

static void part(struct attn_out *o, const struct attn_passage *p, size_t *steps)
{
    switch (p->kind) {
    case ATTN_PASSAGE_STEP:
        attn_out_printf(o, "## %zu. ", ++*steps);
        paragraph(o, p->text);
        break;
    case ATTN_PASSAGE_WORDS:
        paragraph(o, p->text);
        break;
    case ATTN_PASSAGE_COMMAND:
        attn_out_printf(o, "    %s\n", p->text);
        break;
    case ATTN_PASSAGE_FORMULA:
        attn_out_printf(o, "    %s\n", p->formula.text);
        break;
    case ATTN_PASSAGE_SUM:
        attn_out_str(o, "    ");
        attn_sum_write(o, p);
        attn_out_char(o, '\n');
        break;
    case ATTN_PASSAGE_TABLE:
        table(o, p);
        break;
    }
}

int attn_derivation_md(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                       struct attn_err *err)
{
    (void)style;
    (void)err;
    size_t steps = 0;
    attn_out_str(o, "# ");
    paragraph(o, d->title);
    for (size_t i = 0; i < d->n; i++) {
        bool goes_on = i > 0 && d->part[i].kind == ATTN_PASSAGE_SUM && d->part[i - 1].kind == ATTN_PASSAGE_SUM;
        attn_out_str(o, goes_on ? "" : "\n");
        part(o, &d->part[i], &steps);
    }
    return ATTN_OK;
}
