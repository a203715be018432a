#include "io/gguf.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "io/gguf_type.h"

enum {
    HEAD = 24,                          /* magic, version and the two numbers */
    PAIR = 8 + 1 + 4 + 1, TENSOR = 8 + 1 + 4 + 8 + 4 + 8,           /* the fewest bytes of a pair, and of a tensor */
    DIMS = 4, NAME_MOST = 63, KEY_MOST = 65535, ALIGNMENT = 32
};

static const struct { const char *name, *array; size_t bytes; } kinds[ATTN_GGUF_KINDS] = {
    [ATTN_GGUF_U8] = {"u8", "array of u8", 1}, [ATTN_GGUF_I8] = {"i8", "array of i8", 1},
    [ATTN_GGUF_U16] = {"u16", "array of u16", 2}, [ATTN_GGUF_I16] = {"i16", "array of i16", 2},
    [ATTN_GGUF_U32] = {"u32", "array of u32", 4}, [ATTN_GGUF_I32] = {"i32", "array of i32", 4},
    [ATTN_GGUF_F32] = {"f32", "array of f32", 4}, [ATTN_GGUF_BOOL] = {"bool", "array of bool", 1},
    [ATTN_GGUF_STRING] = {"string", "array of string", 0}, [ATTN_GGUF_ARRAY] = {"array", "array of array", 0},
    [ATTN_GGUF_U64] = {"u64", "array of u64", 8}, [ATTN_GGUF_I64] = {"i64", "array of i64", 8},
    [ATTN_GGUF_F64] = {"f64", "array of f64", 8}};

/* ---- numbers --------------------------------------------------------------------------- */

static uint32_t u32_at(const unsigned char *at)
{
    uint32_t x;
    memcpy(&x, at, sizeof x);
    return le32toh(x);
}

static uint64_t u64_at(const unsigned char *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return le64toh(x);
}

struct reader {
    struct attn_gguf *g;
    const unsigned char *bytes, *at, *end;
    uint64_t tensors, pairs;
    size_t alignment;
    struct attn_err *err;
};

static size_t left(const struct reader *r) { return (size_t)(r->end - r->at); }

static int cut_short(const struct reader *r, const char *what)
{
    return attn_fail(r->err, ATTN_EFORMAT, "%s: the file ends after %zu bytes, in %s: was the download complete?",
                     r->g->name, (size_t)(r->end - r->bytes), what);
}

static int no_memory(const struct reader *r)
{
    return attn_no_memory(r->err, r->g->name, "for its metadata");
}

static int take_u32(struct reader *r, const char *what, uint32_t *out)
{
    if (left(r) < sizeof *out)
        return cut_short(r, what);
    *out = u32_at(r->at);
    r->at += sizeof *out;
    return ATTN_OK;
}

static int take_u64(struct reader *r, const char *what, uint64_t *out)
{
    if (left(r) < sizeof *out)
        return cut_short(r, what);
    *out = u64_at(r->at);
    r->at += sizeof *out;
    return ATTN_OK;
}

static int take_string(struct reader *r, const char *what, struct attn_str_view *out)
{
    uint64_t n = 0;
    size_t from = (size_t)(r->at - r->bytes);
    int rc = take_u64(r, what, &n);
    if (rc)
        return rc;
    if (n > left(r))
        return attn_fail(r->err, ATTN_EFORMAT, "%s: %s at byte %zu has %ju bytes, expected at most the %zu that are "
                                               "left", r->g->name, what, from, (uintmax_t)n, left(r));
    *out = (struct attn_str_view){(const char *)r->at, (size_t)n};
    r->at += n;
    return ATTN_OK;
}

/* Names must be text, so that messages can show them and C can hold them. */
static int take_name(struct reader *r, const char *what, size_t most, struct attn_str_view *out)
{
    size_t from = (size_t)(r->at - r->bytes);
    int rc = take_string(r, what, out);
    if (rc)
        return rc;
    if (out->len == 0 || out->len > most)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: %s at byte %zu has %zu bytes, expected 1 to %zu", r->g->name, what,
                         from, out->len, most);
    if (memchr(out->s, 0, out->len) || attn_utf8_valid(out->s, out->len) != out->len)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: %s at byte %zu is no text, expected UTF-8 without NUL", r->g->name,
                         what, from);
    return ATTN_OK;
}

