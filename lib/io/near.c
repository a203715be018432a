#include "io/near.h"

#define UTF8PROC_STATIC                 /* its symbols come from the archive */
#include <utf8proc.h>

#include "base/utf8.h"

enum { LONGEST = 64, SLIP = 2, OTHER_CASE = 1 };                    /* code points; costs in half slips */

/* Code points of s, or SIZE_MAX when there are more than LONGEST. */
static size_t decode(int32_t out[LONGEST], const char *s, size_t len)
{
    size_t n = 0, step;
    for (size_t at = 0; at < len; at += step) {
        if (n == LONGEST)
            return SIZE_MAX;
        out[n++] = (int32_t)attn_utf8_next(s + at, len - at, &step);
    }
    return n;
}

static unsigned replace_cost(int32_t a, int32_t b)
{
    if (a == b)
        return 0;
    return utf8proc_tolower(a) == utf8proc_tolower(b) ? OTHER_CASE : SLIP;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const int32_t *a, size_t n, const int32_t *b, size_t m)
{
    unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = SLIP * (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = SLIP * (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = least(last[j], now[j - 1]) + SLIP;
            now[j] = least(now[j], last[j - 1] + replace_cost(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + SLIP);
        }
        unsigned *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

unsigned attn_near(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int32_t x[LONGEST], y[LONGEST];
    size_t n = decode(x, a, a_len), m = decode(y, b, b_len);
    if (n == SIZE_MAX || m == SIZE_MAX)
        return ATTN_FAR;
    size_t longer = n > m ? n : m, shorter = n > m ? m : n;
    unsigned limit = SLIP * (((unsigned)longer + 1) / 3) + OTHER_CASE;
    if (SLIP * (longer - shorter) > limit)
        return ATTN_FAR;
    unsigned d = distance(x, n, y, m);
    return d <= limit ? d : ATTN_FAR;
}
