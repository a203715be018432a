#include "compute/attention.h"

#include "compute/gemm.h"
#include "compute/vec.h"

#include <math.h>
#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Keys 0 .. that query t may see; an arbitrary mask hides some of them besides. */
static size_t seen(const struct attn_head *h, size_t t)
{
    return h->masking == ATTN_CAUSAL ? least(h->Tk, h->pos + t + 1) : h->Tk;
}

/* Columns of the band that matter to the result. */
static size_t reach(const struct attn_head *h, const struct attn_band *b)
{
    return h->edited ? h->Tk : seen(h, b->row0 + b->rows - 1);
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
    size_t keys = h->shown_dots ? h->Tk : reach(h, b);
    const struct attn_mat kt = {.data = h->k, .in = h->dh, .out = keys, .ld = h->ldk, .by_output = true};
    attn_gemm(NULL, b->m, b->ld, h->q + b->row0 * h->ldq, h->ldq, b->rows, &kt);
}

void attn_band_scores(const struct attn_head *h, const struct attn_band *b)
{
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        size_t n = seen(h, b->row0 + i);
        const uint8_t *mask = mask_row(h, b->row0 + i);
        attn_vec_scale(row, row, h->scale, n);
        for (size_t j = 0; mask && j < n; j++)
            row[j] = mask[j] ? row[j] : -INFINITY;
        fill(row, n, h->shown ? h->Tk : reach(h, b), -INFINITY);
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
    attn_vec_softmax(row, n);
    if (h->masking != ATTN_CAUSAL_RENORM)
        return true;
    size_t keep = least(h->Tk, h->pos + t + 1);
    fill(row, keep, n, 0);
    return renormalise(row, keep);
}

size_t attn_band_pattern(const struct attn_head *h, const struct attn_band *b)
{
    size_t empty = 0;
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        size_t n = h->edited ? h->Tk : seen(h, b->row0 + i);
        if (!pattern_row(h, row, n, b->row0 + i))
            empty++;
        fill(row, n, h->shown ? h->Tk : reach(h, b), 0);
    }
    return empty;
}

void attn_band_context(const struct attn_head *h, const struct attn_band *b)
{
    const struct attn_mat v = {.data = h->v, .in = reach(h, b), .out = h->dv, .ld = h->ldv};
    attn_gemm(NULL, h->context + b->row0 * h->ldc, h->ldc, b->m, b->ld, b->rows, &v);
}
