#include "io/torch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "io/pickle_tree.h"
#include "io/zip.h"

/* ---- what a pickle of tensors may name ------------------------------------------------- */

enum role { ROLE_STORAGE, ROLE_DTYPE, ROLE_TENSOR, ROLE_PARAMETER, ROLE_DICT, ROLE_OTHER };

static const struct known { const char *name; enum role role; const char *dtype; } known[] = {
    {"torch.FloatStorage", ROLE_STORAGE, "F32"}, {"torch.HalfStorage", ROLE_STORAGE, "F16"},
    {"torch.BFloat16Storage", ROLE_STORAGE, "BF16"}, {"torch.DoubleStorage", ROLE_STORAGE, "F64"},
    {"torch.LongStorage", ROLE_STORAGE, "I64"}, {"torch.IntStorage", ROLE_STORAGE, "I32"},
    {"torch.ShortStorage", ROLE_STORAGE, "I16"}, {"torch.CharStorage", ROLE_STORAGE, "I8"},
    {"torch.ByteStorage", ROLE_STORAGE, "U8"}, {"torch.BoolStorage", ROLE_STORAGE, "BOOL"},
    {"torch.UntypedStorage", ROLE_STORAGE, NULL}, {"torch.storage.UntypedStorage", ROLE_STORAGE, NULL},
    {"torch.float32", ROLE_DTYPE, "F32"}, {"torch.float16", ROLE_DTYPE, "F16"}, {"torch.bfloat16", ROLE_DTYPE, "BF16"},
    {"torch.float64", ROLE_DTYPE, "F64"}, {"torch.int64", ROLE_DTYPE, "I64"}, {"torch.int32", ROLE_DTYPE, "I32"},
    {"torch.int16", ROLE_DTYPE, "I16"}, {"torch.int8", ROLE_DTYPE, "I8"}, {"torch.uint8", ROLE_DTYPE, "U8"},
    {"torch.uint16", ROLE_DTYPE, "U16"}, {"torch.uint32", ROLE_DTYPE, "U32"}, {"torch.uint64", ROLE_DTYPE, "U64"},
    {"torch.bool", ROLE_DTYPE, "BOOL"}, {"torch.float8_e4m3fn", ROLE_DTYPE, "F8_E4M3"},
    {"torch.float8_e5m2", ROLE_DTYPE, "F8_E5M2"},
    {"torch._utils._rebuild_tensor", ROLE_TENSOR, NULL}, {"torch._utils._rebuild_tensor_v2", ROLE_TENSOR, NULL},
    {"torch._utils._rebuild_tensor_v3", ROLE_TENSOR, NULL}, {"torch._utils._rebuild_parameter", ROLE_PARAMETER, NULL},
    {"collections.OrderedDict", ROLE_DICT, NULL},
    /* numbers and types that stand beside the tensors of a training; what they would build is left out */
    {"torch.Size", ROLE_OTHER, NULL}, {"torch.device", ROLE_OTHER, NULL}, {"numpy.dtype", ROLE_OTHER, NULL},
    {"numpy.core.multiarray.scalar", ROLE_OTHER, NULL}, {"numpy._core.multiarray.scalar", ROLE_OTHER, NULL},
    {"_codecs.encode", ROLE_OTHER, NULL}
};
enum { KNOWN = sizeof known / sizeof *known };

struct storage {
    size_t element, bytes;              /* element: bytes of one */
    bool untyped;                       /* its tensors may have elements of any size */
    const unsigned char *data;          /* NULL: not found yet */
};
struct place { size_t storage; int64_t offset, shape[ATTN_ST_DIMS], stride[ATTN_ST_DIMS]; };

struct reader {
    struct attn_st *st;
    const char *name; const unsigned char *bytes; size_t len;
    const char *allowed[KNOWN + 1];
    struct attn_pickle pickle;
    struct attn_strings keys;                               /* of storages, in the order of first mention */
    struct storage *storage; size_t storage_room;
    struct place *place; size_t place_room;                 /* [st->names.n] */
    bool nested;                                            /* the tensors may be in a dictionary of the root */
    size_t may_copy;                                        /* bytes that copies of tensors may still have */
};

