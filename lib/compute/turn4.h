/* turn4.h - transposes sixteen rows that may lie anywhere in memory, four 32-bit words of each at a time.
 *
 * Included by files that are compiled for one instruction set each (lanes.h). */
#ifndef ATTN_COMPUTE_TURN4_H
#define ATTN_COMPUTE_TURN4_H

#include "compute/lanes.h"

/* Four words of each of rows l, l + 4, l + 8 and l + 12. */
static inline v16 fourths(const void *const *row, size_t l, size_t byte)
{
    const char *a = row[l], *b = row[l + 4], *c = row[l + 8], *d = row[l + 12];
    return quarters((const void *)(a + byte), (const void *)(b + byte), (const void *)(c + byte), (const void *)(d + byte));
}

/* out[i] becomes column i of the four columns that begin at `byte`. */
static inline void turn4(v16 out[4], const void *const *row, size_t byte)
{
    v16 a = fourths(row, 0, byte), b = fourths(row, 1, byte), c = fourths(row, 2, byte), d = fourths(row, 3, byte);
    v16 ab = low(a, b), cd = low(c, d), AB = high(a, b), CD = high(c, d);
    out[0] = low2(ab, cd);
    out[1] = high2(ab, cd);
    out[2] = low2(AB, CD);
    out[3] = high2(AB, CD);
}

#endif
