/* wild.h - finds where a number stopped being finite. */
#ifndef ATTN_TRAIN_WILD_H
#define ATTN_TRAIN_WILD_H

#include "gradient/work.h"

/* Fails, naming the first activation of the forward pass that contains a number that is not finite, and its position. */
int attn_work_wild(const struct attn_work *t, struct attn_err *err);

#endif
