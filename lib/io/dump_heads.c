/* dump_heads.c - joins matrices of one head each. */
#include "io/dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"

/* Splits "blocks.0.attn.q.head12" into the length of its name and the head's number; false if it names no head. */
static bool head_of(const char *name, size_t *len, uint64_t *head)
{
    const char *dot = strrchr(name, '.');
    if (!dot || strncmp(dot, ".head", 5) || !attn_num_parse_u64(dot + 5, strlen(dot + 5), head))
        return false;
    *len = (size_t)(dot - name);
    return true;
}

static int by_head(const void *a, const void *b)
{
    const struct attn_dumped *x = a, *y = b;
    size_t xl = strlen(x->name), yl = strlen(y->name);
    uint64_t xh = 0, yh = 0;
    head_of(x->name, &xl, &xh);
    head_of(y->name, &yl, &yh);
    int order = strncmp(x->name, y->name, xl < yl ? xl : yl);
    if (order || xl != yl)
        return order ? order : xl < yl ? -1 : 1;
    return (xh > yh) - (xh < yh);
}

/* Joins n matrices, the heads of one activation, into one array named by the first `len` bytes of their names. */
static int join(struct attn_dumped *out, const struct attn_dumped *head, size_t n, size_t len, const char *dir,
                struct attn_err *err)
{
    const struct attn_array *first = &head[0].of;
    struct attn_dumped all = {.n_heads = n, .of = {.ndim = 3, .shape = {n, first->shape[0], first->shape[1]}, .n = n * first->n}};
    for (size_t i = 1; i < n; i++)
        if (memcmp(head[i].of.shape, first->shape, sizeof first->shape) != 0)
            return attn_fail(err, ATTN_EFORMAT, "%s: '%s' and '%s' are heads of one activation and differ in shape", dir,
                             head[0].name, head[i].name);
    all.name = strndup(head[0].name, len);
    all.of.data = malloc(all.of.n * sizeof *all.of.data + 1);
    all.heads = calloc(n, sizeof *all.heads);
    if (!all.name || !all.of.data || !all.heads) {
        attn_dump_drop(&all);
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the heads of '%s'", dir, head[0].name);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t number = 0;
        size_t ignored;
        head_of(head[i].name, &ignored, &number);
        all.heads[i] = (size_t)number;
        if (first->n)
            memcpy(all.of.data + i * first->n, head[i].of.data, first->n * sizeof *all.of.data);
    }
    *out = all;
    return ATTN_OK;
}

int attn_dump_join_heads(struct attn_dump *d, struct attn_err *err)
{
    size_t kept = 0;
    int rc = ATTN_OK;
    if (d->n)
        qsort(d->item, d->n, sizeof *d->item, by_head);
    for (size_t i = 0, n; i < d->n; i += n) {
        size_t len = 0, other;
        uint64_t head;
        bool split = head_of(d->item[i].name, &len, &head);
        for (n = 1; split && i + n < d->n; n++) {
            const char *next = d->item[i + n].name;
            if (!head_of(next, &other, &head) || other != len || strncmp(d->item[i].name, next, len))
                break;
        }
        struct attn_dumped whole = d->item[i];
        if (split && !rc)
            rc = join(&whole, &d->item[i], n, len, d->path, err);
        for (size_t k = 0; k < n && split && !rc; k++)
            attn_dump_drop(&d->item[i + k]);
        for (size_t k = 0; k < n && rc; k++)            /* on failure keep all, to be freed later */
            d->item[kept++] = d->item[i + k];
        if (!rc)
            d->item[kept++] = whole;
    }
    d->n = kept;
    return rc ? rc : attn_dump_index(d, err);
}
