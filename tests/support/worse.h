/* worse.h - the larger of two errors, where NaN is the largest: fmax() drops it, and a test would pass on numbers
 * that are none. */
#ifndef ATTN_TESTS_WORSE_H
#define ATTN_TESTS_WORSE_H

#include <math.h>

static inline double worse(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

#endif
