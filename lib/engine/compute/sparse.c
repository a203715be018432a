/* sparse.c - attention of kinds that pick some keys: each row gathers its own keys, so the others cost nothing.
 *
 * For observers, rows are written out over all keys.  The results are the same, since contexts are computed from the
 * numbers of the picked keys, gathered from these rows. */
#include "compute/attention.h"

#include "base/size.h"
#include "compute/vec.h"

#include <string.h>

enum { PANEL = ATTN_PANEL };

static size_t scratch_floats(size_t keys, size_t dh, size_t dv)
{
    return up(keys, PANEL) + dh * PANEL + up(dv, PANEL);
}

/* What scratch.x has: a row of weights, a panel of keys, a context. */
static float *row_scratch(const struct attn_head *h) { return h->scratch.x; }
static float *key_scratch(const struct attn_head *h) { return h->scratch.x + up(h->Tk, PANEL); }
static float *context_scratch(const struct attn_head *h) { return key_scratch(h) + h->dh * PANEL; }

static size_t pick(const struct attn_head *h, size_t t)
{
    return attn_kind_pick(h->scratch.list, h->scratch.swaps, &h->kind, h->pos + t, h->Tk);
}

/* ---- a row at a time ---- */

/* Computes the dots, or scaled scores, of query t of the band and the n listed keys, side by side. */
static void dots_row(const struct attn_head *h, float *few, const float *q, size_t n, size_t t,
                     struct attn_found *found)
{
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < PANEL ? n - i : PANEL;
        attn_keys_gather(key_scratch(h), &h->keys, h->scratch.list + i, some);
        attn_vec_panel(few + i, PANEL, q, 0, key_scratch(h), PANEL, 1, h->dh, false);
    }
    if (!h->scored)
        return;                         /* the softmax will look at them */
    bool finite;
    attn_vec_max(few, h->scale, n, &finite);
    if (!finite)
        attn_count_row(&found->nonfinite, t);
    attn_head_score_dots(h, few, h->scratch.list, 0, n);
}

/* Turns them into weights. */
static void pattern_row(const struct attn_head *h, float *few, size_t t, size_t n, struct attn_found *found)
{
    struct attn_softmax s = {.row = few, .n = n, .t = t};
    attn_head_softmax(h, &s, 1, found);
    if (s.empty)
        attn_count_row(&found->empty, t);
    attn_drop_keys(&h->drop, few, h->pos + t, h->scratch.list, 0, n);
}

/* How many keys from list[0] on are evenly spaced: their values are one strided matrix. */
static size_t evenly(const size_t *list, size_t n)
{
    size_t i = smaller(n, 2);
    while (i < n && list[i] - list[i - 1] == list[1] - list[0])
        i++;
    return i;
}

static void context_row(const struct attn_head *h, const float *few, size_t t, size_t n)
{
    const size_t *list = h->scratch.list, ldv = h->keys.ldv;
    float *y = context_scratch(h);
    memset(y, 0, up(h->dv, PANEL) * sizeof *y);
    for (size_t i = 0, some; i < n; i += some) {
        some = evenly(list + i, n - i);
        size_t step = some > 1 ? list[i + 1] - list[i] : 1;
        attn_head_mix(h, y, up(h->dv, PANEL), few + i, n, 1, h->keys.v + list[i] * ldv, step * ldv, some, true);
    }
    memcpy(h->context + t * h->ldc, y, h->dv * sizeof *y);
}

/* Contexts from queries in one step. */
static struct attn_found rows(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_found found = {0};
    for (size_t i = 0; i < b->rows; i++) {
        size_t t = b->row0 + i, n = pick(h, t);
        dots_row(h, row_scratch(h), b->q + i * b->ldq, n, t, &found);
        pattern_row(h, row_scratch(h), t, n, &found);
        context_row(h, row_scratch(h), t, n);
    }
    return found;
}

/* ---- for observers ---- */

/* Packs the numbers of the listed keys of a row. */
static float *gather(const struct attn_head *h, const float *row, size_t n)
{
    float *few = row_scratch(h);
    for (size_t i = 0; i < n; i++)
        few[i] = row[h->scratch.list[i]];
    return few;
}

static void write_out(const struct attn_head *h, float *row, const float *few, size_t n)
{
    memset(row, 0, h->Tk * sizeof *row);
    for (size_t i = 0; i < n; i++)
        row[h->scratch.list[i]] = few[i];
}

static struct attn_found pattern(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_found found = {0};
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        size_t t = b->row0 + i, n = pick(h, t);
        float *few = gather(h, row, n);
        pattern_row(h, few, t, n, &found);
        write_out(h, row, few, n);
    }
    return found;
}

static void context(const struct attn_head *h, const struct attn_band *b)
{
    for (size_t i = 0; i < b->rows; i++) {
        size_t t = b->row0 + i, n = pick(h, t);
        context_row(h, gather(h, b->m + i * b->ld, n), t, n);
    }
}

const struct attn_method attn_sparse = {
    .rows = rows, .steps = ATTN_CONTEXT, .values = ATTN_CONTEXT, .scratch = scratch_floats};
const struct attn_method attn_sparse_shown = {
    attn_band_dots, attn_band_scores, pattern, context, .steps = ATTN_DOTS | ATTN_SCORES | ATTN_PATTERN | ATTN_CONTEXT,
    .keys = ATTN_DOTS, .values = ATTN_CONTEXT, .scratch = scratch_floats};
