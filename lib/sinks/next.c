#include "sinks/next.h"

#include <math.h>
#include <stdio.h>

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

/* Whether a logit forbids to rank them, and which. */
static bool in_the_way(size_t *bad, const float *logits, size_t V)
{
    size_t out = 0;
    for (size_t i = 0; i < V; i++) {
        *bad = i;
        if (isnan(logits[i]) || logits[i] == INFINITY)
            return true;
        out += logits[i] == -INFINITY;
    }
    *bad = 0;
    return out == V;
}

void attn_next_find(struct attn_next *out, const float *logits, size_t V)
{
    *out = (struct attn_next){0};
    if (in_the_way(&out->bad, logits, V)) {
        out->nonfinite = logits[out->bad];
        return;
    }
    for (size_t i = 0; i < V; i++)
        insert(out, (int32_t)i, logits[i]);
    double top = out->n ? out->best[0].p : 0, sum = 0;
    for (size_t i = 0; i < V; i++)
        sum += exp(logits[i] - top);
    for (size_t i = 0; i < out->n; i++)
        out->best[i].p = exp(out->best[i].p - top) / sum;
}

void attn_next_why(char buf[ATTN_NEXT_WHY], const struct attn_next *next)
{
    const char *what = isnan(next->nonfinite) ? "nan" : next->nonfinite > 0 ? "inf" : "-inf";
    snprintf(buf, ATTN_NEXT_WHY, "the logit of token %zu is %s, expected a finite number: the weights overflow or are damaged "
             "(attn-cli info --check looks for the latter)", next->bad, what);
}
