/* near_causes.c - where no mistake is sure: what comes nearest, and how much of the difference that leaves.
 *
 * Each row of the table changes one side in a way that people know; what is left is the root mean square of a - b after
 * that, as a part of what it was before. */
#include "compare/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "trace/trace.h"

struct place { const struct attn_diff *d; const struct attn_pair *p; int act, layer; };

static double at(const struct attn_pair *p, const float *x, size_t h, size_t t, size_t j)
{
    return (double)x[h * p->ld_head + t * p->ld + j];
}

/* Sums over the numbers that are finite on both sides. */
struct sums { double ab, bb, squares; };

static struct sums sums_of(const struct attn_pair *p)
{
    struct sums s = {0};
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                double a = at(p, p->a, h, t, j), b = at(p, p->b, h, t, j);
                if (!isfinite(a) || !isfinite(b))
                    continue;
                s.ab += a * b, s.bb += b * b, s.squares += (a - b) * (a - b);
            }
    return s;
}

static double share(double left, double all) { return all > 0 ? sqrt(fmax(left, 0) / all) : INFINITY; }

static double scaled(char *text, size_t size, const struct place *x)
{
    struct sums s = sums_of(x->p);
    double factor = s.bb > 0 ? s.ab / s.bb : 0, aa = s.squares + 2 * s.ab - s.bb;
    attn_snprintf(text, size, "a factor (A is B times %.4g)", factor);
    return share(aa - factor * s.ab, s.squares);
}

/* A column of each head, or a row, less the mean of what it differs by. */
static double less_mean(const struct attn_pair *p, bool columns)
{
    double left = 0, all = 0;
    size_t outer = columns ? p->n : p->T, inner = columns ? p->T : p->n;
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < outer; i++) {
            double sum = 0, squares = 0, n = 0;
            for (size_t k = 0; k < inner; k++) {
                size_t t = columns ? k : i, j = columns ? i : k;
                double d = at(p, p->a, h, t, j) - at(p, p->b, h, t, j);
                if (isfinite(d))
                    sum += d, squares += d * d, n++;
            }
            all += squares;
            left += n > 0 ? squares - sum * sum / n : 0;
        }
    return share(left, all);
}

static double biased(char *text, size_t size, const struct place *x)
{
    snprintf(text, size, "a bias (A - B is the same in every row)");
    return x->p->T > 2 ? less_mean(x->p, true) : INFINITY;
}

static double by_rows(char *text, size_t size, const struct place *x)
{
    snprintf(text, size, "a number for each row (A - B is the same in every column)");
    return x->p->n > 2 ? less_mean(x->p, false) : INFINITY;
}

/* Rows of a against rows of b that are `by` later, beside rows of the same number. */
static double later(char *text, size_t size, const struct place *x)
{
    const struct attn_pair *p = x->p;
    double moved[2] = {0}, home[2] = {0};
    for (int side = 0; side < 2; side++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t t = 0; t + 1 < p->T; t++)
                for (size_t j = 0; j < p->n; j++) {
                    double a = at(p, side ? p->b : p->a, h, t, j), b = at(p, side ? p->a : p->b, h, t + 1, j);
                    double same = at(p, side ? p->a : p->b, h, t, j);
                    if (isfinite(a) && isfinite(b) && isfinite(same))
                        moved[side] += (a - b) * (a - b), home[side] += (a - same) * (a - same);
                }
    int side = share(moved[1], home[1]) < share(moved[0], home[0]);
    snprintf(text, size, "another position (row t of %c is row t + 1 of %c)", "AB"[side], "BA"[side]);
    return p->T > 2 ? share(moved[side], home[side]) : INFINITY;
}

static double flipped(char *text, size_t size, const struct place *x)
{
    const struct attn_pair *p = x->p;
    double left = 0;
    snprintf(text, size, "a transpose (queries for keys)");
    for (size_t h = 0; h < p->H && p->T == p->n; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                double d = at(p, p->a, h, t, j) - at(p, p->b, h, j, t);
                left += isfinite(d) ? d * d : 0;
            }
    bool square = p->T == p->n && (x->act == ATTN_ACT_DOTS || x->act == ATTN_ACT_SCORES || x->act == ATTN_ACT_PATTERN);
    return square ? share(left, sums_of(p).squares) : INFINITY;
}

/* Whether one side lacks something that was computed before. */
static double lacking(char *text, size_t size, const struct place *x)
{
    static const int terms[] = {ATTN_ACT_EMBED, ATTN_ACT_POS_EMBED, ATTN_ACT_RESID_PRE,
                                ATTN_ACT_OUT, ATTN_ACT_RESID_MID, ATTN_ACT_MLP_OUT};
    double least = INFINITY, all = sums_of(x->p).squares;
    for (size_t i = 0; i < 2 * sizeof terms / sizeof *terms; i++) {
        struct attn_pair y;
        int act = terms[i / 2], sign = i % 2 ? 1 : -1;
        double left = 0;
        if (act >= x->act || !attn_diff_pair(x->d, act, attn_act_per_layer(act) ? x->layer : -1, &y) ||
            y.H != x->p->H || y.T != x->p->T || y.n != x->p->n)
            continue;
        for (size_t t = 0; t < y.T; t++)
            for (size_t j = 0; j < y.n; j++) {
                double d = at(x->p, x->p->a, 0, t, j) - at(x->p, x->p->b, 0, t, j) - sign * at(&y, y.b, 0, t, j);
                left += isfinite(d) ? d * d : 0;
            }
        if (share(left, all) < least) {
            least = share(left, all);
            snprintf(text, size, "a term (%c lacks %s)", "AB"[sign > 0], attn_act_tail(act));
        }
    }
    return x->p->H == 1 ? least : INFINITY;
}

void attn_nearest_find(struct attn_diff *d, const struct attn_pair *p, int act, int layer)
{
    static double (*const ways[])(char *text, size_t size, const struct place *x) = {scaled, biased, by_rows,
                                                                                      later, flipped, lacking};
    const struct place x = {d, p, act, layer};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct attn_diff_near near = {.text = ""}, *to = d->nearest;
        near.left = ways[i](near.text, sizeof near.text, &x);
        if (!(near.left < 1))
            continue;
        size_t k = 0;
        while (k < ATTN_DIFF_NEAREST && to[k].text[0] && to[k].left <= near.left)
            k++;
        for (size_t last = ATTN_DIFF_NEAREST; last-- > k;)
            to[last] = last == k ? near : to[last - 1];
    }
}
