#include "compute/rows.h"

#include "base/size.h"
#include "compute/gemm.h"

#include <stdatomic.h>
#include <string.h>

enum { CHUNK = 16 };                    /* rows of an item */

struct job {
    const struct attn_rows *y, *x, *pre;
    const float *w, *b;                 /* the weights of a norm, or cosines and sines */
    float eps;                          /* of a norm; or a factor, or a cap */
    float *rounded;                     /* where a norm puts rounded rows; NULL: nowhere */
    const struct attn_norm *norm;
    enum attn_mlp_kind kind;
    bool interleaved;
    size_t dh, rotary;
    const struct attn_drop *drop;
    size_t first;
    atomic_bool *nonfinite;             /* set if a row is */
    void (*row)(const struct job *j, float *y, const float *x, size_t i);
};

static void chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    size_t end = smaller((item + 1) * CHUNK, j->y->n);
    for (size_t i = item * CHUNK; i < end; i++)
        j->row(j, j->y->data + i * j->y->ld, j->x ? j->x->data + i * j->x->ld : NULL, i);
}

/* `work`: roughly how many operations each number takes */
static void each_row(struct attn_team *t, struct job *j, double work)
{
    attn_team_run(t, parts_of(j->y->n, CHUNK), work * (double)j->y->n * (double)j->y->cols, chunk, j);
}

static void norm_row(const struct job *j, float *y, const float *x, size_t i)
{
    (void)i;
    size_t span = j->norm->span ? j->norm->span : j->y->cols;
    for (size_t at = 0; at < j->y->cols; at += span) {
        size_t own = j->norm->own ? at : 0;
        if (j->norm->rms)
            attn_vec_rmsnorm(y + at, x + at, j->w + own, j->eps, span);
        else
            attn_vec_layernorm(y + at, x + at, j->w + own, j->b ? j->b + own : NULL, j->eps, span);
    }
}

void attn_norm_weights(float *to, const struct attn_norm *norm, size_t first, size_t n)
{
    attn_vec_widen(to, norm->weight.data, norm->weight.type, first, n);
    for (size_t i = 0; norm->from_one && i < n; i++)
        to[i] += 1;
}

/* All rows of a chunk use the same row of y, which stays in the nearest cache. */
static void norm_rounded_row(const struct job *j, float *y, const float *x, size_t i)
{
    y -= i % CHUNK * j->y->ld;
    norm_row(j, y, x, i);
    attn_gemm_round(j->rounded, j->y->cols, i, 0, y, j->y->cols);
}

void attn_rows_norm(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *x,
                    const struct attn_norm *norm, float eps, float *w, float *b, float *rounded)
{
    struct job j = {.y = y, .x = x, .eps = eps, .norm = norm, .w = w, .rounded = rounded,
                    .row = rounded ? norm_rounded_row : norm_row};
    size_t n = norm->span && !norm->own ? norm->span : y->cols;
    attn_norm_weights(w, norm, 0, n);
    if (norm->bias.data) {
        attn_vec_widen(b, norm->bias.data, norm->bias.type, 0, n);
        j.b = b;
    }
    each_row(t, &j, 16);
}

static void add_row(const struct job *j, float *y, const float *x, size_t i)
{
    (void)i;
    attn_vec_add(y, x, j->y->cols);
}

void attn_rows_add(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *x)
{
    struct job j = {.y = y, .x = x, .row = add_row};
    each_row(t, &j, 2);
}

void attn_rows_copy(const struct attn_rows *y, const struct attn_rows *x)
{
    for (size_t i = 0; i < y->n; i++)
        memcpy(y->data + i * y->ld, x->data + i * x->ld, y->cols * sizeof *y->data);
}

static void activate_row(const struct job *j, float *y, const float *x, size_t i)
{
    attn_vec_activate(y, j->pre->data + i * j->pre->ld, x, j->kind, j->y->cols);
}

void attn_rows_activate(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *pre,
                        const struct attn_rows *x, enum attn_mlp_kind kind)
{
    struct job j = {.y = y, .x = x, .pre = pre, .kind = kind, .row = activate_row};
    each_row(t, &j, 30);
}

static void rotate_row(const struct job *j, float *y, const float *x, size_t i)
{
    (void)x;
    const float *cos = j->w + i * (j->rotary / 2), *sin = j->b + i * (j->rotary / 2);
    for (size_t h = 0; h < j->y->cols; h += j->dh)
        if (j->interleaved)
            attn_vec_rotate_interleaved(y + h, cos, sin, j->rotary);
        else
            attn_vec_rotate(y + h, cos, sin, j->rotary);
}

void attn_rows_rotate(struct attn_team *t, const struct attn_rows *y, const struct attn_weights *w, const float *cos,
                      const float *sin)
{
    struct job j = {.y = y, .w = cos, .b = sin, .dh = w->n.dh, .rotary = w->rotary, .interleaved = w->interleaved,
                    .row = rotate_row};
    each_row(t, &j, 6);
}

static void scale_row(const struct job *j, float *y, const float *x, size_t i)
{
    (void)x, (void)i;
    attn_vec_scale(y, y, j->eps, j->y->cols);
}

void attn_rows_scale(struct attn_team *t, const struct attn_rows *y, float by)
{
    struct job j = {.y = y, .eps = by, .row = scale_row};
    each_row(t, &j, 1);
}

/* NaN stays NaN. */
static void clamp_row(const struct job *j, float *y, const float *x, size_t i)
{
    (void)x, (void)i;
    for (size_t k = 0; k < j->y->cols; k++)
        y[k] = y[k] > j->eps ? j->eps : y[k] < -j->eps ? -j->eps : y[k];
}

void attn_rows_clamp(struct attn_team *t, const struct attn_rows *y, float most)
{
    struct job j = {.y = y, .eps = most, .row = clamp_row};
    each_row(t, &j, 1);
}

static void clamp_backward_row(const struct job *j, float *dy, const float *y, size_t i)
{
    (void)i;
    for (size_t k = 0; k < j->y->cols; k++)
        dy[k] = y[k] >= j->eps || y[k] <= -j->eps ? 0 : dy[k];
}

void attn_rows_clamp_backward(struct attn_team *t, const struct attn_rows *dy, const struct attn_rows *y, float most)
{
    struct job j = {.y = dy, .x = y, .eps = most, .row = clamp_backward_row};
    each_row(t, &j, 1);
}

static void cap_row(const struct job *j, float *y, const float *x, size_t i)
{
    (void)x, (void)i;
    attn_vec_cap(y, j->eps, j->y->cols);
}

void attn_rows_cap(struct attn_team *t, const struct attn_rows *y, float cap)
{
    struct job j = {.y = y, .eps = cap, .row = cap_row};
    each_row(t, &j, 30);
}

static void drop_row(const struct job *j, float *y, const float *x, size_t i)
{
    attn_vec_drop(y, x, j->drop, j->first + i, j->y->cols);
}

void attn_rows_drop(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *x,
                    const struct attn_drop *d, size_t first)
{
    struct job j = {.y = y, .x = x, .drop = d, .first = first, .row = drop_row};
    each_row(t, &j, 8);
}

static void look_at_row(const struct job *j, float *y, const float *x, size_t i)
{
    (void)x, (void)i;
    if (!attn_vec_finite(y, j->y->cols))
        atomic_store_explicit(j->nonfinite, true, memory_order_relaxed);
}

bool attn_rows_finite(struct attn_team *t, const struct attn_rows *y)
{
    atomic_bool nonfinite = false;
    struct job j = {.y = y, .nonfinite = &nonfinite, .row = look_at_row};
    each_row(t, &j, 4);
    return !nonfinite;
}
