#include "io/near.h"

#define UTF8PROC_STATIC                 /* its symbols come from the archive */
#include <utf8proc.h>

#include "base/utf8.h"

enum { LONGEST = 64, SLIP = 2, OTHER_CASE = 1 };                    /* code points; costs in half slips */

struct letters { size_t n; int32_t as_is[LONGEST], lower[LONGEST]; };

/* False when there are more than LONGEST. */
static bool decode(struct letters *out, const char *s, size_t len)
{
    size_t n = 0, step;
    for (size_t at = 0; at < len; at += step) {
        if (n == LONGEST)
            return false;
        out->as_is[n] = (int32_t)attn_utf8_next(s + at, len - at, &step);
        out->lower[n] = utf8proc_tolower(out->as_is[n]);
        n++;
    }
    out->n = n;
    return true;
}

static unsigned replace_cost(const struct letters *a, size_t i, const struct letters *b, size_t j)
{
    if (a->as_is[i] == b->as_is[j])
        return 0;
    return a->lower[i] == b->lower[j] ? OTHER_CASE : SLIP;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Any number above `limit` once that is certain. */
static unsigned distance(const struct letters *a, const struct letters *b, unsigned limit)
{
    unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b->n; j++)
        last[j] = SLIP * (unsigned)j;
    for (size_t i = 1; i <= a->n; i++) {
        unsigned best = now[0] = SLIP * (unsigned)i;
        for (size_t j = 1; j <= b->n; j++) {
            now[j] = least(last[j], now[j - 1]) + SLIP;
            now[j] = least(now[j], last[j - 1] + replace_cost(a, i - 1, b, j - 1));
            if (i > 1 && j > 1 && a->as_is[i - 1] == b->as_is[j - 2] && a->as_is[i - 2] == b->as_is[j - 1])
                now[j] = least(now[j], before[j - 2] + SLIP);
            best = least(best, now[j]);
        }
        if (best > limit + SLIP)        /* so is the row before beyond the limit, which a swap starts from */
            return best;
        unsigned *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[b->n];
}

unsigned attn_near(const char *a, size_t a_len, const char *b, size_t b_len)
{
    struct letters x, y;
    if (!decode(&x, a, a_len) || !decode(&y, b, b_len))
        return ATTN_FAR;
    size_t longer = x.n > y.n ? x.n : y.n, shorter = x.n > y.n ? y.n : x.n;
    unsigned limit = SLIP * (((unsigned)longer + 1) / 3) + OTHER_CASE;
    if (SLIP * (longer - shorter) > limit)
        return ATTN_FAR;
    unsigned d = distance(&x, &y, limit);
    return d <= limit ? d : ATTN_FAR;
}
