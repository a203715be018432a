/* evidence_stream.c - evidence on the residual stream and its ends: sums, soft caps, tied output layers. */
#include "compare/evidence.h"

#include <math.h>
#include <stdlib.h>

static const double rounding_of_sums = 3e-5;      /* sums of a few terms are more exact than products */

enum { ROWS = 64 };                     /* that are looked at: more would prove no more */

/* ---- a = f(b) -------------------------------------------------------------------------- */

bool attn_seems_stretched(const struct attn_pair *p, double *factor)
{
    double ab = 0, bb = 0, aa = 0, before = 0;
    for (size_t j = 0; j < p->n && p->H == 1; j++) {
        double mean_a = 0, mean_b = 0;
        for (size_t t = 0; t < p->T; t++) {
            mean_a += (double)p->a[t * p->ld + j] / (double)p->T;
            mean_b += (double)p->b[t * p->ld + j] / (double)p->T;
        }
        for (size_t t = 0; t < p->T; t++) {
            double a = (double)p->a[t * p->ld + j] - mean_a, b = (double)p->b[t * p->ld + j] - mean_b;
            ab += a * b;
            bb += b * b;
            aa += a * a;
            before += (a - b) * (a - b);
        }
    }
    if (!(bb > 0) || !(ab > 0) || p->T < 2)
        return false;
    *factor = ab / bb;
    double left = fmax(aa - ab * *factor, 0);
    return attn_gap_explained(sqrt(left / bb), sqrt(before / bb));
}

/* The cap that makes y of x; y is between 0 and x. */
static double cap_of(double x, double y)
{
    double low = y, high = 1e6 * x;
    for (int i = 0; i < 200; i++) {
        double mid = (low + high) / 2;
        *(mid * tanh(x / mid) < y ? &low : &high) = mid;
    }
    return (low + high) / 2;
}

static double capped_gap(const struct attn_pair *p, const float *capped, const float *x, double cap)
{
    double left = 0, all = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                size_t at = h * p->ld_head + t * p->ld + j;
                double have = capped[at], d = have - cap * tanh((double)x[at] / cap);
                if (isfinite(x[at]) && isfinite(have)) {
                    left += d * d;
                    all += have * have;
                }
            }
    return all > 0 ? sqrt(left / all) : INFINITY;
}

/* Whether `capped` is x under a cap, which the largest number of x shows best. */
static bool is_capped(const struct attn_pair *p, const float *capped, const float *x, double *cap)
{
    double most = 0, there = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                size_t at = h * p->ld_head + t * p->ld + j;
                if (isfinite(x[at]) && fabs((double)x[at]) > most) {
                    most = fabs((double)x[at]);
                    there = x[at] > 0 ? (double)capped[at] : -(double)capped[at];
                }
            }
    if (!(there > 0) || !(there < most))
        return false;
    *cap = cap_of(most, there);
    return attn_gap_explained(capped_gap(p, capped, x, *cap), attn_pair_gap(p));
}

bool attn_seems_capped(const struct attn_pair *p, double *cap, bool *a_is)
{
    *a_is = is_capped(p, p->a, p->b, cap);
    return *a_is || is_capped(p, p->b, p->a, cap);
}

/* ---- sums ------------------------------------------------------------------------------ */

/* The size of column j, by which its numbers are divided: columns may be much larger than others. */
static double column_size(const float *x, size_t T, size_t n, size_t j)
{
    double square = 0;
    for (size_t t = 0; t < T; t++)
        square += (double)x[t * n + j] * (double)x[t * n + j];
    return square > 0 ? sqrt(square / (double)T) : 1;
}

double attn_fit_sum_gap(const int *times, const float *x, const float *const *term, size_t terms, size_t T, size_t n)
{
    double left = 0;
    size_t rows = T < ROWS ? T : ROWS;
    for (size_t i = 0; i < terms; i++)
        if (times[i] && !term[i])
            return INFINITY;
    for (size_t j = 0; j < n; j++) {
        double size = column_size(x, rows, n, j);
        for (size_t t = 0; t < rows; t++) {
            double d = -(double)x[t * n + j];
            for (size_t i = 0; i < terms; i++)
                d += times[i] ? times[i] * (double)term[i][t * n + j] : 0;
            left += d * d / (size * size);
        }
    }
    return isfinite(left) && rows && n ? sqrt(left / (double)(rows * n)) : INFINITY;
}

