/* checkpoint.h - all that a training needs to go on: checkpoint.safetensors.
 *
 * The parameters under their own names, the optimizer's two moments under "first/" and "second/" before
 * them, all F32, and "curve", F64 [steps, 7], whose rows tell how many steps are done.  Written whole or not
 * at all; read back, training goes on as if it had never stopped. */
#ifndef ATTN_TRAIN_CHECKPOINT_H
#define ATTN_TRAIN_CHECKPOINT_H

#include "train/curve.h"
#include "train/optimizer.h"

#define ATTN_CHECKPOINT_FILE "checkpoint.safetensors"

/* "DIR/checkpoint.safetensors" is there. */
bool attn_checkpoint_exists(const char *dir);
int attn_checkpoint_write(const char *dir, const struct attn_optimizer *o, const struct attn_curve *curve, struct attn_err *err);
/* Parameters, moments and curve; on failure they are worth nothing. */
int attn_checkpoint_read(const char *dir, struct attn_optimizer *o, struct attn_curve *curve, struct attn_err *err);

#endif
