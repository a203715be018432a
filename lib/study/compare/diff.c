/* diff.c - compares two dumps, name by name in the order of the forward pass. */
#include "compare/diff.h"
#include "attn_tools.h"
#include "compare/other_forms.h"
#include "compare/rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/grow.h"
#include "trace/trace.h"

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
    return !a->heads || !b->heads ||
           (a->n_heads == b->n_heads && !memcmp(a->heads, b->heads, a->n_heads * sizeof *a->heads));
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

/* What is known before any number is compared. */
static void begin_row(struct attn_diff_row *row, const struct attn_match *m)
{
    *row = (struct attn_diff_row){.name = m->name, .act = m->act, .layer = m->layer, .kind = ATTN_DIFF_SHAPE};
    if (!m->side[0] || !m->side[1])
        row->kind = m->side[0] ? ATTN_DIFF_ONLY_A : ATTN_DIFF_ONLY_B;
    for (int s = 0; s < 2; s++)
        if (m->side[s])
            set_shape(row, s, &m->side[s]->of);
}

/* Compares a reading of both sides; numbers are moved only where one side has them in another order. */
static int compare_read(struct attn_diff_row *row, const struct attn_match *m, const struct attn_heads_reading *r,
                        struct attn_diff *d, struct attn_err *err)
{
    const float *x[2] = {m->side[0]->of.data, m->side[1]->of.data};
    bool order = attn_reading_swaps(r) ? attn_reading_ours(m->act) : r->rows_first[0];
    float *moved = NULL;
    for (int s = 0; s < 2; s++)
        if (attn_reading_swaps(r) && attn_reading_moves(r, s, order)) {
            moved = malloc(m->side[s]->of.n * sizeof *moved);
            if (!moved)
                return attn_no_memory(err, NULL, "to compare %s", m->name);
            attn_reading_move(moved, x[s], r, s);
            x[s] = moved;
        }
    struct attn_pair p = attn_pair_of(x[0], x[1], order ? r->T : r->H, order ? r->H : r->T, r->w);
    compare(row, &p, &d->o, m->side[0]->loose || m->side[1]->loose);
    attn_reading_place(row->at, r, m->act, order);
    free(moved);
    return ATTN_OK;
}

/* Whether the second reading explains what the first leaves. */
static bool is_better(const struct attn_diff_row *second, const struct attn_diff_row *first)
{
    return second->differing < first->differing && (second->nmse == 0 || second->nmse <= 1e-2 * first->nmse);
}

static const char *order_name(bool rows_first)
{
    return rows_first ? "[tokens, heads, width]" : "[heads, tokens, width]";
}

static int note_reading(struct attn_match *m, struct attn_err *err)
{
    const struct attn_heads_reading *r = &m->reading;
    const char *start = "there are as many heads as tokens";
    int rc = attn_reading_swaps(r)
             ? attn_asprintf(&m->note, "%s, %zu: A was read as %s and B as %s, which agrees better", start, r->H,
                             order_name(r->rows_first[0]), order_name(r->rows_first[1]))
             : attn_asprintf(&m->note, "%s, %zu: both were read in the same order, which agrees better", start, r->H);
    return rc < 0 ? attn_no_memory(err, NULL, "for a note on %s", m->name) : ATTN_OK;
}

/* Where there are two readings the likelier one is taken unless the other explains what it leaves; the user is told
 * where the names and shapes of the arrays had not settled it. */
static int fill_read(struct attn_diff *d, struct attn_diff_row *row, struct attn_match *m,
                     const struct attn_heads_reading r[ATTN_READINGS], struct attn_err *err)
{
    struct attn_diff_row second = *row;
    m->reading = r[0];
    int rc = compare_read(row, m, &r[0], d, err);
    if (rc || m->readings < 2)
        return rc;
    bool plain = m->exact && !attn_reading_swaps(&r[0]);
    if (row->kind == ATTN_DIFF_NUMBERS) {
        rc = compare_read(&second, m, &r[1], d, err);
        if (!rc && is_better(&second, row)) {
            *row = second;
            m->reading = r[1];
            plain = false;
        }
    }
    return rc || plain ? rc : note_reading(m, err);
}

