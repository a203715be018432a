/* attribute_write.c - the table of an attribution: its parts in the order of the forward pass, their sum beside the
 * logit, and the largest neurons. */
#include "answers/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn_tools.h"
#include "base/err.h"
#include "base/format.h"
#include "base/num.h"
#include "base/size.h"
#include "sinks/sink_json.h"
#include "picture/look.h"
#include "sinks/print.h"
#include "sinks/sink.h"
#include "table/columns.h"
#include "text/label.h"

static struct attn_subject readout_of(const struct attn_attribution *a)
{
    return (struct attn_subject){a->model, a->tokens, a->o->text, a->o->text_len, a->o->kind, a->o->tokenizer,
                                 a->o->edits, false};
}

/* ---- for people ------------------------------------------------------------------------ */

enum { WIDEST = 40, DIGITS = 4, BAR = 40 };     /* columns of a token; digits after the point; the longest bar */

static struct attn_label spell(const struct attn_attribution *a, int32_t id)
{
    struct attn_subject r = readout_of(a);
    struct attn_token t = attn_subject_spelled(&r, id);
    return attn_label_token(&t, WIDEST);
}

/* columns; the largest number below 0 and above it, as magnitudes */
struct layout { size_t name, value; double below, above; };

static void widen(struct layout *l, const struct attn_portion *p, size_t n)
{
    char buf[ATTN_NUM_FIXED_MAX];
    for (size_t i = 0; i < n; i++) {
        l->name = larger(l->name, strlen(p[i].name));
        l->value = larger(l->value, attn_num_fixed(buf, p[i].value, DIGITS));
        l->below = fmax(l->below, -p[i].value);
        l->above = fmax(l->above, p[i].value);
    }
}

static void print_value(struct attn_out *o, const struct layout *l, const char *name, double value)
{
    char buf[ATTN_NUM_FIXED_MAX];
    size_t n = attn_num_fixed(buf, value, DIGITS);
    attn_out_str(o, name);
    attn_label_pad(o, l->name - smaller(l->name, strlen(name)) + 2 + l->value - smaller(l->value, n));
    attn_out_write(o, buf, n);
}

static void print_cells(struct attn_out *o, size_t n, const char *cell)
{
    while (n-- > 0)
        attn_out_str(o, cell);
}

/* From a common line at 0, those below it to the left and lighter. */
static void print_bar(struct attn_out *o, const struct attn_attribution *a, const struct layout *l, double value)
{
    size_t used = l->name + l->value + 5, room = a->o->width > 0 ? (size_t)a->o->width : used + BAR;
    double most = (double)smaller(BAR, room > used ? room - used : 0), all = l->below + l->above;
    size_t left = all > 0 ? (size_t)lround(most * l->below / all) : 0;
    size_t n = isfinite(value) && all > 0 ? (size_t)lround(most * fabs(value) / all) : 0;
    attn_out_str(o, "  ");
    attn_label_pad(o, left - (value < 0 ? smaller(n, left) : 0));
    if (value < 0)
        print_cells(o, smaller(n, left), "░");
    if (left)
        attn_out_str(o, "│");
    if (value >= 0)
        print_cells(o, n, "█");
}

static void print_part(struct attn_out *o, const struct attn_attribution *a, const struct layout *l,
                       const struct attn_portion *p)
{
    print_value(o, l, p->name, p->value);
    if (a->o->bars)
        print_bar(o, a, l, p->value);
    attn_out_char(o, '\n');
}

enum { TITLE = 3 * sizeof(struct attn_label) + 96 };

static void make_title(char title[TITLE], const struct attn_attribution *a)
{
    struct attn_label target = spell(a, a->o->target), foil = {.text = ""},
    at = attn_label_token(&a->tokens->tok[a->pos], WIDEST);
    if (a->o->foil)
        foil = spell(a, *a->o->foil);
    int n = snprintf(title, TITLE, "logit of %s%s%s after %s (position %zu)", target.text,
                     a->o->foil ? " minus that of " : "", foil.text, at.text, a->pos);
    if (a->model->w.logit_cap != 0)
        attn_snprintf(title + n, TITLE - (size_t)n, ", before the cap of %g", (double)a->model->w.logit_cap);
}

