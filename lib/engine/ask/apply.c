/* apply.c - does what an edit says to one row.  Numbers are computed in double and rounded once, so that x * 1, x + 0
 * and a number that is set are exact. */
#include "ask/editor.h"

#include "base/elementary.h"
#include "base/size.h"
#include "base/splitmix.h"

#include <math.h>

static double result(enum attn_edit_op op, double x, double v)
{
    switch (op) {
    case ATTN_EDIT_SET:      break;
    case ATTN_EDIT_ADD:      return x + v;
    case ATTN_EDIT_SUBTRACT: return x - v;
    case ATTN_EDIT_TIMES:    return x * v;
    }
    return v;
}

static void with_constant(const struct attn_edited_row *r, double v)
{
    for (size_t i = 0; i < r->cells; i++)
        for (size_t k = r->cell[i].lo; k < r->cell[i].hi; k++)
            r->x[k] = (float)result(r->edit->op, (double)r->x[k], v);
}

static void with_source(const struct attn_edited_row *r, double factor, struct attn_range within)
{
    for (size_t i = 0; i < r->cells; i++)
        for (size_t k = larger(r->cell[i].lo, within.lo); k < smaller(r->cell[i].hi, within.hi); k++)
            r->x[k] = (float)result(r->edit->op, (double)r->x[k], factor * (double)r->given[k]);
}

/* A standard normal number, by Box and Muller, from the two numbers that splitmix64 gives first. */
static double normal(uint64_t seed)
{
    const double tau = 6.283185307179586;
    double u = attn_splitmix_unit(attn_splitmix_next(&seed)), v = attn_splitmix_unit(attn_splitmix_next(&seed));
    return sqrt(-2 * attn_log(1 - u)) * attn_cos(tau * v);
}

/* The seed of a number depends on its place alone, so noise is the same for any number of threads and in any batch. */
static void with_noise(const struct attn_edited_row *r, double sigma)
{
    uint64_t seed = attn_splitmix(r->edit->value.seed + (uint64_t)(int64_t)r->layer);
    seed = attn_splitmix(attn_splitmix(seed + r->head) + r->t);
    for (size_t i = 0; i < r->cells; i++)
        for (size_t k = r->cell[i].lo; k < r->cell[i].hi; k++)
            r->x[k] = (float)result(r->edit->op, (double)r->x[k], sigma * normal(attn_splitmix(seed + k)));
}

static const struct attn_range everywhere = {0, SIZE_MAX};

/* Subtracts the component along the source's row: x - (x.s / s.s) s, in the edited columns alone. */
static void without_direction_in(const struct attn_edited_row *r, struct attn_range within)
{
    double xs = 0, ss = 0;
    for (size_t i = 0; i < r->cells; i++)
        for (size_t k = larger(r->cell[i].lo, within.lo); k < smaller(r->cell[i].hi, within.hi); k++) {
            xs += (double)r->x[k] * (double)r->given[k];
            ss += (double)r->given[k] * (double)r->given[k];
        }
    if (ss > 0)
        with_source(r, xs / ss, within);        /* the operation is -= */
}

/* Heads side by side have a component each, as heads apart have. */
static void without_direction(const struct attn_edited_row *r)
{
    size_t end = r->dv && r->cells ? r->cell[r->cells - 1].hi : 0;
    for (size_t lo = 0; lo < end; lo += r->dv)
        without_direction_in(r, (struct attn_range){lo, lo + r->dv});
    if (!r->dv)
        without_direction_in(r, everywhere);
}

void attn_edit_apply(const struct attn_edited_row *r)
{
    const struct attn_value *v = &r->edit->value;
    switch (v->form) {
    case ATTN_VALUE_NUMBER:  with_constant(r, v->number); break;
    case ATTN_VALUE_UNIFORM: with_constant(r, v->number / (double)r->seen); break;
    case ATTN_VALUE_NOISE:   with_noise(r, v->number * v->sigma); break;
    case ATTN_VALUE_SOURCE:
    case ATTN_VALUE_MEAN:    with_source(r, v->number, everywhere); break;
    case ATTN_VALUE_PROJ:    without_direction(r); break;
    }
}

/* A number that is set depends on x no more; one that is added or subtracted does not depend on x; and to subtract the
 * component along a direction is symmetric. */
void attn_edit_backward(const struct attn_edited_row *r)
{
    if (r->edit->value.form == ATTN_VALUE_PROJ)
        without_direction(r);
    for (size_t i = 0; i < r->cells && (r->edit->op == ATTN_EDIT_SET || r->edit->op == ATTN_EDIT_TIMES); i++)
        for (size_t k = r->cell[i].lo; k < r->cell[i].hi; k++)
            r->x[k] = r->edit->op == ATTN_EDIT_SET ? 0 : (float)((double)r->x[k] * r->edit->value.number);
}
