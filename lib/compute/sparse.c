#include "compute/sparse.h"

#include "compute/vec.h"

#include <string.h>

enum { PANEL = ATTN_PANEL };

static size_t up(size_t n) { return (n + PANEL - 1) / PANEL * PANEL; }

size_t attn_sparse_spare(size_t keys, size_t dh, size_t dv)
{
    return up(keys) + dh * PANEL + up(dv);
}

/* The parts of spare.x: a row, keys turned as products read them, a context. */
static float *row_room(const struct attn_head *h) { return h->spare.x; }
static float *key_room(const struct attn_head *h) { return h->spare.x + up(h->Tk); }
static float *context_room(const struct attn_head *h) { return key_room(h) + h->dh * PANEL; }

static size_t pick(const struct attn_head *h, size_t t)
{
    return attn_kind_pick(h->spare.list, h->spare.swaps, &h->kind, h->pos + t, h->Tk);
}

/* ---- dots and scores ---- */

static void dots_row(const struct attn_head *h, float *row, const float *q, size_t n)
{
    struct attn_ahead none = {0};
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < PANEL ? n - i : PANEL;
        attn_keys_gather(key_room(h), &h->keys, h->spare.list + i, some);
        attn_vec_panel(row + i, PANEL, q, 0, key_room(h), PANEL, 1, h->dh, false, &none);
    }
    if (h->scored)
        attn_vec_scale(row, row, h->scale, n);
}

void attn_sparse_dots(const struct attn_head *h, const struct attn_band *b)
{
    if (h->shown) {
        attn_band_dots(h, b);
        return;
    }
    for (size_t i = 0; i < b->rows; i++)
        dots_row(h, b->m + i * b->ld, b->q + i * b->ldq, pick(h, b->row0 + i));
}

void attn_sparse_scores(const struct attn_head *h, const struct attn_band *b)
{
    if (h->shown)                       /* else they are scores already */
        attn_band_scores(h, b);
}

/* ---- pattern ---- */

/* The picked numbers of a row; a row that is not written out has no others. */
static float *gather(const struct attn_head *h, float *row, size_t n)
{
    float *few = h->shown ? row_room(h) : row;
    for (size_t i = 0; h->shown && i < n; i++)
        few[i] = row[h->spare.list[i]];
    return few;
}

static void write_out(const struct attn_head *h, float *row, const float *few, size_t n)
{
    memset(row, 0, h->Tk * sizeof *row);
    for (size_t i = 0; i < n; i++)
        row[h->spare.list[i]] = few[i];
}

struct attn_empty attn_sparse_pattern(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_empty empty = {0};
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        size_t n = pick(h, b->row0 + i);
        float *few = gather(h, row, n);
        if (!attn_head_softmax(h, few, n))
            attn_empty_add(&empty, b->row0 + i);
        attn_drop_keys(&h->drop, few, h->pos + b->row0 + i, h->spare.list, 0, n);
        if (h->shown)
            write_out(h, row, few, n);
    }
    return empty;
}

/* ---- context ---- */

/* How many keys from list[0] on lie equally far apart. */
static size_t evenly(const size_t *list, size_t n)
{
    size_t i = n < 2 ? n : 2;
    while (i < n && list[i] - list[i - 1] == list[1] - list[0])
        i++;
    return i;
}

static void context_row(const struct attn_head *h, float *y, const float *few, size_t n)
{
    const size_t *list = h->spare.list, ldv = h->keys.ldv;
    memset(y, 0, up(h->dv) * sizeof *y);
    for (size_t i = 0, some; i < n; i += some) {
        some = evenly(list + i, n - i);
        size_t step = some > 1 ? list[i + 1] - list[i] : 1;
        attn_head_mix(h, y, up(h->dv), few + i, n, 1, h->keys.v + list[i] * ldv, step * ldv, some, true);
    }
}

void attn_sparse_context(const struct attn_head *h, const struct attn_band *b)
{
    for (size_t i = 0; i < b->rows; i++) {
        size_t n = pick(h, b->row0 + i);
        context_row(h, context_room(h), gather(h, b->m + i * b->ld, n), n);
        memcpy(h->context + (b->row0 + i) * h->ldc, context_room(h), h->dv * sizeof(float));
    }
}
