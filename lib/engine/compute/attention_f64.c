#include "compute/attention_f64.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"

void attn_f64_project(double *y, const double *x, const struct attn_f64_weight *w)
{
    for (size_t j = 0; j < w->out; j++) {
        y[j] = 0;
        for (size_t i = 0; i < w->in; i++)
            y[j] += x[i] * w->x[i * w->next_in + j * w->next_out];
        if (w->b)
            y[j] += w->b[j];
    }
}

void attn_f64_dots(double *dots, const double *q, const double *k, size_t Tk, size_t dh)
{
    for (size_t j = 0; j < Tk; j++) {
        dots[j] = 0;
        for (size_t i = 0; i < dh; i++)
            dots[j] += q[i] * k[j * dh + i];
    }
}

void attn_f64_scores(double *scores, const double *dots, double scale, double cap, size_t Tk)
{
    for (size_t j = 0; j < Tk; j++) {
        scores[j] = dots[j] * scale;
        if (cap != 0)
            scores[j] = cap * tanh(scores[j] / cap);
    }
}

void attn_f64_hide(double *scores, const bool *seen, size_t Tk)
{
    for (size_t j = 0; j < Tk; j++)
        if (!seen[j])
            scores[j] = -INFINITY;
}

/* Below DBL_MIN numbers have few bits left, and there is no row of weights. */
static bool divide(double *weights, size_t Tk)
{
    double sum = 0;
    for (size_t j = 0; j < Tk; j++)
        sum += weights[j];
    for (size_t j = 0; j < Tk && fabs(sum) >= 0x1p-1022; j++)
        weights[j] /= sum;
    return fabs(sum) >= 0x1p-1022;
}

/* The largest score is subtracted first: that changes no ratio, and exp cannot overflow. */
bool attn_f64_weights(double *weights, const double *scores, enum attn_weighing how, size_t Tk)
{
    double max = -INFINITY;
    for (size_t j = 0; j < Tk; j++)
        max = fmax(max, scores[j]);
    for (size_t j = 0; j < Tk; j++)
        weights[j] = scores[j] == -INFINITY ? 0 : how == ATTN_WEIGHTS_SUM ? scores[j] : attn_exp(scores[j] - max);
    return divide(weights, Tk);
}

/* elu(x) + 1 */
static double feature(double x) { return x > 0 ? x + 1 : attn_exp(x); }

bool attn_f64_linear(double *weights, const double *q, const double *k, const bool *seen, size_t Tk, size_t dh)
{
    for (size_t j = 0; j < Tk; j++) {
        weights[j] = 0;
        for (size_t i = 0; i < dh && seen[j]; i++)
            weights[j] += feature(q[i]) * feature(k[j * dh + i]);
    }
    return divide(weights, Tk);
}

bool attn_f64_keep(double *weights, const bool *seen, bool division, size_t Tk)
{
    for (size_t j = 0; j < Tk; j++)
        weights[j] = seen[j] ? weights[j] : 0;
    return !division || divide(weights, Tk);
}

void attn_f64_mix(double *context, const double *weights, const double *v, size_t Tk, size_t dv)
{
    memset(context, 0, dv * sizeof *context);
    for (size_t j = 0; j < Tk; j++)
        for (size_t i = 0; i < dv; i++)
            context[i] += weights[j] * v[j * dv + i];
}
