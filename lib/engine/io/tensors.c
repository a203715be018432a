#include "io/tensors.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

void attn_st_close(struct attn_st *st)
{
    if (!st)
        return;
    for (size_t i = 0; i < st->copies; i++)
        free(st->copy[i]);
    free(st->copy);
    attn_strings_free(&st->names);
    free(st->tensor);
    free(st->index);
    free(st);
}

size_t attn_st_count(const struct attn_st *st)
{
    return st->names.n;
}

const struct attn_st_tensor *attn_st_at(const struct attn_st *st, size_t i)
{
    return &st->tensor[i];
}

const struct attn_st_tensor *attn_st_find(const struct attn_st *st, const char *name)
{
    size_t i = attn_strings_find(&st->names, name, strlen(name));
    return i == ATTN_STRINGS_NONE ? NULL : &st->tensor[st->index ? st->index[i] : i];
}

void *attn_st_keep(struct attn_st *st, size_t bytes)
{
    void **copy = attn_grow(st->copy, &st->copy_room, st->copies + 1, sizeof *copy);
    st->copy = copy ? copy : st->copy;
    return copy ? copy[st->copies++] = malloc(bytes ? bytes : 1) : NULL;
}

bool attn_st_add(struct attn_st *st, const char *name, const struct attn_st_tensor *t)
{
    size_t n = st->names.n;
    struct attn_st_tensor *more = attn_grow(st->tensor, &st->room, n + 1, sizeof *more);
    st->tensor = more ? more : st->tensor;
    if (!more || attn_strings_add(&st->names, name, strlen(name)) != n)
        return false;
    more[n] = *t;
    return true;
}

void attn_st_name(struct attn_st *st)
{
    for (size_t i = 0; i < st->names.n; i++)
        st->tensor[i].name = attn_strings_at(&st->names, i, NULL);
}

const struct attn_st_dtype attn_st_dtypes[] = {
    {"BOOL", 1}, {"U8", 1}, {"I8", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
    {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4}, {"I64", 8}, {"U64", 8}, {"F64", 8}, {NULL, 0}
};

size_t attn_st_element(const char *dtype)
{
    const struct attn_st_dtype *d = attn_st_dtypes;
    while (d->name && strcmp(d->name, dtype) != 0)
        d++;
    return d->bytes;
}

const char *attn_st_shape(char buf[ATTN_ST_SHAPE], const size_t *shape, int ndim)
{
    char *s = buf;
    *s++ = '[';
    for (int i = 0; i < ndim; i++)
        s += sprintf(s, i == 0 ? "%zu" : ", %zu", shape[i]);
    strcpy(s, "]");
    return buf;
}

bool attn_st_elements(const size_t *shape, int ndim, size_t element, size_t *count)
{
    size_t product = element;
    bool empty = false;
    for (int i = 0; i < ndim; i++) {
        empty |= shape[i] == 0;
        if (__builtin_mul_overflow(product, shape[i] ? shape[i] : 1, &product))
            return false;
    }
    *count = empty ? 0 : product / element;
    return true;
}