static int fill_row(struct attn_diff *d, struct attn_diff_row *row, struct attn_match *m, struct attn_err *err)
{
    begin_row(row, m);
    const struct attn_dumped *a = m->side[0], *b = m->side[1];
    if (!a || !b || !same_heads(a, b))
        return ATTN_OK;
    bool ours = attn_reading_ours(m->act);
    const bool rows_first[2] = {m->rows_first[0] || ours, m->rows_first[1] || ours};
    struct attn_heads_reading r[ATTN_READINGS];
    m->readings = attn_readings(r, &a->of, &b->of, m->act, rows_first, d->matches.tokens);
    if (m->readings)
        return fill_read(d, row, m, r, err);
    struct attn_array x = a->of, y = b->of;
    if (!same_shape(&x, &y))
        return ATTN_OK;
    struct attn_pair p = pair_of(&x, &y);
    compare(row, &p, &d->o, a->loose || b->loose);
    return ATTN_OK;
}

static int fill_rows(struct attn_diff *d, struct attn_err *err)
{
    int rc = ATTN_OK;
    d->n = d->matches.n;
    for (size_t i = 0; i < d->n && !rc; i++)
        rc = fill_row(d, &d->row[i], &d->matches.item[i], err);
    return rc;
}

void attn_diff_measure(const struct attn_diff *d, struct attn_diff_row *row)
{
    struct attn_match *m = &d->matches.item[row - d->row];
    struct attn_pair p;
    begin_row(row, m);
    if (attn_diff_pair(d, row->act, row->layer, &p))
        compare(row, &p, &d->o, m->side[0]->loose || m->side[1]->loose);
}

/* Numbers in another form are not those of the files, even if they agree. */
static void apply_forms(struct attn_diff *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->matches.item[i].form && d->row[i].kind == ATTN_DIFF_SAME)
            d->row[i].kind = ATTN_DIFF_CLOSE;
}

/* Where no limits are asked for, rounding is no difference. */
static void apply_rounding(struct attn_diff *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct attn_diff_row *row = &d->row[i];
        if (row->act < 0 || row->act >= ATTN_ACT_DERIVED || row->kind > ATTN_DIFF_NUMBERS)
            continue;
        row->differing = row->beyond;
        row->kind = row->beyond ? ATTN_DIFF_NUMBERS : row->max_ulp ? ATTN_DIFF_CLOSE : ATTN_DIFF_SAME;
    }
}

static size_t first_that_differs(const struct attn_diff *d)
{
    size_t i = 0;
    while (i < d->n && d->row[i].kind != ATTN_DIFF_NUMBERS && d->row[i].kind != ATTN_DIFF_SHAPE)
        i++;
    return i;
}

static const char *example(const struct attn_dump *d)
{
    return d->n ? d->item[0].name : "nothing";
}

static int compare_all(struct attn_diff *d, struct attn_err *err)
{
    const struct attn_dump *a = d->a, *b = d->b;
    int rc = attn_matches_of(&d->matches, a, b, d->o.naming, err);
    if (rc)
        return rc;
    if (!d->matches.common)
        return attn_fail(err, ATTN_EFORMAT, "the two sides have no name in common: one has %zu arrays, such as '%s', "
                                            "the other %zu, such as '%s'%s", a->n, example(a), b->n, example(b),
                         d->o.naming ? "" :
                         "; --map NAME=ACTIVATION says which activation an array is");
    d->row = calloc(d->matches.n + 1, sizeof *d->row);
    d->moved = calloc(1, sizeof *d->moved);
    if (!d->row || !d->moved)
        return attn_no_memory(err, NULL, "to compare %zu and %zu arrays", a->n, b->n);
    rc = fill_rows(d, err);
    if (!rc && !attn_rounding_judge(d))
        rc = attn_no_memory(err, NULL, "to judge what differs");
    if (!rc && !d->o.exact)
        rc = attn_forms_find(d, err);
    if (rc)
        return rc;
    if (d->o.rounding && !d->o.exact)
        apply_rounding(d);
    apply_forms(d);
    d->first = first_that_differs(d);
    return attn_diff_explain(d, err);
}

