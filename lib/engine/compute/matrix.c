#include "compute/matrix.h"

#include "base/elementary.h"

#include <float.h>
#include <math.h>
#include <string.h>

void attn_matrix_product(double *y, const double *a, const double *b, size_t n, size_t K, size_t m)
{
    memset(y, 0, n * m * sizeof *y);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < K; k++) {
            double *restrict to = y + i * m;
            const double *restrict row = b + k * m;
            double x = a[i * K + k];
            for (size_t j = 0; j < m; j++)
                to[j] += x * row[j];
        }
}

/* ---- to a Hessenberg matrix --------------------------------------------------------------- */

/* Makes of x[n] the vector v of the reflection I - beta v v' that turns x into a multiple of its first axis; returns
 * beta, 0 if x is one already.  *to becomes what is left on the axis. */
static double reflection(double *x, size_t stride, size_t n, double *to)
{
    double size = 0, below = 0;
    for (size_t i = 0; i < n; i++)
        size = attn_hypot(size, x[i * stride]);
    for (size_t i = 1; i < n; i++)
        below = fmax(below, fabs(x[i * stride]));
    if (below == 0)
        return 0;
    *to = x[0] > 0 ? -size : size;
    x[0] -= *to;                        /* of the same sign: nothing cancels */
    return -1 / (*to * x[0]);
}

/* Column k, below the subdiagonal, becomes zero: a = P a P, where P reflects rows and columns k + 1 to n - 1. */
static void reflect_column(double *a, size_t n, size_t k, double *v, double *sums)
{
    double to = 0, *column = a + (k + 1) * n + k, beta = reflection(column, n, n - k - 1, &to);
    if (beta == 0)
        return;
    for (size_t i = k + 1; i < n; i++)
        v[i] = a[i * n + k];
    memset(sums, 0, n * sizeof *sums);
    for (size_t i = k + 1; i < n; i++)
        for (size_t j = k + 1; j < n; j++)
            sums[j] += v[i] * a[i * n + j];
    for (size_t i = k + 1; i < n; i++)
        for (size_t j = k + 1; j < n; j++)
            a[i * n + j] -= beta * v[i] * sums[j];
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = k + 1; j < n; j++)
            sum += a[i * n + j] * v[j];
        for (size_t j = k + 1; j < n; j++)
            a[i * n + j] -= beta * sum * v[j];
        if (i > k)
            a[i * n + k] = i == k + 1 ? to : 0;
    }
}

/* ---- QR steps ------------------------------------------------------------------------------ */

struct complex { double re, im; };
struct hessenberg { double *re, *im; size_t n; };
struct rotation { double c; struct complex s; };        /* [c s; -conj(s) c] */

static struct complex at(const struct hessenberg *h, size_t i, size_t j)
{
    return (struct complex){h->re[i * h->n + j], h->im[i * h->n + j]};
}

static double size_of(struct complex z) { return attn_hypot(z.re, z.im); }

static struct complex root(struct complex z)
{
    double r = size_of(z), x = sqrt((r + fabs(z.re)) / 2), y = x > 0 ? z.im / (2 * x) : 0;
    return z.re >= 0 ? (struct complex){x, y} : (struct complex){fabs(y), z.im < 0 ? -x : x};
}

/* The eigenvalue of the last two rows and columns, up to m, that is nearer to the last number. */
static struct complex wilkinson(const struct hessenberg *h, size_t m)
{
    struct complex a = at(h, m - 1, m - 1), b = at(h, m - 1, m), c = at(h, m, m - 1), d = at(h, m, m);
    struct complex half = {(a.re - d.re) / 2, (a.im - d.im) / 2},
                   bc = {b.re * c.re - b.im * c.im, b.re * c.im + b.im * c.re};
    struct complex r =
        root((struct complex){half.re * half.re - half.im * half.im + bc.re, 2 * half.re * half.im + bc.im});
    if (half.re * r.re + half.im * r.im < 0)
        r = (struct complex){-r.re, -r.im};
    struct complex sum = {half.re + r.re, half.im + r.im};      /* the larger root: d - bc / sum is the nearer one */
    double size = sum.re * sum.re + sum.im * sum.im;
    if (size == 0)
        return d;
    return (struct complex){d.re - (bc.re * sum.re + bc.im * sum.im) / size,
                            d.im - (bc.im * sum.re - bc.re * sum.im) / size};
}

/* The rotation of two rows that makes b, below a, zero. */
static struct rotation rotation_for(struct complex a, struct complex b)
{
    double size_a = size_of(a), size_b = size_of(b), r = attn_hypot(size_a, size_b);
    if (size_b == 0)
        return (struct rotation){1, {0, 0}};
    if (size_a == 0)
        return (struct rotation){0, {b.re / size_b, -b.im / size_b}};
    struct complex u = {a.re / size_a, a.im / size_a};
    return (struct rotation){size_a / r, {(u.re * b.re + u.im * b.im) / r, (u.im * b.re - u.re * b.im) / r}};
}

