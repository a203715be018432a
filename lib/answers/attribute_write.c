/* attribute_write.c - the table of an attribution: its parts in the order of the forward pass, their sum beside the
 * logit, and the largest neurons. */
#include "answers/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/size.h"
#include "sinks/sink_json.h"
#include "sinks/print.h"
#include "table/columns.h"
#include "text/label.h"

static struct attn_subject readout_of(const struct attn_attribution *a)
{
    return (struct attn_subject){a->model, a->tokens, a->o->text, a->o->text_len, a->o->kind, a->o->tokenizer,
                                 a->o->edits, false};
}

/* ---- for people ------------------------------------------------------------------------ */

enum { WIDEST = 40, DIGITS = 4, BAR = 40 };     /* columns of a token, digits after the point, columns of the longest
                                                 * bar */

static struct attn_label spell(const struct attn_attribution *a, int32_t id)
{
    struct attn_subject r = readout_of(a);
    struct attn_token t = attn_subject_spelled(&r, id);
    return attn_label_token(&t, WIDEST);
}

struct layout { size_t name, value; double largest; };  /* columns; the largest size */

static void widen(struct layout *l, const struct attn_portion *p, size_t n)
{
    char buf[ATTN_NUM_FIXED_MAX];
    for (size_t i = 0; i < n; i++) {
        l->name = larger(l->name, strlen(p[i].name));
        l->value = larger(l->value, attn_num_fixed(buf, p[i].value, DIGITS));
        l->largest = fmax(l->largest, fabs(p[i].value));
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

/* Bars grow to the right; those of negative values are lighter. */
static void print_part(struct attn_out *o, const struct attn_attribution *a, const struct layout *l,
                       const struct attn_portion *p)
{
    size_t room = a->o->width > 0 ? (size_t)a->o->width : l->name + l->value + 4 + BAR, used = l->name + l->value + 4;
    double most = (double)smaller(BAR, room > used ? room - used : 0);
    print_value(o, l, p->name, p->value);
    attn_out_str(o, a->o->bars ? "  " : "");
    for (long i = 0; a->o->bars && isfinite(p->value) && i < lround(most * fabs(p->value) / l->largest); i++)
        attn_out_str(o, p->value < 0 ? "░" : "█");
    attn_out_char(o, '\n');
}

static void print_title(struct attn_out *o, const struct attn_attribution *a)
{
    struct attn_label target = spell(a, a->o->target), at = attn_label_token(&a->tokens->tok[a->pos], WIDEST);
    attn_paint(o, a->o->color, ATTN_BOLD);
    attn_out_printf(o, "logit of %s", target.text);
    if (a->o->foil) {
        struct attn_label foil = spell(a, *a->o->foil);
        attn_out_printf(o, " minus that of %s", foil.text);
    }
    attn_out_printf(o, " after %s (position %zu)", at.text, a->pos);
    if (a->model->w.logit_cap != 0)
        attn_out_printf(o, ", before the cap of %g", (double)a->model->w.logit_cap);
    attn_paint(o, a->o->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
    attn_print_edits(o, a->o->edits);
}

/* The parts, or the largest of them with what the others add up to. */
static int print_parts(struct attn_out *o, const struct attn_attribution *a, const struct layout *l,
                       struct attn_err *err)
{
    size_t top = a->o->top ? smaller(a->o->top, a->n) : a->n;
    struct attn_portion *sorted = malloc(a->n * sizeof *sorted);
    double rest = 0;
    if (!sorted)
        return attn_no_memory(err, NULL, "to sort %zu parts", a->n);
    memcpy(sorted, a->part, a->n * sizeof *sorted);
    if (top < a->n)
        qsort(sorted, a->n, sizeof *sorted, attn_portion_by_size);
    for (size_t i = 0; i < a->n; i++) {
        if (i < top)
            print_part(o, a, l, &sorted[i]);
        else
            rest += sorted[i].value;
    }
    if (top < a->n) {
        print_value(o, l, "others", rest);
        attn_out_char(o, '\n');
    }
    free(sorted);
    return ATTN_OK;
}

static int write_text(struct attn_out *o, const struct attn_attribution *a, struct attn_err *err)
{
    const struct attn_portion sums[] = {{.name = "remainder"}, {.value = a->sum}, {.value = a->logit}};
    struct layout l = {0};
    widen(&l, sums, sizeof sums / sizeof *sums);
    l.largest = 0;                      /* bars compare parts, not their sum */
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

int attn_attribution_write(struct attn_out *o, const struct attn_attribution *a, struct attn_err *err)
{
    const char *format = a->o->format ? a->o->format : "text";
    if (!strcmp(format, "text"))
        return write_text(o, a, err);
    if (!strcmp(format, "json"))
        return write_json(o, a, err);
    const struct attn_table all = {.column = parts, .columns = COLUMNS, .rows = a->n + a->neurons, .row = fill,
                                   .self = a};
    return attn_table_write(o, &all, format, err);
}
