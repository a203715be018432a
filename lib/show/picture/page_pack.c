#include "picture/page_pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"

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

/* Whether the mask hides all above the diagonal, and one value stands there. */
static bool is_triangle(const struct attn_sheet *s)
{
    bool triangle = s->mask && s->cols > 1 && s->n && s->rows;
    for (size_t r = 0; r < s->n * s->rows && triangle; r++)
        for (size_t c = r % s->rows + 1; c < s->cols && triangle; c++)
            triangle = attn_sheet_hides(s, r, c) && s->data[r * s->cols + c] == s->data[s->cols - 1];
    return triangle;
}

void attn_pack_plan(struct attn_pack *p, const struct attn_sheet *s)
{
    *p = (struct attn_pack){.sheet = s, .triangle = is_triangle(s)};
    if (p->triangle)
        p->beyond = s->data[s->cols - 1];
    for (size_t r = 0; r < s->rows; r++)
        p->count += stored(p, r) * s->n;
}

void attn_pack_narrow(struct attn_pack *p, unsigned bits)
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
    const int most = bits == ATTN_PACK_FINE ? ATTN_PACK_MINUS_INF - 1 : (1 << bits) - 1;
    p->narrow = true;
    p->low = low <= high ? low : 0;
    p->step = high > low ? (float)(((double)high - low) / most) : 0;
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

/* Runs alone: other repetitions are rare, and looking for them takes ten times as long. */
static int deflate_all(unsigned char *out, size_t *n, unsigned char *from, size_t len)
{
    z_stream z = {.next_in = from, .avail_in = (uInt)len, .next_out = out, .avail_out = (uInt)*n};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_RLE) != Z_OK)
        return ATTN_ENOMEM;
    const int rc = deflate(&z, Z_FINISH);
    *n = z.total_out;
    deflateEnd(&z);
    return rc == Z_STREAM_END ? ATTN_OK : ATTN_ENOMEM;
}

int attn_pack_deflate(unsigned char **out, size_t *n, const struct attn_pack *p, struct attn_err *err)
{
    const size_t size = attn_pack_size(p);
    uint16_t *codes = calloc(size + 1, 1);
    unsigned char *planes = malloc(size + 1);
    *n = size + size / 8 + 64;          /* deflateBound's most, for any strategy */
    *out = size < UINT32_MAX / 2 ? malloc(*n) : NULL;
    int rc = codes && planes && *out ? ATTN_OK : ATTN_ENOMEM;
    if (!rc) {
        attn_pack_fill(codes, p);
        for (size_t i = 0; i < p->count; i++) {
            planes[i] = (unsigned char)(codes[i] >> 8);
            planes[p->count + i] = (unsigned char)codes[i];
        }
        rc = deflate_all(*out, n, planes, size);
    }
    free(codes);
    free(planes);
    if (!rc)
        return ATTN_OK;
    free(*out);
    *out = NULL;
    return attn_no_memory(err, NULL, "to write %s: %zu bytes", p->sheet->title, size);
}

struct attn_pack_extent attn_pack_extent(const struct attn_pack *p, size_t i, size_t first_column)
{
    struct attn_pack_extent e = {0, 0};
    bool any = false;
    for (size_t r = 0; r < p->sheet->rows; r++) {
        const float *x = row_at(p, i * p->sheet->rows + r);
        for (size_t c = first_column, n = stored(p, r); c < n; c++) {
            if (!isfinite(x[c]))
                continue;
            e.least = !any || x[c] < e.least ? x[c] : e.least;
            e.most = !any || x[c] > e.most ? x[c] : e.most;
            any = true;
        }
    }
    return e;
}
