/* derivation_html.c - prints a derivation as a page that needs nothing else: formulas in MathML, the diagram in SVG. */
#include "explain/derivation_write.h"

#include <math.h>
#include <string.h>

/* The page has no fonts, and its content policy forbids loading anything.  Only worksheets have a script: it checks
 * what is typed. */
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
    "avoid; }\nh3 { font-size: 1rem; margin: 1.5rem 0 .5rem; break-after: avoid; }\n.wide { overflow: auto hidden; "
    "margin: .75rem 0; break-inside: avoid; }\ntable { border-collapse: collapse; font-variant-numeric: "
    "tabular-nums; }\nth, td { padding: .15rem .6rem; text-align: right; white-space: nowrap; }\nth { font-weight: "
    "normal; color: var(--quiet); }\nthead th { border-bottom: 1px solid var(--line); }\nth:first-child { "
    "text-align: left; }\n.strong { font-weight: 600; background: var(--mark); color: var(--ink); }\n.sum { margin: "
    ".25rem 0 .25rem 2rem; text-indent: -1rem; font-variant-numeric: tabular-nums; }\n.gap { white-space: nowrap; }\n"
    "input { font: inherit; width: "
    "7rem; color: inherit; background: var(--mark); border: 0; border-bottom: 1px solid var(--ink); }\npre { "
    "white-space: pre-wrap; margin-left: 2rem; }\nmath { font-size: 1.1rem; padding: .25rem 0; }\nsvg { max-width: "
    "100%; height: auto; font: 13px ui-monospace, monospace; }\nsvg rect { fill: var(--paper); stroke: var(--quiet); "
    "}\nsvg path { fill: none; stroke: var(--quiet); }\nsvg .head { fill: var(--quiet); stroke: none; }\nsvg text { "
    "fill: var(--quiet); white-space: pre; }\nsvg .name { fill: var(--ink); font-weight: 600; }\n@media print {\n  "
    ":root { --ink: #000; --paper: #fff; --quiet: #444; --line: #999; --mark: #eee; }\n  body { max-width: none; "
    "margin: 0; font-size: 10pt; }\n}\n</style>\n";

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
    struct attn_rgb shade;
    attn_out_printf(o, "<%s%s%s", tag, scope, c->strong ? " class=\"strong\"" : "");
    if (attn_cell_color(&shade, c))
        attn_out_printf(o, " style=\"background:#%02x%02x%02x;color:#%s\"", shade.r, shade.g, shade.b,
                        attn_is_bright(shade) ? "000" : "fff");
    attn_out_char(o, '>');
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

static void html_heading(struct attn_out *o, const struct attn_passage *p, struct attn_headings *h)
{
    char number[48];
    const int level = p->kind == ATTN_PASSAGE_PART ? 3 : 2;
    attn_out_printf(o, "<h%d>%s ", level, attn_heading_number(number, h, p->kind));
    html_escaped(o, p->text);
    attn_out_printf(o, "</h%d>\n", level);
}

static void html_formula(struct attn_out *o, const struct attn_language *l, const struct attn_passage *p)
{
    attn_out_str(o, "<div class=\"wide\"><math display=\"block\">");
    attn_formula_print(o, l, p->formula.mathml);
    attn_out_str(o, "</math></div>\n");
}

/* A field that says whether what is typed is right, to one unit of the last digit, which rounding may cost. */
static void html_gap(struct attn_out *o, const struct attn_language *l, const struct attn_number *n)
{
    char x[ATTN_NUM_FIXED_MAX + 1];
    x[attn_num_fixed(x, n->x, n->digits)] = '\0';
    attn_out_str(o, "<span class=\"gap\"><input inputmode=\"decimal\" size=\"10\" autocomplete=\"off\" aria-label=\"");
    attn_out_printf(o, attn_tr(l, "gap %zu"), n->gap);
    attn_out_printf(o, "\" data-x=\"%s\" data-within=\"%.10g\"> <output></output> ", x, 1.001 * pow(10, -n->digits));
    attn_out_printf(o, n->digits > 1 ? attn_tr(l, "(%zu: %d decimals)") : attn_tr(l, "(%zu: %d decimal)"), n->gap,
                    n->digits);
    attn_out_str(o, "</span>");
}

/* A sum needs no escaping: it has no user text, only a name of ours and numbers. */
static void html_sum(struct attn_out *o, const struct attn_language *l, const struct attn_passage *p)
{
    attn_out_str(o, p->asked && p->answered ? "<p class=\"sum strong\">" : "<p class=\"sum\">");
    attn_sum_terms(o, l, p);
    if (p->asked && !p->answered)
        html_gap(o, l, &p->result);
    else
        attn_sum_result(o, l, p);
    attn_out_str(o, "</p>\n");
}

static bool has_gaps(const struct attn_derivation *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->passage[i].asked && !d->passage[i].answered)
            return true;
    return false;
}

int attn_derivation_html(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                         struct attn_err *err)
{
    (void)style;
    (void)err;
    struct attn_headings h = {0};
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
        case ATTN_PASSAGE_STEP:
        case ATTN_PASSAGE_PART:    html_heading(o, p, &h); break;
        case ATTN_PASSAGE_WORDS:   element(o, "p", p->text); break;
        case ATTN_PASSAGE_COMMAND: element(o, "pre", p->text); break;
        case ATTN_PASSAGE_FORMULA: html_formula(o, d->language, p); break;
        case ATTN_PASSAGE_SUM:     html_sum(o, d->language, p); break;
        case ATTN_PASSAGE_TABLE:   html_table(o, p); break;
        case ATTN_PASSAGE_DIAGRAM: attn_diagram_svg(o, d->language, p); break;
        }
    }
    attn_out_printf(o, "%s</body>\n</html>\n", asks ? script : "");
    return ATTN_OK;
}

