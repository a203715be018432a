/* difference.c - B - A as a dump, which can be drawn or written as any other. */
#include "compare/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* What both sides hide stays hidden. */
static float less(float b, float a)
{
    return a == -INFINITY && b == -INFINITY ? -INFINITY : b - a;
}

static int take_heads(struct attn_dumped *what, const struct attn_dumped *from, struct attn_err *err)
{
    if (!from->heads)
        return ATTN_OK;
    what->heads = malloc((from->n_heads + 1) * sizeof *what->heads);
    if (!what->heads)
        return attn_no_memory(err, NULL, "for a list of heads");
    memcpy(what->heads, from->heads, from->n_heads * sizeof *what->heads);
    what->n_heads = from->n_heads;
    return ATTN_OK;
}

static int add_row(struct attn_dump *out, const struct attn_diff *d, const struct attn_diff_row *row,
                   struct attn_err *err)
{
    struct attn_pair p;
    if (!attn_diff_pair_of(d, row, &p))
        return ATTN_OK;
    bool heads = p.H > 1 || row->ndim[1] > 2;
    struct attn_dumped what = {.of = {.n = p.H * p.T * p.n, .ndim = heads ? 3 : 2}};
    const size_t shape[] = {p.H, p.T, p.n};
    memcpy(what.of.shape, heads ? shape : shape + 1, (size_t)what.of.ndim * sizeof *shape);
    what.of.data = malloc(what.of.n * sizeof *what.of.data + 1);
    if (!what.of.data)
        return attn_no_memory(err, NULL, "for B - A of %s", row->name);
    for (size_t i = 0; i < p.H * p.T; i++)
        for (size_t j = 0; j < p.n; j++) {
            size_t at = i / p.T * p.ld_head + i % p.T * p.ld + j;
            what.of.data[i * p.n + j] = less(p.b[at], p.a[at]);
        }
    int rc = heads ? take_heads(&what, attn_diff_side(d, row, 1), err) : ATTN_OK;
    if (rc) {
        attn_dump_drop(&what);
        return rc;
    }
    return attn_dump_add(out, row->name, strlen(row->name), &what, err);
}

static int copy_list(struct attn_dump *out, struct attn_dump_list *to, const struct attn_dump_list *b,
                     const struct attn_dump_list *a, struct attn_err *err)
{
    const struct attn_dump_list *from = b->n ? b : a;
    int rc = ATTN_OK;
    for (size_t i = 0; i < from->n && !rc; i++)
        rc = attn_dump_add_token(out, to, from->item[i].id, from->item[i].text, from->item[i].len, err);
    return rc;
}

int attn_diff_dump(struct attn_dump **out, const struct attn_diff *d, struct attn_err *err)
{
    struct attn_dump *x = *out = calloc(1, sizeof *x);
    int rc = x ? copy_list(x, &x->tokens, &d->b->tokens, &d->a->tokens, err) : attn_no_memory(err, NULL, "for B - A");
    if (!rc)
        rc = copy_list(x, &x->keys, &d->b->keys, &d->a->keys, err);
    for (size_t i = 0; i < d->n && !rc; i++) {
        rc = add_row(x, d, &d->row[i], err);
        attn_diff_forget_moved(d);
    }
    if (rc) {
        attn_dump_free(x);
        *out = NULL;
    }
    return rc;
}
