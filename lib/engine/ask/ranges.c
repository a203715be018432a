#include "ask/ranges.h"

#include "base/grow.h"
#include "base/size.h"

bool attn_ranges_add(struct attn_ranges *s, size_t lo, size_t hi)
{
    if (lo >= hi)
        return true;
    struct attn_range *more = attn_grow(s->r, &s->room, s->n + 1, sizeof *more);
    if (!more)
        return false;
    s->r = more;
    s->r[s->n++] = (struct attn_range){lo, hi};
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct attn_range *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

void attn_ranges_join(struct attn_ranges *s)
{
    size_t n = 0;
    if (s->n)
        qsort(s->r, s->n, sizeof *s->r, by_start);
    for (size_t i = 0; i < s->n; i++)
        if (n && s->r[i].lo <= s->r[n - 1].hi)
            s->r[n - 1].hi = larger(s->r[n - 1].hi, s->r[i].hi);
        else
            s->r[n++] = s->r[i];
    s->n = n;
}

size_t attn_ranges_count(const struct attn_ranges *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->r[i].hi - s->r[i].lo;
    return n;
}

size_t attn_ranges_from(const struct attn_ranges *s, size_t at)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->r[mid].hi > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

bool attn_ranges_has(const struct attn_ranges *s, size_t i)
{
    size_t at = attn_ranges_from(s, i);
    return at < s->n && s->r[at].lo <= i;
}

void attn_ranges_free(struct attn_ranges *s)
{
    free(s->r);
    *s = (struct attn_ranges){0};
}
