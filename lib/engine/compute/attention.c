/* attention.c - the steps of attention.h, fast, for the kinds whose rows are read from one bound to another. */
#include "compute/attention.h"

#include "base/size.h"
#include "compute/multiply.h"
#include "compute/panels.h"
#include "compute/vec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    PANEL = ATTN_PANEL, LANES = 16,
    TILE = 6, GROUP = 2 * TILE          /* rows of a tile of the product; rows that read the same range of keys */
};

static struct attn_range everything(const struct attn_head *h)
{
    return (struct attn_range){0, h->Tk};
}

struct attn_range attn_head_seen(const struct attn_head *h, size_t t)
{
    return attn_kind_bounds(&h->kind, h->pos + t, h->Tk);
}

/* The columns that contribute to the result of some rows.  They start at a multiple of 16, so that each number of a
 * row is summed in the same SIMD lane as if the row had all keys: the same bits. */
static struct attn_range reach(const struct attn_head *h, size_t row0, size_t rows)
{
    if (h->edited)
        return everything(h);
    return (struct attn_range){attn_head_seen(h, row0).lo / LANES * LANES, attn_head_seen(h, row0 + rows - 1).hi};
}

/* The columns to compute: all of them if an observer sees them, else those that contribute. */
static struct attn_range shown(const struct attn_head *h, const struct attn_band *b, bool all)
{
    return all ? everything(h) : reach(h, b->row0, b->rows);
}

size_t attn_band_keys(const struct attn_head *h, const struct attn_band *b)
{
    return shown(h, b, h->shown_dots).hi;
}

bool attn_head_scales(const struct attn_head *h)
{
    return h->scale > 0 && h->kind.form != ATTN_MASKED && !h->bias && h->cap == 0;
}

void attn_head_score_dots(const struct attn_head *h, float *dots, const size_t *list, size_t first, size_t n)
{
    attn_vec_scale(dots, dots, h->scale, n);
    for (size_t i = 0; h->bias && i < n; i++)
        dots[i] += h->bias[list ? list[i] : first + i];
    if (h->cap > 0)
        attn_vec_cap(dots, h->cap, n);
}

static const uint8_t *mask_row(const struct attn_head *h, size_t t)
{
    return h->kind.form == ATTN_MASKED ? h->mask + t * h->Tk : NULL;
}

static void fill(float *row, size_t from, size_t to, float x)
{
    for (size_t j = from; j < to; j++)
        row[j] = x;
}

/* The first row of the band that sees key j or a later one, rounded down to whole tiles. */
static size_t first_row(const struct attn_head *h, const struct attn_band *b, size_t j)
{
    if (!attn_kind_past(&h->kind) || h->edited || h->shown_dots || j <= h->pos + b->row0)
        return 0;
    return (j - h->pos - b->row0) / TILE * TILE;
}

/* The dots of one row, which waits for memory alone. */
static void dots_of_row(const struct attn_head *h, const struct attn_band *b, struct attn_range r)
{
    size_t n = attn_panels_at_once();
    for (size_t j = r.lo / PANEL, end = parts_of(r.hi, PANEL); j < end; j += n)
        attn_vec_of(ATTN_F32)->row_panels(b->m + j * PANEL, b->q, h->keys.k + j * PANEL * h->dh, h->dh * PANEL,
                                          smaller(end - j, n), h->dh);
}

void attn_band_dots(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_range r = shown(h, b, h->shown_dots);
    if (b->rows == 1) {
        dots_of_row(h, b, r);
        return;
    }
    for (size_t j = r.lo / PANEL * PANEL; j < r.hi; j += PANEL) {
        const size_t first = first_row(h, b, j);
        attn_multiply(&(struct attn_operands){.y = b->m + first * b->ld + j, .ldy = b->ld, .x = b->q + first * b->ldq,
                                              .ldx = b->ldq, .w = h->keys.k + j * h->dh, .ldw = PANEL},
                      b->rows - first, PANEL, h->dh);
    }
}

