/* checkpoint.h - how far a training has come: the curve, one point for each step, to look at in loss.csv and loss.png;
 * and checkpoint.safetensors, all that the training needs to continue.
 *
 * loss.csv has the members of attn_point as columns, in their order; what was not measured is NaN, and empty in the
 * file.  The checkpoint holds the parameters under their own names, the optimizer's two moments with the prefixes
 * "first/" and "second/", all F32, and "curve", F64 [steps, 7], whose number of rows is the number of steps done.  It is
 * written completely or not at all; after reading it back, training continues as if it had never stopped. */
#ifndef ATTN_TRAIN_CHECKPOINT_H
#define ATTN_TRAIN_CHECKPOINT_H

#include "base/out.h"
#include "train/optimizer.h"

struct attn_point {
    double step;                        /* from 1 */
    double tokens;                      /* number of tokens predicted so far */
    double lr, loss;                    /* loss: of this step's contexts, in nats per token */
    double gradient;                    /* its norm before clipping */
    double held_out, bits_per_byte;     /* on the held-out text after this step: nats per token; bits per byte */
};
enum { ATTN_POINT_NUMBERS = sizeof(struct attn_point) / sizeof(double) };

struct attn_curve { struct attn_point *point; size_t n, room; };

bool attn_curve_add(struct attn_curve *c, const struct attn_point *p);          /* false: no memory */
void attn_curve_write(struct attn_out *out, const struct attn_curve *c);
void attn_curve_free(struct attn_curve *c);                         /* zeroed is fine */
/* The lowest held-out loss so far; infinite if none was measured. */
double attn_curve_best(const struct attn_curve *c);
/* Writes DIR/loss.csv and draws DIR/loss.png. */
int attn_curve_save(const char *dir, const struct attn_curve *c, struct attn_err *err);

#define ATTN_CHECKPOINT_FILE "checkpoint.safetensors"

int attn_checkpoint_write(const char *dir, const struct attn_optimizer *o, const struct attn_curve *curve,
                          struct attn_err *err);
/* Reads parameters, moments and curve, which are not valid after a failure. */
int attn_checkpoint_read(const char *dir, struct attn_optimizer *o, struct attn_curve *curve, struct attn_err *err);

#endif
