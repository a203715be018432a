/* bench_cost.c - the least work a pass takes, counted from the sizes of a model. */
#include "bench/bench.h"

#include "say.h"

#include <stdlib.h>
#include <string.h>

/* Parameters of the matrices in all blocks. */
static double block_parameters(const struct attn_info *n)
{
    double d = (double)n->d, qkv = d * (double)(n->H * n->dh + n->Hkv * (n->dh + n->dv));
    double o = n->output_projection ? (double)(n->H * n->dv) * d : 0;
    double mlp = (double)n->m * d * (strcmp(n->mlp, "swiglu") ? 2 : 3);
    return (double)n->L * (qkv + o + mlp);
}

/* The number of visible pairs of query and key among T tokens, summed over all layers. */
static double visible(const struct attn_info *n, double T)
{
    double W = (double)n->window, all = strcmp(n->mask, "none") ? T * (T + 1) / 2 : T * T;
    double near = n->local && W < T ? W * (W + 1) / 2 + (T - W) * W : all;
    return (double)(n->L - n->local) * all + (double)n->local * near;
}

double bench_flops(const struct attn_info *n, size_t T, bool logits)
{
    double blocks = 2 * (double)T * block_parameters(n);
    double attention = 2 * (double)((n->dh + n->dv) * n->H) * visible(n, (double)T);
    return blocks + attention + (logits ? 2 * (double)n->d * (double)n->V : 0);
}

double bench_step_bytes(const struct attn_info *n, size_t keys, size_t bytes_per_weight)
{
    double weights = block_parameters(n) + (double)n->d * (double)n->V;
    double seen = visible(n, (double)keys) - visible(n, (double)keys - 1);
    return weights * (double)bytes_per_weight + seen * (double)(n->Hkv * (n->dh + n->dv) * sizeof(float));
}

int32_t *bench_ids(const struct attn_info *n, size_t T, struct attn_err *err)
{
    int32_t *ids = calloc(T, sizeof *ids);
    if (!ids)
        fail(err, ATTN_ENOMEM, "no memory for %zu tokens", T);
    for (size_t i = 0; ids && i < T; i++)
        ids[i] = (int32_t)(i * 7919 % n->V);
    return ids;
}