/* Rows k and k + 1, columns from..to. */
static void rotate_rows(struct hessenberg *h, size_t k, size_t from, size_t to, const struct rotation *g)
{
    double *xr = h->re + k * h->n, *xi = h->im + k * h->n, *yr = xr + h->n, *yi = xi + h->n;
    for (size_t j = from; j <= to; j++) {
        double ar = xr[j], ai = xi[j], br = yr[j], bi = yi[j];
        xr[j] = g->c * ar + g->s.re * br - g->s.im * bi;
        xi[j] = g->c * ai + g->s.re * bi + g->s.im * br;
        yr[j] = g->c * br - g->s.re * ar - g->s.im * ai;
        yi[j] = g->c * bi - g->s.re * ai + g->s.im * ar;
    }
}

/* Columns k and k + 1, rows from..to, by the conjugate transpose. */
static void rotate_columns(struct hessenberg *h, size_t k, size_t from, size_t to, const struct rotation *g)
{
    for (size_t i = from; i <= to; i++) {
        double *r = h->re + i * h->n + k, *m = h->im + i * h->n + k, ar = r[0], ai = m[0], br = r[1], bi = m[1];
        r[0] = g->c * ar + g->s.re * br + g->s.im * bi;
        m[0] = g->c * ai + g->s.re * bi - g->s.im * br;
        r[1] = g->c * br - g->s.re * ar + g->s.im * ai;
        m[1] = g->c * bi - g->s.re * ai - g->s.im * ar;
    }
}

static void move_diagonal(struct hessenberg *h, size_t l, size_t m, struct complex by)
{
    for (size_t i = l; i <= m; i++) {
        h->re[i * h->n + i] += by.re;
        h->im[i * h->n + i] += by.im;
    }
}

/* One step in rows and columns l..m: H - s = QR, and H becomes RQ + s.  The rotation of columns k and k + 1 waits
 * until rows k + 1 and k + 2 are rotated, which need these columns as they were. */
static void qr_step(struct hessenberg *h, size_t l, size_t m, struct complex s)
{
    struct rotation before = {1, {0, 0}};
    move_diagonal(h, l, m, (struct complex){-s.re, -s.im});
    for (size_t k = l; k < m; k++) {
        struct rotation g = rotation_for(at(h, k, k), at(h, k + 1, k));
        rotate_rows(h, k, k, m, &g);
        if (k > l)
            rotate_columns(h, k - 1, l, k, &before);
        before = g;
    }
    rotate_columns(h, m - 1, l, m, &before);
    move_diagonal(h, l, m, s);
}

/* The first row of the last part, up to m, that no zero of the subdiagonal divides.  Clears what is nearly zero. */
static size_t part_before(struct hessenberg *h, size_t m, double norm)
{
    size_t l = m;
    for (; l > 0; l--) {
        double around = size_of(at(h, l - 1, l - 1)) + size_of(at(h, l, l));
        if (size_of(at(h, l, l - 1)) <= DBL_EPSILON * (around > 0 ? around : norm))
            break;
    }
    if (l > 0)
        h->re[l * h->n + l - 1] = h->im[l * h->n + l - 1] = 0;
    return l;
}

/* Now and then another shift than Wilkinson's ends a cycle. */
static struct complex shift(const struct hessenberg *h, size_t m, size_t tries)
{
    if (tries % 10 != 9)
        return wilkinson(h, m);
    struct complex d = at(h, m, m);
    return (struct complex){d.re + size_of(at(h, m, m - 1)), d.im};
}

bool attn_matrix_eigenvalues(double *re, double *im, double *a, double *b, size_t n)
{
    enum { TRIES = 300 };               /* for one eigenvalue; two or three are usual */
    struct hessenberg h = {a, b, n};
    double norm = 0;
    for (size_t i = 0; i < n * n; i++)
        norm = attn_hypot(norm, a[i]);
    if (!isfinite(norm))
        return false;
    for (size_t k = 0; k + 2 < n; k++)
        reflect_column(a, n, k, re, im);
    memset(b, 0, n * n * sizeof *b);
    for (size_t left = n, tries = 0; left > 0; tries++) {
        size_t m = left - 1, l = part_before(&h, m, norm);
        if (l == m) {
            re[m] = a[m * n + m];
            im[m] = b[m * n + m];
            left--;
            tries = 0;
            continue;
        }
        if (tries == TRIES)
            return false;
        qr_step(&h, l, m, shift(&h, m, tries));
    }
    return true;
}
