#include "compute/slopes.h"

#include "base/size.h"

#include <string.h>

enum { CHUNK = 32 };                    /* rows of an item, and of a partial sum: fixed, so that threads do not change the sums */

struct job {
    const struct attn_rows *to, *dy, *x;
    const struct attn_slopes_norm *norm;
    enum attn_mlp_form kind;
};

static size_t chunks(size_t n) { return parts_of(n, CHUNK); }
static float *row(const struct attn_rows *r, size_t i) { return r->data + i * r->ld; }

static size_t end_of(const struct attn_rows *r, size_t item)
{
    return smaller((item + 1) * CHUNK, r->n);
}

/* `work`: roughly how many operations each number takes */
static void each_chunk(struct attn_team *t, const struct attn_rows *r, double work,
                       void (*chunk)(void *ctx, size_t item, int worker), struct job *j)
{
    attn_team_run(t, chunks(r->n), work * (double)r->n * (double)r->cols, chunk, j);
}

size_t attn_slopes_room(size_t n, size_t cols)
{
    return chunks(n) * 2 * cols;
}

static void norm_chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    const struct attn_slopes_norm *s = j->norm;
    size_t n = j->x->cols;
    float *part = s->room + item * 2 * n;
    memset(part, 0, 2 * n * sizeof *part);
    struct attn_norm_back b = {.dw = part, .db = s->db ? part + n : NULL, .w = s->norm->weight.data, .eps = s->eps,
                               .rms = s->norm->rms};
    for (size_t i = item * CHUNK; i < end_of(j->x, item); i++) {
        b.dx = row(j->to, i);
        attn_vec_norm_back(&b, row(j->dy, i), row(j->x, i), n);
    }
}

void attn_slopes_norm(struct attn_team *t, const struct attn_rows *dx, const struct attn_rows *dy,
                      const struct attn_rows *x, const struct attn_slopes_norm *s)
{
    size_t n = x->cols;
    struct job j = {.to = dx, .dy = dy, .x = x, .norm = s};
    each_chunk(t, x, 30, norm_chunk, &j);
    for (size_t i = 0; i < chunks(x->n); i++) {
        attn_vec_add(s->dw, s->room + i * 2 * n, n);
        if (s->db)
            attn_vec_add(s->db, s->room + (i * 2 + 1) * n, n);
    }
}

static void activate_chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    for (size_t i = item * CHUNK; i < end_of(j->dy, item); i++) {
        float *dy = row(j->dy, i), *x = row(j->x, i);
        if (j->kind == ATTN_GELU)
            attn_vec_gelu_back(dy, x, j->dy->cols);
        else if (j->kind == ATTN_GELU_NEW)
            attn_vec_gelu_new_back(dy, x, j->dy->cols);
        else
            attn_vec_silu_mul_back(dy, x, row(j->to, i), j->dy->cols);
    }
}

void attn_slopes_activate(struct attn_team *t, const struct attn_rows *dy, const struct attn_rows *x,
                          const struct attn_rows *linear, enum attn_mlp_form kind)
{
    struct job j = {.dy = dy, .x = x, .to = linear, .kind = kind};
    each_chunk(t, dy, 40, activate_chunk, &j);
}