int attn_diff_new(struct attn_diff **out, const struct attn_dump *a, const struct attn_dump *b,
                  const struct attn_diff_opts *o, struct attn_err *err)
{
    *out = NULL;
    struct attn_diff *d = calloc(1, sizeof *d);
    if (!d)
        return attn_no_memory(err, NULL, "to compare");
    *d = (struct attn_diff){.a = a, .b = b, .o = *o};
    int rc = compare_all(d, err);
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
    if (d->moved) {
        attn_diff_forget_moved(d);
        free(d->moved->item);
    }
    free(d->moved);
    attn_matches_free(&d->matches);
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

bool attn_diff_is_rounding(const struct attn_diff_row *row)
{
    return row->act >= 0 && row->act < ATTN_ACT_DERIVED && row->max_ulp && row->kind <= ATTN_DIFF_NUMBERS &&
           !row->beyond;
}

/* Where only one side has a first axis it is a batch of one, no head; but ports have heads of some within the rows. */
bool attn_diff_square(const struct attn_diff_row *row) { return row->act >= 0 && attn_act_square(row->act); }

bool attn_diff_has_heads(const struct attn_diff_row *row)
{
    bool a = row->ndim[0] > 2, b = row->ndim[1] > 2;
    switch (row->act) {
    case ATTN_ACT_Q: case ATTN_ACT_K: case ATTN_ACT_V: case ATTN_ACT_RESULT: return a || b;
    case ATTN_ACT_CONTEXT:                                                   return false;
    default:                                                                 return a && b;
    }
}

struct attn_diff_counts attn_diff_count(const struct attn_diff *d)
{
    struct attn_diff_counts c = {0};
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_diff_row *row = &d->row[i];
        c.compared += row->kind <= ATTN_DIFF_SHAPE;
        c.differ += row->kind == ATTN_DIFF_NUMBERS || row->kind == ATTN_DIFF_SHAPE;
        c.close += row->kind == ATTN_DIFF_CLOSE;
        c.rounding += attn_diff_is_rounding(row);
    }
    return c;
}

const char *attn_diff_name(const struct attn_diff *d, const struct attn_diff_row *row, int side)
{
    const struct attn_dumped *x = d->matches.item[row - d->row].side[side];
    return x ? x->name : NULL;
}

const char *attn_diff_note(const struct attn_diff *d, const struct attn_diff_row *row)
{
    return d->matches.item[row - d->row].note;
}

const char *attn_diff_form(const struct attn_diff *d, const struct attn_diff_row *row, int *side)
{
    static const char *const names[] = {
        [ATTN_FORM_CENTRED] = "centred", [ATTN_FORM_FOLDED] = "folded", [ATTN_FORM_MOVED] = "moved",
        [ATTN_FORM_SHIFTED] = "shifted", [ATTN_FORM_MASK] = "mask"};
    const struct attn_match *m = &d->matches.item[row - d->row];
    if (side)
        *side = m->formed;
    return names[m->form];
}

const char *attn_diff_rounded_to(const struct attn_diff *d)
{
    return d->rounded_to;
}

const char *attn_diff_cause(const struct attn_diff *d, const char **kind)
{
    if (kind)
        *kind = d->kind;
    return d->cause;
}

const struct attn_diff_near *attn_diff_nearest(const struct attn_diff *d) { return d->nearest; }

/* ---- pairs ----------------------------------------------------------------------------- */

static const float *find_copy(const struct attn_diff *d, const struct attn_dumped *of, enum attn_form_kind form)
{
    for (size_t i = 0; i < d->moved->n; i++)
        if (d->moved->item[i].of == of && d->moved->item[i].form == form)
            return d->moved->item[i].data;
    return NULL;
}

/* Room for the numbers of a side, as long as d lives; NULL: there is no memory. */
static float *add_copy(const struct attn_diff *d, const struct attn_dumped *of, enum attn_form_kind form)
{
    struct attn_diff_moved *to = d->moved;
    struct attn_diff_copy *more = attn_grow(to->item, &to->room, to->n + 1, sizeof *more);
    float *data = more ? malloc(of->of.n * sizeof *data + 1) : NULL;
    if (more)
        to->item = more;
    if (data)
        to->item[to->n++] = (struct attn_diff_copy){of, form, data};
    return data;
}

/* The numbers of a side in the order of our own arrays; NULL: there is no memory. */
static const float *in_our_order(const struct attn_diff *d, const struct attn_match *m, int side)
{
    const struct attn_dumped *x = m->side[side];
    if (!attn_reading_moves(&m->reading, side, attn_reading_ours(m->act)))
        return x->of.data;
    const float *made = find_copy(d, x, ATTN_FORM_NONE);
    float *data = made ? NULL : add_copy(d, x, ATTN_FORM_NONE);
    if (data)
        attn_reading_move(data, x->of.data, &m->reading, side);
    return made ? made : data;
}

