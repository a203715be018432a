#include "making/dist.h"

#include "base/err.h"
#include "base/map.h"
#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers from a file ----------------------------------------------------------------- */

enum { FILE_LIMIT = 1 << 30 };

struct csv { const char *path, *text; size_t len, at, line; };

static size_t end_of(const struct csv *f, const char *stops)
{
    size_t i = f->at;
    while (i < f->len && !strchr(stops, f->text[i] ? f->text[i] : ' '))
        i++;
    return i;
}

static void skip(struct csv *f, const char *blanks)
{
    while (f->at < f->len && f->text[f->at] && strchr(blanks, f->text[f->at]))
        f->line += f->text[f->at++] == '\n';
}

static int read_number(struct csv *f, float *out, struct attn_err *err)
{
    double x = 0;
    skip(f, " \t");
    size_t end = end_of(f, ", \t\r\n");
    if (!attn_num_parse_f64(f->text + f->at, end - f->at, &x) || !isfinite((float)x))
        return attn_fail(err, ATTN_EFORMAT, "%s: line %zu: expected a finite number, found '%.*s'", f->path, f->line,
                         (int)(end - f->at < 40 ? end - f->at : 40), f->text + f->at);
    *out = (float)x;
    f->at = end;
    skip(f, " \t");
    return ATTN_OK;
}

/* Reads one line of exactly `cols` numbers separated by commas. */
static int read_row(struct csv *f, float *row, size_t cols, struct attn_err *err)
{
    for (size_t j = 0; j < cols; j++) {
        int rc = read_number(f, &row[j], err);
        if (rc)
            return rc;
        bool comma = f->at < f->len && f->text[f->at] == ',';
        if (comma != (j + 1 < cols))
            return attn_fail(err, ATTN_EFORMAT, "%s: line %zu: expected %zu numbers, found %s", f->path, f->line, cols,
                             comma ? "more" : "fewer");
        f->at += comma;
    }
    return ATTN_OK;
}

static int read_rows(struct csv *f, const struct attn_submatrix *a, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; !rc && i < a->rows; i++) {
        skip(f, " \t\r\n");
        if (f->at == f->len)
            return attn_fail(err, ATTN_EFORMAT, "%s: expected %zu rows of numbers, found %zu", f->path, a->rows, i);
        rc = read_row(f, a->x + i * a->ld, a->cols, err);
    }
    skip(f, " \t\r\n");
    if (!rc && f->at < f->len)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: line %zu: expected the end after %zu rows, found more", f->path, f->line,
                       a->rows);
    return rc;
}

static int fill_from_file(const struct attn_submatrix *a, const struct attn_dist *dist, struct attn_err *err)
{
    struct attn_map map = {0};
    char *path = strndup(dist->path, dist->path_len);
    if (!path)
        return attn_fail(err, ATTN_ENOMEM, "no memory for the name of a file of numbers");
    int rc = attn_map_open(&map, path, FILE_LIMIT, err);
    struct csv f = {.path = path, .text = (const char *)map.data, .len = map.len, .line = 1};
    if (!rc)
        rc = read_rows(&f, a, err);
    attn_map_close(&map);
    free(path);
    return rc;
}

/* ---- the other distributions ----------------------------------------------------------------- */

static void fill_plain(const struct attn_submatrix *a, double diagonal, double elsewhere)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            a->x[i * a->ld + j] = (float)(i == j ? diagonal : elsewhere);
}

static void copy(const struct attn_submatrix *a, const float *drawn, size_t row_step, size_t col_step)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            a->x[i * a->ld + j] = drawn[i * row_step + j * col_step];
}

static void draw(float *x, size_t n, struct attn_rng *rng, const struct attn_dist *dist, size_t n_in)
{
    float bound = attn_rng_linear_bound(n_in);
    if (dist->kind == ATTN_DIST_NORMAL)
        attn_rng_normal(rng, x, n, dist->a, dist->b);
    else if (dist->kind == ATTN_DIST_UNIFORM)
        attn_rng_uniform(rng, x, n, (float)dist->a, (float)dist->b);
    else
        attn_rng_uniform(rng, x, n, -bound, bound);
}

/* Draws a separate tensor and copies from it, unless the area is exactly what has to be drawn. */
static int fill_drawn(const struct attn_submatrix *a, struct attn_rng *rng, const struct attn_dist *dist, size_t n_in,
                      struct attn_err *err)
{
    size_t rows = dist->rows ? dist->rows : a->rows, n, bytes;
    if (rows < a->rows)
        return attn_fail(err, ATTN_EUSAGE, "cannot keep %zu rows of %zu drawn", a->rows, rows);
    bool too_big = __builtin_mul_overflow(rows, a->cols, &n) || __builtin_mul_overflow(n, sizeof(float), &bytes);
    if (!too_big && rows == a->rows && a->ld == a->cols && dist->kind != ATTN_DIST_LINEAR) {
        draw(a->x, n, rng, dist, n_in);
        return ATTN_OK;
    }
    float *drawn = too_big ? NULL : malloc(bytes ? bytes : 1);
    if (!drawn)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu rows of %zu numbers", rows, a->cols);
    draw(drawn, n, rng, dist, n_in);
    if (dist->kind == ATTN_DIST_LINEAR)
        copy(a, drawn, 1, a->rows);
    else
        copy(a, drawn, a->cols, 1);
    free(drawn);
    return ATTN_OK;
}

int attn_dist_fill(const struct attn_submatrix *area, struct attn_rng *rng, const struct attn_dist *dist, size_t n_in,
                   struct attn_err *err)
{
    switch (dist->kind) {
    case ATTN_DIST_CONSTANT:
        fill_plain(area, dist->a, dist->a);
        return ATTN_OK;
    case ATTN_DIST_IDENTITY:
        fill_plain(area, 1, 0);
        return ATTN_OK;
    case ATTN_DIST_FILE:
        return fill_from_file(area, dist, err);
    default:
        return fill_drawn(area, rng, dist, n_in, err);
    }
}
