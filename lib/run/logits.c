#include "run/logits.h"

#include "base/err.h"

#include <math.h>

int attn_logits_best(int32_t *best, const float *logits, size_t V, struct attn_err *err)
{
    *best = 0;
    for (size_t i = 0; i < V; i++) {
        if (!isfinite(logits[i]))
            return attn_fail(err, ATTN_EFORMAT, "the logit of token %zu is %s, expected a finite number: the weights overflow "
                             "or are damaged", i, isnan(logits[i]) ? "nan" : logits[i] > 0 ? "inf" : "-inf");
        if (logits[i] > logits[*best])
            *best = (int32_t)i;
    }
    return ATTN_OK;
}

int attn_logprob(double *out, const float *logits, size_t V, int32_t id, struct attn_err *err)
{
    int32_t best;
    int rc = attn_logits_best(&best, logits, V, err);
    if (rc)
        return rc;
    double top = logits[best], sum = 1;                 /* 1 is exp(0) of the best itself */
    for (size_t i = 0; i < V; i++)
        if (i != (size_t)best)
            sum += exp(logits[i] - top);
    *out = logits[id] - top - log(sum);
    return ATTN_OK;
}
