/* diff.c - compares two dumps, name by name in the order of the forward pass. */
#include "compare/diff.h"
#include "attn_tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "trace/trace.h"

/* ---- names ----------------------------------------------------------------------------- */

/* Sorts: before the blocks, in the blocks, after them, unknown names. */
static int stage(const struct attn_diff_row *r)
{
    return r->act < 0 ? 3 : r->layer >= 0 ? 1 : r->act <= ATTN_ACT_POS_EMBED ? 0 : 2;
}

static int by_flow(const void *a, const void *b)
{
    const struct attn_diff_row *x = a, *y = b;
    if (stage(x) != stage(y))
        return stage(x) - stage(y);
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return x->act != y->act ? x->act - y->act : strcmp(x->name, y->name);
}

/* ---- numbers --------------------------------------------------------------------------- */

/* Removes leading axes of length one, such as a batch. */
static struct attn_array trim(const struct attn_array *x, int ndim)
{
    struct attn_array out = *x;
    while (out.ndim > ndim && out.shape[0] == 1) {
        memmove(out.shape, out.shape + 1, (size_t)--out.ndim * sizeof *out.shape);
        out.shape[out.ndim] = 0;
    }
    return out;
}

static bool same_shape(struct attn_array *a, struct attn_array *b)
{
    *a = trim(a, b->ndim);
    *b = trim(b, a->ndim);
    return a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape);
}

/* Different heads of one activation cannot be compared, just like different shapes. */
static bool same_heads(const struct attn_dumped *a, const struct attn_dumped *b)
{
    return !a->heads || !b->heads || (a->n_heads == b->n_heads && !memcmp(a->heads, b->heads, a->n_heads * sizeof *a->heads));
}

static struct attn_pair pair_of(const struct attn_array *a, const struct attn_array *b)
{
    size_t n = a->ndim > 0 ? a->shape[a->ndim - 1] : 1, T = a->ndim > 1 ? a->shape[a->ndim - 2] : 1, H = 1;
    for (int i = 0; i < a->ndim - 2; i++)
        H *= a->shape[i];
    return attn_pair_of(a->data, b->data, H, T, n);
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Maps floats in ascending order to whole numbers in ascending order. */
static int64_t rank(float x)
{
    uint32_t bits = bits_of(x);
    return bits >> 31 ? -(int64_t)(bits & INT32_MAX) - 1 : (int64_t)bits;
}

static bool equal(float a, float b, bool loose)
{
    return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b)) || (loose && !isfinite(a) && !isfinite(b));
}

static void note(struct attn_diff_row *row, const struct attn_diff_opts *o, size_t i, float a, float b)
{
    bool finite = isfinite(a) && isfinite(b), first = !row->max_ulp;
    double d = finite ? fabs((double)a - (double)b) : INFINITY;
    uint64_t ulp = isnan(a) || isnan(b) ? UINT32_MAX : (uint64_t)llabs(rank(a) - rank(b));
    row->differing += o->exact || !(d <= o->atol + o->rtol * fabs((double)b)) || !finite;
    row->max_ulp = ulp > row->max_ulp ? ulp : row->max_ulp;
    if (d > row->max_abs || first) {   /* 0 and -0 are no distance apart */
        row->max_abs = d;
        row->at[0] = i;                 /* a flat index, split up at the end */
        row->a = a;
        row->b = b;
    }
}

static void compare(struct attn_diff_row *row, const struct attn_pair *p, const struct attn_diff_opts *o, bool loose)
{
    double sum = 0, squares = 0, mean = 0, var = 0;
    size_t n = 0;
    row->count = p->H * p->T * p->n;
    for (size_t i = 0; i < row->count; i++) {
        float a = p->a[i], b = p->b[i];
        if (!equal(a, b, loose))
            note(row, o, i, a, b);
        if (!isfinite(a) || !isfinite(b))
            continue;
        double d = (double)a - (double)b, from = (double)b - mean;
        sum += fabs(d);
        squares += d * d;
        mean += from / (double)++n;     /* Welford: one pass, no cancellation */
        var += from * ((double)b - mean);
    }
    row->mean_abs = n ? sum / (double)n : 0;
    row->nmse = isinf(row->max_abs) ? NAN : squares == 0 ? 0 : squares / var;
    size_t at = row->at[0], head = p->T * p->n;
    if (head) {
        row->at[0] = at / head;
        row->at[1] = at % head / p->n;
        row->at[2] = at % p->n;
    }
    row->kind = row->differing ? ATTN_DIFF_NUMBERS : row->max_ulp ? ATTN_DIFF_CLOSE : ATTN_DIFF_SAME;
}

/* ---- rows ------------------------------------------------------------------------------ */

static void set_shape(struct attn_diff_row *row, int side, const struct attn_array *x)
{
    row->ndim[side] = x->ndim;
    memcpy(row->shape[side], x->shape, sizeof x->shape);
}

