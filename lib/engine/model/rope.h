/* rope.h - what a configuration says about positions, as the arithmetic reads it. */
#ifndef ATTN_MODEL_ROPE_H
#define ATTN_MODEL_ROPE_H

#include "compute/weights.h"
#include "model/config.h"

/* Fills in w's rotary positions; inv_freq[2] get their memory, to be freed.  False: no memory. */
bool attn_rope_fill(struct attn_weights *w, double *inv_freq[2], const struct attn_config *c);
/* What cosines and sines are multiplied by under longrope; not finite if no original context is stated to derive it. */
double attn_longrope_attention_factor(const struct attn_config *c, const struct attn_rope_scaling *s);
/* By what the scores of each of H heads grow from one key to the next. */
void attn_alibi_slopes(float *slope, size_t H);

#endif
