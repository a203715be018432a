/* dump_tensors.c - reads the arrays of a .safetensors file, as ports save them with safetensors.torch.save_file.
 *
 * Floats of any size become float32.  Whole numbers called tokens are the ids of the sentence. */
#include "io/dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "compute/vec.h"
#include "io/safetensors.h"

enum { CHUNK = 1024 };

/* The numbers of a file may lie anywhere, so they are copied before they are read. */
static void widen(float *out, const struct attn_st_tensor *t)
{
    size_t size = t->count ? t->bytes / t->count : 1;
    enum attn_dtype type = size == 4 ? ATTN_F32 : t->dtype[0] == 'B' ? ATTN_BF16 : ATTN_F16;
    double aligned[CHUNK];
    for (size_t i = 0, n; i < t->count; i += n) {
        n = smaller(t->count - i, CHUNK);
        memcpy(aligned, t->data + i * size, n * size);
        if (size < sizeof *aligned)
            attn_vec_widen(out + i, aligned, type, 0, n);
        for (size_t k = 0; k < n && size == sizeof *aligned; k++)
            out[i + k] = (float)aligned[k];
    }
}

static bool is_float(const char *dtype)
{
    static const char *const floats[] = {"F32", "F16", "BF16", "F64"};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (!strcmp(dtype, floats[i]))
            return true;
    return false;
}

static bool is_list(const struct attn_st_tensor *t)
{
    for (int k = 0; k < t->ndim - 1; k++)
        if (t->shape[k] != 1)
            return false;
    return t->ndim > 0 && !strcmp(t->name, "tokens") && (!strcmp(t->dtype, "I64") || !strcmp(t->dtype, "I32"));
}

static int add_ids(struct attn_dump *d, const struct attn_st_tensor *t, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < t->count && !rc; i++) {
        int64_t id = 0;
        int32_t narrow = 0;
        if (t->dtype[1] == '6')
            memcpy(&id, t->data + i * sizeof id, sizeof id);
        else {
            memcpy(&narrow, t->data + i * sizeof narrow, sizeof narrow);
            id = narrow;
        }
        rc = id >= 0 && id <= INT32_MAX ? attn_dump_add_token(d, &d->tokens, (int32_t)id, NULL, 0, err)
             : attn_fail(err, ATTN_EFORMAT, "%s: token %zu has id %lld, expected 0 to %d", d->path, i, (long long)id,
                         INT32_MAX);
    }
    return rc;
}

static int add_floats(struct attn_dump *d, const struct attn_st_tensor *t, struct attn_err *err)
{
    struct attn_dumped what = {.of = {.ndim = t->ndim, .n = t->count, .data = malloc(t->count * sizeof(float) + 1)}};
    if (!what.of.data)
        return attn_no_memory(err, d->path, "for %zu numbers", t->count);
    memcpy(what.of.shape, t->shape, sizeof what.of.shape);
    widen(what.of.data, t);
    return attn_dump_add(d, t->name, strlen(t->name), &what, err);
}

static int add_tensor(struct attn_dump *d, const struct attn_st_tensor *t, struct attn_err *err)
{
    if (is_list(t))
        return add_ids(d, t, err);
    return is_float(t->dtype) ? add_floats(d, t, err)
           : attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' holds numbers of type %s, expected F32, F16 or BF16: leave "
                       "it out, or save it as floats", d->path, t->name, t->dtype);
}

int attn_dump_read_tensors(struct attn_dump *d, const struct attn_map *m, const char *path, struct attn_err *err)
{
    struct attn_st *st = NULL;
    int rc = attn_st_open(&st, m->data, m->len, path, err);
    for (size_t i = 0; !rc && i < attn_st_count(st); i++) {
        const struct attn_st_tensor *t = attn_st_at(st, i);
        struct attn_err why = {0};
        rc = add_tensor(d, t, &why);
        if (rc == ATTN_EFORMAT && d->some)
            rc = attn_dump_add_wrong(d, t->name, strlen(t->name), why.msg, err);
        else if (rc)
            attn_fail_as(err, &why);
    }
    attn_st_close(st);
    return rc;
}