static int no_memory(const struct reader *r, struct attn_err *err)
{
    return attn_no_memory(err, r->name, "to list its tensors");
}

static int malformed(const struct reader *r, const char *what, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: %s", r->name, what);
}

/* ---- what the pickle describes --------------------------------------------------------- */

static const struct known *known_of(const struct attn_pickled *v, enum role role)
{
    const struct known *k = v->type == ATTN_PICKLED_NAME ? &known[v->is.whole] : NULL;
    return k && k->role == role ? k : NULL;
}

/* The arguments of a call of a function in this role; NULL: it is none. */
static const struct attn_pickled *arguments(const struct reader *r, const struct attn_pickled *v, enum role role,
                                            size_t *n)
{
    struct attn_pickle_box call = attn_pickle_items(&r->pickle, v);
    if (v->type != ATTN_PICKLED_CALL || !known_of(&call.item[0], role))
        return NULL;
    struct attn_pickle_box args = attn_pickle_items(&r->pickle, &call.item[1]);
    *n = args.n;
    return args.n ? args.item : NULL;
}

/* Reads a tuple of whole numbers from 0; returns how many, or -1. */
static int read_sizes(const struct reader *r, const struct attn_pickled *v, int64_t out[ATTN_ST_DIMS])
{
    struct attn_pickle_box b = attn_pickle_items(&r->pickle, v);
    if (v->type != ATTN_PICKLED_TUPLE || b.n > ATTN_ST_DIMS)
        return -1;
    for (size_t i = 0; i < b.n; i++) {
        if (b.item[i].type != ATTN_PICKLED_INT || b.item[i].is.whole < 0)
            return -1;
        out[i] = b.item[i].is.whole;
    }
    return (int)b.n;
}

static int bad_tensor(const struct reader *r, const char *tensor, const char *what, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: tensor '%.*s': %s", r->name, attn_shown(tensor, strlen(tensor)), tensor, what);
}

/* Reads ('storage', type, key, location, elements[, None]), of which each storage has one meaning. */
static int read_storage(struct reader *r, const struct attn_pickled *v, const char *tensor, size_t *at,
                        const char **dtype, struct attn_err *err)
{
    struct attn_pickle_box b = attn_pickle_items(&r->pickle, v);
    if (v->type == ATTN_PICKLED_REFERENCE)
        b = attn_pickle_items(&r->pickle, &b.item[0]);
    const struct known *type = b.n >= 5 && b.n <= 6 ? known_of(&b.item[1], ROLE_STORAGE) : NULL;
    if (v->type != ATTN_PICKLED_REFERENCE || !type || !attn_pickle_is(&b.item[0], "storage") ||
        b.item[2].type != ATTN_PICKLED_TEXT || b.item[4].type != ATTN_PICKLED_INT || b.item[4].is.whole < 0)
        return bad_tensor(r, tensor, "expected a storage with its type, key, device and size", err);
    if (b.n == 6 && b.item[5].type != ATTN_PICKLED_NONE)
        return bad_tensor(r, tensor, "its storage is a part of another one, which is not supported: save it with "
                                     "PyTorch 1.6 or later", err);
    struct storage s = {.element = type->dtype ? attn_st_element(type->dtype) : 1, .untyped = !type->dtype};
    if (__builtin_mul_overflow((size_t)b.item[4].is.whole, s.element, &s.bytes))
        return bad_tensor(r, tensor, "its storage has more bytes than 64 bits can count", err);
    size_t known_keys = r->keys.n;
    *dtype = type->dtype;
    *at = attn_strings_add(&r->keys, b.item[2].is.text, b.item[2].len);
    struct storage *all = attn_grow(r->storage, &r->storage_room, known_keys + 1, sizeof *all);
    r->storage = all ? all : r->storage;
    if (!all || *at == ATTN_STRINGS_NONE)
        return no_memory(r, err);
    if (*at == known_keys)
        all[*at] = s;
    if (all[*at].bytes != s.bytes || all[*at].element != s.element || all[*at].untyped != s.untyped)
        return bad_tensor(r, tensor, "its storage has another type or size than for another tensor", err);
    return ATTN_OK;
}

