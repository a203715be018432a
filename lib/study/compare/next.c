/* next.c - how far apart are the two sides' predictions of the next token? */
#include "compare/diff.h"

#include <math.h>

#include "run/logits.h"

static void find_largest(struct attn_diff_next *out, const float *a, const float *b)
{
    out->max_abs = -1;
    for (size_t i = 0; i < out->V; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))
            d = 0;
        else if (isnan(d))              /* of one side alone */
            d = INFINITY;
        if (d > out->max_abs) {
            out->max_abs = d;
            out->at = (int32_t)i;
            out->a = a[i];
            out->b = b[i];
        }
    }
}

/* Where the logits are no distribution there is no next token, and none is listed. */
static void find_next(struct attn_likely *out, size_t *n, const float *logits, size_t V)
{
    struct attn_err why = {0};
    if (attn_logits_top(out, n, ATTN_DIFF_NEXT, logits, V, &why))
        *n = 0;
}

void attn_diff_next(struct attn_diff_next *out, const struct attn_diff *d)
{
    struct attn_pair p;
    *out = (struct attn_diff_next){0};
    if (!attn_diff_pair(d, ATTN_ACT_LOGITS, -1, &p) || p.H != 1 || !p.T || !p.n || p.n > INT32_MAX)
        return;
    out->rows = p.T;
    out->V = p.n;
    for (size_t t = 0; t < p.T; t++) {
        const float *a = p.a + t * p.ld, *b = p.b + t * p.ld;
        double sum_a = attn_logits_log_sum(a, p.n), sum_b = attn_logits_log_sum(b, p.n);
        out->kl_ba = attn_logits_divergence(b, sum_b, a, sum_a, p.n);
        out->kl_ab = attn_logits_divergence(a, sum_a, b, sum_b, p.n);
        out->kl_ba_mean += out->kl_ba / (double)p.T;
        out->kl_ab_mean += out->kl_ab / (double)p.T;
    }
    const float *a = p.a + (p.T - 1) * p.ld, *b = p.b + (p.T - 1) * p.ld;
    find_largest(out, a, b);
    find_next(out->next_a, &out->n_a, a, p.n);
    find_next(out->next_b, &out->n_b, b, p.n);
}
