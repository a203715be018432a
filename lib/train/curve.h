/* curve.h - how a training went: a point a step.
 *
 * As CSV with the columns of attn_point, in whose order they are kept; what was not measured is NaN and in
 * the file nothing. */
#ifndef ATTN_TRAIN_CURVE_H
#define ATTN_TRAIN_CURVE_H

#include "base/out.h"

struct attn_point {
    double step;                        /* from 1 */
    double tokens;                      /* predicted so far */
    double lr, loss;                    /* loss: of this step's contexts, in nats a token */
    double gradient;                    /* its length before it was clipped */
    double held_out, bits_per_byte;     /* of the held-out text after this step: nats a token; bits a byte */
};
enum { ATTN_POINT_NUMBERS = sizeof(struct attn_point) / sizeof(double) };

struct attn_curve { struct attn_point *point; size_t n, room; };

bool attn_curve_add(struct attn_curve *c, const struct attn_point *p);          /* false: no memory */
void attn_curve_write(struct attn_out *out, const struct attn_curve *c);
void attn_curve_free(struct attn_curve *c);                         /* zeroed is fine */
/* The lowest held-out loss so far; infinite when there is none. */
double attn_curve_best(const struct attn_curve *c);

#endif