/* Reads the arguments (storage, offset, shape, stride, requires_grad, hooks) and, in version 3, the type; in version 2
 * a dictionary may follow, which says that the numbers are to be negated or conjugated. */
static int read_tensor(struct reader *r, const struct attn_pickled *v, const char *name, struct attn_err *err)
{
    size_t n = 0, i = r->st->names.n - 1;
    const struct attn_pickled *a = arguments(r, v, ROLE_PARAMETER, &n);
    if (a)
        v = a;
    a = arguments(r, v, ROLE_TENSOR, &n);
    if (!a)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: '%.*s' is %s, expected a tensor: save the state_dict of a model alone", r->name,
                         attn_shown(name, strlen(name)), name, attn_pickle_kind(v));
    struct attn_st_tensor *t = &r->st->tensor[i];
    struct place *p = &r->place[i];
    t->ndim = n >= 4 ? read_sizes(r, &a[2], p->shape) : -1;
    if (t->ndim < 0 || a[1].type != ATTN_PICKLED_INT || a[1].is.whole < 0 || read_sizes(r, &a[3], p->stride) != t->ndim)
        return bad_tensor(r, name, "expected an offset, and a shape and strides of at most 8 whole numbers", err);
    p->offset = a[1].is.whole;
    for (int k = 0; k < t->ndim; k++)
        p->stride[k] = p->shape[k] == 1 ? 0 : p->stride[k];         /* any number may stand there */
    int rc = read_storage(r, &a[0], name, &p->storage, &t->dtype, err);
    const struct known *type = n > 6 ? known_of(&a[6], ROLE_DTYPE) : NULL;
    if (rc)
        return rc;
    if (n > 6 && !type && (a[6].type != ATTN_PICKLED_DICT || attn_pickle_items(&r->pickle, &a[6]).n))
        return bad_tensor(r, name, "it is marked as negated or conjugated, which is not supported", err);
    if (!type == !t->dtype)
        return bad_tensor(r, name, "expected one type, of its storage or of its own", err);
    t->dtype = type ? type->dtype : t->dtype;
    return ATTN_OK;
}

static int add_tensor(struct reader *r, const struct attn_pickled *key, const struct attn_pickled *v,
                      struct attn_err *err)
{
    struct attn_st *st = r->st;
    size_t n = st->names.n;
    if (key->type != ATTN_PICKLED_TEXT || memchr(key->is.text, 0, key->len))
        return attn_fail(err, ATTN_EFORMAT, "%s: the name of tensor %zu is %s, expected a string", r->name, n + 1,
                         key->type == ATTN_PICKLED_TEXT ? "a string with a NUL" : attn_pickle_kind(key));
    size_t i = attn_strings_add(&st->names, key->is.text, key->len);
    if (i < n)
        return bad_tensor(r, attn_strings_at(&st->names, i, NULL), "is there for the second time", err);
    struct attn_st_tensor *t = attn_grow(st->tensor, &st->room, n + 1, sizeof *t);
    struct place *p = attn_grow(r->place, &r->place_room, n + 1, sizeof *p);
    st->tensor = t ? t : st->tensor;
    r->place = p ? p : r->place;
    if (i == ATTN_STRINGS_NONE || !t || !p)
        return no_memory(r, err);
    t[n] = (struct attn_st_tensor){0};
    p[n] = (struct place){0};
    return read_tensor(r, v, attn_strings_at(&st->names, n, NULL), err);
}