/* ---- metadata -------------------------------------------------------------------------- */

/* Skips the values of a pair, and notes where they are. */
static int take_values(struct reader *r, struct attn_gguf_value *v)
{
    struct attn_str_view text;
    size_t each = kinds[v->kind].bytes;
    int rc = ATTN_OK;
    v->at = r->at;
    if (each ? v->n > left(r) / each : v->n > left(r) / sizeof(uint64_t))
        return attn_fail(r->err, ATTN_EFORMAT, "%s: key '%s' has %zu values of type %s, expected fewer: %zu bytes are "
                                               "left", r->g->name, v->key, v->n, kinds[v->kind].name, left(r));
    if (each)
        r->at += v->n * each;
    for (size_t i = 0; !each && i < v->n && !rc; i++)
        rc = take_string(r, v->key, &text);
    v->end = r->at;
    return rc;
}

static int take_kind(struct reader *r, const char *key, uint32_t *kind)
{
    int rc = take_u32(r, key, kind);
    if (rc || *kind < ATTN_GGUF_KINDS)
        return rc;
    return attn_fail(r->err, ATTN_EFORMAT, "%s: key '%s' has a value of type %u, expected 0 to %d", r->g->name, key,
                     (unsigned)*kind, ATTN_GGUF_KINDS - 1);
}

static int take_value(struct reader *r, struct attn_gguf_value *v)
{
    uint32_t kind = 0;
    uint64_t n = 1;
    int rc = take_kind(r, v->key, &kind);
    v->array = !rc && kind == ATTN_GGUF_ARRAY;
    if (v->array)
        rc = take_kind(r, v->key, &kind);
    if (!rc && v->array && kind == ATTN_GGUF_ARRAY)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: key '%s' is an array of arrays, expected one of numbers or strings",
                         r->g->name, v->key);
    if (!rc && v->array)
        rc = take_u64(r, v->key, &n);
    if (rc)
        return rc;
    v->kind = (enum attn_gguf_kind)kind;
    v->n = (size_t)n;
    return take_values(r, v);
}

static int take_pair(struct reader *r)
{
    struct attn_gguf *g = r->g;
    struct attn_str_view key;
    size_t n = g->keys.n;
    int rc = take_name(r, "a key of the metadata", KEY_MOST, &key);
    if (rc)
        return rc;
    size_t at = attn_strings_add(&g->keys, key.s, key.len);
    struct attn_gguf_value *more = at == n ? attn_grow(g->value, &g->room, n + 1, sizeof *more) : NULL;
    if (at < n)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: key '%.*s' is there twice, expected once", g->name,
                         attn_shown(key.s, key.len), key.s);
    if (!more)
        return no_memory(r);
    g->value = more;
    more[n] = (struct attn_gguf_value){.key = attn_strings_at(&g->keys, n, NULL)};      /* which may move: see below */
    return take_value(r, &more[n]);
}

static int take_pairs(struct reader *r)
{
    int rc = ATTN_OK;
    for (uint64_t i = 0; i < r->pairs && !rc; i++)
        rc = take_pair(r);
    for (size_t i = 0; i < r->g->keys.n && !rc; i++)
        r->g->value[i].key = attn_strings_at(&r->g->keys, i, NULL);
    return rc;
}

static int take_alignment(struct reader *r)
{
    const struct attn_gguf_value *v = attn_gguf_find(r->g, "general.alignment");
    uint64_t n = ALIGNMENT;
    if (v && (v->array || v->kind != ATTN_GGUF_U32))
        return attn_fail(r->err, ATTN_EFORMAT, "%s: key 'general.alignment' is %s, expected u32", r->g->name,
                         attn_gguf_kind_name(v));
    if (v)
        n = u32_at(v->at);
    if (n == 0 || (n & (n - 1)))
        return attn_fail(r->err, ATTN_EFORMAT, "%s: key 'general.alignment' is %ju, expected a power of two",
                         r->g->name, (uintmax_t)n);
    r->alignment = (size_t)n;
    return ATTN_OK;
}

