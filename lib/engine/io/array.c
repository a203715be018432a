#include "io/array.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers as doubles in memory for so many; NULL: there is none. */
static double *widened(const struct attn_array *a, size_t room)
{
    double *x = room <= SIZE_MAX / sizeof *x - 1 ? malloc((room + 1) * sizeof *x) : NULL;
    for (size_t i = 0; x && i < a->n; i++)
        x[i] = (double)a->data[i];
    return x;
}

static bool grow(struct attn_array *a, size_t *room)
{
    const size_t before = *room;
    float *more = attn_grow(a->data, room, a->n + 1, sizeof *more);
    if (!more)
        return false;
    a->data = more;
    double *wider = a->f64 && *room != before ? realloc(a->f64, *room * sizeof *wider) : a->f64;
    if (a->f64 && !wider)
        return false;
    a->f64 = wider;
    return true;
}

bool attn_array_add(struct attn_array *a, size_t *room, double x)
{
    if (!grow(a, room))
        return false;
    if (!a->f64 && !isnan(x) && (double)(float)x != x && !(a->f64 = widened(a, *room)))
        return false;
    if (a->f64)
        a->f64[a->n] = x;
    a->data[a->n++] = (float)x;
    return true;
}

bool attn_array_widen(struct attn_array *a)
{
    if (!a->f64)
        a->f64 = widened(a, a->n);
    return a->f64 != NULL;
}

bool attn_array_copy(struct attn_array *to, const struct attn_array *from)
{
    const size_t n = from->n;
    *to = *from;
    to->data = malloc(n * sizeof *to->data + 1);
    to->f64 = from->f64 ? malloc(n * sizeof *to->f64 + 1) : NULL;
    if (!to->data || (from->f64 && !to->f64)) {
        attn_array_free(to);
        return false;
    }
    if (n)
        memcpy(to->data, from->data, n * sizeof *to->data);
    if (n && to->f64)
        memcpy(to->f64, from->f64, n * sizeof *to->f64);
    return true;
}

void attn_array_free(struct attn_array *a)
{
    free(a->data);
    free(a->f64);
    a->data = NULL;
    a->f64 = NULL;
}
