/* worksheet.c - turns a derivation into a sheet for pencil and paper: some results of sums are left out, to be
 * computed.
 *
 * A reader has the printed numbers alone, so a result is left out with as many digits as arithmetic on these gives.
 * The same number elsewhere on the sheet, as in a table below, becomes a reference to the gap; sums of which terms are
 * left out are never asked for. */
#include "explain/worksheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/splitmix.h"

static const double SAME = 1e-5;         /* relative */

static double rounded(double x, int digits)
{
    double power = pow(10, digits);
    return round(x * power) / power;
}

static double printed(struct attn_number n) { return rounded(n.x, n.digits); }

/* What the printed terms of a sum make.  False: the sum is no exercise. */
static bool add_up(double *sum, const struct attn_passage *p)
{
    *sum = 0;
    for (size_t i = 0; i < p->terms; i++) {
        const struct attn_term *t = &p->term[i];
        double a = printed(t->a), b = printed(t->b);
        if (t->kind == ATTN_ADDEND_LEFT_OUT)
            return false;
        *sum += t->kind == ATTN_ADDEND_PRODUCT ? a * b : t->kind == ATTN_ADDEND_QUOTIENT ? a / b : a;
    }
    return p->terms && isfinite(*sum) && isfinite(p->result.x);
}

/* The digits to which arithmetic on the printed terms gives the result; 0: hardly any. */
static int digits_of(const struct attn_passage *p)
{
    double sum;
    int digits = p->kind == ATTN_PASSAGE_SUM && add_up(&sum, p) ? p->result.digits : 0;
    while (digits > 0 && rounded(sum, digits) != rounded(p->result.x, digits))
        digits--;
    return digits;
}

/* The same number computed in double precision is the same number to a reader. */
static bool is_same(struct attn_number n, double x)
{
    return fabs(n.x - x) <= SAME * fabs(x);
}

static bool has_two(const struct attn_term *t)
{
    return t->kind == ATTN_ADDEND_PRODUCT || t->kind == ATTN_ADDEND_QUOTIENT;
}

/* Whether the result is also a term of the sum, as where a weight is 1: the gap would need itself. */
static bool needs_itself(const struct attn_passage *p)
{
    bool found = false;
    for (size_t j = 0; j < p->terms; j++)
        found |= is_same(p->term[j].a, p->result.x) || (has_two(&p->term[j]) && is_same(p->term[j].b, p->result.x));
    return found;
}

/* Puts the places of all exercises into `at`, those that are chosen first, in the order of the sheet. */
static size_t choose(size_t *at, const struct attn_derivation *d, size_t gaps, uint64_t seed)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (digits_of(&d->passage[i]) && !needs_itself(&d->passage[i]))
            at[n++] = i;
    for (size_t i = 0; i < gaps && i < n; i++) {
        size_t j = i + (size_t)(attn_splitmix_next(&seed) % (n - i)), swap = at[i];
        at[i] = at[j];
        at[j] = swap;
    }
    for (size_t i = 1; i < gaps && i < n; i++)          /* few, so the simplest sorting will do */
        for (size_t j = i; j > 0 && at[j - 1] > at[j]; j--) {
            size_t swap = at[j];
            at[j] = at[j - 1];
            at[j - 1] = swap;
        }
    return n;
}

/* `found` is what a reader has found for a gap: no more digits, and, unless answers are filled in, a reference. */
static void refer(struct attn_number *n, struct attn_number found, bool answers)
{
    if (!is_same(*n, found.x) || n->gap)
        return;
    n->digits = n->digits < found.digits ? n->digits : found.digits;
    n->gap = answers ? 0 : found.gap;
}

/* Everything else that shows the number refers to the gap. */
static void refer_all(struct attn_derivation *d, struct attn_number found, bool answers)
{
    for (size_t i = 0; i < d->n; i++) {
        struct attn_passage *p = &d->passage[i];
        for (size_t j = 0; j < p->terms; j++) {
            refer(&p->term[j].a, found, answers);
            if (has_two(&p->term[j]))
                refer(&p->term[j].b, found, answers);
        }
        for (size_t j = 0; j < p->cells; j++)
            if (!p->cell[j].text)
                refer(&p->cell[j].number, found, answers);
        if (p->kind == ATTN_PASSAGE_SUM)
            refer(&p->result, found, answers);
    }
}

static void leave_out(struct attn_derivation *d, size_t i, size_t gap, bool answers)
{
    struct attn_passage *p = &d->passage[i];
    p->result.digits = digits_of(p);
    p->result.gap = gap;
    p->asked = true;
    p->answered = answers;
    refer_all(d, p->result, answers);
}

/* The last passage becomes the first. */
static void to_front(struct attn_derivation *d)
{
    if (d->failed)
        return;
    struct attn_passage last = d->passage[d->n - 1];
    memmove(d->passage + 1, d->passage, (d->n - 1) * sizeof *d->passage);
    d->passage[0] = last;
}

int attn_worksheet_make(struct attn_derivation *d, const struct attn_worksheet_opts *o, struct attn_err *err)
{
    size_t *at = d->failed ? NULL : malloc((d->n + 1) * sizeof *at);
    if (!at)
        return attn_no_memory(err, NULL, "for a worksheet");
    size_t n = choose(at, d, o->gaps, o->seed);
    if (o->gaps > n) {
        free(at);
        return attn_fail(err, ATTN_EUSAGE, "%zu numbers to leave out, and %zu of this derivation can be computed from "
                                           "what it prints; with --all it prints longer sums, of which more can be",
                         o->gaps, n);
    }
    for (size_t i = 0; i < o->gaps; i++)
        leave_out(d, at[i], i + 1, o->answers);
    free(at);
    if (o->answers)
        attn_derive_words(d, "The answers, each marked with the number of its gap.");
    else
        attn_derive_words(d,
                          "A worksheet: compute the numbers that are left out, each from those printed beside it, or "
                          "found for another gap, and round it to the decimals it asks for. A number in brackets, as "
                          "in (1), stands for what belongs into that gap.");
    to_front(d);
    return ATTN_OK;
}
