/* curve.h - the progress of a training: one point for each step.
 *
 * The CSV file has the members of attn_point as columns, in their order; what was not measured is NaN, and empty in
 * the file. */
#ifndef ATTN_TRAIN_CURVE_H
#define ATTN_TRAIN_CURVE_H

#include "base/out.h"

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

#endif