/* Masks the keys in r that query t does not see. */
static void hide_between(const struct attn_head *h, float *row, size_t t, struct attn_range r)
{
    const size_t *list = h->scratch.list;
    size_t n = attn_kind_pick(h->scratch.list, h->scratch.swaps, &h->kind, h->pos + t, h->Tk), at = r.lo;
    for (size_t i = 0; i < n; at = list[i++] + 1)
        fill(row, at, list[i], -INFINITY);
    fill(row, at, r.hi, -INFINITY);
}

void attn_band_scores(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_range all = shown(h, b, h->shown);
    bool picks = attn_kind_picks(&h->kind);
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        struct attn_range r = attn_head_seen(h, b->row0 + i);
        const uint8_t *mask = mask_row(h, b->row0 + i);
        attn_head_score_dots(h, row + r.lo, NULL, r.lo, r.hi - r.lo);
        for (size_t j = r.lo; mask && j < r.hi; j++)
            row[j] = mask[j] ? row[j] : -INFINITY;
        if (picks)
            hide_between(h, row, b->row0 + i, r);
        fill(row, all.lo, r.lo, -INFINITY);
        fill(row, r.hi, all.hi, -INFINITY);
    }
}

static bool all_hidden(const float *row, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (row[j] != -INFINITY)
            return false;
    return true;
}

/* Whether the mask hides all keys from query t. */
static bool all_masked(const struct attn_head *h, size_t t)
{
    const uint8_t *mask = mask_row(h, t);
    for (size_t j = 0; mask && j < h->Tk; j++)
        if (mask[j])
            return false;
    return mask != NULL;
}

/* Whether query t sees none of n keys, since there is none, or all are masked, or an observer may have hidden them.
 * Where all scores are -inf because dots overflow, the query sees keys, and its weights become NaN. */
static bool sees_nothing(const struct attn_head *h, const float *row, size_t n, size_t t)
{
    return n == 0 || ((h->edited || all_masked(h, t)) && all_hidden(row, n));
}

/* Divides the visible weights by their sum, after a softmax over all keys: the first method of masking in the article.
 * False if that is 0, as all visible weights were rounded to 0; NaN stays NaN. */
static bool renormalise(float *row, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += (double)row[j];
    for (size_t j = 0; j < n && sum > 0; j++)
        row[j] /= (float)sum;
    return sum != 0;
}

/* Returns the maximum that the softmax subtracts. */
static float find_max(const struct attn_head *h, struct attn_softmax *s, struct attn_found *found)
{
    bool finite;
    float max = attn_vec_max(s->row + s->hidden, h->scored ? 1 : h->scale, s->n - s->hidden, &finite);
    if (!finite && !h->scored)
        attn_count_row(&found->nonfinite, s->t);
    s->empty = max == -INFINITY && sees_nothing(h, s->row + s->hidden, s->n - s->hidden, s->t);
    fill(s->row, 0, s->empty ? s->n : s->hidden, s->empty ? 0 : -INFINITY);
    return max;
}

/* The processor goes on to the next row before it is through with the last numbers of a row, unless that row's own
 * next step waits for them. */
void attn_head_softmax(const struct attn_head *h, struct attn_softmax *s, size_t rows, struct attn_found *found)
{
    float max[ATTN_TOGETHER];
    double sum[ATTN_TOGETHER];
    assert(rows <= ATTN_TOGETHER);
    for (size_t i = 0; i < rows; i++)
        max[i] = find_max(h, &s[i], found);
    for (size_t i = 0; i < rows; i++)
        sum[i] = s[i].empty ? 0 : attn_vec_exp_and_sum(s[i].row, h->scored ? 1 : h->scale, max[i], s[i].n);
    for (size_t i = 0; i < rows; i++)
        if (!s[i].empty)
            attn_vec_normalise(s[i].row, sum[i], s[i].n);
}

/* After the softmax of a row that is not empty: false if it becomes so. */
static bool only_visible(const struct attn_head *h, const struct attn_softmax *s)
{
    size_t keep = smaller(h->Tk, h->pos + s->t + 1);
    if (h->kind.form != ATTN_CAUSAL_RENORM)
        return true;
    fill(s->row, keep, s->n, 0);
    return renormalise(s->row, keep);
}

