/* shares.c - what does each part of the model add to the difference of the last stream?
 *
 * The stream after the last block is the sum of the embedding and of what each branch adds, on both sides.  So the
 * difference of the streams is the sum of the parts' differences, and a part's share is what its own has in the
 * direction of the whole: <d, D> / <D, D>.  Shares add up to 1; one that is negative makes up for others' errors. */
#include "compare/diff.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

/* Sums over a pair: <a - b, A - B>, |a - b|^2 and |b|^2, in which A - B is that of another pair of the same shape. */
struct sums { double along, squares, squares_b; };

static struct sums sums_of(const struct attn_pair *p, const struct attn_pair *last)
{
    struct sums s = {0};
    for (size_t t = 0; t < p->T; t++)
        for (size_t j = 0; j < p->n; j++) {
            size_t i = t * p->ld + j, k = t * last->ld + j;
            double b = (double)p->b[i], d = (double)p->a[i] - b;
            s.along += d * ((double)last->a[k] - (double)last->b[k]);
            s.squares += d * d;
            s.squares_b += b * b;
        }
    return s;
}

static double root(double squares, double squares_b) { return squares_b > 0 ? sqrt(squares / squares_b) : 0; }

/* The pair of an activation that has the shape of the last stream. */
static bool same_shape(const struct attn_diff *d, int act, int layer, const struct attn_pair *last,
                       struct attn_pair *out)
{
    return attn_diff_pair(d, act, layer, out) && out->H == 1 && out->T == last->T && out->n == last->n;
}

/* What a branch adds is told apart from its output only where the two differ. */
static bool branch(const struct attn_diff *d, int added, int out, int layer, const struct attn_pair *last,
                   struct attn_pair *p)
{
    return same_shape(d, attn_diff_has(d, added, layer) ? added : out, layer, last, p);
}

static void add_part(struct attn_diff_added *x, const char *part, int layer, const struct attn_diff *d,
                     const struct attn_pair *p, const struct attn_pair *last, double whole)
{
    struct attn_pair stream;
    struct sums s = sums_of(p, last);
    int after = part[0] == 'e' ? ATTN_ACT_RESID_PRE : part[0] == 'm' ? ATTN_ACT_RESID_POST : ATTN_ACT_RESID_MID;
    *x = (struct attn_diff_added){.part = part, .layer = layer, .error = root(s.squares, s.squares_b),
                                  .share = s.along / whole, .stream = (double)NAN};
    if (same_shape(d, after, layer < 0 ? 0 : layer, last, &stream)) {
        struct sums r = sums_of(&stream, last);
        x->stream = root(r.squares, r.squares_b);
    }
}

/* The last block's number; -1: there is none on both sides. */
static int last_layer(const struct attn_diff *d)
{
    struct attn_pair p;
    int layer = -1;
    while (attn_diff_pair(d, ATTN_ACT_RESID_POST, layer + 1, &p))
        layer++;
    return layer;
}

int attn_diff_parts(struct attn_diff_added **out, size_t *n, const struct attn_diff *d, struct attn_err *err)
{
    struct attn_pair last, p;
    int L = last_layer(d);
    double sum = 0;
    *out = NULL;
    *n = 0;
    if (L < 0 || !attn_diff_pair(d, ATTN_ACT_RESID_POST, L, &last) || last.H != 1)
        return ATTN_OK;
    struct sums whole = sums_of(&last, &last);
    if (!(whole.squares > 0) || !isfinite(whole.squares))
        return ATTN_OK;
    struct attn_diff_added *x = calloc(2 * (size_t)L + 3, sizeof *x);
    if (!x)
        return attn_no_memory(err, NULL, "for the parts of a difference");
    if (same_shape(d, ATTN_ACT_RESID_PRE, 0, &last, &p))
        add_part(&x[(*n)++], "embed", -1, d, &p, &last, whole.squares);
    for (int l = 0; l <= L; l++) {
        if (branch(d, ATTN_ACT_ADDED, ATTN_ACT_OUT, l, &last, &p))
            add_part(&x[(*n)++], "attn", l, d, &p, &last, whole.squares);
        if (branch(d, ATTN_ACT_MLP_ADDED, ATTN_ACT_MLP_OUT, l, &last, &p))
            add_part(&x[(*n)++], "mlp", l, d, &p, &last, whole.squares);
    }
    for (size_t i = 0; i < *n; i++)
        sum += x[i].share;
    *out = x;
    if (fabs(sum - 1) < 1e-3)           /* float32 rounds each addition */
        return ATTN_OK;
    free(x);                            /* the stream is no such sum, as where it is normalised after each addition */
    *out = NULL;
    *n = 0;
    return ATTN_OK;
}
