#include "io/zip.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/err.h"
#include "base/features.h"
#include "base/grow.h"
#include "base/strings.h"

/* ---- the checksum of a member -----------------------------------------------------------
 *
 * Eight bytes per step by tables: table k holds the effect of a byte k bytes later.  Where the processor multiplies
 * polynomials, 64 bytes per step: the remainder so far, times a power of x, is added to the next bytes. */

void attn_crc32_make(struct attn_crc32 *c)
{
    uint32_t (*t)[256] = c->table;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t x = i;
        for (int bit = 0; bit < 8; bit++)
            x = x >> 1 ^ (x & 1 ? 0xEDB88320u : 0);
        t[0][i] = x;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xFF];
}

/* Unlike attn_crc32_add, complements neither its input nor its result. */
static uint32_t by_table(const struct attn_crc32 *c, uint32_t crc, const unsigned char *p, size_t n)
{
    const uint32_t (*t)[256] = c->table;
    for (; n >= 8; n -= 8, p += 8) {
        crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = t[7][crc & 0xFF] ^ t[6][crc >> 8 & 0xFF] ^ t[5][crc >> 16 & 0xFF] ^ t[4][crc >> 24] ^
              t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    }
    for (; n; n--, p++)
        crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xFF];
    return crc;
}

#if defined(__x86_64__)
#define CLMUL __attribute__((target("pclmul")))

/* Moves 16 bytes ahead: multiplies their halves by two powers of x and adds the bytes already there. */
CLMUL static inline __m128i fold(__m128i x, __m128i powers, __m128i there)
{
    __m128i low = _mm_clmulepi64_si128(x, powers, 0x00), high = _mm_clmulepi64_si128(x, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

/* Folds n / 16 * 16 bytes, at least 64, into 16 bytes with the same remainder. */
CLMUL static void fold_all(unsigned char left[16], uint32_t crc, const unsigned char *p, size_t n)
{
    /* With bits reversed and shifted by one: x^(512+32), x^(512-32), x^(128+32) and x^(128-32) mod the polynomial. */
    const __m128i by_64 = _mm_set_epi64x(0x1C6E41596, 0x154442BD4), by_16 = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
    const __m128i *in = (const __m128i *)p;
    __m128i x[4];
    for (int k = 0; k < 4; k++)
        x[k] = _mm_loadu_si128(in++);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)crc));
    for (n -= 64; n >= 64; n -= 64)
        for (int k = 0; k < 4; k++)
            x[k] = fold(x[k], by_64, _mm_loadu_si128(in++));
    for (int k = 1; k < 4; k++)
        x[k] = fold(x[k - 1], by_16, x[k]);
    for (; n >= 16; n -= 16)
        x[3] = fold(x[3], by_16, _mm_loadu_si128(in++));
    _mm_storeu_si128((__m128i *)left, x[3]);
}
#endif

uint32_t attn_crc32_add(const struct attn_crc32 *c, uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;
    crc = ~crc;
#if defined(__x86_64__)
    if (n >= 64 && attn_has_feature(x86_cpu_PCLMULQDQ)) {
        unsigned char left[16];
        fold_all(left, crc, p, n);
        crc = by_table(c, 0, left, sizeof left);
        p += n / 16 * 16;
        n %= 16;
    }
#endif
    return ~by_table(c, crc, p, n);
}

/* ---- writing ---------------------------------------------------------------------------- */

enum {
    VERSION = 20, VERSION_ZIP64 = 45, MADE_BY_UNIX = 3 << 8,
    SIZES_FOLLOW = 8,                   /* flag bit 3 */
    DATE = 1 << 5 | 1,                  /* 1980-01-01: year 0, month 1, day 1 */
    ZIP64_FIELD = 1,
    NAME_MAX_LEN = 63
};

struct member { char name[NAME_MAX_LEN + 1]; uint32_t crc; uint64_t size,
               offset; char *comment; /* owned; NULL: none */ };

struct attn_zip {
    struct attn_out *out;
    uint64_t limit, at, left;           /* at: bytes written so far; left: bytes still to come of the open member */
    struct member *list;
    size_t n, room;
    struct attn_crc32 crc;
};

/* ---- little-endian fields -------------------------------------------------------------- */

static void put(struct attn_zip *z, const void *data, size_t len)
{
    attn_out_write(z->out, data, len);
    z->at += len;
}