/* Turns rows of scores, or of dots, into weights in place. */
static void pattern_rows(const struct attn_head *h, const struct attn_band *b, size_t first, size_t rows,
                         struct attn_found *found)
{
    struct attn_range all = shown(h, b, h->shown), live = reach(h, b->row0, b->rows), seen[ATTN_TOGETHER];
    struct attn_softmax s[ATTN_TOGETHER];
    for (size_t i = 0; i < rows; i++) {
        size_t t = b->row0 + first + i;
        seen[i] = h->edited ? everything(h) : attn_head_seen(h, t);
        s[i] = (struct attn_softmax){.row = b->m + (first + i) * b->ld + live.lo, .hidden = seen[i].lo - live.lo,
                                     .n = seen[i].hi - live.lo, .t = t};
    }
    attn_head_softmax(h, s, rows, found);
    for (size_t i = 0; i < rows; i++) {
        float *row = b->m + (first + i) * b->ld;
        struct attn_range r = seen[i];
        if (s[i].empty || !only_visible(h, &s[i]))
            attn_count_row(&found->empty, s[i].t);
        attn_drop_keys(&h->drop, row + r.lo, h->pos + s[i].t, NULL, r.lo, r.hi - r.lo);
        fill(row, all.lo, live.lo, 0);
        fill(row, r.hi, all.hi, 0);
    }
}

struct attn_found attn_band_pattern(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_found found = {0};
    for (size_t i = 0; i < b->rows; i += ATTN_TOGETHER)
        pattern_rows(h, b, i, smaller(b->rows - i, ATTN_TOGETHER), &found);
    return found;
}

/* How many of the columns from `col` on a product needs: rows of values have whole lines. */
static size_t columns_from(const struct attn_head *h, size_t col)
{
    return smaller(up(h->dv - col, LANES), PANEL);
}

/* Computes 64 columns of the context, some rows at a time with the keys that they see. */
static void context_panel(const struct attn_head *h, const struct attn_band *b, float *y, size_t ldy, size_t col)
{
    for (size_t i = 0; i < b->rows; i += GROUP) {
        const size_t rows = smaller(b->rows - i, GROUP);
        const struct attn_range r = reach(h, b->row0 + i, rows);
        attn_multiply(&(struct attn_operands){.y = y + i * ldy, .ldy = ldy, .x = b->m + i * b->ld + r.lo, .ldx = b->ld,
                                              .w = h->keys.v + r.lo * h->keys.ldv + col, .ldw = h->keys.ldv},
                      rows, columns_from(h, col), r.hi > r.lo ? r.hi - r.lo : 0);
    }
}

void attn_head_mix(const struct attn_head *h, float *y, size_t ldy, const float *weights, size_t ld, size_t rows,
                   const float *v, size_t ldv, size_t K, bool more)
{
    for (size_t col = 0; col < h->dv; col += PANEL) {
        const struct attn_operands o = {.y = y + col, .ldy = ldy, .x = weights, .ldx = ld, .w = v + col, .ldw = ldv,
                                        .more = more};
        attn_multiply(&o, rows, columns_from(h, col), K);
    }
}

void attn_band_context(const struct attn_head *h, const struct attn_band *b)
{
    float *y = h->context + b->row0 * h->ldc;
    for (size_t col = 0; col < h->dv; col += PANEL) {
        if (h->dv - col >= PANEL) {
            context_panel(h, b, y + col, h->ldc, col);
            continue;
        }
        float part[ATTN_BAND * PANEL] = {0};
        context_panel(h, b, part, PANEL, col);
        for (size_t i = 0; i < b->rows; i++)
            memcpy(y + i * h->ldc + col, part + i * PANEL, (h->dv - col) * sizeof *y);
    }
}

const struct attn_method attn_dense = {
    attn_band_dots, attn_band_scores, attn_band_pattern, attn_band_context,
    .steps = ATTN_DOTS | ATTN_SCORES | ATTN_PATTERN | ATTN_CONTEXT, .keys = ATTN_DOTS, .values = ATTN_CONTEXT};
