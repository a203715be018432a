/* Principal axes go through the origin, so that angles stay those of the cosines as far as a plane can have them: of
 * the products between all vectors, the eigenvectors with the largest eigenvalues are the coordinates, up to their
 * lengths.  They are found by Jacobi's rotations, in a fixed order, so that the same vectors give the same picture. */
#include "picture/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"

/* ---- which axes ---------------------------------------------------------------------------- */

static int fail_axes(const char *spec, size_t cols, struct attn_err *err)
{
    return attn_fail(err, ATTN_EUSAGE, "--axes: found '%.60s', expected two or three different numbers below %zu, as "
                                       "in 0,1, or principal", spec, cols);
}

/* A number below cols at the start of *at, which is moved behind it. */
static bool read_axis(size_t *out, const char **at, size_t cols)
{
    size_t digits = strspn(*at, "0123456789");
    *out = 0;
    for (size_t i = 0; i < digits && *out < cols; i++)
        *out = 10 * *out + (size_t)((*at)[i] - '0');
    *at += digits;
    return digits && *out < cols;
}

int attn_axes_read(struct attn_axes *out, const char *spec, size_t cols, struct attn_err *err)
{
    const char *at = spec;
    *out = (struct attn_axes){.n = 0};
    if (!spec ? cols > ATTN_AXES : !strcmp(spec, "principal")) {
        *out = (struct attn_axes){.n = 2, .of = {0, 1}, .principal = true};
        return ATTN_OK;
    }
    for (; !spec && out->n < cols; out->n++)
        out->of[out->n] = out->n;
    for (bool more = spec; more; out->n++) {
        size_t axis;
        bool fits = out->n < ATTN_AXES && read_axis(&axis, &at, cols);
        for (size_t k = 0; k < out->n && fits; k++)
            fits = out->of[k] != axis;
        if (!fits || (*at && *at != ','))
            return fail_axes(spec, cols, err);
        out->of[out->n] = axis;
        more = *at == ',';
        at += more;
    }
    return spec && out->n < 2 ? fail_axes(spec, cols, err) : ATTN_OK;
}

void attn_axis_name(char text[48], const struct attn_vectors *v, size_t k)
{
    if (v->axes.principal)
        snprintf(text, 48, "principal axis %zu (%ld %%)", k + 1, lround(100 * v->share[k]));
    else
        snprintf(text, 48, "axis %zu", v->axes.of[k]);
}

/* ---- principal axes ------------------------------------------------------------------------- */

/* Turns rows and columns p and q of a, and columns of the eigenvectors, so that a[p, q] becomes 0. */
static void rotate(double *a, double *vectors, size_t n, size_t p, size_t q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (size_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (size_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        x = vectors[k * n + p];
        y = vectors[k * n + q];
        vectors[k * n + p] = c * x - s * y;
        vectors[k * n + q] = s * x + c * y;
    }
}

static void diagonalise(double *a, double *vectors, size_t n)
{
    enum { SWEEPS = 30 };               /* six to ten are enough */
    double trace = 0, off = 1;
    for (size_t i = 0; i < n; i++) {
        trace += a[i * n + i];
        vectors[i * n + i] = 1;
    }
    for (size_t sweep = 0; sweep < SWEEPS && off > 0; sweep++) {
        off = 0;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (fabs(a[p * n + q]) > 1e-14 * trace) {       /* nothing that a picture shows */
                    rotate(a, vectors, n, p, q);
                    off++;
                }
    }
}

/* The eigenvalue after the largest k. */
static size_t nth_largest(const double *a, size_t n, const size_t *taken, size_t k)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        bool used = false;
        for (size_t t = 0; t < k; t++)
            used |= taken[t] == i;
        if (!used && (best == SIZE_MAX || a[i * n + i] > a[best * n + best]))
            best = i;
    }
    return best;
}