/* ---- tensors --------------------------------------------------------------------------- */

static int refuse_type(const struct reader *r, const struct attn_st_tensor *t, uint32_t id)
{
    const struct attn_gguf_type *type = attn_gguf_type_find(id);
    if (!type)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' has type %u, which is none of GGUF's; expected F32, "
                                               "F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K or IQ4_NL", r->g->name, t->name,
                         (unsigned)id);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' is stored as %s, which is not read here: take a file of "
                                           "the model in F32, F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K or IQ4_NL, or the "
                                           "Hugging Face directory it was made from", r->g->name, t->name, type->name);
}

/* Turns the dimensions round, and counts elements and bytes. */
static int measure(const struct reader *r, struct attn_st_tensor *t, const uint64_t *dim, int ndim,
                   const struct attn_gguf_type *type)
{
    char shape[ATTN_ST_SHAPE];
    size_t blocks;
    t->ndim = ndim;
    t->dtype = type->name;
    for (int i = 0; i < ndim; i++) {
        if (dim[i] == 0)
            return attn_fail(r->err, ATTN_EFORMAT, "%s: dimension %d of tensor '%s' is 0, expected at least 1",
                             r->g->name, i, t->name);
        t->shape[ndim - 1 - i] = dim[i] < SIZE_MAX ? (size_t)dim[i] : SIZE_MAX;
    }
    attn_st_shape(shape, t->shape, ndim);
    if (!attn_st_elements(t->shape, ndim, 4, &t->count))
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' of shape %s has more numbers than a file can hold",
                         r->g->name, t->name, shape);
    if (dim[0] % type->values)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' has rows of %ju numbers, expected a multiple of %zu "
                                               "for %s", r->g->name, t->name, (uintmax_t)dim[0], type->values,
                         type->name);
    blocks = t->count / type->values;
    if (__builtin_mul_overflow(blocks, type->bytes, &t->bytes))
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' of shape %s has more bytes than a file can hold",
                         r->g->name, t->name, shape);
    return ATTN_OK;
}

static int take_shape(struct reader *r, struct attn_st_tensor *t)
{
    uint64_t dim[DIMS] = {0};
    uint32_t ndim = 0, id = 0;
    int rc = take_u32(r, "the list of tensors", &ndim);
    if (!rc && (ndim < 1 || ndim > DIMS))
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' has %u dimensions, expected 1 to %d", r->g->name,
                         t->name, (unsigned)ndim, DIMS);
    for (uint32_t i = 0; !rc && i < ndim; i++)
        rc = take_u64(r, "the list of tensors", &dim[i]);
    if (!rc)
        rc = take_u32(r, "the list of tensors", &id);
    if (rc)
        return rc;
    const struct attn_gguf_type *type = attn_gguf_type_find(id);
    if (!type || !type->bytes)
        return refuse_type(r, t, id);
    return measure(r, t, dim, (int)ndim, type);
}

/* *offset: from the start of the data, whose place is known only after the list. */
static int take_tensor(struct reader *r, uint64_t *offset)
{
    struct attn_st *st = r->g->st;
    struct attn_str_view name;
    size_t n = st->names.n;
    int rc = take_name(r, "the name of a tensor", NAME_MOST, &name);
    if (rc)
        return rc;
    size_t at = attn_strings_add(&st->names, name.s, name.len);
    struct attn_st_tensor *more = at == n ? attn_grow(st->tensor, &st->room, n + 1, sizeof *more) : NULL;
    if (at < n)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%.*s' is there twice, expected once", r->g->name,
                         attn_shown(name.s, name.len), name.s);
    if (!more)
        return no_memory(r);
    st->tensor = more;
    more[n] = (struct attn_st_tensor){.name = attn_strings_at(&st->names, n, NULL)};
    rc = take_shape(r, &more[n]);
    return rc ? rc : take_u64(r, "the list of tensors", offset);
}

