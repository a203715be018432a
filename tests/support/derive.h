/* derive.h - compares the gradients of a model with slopes of its loss in double precision (reference.h). */
#ifndef ATTN_TESTS_DERIVE_H
#define ATTN_TESTS_DERIVE_H

#include "agree.h"

/* Runs one to three sentences of up to T tokens with random threads.  For each tensor in native layout, all
 * its numbers are moved a little one way and then the other; the difference of the two losses must be the sum
 * of their gradients. */
void derive_check(const struct agree *a, int T);

#endif
