/* rounding.h - how much of a difference rounding explains.
 *
 * Sums in another order differ by some units in the last place of what was summed, not of what remains, and each step
 * hands on the differences of its inputs.  So an activation is judged by its inputs, in the order of the forward pass:
 *
 *     gap = max |A - B| / size            size: of what was summed, below
 *     explained = own rounding + times * (largest gap of the inputs)
 *
 * The gaps of inputs are measured, where both dumps have them and nothing before is beyond; else a step is taken to
 * add no more than its own rounding.  So what follows a mistake is measured against a port without it.
 *
 * size is the root mean square of the token's row over all heads, without columns that are far larger than others, and
 * at least the number itself; for dots |q| |k|; for scores as much times what scores are larger than dots; for a
 * context what its values would be if they did not cancel; for a probability p itself times 1 + the largest score of
 * its row, since softmax turns a relative error of scores into one of that factor.
 *
 * Where one side has numbers of 16 bits alone, or products of such, a rounding is one of those. */
#ifndef ATTN_COMPARE_ROUNDING_H
#define ATTN_COMPARE_ROUNDING_H

#include "compare/diff.h"

/* Sets gap, explained and beyond of all rows of activations, and what the numbers are rounded to; false: no memory. */
bool attn_rounding_judge(struct attn_diff *d);

#endif
