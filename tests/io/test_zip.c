/* test_zip.c - archives read back field by field; the CRC is computed by a slow reference. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "scratch.h"
#include "io/zip.h"

static const struct { const char *name; size_t size; } members[] = {
    { "a.npy", 0 }, { "blocks.0.attn.pattern.npy", 1 }, { "c.npy", 7 }, { "d.npy", 1000 }, { "e.npy", 80003 },
};
enum { MEMBERS = sizeof members / sizeof members[0] };

static unsigned char byte_of(size_t member, size_t i)
{
    return (unsigned char)(i * 31 + member * 7 + (i >> 8));
}

static void write_member(struct attn_zip *z, size_t m)
{
    size_t size = members[m].size;
    unsigned char *data = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        data[i] = byte_of(m, i);
    ck_assert_int_eq(attn_zip_begin(z, members[m].name, size, NULL), 0);
    for (size_t at = 0, n; at < size; at += n) {
        n = at % 11 + 1 + at / 2;
        n = n < size - at ? n : size - at;
        attn_zip_add(z, data + at, n);
    }
    attn_zip_end(z);
    free(data);
}

/* Writes members in pieces of odd sizes and returns the whole archive in memory. */
static unsigned char *archive(uint64_t limit, size_t *len)
{
    const char *path = scratch_path("archive");
    struct attn_out *o;
    struct attn_zip *z;
    ck_assert_int_eq(attn_out_open(&o, path, NULL), 0);
    ck_assert_int_eq(attn_zip_new(&z, o, limit, NULL), 0);
    for (size_t m = 0; m < MEMBERS; m++)
        write_member(z, m);
    attn_zip_finish(z);
    attn_zip_free(z);
    ck_assert_int_eq(attn_out_commit(o, NULL), 0);
    attn_out_close(o);
    return (unsigned char *)golden_text(path, len);
}

static uint64_t le(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    while (bytes--)
        x = x << 8 | p[bytes];
    return x;
}

static uint32_t slow_crc(size_t member)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < members[member].size; i++) {
        c ^= byte_of(member, i);
        for (int bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
    }
    return ~c;
}

/* Checks local header, data and descriptor at `at`; returns where they end. */
static size_t check_member(const unsigned char *zip, size_t at, size_t m, bool big)
{
    const unsigned char *p = zip + at;
    size_t name = strlen(members[m].name), size = members[m].size;
    ck_assert_uint_eq(le(p, 4), 0x04034b50);
    ck_assert_uint_eq(le(p + 4, 2), big ? 45 : 20);
    ck_assert_uint_eq(le(p + 6, 2), 8);
    ck_assert_uint_eq(le(p + 8, 2), 0);
    ck_assert_uint_eq(le(p + 10, 4), 0x00210000);      /* 1980-01-01 00:00 */
    ck_assert_uint_eq(le(p + 18, 4), big ? UINT32_MAX : 0);
    ck_assert_uint_eq(le(p + 26, 2), name);
    ck_assert_uint_eq(le(p + 28, 2), big ? 20 : 0);
    ck_assert_mem_eq(p + 30, members[m].name, name);
    p += 30 + name + (big ? 20 : 0);
    for (size_t i = 0; i < size; i++)
        ck_assert_uint_eq(p[i], byte_of(m, i));
    p += size;
    ck_assert_uint_eq(le(p, 4), 0x08074b50);
    ck_assert_uint_eq(le(p + 4, 4), slow_crc(m));
    ck_assert_uint_eq(le(p + 8, big ? 8 : 4), size);
    ck_assert_uint_eq(le(p + (big ? 16 : 12), big ? 8 : 4), size);
    return (size_t)(p - zip) + (big ? 24 : 16);
}

/* Checks size and offset of a directory entry, wherever they are stored; returns the entry's length. */
static size_t check_entry(const unsigned char *p, size_t m, size_t offset, uint64_t limit)
{
    bool big = members[m].size >= limit, far = offset >= limit;
    size_t name = strlen(members[m].name), extra = (big || far ? 4 : 0) + (big ? 16 : 0) + (far ? 8 : 0);
    const unsigned char *x = p + 46 + name + 4;
    ck_assert_uint_eq(le(p, 4), 0x02014b50);
    ck_assert_uint_eq(le(p + 16, 4), slow_crc(m));
    ck_assert_uint_eq(le(p + 20, 4), big ? UINT32_MAX : members[m].size);
    ck_assert_uint_eq(le(p + 24, 4), big ? UINT32_MAX : members[m].size);
    ck_assert_uint_eq(le(p + 28, 2), name);
    ck_assert_uint_eq(le(p + 30, 2), extra);
    ck_assert_uint_eq(le(p + 42, 4), far ? UINT32_MAX : offset);
    ck_assert_mem_eq(p + 46, members[m].name, name);
    if (extra) {
        ck_assert_uint_eq(le(x - 4, 2), 1);
        ck_assert_uint_eq(le(x - 2, 2), extra - 4);
    }
    if (big)
        ck_assert_uint_eq(le(x, 8), members[m].size);
    if (far)
        ck_assert_uint_eq(le(x + (big ? 16 : 0), 8), offset);
    return 46 + name + extra;
}

static void check_archive(uint64_t limit)
{
    size_t len, at = 0, offset[MEMBERS];
    unsigned char *zip = archive(limit, &len);
    for (size_t m = 0; m < MEMBERS; m++) {
        offset[m] = at;
        at = check_member(zip, at, m, members[m].size >= limit);
    }
    size_t start = at;
    for (size_t m = 0; m < MEMBERS; m++)
        at += check_entry(zip + at, m, offset[m], limit);
    size_t size = at - start;
    bool big = size >= limit || start >= limit;
    if (big) {
        ck_assert_uint_eq(le(zip + at, 4), 0x06064b50);
        ck_assert_uint_eq(le(zip + at + 4, 8), 44);
        ck_assert_uint_eq(le(zip + at + 32, 8), MEMBERS);
        ck_assert_uint_eq(le(zip + at + 40, 8), size);
        ck_assert_uint_eq(le(zip + at + 48, 8), start);
        ck_assert_uint_eq(le(zip + at + 56, 4), 0x07064b50);
        ck_assert_uint_eq(le(zip + at + 64, 8), at);
        at += 76;
    }
    ck_assert_uint_eq(le(zip + at, 4), 0x06054b50);
    ck_assert_uint_eq(le(zip + at + 10, 2), MEMBERS);
    ck_assert_uint_eq(le(zip + at + 12, 4), size >= limit ? UINT32_MAX : size);
    ck_assert_uint_eq(le(zip + at + 16, 4), start >= limit ? UINT32_MAX : start);
    ck_assert_uint_eq(at + 22, len);
    free(zip);
}

START_TEST(plain_archive)
{
    check_archive(ATTN_ZIP_LIMIT);
}
END_TEST

START_TEST(archive_with_zip64_fields)
{
    check_archive(500);                 /* stands for 4 GiB: two members and most offsets are beyond it */
}
END_TEST

START_TEST(archive_where_all_is_zip64)
{
    check_archive(0);
}
END_TEST

Suite *suite_zip(void)
{
    Suite *s = suite_create("zip");
    TCase *t = tcase_create("zip");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, plain_archive);
    tcase_add_test(t, archive_with_zip64_fields);
    tcase_add_test(t, archive_where_all_is_zip64);
    suite_add_tcase(s, t);
    return s;
}