static void put_le(struct attn_zip *z, uint64_t x, size_t bytes)
{
    unsigned char b[8];
    for (size_t i = 0; i < bytes; i++)
        b[i] = (unsigned char)(x >> 8 * i);
    put(z, b, bytes);
}

static void put16(struct attn_zip *z, unsigned x) { put_le(z, x, 2); }
static void put32(struct attn_zip *z, uint32_t x) { put_le(z, x, 4); }
static void put64(struct attn_zip *z, uint64_t x) { put_le(z, x, 8); }

/* Writes a 32-bit field or, if x does not fit, the mark that refers readers to the ZIP64 field. */
static void put_or_mark(struct attn_zip *z, uint64_t x)
{
    put32(z, x >= z->limit ? UINT32_MAX : (uint32_t)x);
}

/* ---- members --------------------------------------------------------------------------- */

int attn_zip_new(struct attn_zip **out, struct attn_out *to, uint64_t limit, struct attn_err *err)
{
    struct attn_zip *z = *out = calloc(1, sizeof *z);
    if (!z)
        return attn_no_memory(err, NULL, "for a zip archive");
    z->out = to;
    z->limit = limit;
    attn_crc32_make(&z->crc);
    return 0;
}

void attn_zip_free(struct attn_zip *z)
{
    if (!z)
        return;
    for (size_t i = 0; i < z->n; i++)
        free(z->list[i].comment);
    free(z->list);
    free(z);
}

static struct member *add(struct attn_zip *z)
{
    struct member *list = attn_grow(z->list, &z->room, z->n + 1, sizeof *list);
    if (!list)
        return NULL;
    z->list = list;
    return &list[z->n++];
}

static void put_local(struct attn_zip *z, const struct member *m)
{
    bool big = m->size >= z->limit;
    size_t len = strlen(m->name);
    put32(z, 0x04034b50);
    put16(z, big ? VERSION_ZIP64 : VERSION);
    put16(z, SIZES_FOLLOW);
    put16(z, 0);                        /* stored */
    put16(z, 0);
    put16(z, DATE);
    put32(z, 0);                        /* CRC and sizes follow the data */
    put32(z, big ? UINT32_MAX : 0);
    put32(z, big ? UINT32_MAX : 0);
    put16(z, (unsigned)len);
    put16(z, big ? 20 : 0);
    put(z, m->name, len);
    if (big) {
        put16(z, ZIP64_FIELD);
        put16(z, 16);
        put64(z, 0);
        put64(z, 0);
    }
}

int attn_zip_begin(struct attn_zip *z, const char *name, uint64_t size, struct attn_err *err)
{
    assert(strlen(name) <= NAME_MAX_LEN);
    if (z->left)
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: the file before it in the archive is not complete: its run failed", name);
    struct member *m = add(z);
    if (!m)
        return attn_no_memory(err, name, "to list %zu members of a zip archive", z->n + 1);
    *m = (struct member){ .size = size, .offset = z->at };
    strcpy(m->name, name);
    z->left = size;
    put_local(z, m);
    return 0;
}

void attn_zip_add(struct attn_zip *z, const void *data, size_t len)
{
    struct member *m = &z->list[z->n - 1];
    assert(len <= z->left);
    m->crc = attn_crc32_add(&z->crc, m->crc, data, len);
    z->left -= len;
    put(z, data, len);
}

void attn_zip_end(struct attn_zip *z)
{
    const struct member *m = &z->list[z->n - 1];
    size_t bytes = m->size >= z->limit ? 8 : 4;
    assert(!z->left);
    put32(z, 0x08074b50);
    put32(z, m->crc);
    put_le(z, m->size, bytes);
    put_le(z, m->size, bytes);
}

void attn_zip_comment(struct attn_zip *z, char *text)
{
    z->list[z->n - 1].comment = text;
}

/* ---- the central directory ------------------------------------------------------------- */

