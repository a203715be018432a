/* derive.h - holds the gradients of a model against the slope of its loss in double precision (reference.h). */
#ifndef ATTN_TESTS_DERIVE_H
#define ATTN_TESTS_DERIVE_H

#include "agree.h"

/* One to three sentences of up to T tokens, random threads.  Each tensor as the native format has it is moved a little
 * one way and the other, all of its numbers at once: the difference of the losses is the sum of their gradients. */
void derive_check(const struct agree *a, int T);

#endif