/* The dictionary of tensors: the root, or where a training has it. */
static const struct attn_pickled *find_state(const struct reader *r)
{
    static const char *const names[] = {"model", "model_state_dict", "model_state", "state_dict"};
    const struct attn_pickle_box b = attn_pickle_items(&r->pickle, &r->pickle.root);
    const struct attn_pickled *item = b.item;
    for (size_t k = 0; k < sizeof names / sizeof *names && r->nested; k++)
        for (size_t i = 0; i + 1 < b.n && r->pickle.root.type == ATTN_PICKLED_DICT; i += 2)
            if (attn_pickle_is(&item[i], names[k]) && item[i + 1].type == ATTN_PICKLED_DICT)
                return &item[i + 1];
    return &r->pickle.root;
}

static int read_dictionary(struct reader *r, struct attn_err *err)
{
    struct attn_pickle_box b = attn_pickle_items(&r->pickle, find_state(r));
    int rc = ATTN_OK;
    if (r->pickle.root.type != ATTN_PICKLED_DICT)
        return attn_fail(err, ATTN_EFORMAT, "%s: the pickle holds %s, expected a dictionary of tensors: save the "
                                            "state_dict of a model", r->name, attn_pickle_kind(&r->pickle.root));
    for (size_t i = 0; i + 1 < b.n && !rc; i += 2)
        rc = add_tensor(r, &b.item[i], &b.item[i + 1], err);
    return rc;
}

/* ---- where the storages are: a zip archive --------------------------------------------- */

static int missing(const struct reader *r, size_t storage, struct attn_err *err)
{
    const char *key = attn_strings_at(&r->keys, storage, NULL);
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: the bytes of storage '%.*s' are missing", r->name, attn_shown(key, strlen(key)), key);
}

/* What follows the archive's own folder in a member's name; NULL: nothing. */
static const char *inside(const struct attn_unzipped *m, size_t *len)
{
    const char *slash = memchr(m->name, '/', m->name_len);
    *len = slash ? m->name_len - (size_t)(slash + 1 - m->name) : 0;
    return slash ? slash + 1 : NULL;
}

static bool is_member(const struct attn_unzipped *m, const char *name)
{
    size_t len = 0;
    const char *s = inside(m, &len);
    return s && len == strlen(name) && !memcmp(s, name, len);
}

static int start_zip(const struct reader *r, struct attn_unzip *z, struct attn_err *err)
{
    int rc = attn_unzip_start(z, r->bytes, r->len, r->name, err);
    z->unsummed = true;                 /* PyTorch can leave sums out, and checking them would read the whole file */
    z->advice = "save it with torch.save";
    return rc;
}

static int read_zip_pickle(struct reader *r, struct attn_err *err)
{
    struct attn_unzip z;
    struct attn_unzipped m, pickle = {0};
    int rc = start_zip(r, &z, err);
    while (!rc && !(rc = attn_unzip_next(&z, &m, err)) && m.name) {
        if (is_member(&m, "byteorder") && (m.size != 6 || memcmp(m.data, "little", 6)))
            return malformed(r, "its numbers are not little-endian: save it on such a machine", err);
        if (is_member(&m, "data.pkl") && pickle.name)
            return malformed(r, "there are two members NAME/data.pkl", err);
        if (is_member(&m, "data.pkl"))
            pickle = m;
    }
    if (rc)
        return rc;
    if (!pickle.name)
        return malformed(r, "the archive has no member NAME/data.pkl, expected a file that torch.save wrote", err);
    r->st->header = pickle.data;
    r->st->header_len = pickle.size;
    return attn_pickle_read(&r->pickle, pickle.data, pickle.size, 0, r->allowed, r->name, err);
}

static int take_member(struct reader *r, const struct attn_unzipped *m, struct attn_err *err)
{
    size_t len = 0;
    const char *s = inside(m, &len);
    size_t i = s && len > 5 && !memcmp(s, "data/", 5) ? attn_strings_find(&r->keys, s + 5, len - 5) : ATTN_STRINGS_NONE;
    if (i == ATTN_STRINGS_NONE)
        return ATTN_OK;
    int shown = attn_shown(m->name, m->name_len);
    if (r->storage[i].data)
        return attn_fail(err, ATTN_EFORMAT, "%s: there are two members '%.*s'", r->name, shown, m->name);
    if (m->size != r->storage[i].bytes)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: member '%.*s' has %zu bytes, the pickle says %zu", r->name, shown, m->name, m->size,
                         r->storage[i].bytes);
    r->storage[i].data = m->data;
    return ATTN_OK;
}

