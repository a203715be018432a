/* evidence_model.c - evidence on how a model was ported: which rotary positions and which norms fit the numbers. */
#include "compare/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rotary positions: pair i of a head is rotated by position * theta^(-2i/r) --------- */

enum { THETAS = 5, WIDTHS = 3, MOST = 1 + 2 * THETAS * WIDTHS * 2 };

static double inv_freq_of(const struct attn_rotation *by, size_t i)
{
    double inv_freq = by->inv_freq ? by->inv_freq[i] : pow(by->theta, -2.0 * (double)i / (double)by->r);
    return by->backwards ? -inv_freq : inv_freq;
}

/* The numbers of a head that pair i has. */
static size_t first_of(const struct attn_rotation *by, size_t i)
{
    return by->first + (by->pairing == ATTN_HALVES ? i : 2 * i);
}

static size_t second_of(const struct attn_rotation *by, size_t i)
{
    return first_of(by, i) + (by->pairing == ATTN_HALVES ? by->r / 2 : 1);
}

void attn_rotate_back(float *y, const float *x, const struct attn_pair *shape, const struct attn_rotation *by)
{
    size_t half = by->pairing == ATTN_UNROTATED ? 0 : by->r / 2, n = shape->n;
    double grow = by->attention_factor > 0 ? by->attention_factor : 1;
    for (size_t t = 0; t < shape->T; t++)
        for (size_t h = 0; h < shape->H; h++)
            memcpy(y + (h * shape->T + t) * n, x + h * shape->ld_head + t * shape->ld, n * sizeof *y);
    for (size_t t = 0; t < shape->T; t++)
        for (size_t i = 0; i < half; i++) {
            double angle = ((double)t + (double)by->start) * inv_freq_of(by, i);
            double c = cos(angle) / grow, s = sin(angle) / grow;
            size_t u = first_of(by, i), v = second_of(by, i);
            for (size_t h = 0; h < shape->H; h++) {
                float *row = y + (h * shape->T + t) * n;
                double first = row[u], second = row[v];
                row[u] = (float)(first * c + second * s);
                row[v] = (float)(second * c - first * s);
            }
        }
}

static size_t rotations(struct attn_rotation out[MOST], size_t dh, double theta)
{
    const double thetas[THETAS] = {theta, 10000, 500000, 1000000, 100000};
    const size_t widths[WIDTHS] = {dh, dh / 2, dh / 4};
    size_t n = 0;
    out[n++] = (struct attn_rotation){.pairing = ATTN_UNROTATED};
    for (int i = 0; i < THETAS; i++)
        for (int w = 0; w < WIDTHS; w++)
            for (int k = 0; k < 4; k++)
                if (thetas[i] > 0 && !(i && thetas[i] == theta) && widths[w] >= 2 && widths[w] % 2 == 0)
                    out[n++] = (struct attn_rotation){.pairing = k % 2 ? ATTN_ADJACENT : ATTN_HALVES,
                                                      .theta = thetas[i], .r = widths[w], .start = k / 2};
    return n;
}

/* The number of respects in which two rotations differ; not rotating at all counts as one. */
static int respects(const struct attn_rotation *a, const struct attn_rotation *b)
{
    if (a->pairing == ATTN_UNROTATED || b->pairing == ATTN_UNROTATED)
        return a->pairing != b->pairing;
    return (a->pairing != b->pairing) + (a->theta != b->theta) + (a->r != b->r) + (a->start != b->start);
}

static double rotated_gap(const struct attn_pair *p, const struct attn_rotation *a, const struct attn_rotation *b,
                          float *scratch)
{
    size_t n = p->H * p->T * p->n;
    attn_rotate_back(scratch, p->a, p, a);
    attn_rotate_back(scratch + n, p->b, p, b);
    return attn_gap(scratch, scratch + n, n);
}

/* The first rows of the first heads, which select a candidate; the final test uses all. */
static struct attn_pair few(const struct attn_pair *p)
{
    struct attn_pair some = *p;
    some.H = p->H < 2 ? p->H : 2;
    some.T = p->T < 6 ? p->T : 6;
    return some;
}

bool attn_seems_rotated(const struct attn_pair *p, double theta, struct attn_rotation *a, struct attn_rotation *b)
{
    struct attn_rotation list[MOST];
    struct attn_pair some = few(p);
    size_t n = rotations(list, p->n, theta);
    double least = INFINITY;
    float *scratch = malloc(2 * p->H * p->T * p->n * sizeof *scratch + 1);
    if (!scratch)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double gap = respects(&list[i], &list[k]) == 1 ? rotated_gap(&some, &list[i], &list[k], scratch) : INFINITY;
            if (gap < least * 0.999) {                  /* of equal candidates the first, which is the more usual */
                least = gap;
                *a = list[i];
                *b = list[k];
            }
        }
    bool found = isfinite(least) && attn_gap_explained(rotated_gap(p, a, b, scratch), attn_pair_gap(p));
    free(scratch);
    return found;
}

