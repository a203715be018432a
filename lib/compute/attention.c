#include "compute/attention.h"

#include "compute/gemm.h"
#include "compute/vec.h"

#include <math.h>
#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

struct range { size_t lo, hi; };        /* of keys: lo <= key < hi */

static struct range everything(const struct attn_head *h)
{
    return (struct range){0, h->Tk};
}

/* What query t may see; an arbitrary mask hides some of it besides. */
static struct range seen(const struct attn_head *h, size_t t)
{
    if (h->masking != ATTN_CAUSAL)
        return everything(h);
    size_t end = h->pos + t + 1, lo = h->window && end > h->window ? end - h->window : 0;
    return (struct range){least(lo, h->Tk), least(end, h->Tk)};
}

/* The columns of the band that matter to the result.  They start at a multiple of 16, so that a sum over a
 * row falls into the same lanes as one over all keys. */
static struct range reach(const struct attn_head *h, const struct attn_band *b)
{
    if (h->edited)
        return everything(h);
    return (struct range){seen(h, b->row0).lo / 16 * 16, seen(h, b->row0 + b->rows - 1).hi};
}

/* Those that somebody will look at. */
static struct range shown(const struct attn_head *h, const struct attn_band *b)
{
    return h->shown ? everything(h) : reach(h, b);
}

static const uint8_t *mask_row(const struct attn_head *h, size_t t)
{
    return h->masking == ATTN_MASKED ? h->mask + t * h->Tk : NULL;
}

static void fill(float *row, size_t from, size_t to, float x)
{
    for (size_t j = from; j < to; j++)
        row[j] = x;
}

void attn_band_dots(const struct attn_head *h, const struct attn_band *b)
{
    struct range r = h->shown_dots ? everything(h) : reach(h, b);
    const struct attn_mat kt = {.data = h->k + r.lo * h->ldk, .in = h->dh, .out = r.hi - r.lo, .ld = h->ldk, .by_output = true};
    attn_gemm(NULL, b->m + r.lo, b->ld, h->q + b->row0 * h->ldq, h->ldq, b->rows, &kt, ATTN_STORE, NULL);
}

void attn_band_scores(const struct attn_head *h, const struct attn_band *b)
{
    struct range all = shown(h, b);
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        struct range r = seen(h, b->row0 + i);
        const uint8_t *mask = mask_row(h, b->row0 + i);
        attn_vec_scale(row + r.lo, row + r.lo, h->scale, r.hi - r.lo);
        for (size_t j = r.lo; mask && j < r.hi; j++)
            row[j] = mask[j] ? row[j] : -INFINITY;
        fill(row, all.lo, r.lo, -INFINITY);
        fill(row, r.hi, all.hi, -INFINITY);
    }
}

static bool sees_nothing(const float *row, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (row[j] != -INFINITY)
            return false;
    return true;
}

/* The article's first way of masking: softmax over all keys, then drop the hidden and divide by
 * what is left.  False when nothing is left: all visible weights were rounded to 0. */
static bool renormalise(float *row, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += (double)row[j];
    for (size_t j = 0; j < n && sum > 0; j++)
        row[j] /= (float)sum;
    return sum > 0;
}

/* One row of n scores, in place; false: it sees nothing and is all zeros. */
static bool pattern_row(const struct attn_head *h, float *row, size_t n, size_t t)
{
    if (sees_nothing(row, n)) {
        fill(row, 0, n, 0);
        return false;
    }
    attn_vec_softmax(row, 1, n);
    if (h->masking != ATTN_CAUSAL_RENORM)
        return true;
    size_t keep = least(h->Tk, h->pos + t + 1);
    fill(row, keep, n, 0);
    return renormalise(row, keep);
}

size_t attn_band_pattern(const struct attn_head *h, const struct attn_band *b)
{
    struct range all = shown(h, b), live = reach(h, b);
    size_t empty = 0;
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        size_t end = h->edited ? h->Tk : seen(h, b->row0 + i).hi;
        if (!pattern_row(h, row + live.lo, end - live.lo, b->row0 + i))
            empty++;
        fill(row, all.lo, live.lo, 0);
        fill(row, end, all.hi, 0);
    }
    return empty;
}

void attn_band_context(const struct attn_head *h, const struct attn_band *b)
{
    struct range r = reach(h, b);
    const struct attn_mat v = {.data = h->v + r.lo * h->ldv, .in = r.hi - r.lo, .out = h->dv, .ld = h->ldv};
    attn_gemm(NULL, h->context + b->row0 * h->ldc, h->ldc, b->m + r.lo, b->ld, b->rows, &v, ATTN_STORE, NULL);
}
