/* evidence_attention.c - attention from what it reads: scores from dots, rows of a pattern, heads in groups. */
#include "compare/evidence.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double rounding = 1e-4;    /* as in evidence.c */

enum { SAMPLE = 1 << 16 };              /* numbers that a fit looks at: more would prove no more */

static size_t row_step(const struct attn_pair *p) { return 1 + p->H * p->T * p->n / SAMPLE; }

/* The first of every step-th row, so that the last one, which sees most keys, is among them. */
static size_t first_row(const struct attn_pair *p, size_t step) { return p->T ? (p->T - 1) % step : 0; }

static const float *row(const struct attn_pair *p, const float *x, size_t h, size_t t)
{
    return x + h * p->ld_head + t * p->ld;
}

static double relative(double left, double all)
{
    return left == 0 ? 0 : all > 0 ? sqrt(left / all) : INFINITY;
}

/* ---- scores ---------------------------------------------------------------------------- */

static double capped(double x, double cap) { return isfinite(cap) ? cap * tanh(x / cap) : x; }

/* The factor of dots that makes the scores under a cap.  What is near the cap says little, since tanh is flat there. */
static double scale_under(const struct attn_pair *p, const float *scores, const float *dots, double cap)
{
    double up = 0, down = 0;
    size_t step = row_step(p);
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = first_row(p, step); t < p->T; t += step)
            for (size_t k = 0; k < p->n; k++) {
                double s = row(p, scores, h, t)[k], x = row(p, dots, h, t)[k], part = s / cap;
                if (!isfinite(s) || !isfinite(x) || !(fabs(part) < 1 - 1e-6))
                    continue;
                double flat = 1 - part * part;
                up += flat * flat * x * (isfinite(cap) ? cap * atanh(part) : s);
                down += flat * flat * x * x;
            }
    return down > 0 ? up / down : 0;
}

double attn_scores_gap(const struct attn_pair *p, const float *scores, const float *dots, double *scale, double cap)
{
    double left = 0, all = 0;
    size_t step = row_step(p);
    *scale = scale_under(p, scores, dots, cap);
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = first_row(p, step); t < p->T; t += step)
            for (size_t k = 0; k < p->n; k++) {
                double s = row(p, scores, h, t)[k], x = row(p, dots, h, t)[k];
                if (!isfinite(s) || !isfinite(x))
                    continue;
                double from = s - capped(*scale * x, cap);
                left += from * from;
                all += s * s;
            }
    return relative(left, all);
}

static double largest(const struct attn_pair *p, const float *x)
{
    double most = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t k = 0; k < p->n; k++)
                if (isfinite(row(p, x, h, t)[k]))
                    most = fmax(most, fabs((double)row(p, x, h, t)[k]));
    return most;
}

struct attn_score_fit attn_fit_scores(const struct attn_pair *p, const float *scores, const float *dots)
{
    enum { STEPS = 44, HALVINGS = 40 };
    const double golden = 0.61803398874989485, least = log(1e-7), wide = 0.5;
    double most = largest(p, scores), best = least, gap = INFINITY, scale;
    struct attn_score_fit plain = {.cap = INFINITY};
    plain.gap = attn_scores_gap(p, scores, dots, &plain.scale, INFINITY);
    if (!(most > 0) || plain.gap < 1e-6)        /* what rounding leaves shows no cap */
        return plain;
    for (int i = 0; i < STEPS; i++) {   /* by how much the cap exceeds the largest score, of that score */
        double at = least + wide * i, now = attn_scores_gap(p, scores, dots, &scale, most * (1 + exp(at)));
        if (now < gap)
            gap = now, best = at;
    }
    double low = best - wide, high = best + wide;
    for (int i = 0; i < HALVINGS; i++) {
        double x = high - golden * (high - low), y = low + golden * (high - low);
        bool left = attn_scores_gap(p, scores, dots, &scale, most * (1 + exp(x))) <
                    attn_scores_gap(p, scores, dots, &scale, most * (1 + exp(y)));
        *(left ? &high : &low) = left ? y : x;
    }
    struct attn_score_fit fit = {.cap = most * (1 + exp((low + high) / 2))};
    fit.gap = attn_scores_gap(p, scores, dots, &fit.scale, fit.cap);
    return attn_gap_explained(fit.gap, plain.gap) ? fit : plain;
}

/* Sums over visible keys of a row, of what each is less its mean: softmax does not see what a whole row has more. */
struct line { double xx, xk, kk, xs, ks, ss; };

