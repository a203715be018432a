/* panels.h - weights once more, in the order in which products of many rows, or of one, read them.
 *
 * Panels of 64 columns lie one after the other.  A panel has the numbers [in, 64] in their type or, for products in
 * pairs, the words [words(in), 64]; to the right of the last column are numbers that do not matter.  Products have
 * the same bits with them and without: nothing needs to be copied or converted first, so one kernel takes all steps.
 * One row reads them at the full speed of memory, as each thread's are in one stretch.  run.c decides when. */
#ifndef ATTN_COMPUTE_PANELS_H
#define ATTN_COMPUTE_PANELS_H

#include "base/arena.h"
#include "base/team.h"
#include "compute/weights.h"

/* The panels of w, from step k of panel j on; k must be a multiple of 32. */
const void *attn_panels_at(const struct attn_mat *w, size_t j, size_t k, bool in_bf16);

/* How many floats (or words) of memory w takes. */
size_t attn_panels_size(const struct attn_mat *w, bool in_bf16);
/* Fills panels[size] and lets w have them. */
void attn_panels_fill(struct attn_mat *w, float *panels, bool in_bf16, struct attn_team *t);

/* Whether a product of one row gains by panels; whether one of many does, which in float32 must first widen numbers
 * of 16 bits. */
bool attn_panels_help_one(bool in_bf16);
bool attn_panels_help_many(const struct attn_mat *w, bool in_bf16);
/* How many panels one row should be multiplied with at a time: ATTN_AT_ONCE, or 1 where that is faster. */
size_t attn_panels_at_once(void);
/* Decides that, for tests; 0: the next large copy does.  Returns what was decided before, 0 if nothing was. */
size_t attn_panels_choose(size_t at_once);

/* A model's weights whose matrices have panels.  Embeddings have none, nor have matrices in blocks of few bits, or
 * any that would not gain by them. */
struct attn_panels { struct attn_arena memory; struct attn_weights w; };
/* What products they are for: in bf16; of one row after another; of the output layer, too. */
struct attn_panels_use { bool bf16, lone, logits; };
/* How many bytes that would be; 0: nothing repays, or it is not known that twice as much is available. */
size_t attn_panels_bytes(const struct attn_weights *w, const struct attn_panels_use *use);
/* False: there are none. */
bool attn_panels_make(struct attn_panels *p, const struct attn_weights *w, const struct attn_panels_use *use,
                      struct attn_team *t);
void attn_panels_free(struct attn_panels *p);                       /* a zeroed one is fine */

#endif