static void put_entry(struct attn_zip *z, const struct member *m)
{
    bool size = m->size >= z->limit, offset = m->offset >= z->limit;
    unsigned extra = (size ? 16 : 0) + (offset ? 8 : 0);
    size_t length = m->comment ? strlen(m->comment) : 0, comment = length > UINT16_MAX ? 0 : length;
    put32(z, 0x02014b50);
    put16(z, MADE_BY_UNIX | VERSION_ZIP64);
    put16(z, extra ? VERSION_ZIP64 : VERSION);
    put16(z, SIZES_FOLLOW);
    put16(z, 0);                        /* stored */
    put16(z, 0);
    put16(z, DATE);
    put32(z, m->crc);
    put_or_mark(z, m->size);
    put_or_mark(z, m->size);
    put16(z, (unsigned)strlen(m->name));
    put16(z, extra ? extra + 4 : 0);
    put16(z, (unsigned)comment);
    put16(z, 0);                        /* first disk */
    put16(z, 0);
    put32(z, 0100644u << 16);           /* a regular file, rw-r--r-- */
    put_or_mark(z, m->offset);
    put(z, m->name, strlen(m->name));
    if (extra) {
        put16(z, ZIP64_FIELD);
        put16(z, extra);
    }
    if (size) {
        put64(z, m->size);
        put64(z, m->size);
    }
    if (offset)
        put64(z, m->offset);
    put(z, m->comment, comment);
}

static void put_end64(struct attn_zip *z, uint64_t start, uint64_t size)
{
    uint64_t here = z->at;
    put32(z, 0x06064b50);
    put64(z, 44);                       /* bytes of this record that follow */
    put16(z, MADE_BY_UNIX | VERSION_ZIP64);
    put16(z, VERSION_ZIP64);
    put32(z, 0);                        /* one disk only */
    put32(z, 0);
    put64(z, z->n);
    put64(z, z->n);
    put64(z, size);
    put64(z, start);
    put32(z, 0x07064b50);               /* and where to find it */
    put32(z, 0);
    put64(z, here);
    put32(z, 1);
}

void attn_zip_finish(struct attn_zip *z)
{
    uint64_t start = z->at;
    for (size_t i = 0; i < z->n; i++)
        put_entry(z, &z->list[i]);
    uint64_t size = z->at - start;
    bool many = z->n >= UINT16_MAX;
    if (many || size >= z->limit || start >= z->limit)
        put_end64(z, start, size);
    put32(z, 0x06054b50);
    put32(z, 0);                        /* one disk only */
    put16(z, many ? UINT16_MAX : (unsigned)z->n);
    put16(z, many ? UINT16_MAX : (unsigned)z->n);
    put_or_mark(z, size);
    put_or_mark(z, start);
    put16(z, 0);                        /* no comment */
}

/* ---- reading --------------------------------------------------------------------------- */

enum { LOCAL = 30, ENTRY = 46, END = 22, END64 = 56, LOCATOR = 20, COMMENT_MAX = 65535, ENCRYPTED = 1 };

static uint64_t le(const unsigned char *p, size_t bytes)
{
    uint64_t x = 0;
    for (size_t i = 0; i < bytes; i++)
        x |= (uint64_t)p[i] << 8 * i;
    return x;
}

static int malformed(const struct attn_unzip *z, const char *what, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: malformed zip archive: %s", z->path, what);
}

/* Searches the end record, starting from the last one whose comment would reach the end of the file. */
static const unsigned char *find_end(const struct attn_unzip *z)
{
    for (size_t back = END; back <= z->len && back <= END + COMMENT_MAX; back++) {
        const unsigned char *p = z->bytes + z->len - back;
        if (le(p, 4) == 0x06054b50 && le(p + 20, 2) == back - END)
            return p;
    }
    return NULL;
}

/* The ZIP64 end record; NULL if there is none. */
static const unsigned char *find_end64(const struct attn_unzip *z, size_t end)
{
    if (end < LOCATOR || le(z->bytes + end - LOCATOR, 4) != 0x07064b50)
        return NULL;
    uint64_t at = le(z->bytes + end - LOCATOR + 8, 8);
    if (z->len < END64 || at > z->len - END64 || le(z->bytes + at, 4) != 0x06064b50)
        return NULL;
    return z->bytes + at;
}

int attn_unzip_start(struct attn_unzip *z, const unsigned char *bytes, size_t len, const char *path,
                     struct attn_err *err)
{
    *z = (struct attn_unzip){.bytes = bytes, .len = len, .path = path, .room = len,
                             .advice = "write it with numpy.savez, not savez_compressed"};
    attn_crc32_make(&z->crc);
    const unsigned char *end = find_end(z);
    if (!end)
        return malformed(z, "it does not end with a list of members (cut short, or no zip archive)", err);
    const unsigned char *end64 = find_end64(z, (size_t)(end - bytes));
    uint64_t size = end64 ? le(end64 + 40, 8) : le(end + 12, 4), start = end64 ? le(end64 + 48, 8) : le(end + 16, 4);
    z->entries = end64 ? le(end64 + 32, 8) : le(end + 10, 2);
    if (start > len || size > len - start)
        return malformed(z, "its list of members lies outside the file", err);
    z->at = (size_t)start;
    z->end = (size_t)(start + size);
    return ATTN_OK;
}