static void add_row(struct line *l, const float *s, const float *x, size_t n)
{
    double ms = 0, mx = 0, mk = 0, seen = 0;
    for (size_t k = 0; k < n; k++)
        if (isfinite(s[k]) && isfinite(x[k]))
            ms += (double)s[k], mx += (double)x[k], mk += (double)k, seen++;
    for (size_t k = 0; k < n; k++)
        if (isfinite(s[k]) && isfinite(x[k])) {
            double u = (double)x[k] - mx / seen, v = (double)k - mk / seen, w = (double)s[k] - ms / seen;
            l->xx += u * u, l->xk += u * v, l->kk += v * v;
            l->xs += u * w, l->ks += v * w, l->ss += w * w;
        }
}

struct attn_slopes_fit attn_fit_score_slopes(double *slope, const struct attn_pair *p, const float *scores,
                                             const float *dots)
{
    struct attn_slopes_fit f = {0};
    double left = 0, plain = 0, all = 0, xx = 0;
    size_t step = row_step(p);
    for (size_t h = 0; h < p->H; h++) {
        struct line l = {0};
        for (size_t t = first_row(p, step); t < p->T; t += step)
            add_row(&l, row(p, scores, h, t), row(p, dots, h, t), p->n);
        double det = l.xx * l.kk - l.xk * l.xk;
        if (!(det > 1e-9 * l.xx * l.kk))
            return (struct attn_slopes_fit){.gap = INFINITY, .plain = INFINITY};
        double scale = (l.xs * l.kk - l.ks * l.xk) / det;
        slope[h] = (l.ks * l.xx - l.xs * l.xk) / det;
        left += fmax(0, l.ss - scale * l.xs - slope[h] * l.ks);
        plain += fmax(0, l.ss - l.xs * l.xs / l.xx);
        all += l.ss;
        f.scale += scale * l.xx;
        xx += l.xx;
    }
    f.scale /= xx;
    f.gap = relative(left, all);
    f.plain = relative(plain, all);
    return f;
}

/* ---- which keys are seen --------------------------------------------------------------- */

static bool hides(float x, bool pattern) { return pattern ? x == 0 : !(x > -10000.0f); }

bool attn_seems_blind_to_itself(const struct attn_pair *p, bool pattern, bool *a_is)
{
    size_t own = 0, of_a = 0;
    for (size_t h = 0; h < p->H && p->T == p->n; h++)
        for (size_t q = 0; q < p->T; q++)
            for (size_t k = 0; k < p->n; k++) {
                bool a = hides(row(p, p->a, h, q)[k], pattern), b = hides(row(p, p->b, h, q)[k], pattern);
                if (a != b && q != k)
                    return false;
                own += a != b;
                of_a += a && !b;
            }
    *a_is = of_a > 0;
    /* The first token has no other key, and may have been left one. */
    return p->T > 1 && p->T == p->n && own >= p->H * (p->T - 1) && (of_a == 0 || of_a == own);
}

bool attn_seems_hidden_by_zero(const struct attn_pair *p, bool *a_is)
{
    size_t n[2] = {0};
    for (size_t h = 0; h < p->H; h++)
        for (size_t q = 0; q < p->T; q++)
            for (size_t k = 0; k < p->n; k++) {
                float x[2] = {row(p, p->a, h, q)[k], row(p, p->b, h, q)[k]};
                bool a = hides(x[0], false), b = hides(x[1], false);
                if (a == b)
                    continue;
                if (x[a] != 0)          /* of the side that shows it */
                    return false;
                n[a]++;
            }
    *a_is = n[0] > 0;
    return n[0] + n[1] > 1 && (n[0] == 0 || n[1] == 0);
}

/* ---- softmax --------------------------------------------------------------------------- */

bool attn_seems_over_heads(const struct attn_pair *p, const float *x)
{
    bool rows = true;                   /* whether they add up to 1, as they should */
    for (size_t q = 0; q < p->T; q++)
        for (size_t k = 0; k < p->n; k++) {
            double sum = 0;
            for (size_t h = 0; h < p->H; h++)
                sum += (double)row(p, x, h, q)[k];
            if (!(fabs(sum - 1) <= rounding) && sum != 0)
                return false;
        }
    for (size_t h = 0; h < p->H; h++)
        for (size_t q = 0; q < p->T; q++) {
            double sum = 0;
            for (size_t k = 0; k < p->n; k++)
                sum += (double)row(p, x, h, q)[k];
            rows &= fabs(sum - 1) <= 100 * rounding;
        }
    return p->H > 1 && p->T > 1 && !rows;
}

