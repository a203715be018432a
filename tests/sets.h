/* sets.h - every instruction set the processor has, to hold one against the other, and numbers to try them on. */
#ifndef ATTN_TESTS_SETS_H
#define ATTN_TESTS_SETS_H

#include "compute/vec_ops.h"

extern const struct vec_ops *sets[3];   /* the generic one first */
extern int n_sets;
void find_sets(void);                   /* a fixture */

/* n numbers between -scale and scale, the same after the same seed. */
void fill(float *x, size_t n, unsigned seed, float scale);

#endif
