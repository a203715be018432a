/* fusion.h - what the steps of a block do in one go, decided once, when a run is planned.
 *
 * What an observer wants to see must be there, in float32, before the next step changes it.  All else is fused: a
 * product adds its bias, activates and adds to the residual stream while its sums are in the cache; what products
 * alone read is written in bf16 at once; and after the last attention only the last row of each sentence goes on. */
#ifndef ATTN_COMPUTE_FUSION_H
#define ATTN_COMPUTE_FUSION_H

#include "compute/mask.h"
#include "compute/weights.h"
#include "trace/trace.h"

struct attn_fusion {                    /* of one block */
    bool epilogue[ATTN_ACTS];           /* products whose sums nobody sees: y becomes what the epilogue makes of them */
    bool bf16[ATTN_ACTS];               /* activations that are kept in bf16 alone, as only products read them */
    bool prune;                         /* if no block follows, nobody reads any row after attention but the
                                         * last of each sentence */
};

/* Fills in fusion[L].  bf16: whether products compute in it; kind: as asked for. */
void attn_fusion_plan(struct attn_fusion *fusion, const struct attn_weights *w, const struct attn_trace *trace,
                      const struct attn_kind *kind, bool bf16);

#endif
