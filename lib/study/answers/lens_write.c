/* lens_write.c - the table of a lens, points by positions.  For people, the likeliest token in each cell, then how far
 * the final prediction is; for programs, all numbers, one line per cell; as a picture, the likeliest token in cells
 * coloured by its probability, or by that of the target. */
#include "answers/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "picture/figure.h"
#include "sinks/print.h"
#include "sinks/sink.h"
#include "table/columns.h"
#include "text/label.h"

static struct attn_subject readout_of(const struct attn_lens *s)
{
    return (struct attn_subject){s->model, s->tokens, s->o->text, s->o->text_len, s->o->kind, s->o->tokenizer,
                                 s->o->edits, s->o->csv_safe};
}

/* Cell number i is of point i / T, position i % T. */
static size_t cells_of(const struct attn_lens *s) { return s->n * s->tokens->n; }
static const struct attn_likely *likeliest(const struct attn_lens *s, size_t i) { return s->best + i * s->top; }

/* ---- points as labels of rows, "L0.resid_mid", as edits call them ---------------------- */

static int name_points(struct attn_named *p, const struct attn_lens *s, struct attn_err *err)
{
    int rc = attn_named_new(p, s->n, err);
    for (size_t i = 0; i < s->n && !rc; i++)
        attn_named_set(p, i, 0, "L%d.%s", s->point[i].layer, attn_act_short(s->point[i].act));
    return rc;
}

/* ---- for people: the likeliest tokens -------------------------------------------------- */

enum { WIDEST = 12, GAP = 2, PERCENT = 4 };     /* columns: of a token, between cells, of " 100" */

static struct attn_label spell(const struct attn_lens *s, int32_t id)
{
    struct attn_subject r = readout_of(s);
    struct attn_token t = attn_subject_spelled(&r, id);
    return attn_label_token(&t, WIDEST);
}

struct layout { size_t left, token, block; };   /* columns: of labels, of tokens; positions side by side */

static struct layout lay_out(const struct attn_lens *s, const struct attn_named *p)
{
    struct layout l = {0};
    for (size_t i = 0; i < s->n; i++)
        l.left = larger(l.left, strlen(p->name[i]));
    for (size_t t = 0; t < s->tokens->n; t++) {
        struct attn_label head = attn_label_token(&s->tokens->tok[t], WIDEST);
        l.token = larger(l.token, head.columns > PERCENT ? head.columns - PERCENT : 1);
    }
    for (size_t i = 0; i < cells_of(s); i++)
        for (size_t k = 0; k < s->cell[i].n_top; k++) {
            struct attn_label token = spell(s, likeliest(s, i)[k].id);
            l.token = larger(l.token, token.columns);
        }
    size_t width = s->o->width > 0 ? (size_t)s->o->width : SIZE_MAX;
    l.block = width > l.left ? (width - l.left) / (l.token + PERCENT + GAP) : 0;
    l.block = larger(l.block, 1);
    return l;
}

