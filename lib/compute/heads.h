/* heads.h - all heads of one sentence, shared out among threads and told to a trace.
 *
 * Heads and bands are independent items.  When nobody listens each thread takes an item through
 * all four steps in its own scratch.  When somebody does, a wave of items takes each step together
 * and the caller tells their bands in order before the next step, so that an edit of the pattern
 * reaches the context.  An observer that wants activations whole gets a scratch for all heads. */
#ifndef ATTN_COMPUTE_HEADS_H
#define ATTN_COMPUTE_HEADS_H

#include "base/team.h"
#include "compute/attention.h"
#include "trace/trace.h"

struct attn_heads {
    struct attn_head head;              /* head 0; the others follow at these distances */
    size_t H, Hkv, next_q, next_k, next_v, next_context;
    float *scratch;                     /* attn_heads_scratch numbers */
    size_t slots, ld;                   /* bands the scratch holds; ld as attn_heads_ld gives it */
    struct attn_trace *trace;           /* NULL: nobody listens */
    int layer; size_t seq;
    size_t empty;                       /* out: rows that see nothing */
};

size_t attn_heads_ld(size_t keys);
/* Bands of scratch to give: one a thread, or all heads whole. */
size_t attn_heads_slots(size_t H, size_t Tq, int threads, bool whole);

void attn_heads_run(struct attn_heads *a, struct attn_team *team);

#endif
