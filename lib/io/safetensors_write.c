#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/out.h"
#include "io/safetensors.h"

/* Large elements first, so that each tensor is aligned to its element size. */
static int compare_tensors(const void *a, const void *b)
{
    const struct attn_st_tensor *x = a, *y = b;
    size_t x_size = attn_st_element(x->dtype), y_size = attn_st_element(y->dtype);
    if (x_size != y_size)
        return x_size > y_size ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void put_entry(struct attn_out *out, const struct attn_st_tensor *t, size_t begin)
{
    attn_out_char(out, ',');
    attn_out_json(out, t->name, strlen(t->name));
    attn_out_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", t->dtype);
    for (int i = 0; i < t->ndim; i++)
        attn_out_printf(out, i == 0 ? "%zu" : ",%zu", t->shape[i]);
    attn_out_printf(out, "],\"data_offsets\":[%zu,%zu]}", begin, begin + t->bytes);
}

/* Formats the JSON, padded with spaces so that the data starts at a cache line, where products read it fastest. */
static int format_header(char **header, size_t *len, const struct attn_st_tensor *t, size_t n, struct attn_err *err)
{
    struct attn_out *out;
    size_t begin = 0;
    int rc = attn_out_open_memory(&out, err);
    if (rc)
        return rc;
    attn_out_str(out, "{\"__metadata__\":{\"format\":\"pt\"}");  /* the loaders of transformers require it */
    for (size_t i = 0; i < n; begin += t[i++].bytes)
        put_entry(out, &t[i], begin);
    attn_out_char(out, '}');
    while ((sizeof(uint64_t) + attn_out_bytes(out)) % 64 != 0)
        attn_out_char(out, ' ');
    rc = attn_out_take(out, header, len, err);
    attn_out_close(out);
    return rc;
}

static void put_length(struct attn_out *out, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        attn_out_char(out, (char)(n >> (8 * i) & 0xFF));
}

int attn_st_write_header(struct attn_out *out, const struct attn_st_tensor *t, size_t n, struct attn_err *err)
{
    char *header;
    size_t len;
    int rc = format_header(&header, &len, t, n, err);
    if (rc)
        return rc;
    put_length(out, len);
    attn_out_write(out, header, len);
    free(header);
    return ATTN_OK;
}

int attn_st_write(struct attn_out *out, const struct attn_st_tensor *t, size_t n, struct attn_err *err)
{
    struct attn_st_tensor *sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted)
        return attn_fail(err, ATTN_ENOMEM, "no memory to write %zu tensors", n);
    for (size_t i = 0; i < n; i++)      /* not memcpy: if n is 0, t may be NULL */
        sorted[i] = t[i];
    qsort(sorted, n, sizeof *sorted, compare_tensors);
    int rc = attn_st_write_header(out, sorted, n, err);
    for (size_t i = 0; i < n && !rc; i++)
        attn_out_write(out, sorted[i].data, sorted[i].bytes);
    free(sorted);
    return rc;
}
