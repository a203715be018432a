/* epilogue.c - the end of a work item: what is done with its sums while they are in the cache. */
#include "compute/gemm_item.h"

#include <string.h>

#include "base/size.h"

enum { PANEL = ATTN_PANEL };

/* The biases of columns j0.. in float32. */
static void widen_bias(float *bias, const struct attn_mat *w, size_t j0, size_t cols)
{
    for (size_t j = 0, n; j < cols; j += n) {           /* n: those that are contiguous */
        size_t group = w->group ? w->group : w->out, left = group - (j0 + j) % group;
        n = w->paired ? 1 : smaller(left, cols - j);
        attn_vec_widen(bias + j, w->bias.data, w->bias.type, attn_mat_index(w, j0 + j), n);
    }
}

/* s: the sums, to which the bias is added first.  bias: NULL if there is none. */
static void epilogue_of_row(float *y, float *s, const float *bias, size_t n, enum attn_epilogue epilogue)
{
    if (bias && epilogue == ATTN_STORE) {
        attn_vec_sum(y, s, bias, n);
        return;
    }
    if (bias && epilogue == ATTN_ADD) {
        attn_vec_add_sum(y, s, bias, n);
        return;
    }
    if (bias)
        attn_vec_add(s, bias, n);
    const enum attn_mlp_kind mlp = attn_epilogue_mlp(epilogue);
    if (mlp)
        attn_vec_activate(y, attn_mlp_gated(mlp) ? y : s, s, mlp, n);
    else if (epilogue == ATTN_ADD)
        attn_vec_add(y, s, n);
    else
        memcpy(y, s, n * sizeof *y);
}

void attn_item_epilogue(const struct attn_item_sums *o)
{
    float space[ATTN_ITEM_PANELS * PANEL], *bias = o->it.to->w->bias.data ? space : NULL;
    const struct attn_gemm_output *to = o->it.to;
    size_t j = o->it.j0 * PANEL, cols = attn_item_columns(&o->it);
    if (bias)
        widen_bias(bias, to->w, j, cols);
    for (size_t i = o->it.i0; i < o->it.i1; i++) {
        float *sum = o->sum + (i - o->it.i0) * o->ld;
        bool in_place = o->p->y_bf16 && !attn_mlp_gated(attn_epilogue_mlp(o->p->epilogue));
        float *y = in_place ? sum : to->y + i * to->ldy + j;
        epilogue_of_row(y, sum, bias, cols, o->p->epilogue);
        if (o->p->y_bf16)
            attn_gemm_round(o->p->y_bf16, to->w->out, i, j, y, cols);
    }
}