/* The next multiple of the alignment; false: it would be beyond all addresses. */
static bool pad(size_t *at, size_t alignment)
{
    return !__builtin_add_overflow(*at, (alignment - *at % alignment) % alignment, at);
}

/* Checks that the tensor begins where the one before it ends, and ends in the file.  *end: where that is. */
static int place(const struct reader *r, struct attn_st_tensor *t, uint64_t offset, size_t data, size_t *end)
{
    size_t all = (size_t)(r->end - r->bytes);
    if (offset % r->alignment)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' starts at byte %ju of the data, expected a multiple "
                                               "of %zu", r->g->name, t->name, (uintmax_t)offset, r->alignment);
    if (!pad(end, r->alignment) || offset != *end)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' starts at byte %ju of the data, expected %zu, where "
                                               "the tensor before it ends", r->g->name, t->name, (uintmax_t)offset,
                         *end);
    size_t room = all < data || all - data < offset ? 0 : all - data - (size_t)offset;
    if (t->bytes > room)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: tensor '%s' has %zu bytes from byte %ju of the data on, and the "
                                               "file %zu: was the download complete?", r->g->name, t->name, t->bytes,
                         (uintmax_t)offset, room);
    t->data = r->bytes + data + offset;
    *end = (size_t)offset + t->bytes;
    return ATTN_OK;
}

static int place_all(struct reader *r, const uint64_t *offset)
{
    struct attn_st *st = r->g->st;
    size_t data = (size_t)(r->at - r->bytes), end = 0;
    bool fits = pad(&data, r->alignment);
    int rc = fits ? ATTN_OK : cut_short(r, "what comes before the data");
    st->header = r->bytes;
    st->header_len = (size_t)(r->at - r->bytes);
    for (size_t i = 0; offset && i < st->names.n && !rc; i++) {     /* NULL: there are none */
        st->tensor[i].name = attn_strings_at(&st->names, i, NULL);
        rc = place(r, &st->tensor[i], offset[i], data, &end);
    }
    return rc;
}

static int take_tensors(struct reader *r)
{
    uint64_t *offset = NULL;
    size_t room = 0;
    int rc = ATTN_OK;
    if (r->tensors > left(r) / TENSOR)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: the file claims %ju tensors, expected at most the %zu that the %zu "
                                               "bytes after the metadata can list", r->g->name, (uintmax_t)r->tensors,
                         left(r) / TENSOR, left(r));
    for (uint64_t i = 0; i < r->tensors && !rc; i++) {
        uint64_t *more = attn_grow(offset, &room, (size_t)i + 1, sizeof *more);
        offset = more ? more : offset;
        rc = more ? take_tensor(r, &offset[i]) : no_memory(r);
    }
    if (!rc)
        rc = place_all(r, offset);
    free(offset);
    return rc;
}

/* ---- the file -------------------------------------------------------------------------- */

bool attn_gguf_is(const unsigned char *bytes, size_t len)
{
    return len >= 4 && !memcmp(bytes, "GGUF", 4);
}

static int take_head(struct reader *r)
{
    uint32_t version = 0;
    r->at += 4;
    int rc = take_u32(r, "its header", &version);
    if (rc)
        return rc;
    r->g->version = version;
    if (version != 2 && version != 3 && version && (version & 0xFFFF) == 0)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: is a GGUF file of a big-endian machine, expected a little-endian "
                                               "one: take that, or convert it with llama.cpp's gguf_convert_endian.py",
                         r->g->name);
    if (version != 2 && version != 3)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: is a GGUF file of version %u, expected 2 or 3", r->g->name,
                         (unsigned)version);
    rc = take_u64(r, "its header", &r->tensors);
    if (!rc)
        rc = take_u64(r, "its header", &r->pairs);
    if (!rc && r->pairs > left(r) / PAIR)
        rc = attn_fail(r->err, ATTN_EFORMAT, "%s: the file claims %ju pairs of metadata, expected at most the %zu that "
                                             "its %zu bytes can hold", r->g->name, (uintmax_t)r->pairs,
                       left(r) / PAIR, (size_t)(r->end - r->bytes));
    return rc;
}

