#include "io/npy.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/strings.h"
#include "base/utf8.h"

struct header {
    bool texts, whole;                  /* texts, and whole numbers, are expected, too */
    char kind;                          /* 'f', 'i', 'u', 'b', or 'U' for texts */
    bool big; size_t size; bool fortran; int ndim; size_t shape[ATTN_ARRAY_DIMS];
};

enum { WIDEST = 1 << 28 };              /* code points of a text: its bytes are counted in a size_t */

/* ---- the dictionary -------------------------------------------------------------------- */

struct text { const char *at, *end, *name; };

static int malformed(const struct text *t, const char *expected, struct attn_err *err)
{
    size_t left = (size_t)(t->end - t->at);
    return attn_fail(err, ATTN_EFORMAT, "%s: malformed .npy header at '%.*s': expected %s", t->name,
                     attn_shown(t->at, left < 24 ? left : 24), t->at, expected);
}

static void skip_space(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t'))
        t->at++;
}

/* Skips c if it comes next; false otherwise. */
static bool take(struct text *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    size_t n = strlen(word);
    skip_space(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n))
        return false;
    t->at += n;
    return true;
}

/* Reads a quoted string without escapes. */
static bool take_string(struct text *t, const char **s, size_t *len)
{
    skip_space(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return false;
    const char *from = t->at + 1, *to = memchr(from, *t->at, (size_t)(t->end - from));
    if (!to)
        return false;
    *s = from;
    *len = (size_t)(to - from);
    t->at = to + 1;
    return true;
}

/* Whether a type is read: its letter and its size, of texts in code points. */
static bool is_read(const struct header *h, char kind, uint64_t size)
{
    bool even = size == 2 || size == 4 || size == 8;
    switch (kind) {
    case 'f': return even;
    case 'U': return h->texts && size > 0 && size <= WIDEST;
    case 'b': return h->whole && size == 1;
    case 'i':
    case 'u': return h->whole && (even || size == 1);
    default:  return false;
    }
}

static int read_type(struct header *h, struct text *t, struct attn_err *err)
{
    const char *s;
    size_t len;
    uint64_t size = 0;
    if (!take_string(t, &s, &len))
        return malformed(t, "the type of plain numbers, as in '<f4'", err);
    bool sized = len > 2 && strchr("<>=|", s[0]) && attn_num_parse_u64(s + 2, len - 2, &size);
    if (!sized || !is_read(h, s[1], size))
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: holds numbers of type '%.*s', expected floats ('<f2', '<f4' or '<f8')%s: convert it with "
                         ".astype('float32')", t->name, attn_shown(s, len), s, h->whole ? " or whole numbers" : "");
    h->kind = s[1];
    h->big = s[0] == '>';
    h->size = (size_t)size * (h->kind == 'U' ? sizeof(uint32_t) : 1);
    return ATTN_OK;
}

static int read_shape(struct header *h, struct text *t, struct attn_err *err)
{
    if (!take(t, '('))
        return malformed(t, "a shape in parentheses", err);
    for (h->ndim = 0; !take(t, ')'); h->ndim++) {
        skip_space(t);
        const char *from = t->at;
        uint64_t n;
        while (t->at < t->end && *t->at >= '0' && *t->at <= '9')
            t->at++;
        if (!attn_num_parse_u64(from, (size_t)(t->at - from), &n))
            return malformed(t, "a whole number in the shape", err);
        if (h->ndim == ATTN_ARRAY_DIMS)
            return attn_fail(err, ATTN_EFORMAT, "%s: has more than %d axes", t->name, ATTN_ARRAY_DIMS);
        h->shape[h->ndim] = (size_t)n;
        if (!take(t, ',') && (t->at == t->end || *t->at != ')'))
            return malformed(t, "a comma or ')' in the shape", err);
    }
    return ATTN_OK;
}

static int read_order(struct header *h, struct text *t, struct attn_err *err)
{
    h->fortran = take_word(t, "True");
    return h->fortran || take_word(t, "False") ? ATTN_OK : malformed(t, "True or False", err);
}

