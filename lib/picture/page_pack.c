#include "picture/page_pack.h"

#include <math.h>
#include <string.h>

/* How many numbers of row r are stored. */
static size_t stored(const struct attn_pack *p, size_t r)
{
    size_t cols = p->sheet->cols;
    return p->triangle && r + 1 < cols ? r + 1 : cols;
}

/* Row r, counted over all matrices. */
static const float *row_at(const struct attn_pack *p, size_t r)
{
    return p->sheet->data + r * p->sheet->cols;
}

void attn_pack_plan(struct attn_pack *p, const struct attn_sheet *s)
{
    *p = (struct attn_pack){.sheet = s, .triangle = attn_sheet_is_triangle(s)};
    if (p->triangle)
        p->beyond = s->data[s->cols - 1];
    for (size_t r = 0; r < s->rows; r++)
        p->count += stored(p, r) * s->n;
}

void attn_pack_narrow(struct attn_pack *p)
{
    float low = INFINITY, high = -INFINITY;
    for (size_t r = 0; r < p->sheet->n * p->sheet->rows; r++) {
        const float *x = row_at(p, r);
        for (size_t c = 0, n = stored(p, r % p->sheet->rows); c < n; c++)
            if (isfinite(x[c])) {
                low = x[c] < low ? x[c] : low;
                high = x[c] > high ? x[c] : high;
            }
    }
    p->narrow = true;
    p->low = low <= high ? low : 0;
    p->step = high > low ? (float)(((double)high - low) / (ATTN_PACK_MINUS_INF - 1)) : 0;
}

size_t attn_pack_size(const struct attn_pack *p)
{
    return p->count * (p->narrow ? sizeof(uint16_t) : sizeof(float));
}

static uint16_t code_of(const struct attn_pack *p, float x)
{
    if (isnan(x))
        return ATTN_PACK_NAN;
    if (isinf(x))
        return x > 0 ? ATTN_PACK_INF : ATTN_PACK_MINUS_INF;
    return p->step > 0 ? (uint16_t)lrint(((double)x - p->low) / p->step) : 0;
}

void attn_pack_fill(void *out, const struct attn_pack *p)
{
    unsigned char *at = out;
    for (size_t r = 0; r < p->sheet->n * p->sheet->rows; r++) {
        const float *x = row_at(p, r);
        size_t n = stored(p, r % p->sheet->rows);
        if (!p->narrow) {
            memcpy(at, x, n * sizeof *x);
            at += n * sizeof *x;
            continue;
        }
        for (size_t c = 0; c < n; c++, at += sizeof(uint16_t)) {
            uint16_t code = code_of(p, x[c]);
            memcpy(at, &code, sizeof code);
        }
    }
}
