/* derivation_html.c - a derivation as one self-contained page for reading, printing and handing out, with formulas
 * in MathML. */
#include "sinks/derivation.h"

#include <string.h>

/* The page has no scripts and no fonts, and its content policy forbids loading anything. */
static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";

static const char style_sheet[] =
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --quiet: #5a5a5a; --line: #c8c8c8; --mark: #fff3c4; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --ink: #e6e6e6; --paper: #161616; --quiet: #a8a8a8; --line: #484848; --mark: #4a3f10; }\n"
    "}\n"
    "body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;\n"
    "  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }\n"
    "h1 { font-size: 1.5rem; line-height: 1.25; }\n"
    "h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; break-after: avoid; }\n"
    ".wide { overflow: auto hidden; margin: .75rem 0; break-inside: avoid; }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .15rem .6rem; text-align: right; white-space: nowrap; }\n"
    "th { font-weight: normal; color: var(--quiet); }\n"
    "thead th { border-bottom: 1px solid var(--line); }\n"
    "th:first-child { text-align: left; }\n"
    ".strong { font-weight: 600; background: var(--mark); color: var(--ink); }\n"
    ".sum { margin: .25rem 0 .25rem 2rem; text-indent: -1rem; font-variant-numeric: tabular-nums; }\n"
    "pre { white-space: pre-wrap; margin-left: 2rem; }\n"
    "math { font-size: 1.1rem; padding: .25rem 0; }\n"
    "@media print {\n"
    "  :root { --ink: #000; --paper: #fff; --quiet: #444; --line: #999; --mark: #eee; }\n"
    "  body { max-width: none; margin: 0; font-size: 10pt; }\n"
    "}\n"
    "</style>\n";

static void escaped(struct attn_out *o, const char *s)
{
    attn_out_markup(o, s, strlen(s));
}

static void element(struct attn_out *o, const char *tag, const char *s)
{
    attn_out_printf(o, "<%s>", tag);
    escaped(o, s);
    attn_out_printf(o, "</%s>\n", tag);
}

static void cell(struct attn_out *o, const struct attn_passage *p, size_t i)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    const struct attn_cell *c = &p->cell[i];
    const char *tag = i < p->cols || i % p->cols == 0 ? "th" : "td";
    const char *scope = i < p->cols ? " scope=\"col\"" : i % p->cols == 0 ? " scope=\"row\"" : "";
    attn_out_printf(o, "<%s%s%s>", tag, scope, c->strong ? " class=\"strong\"" : "");
    escaped(o, attn_cell_shown(buf, c));
    attn_out_printf(o, "</%s>", tag);
}

static void table(struct attn_out *o, const struct attn_passage *p)
{
    attn_out_str(o, "<div class=\"wide\"><table>\n<thead>\n");
    for (size_t row = 0; row < p->cells; row += p->cols) {
        attn_out_str(o, row == p->cols ? "</thead>\n<tbody>\n<tr>" : "<tr>");
        for (size_t j = 0; j < p->cols; j++)
            cell(o, p, row + j);
        attn_out_str(o, "</tr>\n");
    }
    attn_out_str(o, p->cells > p->cols ? "</tbody>\n</table></div>\n" : "</thead>\n</table></div>\n");
}

static void step(struct attn_out *o, const struct attn_passage *p, size_t number)
{
    attn_out_printf(o, "<h2>%zu. ", number);
    escaped(o, p->text);
    attn_out_str(o, "</h2>\n");
}

/* A sum needs no escaping: it has no user text, only a name of ours and numbers. */
static void sum(struct attn_out *o, const struct attn_passage *p)
{
    attn_out_str(o, "<p class=\"sum\">");
    attn_sum_write(o, p);
    attn_out_str(o, "</p>\n");
}

int attn_derivation_html(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                         struct attn_err *err)
{
    (void)style;
    (void)err;
    size_t steps = 0;
    attn_out_str(o, head);
    element(o, "title", d->title);
    attn_out_str(o, style_sheet);
    attn_out_str(o, "</head>\n<body>\n");
    element(o, "h1", d->title);
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_passage *p = &d->part[i];
        switch (p->kind) {
        case ATTN_PASSAGE_STEP:    step(o, p, ++steps); break;
        case ATTN_PASSAGE_WORDS:   element(o, "p", p->text); break;
        case ATTN_PASSAGE_COMMAND: element(o, "pre", p->text); break;
        case ATTN_PASSAGE_FORMULA: attn_out_printf(o, "<div class=\"wide\"><math display=\"block\">%s</math></div>\n", p->formula.mathml); break;
        case ATTN_PASSAGE_SUM:     sum(o, p); break;
        case ATTN_PASSAGE_TABLE:   table(o, p); break;
        }
    }
    attn_out_str(o, "</body>\n</html>\n");
    return ATTN_OK;
}
