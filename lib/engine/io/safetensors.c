#include "io/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/num.h"
#include "base/out.h"
#include "base/strings.h"

enum { PREFIX = 8, HEADER_MAX = 100000000 };                        /* the limit is part of the format */

struct reader {
    struct attn_st *st;                 /* names as in the header; tensors sorted by offset once all are read */
    const char *name;                   /* for messages about the file */
    char *header_name;                  /* for messages about its JSON */
    const unsigned char *data; size_t data_len;
    bool has_meta;
};

/* ---- one tensor's entry ---------------------------------------------------------------- */

struct entry {
    struct attn_json *j;
    size_t value;                       /* where the value of the last field starts */
    const struct attn_st_dtype *dtype;          /* NULL: not seen yet */
    int ndim; size_t shape[ATTN_ST_DIMS];                           /* ndim -1: not seen yet */
    size_t offsets[2];
    int n_offsets;                      /* -1: not seen yet */
};

/* Reads the array that comes next, whole numbers, at most `max`; returns their number or -1. */
static int read_sizes(struct attn_json *j, size_t *out, int max)
{
    enum attn_json_event e;
    uint64_t x;
    int n = 0;
    if (attn_json_next(j) != ATTN_JSON_ARRAY)
        return -1;
    while ((e = attn_json_next(j)) == ATTN_JSON_NUMBER) {
        if (n == max || !attn_num_parse_u64(j->text + j->token, j->token_len, &x))
            return -1;
        out[n++] = x;
    }
    return e == ATTN_JSON_ARRAY_END ? n : -1;
}

static bool read_dtype(struct entry *e)
{
    if (attn_json_next(e->j) != ATTN_JSON_STRING)
        return false;
    const struct attn_st_dtype *d = attn_st_dtypes;
    while (d->name && !attn_json_is(e->j, d->name))
        d++;
    e->dtype = d->name ? d : NULL;
    return e->dtype != NULL;
}

/* Reads the value of the key just read; returns what was expected instead, or NULL if it is fine. */
static const char *read_field(struct entry *e)
{
    if (attn_json_is(e->j, "dtype")) {
        if (e->dtype)
            return "one \"dtype\"";
        return read_dtype(e) ? NULL : "a \"dtype\" out of BOOL U8 I8 F8_E4M3 F8_E5M2 I16 U16 F16 BF16 I32 U32 F32 "
                                      "I64 U64 F64";
    }
    if (attn_json_is(e->j, "shape")) {
        if (e->ndim >= 0)
            return "one \"shape\"";
        e->ndim = read_sizes(e->j, e->shape, ATTN_ST_DIMS);
        return e->ndim >= 0 ? NULL : "a \"shape\" of at most 8 whole numbers";
    }
    if (attn_json_is(e->j, "data_offsets")) {
        if (e->n_offsets >= 0)
            return "one \"data_offsets\"";
        e->n_offsets = read_sizes(e->j, e->offsets, 2);
        return e->n_offsets == 2 ? NULL : "\"data_offsets\" of two whole numbers";
    }
    e->value = e->j->token - 1;
    return "only \"dtype\", \"shape\" and \"data_offsets\"";
}

static const char *read_fields(struct entry *e)
{
    const char *expected = NULL;
    e->value = e->j->at;
    if (attn_json_next(e->j) != ATTN_JSON_OBJECT)
        return "an object with \"dtype\", \"shape\" and \"data_offsets\"";
    while (!expected && attn_json_next(e->j) == ATTN_JSON_KEY) {
        e->value = e->j->at;
        expected = read_field(e);
    }
    if (!expected && !(e->dtype && e->ndim >= 0 && e->n_offsets == 2)) {
        expected = "\"dtype\", \"shape\" and \"data_offsets\"";
        e->value = e->j->at;
    }
    return expected;
}

/* Checks that shape, type and byte range agree with each other and with the file. */
static int place_tensor(struct reader *r, const struct entry *e, struct attn_st_tensor *t, struct attn_err *err)
{
    char shape[ATTN_ST_SHAPE];
    size_t begin = e->offsets[0], end = e->offsets[1];
    int shown = attn_shown(t->name, strlen(t->name));
    if (!attn_st_elements(e->shape, e->ndim, e->dtype->bytes, &t->count))
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%.*s' of shape %s has more bytes than 64 bits can count",
                         r->name, shown, t->name, attn_st_shape(shape, e->shape, e->ndim));
    if (begin > end)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%.*s' starts at byte %zu of the data, after its end at %zu",
                         r->name, shown, t->name, begin, end);
    if (end > r->data_len)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%.*s' ends at byte %zu of the data, the file after %zu: "
                         "cut short?", r->name, shown, t->name, end, r->data_len);
    t->bytes = t->count * e->dtype->bytes;
    if (end - begin != t->bytes)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%.*s' has %zu bytes (%zu to %zu), expected %zu for %s %s",
                         r->name, shown, t->name, end - begin, begin, end, t->bytes, e->dtype->name,
                         attn_st_shape(shape, e->shape, e->ndim));
    t->dtype = e->dtype->name;
    t->ndim = e->ndim;
    memcpy(t->shape, e->shape, sizeof t->shape);
    t->data = r->data + begin;
    return ATTN_OK;
}