static int read_dictionary(struct header *h, struct text *t, struct attn_err *err)
{
    static const struct { const char *key; int (*read)(struct header *, struct text *, struct attn_err *); } keys[] = {
        {"descr", read_type}, {"fortran_order", read_order}, {"shape", read_shape}};
    bool seen[3] = {false};
    const char *s;
    size_t len;
    if (!take(t, '{'))
        return malformed(t, "'{'", err);
    while (!take(t, '}')) {
        size_t k = 0;
        if (!take_string(t, &s, &len) || !take(t, ':'))
            return malformed(t, "a key and ':'", err);
        while (k < 3 && !(strlen(keys[k].key) == len && !memcmp(keys[k].key, s, len)))
            k++;
        if (k == 3 || seen[k])
            return malformed(t, "descr, fortran_order and shape once each", err);
        seen[k] = true;
        int rc = keys[k].read(h, t, err);
        if (rc)
            return rc;
        take(t, ',');
    }
    return seen[0] && seen[1] && seen[2] ? ATTN_OK : malformed(t, "descr, fortran_order and shape", err);
}

/* ---- the numbers ----------------------------------------------------------------------- */

static uint64_t bits_of(const unsigned char *p, size_t size, bool big)
{
    uint64_t x = 0;
    for (size_t i = 0; i < size; i++)
        x |= (uint64_t)p[big ? size - 1 - i : i] << 8 * i;
    return x;
}

static float from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = h >> 10 & 31, fraction = h & 1023, bits;
    float f;
    if (exponent == 0) {                /* zero or subnormal: fraction * 2^-24 */
        f = (float)fraction / 16777216.0f;
        return sign ? -f : f;
    }
    bits = sign | (exponent == 31 ? 255u : exponent + 112) << 23 | fraction << 13;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static double from_whole(const struct header *h, uint64_t bits)
{
    size_t unused = 64 - 8 * h->size;
    return h->kind == 'i' ? (double)((int64_t)(bits << unused) >> unused) : (double)bits;
}

static double number(const struct header *h, const unsigned char *p)
{
    uint64_t bits = bits_of(p, h->size, h->big);
    if (h->kind != 'f')
        return from_whole(h, bits);
    if (h->size == 2)
        return (double)from_half((uint16_t)bits);
    if (h->size == 4) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof f);
        return (double)f;
    }
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Position of the element at C-order index i if the first index varies fastest. */
static size_t fortran_index(const struct header *h, size_t i)
{
    size_t index = 0, each[ATTN_ARRAY_DIMS] = {1};
    for (int k = 1; k < h->ndim; k++)
        each[k] = each[k - 1] * h->shape[k - 1];
    for (int k = h->ndim; k-- > 0; i /= h->shape[k])
        index += i % h->shape[k] * each[k];
    return index;
}

/* Sets *n to the number of elements and checks that their bytes are exactly what is left. */
static int count_numbers(size_t *n, const struct header *h, size_t len, const char *name, struct attn_err *err)
{
    size_t bytes;
    bool too_many = false;
    *n = 1;
    for (int k = 0; k < h->ndim; k++)
        too_many |= __builtin_mul_overflow(*n, h->shape[k], n);
    if (too_many || __builtin_mul_overflow(*n, h->size, &bytes) || bytes != len)
        return attn_fail(err, ATTN_EFORMAT, "%s: %zu bytes of numbers follow the header, its shape and type ask for "
                         "%s%zu numbers of %zu bytes", name, len, too_many ? "more than " : "", *n, h->size);
    return ATTN_OK;
}

/* ---- files ----------------------------------------------------------------------------- */

/* Reads the header: *at gets the start of the numbers, out their shape. */
static int read_header(struct header *h, struct attn_array *out, size_t *at, const unsigned char *bytes, size_t len,
                       const char *name, struct attn_err *err)
{
    enum { MAGIC = 6, START = 8 };
    if (len < START + 4 || memcmp(bytes, "\x93NUMPY", MAGIC))
        return attn_fail(err, ATTN_EFORMAT, "%s: no .npy file: expected it to begin with \\x93NUMPY", name);
    unsigned version = bytes[MAGIC];
    if (version < 1 || version > 3)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: .npy of version %u.%u, expected 1.0, 2.0 or 3.0", name, version, bytes[7]);
    size_t wide = version == 1 ? 2 : 4, header = (size_t)bits_of(bytes + START, wide, false), start = START + wide;
    if (header > len - start)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: cut short: its header has %zu bytes, %zu follow", name, header, len - start);
    struct text t = {(const char *)bytes + start, (const char *)bytes + start + header, name};
    int rc = read_dictionary(h, &t, err);
    *at = start + header;
    *out = (struct attn_array){.ndim = h->ndim};
    memcpy(out->shape, h->shape, sizeof out->shape);
    return rc ? rc : count_numbers(&out->n, h, len - *at, name, err);
}

