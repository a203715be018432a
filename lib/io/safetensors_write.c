#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/out.h"
#include "io/json_put.h"
#include "io/safetensors.h"

/* Large elements first, so that each tensor starts at a multiple of its element. */
static int compare_tensors(const void *a, const void *b)
{
    const struct attn_st_tensor *x = *(const struct attn_st_tensor *const *)a;
    const struct attn_st_tensor *y = *(const struct attn_st_tensor *const *)b;
    size_t x_size = attn_st_element(x->dtype), y_size = attn_st_element(y->dtype);
    if (x_size != y_size)
        return x_size > y_size ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void put_entry(FILE *f, const struct attn_st_tensor *t, size_t begin)
{
    putc(',', f);
    attn_json_put(f, t->name, strlen(t->name));
    fprintf(f, ":{\"dtype\":\"%s\",\"shape\":[", t->dtype);
    for (int i = 0; i < t->ndim; i++)
        fprintf(f, i == 0 ? "%zu" : ",%zu", t->shape[i]);
    fprintf(f, "],\"data_offsets\":[%zu,%zu]}", begin, begin + t->bytes);
}

/* The JSON, padded so that the data starts at a multiple of 8. */
static int format_header(char **header, size_t *len, const struct attn_st_tensor *const *t, size_t n)
{
    size_t begin = 0;
    FILE *f = open_memstream(header, len);
    if (!f)
        return -1;
    fputs("{\"__metadata__\":{\"format\":\"pt\"}", f);              /* what loaders of transformers ask for */
    for (size_t i = 0; i < n; begin += t[i++]->bytes)
        put_entry(f, t[i], begin);
    putc('}', f);
    fprintf(f, "%*s", (int)(-ftell(f) & 7), "");
    int bad = ferror(f);
    return fclose(f) != 0 || bad ? -1 : 0;
}

static void put_length(struct attn_out *out, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        attn_out_char(out, (char)(n >> (8 * i) & 0xFF));
}

int attn_st_write(struct attn_out *out, const struct attn_st_tensor *t, size_t n, struct attn_err *err)
{
    char *header = NULL;
    size_t len = 0;
    int rc = ATTN_OK;
    const struct attn_st_tensor **sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted)
        return attn_fail(err, ATTN_ENOMEM, "no memory to write %zu tensors", n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &t[i];
    qsort(sorted, n, sizeof *sorted, compare_tensors);
    if (format_header(&header, &len, sorted, n) != 0) {
        rc = attn_fail(err, ATTN_ENOMEM, "no memory for a header of %zu tensors", n);
        goto out;
    }
    put_length(out, len);
    attn_out_write(out, header, len);
    for (size_t i = 0; i < n; i++)
        attn_out_write(out, sorted[i]->data, sorted[i]->bytes);
out:
    free(header);
    free(sorted);
    return rc;
}