/* Products of all pairs of terms; the last one is x. */
struct products { double of[ATTN_SUM_TERMS + 1][ATTN_SUM_TERMS + 1]; size_t terms; };

static void multiply_terms(struct products *p, const float *x, const float *const *term, size_t T, size_t n)
{
    size_t rows = T < ROWS ? T : ROWS;
    for (size_t j = 0; j < n; j++) {
        double size = column_size(x, rows, n, j);
        for (size_t t = 0; t < rows; t++) {
            double y[ATTN_SUM_TERMS + 1];
            for (size_t i = 0; i <= p->terms; i++) {
                const float *from = i < p->terms ? term[i] : x;
                y[i] = from ? (double)from[t * n + j] / size : 0;
            }
            for (size_t i = 0; i <= p->terms; i++)
                for (size_t k = 0; k <= p->terms; k++)
                    p->of[i][k] += y[i] * y[k] / (double)(rows * n);
        }
    }
}

static double gap_by_products(const struct products *p, const int *times)
{
    double left = 0;
    for (size_t i = 0; i <= p->terms; i++)
        for (size_t k = 0; k <= p->terms; k++)
            left += (i < p->terms ? times[i] : -1) * (k < p->terms ? times[k] : -1) * p->of[i][k];
    return sqrt(fmax(left, 0));
}

/* The number of a choice of terms counts which are added, and then which one of them twice. */
static size_t choose(int *times, size_t choice, size_t terms)
{
    size_t twice = choice >> terms, count = 0;
    for (size_t i = 0; i < terms; i++) {
        times[i] = choice >> i & 1 ? 1 + (twice == i + 1) : 0;
        count += (size_t)times[i];
    }
    return !twice || times[twice - 1] == 2 ? count : 0;     /* 0: not a choice */
}

bool attn_fit_sum(int *times, double *gap, const float *x, const float *const *term, size_t terms, size_t T, size_t n)
{
    struct products p = {.terms = terms};
    int some[ATTN_SUM_TERMS];
    size_t choices = (terms + 1) << terms, fewest = SIZE_MAX;
    double least = INFINITY;
    multiply_terms(&p, x, term, T, n);
    for (size_t i = 0; i < choices; i++)
        if (choose(some, i, terms))
            least = fmin(least, gap_by_products(&p, some));
    if (!(least <= rounding_of_sums))
        return false;
    for (size_t i = 0; i < choices; i++) {
        size_t count = choose(some, i, terms);
        if (count && count < fewest && gap_by_products(&p, some) <= 4 * least + 1e-6 &&
            isfinite(attn_fit_sum_gap(some, x, term, terms, T, n))) {
            fewest = count;
            for (size_t k = 0; k < terms; k++)
                times[k] = some[k];
        }
    }
    *gap = fewest < SIZE_MAX ? attn_fit_sum_gap(times, x, term, terms, T, n) : INFINITY;
    return *gap <= rounding_of_sums;
}

/* ---- the output layer ------------------------------------------------------------------ */

double attn_fit_tied(const float *logits, size_t V, const float *x, const float *embed, const int32_t *id, size_t T,
                     size_t n)
{
    double zz = 0, zy = 0, yy = 0;
    size_t rows = T < ROWS ? T : ROWS;
    for (size_t t = 0; t < rows; t++)
        for (size_t k = 0; k < rows; k++) {
            double z = 0, y = logits[t * V + (size_t)id[k]];
            for (size_t j = 0; j < n; j++)
                z += (double)x[t * n + j] * (double)embed[k * n + j];
            zz += z * z;
            zy += z * y;
            yy += y * y;
        }
    return zz > 0 && yy > 0 ? sqrt(fmax(yy - zy * zy / zz, 0) / yy) : INFINITY;
}
