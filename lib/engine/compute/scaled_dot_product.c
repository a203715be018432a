/* scaled_dot_product.c - causal attention of one head, as the paper defines it.  Read this file first; nothing in it is
 * fast.
 *
 *     dots    = q k'                      [Tq, Tk]  how well each query matches each key
 *     scores  = dots * scale              scale: 1 / sqrt(dh), so that longer vectors do not make larger scores
 *     pattern = softmax(scores)           each row sums to 1, and is 0 for the keys that come after its query
 *     context = pattern v                 [Tq, dv]  for each query a mean of the values, weighted by its row
 *
 * This is section 3.2.1 of "Attention Is All You Need" (Vaswani et al., 2017); multi_head.c is section 3.2.2, the
 * same for all heads.  attention.c computes it fast: tests/compute/test_scaled_dot_product.c compares both. */
#include "compute/attention.h"

#include "base/size.h"

#include <math.h>

static float dot(const float *a, const float *b, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = fmaf(a[i], b[i], sum);    /* a[i] * b[i] + sum, rounded once */
    return sum;
}

/* x[n] becomes exp(x) / sum of exp(x).  Subtracting the maximum first changes no ratio, and exp cannot overflow. */
static void softmax(float *x, size_t n)
{
    float max = -INFINITY;
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        max = fmaxf(max, x[j]);
    for (size_t j = 0; j < n; j++) {
        x[j] = expf(x[j] - max);
        sum += (double)x[j];
    }
    for (size_t j = 0; j < n; j++)
        x[j] /= (float)sum;
}

void attn_attention_plain(float *context, float *pattern, const float *q, const float *k, const float *v, size_t Tq,
                          size_t Tk, size_t dh, size_t dv, size_t pos, float scale)
{
    for (size_t t = 0; t < Tq; t++) {
        const size_t seen = smaller(pos + t + 1, Tk);   /* the causal mask: keys up to the query's own position */
        float *row = pattern + t * Tk, *out = context + t * dv;

        for (size_t j = 0; j < seen; j++)
            row[j] = dot(q + t * dh, k + j * dh, dh) * scale;
        softmax(row, seen);
        for (size_t j = seen; j < Tk; j++)
            row[j] = 0;

        for (size_t i = 0; i < dv; i++)
            out[i] = 0;
        for (size_t j = 0; j < seen; j++)
            for (size_t i = 0; i < dv; i++)
                out[i] = fmaf(row[j], v[j * dv + i], out[i]);
    }
}
