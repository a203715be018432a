#include "making/draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/num.h"

enum { MAX_TENSORS = 1 << 20 };         /* a safetensors header, at most 100 MB, could not name many more */

/* ---- numbers ------------------------------------------------------------------------------- */

/* A whole tensor or the columns of one head: element (i, j) is x[i * ld + j]. */
struct submatrix { float *x; size_t rows, cols, ld; };

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

static int read_rows(struct csv *f, const struct submatrix *a, struct attn_err *err)
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

static int fill_from_file(const struct submatrix *a, const struct attn_dist *dist, struct attn_err *err)
{
    struct attn_map map = {0};
    char *path = strndup(dist->path, dist->path_len);
    if (!path)
        return attn_no_memory(err, NULL, "for the name of a file of numbers");
    int rc = attn_map_open(&map, path, FILE_LIMIT, err);
    struct csv f = {.path = path, .text = (const char *)map.data, .len = map.len, .line = 1};
    if (!rc)
        rc = read_rows(&f, a, err);
    attn_map_close(&map);
    free(path);
    return rc;
}

static void fill_plain(const struct submatrix *a, double diagonal, double elsewhere)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            a->x[i * a->ld + j] = (float)(i == j ? diagonal : elsewhere);
}

static void copy_numbers(const struct submatrix *a, const float *drawn, size_t row_step, size_t col_step)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            a->x[i * a->ld + j] = drawn[i * row_step + j * col_step];
}

static void draw_numbers(float *x, size_t n, struct attn_rng *rng, const struct attn_dist *dist, size_t n_in)
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
static int fill_drawn(const struct submatrix *a, struct attn_rng *rng, const struct attn_dist *dist, size_t n_in,
                      struct attn_err *err)
{
    size_t rows = dist->rows ? dist->rows : a->rows, n, bytes;
    if (rows < a->rows)
        return attn_fail(err, ATTN_EUSAGE, "cannot keep %zu rows of %zu drawn", a->rows, rows);
    bool too_big = __builtin_mul_overflow(rows, a->cols, &n) || __builtin_mul_overflow(n, sizeof(float), &bytes);
    if (!too_big && rows == a->rows && a->ld == a->cols && dist->kind != ATTN_DIST_LINEAR) {
        draw_numbers(a->x, n, rng, dist, n_in);
        return ATTN_OK;
    }
    float *drawn = too_big ? NULL : malloc(bytes ? bytes : 1);
    if (!drawn)
        return attn_no_memory(err, NULL, "for %zu rows of %zu numbers", rows, a->cols);
    draw_numbers(drawn, n, rng, dist, n_in);
    if (dist->kind == ATTN_DIST_LINEAR)
        copy_numbers(a, drawn, 1, a->rows);
    else
        copy_numbers(a, drawn, a->cols, 1);
    free(drawn);
    return ATTN_OK;
}

/* Fills the area.  n_in: number of inputs of the linear layer that it belongs to. */
static int fill(const struct submatrix *area, struct attn_rng *rng, const struct attn_dist *dist, size_t n_in,
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

/* ---- the tensors of a model ---------------------------------------------------------------- */

static bool count_numbers(const struct attn_slot *s, size_t *n)
{
    size_t bytes;
    *n = s->shape[0];
    bool overflow = s->ndim == 2 && __builtin_mul_overflow(*n, s->shape[1], n);
    return !overflow && !__builtin_mul_overflow(*n, sizeof(float), &bytes) && bytes <= PTRDIFF_MAX;
}

static int no_memory(const struct attn_slot *s, struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for %s, %zu rows of %zu numbers", s->name, s->shape[0],
                     s->ndim == 2 ? s->shape[1] : 1);
}

static int add_tensor(struct attn_draw *d, const struct attn_slot *slot, size_t *room, struct attn_err *err)
{
    size_t numbers;
    if (d->n == MAX_TENSORS)
        return attn_fail(err, ATTN_EUSAGE, "%zu layers make more than %d tensors", d->config->L, (int)MAX_TENSORS);
    struct attn_drawn *t = attn_grow(d->t, room, d->n + 1, sizeof *t);
    if (!t)
        return attn_no_memory(err, NULL, "for %zu tensors", d->n + 1);
    d->t = t;
    if (!count_numbers(slot, &numbers))
        return no_memory(slot, err);
    t[d->n++] = (struct attn_drawn){.slot = *slot, .count = numbers};
    return ATTN_OK;
}

/* Whether a tensor is not drawn by itself: keys and values may share the queries' tensor, and the MLP's input its
 * gate's; and there is no final norm if the last block's output is wider or narrower than d. */
static bool is_left_out(const struct attn_config *c, const struct attn_slot *s)
{
    bool first = s->part == ATTN_PART_Q || s->part == ATTN_PART_MLP_GATE;
    bool shared = !first && c->family->part[s->part].share != ATTN_ALONE;
    return shared || (s->part == ATTN_PART_NORM_FINAL && attn_layout_width(c) != c->d);
}

int attn_draw_open(struct attn_draw *d, const struct attn_config *config, struct attn_err *err)
{
    struct attn_layout walk = attn_layout_start(config);
    struct attn_slot slot;
    size_t room = 0;
    int rc = ATTN_OK;
    *d = (struct attn_draw){.config = config};
    while (!rc && attn_layout_next(&walk, &slot))
        rc = is_left_out(config, &slot) ? ATTN_OK : add_tensor(d, &slot, &room, err);
    if (rc)
        attn_draw_close(d);
    return rc;
}

