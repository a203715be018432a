/* ends.h - the two ends of a decoder: ids to vectors, vectors to logits. */
#ifndef ATTN_COMPUTE_ENDS_H
#define ATTN_COMPUTE_ENDS_H

#include "compute/pass.h"

/* x = embedding of each id (below V), plus the learned vector of its position; or computes the angles of rotary positions. */
void attn_embed_run(struct attn_pass *p, const int32_t *ids);

/* Computes norm_final and logits if an observer wants them: of all rows, or of the last one of each sentence. */
void attn_unembed_run(struct attn_pass *p);

#endif
