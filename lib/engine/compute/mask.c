#include "compute/mask.h"

#include "base/size.h"
#include "base/splitmix.h"

#include <math.h>
#include <stdlib.h>

struct attn_kind attn_kind_in(const struct attn_kind *asked, bool causal, size_t window)
{
    struct attn_kind k = *asked;
    k.causal = causal;
    if (k.form != ATTN_MODEL)
        return k;
    k.form = !causal ? ATTN_FULL : window ? ATTN_WINDOW : ATTN_CAUSAL;
    k.w = window;
    return k;
}

double attn_kind_scale_f64(const struct attn_kind *k, double own, size_t dh)
{
    switch (k->scaling) {
    case ATTN_SCALE_NONE:  return 1;
    case ATTN_SCALE_SQRT:  return 1 / sqrt((double)dh);
    case ATTN_SCALE_VALUE: return k->scale;
    case ATTN_SCALE_MODEL: break;
    }
    return own;
}

float attn_kind_scale(const struct attn_kind *k, float own, size_t dh)
{
    return (float)attn_kind_scale_f64(k, (double)own, dh);
}

/* ---- keys before the window: lists those that query q sees among the first `front` ones ---- */

/* Every s-th, counted back from q. */
static size_t pick_strides(size_t *list, size_t *swaps, const struct attn_kind *k, size_t q, size_t front, size_t Tk)
{
    (void)swaps;
    size_t n = 0;
    for (size_t key = q % k->s; key < smaller(front, Tk); key += k->s)
        list[n++] = key;
    return n;
}

/* The item at position i of the shuffled list: swaps[i] - 1 or, if swaps[i] is 0, still i. */
static size_t holds(const size_t *swaps, size_t i)
{
    return swaps[i] ? swaps[i] - 1 : i;
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* r of them, by the first r steps of a Fisher-Yates shuffle.  Only swapped items are stored, and while they are
 * drawn, list has their positions so that `swaps` can be cleared. */
static size_t pick_random(size_t *list, size_t *swaps, const struct attn_kind *kind, size_t q, size_t n, size_t Tk)
{
    (void)Tk;                           /* all are drawn: which ones does not depend on how many keys there are */
    uint64_t state = kind->seed + q;
    size_t r = smaller(kind->r, n);
    for (size_t i = 0; i < r; i++) {
        size_t j = i + (size_t)(attn_splitmix_next(&state) % (n - i)), was = holds(swaps, i);
        swaps[i] = holds(swaps, j) + 1;
        swaps[j] = was + 1;
        list[i] = j;
    }
    for (size_t i = 0; i < r; i++)
        if (list[i] >= r)
            swaps[list[i]] = 0;
    for (size_t i = 0; i < r; i++) {
        list[i] = holds(swaps, i);
        swaps[i] = 0;
    }
    qsort(list, r, sizeof *list, ascending);
    return r;
}

/* ---- which keys a query sees ---- */

/* past: whether it sees none after itself.  pick: lists those it sees before the last w; NULL: it sees all. */
static const struct rule {
    enum { NEVER, IF_CAUSAL, ALWAYS } past;
    size_t (*pick)(size_t *list, size_t *swaps, const struct attn_kind *k, size_t q, size_t front, size_t Tk);
} rules[] = {
    [ATTN_MODEL] = {NEVER, NULL},
    [ATTN_FULL] = {NEVER, NULL},
    [ATTN_CAUSAL] = {ALWAYS, NULL},
    [ATTN_CAUSAL_RENORM] = {NEVER, NULL},
    [ATTN_WINDOW] = {ALWAYS, NULL},
    [ATTN_STRIDED] = {ALWAYS, pick_strides},
    [ATTN_RANDOM] = {ALWAYS, pick_random},
    [ATTN_LINEAR] = {IF_CAUSAL, NULL},
    [ATTN_BLOCK] = {IF_CAUSAL, NULL},
    [ATTN_MASKED] = {NEVER, NULL},
};

bool attn_kind_past(const struct attn_kind *k)
{
    return rules[k->form].past == ALWAYS || (rules[k->form].past == IF_CAUSAL && k->causal);
}

bool attn_kind_picks(const struct attn_kind *k)
{
    return rules[k->form].pick != NULL;
}

struct attn_range attn_kind_bounds(const struct attn_kind *k, size_t q, size_t Tk)
{
    if (!attn_kind_past(k))
        return (struct attn_range){0, Tk};
    size_t end = q + 1, lo = k->form == ATTN_WINDOW && end > k->w ? end - k->w : 0;
    return (struct attn_range){smaller(lo, Tk), smaller(end, Tk)};
}

size_t attn_kind_pick(size_t *list, size_t *swaps, const struct attn_kind *k, size_t q, size_t Tk)
{
    size_t front = q + 1 > k->w ? q + 1 - k->w : 0;     /* where the window begins */
    size_t n = rules[k->form].pick(list, swaps, k, q, front, Tk);
    while (n && list[n - 1] >= Tk)
        n--;
    for (size_t j = front; j <= q && j < Tk; j++)
        list[n++] = j;
    return n;
}

void attn_kind_mark(bool *seen, size_t *list, size_t *swaps, const struct attn_kind *k, size_t q, size_t Tk)
{
    struct attn_range r = attn_kind_bounds(k, q, Tk);
    size_t n = attn_kind_picks(k) ? attn_kind_pick(list, swaps, k, q, Tk) : 0;
    if (k->form == ATTN_CAUSAL_RENORM)
        r.hi = smaller(q + 1, Tk);
    for (size_t j = r.lo; j < r.hi && !attn_kind_picks(k); j++)
        seen[j] = true;
    for (size_t j = 0; j < n; j++)
        seen[list[j]] = true;
}

/* ---- dropout ---- */

struct attn_head_drop attn_kind_drop(const struct attn_kind *k, int layer, size_t head)
{
    return (struct attn_head_drop){k->dropout, attn_splitmix(attn_splitmix(k->dropout_seed + (uint64_t)layer) + head)};
}

static bool is_dropped(const struct attn_head_drop *d, uint64_t row, size_t key)
{
    return attn_splitmix_unit(attn_splitmix(row + key)) < d->p;
}

void attn_drop_keys(const struct attn_head_drop *d, float *weight, size_t q, const size_t *list, size_t first, size_t n)
{
    if (d->p <= 0)
        return;
    uint64_t row = attn_splitmix(d->head + q);
    float grow = (float)(1 / (1 - d->p));
    for (size_t i = 0; i < n; i++) {
        size_t key = list ? list[i] : first + i;
        weight[i] *= is_dropped(d, row, key) ? 0 : grow;
    }
}

void attn_drop_f64(const struct attn_head_drop *d, double *weight, size_t q, size_t n)
{
    const uint64_t row = attn_splitmix(d->head + q);
    for (size_t key = 0; key < n && d->p > 0; key++)
        weight[key] = is_dropped(d, row, key) ? 0 : weight[key] / (1 - d->p);
}
