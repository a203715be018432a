/* attend_mask.c - which keys a mask that is given lets a query see, and whether each query sees any. */
#include "attend/attend.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "compute/mask.h"

enum { MASK = ATTN_ATTEND_MASK, SCORES = ATTN_ATTEND_SCORES };

bool attn_attend_sees(const struct attn_attend *a, size_t head, size_t q, size_t k, double *add)
{
    const struct attn_attend_view *v = &a->view[MASK];
    *add = 0;
    if (!v->x)
        return true;
    double m = v->x[(v->heads > 1 ? head : 0) * v->next_head + (v->rows > 1 ? q : 0) * v->next_row + k];
    if (!a->adds)
        return (m != 0) != a->hides;
    *add = m;
    return m != -INFINITY;
}

/* ---- whether each query sees a key ----------------------------------------------------- */

struct looking { const struct attn_attend *a; struct attn_kind kind; size_t *list, *swaps; };

static bool sees(const struct attn_attend *a, size_t h, size_t q, size_t k)
{
    double add;
    const struct attn_attend_view *s = &a->view[SCORES];
    return attn_attend_sees(a, h, q, k, &add) && (!s->x || s->x[h * s->next_head + q * s->next_row + k] != -INFINITY);
}

bool attn_attend_hides(const struct attn_attend *a, size_t head, size_t q, size_t k)
{
    return !sees(a, head, q, k);
}

static bool sees_any(const struct looking *l, size_t h, size_t q)
{
    struct attn_range r = attn_kind_bounds(&l->kind, q, l->a->Tk);
    if (attn_kind_picks(&l->kind)) {
        size_t n = attn_kind_pick(l->list, l->swaps, &l->kind, q, l->a->Tk), i = 0;
        while (i < n && !sees(l->a, h, q, l->list[i]))
            i++;
        return i < n;
    }
    if (l->kind.form == ATTN_CAUSAL_RENORM && r.hi > q + 1)
        r.hi = q + 1;
    while (r.lo < r.hi && !sees(l->a, h, q, r.lo))
        r.lo++;
    return r.lo < r.hi;
}

static int blind(const struct attn_attend *a, size_t h, size_t q, struct attn_err *err)
{
    const int by = a->view[MASK].x ? MASK : a->view[SCORES].x ? SCORES : -1;
    const char *hint = by != MASK || a->adds ? "" : a->hides ? ": --hide has 1 where a key is hidden"
                       : ": a --mask of 0 and 1 has 1 where a key is seen; if 1 hides one, as for torch's masked_fill, "
                         "give it as --hide";
    return attn_fail(err, ATTN_EFORMAT, "%s%squery %zu of head %zu sees none of the %zu keys, so that nothing is left "
                                        "to divide its weights by%s",
                     by < 0 ? "" : attn_attend_called(a, by).text, by < 0 ? "" : ": ", q, h, a->Tk, hint);
}

int attn_attend_check_sight(const struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    size_t n = a->Tq > a->Tk ? a->Tq : a->Tk;
    struct looking l = {a, attn_kind_in(&o->kind, o->causal, 0), calloc(n + 1, sizeof(size_t)),
                        calloc(n + 1, sizeof(size_t))};
    int rc = l.list && l.swaps ? ATTN_OK : attn_no_memory(err, NULL, "for a list of %zu keys", n);
    for (size_t h = 0; h < a->H && !rc; h++)
        for (size_t q = 0; q < a->Tq && !rc; q++)
            rc = sees_any(&l, h, q) ? ATTN_OK : blind(a, h, q, err);
    free(l.list);
    free(l.swaps);
    return rc;
}
