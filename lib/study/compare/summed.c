#include "compare/summed.h"

#include <stdlib.h>

static bool make_room(double **x, size_t *room, size_t n)
{
    if (n <= *room)
        return true;
    double *more = realloc(*x, n * sizeof *more);
    if (more)
        *x = more, *room = n;
    return more != NULL;
}

static double squares(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += isfinite(x[i]) ? (double)x[i] * (double)x[i] : 0;
    return sum;
}

static double larger(double x, double y) { return x > y ? x : y; }

static size_t at(const struct attn_pair *p, size_t h, size_t t) { return h * p->ld_head + t * p->ld; }

struct squares { double sum, most; size_t n; };

/* Of the numbers up to `limit`: the sum of squares, four at a time, the largest, and how many there are. */
static void add_squares(struct squares *to, const float *x, size_t n, double limit)
{
    double sum[4] = {0}, most = to->most;
    for (size_t i = 0; i < n; i++) {
        double v = fabs((double)x[i]);
        if (v <= limit) {
            sum[i % 4] += v * v;
            most = larger(most, v);
            to->n++;
        }
    }
    to->sum += sum[0] + sum[1] + (sum[2] + sum[3]);
    to->most = most;
}

/* The root mean square of a token over all heads, without the few large numbers that trained models have in some
 * columns: of other columns these say nothing. */
static double size_of_token(const struct attn_pair *p, const float *x, size_t t)
{
    enum { ROUNDS = 3, LARGE = 5 };
    double rms = 0, limit = DBL_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        struct squares all = {0};
        for (size_t h = 0; h < p->H; h++)
            add_squares(&all, x + at(p, h, t), p->n, limit);
        rms = all.n ? sqrt(all.sum / (double)all.n) : 0;
        limit = LARGE * rms;
        if (all.most <= limit)
            break;
    }
    return rms;
}

/* Of the side where it is larger. */
static void size_rows(double *out, const struct attn_pair *p)
{
    for (size_t t = 0; t < p->T; t++)
        out[t] = larger(size_of_token(p, p->a, t), size_of_token(p, p->b, t));
}

/* The length of each vector of each head. */
static void lengths(double *out, const struct attn_pair *p)
{
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            out[h * p->T + t] = sqrt(larger(squares(p->a + at(p, h, t), p->n), squares(p->b + at(p, h, t), p->n)));
}

/* The largest finite number of each row of each head, or of each token where `heads` is false. */
double attn_largest(const float *x, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = isfinite(x[i]) && fabsf(x[i]) > most ? fabsf(x[i]) : most;
    return (double)most;
}

static void size_largest(double *out, const struct attn_pair *p)
{
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            out[h * p->T + t] = larger(attn_largest(p->a + at(p, h, t), p->n), attn_largest(p->b + at(p, h, t), p->n));
}

/* The largest -log of a probability, which is about the distance between two scores. */
static double spread(const float *p, size_t n)
{
    double least = 1;
    for (size_t i = 0; i < n; i++)
        least = p[i] > 0 && (double)p[i] < least ? (double)p[i] : least;
    return -log(least);
}

static bool pair_at(const struct attn_diff *d, int act, int layer, struct attn_pair *out)
{
    return attn_diff_pair(d, act, layer, out) && out->H && out->T && out->n;
}

/* |q| |k|: false if a side lacks them, or they are of other heads and tokens. */
static bool size_dots(struct attn_summed *s, const struct attn_diff *d, const struct attn_pair *p, int layer,
                      bool *memory)
{
    struct attn_pair q, k;
    if (!pair_at(d, ATTN_ACT_Q, layer, &q) || !pair_at(d, ATTN_ACT_K, layer, &k) || q.H != p->H || q.T != p->T ||
        k.T != p->n || q.H % k.H)
        return false;
    *memory = make_room(&s->column, &s->columns, k.H * k.T);
    if (!*memory)
        return true;
    lengths(s->row, &q);
    lengths(s->column, &k);
    s->of_columns = s->by_head = true;
    s->group = q.H / k.H;
    return true;
}

/* By how much scores are larger than dots in the mean. */
static double scale_of(const struct attn_pair *scores, const struct attn_pair *dots)
{
    double s = 0, d = 0;
    for (size_t h = 0; h < scores->H; h++)
        for (size_t t = 0; t < scores->T; t++)
            for (size_t k = 0; k < scores->n; k++) {
                float x = scores->b[at(scores, h, t) + k], y = dots->b[at(dots, h, t) + k];
                if (isfinite(x) && isfinite(y))
                    s += fabs((double)x), d += fabs((double)y);
            }
    return d > 0 ? s / d : 1;
}

