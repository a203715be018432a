#include "nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 32 };                  /* longer than any name; more of what was typed is ignored */

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

/* The edit distance, where swapped neighbours count as one edit.  d[i][j] is that of the first i letters of a and j of b. */
static size_t edits(const char *a, const char *b)
{
    size_t d[LONGEST + 1][LONGEST + 1], na = strnlen(a, LONGEST), nb = strnlen(b, LONGEST);
    for (size_t i = 0; i <= na; i++)
        for (size_t j = 0; j <= nb; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = min(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), min(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[na][nb];
}

/* A name is near enough if about one letter in three is wrong, at most. */
void nearest_offer(struct nearest *n, const char *name)
{
    size_t typed = strnlen(n->typed, LONGEST), len = strlen(name), longer = typed > len ? typed : len;
    size_t distance = typed && !strncmp(n->typed, name, typed) ? 0 : edits(n->typed, name);
    if (distance > (longer + 1) / 3 || (n->best && n->distance <= distance))
        return;
    n->best = name;
    n->distance = distance;
}

struct excerpt nearest_hint(const struct nearest *n, const char *before)
{
    struct excerpt hint = {""};
    if (n->best)
        snprintf(hint.text, sizeof hint.text, ", the nearest is '%s%s'", before, n->best);
    return hint;
}