/* Fills a row for an array that only one side has: 0 is A. */
static void fill_alone(struct attn_diff_row *row, int side, const struct attn_dumped *x)
{
    *row = (struct attn_diff_row){.name = x->name, .kind = side == 0 ? ATTN_DIFF_ONLY_A : ATTN_DIFF_ONLY_B};
    row->act = attn_act_find(row->name, &row->layer);
    set_shape(row, side, &x->of);
}

static void fill_pair(struct attn_diff_row *row, const struct attn_dumped *a, const struct attn_dumped *b,
                      const struct attn_diff_opts *o)
{
    fill_alone(row, 0, a);
    if (row->act < 0) {                 /* with two lone files the other name may be the known one */
        row->name = b->name;
        row->act = attn_act_find(row->name, &row->layer);
    }
    set_shape(row, 1, &b->of);
    struct attn_array x = a->of, y = b->of;
    row->kind = ATTN_DIFF_SHAPE;
    if (!same_shape(&x, &y) || !same_heads(a, b))
        return;
    struct attn_pair p = pair_of(&x, &y);
    compare(row, &p, o, a->loose || b->loose);
}

/* The array of b that corresponds to one of a; two lone files need not have the same name. */
static const struct attn_dumped *counterpart(const struct attn_diff *d, const struct attn_dumped *a)
{
    return d->a->single && d->b->single ? &d->b->item[0] : attn_dump_find(d->b, a->name);
}

static size_t fill_rows(struct attn_diff *d)
{
    size_t common = 0;
    for (size_t i = 0; i < d->a->n; i++) {
        const struct attn_dumped *b = counterpart(d, &d->a->item[i]);
        if (b)
            fill_pair(&d->row[d->n++], &d->a->item[i], b, &d->o);
        else
            fill_alone(&d->row[d->n++], 0, &d->a->item[i]);
        common += b != NULL;
    }
    for (size_t i = 0; i < d->b->n && !(d->a->single && d->b->single); i++)
        if (!attn_dump_find(d->a, d->b->item[i].name))
            fill_alone(&d->row[d->n++], 1, &d->b->item[i]);
    qsort(d->row, d->n, sizeof *d->row, by_flow);
    for (d->first = 0; d->first < d->n; d->first++)
        if (d->row[d->first].kind == ATTN_DIFF_NUMBERS || d->row[d->first].kind == ATTN_DIFF_SHAPE)
            break;
    return common;
}

static const char *example(const struct attn_dump *d)
{
    return d->n ? d->item[0].name : "nothing";
}

int attn_diff_new(struct attn_diff **out, const struct attn_dump *a, const struct attn_dump *b,
                  const struct attn_diff_opts *o, struct attn_err *err)
{
    *out = NULL;
    struct attn_diff *d = calloc(1, sizeof *d);
    if (!d)
        return attn_no_memory(err, NULL, "to compare");
    *d = (struct attn_diff){.a = a, .b = b, .o = *o};
    d->row = calloc(a->n + b->n + 1, sizeof *d->row);
    int rc = ATTN_OK;
    if (!d->row)
        rc = attn_no_memory(err, NULL, "to compare %zu and %zu arrays", a->n, b->n);
    else if (!fill_rows(d))
        rc = attn_fail(err, ATTN_EFORMAT, "the two sides have no name in common: one has %zu arrays, such as '%s', the other "
                       "%zu, such as '%s'", a->n, example(a), b->n, example(b));
    else
        rc = attn_diff_explain(d, err);
    if (rc)
        attn_diff_free(d);
    else
        *out = d;
    return rc;
}

void attn_diff_free(struct attn_diff *d)
{
    if (!d)
        return;
    free(d->row);
    free(d->cause);
    free(d);
}

const struct attn_diff_row *attn_diff_rows(const struct attn_diff *d, size_t *n)
{
    *n = d->n;
    return d->row;
}

const struct attn_diff_row *attn_diff_first(const struct attn_diff *d)
{
    return d->first < d->n ? &d->row[d->first] : NULL;
}

const char *attn_diff_cause(const struct attn_diff *d, const char **kind)
{
    if (kind)
        *kind = d->kind;
    return d->cause;
}

bool attn_diff_pair(const struct attn_diff *d, int act, int layer, struct attn_pair *out)
{
    char name[ATTN_NAME_MAX];
    attn_act_name(name, act, layer);
    const struct attn_dumped *a = attn_dump_find(d->a, name), *b = attn_dump_find(d->b, name);
    if (d->a->single && d->b->single && d->row[0].act == act && d->row[0].layer == layer) {
        a = &d->a->item[0];
        b = &d->b->item[0];
    }
    if (!a || !b || !same_heads(a, b))
        return false;
    struct attn_array x = a->of, y = b->of;
    if (!same_shape(&x, &y) || !x.n)
        return false;
    *out = pair_of(&x, &y);
    return true;
}
