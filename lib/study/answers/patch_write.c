/* patch_write.c - the grid of a patching: for people, both texts side by side and the effects of all cells; for
 * programs as JSON or as a table (sinks/grid.h); as pictures, of the effects.  Where both texts have the same metric
 * there are no effects: null, empty, and metrics take their place for people. */
#include "attn_ask.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/answers.h"
#include "base/err.h"
#include "base/num.h"
#include "base/size.h"
#include "picture/album.h"
#include "picture/look.h"
#include "sinks/grid.h"
#include "sinks/print.h"
#include "sinks/sink.h"
#include "text/label.h"

struct report {
    const struct attn_patch_report_opts *o;
    struct attn_patch_result r;
    bool effects;                       /* there are some; else metrics are shown */
};

static double shown(const struct report *p, const struct attn_patch_cell *c)
{
    return p->effects ? c->effect : c->metric;
}

/* ---- labels of rows and columns, as tokens are ---- */

/* Labels what lies on an axis: "L0", "H3", a token. */
static int label(struct attn_named *l, const struct report *p, size_t axis, size_t step, struct attn_err *err)
{
    size_t n = p->r.grid[axis];
    int rc = attn_named_new(l, n, err);
    for (size_t i = 0; i < n && !rc; i++) {
        int at = attn_grid_index(&p->r.cell[i * step], axis);
        if (axis == 2 && at >= 0)
            l->tokens.tok[i] = p->o->tokens->tok[at];
        else if (at < 0)
            attn_named_set(l, i, at, "all");
        else
            attn_named_set(l, i, at, "%c%d", axis ? 'H' : 'L', at);
    }
    return rc;
}

/* A grid of three axes is a matrix of heads x positions per layer; any other is one, of its first and last axis. */
struct matrices { size_t n, rows, cols, row_axis, col_axis; struct attn_named row, col; };

static int lay_out(struct matrices *m, const struct report *p, struct attn_err *err)
{
    const size_t *g = p->r.grid;
    bool all = p->r.over == (ATTN_OVER_LAYER | ATTN_OVER_HEAD | ATTN_OVER_POS);
    m->row_axis = all ? 1 : p->r.over == ATTN_OVER_POS ? 2 : 0;
    m->col_axis = p->r.over & ATTN_OVER_POS && m->row_axis != 2 ? 2 : m->row_axis == 2 ? 0 : 1;
    m->n = all ? g[0] : 1;
    m->rows = g[m->row_axis];
    m->cols = g[m->col_axis];
    size_t steps[] = {g[1] * g[2], g[2], 1};
    int rc = label(&m->row, p, m->row_axis, steps[m->row_axis], err);
    return rc ? rc : label(&m->col, p, m->col_axis, steps[m->col_axis], err);
}

static void free_matrices(struct matrices *m)
{
    attn_named_free(&m->row);
    attn_named_free(&m->col);
}

static void fill(float *to, const struct report *p, const struct matrices *m, size_t i)
{
    for (size_t k = 0; k < m->rows * m->cols; k++)
        to[k] = (float)shown(p, &p->r.cell[i * m->rows * m->cols + k]);
}

/* ---- for people ---- */

enum { TOKEN_MAX = 28, LARGEST = 5 };

static size_t widest(const struct attn_tokens *t, size_t least)
{
    for (size_t i = 0; i < t->n; i++) {
        struct attn_label l = attn_label_token(&t->tok[i], TOKEN_MAX);
        least = larger(least, l.columns);
    }
    return least;
}

/* Both texts, token beside token; * marks those that differ. */
static void print_texts(struct attn_out *o, const struct report *p)
{
    const struct attn_tokens *text = p->o->tokens, *from = p->o->from;
    size_t width = widest(text, strlen("text"));
    attn_paint(o, p->o->color, ATTN_DIM);
    attn_out_printf(o, "index    text%*s  from\n", (int)(width - strlen("text")), "");
    attn_paint(o, p->o->color, ATTN_PLAIN);
    for (size_t i = 0; i < text->n; i++) {
        bool differs = text->tok[i].id != from->tok[i].id;
        struct attn_label a = attn_label_token(&text->tok[i], TOKEN_MAX),
        b = attn_label_token(&from->tok[i], TOKEN_MAX);
        attn_out_printf(o, "%5zu  %s", i, differs ? "* " : "  ");
        attn_paint(o, p->o->color && differs, ATTN_BOLD);
        attn_label_left(o, &a, width);
        attn_label_pad(o, 2);
        attn_label_left(o, &b, b.columns);
        attn_paint(o, p->o->color && differs, ATTN_PLAIN);
        attn_out_char(o, '\n');
    }
}