bool attn_seems_misrotated(const struct attn_pair *p, const struct attn_rotation *right,
                           const struct attn_rotation *other,
                           size_t n, size_t *which, bool *a_is_other)
{
    struct attn_pair some = few(p);
    double least = INFINITY;
    float *scratch = malloc(2 * p->H * p->T * p->n * sizeof *scratch + 1);
    if (!scratch)
        return false;
    for (size_t i = 0; i < 2 * n; i++) {
        bool a = i % 2 == 0;
        double gap = rotated_gap(&some, a ? &other[i / 2] : right, a ? right : &other[i / 2], scratch);
        if (gap < least * 0.999) {
            least = gap;
            *which = i / 2;
            *a_is_other = a;
        }
    }
    bool found = false;
    if (isfinite(least)) {
        const struct attn_rotation *best = &other[*which];
        double gap = rotated_gap(p, *a_is_other ? best : right, *a_is_other ? right : best, scratch);
        found = attn_gap_explained(gap, attn_pair_gap(p));
    }
    free(scratch);
    return found;
}

/* The angles are those of complex numbers, pairs of x times the conjugates of y's; that of a row over that of the row
 * before is the same in all rows, and the weighted sum of these has the mean angle. */
double attn_rope_measure(double *inv_freq, const float *x, const float *y, const struct attn_pair *shape,
                         const struct attn_rotation *as)
{
    double xx = 0, yy = 0;
    for (size_t i = 0; i < as->r / 2; i++) {
        size_t u = first_of(as, i), v = second_of(as, i);
        double real = 0, imaginary = 0, before_re = 0, before_im = 0;
        for (size_t t = 0; t < shape->T; t++) {
            double re = 0, im = 0;
            for (size_t h = 0; h < shape->H; h++) {
                const float *a = x + h * shape->ld_head + t * shape->ld, *b = y + (h * shape->T + t) * shape->n;
                re += (double)a[u] * (double)b[u] + (double)a[v] * (double)b[v];
                im += (double)a[v] * (double)b[u] - (double)a[u] * (double)b[v];
                xx += (double)a[u] * (double)a[u] + (double)a[v] * (double)a[v];
                yy += (double)b[u] * (double)b[u] + (double)b[v] * (double)b[v];
            }
            real += re * before_re + im * before_im;
            imaginary += im * before_re - re * before_im;
            before_re = re;
            before_im = im;
        }
        inv_freq[i] = atan2(imaginary, real);
    }
    return yy > 0 ? sqrt(xx / yy) : 1;
}

bool attn_seems_rotated_offset(const struct attn_pair *p, double theta)
{
    struct attn_rotation list[MOST];
    size_t n = rotations(list, p->n, theta), all = p->H * p->T * p->n;
    bool found = false;
    float *scratch = malloc(2 * all * sizeof *scratch + 1);
    if (!scratch)
        return false;
    for (size_t i = 1; i < n && !found; i++) {
        attn_rotate_back(scratch, p->a, p, &list[i]);
        attn_rotate_back(scratch + all, p->b, p, &list[i]);
        struct attn_pair back = attn_pair_of(scratch, scratch + all, p->H, p->T, p->n);
        found = attn_seems_offset(&back);
    }
    free(scratch);
    return found;
}

/* ---- norms ----------------------------------------------------------------------------- */

/* The model is y = w * z + b, with z the row, centred or not, divided by the root of its variance plus epsilon.
 * Weight and bias are unknown: each column gets those that fit best. */
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

/* Sums of squares of column j: what the best weight and bias leave, and all.  Returns the weight. */
static double column(const struct rows *r, size_t j, double *left, double *all)
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
    return w;
}

static struct rows norm_rows(const struct attn_norm_fit *as, const float *x, const float *y, size_t T, size_t n)
{
    struct rows r = {.x = x, .y = y, .T = T < ROWS ? T : ROWS, .n = n, .bias = as->kind != ATTN_FIT_RMS};
    for (size_t t = 0; t < r.T; t++)
        r.over[t] = 1 / sqrt(spread(x + t * n, n, as->kind, &r.centre[t]) + as->eps);
    return r;
}

double attn_fit_norm_gap(const struct attn_norm_fit *as, const float *x, const float *y, size_t T, size_t n)
{
    struct rows r = norm_rows(as, x, y, T, n);
    double left = 0, all = 0;
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

struct attn_eps_range attn_fit_norm_range(const struct attn_norm_fit *best, const float *x, const float *y, size_t T,
                                          size_t n)
{
    const double rounding = 1e-7, as_well = fmax(2 * best->gap, rounding);
    struct attn_eps_range r = {best->eps, best->eps};
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        struct attn_norm_fit f = {.kind = best->kind, .eps = epsilons[e]};
        if (attn_fit_norm_gap(&f, x, y, T, n) > as_well)
            continue;
        r.least = epsilons[e] < r.least ? e ? epsilons[e] : 0 : r.least;
        r.most = epsilons[e] > r.most ? epsilons[e] : r.most;
    }
    return r;
}

double attn_fit_norm_gain(const struct attn_norm_fit *as, const float *x, const float *y, size_t T, size_t n)
{
    struct rows r = norm_rows(as, x, y, T, n);
    double sum = 0, left = 0, all = 0;
    size_t columns = n < COLUMNS ? n : COLUMNS;
    for (size_t j = 0; j < columns; j++) {
        double w = column(&r, j, &left, &all);
        sum += w * w;
    }
    return sqrt(sum / (double)columns);
}
