/* backward_steps.c - the chain rule for one step: a product, a norm, a norm of heads; and gradients are shown to
 * whoever asked for them. */
#include "gradient/backward_steps.h"

#include <string.h>

#include "compute/gemm.h"
#include "compute/rows_backward.h"

void attn_step_clear(const struct attn_rows *x)
{
    memset(x->data, 0, x->n * x->ld * sizeof *x->data);
}

void attn_step_tell(struct attn_work *t, int act, int layer, const struct attn_rows *r, size_t heads)
{
    if (!attn_work_taps(t, act, layer))
        return;
    for (size_t i = 0; i < t->seqs; i++) {
        const struct attn_work_seq *s = &t->seq[i];
        size_t width = heads ? r->cols / heads : r->cols;
        struct attn_probe p = {
            .act = act, .layer = layer, .seq = i, .ndim = heads ? 3 : 2,
                .shape = {heads ? heads : s->T, heads ? s->T : width, width},
            .heads = heads ? heads : 1, .rows = s->T, .cols = width, .ld = r->ld, .ld_head = width};
        t->taps->pass(t->taps->self, &p, r->data + s->row * r->ld);
    }
}

/* The number of slices of a matrix: contiguous outputs are one slice; if heads are interleaved, each is a slice; if
 * halves of heads are stored as neighbours, each half, as every other row. */
static size_t slices(const struct attn_mat *w)
{
    return w->group ? w->out / w->group * (w->paired ? 2 : 1) : 1;
}

static struct attn_mat slice(const struct attn_mat *w, size_t i)
{
    struct attn_mat p = *w;
    if (!w->group)
        return p;
    p.out = w->paired ? w->group / 2 : w->group;
    size_t at = attn_mat_index(w, i * p.out);
    p.data = attn_element(w->data, w->type, at * w->ld);
    p.ld = w->paired ? 2 * w->ld : w->ld;
    p.group = 0;
    if (w->bias.data)
        p.bias.data = attn_element(w->bias.data, w->bias.type, at);
    return p;
}

/* The columns of y that belong to a slice. */
static struct attn_rows columns(const struct attn_rows *y, const struct attn_mat *p, size_t i)
{
    return (struct attn_rows){y->data + i * p->out, y->ld, y->n, p->out};
}

void attn_step_by_input(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy,
                        const struct attn_mat *w, bool more)
{
    for (size_t i = 0; i < slices(w); i++) {
        struct attn_mat p = slice(w, i);
        struct attn_mat transposed = {.data = p.data, .type = p.type, .in = p.out, .out = p.in, .ld = p.ld,
                                      .transposed = !p.transposed};
        struct attn_rows d = columns(dy, &p, i);
        attn_gemm(t->team, dx->data, dx->ld, d.data, d.ld, d.n, &transposed, more || i ? ATTN_ADD : ATTN_STORE, NULL);
    }
}

/* Of a slice whose biases are neighbours, or every other one. */
static void add_to_bias(struct attn_work *t, const struct attn_mat *p, const struct attn_rows *dy)
{
    float *bias = (float *)p->bias.data;
    if (!p->paired)
        attn_outer_sum(t->team, bias, dy);
    for (size_t j = 0; p->paired && j < dy->cols; j++)
        attn_outer_sum(t->team, bias + 2 * j, &(struct attn_rows){dy->data + j, dy->ld, dy->n, 1});
}

void attn_step_by_weights(struct attn_work *t, const struct attn_mat *g, const struct attn_rows *x,
                          const struct attn_rows *dy)
{
    for (size_t i = 0; i < slices(g); i++) {
        struct attn_mat p = slice(g, i);
        struct attn_rows d = columns(dy, &p, i);
        if (p.transposed)
            attn_outer(t->team, (float *)p.data, p.ld, &d, x);
        else
            attn_outer(t->team, (float *)p.data, p.ld, x, &d);
        if (p.bias.data)
            add_to_bias(t, &p, &d);
    }
}

void attn_step_by_norm(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy,
                       const struct attn_rows *x, const struct attn_norm *norm, const struct attn_norm *g)
{
    const struct attn_norm wide = {.weight = {t->norm_w, ATTN_F32}, .rms = norm->rms};
    struct attn_rows_norm_backward s = {.norm = &wide, .eps = t->w->eps, .dw = g ? (float *)g->weight.data : NULL,
                                 .db = g ? (float *)g->bias.data : NULL, .scratch = t->sums};
    attn_norm_weights(t->norm_w, norm, 0, x->cols);
    attn_rows_norm_backward(t->team, dx, dy, x, &s);
}

void attn_step_through_norm(struct attn_work *t, const struct attn_rows *dy, const struct attn_rows *x,
                            const struct attn_norm *norm, const struct attn_norm *g)
{
    struct attn_rows behind = attn_work_rows(t, t->dy, dy->cols);
    attn_rows_copy(&behind, dy);
    attn_step_clear(dy);
    attn_step_by_norm(t, dy, &behind, x, norm, g);
}

/* Moves a view on by so many numbers. */
static void skip(struct attn_vec *v, size_t n)
{
    if (v->data)
        v->data = attn_element(v->data, v->type, n);
}

void attn_step_by_head_norm(struct attn_work *t, const struct attn_rows *dx, const struct attn_rows *dy,
                            const struct attn_rows *x, const struct attn_norm *norm, const struct attn_norm *g)
{
    size_t span = norm->span ? norm->span : x->cols;
    attn_step_clear(dx);
    for (size_t at = 0; at < x->cols; at += span) {
        struct attn_norm one = *norm, dnorm = g ? *g : (struct attn_norm){.weight = {0}};
        struct attn_rows to = {dx->data + at, dx->ld, dx->n, span}, from = {dy->data + at, dy->ld, dy->n, span};
        struct attn_rows of = {x->data + at, x->ld, x->n, span};
        if (norm->own) {
            skip(&one.weight, at);
            skip(&dnorm.weight, at);
            skip(&dnorm.bias, at);
        }
        attn_step_by_norm(t, &to, &from, &of, &one, &dnorm);
    }
}