double attn_row_sum(const float *x, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += (double)x[k];
    return sum;
}

/* Whether each row of x is that of y, which adds up to 1, times a number of at most 1. */
static bool rows_shrink(const struct attn_pair *p, const float *x, const float *y)
{
    double left = 0, before = 0, all = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t q = 0; q < p->T; q++) {
            const float *u = row(p, x, h, q), *v = row(p, y, h, q);
            double part = attn_row_sum(u, p->n);
            if (!(part <= 1 + rounding) || !(fabs(attn_row_sum(v, p->n) - 1) <= rounding))
                return false;
            for (size_t k = 0; k < p->n; k++) {
                double a = (double)u[k], b = (double)v[k];
                left += (a - part * b) * (a - part * b);
                before += (a - b) * (a - b);
                all += b * b;
            }
        }
    return attn_gap_explained(relative(left, all), relative(before, all));
}

bool attn_seems_short_of_one(const struct attn_pair *p, bool *a_is)
{
    *a_is = rows_shrink(p, p->a, p->b);
    return *a_is || rows_shrink(p, p->b, p->a);
}

/* The sum over the keys that y shows of the softmax over all keys of scale * dots; 1 where all are shown. */
static double shown_part(const float *y, const float *dots, size_t n, double scale)
{
    double most = -INFINITY, shown = 0, all = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, scale * (double)dots[k]);
    for (size_t k = 0; k < n; k++) {
        double e = exp(scale * (double)dots[k] - most);
        all += e;
        shown += y[k] > 0 ? e : 0;
    }
    return shown / all;
}

bool attn_seems_hidden_late(const struct attn_pair *p, bool a_is, const float *dots, double scale)
{
    const float *x = a_is ? p->a : p->b, *y = a_is ? p->b : p->a;
    double left = 0, short_of = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t q = 0; q < p->T; q++) {
            double sum = attn_row_sum(row(p, x, h, q), p->n);
            double want = shown_part(row(p, y, h, q), row(p, dots, h, q), p->n, scale);
            left += (sum - want) * (sum - want);
            short_of += (sum - 1) * (sum - 1);
        }
    return short_of > 0 && left <= 1e-4 * short_of;     /* a hundredth of what is short, as root mean squares */
}

/* ---- dropout --------------------------------------------------------------------------- */

/* What is left of y in x: sums over numbers that are 0 in neither. */
struct kept { double xy, yy, xx; size_t n, zeros; };

static struct kept kept_of(const struct attn_pair *p, const float *x, const float *y)
{
    struct kept s = {0};
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                double u = row(p, x, h, t)[j], v = row(p, y, h, t)[j];
                if (v == 0 || !isfinite(u) || !isfinite(v))
                    continue;
                s.n++;
                s.zeros += u == 0;
                if (u != 0)
                    s.xy += u * v, s.yy += v * v, s.xx += u * u;
            }
    return s;
}

static double left_after(const struct attn_pair *p, const float *x, const float *y, double factor)
{
    double left = 0, all = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                double u = row(p, x, h, t)[j], v = row(p, y, h, t)[j];
                if (u == 0 || v == 0 || !isfinite(u) || !isfinite(v))
                    continue;
                left += (u - factor * v) * (u - factor * v);
                all += u * u;
            }
    return relative(left, all);
}

/* The zeros of x are about as many as the factor of the rest says, by five standard deviations; and not in y. */
static bool dropped(const struct attn_pair *p, const float *x, const float *y, double *rate)
{
    struct kept s = kept_of(p, x, y), back = kept_of(p, y, x);
    double factor = s.yy > 0 ? s.xy / s.yy : 0;
    *rate = factor > 1 ? 1 - 1 / factor : 0;
    double want = *rate * (double)s.n, off = 5 * sqrt(want * (1 - *rate));
    return s.zeros > 1 && !back.zeros && *rate > 1e-3 && fabs((double)s.zeros - want) <= off &&
           left_after(p, x, y, factor) <= rounding;
}

bool attn_seems_dropped(const struct attn_pair *p, bool *a_is, double *rate)
{
    *a_is = dropped(p, p->a, p->b, rate);
    return *a_is || dropped(p, p->b, p->a, rate);
}

/* ---- heads ----------------------------------------------------------------------------- */

