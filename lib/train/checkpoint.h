/* checkpoint.h - all that a training needs to continue: checkpoint.safetensors.
 *
 * The parameters under their own names, the optimizer's two moments with the prefixes "first/" and "second/", all
 * F32, and "curve", F64 [steps, 7], whose number of rows is the number of steps done.  The file is written completely
 * or not at all; after reading it back, training continues as if it had never stopped. */
#ifndef ATTN_TRAIN_CHECKPOINT_H
#define ATTN_TRAIN_CHECKPOINT_H

#include "train/curve.h"
#include "train/optimizer.h"

#define ATTN_CHECKPOINT_FILE "checkpoint.safetensors"

/* Whether DIR/checkpoint.safetensors exists. */
bool attn_checkpoint_exists(const char *dir);
int attn_checkpoint_write(const char *dir, const struct attn_optimizer *o, const struct attn_curve *curve, struct attn_err *err);
/* Reads parameters, moments and curve, which are not valid after a failure. */
int attn_checkpoint_read(const char *dir, struct attn_optimizer *o, struct attn_curve *curve, struct attn_err *err);

#endif