/* The coordinate of largest magnitude is positive on each axis: which way it points says nothing. */
static void take_axis(struct attn_vectors *v, const double *vectors, size_t from, double value, size_t k)
{
    double most = 0, length = sqrt(fmax(value, 0));
    for (size_t i = 0; i < v->n; i++)
        if (fabs(vectors[i * v->n + from]) > fabs(most) * (1 + 1e-9))
            most = vectors[i * v->n + from];
    for (size_t i = 0; i < v->n; i++)
        v->at[i][k] = copysign(length, most) * vectors[i * v->n + from];
}

static int find_principal(struct attn_vectors *v, double *products, struct attn_err *err)
{
    size_t n = v->n, taken[ATTN_AXES] = {0};
    double *vectors = calloc(n * n + 1, sizeof *vectors);
    if (!vectors)
        return attn_no_memory(err, NULL, "for the axes of %zu vectors", n);
    diagonalise(products, vectors, n);
    for (size_t k = 0; k < smaller(v->axes.n, n); k++) {
        taken[k] = nth_largest(products, n, taken, k);
        take_axis(v, vectors, taken[k], products[taken[k] * n + taken[k]], k);
    }
    free(vectors);
    return ATTN_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static double product(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += (double)a[j] * (double)b[j];
    return sum;
}

/* Vectors with a number that is none stay at the origin. */
static void measure(struct attn_vectors *v, double *products, const float *x, size_t cols)
{
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k <= i; k++)
            products[i * v->n + k] = products[k * v->n + i] = product(x + i * cols, x + k * cols, cols);
    for (size_t i = 0; i < v->n; i++)
        v->length[i] = sqrt(products[i * v->n + i]);
    for (size_t i = 0; i < v->n * v->n; i++) {
        double lengths = v->length[i / v->n] * v->length[i % v->n];
        v->cosine[i] = lengths > 0 && isfinite(lengths) ? (float)fmin(fmax(products[i] / lengths, -1), 1) : NAN;
        products[i] = isfinite(products[i]) ? products[i] : 0;
    }
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < v->axes.n && !v->axes.principal; k++) {
            float at = x[i * cols + v->axes.of[k]];
            v->at[i][k] = isfinite(at) ? (double)at : 0;
        }
}

static void find_shares(struct attn_vectors *v)
{
    double all = 0;
    for (size_t i = 0; i < v->n; i++)
        all += isfinite(v->length[i]) ? v->length[i] * v->length[i] : 0;
    for (size_t k = 0; k < v->axes.n; k++) {
        for (size_t i = 0; i < v->n; i++)
            v->share[k] += v->at[i][k] * v->at[i][k];
        v->share[k] = all > 0 ? v->share[k] / all : 0;
    }
}

int attn_vectors_make(struct attn_vectors *v, const struct attn_sheet *sheet, size_t i, const struct attn_axes *axes,
                      struct attn_err *err)
{
    size_t n = sheet->rows;
    *v = (struct attn_vectors){.n = n, .axes = *axes};
    if (!n || !sheet->cols || n > ATTN_VECTORS_MOST)
        return attn_fail(err, ATTN_EUSAGE, "%s: a figure of vectors has at most %d of them, and at least one: here are "
                                           "%zu of %zu numbers", sheet->title, ATTN_VECTORS_MOST, n, sheet->cols);
    double *products = calloc(n * n, sizeof *products);
    v->at = calloc(n, sizeof *v->at);
    v->length = calloc(n, sizeof *v->length);
    v->cosine = calloc(n * n, sizeof *v->cosine);
    int rc = products && v->at && v->length && v->cosine ? ATTN_OK : attn_no_memory(err, NULL, "for %zu vectors", n);
    if (!rc)
        measure(v, products, sheet->data + i * n * sheet->cols, sheet->cols);
    if (!rc && axes->principal)
        rc = find_principal(v, products, err);
    if (!rc)
        find_shares(v);
    free(products);
    return rc;
}

void attn_vectors_free(struct attn_vectors *v)
{
    free(v->at);
    free(v->length);
    free(v->cosine);
}
