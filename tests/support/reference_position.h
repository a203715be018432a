/* reference_position.h - the parts of reference.c that know positions. */
#ifndef ATTN_TESTS_REFERENCE_POSITION_H
#define ATTN_TESTS_REFERENCE_POSITION_H

#include "reference.h"

/* The angle by which pair i of a head turns from one position to the next, in a layer, in a text of T tokens. */
double ref_angle(const struct ref_config *c, int layer, int T, int i, int rotary);
/* Row p of the table of sines and cosines, [d]. */
void ref_sinusoid(double *x, int d, int p);
/* The score that key j has for head h, from its product with the query. */
double ref_score(const struct ref_config *c, int h, int j, double dot, double scale);

#endif
