#include "pickled.h"

#include "scratch.h"

#include "base/out.h"
#include "io/zip.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the pickle: a program for a machine with a stack ---- */

static void number(FILE *f, size_t n)           /* BININT: four bytes, little-endian */
{
    fputc('J', f);
    for (int i = 0; i < 4; i++)
        fputc((int)(n >> 8 * i & 255), f);
}

static void text(FILE *f, const char *s)        /* BINUNICODE: the length, then the bytes */
{
    size_t n = strlen(s);
    fputc('X', f);
    for (int i = 0; i < 4; i++)
        fputc((int)(n >> 8 * i & 255), f);
    fputs(s, f);
}

static void tuple(FILE *f, const size_t *x, int n)
{
    fputc('(', f);
    for (int i = 0; i < n; i++)
        number(f, x[i]);
    fputc('t', f);
}

static const char *storage_of(const char *dtype)
{
    static const char *const names[][2] = {{"F32", "Float"}, {"F16", "Half"}, {"BF16", "BFloat16"}, {"U8", "Byte"},
                                           {"BOOL", "Bool"}};
    size_t i = 0;
    while (strcmp(names[i][0], dtype) != 0)
        ck_assert_uint_lt(++i, sizeof names / sizeof *names);
    return names[i][1];
}

/* _rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks) */
static void tensor(FILE *f, const struct attn_st_tensor *t, size_t key, bool turned)
{
    size_t stride[8] = {1};
    for (int i = t->ndim - 1, step = 1; i >= 0; step *= (int)t->shape[i--])
        stride[i] = (size_t)step;
    if (turned && t->ndim == 2)
        stride[0] = 1, stride[1] = t->shape[0];
    text(f, t->name);
    fputs("ctorch._utils\n_rebuild_tensor_v2\n((", f);
    text(f, "storage");
    fprintf(f, "ctorch\n%sStorage\n", storage_of(t->dtype));
    text(f, printed("%zu", key));
    text(f, "cpu");
    number(f, t->count);
    fputs("tQ", f);
    number(f, 0);
    tuple(f, t->shape, t->ndim);
    tuple(f, stride, t->ndim);
    fputs("\x89" "ccollections\nOrderedDict\n)RtR", f);
}

/* ---- the archive ---- */

static void member(struct attn_zip *zip, const char *name, const void *data, size_t len)
{
    struct attn_err err = {0};
    ck_assert_msg(!attn_zip_begin(zip, name, len, &err), "%s", err.msg);
    attn_zip_add(zip, data, len);
    attn_zip_end(zip);
}

static void data(struct attn_zip *zip, const struct attn_st_tensor *t, size_t key, bool turned)
{
    size_t rows = t->shape[0], cols = t->shape[1], each = t->count ? t->bytes / t->count : 0;
    unsigned char *bytes = malloc(t->bytes + 1);
    memcpy(bytes, t->data, t->bytes);
    for (size_t i = 0; i < rows && turned && t->ndim == 2; i++)
        for (size_t j = 0; j < cols; j++)
            memcpy(bytes + (j * rows + i) * each, t->data + (i * cols + j) * each, each);
    member(zip, printed("archive/data/%zu", key), bytes, t->bytes);
    free(bytes);
}

/* Tensors of the same bytes share a storage, that of the first. */
static size_t key_of(const struct attn_st_tensor *t, size_t i)
{
    size_t key = 0;
    while (t[key].data != t[i].data)
        key++;
    return key;
}

void pickled_write(const char *path, const struct attn_st_tensor *t, size_t n, bool turned)
{
    struct attn_err err = {0};
    struct attn_out *out = NULL;
    struct attn_zip *zip = NULL;
    char *program = NULL;
    size_t len;
    FILE *f = open_memstream(&program, &len);
    fputs("\x80\x02" "ccollections\nOrderedDict\n)R(", f);
    for (size_t i = 0; i < n; i++)
        tensor(f, &t[i], key_of(t, i), turned);
    fputs("u.", f);
    fclose(f);
    ck_assert_msg(!attn_out_open(&out, path, &err) && !attn_zip_new(&zip, out, ATTN_ZIP_LIMIT, &err), "%s", err.msg);
    member(zip, "archive/data.pkl", program, len);
    for (size_t i = 0; i < n; i++)
        if (key_of(t, i) == i)
            data(zip, &t[i], i, turned);
    attn_zip_finish(zip);
    ck_assert_msg(!attn_out_commit(out, &err), "%s", err.msg);
    attn_zip_free(zip);
    attn_out_close(out);
    free(program);
}