/* What a norm subtracts makes the rest larger: a stream with a mean is shorter without it. */
static void enlarge_by_mean(double *row, const struct attn_pair *x)
{
    for (size_t t = 0; t < x->T; t++) {
        double mean = 0, square = squares(x->b + at(x, 0, t), x->n) / (double)x->n;
        for (size_t i = 0; i < x->n; i++)
            mean += (double)x->b[at(x, 0, t) + i] / (double)x->n;
        if (square > mean * mean)
            row[t] *= sqrt(square / (square - mean * mean));
    }
}

/* Without scores, all rows of a head are taken to have some half larger than the distance between any two of a row. */
static const double GUESSED = 1.5;

static void guess_scores(double *out, const struct attn_pair *p)
{
    for (size_t h = 0; h < p->H; h++) {
        double most = 0;
        for (size_t t = 0; t < p->T; t++)
            most = larger(most, larger(spread(p->a + at(p, h, t), p->n), spread(p->b + at(p, h, t), p->n)));
        for (size_t t = 0; t < p->T; t++)
            out[h * p->T + t] = GUESSED * most;
    }
}

static void size_pattern(struct attn_summed *s, const struct attn_diff *d, const struct attn_pair *p, int layer)
{
    struct attn_pair scores;
    s->by_head = s->of_itself = true;
    if (pair_at(d, ATTN_ACT_SCORES, layer, &scores) && scores.H == p->H && scores.T == p->T)
        size_largest(s->row, &scores);
    else
        guess_scores(s->row, p);
    for (size_t i = 0; i < p->H * p->T; i++)
        s->row[i] += 1;
}

/* Each head of a context is a sum of values times probabilities, which may cancel: its size is that of the sum of
 * their sizes, and the token's the root mean square over its heads. */
static bool size_context(struct attn_summed *s, const struct attn_diff *d, const struct attn_pair *context, int layer)
{
    struct attn_pair p, v;
    if (!pair_at(d, ATTN_ACT_PATTERN, layer, &p) || !pair_at(d, ATTN_ACT_V, layer, &v) || p.T != context->T ||
        v.T != p.n || p.H % v.H)
        return true;
    if (!make_room(&s->column, &s->columns, v.H * v.T))
        return false;
    lengths(s->column, &v);
    for (size_t t = 0; t < p.T; t++) {
        double square = 0;
        for (size_t h = 0; h < p.H; h++) {
            const float *row = p.b + at(&p, h, t);
            const double *length = s->column + h / (p.H / v.H) * v.T;
            double sum = 0;
            for (size_t k = 0; k < p.n; k++)
                sum += row[k] > 0 ? (double)row[k] * length[k] : 0;
            square += sum * sum;
        }
        s->row[t] = larger(s->row[t], sqrt(square / (double)(context->H * context->n)));
    }
    return true;
}

bool attn_summed_of(struct attn_summed *s, const struct attn_diff *d, const struct attn_pair *p, int act, int layer)
{
    struct attn_pair x;
    bool memory = true, norm = act == ATTN_ACT_NORM1 || act == ATTN_ACT_NORM2;
    s->by_head = s->of_columns = s->of_itself = false;
    s->group = 1;
    if (!make_room(&s->row, &s->rows, p->H * p->T))
        return false;
    if (act == ATTN_ACT_PATTERN) {
        size_pattern(s, d, p, layer);
        return true;
    }
    if (act == ATTN_ACT_DOTS || act == ATTN_ACT_SCORES) {
        if (!size_dots(s, d, p, layer, &memory)) {
            s->by_head = true;
            size_largest(s->row, p);
        } else if (memory && act == ATTN_ACT_SCORES && pair_at(d, ATTN_ACT_DOTS, layer, &x) && x.H == p->H &&
                   x.T == p->T && x.n == p->n) {
            double scale = scale_of(p, &x);
            for (size_t i = 0; i < p->H * p->T; i++)
                s->row[i] *= scale;
        }
        return memory;
    }
    size_rows(s->row, p);
    if (norm && pair_at(d, act == ATTN_ACT_NORM1 ? ATTN_ACT_RESID_PRE : ATTN_ACT_RESID_MID, layer, &x) && x.T == p->T)
        enlarge_by_mean(s->row, &x);
    return act != ATTN_ACT_CONTEXT || size_context(s, d, p, layer);
}

struct attn_summed_row attn_summed_row(const struct attn_summed *s, const struct attn_pair *p, size_t h, size_t t,
                                       double least)
{
    const double faint = 1e-15;         /* a probability below moves no context that is seen */
    return (struct attn_summed_row){.row = s->row[s->by_head ? h * p->T + t : t], .of_itself = s->of_itself,
                                    .least = s->of_itself ? larger(faint, least) : least,
                                    .column = s->of_columns ? s->column + h / s->group * p->n : NULL};
}

void attn_summed_free(struct attn_summed *s)
{
    free(s->row);
    free(s->column);
    *s = (struct attn_summed){0};
}