static int read_zip(struct reader *r, struct attn_err *err)
{
    struct attn_unzip z;
    struct attn_unzipped m;
    int rc = read_zip_pickle(r, err);
    if (!rc)
        rc = read_dictionary(r, err);
    if (!rc)
        rc = start_zip(r, &z, err);
    while (!rc && !(rc = attn_unzip_next(&z, &m, err)) && m.name)
        rc = take_member(r, &m, err);
    return rc;
}

/* ---- where the storages are: five pickles in a row ------------------------------------- */

/* The first two pickles: a magic number, and the version 1001. */
static const unsigned char legacy[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.";

static int check_system(struct reader *r, size_t *at, struct attn_err *err)
{
    struct attn_pickle p;
    bool little = false;
    int rc = attn_pickle_read(&p, r->bytes, r->len, *at, r->allowed, r->name, err);
    if (rc)
        return rc;
    struct attn_pickle_box b = attn_pickle_items(&p, &p.root);
    for (size_t i = 0; p.root.type == ATTN_PICKLED_DICT && i + 1 < b.n; i += 2)
        if (attn_pickle_is(&b.item[i], "little_endian"))
            little = b.item[i + 1].type == ATTN_PICKLED_BOOL && b.item[i + 1].is.whole;
    *at = p.at;
    attn_pickle_free(&p);
    return little ? ATTN_OK : malformed(r, "its numbers are not little-endian: save it on such a machine", err);
}

/* Takes note of the storages of all tensors, those of an optimizer included: their bytes follow each other. */
static int note_storages(struct reader *r, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < r->pickle.boxes && !rc && r->nested; i++)
        for (size_t k = 0; k < r->pickle.box[i].n && !rc; k++) {
            const struct attn_pickled *v = &r->pickle.box[i].item[k];
            const char *dtype;
            size_t at;
            rc = v->type == ATTN_PICKLED_REFERENCE ? read_storage(r, v, "of the optimizer", &at, &dtype, err) : ATTN_OK;
        }
    return rc;
}

/* Finds one storage's bytes, which follow the number of its elements. */
static int take_bytes(struct reader *r, const struct attn_pickled *key, size_t *at, struct attn_err *err)
{
    size_t i = key->type == ATTN_PICKLED_TEXT ? attn_strings_find(&r->keys, key->is.text, key->len) : ATTN_STRINGS_NONE;
    uint64_t elements = 0;
    if (i == ATTN_STRINGS_NONE || r->storage[i].data)
        return malformed(r, "the list of storages does not agree with the tensors", err);
    struct storage *s = &r->storage[i];
    if (r->len - *at < sizeof elements)
        return missing(r, i, err);
    memcpy(&elements, r->bytes + *at, sizeof elements);
    *at += sizeof elements;
    if (elements != s->bytes / s->element)
        return attn_fail(err, ATTN_EFORMAT, "%s: a storage has %ju elements at byte %zu, the pickle says %zu", r->name,
                         (uintmax_t)elements, *at - sizeof elements, s->bytes / s->element);
    if (s->bytes > r->len - *at)
        return attn_fail(err, ATTN_EFORMAT, "%s: a storage of %zu bytes begins at byte %zu, but the file ends at %zu: "
                                            "cut short?",
                         r->name, s->bytes, *at, r->len);
    s->data = r->bytes + *at;
    *at += s->bytes;
    return ATTN_OK;
}