static void put(struct attn_out *o, double x, int digits)
{
    char buf[ATTN_NUM_FIXED_MAX];
    attn_out_write(o, buf, attn_num_fixed(buf, x, digits));
}

/* Digits of a metric that show what the texts differ by. */
static int metric_digits(const struct report *p)
{
    const double apart = fabs(p->r.metric_from - p->r.metric_text);
    int digits = 4;
    for (double scaled = apart * 1e4; scaled > 0 && scaled < 100 && digits < 17; scaled *= 10)
        digits++;
    return digits;
}

static void put_metric(struct attn_out *o, const struct report *p, double x) { put(o, x, metric_digits(p)); }

static void name_cell(char text[64], const struct attn_patch_cell *c)
{
    size_t n = 0;
    *text = '\0';
    if (c->layer >= 0)
        n += (size_t)snprintf(text + n, 64 - n, "L%d", c->layer);
    if (c->head >= 0)
        n += (size_t)snprintf(text + n, 64 - n, "H%d", c->head);
    if (c->pos >= 0)
        snprintf(text + n, 64 - n, "%spos %d", n ? " " : "", c->pos);
}

enum { SIGN = 2 };                      /* columns for a blank and a sign, so that points stand below each other */

/* The cells that matter most, of those that are not listed before. */
static void print_largest(struct attn_out *o, const struct report *p)
{
    const struct attn_patch_cell *before = NULL;
    for (size_t k = 0; k < LARGEST; k++) {
        const struct attn_patch_cell *best = NULL;
        char name[64];
        for (const struct attn_patch_cell *c = p->r.cell; c < p->r.cell + p->r.n; c++) {
            double size = fabs(c->metric - p->r.metric_text), least = best ? fabs(best->metric - p->r.metric_text) : 0;
            double most = before ? fabs(before->metric - p->r.metric_text) : INFINITY;
            if (size > least && (size < most || (size == most && c > before)))
                best = c;
        }
        if (!best)
            break;
        if (!k)
            attn_out_printf(o, "\nlargest %s\n", p->effects ? "effects" : "changes");
        name_cell(name, best);
        attn_out_printf(o, "  %-12s", name);
        if (p->effects) {
            attn_out_right(o, SIGN + 5, best->effect, 3);
            attn_out_str(o, "  metric");
        }
        attn_out_right(o, SIGN + 3 + (size_t)metric_digits(p), best->metric, metric_digits(p));
        attn_out_char(o, '\n');
        before = best;
    }
}

static int print_matrices(struct attn_out *o, const struct report *p, struct attn_err *err)
{
    struct matrices m = {0};
    int rc = lay_out(&m, p, err);
    float *data = rc ? NULL : calloc(m.rows * m.cols + 1, sizeof *data);
    if (!rc && !data)
        rc = attn_no_memory(err, NULL, "for %zu x %zu numbers", m.rows, m.cols);
    for (size_t i = 0; i < m.n && !rc; i++) {
        fill(data, p, &m, i);
        attn_out_char(o, '\n');
        if (m.n > 1)
            attn_out_printf(o, "layer %d\n", p->r.cell[i * m.rows * m.cols].layer);
        struct attn_grid grid = {.data = data, .rows = m.rows, .cols = m.cols, .tokens = &m.row.tokens,
                                 .keys = &m.col.tokens,
                                 .precision = p->o->precision, .width = p->o->width, .color = p->o->color};
        attn_print_grid(o, &grid);
    }
    free(data);
    free_matrices(&m);
    return rc;
}

static int write_text(struct attn_out *o, const struct report *p, struct attn_err *err)
{
    print_texts(o, p);
    attn_out_str(o, attn_edits_count(p->o->edits) ? "\n" : "");
    attn_print_edits(o, p->o->edits);
    attn_out_printf(o, "\n%s = ", p->o->metric);
    put_metric(o, p, p->r.metric_text);
    attn_out_str(o, " for the text, ");
    put_metric(o, p, p->r.metric_from);
    attn_out_printf(o, " for the other\n\n%s of %s taken from the other text (%s)\n", p->effects ? "effects" :
                    "metrics", p->r.what, p->o->method);
    attn_out_str(o, p->effects ? "0: as without it; 1: as in the other text\n"
                 : "both texts have the same metric, so there are no effects\n");
    int rc = print_matrices(o, p, err);
    if (!rc)
        print_largest(o, p);
    return rc;
}

