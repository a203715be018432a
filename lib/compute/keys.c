/* keys.c - keys and values of one head, in the layout that products read fastest. */
#include "compute/attention.h"

#include "base/size.h"
#include "compute/vec.h"

#include <stdint.h>
#include <string.h>

enum { PANEL = ATTN_PANEL, LINE = 16 };         /* floats */

size_t attn_keys_size(size_t n, size_t dh, size_t dv)
{
    size_t k, v, all;
    if (n > SIZE_MAX - PANEL || dv > SIZE_MAX - LINE || __builtin_mul_overflow(up(n, PANEL), dh, &k) ||
        __builtin_mul_overflow(n, up(dv, LINE), &v) || __builtin_add_overflow(k, v, &all) || all > SIZE_MAX - PANEL)
        return SIZE_MAX;
    return all + PANEL;
}

struct attn_keys attn_keys_in(float *at, size_t n, size_t dh, size_t dv)
{
    return (struct attn_keys){.k = at, .v = at + up(n, PANEL) * dh, .dh = dh, .dv = dv, .ldv = up(dv, LINE)};
}

static void put_one(const struct attn_keys *to, size_t at, const float *k)
{
    float *column = to->k + at / PANEL * PANEL * to->dh + at % PANEL;
    for (size_t i = 0; i < to->dh; i++)
        column[i * PANEL] = k[i];
}

/* Transposes n (at most 16) keys into 16 columns; those behind the last key get copies of it. */
static void transpose(const struct attn_keys *to, size_t at, const float *k, size_t ld, size_t n)
{
    const void *row[ATTN_TRANSPOSE];
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++)
        row[l] = k + (l < n ? l : n - 1) * ld;
    attn_vec_of(ATTN_F32)->transpose(to->k + at / PANEL * PANEL * to->dh + at % PANEL, row, to->dh);
}

void attn_keys_put(const struct attn_keys *to, size_t first, const float *k, size_t ld, size_t n)
{
    for (size_t i = 0, part; i < n; i += part) {
        size_t at = first + i;
        part = at % ATTN_TRANSPOSE ? 1 : n - i < ATTN_TRANSPOSE ? n - i : ATTN_TRANSPOSE;
        if (part == 1)
            put_one(to, at, k + i * ld);
        else
            transpose(to, at, k + i * ld, ld, part);
    }
}

void attn_values_put(const struct attn_keys *to, size_t first, const float *v, size_t ld, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to->v + (first + i) * to->ldv, v + i * ld, to->dv * sizeof *v);
}

static const float *column(const struct attn_keys *from, size_t at)
{
    return from->k + at / PANEL * PANEL * from->dh + at % PANEL;
}

void attn_keys_row(float *to, const struct attn_keys *from, size_t at)
{
    if (from->rows) {
        memcpy(to, from->rows + at * from->ldk, from->dh * sizeof *to);
        return;
    }
    const float *k = column(from, at);
    for (size_t i = 0; i < from->dh; i++)
        to[i] = k[i * PANEL];
}

/* Transposes the listed rows (at most 16) into 16 columns; those behind the last get copies of it. */
static void gather_rows(float *to, const struct attn_keys *from, const size_t *list, size_t n)
{
    const void *row[ATTN_TRANSPOSE];
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++)
        row[l] = from->rows + list[l < n ? l : n - 1] * from->ldk;
    attn_vec_of(ATTN_F32)->transpose(to, row, from->dh);
}

static void gather_columns(float *to, const struct attn_keys *from, const size_t *list, size_t n)
{
    const float *k[ATTN_TRANSPOSE];
    for (size_t l = 0; l < n; l++)
        k[l] = column(from, list[l]);
    for (size_t i = 0; i < from->dh; i++)
        for (size_t l = 0; l < n; l++)
            to[i * PANEL + l] = k[l][i * PANEL];
}

void attn_keys_gather(float *to, const struct attn_keys *from, const size_t *list, size_t n)
{
    for (size_t i = 0; i < n; i += ATTN_TRANSPOSE) {
        size_t some = n - i < ATTN_TRANSPOSE ? n - i : ATTN_TRANSPOSE;
        (from->rows ? gather_rows : gather_columns)(to + i, from, list + i, some);
    }
}