static int read_legacy_storages(struct reader *r, size_t at, struct attn_err *err)
{
    struct attn_pickle p;
    int rc = attn_pickle_read(&p, r->bytes, r->len, at, r->allowed, r->name, err);
    if (rc)
        return rc;
    struct attn_pickle_box b = attn_pickle_items(&p, &p.root);
    at = p.at;
    if (p.root.type != ATTN_PICKLED_LIST)
        rc = malformed(r, "expected a list of storages after the tensors", err);
    for (size_t i = 0; i < b.n && !rc; i++)
        rc = take_bytes(r, &b.item[i], &at, err);
    if (!rc && at != r->len)
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: the last storage ends at byte %zu, the file at %zu", r->name, at, r->len);
    attn_pickle_free(&p);
    return rc;
}

static int read_legacy(struct reader *r, struct attn_err *err)
{
    size_t at = sizeof legacy - 1;
    int rc = check_system(r, &at, err);
    if (!rc)
        rc = attn_pickle_read(&r->pickle, r->bytes, r->len, at, r->allowed, r->name, err);
    if (rc)
        return rc;
    r->st->header = r->bytes;
    r->st->header_len = r->pickle.at;
    rc = read_dictionary(r, err);
    if (!rc)
        rc = note_storages(r, err);
    return rc ? rc : read_legacy_storages(r, r->pickle.at, err);
}

/* ---- from storages to tensors ---------------------------------------------------------- */

/* Copies a storage whose elements are not aligned, as in files of the older form, once for all its tensors. */
static int align(struct reader *r, struct storage *s, struct attn_err *err)
{
    if ((uintptr_t)s->data % (s->untyped ? sizeof(uint64_t) : s->element) == 0)
        return ATTN_OK;
    void *copy = attn_st_keep(r->st, s->bytes);
    if (!copy)
        return attn_no_memory(err, r->name, "to align %zu bytes", s->bytes);
    s->data = memcpy(copy, s->data, s->bytes);
    return ATTN_OK;
}

/* Whether elements lie row after row. */
static bool is_plain(const struct attn_st_tensor *t, const struct place *p)
{
    int64_t want = 1;
    for (int i = t->ndim; i-- > 0;) {
        if (p->shape[i] != 1 && p->stride[i] != want)
            return false;
        want *= p->shape[i];
    }
    return true;
}

static void gather(unsigned char *out, const unsigned char *from, const struct attn_st_tensor *t, const struct place *p,
                   size_t element)
{
    int64_t at[ATTN_ST_DIMS] = {0}, offset = 0;
    for (size_t k = 0; k < t->count; k++, out += element) {
        memcpy(out, from + (size_t)offset * element, element);
        for (int i = t->ndim; i-- > 0;) {
            offset += p->stride[i];
            if (++at[i] < p->shape[i])
                break;
            offset -= at[i] * p->stride[i];
            at[i] = 0;
        }
    }
}

/* A tensor with other strides, such as a transposed one, is copied; the copies may take no more bytes than the file. */
static int copy_tensor(struct reader *r, struct attn_st_tensor *t, const struct place *p, const unsigned char *from,
                       struct attn_err *err)
{
    if (t->bytes > r->may_copy)
        return bad_tensor(r, t->name, "its elements do not lie row after row, and there are more of them than the file "
                                      "has", err);
    r->may_copy -= t->bytes;
    unsigned char *copy = attn_st_keep(r->st, t->bytes);
    if (!copy)
        return attn_no_memory(err, r->name, "to copy tensor '%s'", t->name);
    gather(copy, from, t, p, t->bytes / t->count);
    t->data = copy;
    return ATTN_OK;
}

/* Whether the last element, and with it each, lies in the storage. */
static bool lies_in(const struct attn_st_tensor *t, const struct place *p, const struct storage *s, size_t element)
{
    int64_t last = p->offset, step;
    for (int i = 0; i < t->ndim; i++)
        if (__builtin_mul_overflow(p->shape[i] - 1, p->stride[i], &step) || __builtin_add_overflow(last, step, &last))
            return false;
    return (uint64_t)last < s->bytes / element;
}