struct entry { uint64_t size, packed, offset; uint32_t crc; unsigned flags, method; };

/* Reads sizes and offsets that did not fit into 32 bits; an extra field lists them in this order. */
static bool widen(struct entry *e, const unsigned char *p, size_t len)
{
    uint64_t *const fields[] = {&e->size, &e->packed, &e->offset};
    while (len >= 4) {
        size_t id = (size_t)le(p, 2), n = (size_t)le(p + 2, 2);
        p += 4;
        len -= 4;
        if (n > len)
            return false;
        for (size_t i = 0, at = 0; id == ZIP64_FIELD && i < 3; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (at + 8 > n)
                return false;
            *fields[i] = le(p + at, 8);
            at += 8;
        }
        p += n;
        len -= n;
    }
    return true;
}

static int find_data(struct attn_unzip *z, struct attn_unzipped *m, const struct entry *e, struct attn_err *err)
{
    if (z->len < LOCAL || e->offset > z->len - LOCAL || le(z->bytes + e->offset, 4) != 0x04034b50)
        return malformed(z, "a member is not where the list says", err);
    const unsigned char *p = z->bytes + e->offset;
    uint64_t start = e->offset + LOCAL + le(p + 26, 2) + le(p + 28, 2);
    if (start > z->len || e->size > z->len - start)
        return malformed(z, "a member reaches beyond the end of the file", err);
    if (e->size > z->room)
        return malformed(z, "members lie on top of each other", err);
    z->room -= e->size;
    m->data = z->bytes + start;
    m->size = (size_t)e->size;
    if (!z->unsummed && attn_crc32_add(&z->crc, 0, m->data, m->size) != e->crc)
        return attn_fail(err, ATTN_EFORMAT, "%s: member '%.*s' is damaged: its checksum does not match", z->path,
                         attn_shown(m->name, m->name_len), m->name);
    return ATTN_OK;
}

static int check(const struct attn_unzip *z, const struct attn_unzipped *m, const struct entry *e, struct attn_err *err)
{
    int shown = attn_shown(m->name, m->name_len);
    if (e->flags & ENCRYPTED)
        return attn_fail(err, ATTN_EFORMAT, "%s: member '%.*s' is encrypted", z->path, shown, m->name);
    if (e->method != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: member '%.*s' is compressed (method %u), only stored ones are read: "
                                            "%s", z->path, shown,
                         m->name, e->method, z->advice);
    return e->size == e->packed ? ATTN_OK : malformed(z, "a stored member has two sizes", err);
}

int attn_unzip_next(struct attn_unzip *z, struct attn_unzipped *out, struct attn_err *err)
{
    *out = (struct attn_unzipped){0};
    if (!z->entries)
        return ATTN_OK;
    const unsigned char *p = z->bytes + z->at;
    if (z->end - z->at < ENTRY || le(p, 4) != 0x02014b50)
        return malformed(z, "its list of members is cut short", err);
    size_t name = (size_t)le(p + 28, 2), extra = (size_t)le(p + 30, 2), comment = (size_t)le(p + 32, 2);
    if (name + extra + comment > z->end - z->at - ENTRY)
        return malformed(z, "its list of members is cut short", err);
    struct entry e = {.flags = (unsigned)le(p + 8, 2), .method = (unsigned)le(p + 10, 2),
                      .crc = (uint32_t)le(p + 16, 4),
                      .packed = le(p + 20, 4), .size = le(p + 24, 4), .offset = le(p + 42, 4)};
    if (!widen(&e, p + ENTRY + name, extra))
        return malformed(z, "a member's ZIP64 field is cut short", err);
    z->entries--;
    z->at += ENTRY + name + extra + comment;
    struct attn_unzipped m = {.name = (const char *)p + ENTRY, .name_len = name,
                              .comment = (const char *)p + ENTRY + name + extra, .comment_len = comment};
    int rc = check(z, &m, &e, err);
    if (!rc)
        rc = find_data(z, &m, &e, err);
    if (!rc)
        *out = m;
    return rc;
}
