#include "compute/sparse.h"

#include "base/size.h"
#include "compute/vec.h"

#include <string.h>

enum { PANEL = ATTN_PANEL };

size_t attn_sparse_spare(size_t keys, size_t dh, size_t dv)
{
    return up(keys, PANEL) + dh * PANEL + up(dv, PANEL);
}

/* The parts of spare.x: a row of weights, a panel of keys, a context. */
static float *row_room(const struct attn_head *h) { return h->spare.x; }
static float *key_room(const struct attn_head *h) { return h->spare.x + up(h->Tk, PANEL); }
static float *context_room(const struct attn_head *h) { return key_room(h) + h->dh * PANEL; }

static size_t pick(const struct attn_head *h, size_t t)
{
    return attn_kind_pick(h->spare.list, h->spare.swaps, &h->kind, h->pos + t, h->Tk);
}

/* ---- a row at a time ---- */

/* Computes the dots, or scaled scores, of query t of the band and the n listed keys, side by side. */
static void dots_row(const struct attn_head *h, float *few, const float *q, size_t n, size_t t, struct attn_found *found)
{
    struct attn_ahead none = {0};
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < PANEL ? n - i : PANEL;
        attn_keys_gather(key_room(h), &h->keys, h->spare.list + i, some);
        attn_vec_panel(few + i, PANEL, q, 0, key_room(h), PANEL, 1, h->dh, false, &none);
    }
    if (!h->scored)
        return;                         /* the softmax will look at them */
    bool finite;
    attn_vec_max(few, h->scale, n, &finite);
    if (!finite)
        attn_few_add(&found->wild, t);
    attn_vec_scale(few, few, h->scale, n);
}

/* Turns them into weights. */
static void pattern_row(const struct attn_head *h, float *few, size_t t, size_t n, struct attn_found *found)
{
    attn_head_softmax(h, few, 0, n, t, found);
    attn_drop_keys(&h->drop, few, h->pos + t, h->spare.list, 0, n);
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
    const size_t *list = h->spare.list, ldv = h->keys.ldv;
    float *y = context_room(h);
    memset(y, 0, up(h->dv, PANEL) * sizeof *y);
    for (size_t i = 0, some; i < n; i += some) {
        some = evenly(list + i, n - i);
        size_t step = some > 1 ? list[i + 1] - list[i] : 1;
        attn_head_mix(h, y, up(h->dv, PANEL), few + i, n, 1, h->keys.v + list[i] * ldv, step * ldv, some, true);
    }
    memcpy(h->context + t * h->ldc, y, h->dv * sizeof *y);
}

struct attn_found attn_sparse_rows(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_found found = {0};
    for (size_t i = 0; i < b->rows; i++) {
        size_t t = b->row0 + i, n = pick(h, t);
        dots_row(h, row_room(h), b->q + i * b->ldq, n, t, &found);
        pattern_row(h, row_room(h), t, n, &found);
        context_row(h, row_room(h), t, n);
    }
    return found;
}

/* ---- for observers ---- */

/* Packs the numbers of the listed keys of a row. */
static float *gather(const struct attn_head *h, const float *row, size_t n)
{
    float *few = row_room(h);
    for (size_t i = 0; i < n; i++)
        few[i] = row[h->spare.list[i]];
    return few;
}

static void write_out(const struct attn_head *h, float *row, const float *few, size_t n)
{
    memset(row, 0, h->Tk * sizeof *row);
    for (size_t i = 0; i < n; i++)
        row[h->spare.list[i]] = few[i];
}

struct attn_found attn_sparse_pattern(const struct attn_head *h, const struct attn_band *b)
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

void attn_sparse_context(const struct attn_head *h, const struct attn_band *b)
{
    for (size_t i = 0; i < b->rows; i++) {
        size_t t = b->row0 + i, n = pick(h, t);
        context_row(h, gather(h, b->m + i * b->ld, n), t, n);
    }
}