/* The same pair in the form that its match has: forms whose sides meet in the middle change both. */
static bool in_form(const struct attn_diff *d, const struct attn_match *m, struct attn_pair *p)
{
    const float *x[2] = {p->a, p->b};
    bool both = m->form == ATTN_FORM_CENTRED || m->form == ATTN_FORM_MASK;
    for (int side = 0; side < 2; side++) {
        if (!both && side != m->formed)
            continue;
        if (!(x[side] = find_copy(d, m->side[side], m->form))) {
            float *data = add_copy(d, m->side[side], m->form);
            if (!data)
                return false;
            attn_form_numbers(data, p, m, side);
            x[side] = data;
        }
    }
    p->a = x[0], p->b = x[1];
    return true;
}

static const struct attn_match *find_match(const struct attn_diff *d, int act, int layer)
{
    for (size_t i = attn_matches_find(&d->matches, act, layer); i < d->matches.n; i++) {
        const struct attn_match *m = &d->matches.item[i];
        if (m->act != act || m->layer != layer)
            break;
        if (m->side[0] && m->side[1])
            return m;
    }
    return NULL;
}

bool attn_diff_has(const struct attn_diff *d, int act, int layer)
{
    size_t i = attn_matches_find(&d->matches, act, layer);
    return i < d->matches.n && d->matches.item[i].act == act && d->matches.item[i].layer == layer;
}

void attn_diff_forget_moved(const struct attn_diff *d)
{
    while (d->moved->n)
        free(d->moved->item[--d->moved->n].data);
}

bool attn_diff_is_loose(const struct attn_diff *d, const struct attn_diff_row *row)
{
    const struct attn_match *m = &d->matches.item[row - d->row];
    return m->side[0]->loose || m->side[1]->loose;
}

static bool pair_of_match(const struct attn_diff *d, const struct attn_match *m, struct attn_pair *out)
{
    if (!m->side[0] || !m->side[1] || !same_heads(m->side[0], m->side[1]))
        return false;
    if (m->readings) {
        const float *a = in_our_order(d, m, 0), *b = in_our_order(d, m, 1);
        if (a && b)
            *out = attn_reading_pair(&m->reading, m->act, a, b);
        return a && b && (!m->form || in_form(d, m, out));
    }
    struct attn_array x = m->side[0]->of, y = m->side[1]->of;
    if (!same_shape(&x, &y) || !x.n)
        return false;
    *out = pair_of(&x, &y);
    return !m->form || in_form(d, m, out);
}

bool attn_diff_pair(const struct attn_diff *d, int act, int layer, struct attn_pair *out)
{
    const struct attn_match *m = find_match(d, act, layer);
    return m && pair_of_match(d, m, out);
}

bool attn_diff_pair_of(const struct attn_diff *d, const struct attn_diff_row *row, struct attn_pair *out)
{
    return pair_of_match(d, &d->matches.item[row - d->row], out);
}

/* Of one side alone. */
static bool alone(const struct attn_match *m, struct attn_pair *out)
{
    const struct attn_dumped *only = m->side[0] ? m->side[0] : m->side[1];
    struct attn_array x = trim(&only->of, 2);
    if (x.ndim != 2 || !x.n)
        return false;
    *out = pair_of(&x, &x);
    if (!m->side[0])
        out->a = NULL;
    else
        out->b = NULL;
    return true;
}

bool attn_diff_either(const struct attn_diff *d, int act, int layer, struct attn_pair *out)
{
    if (attn_diff_pair(d, act, layer, out))
        return out->H == 1;
    size_t i = attn_matches_find(&d->matches, act, layer);
    const struct attn_match *m = i < d->matches.n ? &d->matches.item[i] : NULL;
    bool one = m && m->act == act && m->layer == layer && !m->side[0] != !m->side[1];
    return one && alone(m, out);
}

bool attn_diff_unmoved(const struct attn_diff *d, int act, int layer, struct attn_pair *out)
{
    const struct attn_match *m = find_match(d, act, layer);
    if (!m || !m->readings || !attn_reading_swaps(&m->reading))
        return false;
    *out = attn_pair_of(m->side[0]->of.data, m->side[1]->of.data, 1, 1, m->side[0]->of.n);
    return true;
}

const struct attn_dumped *attn_diff_side(const struct attn_diff *d, const struct attn_diff_row *row, int side)
{
    return d->matches.item[row - d->row].side[side];
}
