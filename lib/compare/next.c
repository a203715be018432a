/* next.c - how far apart are the two sides' predictions of the next token? */
#include "compare/diff.h"

#include <math.h>

#include "base/err.h"

/* The logarithm of the sum of exp(x[n]); NaN unless x is a distribution's logits: -inf rules a token out. */
static double log_sum(const float *x, size_t n)
{
    float most = -INFINITY;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            return (double)NAN;
        most = x[i] > most ? x[i] : most;
    }
    if (!isfinite(most))
        return (double)NAN;
    for (size_t i = 0; i < n; i++)
        sum += exp((double)x[i] - (double)most);
    return (double)most + log(sum);
}

/* KL(p || q) in nats, from logits. */
static double divergence(const float *p, const float *q, size_t n, double sum_p, double sum_q)
{
    double kl = 0;
    for (size_t i = 0; i < n; i++) {
        double lp = (double)p[i] - sum_p, lq = (double)q[i] - sum_q;
        kl += isinf(p[i]) ? 0 : exp(lp) * (lp - lq);
    }
    return isnan(sum_p + sum_q) ? (double)NAN : kl < 0 ? 0 : kl;       /* below 0 by rounding alone */
}

static void find_largest(struct attn_diff_next *out, const float *a, const float *b)
{
    out->max_abs = -1;
    for (size_t i = 0; i < out->V; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (a[i] == b[i])
            d = 0;
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
        double sum_a = log_sum(a, p.n), sum_b = log_sum(b, p.n);
        out->kl_ba = divergence(b, a, p.n, sum_b, sum_a);
        out->kl_ab = divergence(a, b, p.n, sum_a, sum_b);
        out->kl_ba_mean += out->kl_ba / (double)p.T;
        out->kl_ab_mean += out->kl_ab / (double)p.T;
    }
    const float *a = p.a + (p.T - 1) * p.ld, *b = p.b + (p.T - 1) * p.ld;
    find_largest(out, a, b);
    find_next(out->next_a, &out->n_a, a, p.n);
    find_next(out->next_b, &out->n_b, b, p.n);
}