void attn_draw_close(struct attn_draw *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->t[i].x);
    free(d->t);
    *d = (struct attn_draw){0};
}

/* ---- drawing one tensor -------------------------------------------------------------------- */

/* Number of inputs of the linear layer that a weight or bias belongs to. */
static size_t inputs(const struct attn_config *c, enum attn_part p)
{
    switch (p) {
    case ATTN_PART_O:
        return c->H * c->dv;
    case ATTN_PART_MLP_OUT:
        return c->m;
    default:
        return c->d;
    }
}

static bool is_linear(enum attn_part p)
{
    return p >= ATTN_PART_Q && p <= ATTN_PART_UNEMBED && p != ATTN_PART_NORM2 && p != ATTN_PART_NORM_FINAL;
}

/* Head h of n heads that lie side by side in a tensor; the whole tensor is head 0 of 1. */
static struct submatrix area_of(struct attn_drawn *t, size_t h, size_t n)
{
    size_t rows = t->slot.ndim == 2 ? t->slot.shape[0] : 1, cols = t->slot.shape[t->slot.ndim - 1];
    return (struct submatrix){.x = t->x + h * (cols / n), .rows = rows, .cols = cols / n, .ld = cols};
}

/* Allocates the tensor, zeroed, unless that has been done. */
static int allocate(struct attn_drawn *t, struct attn_err *err)
{
    if (!t->x)
        t->x = calloc(t->count ? t->count : 1, sizeof *t->x);
    return t->x ? ATTN_OK : no_memory(&t->slot, err);
}

int attn_draw_tensor(struct attn_draw *d, size_t i, size_t h, size_t heads, const struct attn_dist *dist,
                     struct attn_err *err)
{
    struct attn_drawn *t = &d->t[i], *next = i + 1 < d->n ? t + 1 : NULL;
    if (dist->kind == ATTN_DIST_LINEAR && !is_linear(t->slot.part))
        return attn_fail(err, ATTN_EUSAGE, "linear draws matrices; %s is none: use randn, zeros or ones", t->slot.name);
    if (dist->kind == ATTN_DIST_IDENTITY && t->slot.ndim != 2)
        return attn_fail(err, ATTN_EUSAGE, "identity is a matrix; %s is none", t->slot.name);
    int rc = allocate(t, err);
    if (rc)
        return rc;
    struct submatrix area = area_of(t, h, heads);
    rc = fill(&area, &d->rng, dist, inputs(d->config, t->slot.part), err);
    bool own_bias = next && !t->slot.is_bias && next->slot.is_bias && next->slot.part == t->slot.part;
    if (!rc && own_bias && dist->kind == ATTN_DIST_LINEAR && next->slot.required)
        return attn_draw_tensor(d, i + 1, h, heads, dist, err);
    return rc;
}

/* Whether it must be drawn.  LayerNorm has a bias wherever it has a weight, which comes right before it. */
static bool is_needed(const struct attn_draw *d, size_t i)
{
    const struct attn_slot *s = &d->t[i].slot;
    bool of_norm = s->is_bias && !is_linear(s->part);
    return s->required || (of_norm && d->t[i - 1].x);
}

int attn_draw_finish(struct attn_draw *d, struct attn_err *err)
{
    char list[256];
    size_t missing = 0, shown = 0, len = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct attn_drawn *t = &d->t[i];
        if (t->x || !is_needed(d, i))
            continue;
        if (t->slot.is_bias) {
            int rc = allocate(t, err);
            if (rc)
                return rc;
            continue;
        }
        missing++;
        if (len + ATTN_SLOT_NAME_MAX + 2 > sizeof list)
            continue;
        len += (size_t)sprintf(list + len, "%s%s", shown ? ", " : "", t->slot.name);
        shown++;
    }
    if (missing)
        return attn_fail(err, ATTN_EUSAGE, "draw: no step draws %zu of the model's weights: %s%s", missing, list,
                         shown < missing ? ", ..." : "");
    return ATTN_OK;
}

int attn_draw_plain(struct attn_draw *d, size_t i, struct attn_err *err)
{
    static const struct attn_dist normal = {.kind = ATTN_DIST_NORMAL, .b = 0.02},
    ones = {.kind = ATTN_DIST_CONSTANT, .a = 1};
    const struct attn_slot *s = &d->t[i].slot;
    if (s->is_bias || (s->ndim == 1 && d->config->norm_from_one))
        return s->required ? allocate(&d->t[i], err) : ATTN_OK;
    return attn_draw_tensor(d, i, 0, 1, s->ndim == 1 ? &ones : &normal, err);
}

int attn_draw_default(struct attn_draw *d, struct attn_err *err)
{
    static const struct attn_dist randn = {.kind = ATTN_DIST_NORMAL, .b = 1}, linear = {.kind = ATTN_DIST_LINEAR},
                                  ones = {.kind = ATTN_DIST_CONSTANT, .a = 1};
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_slot *s = &d->t[i].slot;
        bool table = s->part == ATTN_PART_EMBED || s->part == ATTN_PART_POS_EMBED;
        if (s->is_bias)
            continue;                   /* drawn with its weight, or zero */
        int rc = attn_draw_tensor(d, i, 0, 1, table ? &randn : is_linear(s->part) ? &linear : &ones, err);
        if (rc)
            return rc;
    }
    return attn_draw_finish(d, err);
}