static void print_title(struct attn_out *o, const struct attn_attribution *a)
{
    char title[TITLE];
    make_title(title, a);
    attn_paint(o, a->o->color, ATTN_BOLD);
    attn_out_str(o, title);
    attn_paint(o, a->o->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
    attn_print_edits(o, a->o->edits);
}

/* The parts in order, or the largest of them and, of the others, the sum. */
static int choose_parts(struct attn_portion **out, size_t *n, double *rest, const struct attn_attribution *a,
                        struct attn_err *err)
{
    struct attn_portion *sorted = *out = malloc((a->n + 1) * sizeof *sorted);
    *n = a->o->top ? smaller(a->o->top, a->n) : a->n;
    *rest = 0;
    if (!sorted)
        return attn_no_memory(err, NULL, "to sort %zu parts", a->n);
    memcpy(sorted, a->part, a->n * sizeof *sorted);
    if (*n < a->n)
        qsort(sorted, a->n, sizeof *sorted, attn_portion_by_size);
    for (size_t i = *n; i < a->n; i++)
        *rest += sorted[i].value;
    return ATTN_OK;
}

static int print_parts(struct attn_out *o, const struct attn_attribution *a, const struct layout *l,
                       struct attn_err *err)
{
    struct attn_portion *part;
    size_t n;
    double rest;
    int rc = choose_parts(&part, &n, &rest, a, err);
    for (size_t i = 0; i < n && !rc; i++)
        print_part(o, a, l, &part[i]);
    if (!rc && n < a->n) {
        print_value(o, l, "others", rest);
        attn_out_char(o, '\n');
    }
    free(part);
    return rc;
}

static int write_text(struct attn_out *o, const struct attn_attribution *a, struct attn_err *err)
{
    const struct attn_portion sums[] = {{.name = "remainder"}, {.value = a->sum}, {.value = a->logit}};
    struct layout l = {0};
    widen(&l, sums, sizeof sums / sizeof *sums);
    l.below = l.above = 0;              /* bars compare parts, not their sum */
    widen(&l, a->part, a->n);
    widen(&l, a->neuron, a->neurons);
    print_title(o, a);
    int rc = print_parts(o, a, &l, err);
    if (rc)
        return rc;
    attn_out_char(o, '\n');
    print_value(o, &l, "sum", a->sum);
    attn_out_char(o, '\n');
    print_value(o, &l, "logit", a->logit);
    attn_out_char(o, '\n');
    attn_out_str(o, "remainder");
    attn_label_pad(o, l.name - strlen("remainder"));
    if (isfinite(a->logit - a->sum))
        attn_out_printf(o, "  %.1e\n", a->logit - a->sum);
    else
        attn_out_str(o, "  none: the logit or the sum is NaN or infinite\n");
    if (!a->neurons)
        return ATTN_OK;
    attn_out_char(o, '\n');
    attn_paint(o, a->o->color, ATTN_BOLD);
    attn_out_printf(o, "largest of the neurons, which are parts of the MLPs");
    attn_paint(o, a->o->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
    for (size_t i = 0; i < a->neurons; i++)
        print_part(o, a, &l, &a->neuron[i]);
    return ATTN_OK;
}

/* ---- for programs ---------------------------------------------------------------------- */

static void json_token(struct attn_out *o, const struct attn_subject *r, const char *name, const int32_t *id)
{
    attn_out_printf(o, ",\n\"%s\":", name);
    if (!id) {
        attn_out_str(o, "null");
        return;
    }
    attn_out_char(o, '{');
    attn_subject_token(o, r, *id);
    attn_out_char(o, '}');
}

static void put_portion(struct attn_datum *cell, const struct attn_portion *p, bool head)
{
    cell[0] = attn_datum_str(p->name);
    cell[1] = attn_datum_index(p->layer);
    if (head)
        cell[2] = attn_datum_index(p->head);
    cell[3] = attn_datum_number(p->value);
}

/* Neurons come after the parts; their layer and number are in their names, the column `head` is empty. */
static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_attribution *a = self;
    put_portion(cell, i < a->n ? &a->part[i] : &a->neuron[i - a->n], i < a->n);
}

static void fill_neuron(struct attn_datum *cell, const void *self, size_t i)
{
    put_portion(cell, &((const struct attn_attribution *)self)->neuron[i], true);
}

enum { COLUMNS = 4 };
static const struct attn_column parts[COLUMNS] = {
    {.name = "name"}, {.name = "layer", .kind = ATTN_COLUMN_WHOLE}, {.name = "head", .kind = ATTN_COLUMN_WHOLE},
    {.name = "value", .kind = ATTN_COLUMN_REAL, .digits = DIGITS}};
static const struct attn_column neurons[COLUMNS] = {
    {.name = "name"}, {.name = "layer", .kind = ATTN_COLUMN_WHOLE}, {.name = "neuron", .kind = ATTN_COLUMN_WHOLE},
    {.name = "value", .kind = ATTN_COLUMN_REAL, .digits = DIGITS}};

static int write_json(struct attn_out *o, const struct attn_attribution *a, struct attn_err *err)
{
    struct attn_subject r = readout_of(a);
    int rc = attn_subject_begin(o, &r, err);
    if (rc)
        return rc;
    attn_out_printf(o, ",\n\"pos\":%zu", a->pos);
    json_token(o, &r, "target", &a->o->target);
    json_token(o, &r, "foil", a->o->foil);
    if (a->model->w.logit_cap != 0)     /* what `run` shows as the logit comes after it */
        attn_subject_member(o, "before_cap", (double)a->model->w.logit_cap);
    attn_subject_member(o, "sum", a->sum);
    attn_subject_member(o, "logit", a->logit);
    attn_subject_member(o, "remainder", a->logit - a->sum);
    const struct attn_table of_neurons = {.column = neurons, .columns = COLUMNS, .rows = a->neurons, .row = fill_neuron,
                                          .self = a};
    const struct attn_table rows = {.column = parts, .columns = COLUMNS, .rows = a->n, .row = fill, .self = a};
    attn_out_str(o, ",\n\"neurons\":[");
    rc = attn_table_objects(o, &of_neurons, "\n", "\n", err);
    attn_out_printf(o, "%s],\n\"rows\":[", a->neurons ? "\n" : "");
    if (!rc)
        rc = attn_table_objects(o, &rows, "\n", "\n", err);
    attn_out_str(o, a->n ? "\n]}\n" : "]}\n");
    return rc;
}

/* ---- a picture: signed bars ------------------------------------------------------------ */

/* The parts, the others, the neurons. */
static int add_bars(struct attn_album *album, struct attn_named *names, const struct attn_attribution *a,
                    const char *title, struct attn_err *err)
{
    struct attn_portion *part;
    size_t n;
    double rest;
    float *to = NULL;
    int rc = choose_parts(&part, &n, &rest, a, err);
    bool others = n < a->n;
    const struct attn_sheet sheet = {.kind = "parts", .title = title, .axes = "", .layer = -1, .n = 1,
                                     .rows = n + others + a->neurons, .cols = 1};
    if (!rc)
        rc = attn_named_new(names, sheet.rows, err);
    if (!rc)
        rc = attn_album_add(album, &sheet, &to, err);
    for (size_t i = 0; i < sheet.rows && !rc; i++) {
        const struct attn_portion *p = i < n ? &part[i] : &a->neuron[i - smaller(i, n + others)];
        bool is_rest = others && i == n;
        attn_named_set(names, i, (int32_t)i, "%s", is_rest ? "others" : p->name);
        to[i] = (float)(is_rest ? rest : p->value);
    }
    free(part);
    return rc;
}

static int draw(struct attn_out *o, const struct attn_attribution *a, const char *format, struct attn_err *err)
{
    static const struct attn_picture_opts defaults;
    char title[TITLE];
    struct attn_look look;
    struct attn_named names = {.name = NULL};
    struct attn_album album = {.model = a->model->source.name, .text = a->o->text, .text_len = a->o->text_len,
                               .edits = a->o->edits, .queries = &names.tokens};
    make_title(title, a);
    int rc = attn_format_look(&look, format, a->o->picture ? a->o->picture : &defaults, err);
    look.figure = &attn_figure_bars;
    if (!rc)
        rc = add_bars(&album, &names, a, title, err);
    if (!rc)
        rc = attn_album_link(&album, err);
    if (!rc)
        rc = attn_format_draw(o, format, &album, &look, err);
    attn_album_free(&album);
    attn_named_free(&names);
    return rc;
}

int attn_attribution_write(struct attn_out *o, const struct attn_attribution *a, struct attn_err *err)
{
    const char *format = a->o->format ? a->o->format : "text";
    if (!strcmp(format, "text"))
        return write_text(o, a, err);
    if (!strcmp(format, "json"))
        return write_json(o, a, err);
    const struct attn_table all = {.column = parts, .columns = COLUMNS, .rows = a->n + a->neurons, .row = fill,
                                   .self = a};
    return attn_table_writes(format) ? attn_table_write(o, &all, format, err) : draw(o, a, format, err);
}
