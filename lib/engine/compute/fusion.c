#include "compute/fusion.h"

#include "compute/gemm.h"
#include "compute/multi_head.h"

static bool wanted(const struct attn_trace *t, int act, int layer)
{
    return attn_trace_wants(t, act, layer, ATTN_WATCH | ATTN_EDIT);
}

static void plan_bf16(bool *bf16, const struct attn_weights *w, const struct attn_trace *t,
                      const struct attn_kind *kind, int layer)
{
    const struct attn_block *b = &w->block[layer];
    const bool kept = w->post_norm_residual;            /* what a norm gives becomes the residual stream */
    bf16[ATTN_ACT_NORM1] = attn_has(&b->norm1) && !kept && !wanted(t, ATTN_ACT_NORM1, layer);
    bf16[ATTN_ACT_NORM2] = attn_has(&b->norm2) && !kept && !wanted(t, ATTN_ACT_NORM2, layer);
    bf16[ATTN_ACT_CONTEXT] =
        b->o.data && attn_heads_can_round(kind->form, w->n.dv) && !wanted(t, ATTN_ACT_CONTEXT, layer);
    bf16[ATTN_ACT_MLP_POST] = !wanted(t, ATTN_ACT_MLP_PRE, layer) && !wanted(t, ATTN_ACT_MLP_LINEAR, layer) &&
                              !wanted(t, ATTN_ACT_MLP_POST, layer);
}

void attn_fusion_plan(struct attn_fusion *fusion, const struct attn_weights *w, const struct attn_trace *trace,
                      const struct attn_kind *kind, bool bf16)
{
    static const int products[] = {ATTN_ACT_OUT, ATTN_ACT_MLP_PRE, ATTN_ACT_MLP_LINEAR, ATTN_ACT_MLP_OUT};
    const bool all_rows =
        attn_trace_wants_all(trace, ATTN_ACT_NORM_FINAL, -1) || attn_trace_wants_all(trace, ATTN_ACT_LOGITS, -1);
    for (int layer = 0; layer < (int)w->n.L; layer++) {
        struct attn_fusion *f = &fusion[layer];
        for (size_t i = 0; i < sizeof products / sizeof *products; i++)
            f->epilogue[products[i]] = !wanted(trace, products[i], layer);
        if (bf16)
            plan_bf16(f->bf16, w, trace, kind, layer);
        f->prune = !all_rows && !attn_trace_wants_among(trace, ATTN_ACT_OUT, ATTN_ACT_NORM_FINAL, layer);
    }
}