/* ---- for programs ---- */

static int write_json(struct attn_out *o, const struct report *p, struct attn_err *err)
{
    const struct attn_subject r = {.model = p->o->model, .tokens = p->o->tokens, .text = p->o->text,
                                   .text_len = p->o->text_len,
                                   .kind = p->o->kind, .edits = p->o->edits};
    struct attn_subject_job j;
    int rc = attn_subject_job(&j, &r, err);
    if (rc)
        return rc;
    return attn_grid_json(o, &j.job, &(struct attn_grid_doc){
        .from = p->o->from, .from_text = p->o->from_text, .from_len = p->o->from_len, .what = p->o->what,
        .method = p->o->method, .metric = p->o->metric, .result = &p->r}, "\n", err);
}

/* ---- pictures ---- */

static int draw(struct attn_out *o, const struct report *p, const char *format, struct attn_err *err)
{
    char title[320], said[320], across[64];
    struct attn_info info;
    struct attn_look look;
    struct matrices m = {0};
    attn_model_info(p->o->model, &info);
    static const char *const nouns[] = {"layers", "heads", "positions"};
    struct attn_album a = {.model = info.name, .text = p->o->text, .text_len = p->o->text_len,
                           .edits = p->o->edits};
    int rc = attn_format_look(&look, format, &p->o->picture, err);
    if (!rc)
        rc = lay_out(&m, p, err);
    look.width = p->o->width;
    a.queries = &m.row.tokens;
    a.keys = &m.col.tokens;
    snprintf(title, sizeof title, "%s of %s from the other text, %s", p->effects ? "effect" : "metric", p->r.what,
             attn_label_line(p->o->metric, strlen(p->o->metric), 80).text);
    snprintf(said, sizeof said, p->effects ? attn_tr(look.language, "effect of %s from the other text, %s")
             : attn_tr(look.language, "metric of %s from the other text, %s"), p->r.what,
             attn_label_line(p->o->metric, strlen(p->o->metric), 80).text);
    snprintf(across, sizeof across, " (rows: %s, columns: %s)", nouns[m.row_axis], m.cols > 1 ? nouns[m.col_axis] :
             "all");
    for (size_t i = 0; i < m.n && !rc; i++) {
        float *to = NULL;
        const struct attn_sheet sheet = {.kind = "effect", .title = title, .said = said, .axes = across,
                                         .n = 1, .rows = m.rows, .cols = m.cols,
                                         .keys = true, .numbered = true,
                                         .layer = m.n > 1 ? p->r.cell[i * m.rows * m.cols].layer : -1};
        rc = attn_album_add(&a, &sheet, &to, err);
        if (to)
            fill(to, p, &m, i);
    }
    if (!rc)
        rc = attn_album_link(&a, err);
    if (!rc)
        rc = attn_format_draw(o, format, &a, &look, err);
    attn_album_free(&a);
    free_matrices(&m);
    return rc;
}

/* ---- all of them ---- */

static int write_as(struct attn_out *o, const struct report *p, struct attn_err *err)
{
    const char *name = p->o->format ? p->o->format : "text";
    if (!strcmp(name, "text"))
        return write_text(o, p, err);
    if (!strcmp(name, "json"))
        return write_json(o, p, err);
    struct attn_column column[ATTN_GRID_COLUMNS];
    const struct attn_table rows = attn_grid_table(&p->r, column);
    if (attn_subject_is_table(name))
        return attn_table_write(o, &rows, name, err);
    int rc = attn_format_check(name, ATTN_FORMAT_TABLE | ATTN_FORMAT_PICTURE, err);
    return rc ? rc : draw(o, p, name, err);
}

int attn_patch_write_into(struct attn_out *to, const struct attn_patch *p, const struct attn_patch_report_opts *o,
                          struct attn_err *err)
{
    struct attn_out *out = NULL;
    struct report report = {.o = o};
    attn_patch_get(p, &report.r);
    report.effects = report.r.metric_from != report.r.metric_text;
    int rc = attn_out_open_into(&out, to, o->path, err);
    return rc ? rc : attn_out_end_into(out, to, write_as(out, &report, err), err);
}

int attn_patch_write(const struct attn_patch *p, const struct attn_patch_report_opts *o, struct attn_err *err)
{
    return attn_patch_write_into(NULL, p, o, err);
}
