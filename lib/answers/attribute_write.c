/* attribute_write.c - the table of an attribution: its parts in the order of the forward pass, their sum beside the logit, and the
 * largest neurons. */
#include "answers/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/size.h"
#include "sinks/sink_csv.h"
#include "sinks/sink_json.h"
#include "sinks/print.h"
#include "text/label.h"

static struct attn_readout readout_of(const struct attn_attribution *a)
{
    return (struct attn_readout){a->model, a->tokens, a->o->text, a->o->text_len, a->o->kind, a->o->tokenizer, a->o->edits, false};
}

/* ---- for people ------------------------------------------------------------------------ */

enum { WIDEST = 40, DIGITS = 4, BAR = 40 };     /* columns of a token, digits after the point, columns of the longest bar */

static struct attn_label spell(const struct attn_attribution *a, int32_t id)
{
    struct attn_readout r = readout_of(a);
    struct attn_token t = attn_readout_spelled(&r, id);
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
static void print_part(struct attn_out *o, const struct attn_attribution *a, const struct layout *l, const struct attn_portion *p)
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
static int print_parts(struct attn_out *o, const struct attn_attribution *a, const struct layout *l, struct attn_err *err)
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

static void json_token(struct attn_out *o, const struct attn_readout *r, const char *name, const int32_t *id)
{
    attn_out_printf(o, ",\n\"%s\":", name);
    if (!id) {
        attn_out_str(o, "null");
        return;
    }
    attn_out_char(o, '{');
    attn_readout_token(o, r, *id);
    attn_out_char(o, '}');
}

/* last: "head", or "neuron". */
static void json_parts(struct attn_out *o, const char *name, const char *last, const struct attn_portion *p, size_t n)
{
    attn_out_printf(o, ",\n\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        attn_out_printf(o, "%s\n{\"name\":\"%s\",\"layer\":", i ? "," : "", p[i].name);
        attn_doc_index(o, p[i].layer);
        attn_out_printf(o, ",\"%s\":", last);
        attn_doc_index(o, p[i].head);
        attn_readout_member(o, "value", p[i].value);
        attn_out_char(o, '}');
    }
    attn_out_str(o, n ? "\n]" : "]");
}

static int write_json(struct attn_out *o, const struct attn_attribution *a, struct attn_err *err)
{
    struct attn_readout r = readout_of(a);
    int rc = attn_readout_begin(o, &r, err);
    if (rc)
        return rc;
    attn_out_printf(o, ",\n\"pos\":%zu", a->pos);
    json_token(o, &r, "target", &a->o->target);
    json_token(o, &r, "foil", a->o->foil);
    if (a->model->w.logit_cap != 0)     /* what `run` shows as the logit comes after it */
        attn_readout_member(o, "before_cap", (double)a->model->w.logit_cap);
    attn_readout_member(o, "sum", a->sum);
    attn_readout_member(o, "logit", a->logit);
    attn_readout_member(o, "remainder", a->logit - a->sum);
    json_parts(o, "neurons", "neuron", a->neuron, a->neurons);
    json_parts(o, "rows", "head", a->part, a->n);
    attn_out_str(o, "}\n");
    return ATTN_OK;
}

/* Neurons come after the parts; their layer and number are in their names, the column `head` is empty. */
static void table_rows(struct attn_out *o, const struct attn_portion *p, size_t n, bool heads)
{
    for (size_t i = 0; i < n; i++) {
        attn_out_printf(o, "%s,", p[i].name);
        if (p[i].layer >= 0)
            attn_out_u64(o, (uint64_t)p[i].layer);
        attn_out_char(o, ',');
        if (heads && p[i].head >= 0)
            attn_out_u64(o, (uint64_t)p[i].head);
        attn_out_char(o, ',');
        attn_cell_f64(o, p[i].value);
        attn_out_char(o, '\n');
    }
}

int attn_attribution_write(struct attn_out *o, const struct attn_attribution *a, struct attn_err *err)
{
    const char *format = a->o->format ? a->o->format : "text";
    if (!strcmp(format, "text"))
        return write_text(o, a, err);
    if (!strcmp(format, "json"))
        return write_json(o, a, err);
    attn_out_str(o, "name,layer,head,value\n");
    table_rows(o, a->part, a->n, true);
    table_rows(o, a->neuron, a->neurons, false);
    return ATTN_OK;
}
