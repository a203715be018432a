/* evidence_norm.c - which norm made y from x.  The model is y = w * z + b, with z the row, centred or not, divided by
 * the root of its variance plus epsilon.  Weight and bias are unknown: each column gets those that fit best. */
#include "compare/evidence.h"

#include <math.h>
#include <stdlib.h>

static const double epsilons[] = {1e-12, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
enum { COLUMNS = 512, ROWS = 256, FEWEST = 3 };         /* more numbers would prove no more; fewer rows fit anything */

static double spread(const float *x, size_t n, enum attn_norm_form kind, double *centre)
{
    double sum = 0;
    *centre = 0;
    for (size_t j = 0; j < n && kind != ATTN_FIT_RMS; j++)
        *centre += (double)x[j] / (double)n;
    for (size_t j = 0; j < n; j++)
        sum += ((double)x[j] - *centre) * ((double)x[j] - *centre);
    return sum / (double)n;
}

struct rows { const float *x, *y; size_t T, n; double centre[ROWS], over[ROWS]; bool bias; };

/* Sums of squares of column j: what the best weight and bias leave, and all. */
static void column(const struct rows *r, size_t j, double *left, double *all)
{
    double n = (double)r->T, sz = 0, sy = 0, szz = 0, szy = 0, syy = 0;
    for (size_t t = 0; t < r->T; t++) {
        double z = ((double)r->x[t * r->n + j] - r->centre[t]) * r->over[t], y = r->y[t * r->n + j];
        sz += z;
        sy += y;
        szz += z * z;
        szy += z * y;
        syy += y * y;
    }
    double mz = r->bias ? sz / n : 0, my = r->bias ? sy / n : 0;
    double czz = szz - n * mz * mz, w = czz > 0 ? (szy - n * mz * my) / czz : 0;
    for (size_t t = 0; t < r->T; t++) {
        double z = ((double)r->x[t * r->n + j] - r->centre[t]) * r->over[t], y = r->y[t * r->n + j];
        double d = y - my - w * (z - mz);
        *left += d * d;
    }
    *all += syy;
}

double attn_fit_norm_gap(const struct attn_norm_fit *as, const float *x, const float *y, size_t T, size_t n)
{
    struct rows r = {.x = x, .y = y, .T = T < ROWS ? T : ROWS, .n = n, .bias = as->kind != ATTN_FIT_RMS};
    double left = 0, all = 0;
    for (size_t t = 0; t < r.T; t++)
        r.over[t] = 1 / sqrt(spread(x + t * n, n, as->kind, &r.centre[t]) + as->eps);
    for (size_t j = 0; j < n && j < COLUMNS; j++)
        column(&r, j, &left, &all);
    return all > 0 ? sqrt(left / all) : INFINITY;
}

bool attn_fit_norm(struct attn_norm_fit *out, const float *x, const float *y, size_t T, size_t n)
{
    *out = (struct attn_norm_fit){.gap = INFINITY};
    if (T < FEWEST || n < 2)
        return false;
    for (int kind = 0; kind < ATTN_FIT_KINDS; kind++)
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
            struct attn_norm_fit f = {.kind = (enum attn_norm_form)kind, .eps = epsilons[e]};
            f.gap = attn_fit_norm_gap(&f, x, y, T, n);
            if (f.gap < out->gap)
                *out = f;
        }
    return isfinite(out->gap);
}
