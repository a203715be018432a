#include "sinks/zip.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/err.h"
#include "base/grow.h"

enum {
    VERSION = 20, VERSION_ZIP64 = 45, MADE_BY_UNIX = 3 << 8,
    SIZES_FOLLOW = 8,                   /* flag bit 3 */
    DATE = 1 << 5 | 1,                  /* 1980-01-01: year 0, month 1, day 1 */
    ZIP64_FIELD = 1,
    NAME_MAX_LEN = 63
};

struct member { char name[NAME_MAX_LEN + 1]; uint32_t crc; uint64_t size, offset; };

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
        return attn_fail(err, ATTN_ENOMEM, "no memory for a zip archive");
    z->out = to;
    z->limit = limit;
    attn_crc32_make(&z->crc);
    return 0;
}

void attn_zip_free(struct attn_zip *z)
{
    if (!z)
        return;
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
    assert(!z->left && strlen(name) <= NAME_MAX_LEN);
    struct member *m = add(z);
    if (!m)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory to list %zu members of a zip archive", name, z->n + 1);
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

/* ---- the central directory ------------------------------------------------------------- */

static void put_entry(struct attn_zip *z, const struct member *m)
{
    bool size = m->size >= z->limit, offset = m->offset >= z->limit;
    unsigned extra = (size ? 16 : 0) + (offset ? 8 : 0);
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
    put16(z, 0);                        /* no comment, first disk */
    put16(z, 0);
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