/* ---- the header ------------------------------------------------------------------------ */

static int no_memory(const struct reader *r, struct attn_err *err)
{
    return attn_no_memory(err, r->name, "for its header");
}

/* Shows the value of the last field, as far as it was read. */
static int bad_entry(const struct reader *r, const struct entry *e, const char *name, const char *expected,
                     struct attn_err *err)
{
    const char *found = e->j->text + e->value;
    size_t len = e->j->at - e->value;
    for (; len > 0 && strchr(" \t\r\n", *found); len--)
        found++;
    return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%.*s': expected %s%s%.*s", r->header_name,
                     attn_shown(name, strlen(name)), name, expected, len > 0 ? ", found " : "",
                     attn_shown(found, len), found);
}

/* Reads the entry of a tensor, whose key was just read. */
static int read_tensor(struct reader *r, struct attn_json *j, struct attn_err *err)
{
    struct entry e = {.j = j, .ndim = -1, .n_offsets = -1};
    size_t i = r->st->names.n;
    int rc = attn_json_add_key(&r->st->names, j, err);
    if (rc)
        return rc;
    struct attn_st_tensor *t = attn_grow(r->st->tensor, &r->st->room, i + 1, sizeof *t);
    if (!t)
        return no_memory(r, err);
    r->st->tensor = t;
    /* for messages only: the string may move */
    t[i] = (struct attn_st_tensor){.name = attn_strings_at(&r->st->names, i, NULL)};
    const char *expected = read_fields(&e);
    if (j->failed)
        return attn_json_error(j, err);
    return expected ? bad_entry(r, &e, t[i].name, expected, err) : place_tensor(r, &e, &t[i], err);
}

/* Checks that "__metadata__" is what the format says, or null, as some write; we need nothing from it. */
static int read_metadata(struct reader *r, struct attn_json *j, struct attn_err *err)
{
    struct attn_strings keys = {0};
    enum attn_json_event event = attn_json_next(j);
    bool good = !r->has_meta && (event == ATTN_JSON_OBJECT || event == ATTN_JSON_NULL);
    int rc = ATTN_OK;
    r->has_meta = true;
    while (good && !rc && event != ATTN_JSON_NULL && attn_json_next(j) == ATTN_JSON_KEY) {
        rc = attn_json_add_key(&keys, j, err);
        if (!rc)
            good = attn_json_next(j) == ATTN_JSON_STRING;
    }
    attn_strings_free(&keys);
    if (!rc && j->failed)
        rc = attn_json_error(j, err);
    if (!rc && !good)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: expected one \"__metadata__\", an object of strings",
                       r->header_name);
    return rc;
}

static int read_header(struct reader *r, struct attn_json *j, struct attn_err *err)
{
    int rc = ATTN_OK;
    if (attn_json_next(j) != ATTN_JSON_OBJECT && !j->failed)
        return attn_fail(err, ATTN_EFORMAT, "%s: expected an object of tensors", r->header_name);
    while (!rc && attn_json_next(j) == ATTN_JSON_KEY)
        rc = attn_json_is(j, "__metadata__") ? read_metadata(r, j, err) : read_tensor(r, j, err);
    if (!rc)
        attn_json_next(j);              /* nothing may follow the object */
    return !rc && j->failed ? attn_json_error(j, err) : rc;
}

/* Reads the length N of the JSON, which must fit into the file. */
static int measure_header(struct reader *r, const unsigned char *bytes, size_t len, struct attn_err *err)
{
    uint64_t n = 0;
    if (len < PREFIX)
        return attn_fail(err, ATTN_EFORMAT, "%s: the file has %zu bytes, expected at least the 8 of a header's length",
                         r->name, len);
    for (int i = PREFIX - 1; i >= 0; i--)
        n = n << 8 | bytes[i];
    if (n > HEADER_MAX)
        return attn_fail(err, ATTN_EFORMAT, "%s: the header claims %ju bytes, expected at most %d; is this a "
                         "safetensors file?", r->name, (uintmax_t)n, HEADER_MAX);
    if (n > len - PREFIX)
        return attn_fail(err, ATTN_EFORMAT, "%s: the header claims %ju bytes, but the file has %zu after its "
                         "length: cut short?", r->name, (uintmax_t)n, len - PREFIX);
    r->st->header = bytes;
    r->st->header_len = PREFIX + (size_t)n;
    r->data = bytes + r->st->header_len;
    r->data_len = len - r->st->header_len;
    return ATTN_OK;
}

