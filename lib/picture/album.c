#include "picture/album.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"

static int make_room(float **out, const struct attn_sheet *s, struct attn_err *err)
{
    size_t n, bytes;
    bool huge = __builtin_mul_overflow(s->n, s->rows, &n) || __builtin_mul_overflow(n, s->cols, &n) ||
                __builtin_mul_overflow(n, sizeof **out, &bytes);
    *out = huge ? NULL : calloc(n ? n : 1, sizeof **out);
    return *out ? ATTN_OK : attn_fail(err, ATTN_ENOMEM, "no memory to draw %s: %zu matrices of %zu x %zu numbers; choose layers "
                                      "and heads with --layer and --head", s->title, s->n, s->rows, s->cols);
}

int attn_album_add(struct attn_album *a, const struct attn_sheet *what, float **own, struct attn_err *err)
{
    struct attn_sheet *more = attn_grow(a->sheet, &a->room, a->n + 1, sizeof *more), add = *what;
    if (!more)
        return attn_fail(err, ATTN_ENOMEM, "no memory to list %zu activations", a->n + 1);
    a->sheet = more;
    int rc = add.data ? ATTN_OK : make_room(&add.own, &add, err);
    if (rc)
        return rc;
    if (add.own)
        add.data = *own = add.own;
    a->sheet[a->n++] = add;
    return ATTN_OK;
}

void attn_album_free(struct attn_album *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->sheet[i].own);
    free(a->sheet);
}

const float *attn_sheet_matrix(const struct attn_sheet *s, size_t i)
{
    return s->data + i * s->rows * s->cols;
}