static void print_head(struct attn_out *o, const struct attn_lens *s, const struct layout *l, size_t from, size_t to)
{
    attn_paint(o, s->o->color, ATTN_DIM);
    attn_label_pad(o, l->left);
    for (size_t t = from; t < to; t++) {
        struct attn_label token = attn_label_token(&s->tokens->tok[t], WIDEST);
        attn_label_pad(o, GAP);
        if (t + 1 < to)
            attn_label_left(o, &token, l->token + PERCENT);
        else
            attn_out_str(o, token.text);
    }
    attn_paint(o, s->o->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void print_likely(struct attn_out *o, const struct attn_lens *s, const struct layout *l, size_t cell, size_t k)
{
    struct attn_label token = {.text = "-", .bytes = 1, .columns = 1};
    attn_label_pad(o, GAP);
    if (k < s->cell[cell].n_top)
        token = spell(s, likeliest(s, cell)[k].id);
    attn_label_left(o, &token, l->token);
    if (k < s->cell[cell].n_top)
        attn_out_printf(o, "%*.0f", PERCENT, 100 * likeliest(s, cell)[k].p);
    else
        attn_label_pad(o, PERCENT);
}

static void print_block(struct attn_out *o, const struct attn_lens *s, const struct attn_named *p,
                        const struct layout *l, size_t from, size_t to)
{
    if (from > 0)
        attn_out_char(o, '\n');
    print_head(o, s, l, from, to);
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->top; k++) {
            struct attn_label label = attn_label_line(k ? "" : p->name[i], k ? 0 : strlen(p->name[i]), l->left);
            attn_paint(o, s->o->color, ATTN_DIM);
            attn_label_left(o, &label, l->left);
            attn_paint(o, s->o->color, ATTN_PLAIN);
            for (size_t t = from; t < to; t++)
                print_likely(o, s, l, i * s->tokens->n + t, k);
            attn_out_char(o, '\n');
        }
}

static void title(struct attn_out *o, const struct attn_lens *s, const char *text)
{
    attn_paint(o, s->o->color, ATTN_BOLD);
    attn_out_str(o, text);
    attn_paint(o, s->o->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void print_likeliest(struct attn_out *o, const struct attn_lens *s, const struct attn_named *p)
{
    attn_print_edits(o, s->o->edits);
    attn_out_str(o, attn_edits_count(s->o->edits) ? "\n" : "");
    struct layout l = lay_out(s, p);
    title(o, s, s->top == 1 ? "likeliest next token at each point of the residual stream, with its percentage"
                            : "likeliest next tokens at each point of the residual stream, with percentages");
    for (size_t from = 0; from < s->tokens->n; from += l.block)
        print_block(o, s, p, &l, from, smaller(from + l.block, s->tokens->n));
}

/* ---- for people: numbers --------------------------------------------------------------- */

static double rank_of(const struct attn_lens_cell *c) { return c->rank ? (double)c->rank : NAN; }
static double percent_of(const struct attn_lens_cell *c) { return 100 * attn_exp(c->logprob); }
static double kl_of(const struct attn_lens_cell *c) { return c->kl; }
static double entropy_of(const struct attn_lens_cell *c) { return c->entropy; }

static void print_numbers(struct attn_out *o, const struct attn_lens *s, const struct attn_named *p, const char *what,
                          double (*of)(const struct attn_lens_cell *), int digits, float *numbers)
{
    struct attn_grid grid = {.data = numbers, .rows = s->n, .cols = s->tokens->n, .tokens = &p->tokens,
                             .keys = s->tokens,
                             .precision = digits, .width = s->o->width, .color = s->o->color};
    for (size_t i = 0; i < cells_of(s); i++)
        numbers[i] = (float)of(&s->cell[i]);
    attn_out_char(o, '\n');
    title(o, s, what);
    attn_print_grid(o, &grid);
}

static int write_text(struct attn_out *o, const struct attn_lens *s, struct attn_err *err)
{
    char what[320];
    struct attn_named p;
    int rc = name_points(&p, s, err);
    float *numbers = rc ? NULL : calloc(cells_of(s) + 1, sizeof *numbers);
    if (!rc && !numbers)
        rc = attn_no_memory(err, NULL, "for %zu numbers", cells_of(s));
    if (numbers) {
        print_likeliest(o, s, &p);
        if (s->o->target) {
            struct attn_label target = spell(s, *s->o->target);
            snprintf(what, sizeof what, "rank of %s (id %d)", target.text, (int)*s->o->target);
            print_numbers(o, s, &p, what, rank_of, 0, numbers);
            snprintf(what, sizeof what, "probability of %s in %%", target.text);
            print_numbers(o, s, &p, what, percent_of, 2, numbers);
        }
        print_numbers(o, s, &p, "KL divergence of this prediction from the final one, in nats", kl_of, 3, numbers);
        print_numbers(o, s, &p, "entropy of this prediction, in nats", entropy_of, 3, numbers);
    }
    attn_named_free(&p);
    free(numbers);
    return rc;
}

/* ---- for programs ---------------------------------------------------------------------- */

/* Columns: those of the cell, then of each of the likeliest tokens, then numbers. */
enum { BEFORE = 4, EACH = 3, NUMBERS = 5 };
struct columns { const struct attn_lens *of; struct attn_column *column; char (*name)[ATTN_NAME_MAX]; };

static void put_top(struct attn_out *o, const void *self, size_t i)
{
    const struct attn_lens *s = ((const struct columns *)self)->of;
    const struct attn_subject r = readout_of(s);
    attn_out_char(o, '[');
    for (size_t k = 0; k < s->cell[i].n_top; k++) {
        attn_out_str(o, k ? ",{" : "{");
        attn_subject_token(o, &r, likeliest(s, i)[k].id);
        attn_subject_member(o, "probability", likeliest(s, i)[k].p);
        attn_out_char(o, '}');
    }
    attn_out_char(o, ']');
}

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_lens *s = ((const struct columns *)self)->of;
    const struct attn_lens_cell *c = &s->cell[i];
    const struct attn_lens_point *p = &s->point[i / s->tokens->n];
    const struct attn_subject r = readout_of(s);
    *cell++ = attn_datum_str(p->name);
    *cell++ = attn_datum_index(p->layer);
    *cell++ = attn_datum_whole(i % s->tokens->n);
    *cell++ = attn_datum_truth(true);
    for (size_t k = 0; k < s->top; k++, cell += EACH) {
        if (k >= c->n_top)
            continue;
        const struct attn_token t = attn_subject_spelled(&r, likeliest(s, i)[k].id);
        cell[0] = attn_datum_index(t.id);
        cell[1] = attn_datum_text(t.text, t.text_len);
        cell[2] = attn_datum_number(likeliest(s, i)[k].p);
    }
    const double numbers[NUMBERS] = {c->logit, c->logprob, rank_of(c), c->kl, c->entropy};
    for (size_t k = 0; k < NUMBERS; k++)
        cell[k] = attn_datum_number(numbers[k]);
}

static int name_columns(struct columns *c, struct attn_table *t, struct attn_err *err)
{
    static const struct attn_column before[BEFORE] = {
        {.name = "point"}, {.name = "layer", .kind = ATTN_COLUMN_WHOLE}, {.name = "pos", .kind = ATTN_COLUMN_WHOLE},
        {.name = "top", .kind = ATTN_COLUMN_NESTED, .write = put_top}};
    static const struct attn_column each[EACH] = {
        {.name = "id", .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_FLAT},
        {.name = "text", .kind = ATTN_COLUMN_TOKEN, .flags = ATTN_COLUMN_FLAT},
        {.name = "p", .kind = ATTN_COLUMN_REAL, .flags = ATTN_COLUMN_FLAT, .digits = 4}};
    static const struct attn_column numbers[NUMBERS] = {
        {.name = "logit", .kind = ATTN_COLUMN_REAL, .digits = 4},
        {.name = "logprob", .kind = ATTN_COLUMN_REAL, .digits = 4},
        {.name = "rank", .kind = ATTN_COLUMN_REAL}, {.name = "kl", .kind = ATTN_COLUMN_REAL, .digits = 4},
        {.name = "entropy", .kind = ATTN_COLUMN_REAL, .digits = 4}};
    size_t n = EACH * c->of->top;
    c->column = calloc(BEFORE + n + NUMBERS, sizeof *c->column);
    c->name = calloc(n, sizeof *c->name);
    if (!c->column || !c->name)
        return attn_no_memory(err, NULL, "for %zu columns", n);
    memcpy(c->column, before, sizeof before);
    for (size_t i = 0; i < n; i++) {
        snprintf(c->name[i], sizeof c->name[i], "top%zu_%s", i / EACH + 1, each[i % EACH].name);
        c->column[BEFORE + i] = each[i % EACH];
        c->column[BEFORE + i].name = c->name[i];
    }
    memcpy(c->column + BEFORE + n, numbers, sizeof numbers);
    *t = (struct attn_table){.column = c->column, .columns = BEFORE + n + NUMBERS, .rows = cells_of(c->of), .row = fill,
                             .self = c, .csv_safe = c->of->o->csv_safe};
    return ATTN_OK;
}

static int write_rows(struct attn_out *o, const struct attn_lens *s, const char *format, struct attn_err *err)
{
    struct columns c = {.of = s};
    struct attn_table t;
    int rc = name_columns(&c, &t, err);
    if (!rc)
        rc = strcmp(format, "json") ? attn_table_write(o, &t, format, err) : attn_table_objects(o, &t, "\n", "\n", err);
    free(c.column);
    free(c.name);
    return rc;
}

static int write_json(struct attn_out *o, const struct attn_lens *s, struct attn_err *err)
{
    struct attn_subject r = readout_of(s);
    int rc = attn_subject_begin(o, &r, err);
    if (rc)
        return rc;
    attn_out_str(o, ",\n\"target\":");
    if (s->o->target) {
        attn_out_char(o, '{');
        attn_subject_token(o, &r, *s->o->target);
        attn_out_char(o, '}');
    } else {
        attn_out_str(o, "null");
    }
    attn_out_str(o, ",\n\"rows\":[");
    rc = write_rows(o, s, "json", err);
    attn_out_str(o, "\n]}\n");
    return rc;
}

/* ---- pictures -------------------------------------------------------------------------- */

/* Of the target or, without one, of the likeliest token. */
static double probability(const struct attn_lens *s, size_t i)
{
    if (!s->cell[i].n_top)
        return NAN;
    return s->o->target ? attn_exp(s->cell[i].logprob) : likeliest(s, i)[0].p;
}

enum { WHOSE = sizeof(struct attn_label) + 32 };

/* Whose that is. */
static void name_probability(char name[WHOSE], const struct attn_lens *s, const struct attn_language *l)
{
    if (s->o->target)
        snprintf(name, WHOSE, attn_tr(l, "the probability of %s"), spell(s, *s->o->target).text);
    else
        snprintf(name, WHOSE, "%s", attn_tr(l, "its probability"));
}

struct picture {
    const struct attn_lens *of;
    struct attn_look look;
    struct attn_album album;
    struct attn_label *words, *brief;
    float *numbers;
    char whose[WHOSE], title[64 + WHOSE];
};

/* The number in a cell.  Those of a target may all be small. */
struct short_number { char text[16]; };
static struct short_number written(const struct attn_lens *s, size_t i)
{
    struct short_number n = {""};
    attn_snprintf(n.text, sizeof n.text, s->o->target ? "%.2g" : "%.2f", probability(s, i));
    return n;
}

static void append(struct attn_label *l, const char *text)
{
    size_t n = strlen(text);
    if (l->bytes + 1 + n >= sizeof l->text)
        return;
    snprintf(l->text + l->bytes, sizeof l->text - l->bytes, " %s", text);
    l->bytes += 1 + n;
    l->columns += 1 + n;
}

/* Gets the number of each cell and spells its likeliest token, beside the number if that is to be written. */
static int fill_cells(struct picture *p, struct attn_err *err)
{
    enum { FEW = 300 };
    const struct attn_lens *s = p->of;
    size_t n = cells_of(s);
    bool few = n <= FEW && !s->o->target;       /* whose number it is would have to be said */
    p->words = calloc(n + 1, sizeof *p->words);
    p->brief = calloc(n + 1, sizeof *p->brief);
    p->numbers = calloc(n + 1, sizeof *p->numbers);
    for (size_t i = 0; i < n && p->words && p->brief && p->numbers; i++) {
        p->numbers[i] = (float)probability(s, i);
        if (s->cell[i].n_top)
            p->brief[i] = p->words[i] = spell(s, likeliest(s, i)[0].id);
        if (s->cell[i].n_top && (p->look.numbers || few))
            append(&p->words[i], written(s, i).text);
    }
    return p->words && p->brief && p->numbers ? ATTN_OK : attn_no_memory(err, NULL, "to spell %zu tokens", n);
}

static int make_picture(struct picture *p, const struct attn_lens *s, const struct attn_named *points,
                        struct attn_err *err)
{
    float *own = NULL;
    *p = (struct picture){.of = s, .album = {.model = s->model->source.name, .text = s->o->text,
                          .text_len = s->o->text_len,
                                             .queries = &points->tokens, .keys = s->tokens, .edits = s->o->edits}};
    name_probability(p->whose, s, NULL);
    int rc = attn_format_look(&p->look, s->o->format, &s->o->picture, err);
    if (!p->look.chosen)
        p->look.palette = attn_palette_usual(true, false);
    if (!rc)
        rc = fill_cells(p, err);
    snprintf(p->title, sizeof p->title, s->o->target && p->look.numbers ? "likeliest next token; colour and number: %s"
             : "likeliest next token, coloured by %s", p->whose);
    struct attn_sheet sheet = {.kind = "lens", .title = p->title, .axes = " (rows: points of the residual stream)",
                               .layer = -1, .n = 1,
                               .rows = s->n, .cols = s->tokens->n, .keys = true, .data = p->numbers,
                               .words = p->words, .brief = p->look.numbers ? NULL : p->brief};
    if (!rc)
        rc = attn_album_add(&p->album, &sheet, &own, err);
    return rc ? rc : attn_album_link(&p->album, err);
}

static void free_picture(struct picture *p)
{
    attn_album_free(&p->album);
    free(p->words);
    free(p->brief);
    free(p->numbers);
}

static const char html_head[] =
    "\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
static const char html_style[] =
    "<style>\nbody { margin: 1.5rem; font: .9rem/1.4 system-ui, sans-serif; color: #1a1a1a; background: #fff; }\nh1 { "
    "font-size: 1.15rem; overflow-wrap: anywhere; }\n.wide { overflow: auto; max-height: 90vh; }\ntable { "
    "border-collapse: separate; border-spacing: 1px; font-family: ui-monospace, monospace; }\nth, td { padding: .15rem "
    ".4rem; white-space: pre; text-align: left; font-weight: normal; }\nth { color: #5a5a5a; background: #fff; "
    "position: sticky; top: 0; }\nth[scope=row] { left: 0; }\ntd { -webkit-print-color-adjust: exact; "
    "print-color-adjust: exact; forced-color-adjust: none; }\n.bar { display: inline-block; width: 10rem; height: "
    ".75rem; vertical-align: middle; -webkit-print-color-adjust: exact; print-color-adjust: exact; "
    "forced-color-adjust: none; }\n@media screen and (prefers-color-scheme: dark) { body, th { background: #0f1318; "
    "color: #e6edf3; } }\n@media print { @page { size: landscape; margin: 10mm; } body { margin: 0; } .wide { "
    "overflow: visible; max-height: none; }\ntable { width: 100%; font-size: 7pt; } th { position: static; }\nth, td { "
    "padding: 1pt 2pt; white-space: normal; overflow-wrap: anywhere; } }\n</style>\n</head>\n<body>\n";

/* What a pointer over the cell shows: all that is known of it. */
static void html_hint(struct attn_out *o, const struct attn_lens *s, const struct attn_language *l, size_t i)
{
    const struct attn_lens_cell *c = &s->cell[i];
    attn_out_str(o, " title=\"");
    for (size_t k = 0; k < c->n_top; k++) {
        struct attn_label token = spell(s, likeliest(s, i)[k].id);
        attn_out_markup(o, token.text, strlen(token.text));
        attn_out_printf(o, " %.4f&#10;", likeliest(s, i)[k].p);
    }
    if (s->o->target && c->rank)
        attn_out_printf(o, attn_tr(l, "target: rank %llu, log-probability %.3f&#10;"), (unsigned long long)c->rank,
                        c->logprob);
    if (c->n_top)
        attn_out_printf(o, attn_tr(l, "KL %.4f, entropy %.4f"), c->kl, c->entropy);
    else
        attn_out_str(o, attn_tr(l, "no prediction: a logit is NaN or infinite"));
    attn_out_char(o, '"');
}

static void html_cell(struct attn_out *o, const struct picture *p, size_t i, uint8_t step)
{
    const struct attn_lens *s = p->of;
    const struct attn_palette *palette = p->look.palette;
    struct attn_rgb c = step < ATTN_STEPS ? attn_palette_color(palette, step)
                        : step == ATTN_STEP_NAN ? attn_palette_nan(palette) : attn_palette_blank(palette);
    attn_out_printf(o, "<td style=\"background:#%02x%02x%02x;color:%s\"", c.r, c.g, c.b, attn_is_bright(c) ? "#000" :
                    "#fff");
    html_hint(o, s, p->look.language, i);
    attn_out_char(o, '>');
    if (s->cell[i].n_top) {
        struct attn_label token = spell(s, likeliest(s, i)[0].id);
        attn_out_markup(o, token.text, strlen(token.text));
        attn_out_printf(o, " <small>%s</small>", written(s, i).text);
    }
    attn_out_str(o, "</td>");
}

static int html_rows(struct attn_out *o, const struct picture *p, const struct attn_named *points,
                     const struct attn_scale *scale, struct attn_err *err)
{
    size_t T = p->of->tokens->n;
    uint8_t *steps = calloc(T + 1, sizeof *steps);
    if (!steps)
        return attn_no_memory(err, NULL, "to colour %zu cells", T);
    for (size_t r = 0; r < p->of->n; r++) {
        attn_scale_row(scale, steps, p->album.sheet, r);
        attn_out_printf(o, "</tr>\n<tr><th scope=\"row\">%s</th>", points->name[r]);
        for (size_t t = 0; t < T; t++)
            html_cell(o, p, r * T + t, steps[t]);
    }
    free(steps);
    return ATTN_OK;
}

static void html_legend(struct attn_out *o, const struct attn_look *look, const struct attn_scale *scale)
{
    enum { STOPS = 12 };
    char text[96];
    int step;
    attn_scale_end(text, scale, false);
    attn_out_printf(o, "<p>%s <span class=\"bar\" style=\"background:linear-gradient(90deg", text);
    for (unsigned i = 0; i < STOPS; i++) {
        struct attn_rgb c = attn_palette_color(look->palette, i * (ATTN_STEPS - 1) / (STOPS - 1));
        attn_out_printf(o, ",#%02x%02x%02x", c.r, c.g, c.b);
    }
    attn_scale_end(text, scale, true);
    attn_out_printf(o, ")\"></span> %s", text);
    for (size_t i = 0; attn_legend_line(scale, i, text, &step); i++)
        attn_out_printf(o, " · %s", text);
    attn_out_str(o, "</p>\n");
}

static void html_top(struct attn_out *o, const struct picture *p)
{
    const struct attn_lens *s = p->of;
    const struct attn_language *l = p->look.language;
    char whose[WHOSE], about[160 + WHOSE];
    struct attn_label text = attn_label_line(s->o->text ? s->o->text : "", s->o->text ? s->o->text_len : 0, 100);
    attn_out_printf(o, "<!DOCTYPE html>\n<html lang=\"%s%s", attn_language_code(l), html_head);
    for (int heading = 0; heading < 2; heading++) {
        attn_out_str(o, heading ? html_style : "");
        attn_out_str(o, heading ? "<h1>" : "<title>");
        attn_out_markup(o, s->model->source.name, strlen(s->model->source.name));
        attn_out_str(o, s->o->text ? ": " : "");
        attn_out_markup(o, text.text, strlen(text.text));
        attn_out_str(o, heading ? "</h1>\n" : "</title>\n");
    }
    if (p->look.cell)
        attn_out_printf(o, "<style>td { min-width: %zupx; height: %zupx; }</style>\n", p->look.cell, p->look.cell);
    name_probability(whose, s, l);
    snprintf(about, sizeof about, s->o->target ?
             attn_tr(l, "The likeliest next token at each point of the residual stream; colour and number are %s.")
             : attn_tr(l, "The likeliest next token at each point of the residual stream, coloured by %s."), whose);
    attn_out_str(o, "<p>");
    attn_out_markup(o, about, strlen(about));
    attn_out_str(o, "</p>\n");
    for (size_t i = 0; i < attn_edits_count(s->o->edits); i++) {
        attn_out_printf(o, "%s%s", i ? " · " : "<p>", i ? "" : attn_tr(l, "Edited: "));
        attn_out_markup(o, attn_edits_text(s->o->edits, i), strlen(attn_edits_text(s->o->edits, i)));
    }
    attn_out_str(o, attn_edits_count(s->o->edits) ? "</p>\n" : "");
}

static int write_html(struct attn_out *o, const struct picture *p, const struct attn_named *points,
                      struct attn_err *err)
{
    const struct attn_tokens *tokens = p->of->tokens;
    struct attn_scale scale;
    attn_scale_make(&scale, &p->album, p->album.sheet, &p->look);
    scale.language = p->look.language;
    html_top(o, p);
    attn_out_str(o, "<div class=\"wide\"><table>\n<tr><th></th>");
    for (size_t t = 0; t < tokens->n; t++) {
        struct attn_label token = attn_label_token(&tokens->tok[t], WIDEST);
        attn_out_str(o, "<th scope=\"col\">");
        attn_out_markup(o, token.text, strlen(token.text));
        attn_out_str(o, "</th>");
    }
    int rc = html_rows(o, p, points, &scale, err);
    attn_out_str(o, "</tr>\n</table></div>\n");
    html_legend(o, &p->look, &scale);
    attn_out_str(o, "</body>\n</html>\n");
    return rc;
}

static int write_picture(struct attn_out *o, const struct attn_lens *s, const char *format, struct attn_err *err)
{
    struct attn_named points;
    struct picture p = {0};
    int rc = name_points(&points, s, err);
    if (!rc)
        rc = make_picture(&p, s, &points, err);
    if (!rc)
        rc = !strcmp(format, "html") ? write_html(o, &p, &points, err)
                                     : attn_format_draw(o, format, &p.album, &p.look, err);
    free_picture(&p);
    attn_named_free(&points);
    return rc;
}

int attn_lens_write(struct attn_out *o, const struct attn_lens *s, struct attn_err *err)
{
    const char *format = s->o->format ? s->o->format : "text";
    if (!strcmp(format, "text"))
        return write_text(o, s, err);
    if (!strcmp(format, "json"))
        return write_json(o, s, err);
    if (attn_subject_is_table(format))
        return write_rows(o, s, format, err);
    return write_picture(o, s, format, err);
}