/* Whether the numbers are float32 in the order of memory already. */
static bool as_is(const struct header *h)
{
    return h->kind == 'f' && h->size == sizeof(float) && !h->big && !h->fortran;
}

int attn_npy_view(struct attn_array *out, const unsigned char **data, const unsigned char *bytes, size_t len,
                  const char *name, struct attn_err *err)
{
    struct header h = {0};
    size_t at = 0;
    int rc = read_header(&h, out, &at, bytes, len, name, err);
    if (!rc && !as_is(&h))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: expected numbers of type '<f4' in C order", name);
    *data = bytes + at;
    return rc;
}

static int read_as(struct header h, struct attn_array *out, const unsigned char *bytes, size_t len, const char *name,
                   struct attn_err *err)
{
    struct attn_array a = {0};
    size_t at = 0;
    int rc = read_header(&h, &a, &at, bytes, len, name, err);
    if (rc)
        return rc;
    const size_t n = a.n;
    size_t room = n;
    a.data = malloc(n ? n * sizeof *a.data : 1);
    bool fits = a.data;
    if (fits && as_is(&h)) {            /* as most are */
        memcpy(a.data, bytes + at, n * sizeof *a.data);
    } else if (fits) {
        for (a.n = 0; fits && a.n < n;)
            fits = attn_array_add(&a, &room, number(&h, bytes + at + (h.fortran ? fortran_index(&h, a.n) : a.n) *
                                                                     h.size));
    }
    if (!fits) {
        attn_array_free(&a);
        return attn_no_memory(err, name, "for %zu numbers", n);
    }
    *out = a;
    return ATTN_OK;
}

int attn_npy_read(struct attn_array *out, const unsigned char *bytes, size_t len, const char *name,
                  struct attn_err *err)
{
    return read_as((struct header){0}, out, bytes, len, name, err);
}

int attn_npy_read_any(struct attn_array *out, const unsigned char *bytes, size_t len, const char *name,
                      struct attn_err *err)
{
    return read_as((struct header){.whole = true}, out, bytes, len, name, err);
}

/* ---- texts ------------------------------------------------------------------------------- */

int attn_npy_texts(struct attn_npy_texts *out, const unsigned char *bytes, size_t len, const char *name,
                   struct attn_err *err)
{
    struct header h = {.texts = true};
    struct attn_array a = {0};
    size_t at = 0;
    int rc = read_header(&h, &a, &at, bytes, len, name, err);
    *out = (struct attn_npy_texts){0};
    if (rc || h.kind != 'U')
        return rc;
    if (h.ndim != 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: texts with %d axes, expected a list of them", name, h.ndim);
    *out = (struct attn_npy_texts){bytes + at, a.n, h.size / sizeof(uint32_t), h.big, name};
    return ATTN_OK;
}

static uint32_t point_of(const struct attn_npy_texts *t, size_t i, size_t k)
{
    return (uint32_t)bits_of(t->at + (i * t->width + k) * sizeof(uint32_t), sizeof(uint32_t), t->big);
}

int attn_npy_text(char *utf8, size_t *len, const struct attn_npy_texts *t, size_t i, struct attn_err *err)
{
    size_t points = t->width;
    *len = 0;
    while (points > 0 && !point_of(t, i, points - 1))
        points--;
    for (size_t k = 0; k < points; k++) {
        uint32_t c = point_of(t, i, k);
        if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
            return attn_fail(err, ATTN_EFORMAT,
                             "%s: text %zu: %#x is no character of Unicode", t->name, i, (unsigned)c);
        *len += attn_utf8_put(utf8 + *len, c ? c : 0xFFFD);
    }
    return ATTN_OK;
}