/* ---- the data -------------------------------------------------------------------------- */

/* Puts empty tensors before the one that starts at the same byte. */
static int compare_tensors(const void *a, const void *b)
{
    const struct attn_st_tensor *x = a, *y = b;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int sort_tensors(const struct reader *r, struct attn_err *err)
{
    struct attn_st *st = r->st;
    size_t n = st->names.n;
    st->index = calloc(n + 1, sizeof *st->index);
    if (!st->index)
        return no_memory(r, err);
    for (size_t i = 0; i < n; i++)
        st->tensor[i].name = attn_strings_at(&st->names, i, NULL);
    if (n > 0)
        qsort(st->tensor, n, sizeof *st->tensor, compare_tensors);
    for (size_t i = 0; i < n; i++)
        st->index[attn_strings_find(&st->names, st->tensor[i].name, strlen(st->tensor[i].name))] = (uint32_t)i;
    return ATTN_OK;
}

/* Checks that there is no hole and no overlap and that the last tensor ends with the file. */
static int check_tiling(const struct reader *r, struct attn_err *err)
{
    const char *last = "";
    size_t end = 0;
    for (size_t i = 0; i < r->st->names.n; i++) {
        const struct attn_st_tensor *t = &r->st->tensor[i];
        size_t begin = (size_t)(t->data - r->data);
        int shown = attn_shown(t->name, strlen(t->name));
        if (begin < end)
            return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%.*s' starts at byte %zu of the data, inside '%.*s', "
                             "which ends at %zu", r->name, shown, t->name, begin,
                             attn_shown(last, strlen(last)), last, end);
        if (begin > end)
            return attn_fail(err, ATTN_EFORMAT, "%s: bytes %zu to %zu of the data belong to no tensor, expected "
                             "'%.*s' there", r->name, end, begin, shown, t->name);
        end = begin + t->bytes;
        last = t->name;
    }
    if (end != r->data_len)
        return attn_fail(err, ATTN_EFORMAT, "%s: the data has %zu bytes, expected %zu, where the last tensor ends",
                         r->name, r->data_len, end);
    return ATTN_OK;
}

/* ---- the interface ---------------------------------------------------------------------- */

int attn_st_open(struct attn_st **out, const unsigned char *bytes, size_t len, const char *name,
                 struct attn_err *err)
{
    struct attn_json j;
    struct reader r = {.st = calloc(1, sizeof *r.st), .name = name};
    if (!r.st || attn_asprintf(&r.header_name, "%s: header", name) < 0) {
        free(r.st);
        return attn_no_memory(err, name, "to open it");
    }
    int rc = measure_header(&r, bytes, len, err);
    if (!rc) {
        attn_json_start(&j, (const char *)bytes + PREFIX, r.st->header_len - PREFIX, r.header_name);
        rc = read_header(&r, &j, err);
    }
    if (!rc)
        rc = sort_tensors(&r, err);
    if (!rc)
        rc = check_tiling(&r, err);
    free(r.header_name);
    if (rc)
        attn_st_close(r.st);
    else
        *out = r.st;
    return rc;
}

/* ---- writing --------------------------------------------------------------------------- ---- */

/* Large elements first, so that each tensor is aligned to its element size. */
static int larger_first(const void *a, const void *b)
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

/* In pieces, which take a fraction of a second. */
static int write_tensor(struct attn_out *out, const struct attn_st_tensor *t, uint64_t *done, uint64_t all,
                        const struct attn_st_progress *p, struct attn_err *err)
{
    const size_t piece = (size_t)16 << 20;
    int rc = ATTN_OK;
    for (size_t at = 0, n; at < t->bytes && !rc; at += n) {
        n = t->bytes - at < piece ? t->bytes - at : piece;
        attn_out_write(out, t->data + at, n);
        *done += n;
        rc = p && p->step ? p->step(p->self, *done, all, err) : ATTN_OK;
    }
    return rc;
}

int attn_st_write(struct attn_out *out, const struct attn_st_tensor *t, size_t n, struct attn_err *err)
{
    return attn_st_write_telling(out, t, n, NULL, err);
}

int attn_st_write_telling(struct attn_out *out, const struct attn_st_tensor *t, size_t n,
                          const struct attn_st_progress *p, struct attn_err *err)
{
    uint64_t done = 0, all = 0;
    struct attn_st_tensor *sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted)
        return attn_no_memory(err, NULL, "to write %zu tensors", n);
    for (size_t i = 0; i < n; i++)      /* not memcpy: if n is 0, t may be NULL */
        all += (sorted[i] = t[i]).bytes;
    qsort(sorted, n, sizeof *sorted, larger_first);
    int rc = attn_st_write_header(out, sorted, n, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = write_tensor(out, &sorted[i], &done, all, p, err);
    free(sorted);
    return rc;
}
