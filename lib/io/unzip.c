#include "io/unzip.h"

#include <string.h>

#include "base/err.h"
#include "base/strings.h"

enum { LOCAL = 30, ENTRY = 46, END = 22, END64 = 56, LOCATOR = 20, COMMENT_MAX = 65535, ZIP64_FIELD = 1, ENCRYPTED = 1 };

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

/* ---- the end of the archive ------------------------------------------------------------ */

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

int attn_unzip_start(struct attn_unzip *z, const unsigned char *bytes, size_t len, const char *path, struct attn_err *err)
{
    *z = (struct attn_unzip){.bytes = bytes, .len = len, .path = path, .room = len};
    attn_crc32_make(&z->crc);
    const unsigned char *end = find_end(z);
    if (!end)
        return malformed(z, "it does not end with a list of members (cut short, or no .npz file)", err);
    const unsigned char *end64 = find_end64(z, (size_t)(end - bytes));
    uint64_t size = end64 ? le(end64 + 40, 8) : le(end + 12, 4), start = end64 ? le(end64 + 48, 8) : le(end + 16, 4);
    z->entries = end64 ? le(end64 + 32, 8) : le(end + 10, 2);
    if (start > len || size > len - start)
        return malformed(z, "its list of members lies outside the file", err);
    z->at = (size_t)start;
    z->end = (size_t)(start + size);
    return ATTN_OK;
}

/* ---- members --------------------------------------------------------------------------- */

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
    if (attn_crc32_add(&z->crc, 0, m->data, m->size) != e->crc)
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
        return attn_fail(err, ATTN_EFORMAT, "%s: member '%.*s' is compressed (method %u), only stored ones are read: write it "
                         "with numpy.savez, not savez_compressed", z->path, shown, m->name, e->method);
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
    struct entry e = {.flags = (unsigned)le(p + 8, 2), .method = (unsigned)le(p + 10, 2), .crc = (uint32_t)le(p + 16, 4),
                      .packed = le(p + 20, 4), .size = le(p + 24, 4), .offset = le(p + 42, 4)};
    if (!widen(&e, p + ENTRY + name, extra))
        return malformed(z, "a member's ZIP64 field is cut short", err);
    z->entries--;
    z->at += ENTRY + name + extra + comment;
    struct attn_unzipped m = {.name = (const char *)p + ENTRY, .name_len = name};
    int rc = check(z, &m, &e, err);
    if (!rc)
        rc = find_data(z, &m, &e, err);
    if (!rc)
        *out = m;
    return rc;
}
