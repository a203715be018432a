/* ends.h - the two ends of a decoder: ids to vectors, vectors to logits. */
#ifndef ATTN_COMPUTE_ENDS_H
#define ATTN_COMPUTE_ENDS_H

#include "compute/pass.h"

/* x = embedding of each id (below V), plus its position's row; angles of the positions for rope. */
void attn_embed_run(struct attn_pass *p, const int32_t *ids);

/* norm_final and logits, as far as somebody wants them: all rows, or the last of each sentence. */
void attn_unembed_run(struct attn_pass *p);

#endif
