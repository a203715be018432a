/* wild.h - where a number went wild. */
#ifndef ATTN_TRAIN_WILD_H
#define ATTN_TRAIN_WILD_H

#include "train/work.h"

/* Fails, naming the first activation of the pass, in its order, that holds a number that is not finite, and the place. */
int attn_work_wild(const struct attn_work *t, struct attn_err *err);

#endif