/* [H, T, n] read as if it were [T, H, n]: where a number of one lies in the other. */
static double unswapped_gap(const struct attn_pair *p, const float *x, const float *y)
{
    double left = 0, all = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                size_t at = h * p->T + t;
                double want = row(p, y, h, t)[j], have = row(p, x, at % p->H, at / p->H)[j];
                left += (have - want) * (have - want);
                all += want * want;
            }
    return relative(left, all);
}

bool attn_seems_unswapped(const struct attn_pair *p, bool *a_is)
{
    double before = attn_pair_gap(p);
    *a_is = attn_gap_explained(unswapped_gap(p, p->a, p->b), before);
    return p->H > 1 && p->T > 1 && (*a_is || attn_gap_explained(unswapped_gap(p, p->b, p->a), before));
}

/* Token 0, which no rotation changes: number i of head h of x is number i * H + h of y. */
static double by_number_gap(const struct attn_pair *p, const float *x, const float *y, size_t T)
{
    double left = 0, all = 0;
    for (size_t t = 0; t < T; t++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t j = 0; j < p->n; j++) {
                size_t at = j * p->H + h;
                double have = row(p, x, h, t)[j], want = row(p, y, at / p->n, t)[at % p->n];
                left += (have - want) * (have - want);
                all += want * want;
            }
    return relative(left, all);
}

bool attn_seems_by_number(const struct attn_pair *p, bool *a_is)
{
    const struct attn_pair first = {p->a, p->b, p->H, 1, p->n, p->ld_head, p->ld};
    double before = attn_pair_gap(&first);
    *a_is = attn_gap_explained(by_number_gap(p, p->a, p->b, 1), before);
    return p->H > 1 && p->n > 1 && p->T && (*a_is || attn_gap_explained(by_number_gap(p, p->b, p->a, 1), before));
}

enum { GROUP_ROWS = 4 };                /* tokens from the last on: more would prove no more */

static size_t kv_head(size_t h, size_t H, size_t Hkv, bool tiled) { return tiled ? h % Hkv : h / (H / Hkv); }

double attn_grouped_dots_gap(const struct attn_grouped *g, bool tiled)
{
    double left = 0, all = 0;
    for (size_t h = 0; h < g->x->H; h++)
        for (size_t t = g->x->T; t-- > 0 && t + GROUP_ROWS >= g->x->T;) {
            const float *q = row(g->from, g->from_x, h, t), *x = row(g->x, g->x_x, h, t);
            for (size_t k = 0; k < g->x->n && k < g->kv->T; k++) {
                const float *key = row(g->kv, g->kv_x, kv_head(h, g->x->H, g->kv->H, tiled), k);
                double dot = 0;
                for (size_t j = 0; j < g->kv->n; j++)
                    dot += (double)q[j] * (double)key[j];
                if (!isfinite(x[k]))
                    continue;
                left += ((double)x[k] - dot) * ((double)x[k] - dot);
                all += dot * dot;
            }
        }
    return relative(left, all);
}

double attn_grouped_context_gap(const struct attn_grouped *g, bool tiled)
{
    double left = 0, all = 0;
    for (size_t h = 0; h < g->x->H; h++)
        for (size_t t = g->x->T; t-- > 0 && t + GROUP_ROWS >= g->x->T;) {
            const float *pattern = row(g->from, g->from_x, h, t), *x = row(g->x, g->x_x, h, t);
            for (size_t j = 0; j < g->x->n; j++) {
                double sum = 0;
                for (size_t k = 0; k < g->from->n; k++)
                    sum += (double)pattern[k] * (double)row(g->kv, g->kv_x, kv_head(h, g->x->H, g->kv->H, tiled), k)[j];
                left += ((double)x[j] - sum) * ((double)x[j] - sum);
                all += sum * sum;
            }
        }
    return relative(left, all);
}

/* ---- positions ------------------------------------------------------------------------- */

bool attn_seems_ahead(const struct attn_pair *p, size_t *by, bool *a_is)
{
    enum { FURTHEST = 64 };
    for (*by = 2; *by + 1 < p->T && *by <= FURTHEST; ++*by)
        for (int i = 0; i < 2; i++) {
            const float *x = i ? p->b : p->a, *y = i ? p->a : p->b;
            const struct attn_pair moved = {x, y + *by * p->ld, p->H, p->T - *by, p->n, p->ld_head, p->ld};
            const struct attn_pair home = {x, y, p->H, p->T - *by, p->n, p->ld_head, p->ld};
            *a_is = i == 0;
            if (attn_gap_explained(attn_pair_gap(&moved), attn_pair_gap(&home)))
                return true;
        }
    return false;
}