int attn_gguf_open(struct attn_gguf **out, const unsigned char *bytes, size_t len, const char *name,
                   struct attn_err *err)
{
    struct attn_gguf *g = calloc(1, sizeof *g);
    struct reader r = {.g = g, .bytes = bytes, .at = bytes, .end = bytes + len, .err = err};
    if (!g || !(g->st = calloc(1, sizeof *g->st))) {
        free(g);
        return attn_no_memory(err, name, "to open it");
    }
    g->name = name;
    int rc = attn_gguf_is(bytes, len) ? take_head(&r) :
             attn_fail(err, ATTN_EFORMAT, "%s: does not begin with 'GGUF', expected a GGUF file", name);
    if (!rc)
        rc = take_pairs(&r);
    if (!rc)
        rc = take_alignment(&r);
    if (!rc)
        rc = take_tensors(&r);
    if (rc)
        attn_gguf_close(g);
    else
        *out = g;
    return rc;
}

void attn_gguf_close(struct attn_gguf *g)
{
    if (!g)
        return;
    attn_st_close(g->st);
    attn_strings_free(&g->keys);
    free(g->value);
    free(g);
}

/* ---- values ---------------------------------------------------------------------------- */

const struct attn_gguf_value *attn_gguf_find(const struct attn_gguf *g, const char *key)
{
    size_t i = attn_strings_find(&g->keys, key, strlen(key));
    return i == ATTN_STRINGS_NONE ? NULL : &g->value[i];
}

const char *attn_gguf_kind_name(const struct attn_gguf_value *v)
{
    return v->array ? kinds[v->kind].array : kinds[v->kind].name;
}

bool attn_gguf_whole(const struct attn_gguf_value *v, size_t i, uint64_t *out)
{
    const unsigned char *at = v->at + i * kinds[v->kind].bytes;
    int64_t x = 0;
    *out = 0;
    switch (v->kind) {
    case ATTN_GGUF_U8:  x = *at; break;
    case ATTN_GGUF_I8:  x = *at < 128 ? *at : *at - 256; break;
    case ATTN_GGUF_U16: x = at[0] | at[1] << 8; break;
    case ATTN_GGUF_I16: x = (int16_t)(at[0] | at[1] << 8); break;
    case ATTN_GGUF_U32: x = u32_at(at); break;
    case ATTN_GGUF_I32: x = (int32_t)u32_at(at); break;
    case ATTN_GGUF_U64: *out = u64_at(at); return true;
    case ATTN_GGUF_I64: x = (int64_t)u64_at(at); break;
    default:            return false;
    }
    *out = (uint64_t)x;
    return x >= 0;
}

bool attn_gguf_real(const struct attn_gguf_value *v, size_t i, double *out)
{
    uint64_t whole;
    if (v->kind == ATTN_GGUF_F32) {
        uint32_t bits = u32_at(v->at + i * sizeof bits);
        float x;
        memcpy(&x, &bits, sizeof x);
        *out = (double)x;
        return true;
    }
    if (v->kind == ATTN_GGUF_F64) {
        uint64_t bits = u64_at(v->at + i * sizeof bits);
        memcpy(out, &bits, sizeof bits);
        return true;
    }
    bool is = attn_gguf_whole(v, i, &whole);
    *out = is ? (double)whole : 0;
    return is;
}

bool attn_gguf_flag(const struct attn_gguf_value *v, bool *out)
{
    *out = *v->at != 0;
    return !v->array && v->kind == ATTN_GGUF_BOOL;
}

struct attn_str_view attn_gguf_next_text(const unsigned char **at)
{
    struct attn_str_view s = {(const char *)*at + sizeof(uint64_t), (size_t)u64_at(*at)};
    *at += sizeof(uint64_t) + s.len;
    return s;
}

bool attn_gguf_text(const struct attn_gguf_value *v, struct attn_str_view *out)
{
    const unsigned char *at = v->at;
    if (v->array || v->kind != ATTN_GGUF_STRING)
        return false;
    *out = attn_gguf_next_text(&at);
    return true;
}
