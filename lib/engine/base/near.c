#include "base/near.h"

#include <string.h>
#include <strings.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/utf8.h"

enum { LONGEST = ATTN_NEAR_LONGEST, SLIP = 2, OTHER_CASE = 1 };     /* LONGEST in code points; costs in half slips */

/* False if there are more than LONGEST characters. */
static bool decode(struct attn_letters *out, const char *s, size_t len)
{
    size_t n = 0, step;
    out->n = 0;
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

static unsigned replace_cost(const struct attn_letters *a, size_t i, const struct attn_letters *b, size_t j)
{
    if (a->as_is[i] == b->as_is[j])
        return 0;
    return a->lower[i] == b->lower[j] ? OTHER_CASE : SLIP;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The edit distance, or any number above `limit` once it is certain to be larger. */
static unsigned distance(const struct attn_letters *a, const struct attn_letters *b, unsigned limit, size_t *work)
{
    unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b->n; j++)
        last[j] = SLIP * (unsigned)j;
    for (size_t i = 1; i <= a->n; i++) {
        unsigned best = now[0] = SLIP * (unsigned)i;
        *work += b->n;
        for (size_t j = 1; j <= b->n; j++) {
            now[j] = least(last[j], now[j - 1]) + SLIP;
            now[j] = least(now[j], last[j - 1] + replace_cost(a, i - 1, b, j - 1));
            if (i > 1 && j > 1 && a->as_is[i - 1] == b->as_is[j - 2] && a->as_is[i - 2] == b->as_is[j - 1])
                now[j] = least(now[j], before[j - 2] + SLIP);
            best = least(best, now[j]);
        }
        if (best > limit + SLIP)        /* the row before, where a swap starts, is then beyond the limit too */
            return best;
        unsigned *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[b->n];
}

bool attn_near_means(const struct attn_meaning *m, const char *typed, size_t len, const char *name)
{
    for (; m->word; m++)
        if (strlen(m->word) == len && !strncasecmp(typed, m->word, len) && !strcmp(name, m->name))
            return true;
    return false;
}

void attn_near_start(struct attn_near *n, const char *typed, size_t len)
{
    n->work = 0;
    n->comparable = decode(&n->typed, typed, len);
}

unsigned attn_near(struct attn_near *n, const char *known, size_t len, unsigned below)
{
    struct attn_letters k;
    n->work += len;
    if (!n->comparable || !decode(&k, known, len))
        return ATTN_FAR;
    size_t longer = k.n > n->typed.n ? k.n : n->typed.n, shorter = k.n > n->typed.n ? n->typed.n : k.n;
    unsigned limit = least(SLIP * (((unsigned)longer + 1) / 3) + OTHER_CASE, below - 1);
    if (below == 0 || SLIP * (longer - shorter) > limit)
        return ATTN_FAR;
    unsigned d = distance(&n->typed, &k, limit, &n->work);
    return d <= limit ? d : ATTN_FAR;
}
