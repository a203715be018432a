#include "compute/rows.h"

#include "base/size.h"

#include <string.h>

enum { CHUNK = 16 };                    /* rows of an item */

struct job {
    const struct attn_rows *y, *x, *pre;
    const float *w, *b;                 /* the weights of a norm, or cosines and sines */
    float eps;
    bool rms;
    enum attn_mlp_form kind;
    size_t dh, rotary;
    const struct attn_drop *drop;
    size_t first;
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
    if (j->rms)
        attn_vec_rmsnorm(y, x, j->w, j->eps, j->y->cols);
    else
        attn_vec_layernorm(y, x, j->w, j->b, j->eps, j->y->cols);
}

void attn_rows_norm(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *x,
                    const struct attn_norm *norm, float eps, float *w, float *b)
{
    struct job j = {.y = y, .x = x, .eps = eps, .rms = norm->rms, .w = w, .row = norm_row};
    attn_vec_widen(w, norm->weight.data, norm->weight.type, 0, y->cols);
    if (norm->bias.data) {
        attn_vec_widen(b, norm->bias.data, norm->bias.type, 0, y->cols);
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
    const float *pre = j->pre->data + i * j->pre->ld;
    if (j->kind == ATTN_GELU)
        attn_vec_gelu(y, pre, j->y->cols);
    else if (j->kind == ATTN_GELU_NEW)
        attn_vec_gelu_new(y, pre, j->y->cols);
    else
        attn_vec_silu_mul(y, pre, x, j->y->cols);
}

void attn_rows_activate(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *pre, const struct attn_rows *x,
                        enum attn_mlp_form kind)
{
    struct job j = {.y = y, .x = x, .pre = pre, .kind = kind, .row = activate_row};
    each_row(t, &j, 30);
}

static void rotate_row(const struct job *j, float *y, const float *x, size_t i)
{
    (void)x;
    for (size_t h = 0; h < j->y->cols; h += j->dh)
        attn_vec_rotate(y + h, j->w + i * (j->rotary / 2), j->b + i * (j->rotary / 2), j->rotary);
}

void attn_rows_rotate(struct attn_team *t, const struct attn_rows *y, size_t dh, size_t r, const float *cos, const float *sin)
{
    struct job j = {.y = y, .w = cos, .b = sin, .dh = dh, .rotary = r, .row = rotate_row};
    each_row(t, &j, 6);
}

static void drop_row(const struct job *j, float *y, const float *x, size_t i)
{
    attn_vec_drop(y, x, j->drop, j->first + i, j->y->cols);
}

void attn_rows_drop(struct attn_team *t, const struct attn_rows *y, const struct attn_rows *x, const struct attn_drop *d,
                    size_t first)
{
    struct job j = {.y = y, .x = x, .drop = d, .first = first, .row = drop_row};
    each_row(t, &j, 8);
}

bool attn_rows_finite(const struct attn_rows *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (!attn_vec_finite(x->data + i * x->ld, x->cols))
            return false;
    return true;
}
