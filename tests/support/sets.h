/* sets.h - all instruction sets that the processor has, to compare them with each other, and numbers to do so. */
#ifndef ATTN_TESTS_SETS_H
#define ATTN_TESTS_SETS_H

#include "compute/vec.h"

extern const struct attn_vec_ops *const sets[];      /* by enum attn_simd: the generic one is first */
extern int n_sets;                      /* that the processor has */
void find_sets(void);                   /* a fixture */

/* n numbers between -scale and scale; the same seed gives the same numbers. */
void fill(float *x, size_t n, unsigned seed, float scale);

#endif
