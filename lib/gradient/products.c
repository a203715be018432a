/* products.c - the gradients of a product, which are two more products, and of a norm. */
#include "compute/gemm.h"
#include "compute/outer.h"
#include "compute/slopes.h"
#include "gradient/work.h"

/* The number of parts of a matrix: contiguous outputs are one part; if heads are interleaved, each is a part. */
static size_t parts(const struct attn_mat *w)
{
    return w->group ? w->out / w->group : 1;
}

static struct attn_mat part(const struct attn_mat *w, size_t i)
{
    struct attn_mat p = *w;
    if (!w->group)
        return p;
    size_t at = attn_mat_place(w, i * w->group);
    p.data = (const float *)w->data + at * w->ld;
    p.out = w->group;
    p.group = 0;
    if (w->bias.data)
        p.bias.data = (const float *)w->bias.data + at;
    return p;
}

/* The columns of y that belong to a part. */
static struct attn_rows columns(const struct attn_rows *y, const struct attn_mat *p, size_t i)
{
    return (struct attn_rows){y->data + i * p->out, y->ld, y->n, p->out};
}

void attn_work_back(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy,
                    const struct attn_mat *w, bool more)
{
    for (size_t i = 0; i < parts(w); i++) {
        struct attn_mat p = part(w, i);
        struct attn_mat turned = {.data = p.data, .in = p.out, .out = p.in, .ld = p.ld, .by_output = !p.by_output};
        struct attn_rows d = columns(dy, &p, i);
        attn_gemm(t->team, dx->data, dx->ld, d.data, d.ld, d.n, &turned, more || i ? ATTN_ADD : ATTN_STORE, NULL);
    }
}

void attn_work_learn(struct attn_work *t, const struct attn_mat *g, const struct attn_rows *x,
                     const struct attn_rows *dy)
{
    for (size_t i = 0; i < parts(g); i++) {
        struct attn_mat p = part(g, i);
        struct attn_rows d = columns(dy, &p, i);
        if (p.by_output)
            attn_outer(t->team, (float *)p.data, p.ld, &d, x);
        else
            attn_outer(t->team, (float *)p.data, p.ld, x, &d);
        if (p.bias.data)
            attn_outer_sum(t->team, (float *)p.bias.data, &d);
    }
}

void attn_work_back_norm(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *x,
                         const struct attn_norm *norm, const struct attn_norm *g)
{
    struct attn_rows dy = attn_work_rows(t, t->dy, x->cols);
    struct attn_slopes_norm s = {.norm = norm, .eps = t->w->eps, .dw = (float *)g->weight.data,
                                 .db = (float *)g->bias.data, .room = t->sums};
    attn_slopes_norm(t->team, dx, &dy, x, &s);
}