static int place_tensor(struct reader *r, struct attn_st_tensor *t, const struct place *p, struct attn_err *err)
{
    char shape[ATTN_ST_SHAPE];
    const struct storage *s = &r->storage[p->storage];
    size_t element = attn_st_element(t->dtype);
    for (int i = 0; i < t->ndim; i++)
        t->shape[i] = (size_t)p->shape[i];
    if (!s->data)
        return missing(r, p->storage, err);
    if (!attn_st_elements(t->shape, t->ndim, element, &t->count) || (t->count && !lies_in(t, p, s, element)))
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: tensor '%.*s' of %s %s reaches beyond the %zu bytes of its storage", r->name,
                         attn_shown(t->name, strlen(t->name)), t->name, t->dtype,
                         attn_st_shape(shape, t->shape, t->ndim), s->bytes);
    t->bytes = t->count * element;
    t->data = s->data;
    if (!t->count)
        return ATTN_OK;
    t->data += (size_t)p->offset * element;
    return is_plain(t, p) ? ATTN_OK : copy_tensor(r, t, p, t->data, err);
}

static int place_all(struct reader *r, struct attn_err *err)
{
    int rc = ATTN_OK;
    r->may_copy = r->len;
    for (size_t i = 0; i < r->keys.n && !rc; i++)
        rc = r->storage[i].data ? align(r, &r->storage[i], err) : missing(r, i, err);
    for (size_t i = 0; i < r->st->names.n && !rc; i++) {
        r->st->tensor[i].name = attn_strings_at(&r->st->names, i, NULL);
        rc = place_tensor(r, &r->st->tensor[i], &r->place[i], err);
    }
    return rc;
}

/* ---- any file -------------------------------------------------------------------------- */

static int read_any(struct reader *r, struct attn_err *err)
{
    if (r->len >= 4 && !memcmp(r->bytes, "PK\3\4", 4))
        return read_zip(r, err);
    if (r->len >= sizeof legacy - 1 && !memcmp(r->bytes, legacy, sizeof legacy - 1))
        return read_legacy(r, err);
    return malformed(r, "is no file that torch.save wrote: expected a zip archive, or the magic number of the form "
                        "before PyTorch 1.6",
                     err);
}

/* What stands beside the tensors; nothing if the root is their dictionary. */
static int take_beside(const struct reader *r, cJSON **beside, struct attn_err *err)
{
    const struct attn_pickled *state = find_state(r);
    *beside = state == &r->pickle.root ? cJSON_CreateObject() : attn_pickle_tree(&r->pickle, &r->pickle.root, state);
    return *beside ? ATTN_OK : attn_no_memory(err, r->name, "for what stands beside its tensors");
}

static int open_with(struct attn_st **out, cJSON **beside, const unsigned char *bytes, size_t len, const char *name,
                     struct attn_err *err)
{
    struct reader r = {.st = calloc(1, sizeof *r.st), .name = name, .bytes = bytes, .len = len, .nested = beside};
    for (size_t i = 0; i < KNOWN; i++)
        r.allowed[i] = known[i].name;
    int rc = r.st ? read_any(&r, err) : no_memory(&r, err);
    if (!rc)
        rc = place_all(&r, err);
    if (!rc && beside)
        rc = take_beside(&r, beside, err);
    attn_pickle_free(&r.pickle);
    attn_strings_free(&r.keys);
    free(r.storage);
    free(r.place);
    if (rc)
        attn_st_close(r.st);
    else
        *out = r.st;
    return rc;
}

int attn_torch_open(struct attn_st **out, const unsigned char *bytes, size_t len, const char *name,
                    struct attn_err *err)
{
    return open_with(out, NULL, bytes, len, name, err);
}

int attn_torch_open_checkpoint(struct attn_st **out, cJSON **beside, const unsigned char *bytes, size_t len,
                               const char *name, struct attn_err *err)
{
    *beside = NULL;
    return open_with(out, beside, bytes, len, name, err);
}
