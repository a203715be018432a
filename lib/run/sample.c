/* sample.c - chooses the next token from a row of logits.
 *
 * All probabilities are computed in double precision.  If top_k or top_p are in effect, the likeliest tokens are
 * taken off a heap one by one, as many as needed.  The draw then goes through these in the order of their ids,
 * so that a top_k or top_p that excludes no token changes no choice. */
#include "attn.h"

#include "base/err.h"
#include "base/splitmix.h"
#include "run/logits.h"

#include <math.h>
#include <stdlib.h>

struct attn_sampler {
    struct attn_sampling how;
    size_t V;
    uint64_t state;
    const float *logits;                /* set during a draw */
    double *weight;                     /* [V] probabilities relative to the likeliest, which has 1 */
    int32_t *heap;                      /* [V] a heap of the tokens not taken off yet, then those taken off, likeliest last */
    size_t left;                        /* how many are in the heap */
};

static int check(const struct attn_sampling *how, struct attn_err *err)
{
    if (!(how->temperature >= 0) || !isfinite(how->temperature))
        return attn_fail(err, ATTN_EUSAGE, "temperature %g, expected a number from 0", how->temperature);
    if (!(how->top_p >= 0 && how->top_p <= 1))
        return attn_fail(err, ATTN_EUSAGE, "top_p %g, expected a number from 0 to 1", how->top_p);
    return ATTN_OK;
}

int attn_sampler_new(struct attn_sampler **out, size_t V, const struct attn_sampling *how, struct attn_err *err)
{
    *out = NULL;
    int rc = check(how, err);
    if (rc)
        return rc;
    struct attn_sampler *s = calloc(1, sizeof *s);
    if (s) {
        s->how = *how;
        s->V = V;
        s->state = how->seed;
        s->weight = calloc(V, sizeof *s->weight);
        s->heap = calloc(V, sizeof *s->heap);
    }
    if (!s || !s->weight || !s->heap) {
        attn_sampler_free(s);
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room to choose one of %zu tokens", V);
    }
    *out = s;
    return ATTN_OK;
}

void attn_sampler_free(struct attn_sampler *s)
{
    if (!s)
        return;
    free(s->weight);
    free(s->heap);
    free(s);
}

/* ---- the likeliest ---- */

static bool before(const struct attn_sampler *s, int32_t a, int32_t b)
{
    float x = s->logits[a], y = s->logits[b];
    return x > y || (x == y && a < b);
}

static void swap(int32_t *a, int32_t *b)
{
    int32_t c = *a;
    *a = *b;
    *b = c;
}

static void sift(struct attn_sampler *s, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < s->left; i = child) {
        if (child + 1 < s->left && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], s->heap[i]))
            return;
        swap(&s->heap[child], &s->heap[i]);
    }
}

static void make_heap(struct attn_sampler *s)
{
    s->left = s->V;
    for (size_t i = s->V / 2; i-- > 0;)
        sift(s, i);
}

/* The i-th likeliest token, counted from 0. */
static int32_t likeliest(struct attn_sampler *s, size_t i)
{
    while (s->V - s->left <= i) {
        swap(&s->heap[0], &s->heap[--s->left]);
        sift(s, 0);
    }
    return s->heap[s->V - 1 - i];
}

/* ---- drawing ---- */

/* The smallest number of the k likeliest tokens that together have top_p of the probability of all k; at least one. */
static size_t nucleus(struct attn_sampler *s, size_t k)
{
    double whole = 0, sum = 0;
    size_t n = 0;
    if (s->how.top_p >= 1)
        return k;                       /* rounding of the sums must not exclude any */
    for (size_t i = 0; i < k; i++)
        whole += s->weight[k < s->V ? likeliest(s, i) : (int32_t)i];
    do
        sum += s->weight[likeliest(s, n++)];
    while (n < k && sum < s->how.top_p * whole);
    return n;
}

static int by_id(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The tokens to choose from, in the order of their ids; *n is how many. */
static const int32_t *candidates(struct attn_sampler *s, size_t *n)
{
    size_t k = s->how.top_k && s->how.top_k < s->V ? s->how.top_k : s->V;
    for (size_t i = 0; i < s->V; i++)
        s->heap[i] = (int32_t)i;
    *n = s->V;
    if (k == s->V && s->how.top_p >= 1)
        return s->heap;
    make_heap(s);
    *n = nucleus(s, k);
    likeliest(s, *n - 1);
    int32_t *kept = s->heap + s->V - *n;
    qsort(kept, *n, sizeof *kept, by_id);
    return kept;
}

static int32_t draw(struct attn_sampler *s)
{
    size_t n, i;
    const int32_t *kept = candidates(s, &n);
    double whole = 0, sum = 0;
    for (i = 0; i < n; i++)
        whole += s->weight[kept[i]];
    double at = attn_splitmix_unit(attn_splitmix_next(&s->state)) * whole;
    int32_t last = kept[0];             /* rounding may make `at` the whole sum: then the last token with a weight is taken */
    for (i = 0; i < n && sum <= at; i++) {
        if (s->weight[kept[i]] > 0)
            last = kept[i];
        sum += s->weight[kept[i]];
    }
    return last;
}

int attn_sampler_next(struct attn_sampler *s, int32_t *id, const float *logits, struct attn_err *err)
{
    int rc = attn_logits_best(id, logits, s->V, err);
    if (rc || s->how.temperature == 0)
        return rc;
    double top = logits[*id];
    s->logits = logits;
    for (size_t i = 0; i < s->V; i++)
        s->weight[i] = exp((logits[i] - top) / s->how.temperature);
    *id = draw(s);
    return ATTN_OK;
}
