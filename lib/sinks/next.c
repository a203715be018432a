#include "sinks/next.h"

#include <math.h>

static void insert(struct attn_next *next, int32_t id, double x)
{
    size_t i = next->n < ATTN_NEXT_MAX ? next->n++ : ATTN_NEXT_MAX;
    for (; i > 0 && next->best[i - 1].p < x; i--)
        if (i < ATTN_NEXT_MAX)
            next->best[i] = next->best[i - 1];
    if (i < ATTN_NEXT_MAX) {
        next->best[i].id = id;
        next->best[i].p = x;
    }
}

void attn_next_find(struct attn_next *out, const float *logits, size_t V)
{
    out->n = 0;
    for (size_t i = 0; i < V; i++)
        insert(out, (int32_t)i, logits[i]);
    double top = out->n ? out->best[0].p : 0, sum = 0;
    for (size_t i = 0; i < V; i++)
        sum += exp(logits[i] - top);
    for (size_t i = 0; i < out->n; i++)
        out->best[i].p = exp(out->best[i].p - top) / sum;
}
