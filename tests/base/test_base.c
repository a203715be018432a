/* test_base.c - what lib/engine/base holds in small pieces: hashes, UTF-8, error messages. */
#include "suites.h"
#include "attn_tools.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sha256.h"
#include "base/splitmix.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "io/zip.h"

/* ---- sha256 -------------------------------------------------------------------------------- */

static void digest(char hex[65], const void *data, size_t len, size_t step, bool plain)
{
    struct attn_sha256 s;
    attn_sha256_start(&s);
    s.plain = plain;
    for (size_t i = 0; i < len; i += step)
        attn_sha256_add(&s, (const char *)data + i, len - i < step ? len - i : step);
    attn_sha256_end(&s, hex);
}

START_TEST(sha256_vectors)
{
    static const struct { const char *text, *hex; } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
         "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char hex[65];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int plain = 0; plain < 2; plain++) {
            digest(hex, rows[i].text, strlen(rows[i].text), 1000, plain);
            ck_assert_str_eq(hex, rows[i].hex);
        }
}
END_TEST

START_TEST(sha256_of_a_million_a)
{
    static char a[1000000];
    char hex[65];
    memset(a, 'a', sizeof a);
    for (int plain = 0; plain < 2; plain++) {
        digest(hex, a, sizeof a, 4097, plain);
        ck_assert_str_eq(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}
END_TEST

START_TEST(sha256_paths_and_pieces_agree)
{
    unsigned char data[300];
    char whole[65], other[65];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i >> 3);
    for (size_t len = 0; len <= sizeof data; len++) {
        digest(whole, data, len, sizeof data, true);
        digest(other, data, len, sizeof data, false);
        ck_assert_str_eq(whole, other);
        digest(other, data, len, 1 + len % 70, false);
        ck_assert_str_eq(whole, other);
    }
}
END_TEST

START_TEST(sha256_of_two_at_once)
{
    static const size_t before[] = {0, 64, 3}, lens[] = {0, 64, 640, 65536, 100};
    unsigned char *data = malloc(2 * 65536);
    char one[65], two[65], want[65];
    for (size_t i = 0; i < 2 * 65536; i++)
        data[i] = (unsigned char)(i * i >> 5);
    for (size_t i = 0; i < 9 * 5; i++) {
        size_t a = before[i / 5 % 3], b = before[i / 15], len = lens[i % 5];
        struct attn_sha256 x, y;
        attn_sha256_start(&x), attn_sha256_start(&y);
        attn_sha256_add(&x, data, a), attn_sha256_add(&y, data, b);
        attn_sha256_add_two(&x, data + a, &y, data + 65536, len);
        attn_sha256_end(&x, one), attn_sha256_end(&y, two);
        digest(want, data, a + len, SIZE_MAX, true);
        ck_assert_str_eq(one, want);
        attn_sha256_start(&y);
        attn_sha256_add(&y, data, b), attn_sha256_add(&y, data + 65536, len);
        attn_sha256_end(&y, want);
        ck_assert_str_eq(two, want);
    }
    free(data);
}
END_TEST

/* ---- crc32 --------------------------------------------------------------------------------- */

/* A byte at a time uses the table; 64 bytes or more may use carry-less multiplication. */
START_TEST(crc32_of_pieces_and_wholes)
{
    struct attn_crc32 c;
    unsigned char data[400];
    attn_crc32_make(&c);
    /* the check value in every catalogue of CRCs */
    ck_assert_uint_eq(attn_crc32_add(&c, 0, "123456789", 9), 0xCBF43926);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i >> 2);
    for (size_t start = 0; start < 20; start++)
        for (size_t len = 0; start + len <= sizeof data; len++) {
            uint32_t by_byte = (uint32_t)start * 0x01234567, whole = attn_crc32_add(&c, by_byte, data + start, len);
            for (size_t i = 0; i < len; i++)
                by_byte = attn_crc32_add(&c, by_byte, data + start + i, 1);
            ck_assert_uint_eq(whole, by_byte);
        }
}
END_TEST

/* ---- utf8 ---------------------------------------------------------------------------------- */

START_TEST(utf8_every_code_point)
{
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char buf[4];
        size_t step, n;
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        n = attn_utf8_put(buf, c);
        if (attn_utf8_valid(buf, n) != n || attn_utf8_next(buf, n, &step) != c || step != n)
            ck_abort_msg("U+%04X does not come back", c);
        if (n > 1 && attn_utf8_valid(buf, n - 1) != 0)
            ck_abort_msg("U+%04X is valid without its last byte", c);
    }
}
END_TEST

START_TEST(utf8_broken_sequences)
{
    static const struct { const char *s; size_t len, valid, broken; } rows[] = {
        {"ab\x80", 3, 2, 1}, {"\xC0\x80", 2, 0, 1}, {"\xC1\xBF", 2, 0, 1}, {"\xC3", 1, 0, 1}, {"\xC3(", 2, 0, 1},
        {"\xE0\x9F\xBF", 3, 0, 1}, {"\xE0\xA0", 2, 0, 2}, {"\xED\xA0\x80", 3, 0, 1}, {"\xEF\xBF", 2, 0, 2},
        {"\xF0\x8F\xBF\xBF", 4, 0, 1}, {"\xF0\x90\x80", 3, 0, 3}, {"\xF4\x90\x80\x80", 4, 0, 1}, {"\xF5", 1, 0, 1},
        {"eight by\xFFte words", 17, 8, 1}, {"eight b\xFFyte words", 17, 7, 1}, {"\xF1\x80\x80\xC3\xBC", 5, 0, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t valid = attn_utf8_valid(rows[i].s, rows[i].len), step;
        ck_assert_uint_eq(valid, rows[i].valid);
        ck_assert_uint_eq(attn_utf8_next(rows[i].s + valid, rows[i].len - valid, &step), 0xFFFD);
        ck_assert_uint_eq(step, rows[i].broken);
    }
}
END_TEST

START_TEST(utf8_spaces)
{
    static const uint32_t spaces[] = {9, 10, 11, 12, 13, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x2001, 0x2002,
                                      0x2003, 0x2004,
                                      0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F,
                                      0x205F, 0x3000};
    size_t next = 0, n = sizeof spaces / sizeof *spaces;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        bool expected = next < n && spaces[next] == c;
        next += expected;
        if (attn_utf8_space(c) != expected)
            ck_abort_msg("U+%04X", c);
    }
}
END_TEST

START_TEST(utf8_widths)
{
    ck_assert_uint_eq(attn_utf8_width("", 0), 0);
    ck_assert_uint_eq(attn_utf8_width("abc", 3), 3);
    ck_assert_uint_eq(attn_utf8_width("\xE6\xBC\xA2\xE5\xAD\x97", 6), 4);      /* two kanji */
    ck_assert_uint_eq(attn_utf8_width("e\xCC\x81", 3), 1);                     /* e, combining acute */
    ck_assert_uint_eq(attn_utf8_width("\xF0\x9F\x98\x80", 4), 2);              /* an emoji */
    /* as wide as U+FFFD, which is shown instead */
    ck_assert_uint_eq(attn_utf8_width("\xFFx", 2), 2);
}
END_TEST

/* ---- err ----------------------------------------------------------------------------------- */

START_TEST(err_shows_control_bytes)
{
    struct attn_err err;
    ck_assert_int_eq(attn_fail(&err, ATTN_EFORMAT, "a\x1B[31m%s", "b"), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "a\\x1B[31mb");
    ck_assert_int_eq(err.code, ATTN_EFORMAT);
    /* A line feed, the control character CSI, one that turns the writing direction, a copyright sign. */
    attn_fail(&err, ATTN_EIO, "a\nb\xC2\x9Bm\u202E\u00A9");
    ck_assert_str_eq(err.msg, "a\\x0Ab\\u{9B}m\\u{202E}\u00A9");
    ck_assert_int_eq(attn_fail(NULL, ATTN_EIO, "x"), ATTN_EIO);
}
END_TEST

START_TEST(err_cuts_between_characters)
{
    struct attn_err err;
    char text[2048] = "";
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', shift);
        for (size_t i = shift; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xE2\x82\xAC", 4);
        attn_fail(&err, ATTN_EIO, "%s", text);
        size_t n = strlen(err.msg);
        ck_assert_uint_lt(n, sizeof err.msg);
        ck_assert_ptr_nonnull(strstr(err.msg, "..."));
        ck_assert_uint_eq(attn_utf8_valid(err.msg, n), n);
    }
}
END_TEST

/* After a path as long as they get, what is wrong with it. */
START_TEST(err_keeps_the_reason)
{
    struct attn_err err;
    char path[PATH_MAX];
    memset(path, 'x', sizeof path);
    for (size_t len = 100; len < sizeof path; len = len * 3 / 2) {
        memcpy(path, "out/", 4);
        memcpy(path + len, ".csv", 5);
        errno = ENAMETOOLONG;
        attn_fail_errno(&err, path, "create");
        ck_assert_int_eq(strncmp(err.msg, "out/xxx", 7), 0);
        ck_assert_ptr_nonnull(strstr(err.msg, ".csv: cannot create: File name too long"));
        path[len] = path[len + 1] = path[len + 2] = path[len + 3] = path[len + 4] = 'x';
    }
    attn_fail(&err, ATTN_EIO, "%2000s\x1B%100s", "", "");   /* an escape that takes more room than there is */
    ck_assert_uint_lt(strlen(err.msg), sizeof err.msg);
}
END_TEST

START_TEST(err_of_errno)
{
    struct attn_err err;
    errno = ENOENT;
    ck_assert_int_eq(attn_fail_errno(&err, "x", "open"), ATTN_EIO);
    ck_assert_str_eq(err.msg, "x: cannot open: No such file or directory");
    errno = ENOMEM;
    ck_assert_int_eq(attn_fail_errno(&err, "x", "map"), ATTN_ENOMEM);
}
END_TEST

START_TEST(err_is_passed_on)
{
    struct attn_err err = {.code = ATTN_EIO, .msg = "before"}, fine = {0}, why = {.code = ATTN_EFORMAT, .msg = "why"};
    ck_assert_int_eq(attn_fail_as(&err, &fine), ATTN_OK);
    ck_assert_str_eq(err.msg, "before");
    ck_assert_int_eq(attn_fail_as(&err, &why), ATTN_EFORMAT);
    ck_assert(err.code == ATTN_EFORMAT && !strcmp(err.msg, "why"));
    ck_assert_int_eq(attn_fail_as(NULL, &why), ATTN_EFORMAT);
}
END_TEST

/* ---- hashes of tables --------------------------------------------------------------------------- */

enum { SPREAD = 4000, SPREAD_SLOTS = 8192 };

/* How many taken slots are passed before a free one, for all together, in a table that is half full at the end. */
static unsigned passed(const uint32_t *hash)
{
    static bool taken[SPREAD_SLOTS];
    unsigned n = 0;
    memset(taken, 0, sizeof taken);
    for (size_t i = 0; i < SPREAD; i++) {
        size_t at = hash[i] % SPREAD_SLOTS;
        for (; taken[at]; at = (at + 1) % SPREAD_SLOTS)
            n++;
        taken[at] = true;
    }
    return n;
}

/* Random places pass .5 slots each at that load; 300 draws of them have at most .6. */
START_TEST(hashes_spread_with_any_seed)
{
    static uint32_t hash[SPREAD];
    uint64_t state = 1;
    for (int seed = 0; seed < 300; seed++) {
        struct attn_strings t = {.seed = attn_splitmix_next(&state) | 1};
        char digits[16];
        for (int i = 0; i < SPREAD; i++)
            attn_strings_add(&t, digits, (size_t)snprintf(digits, sizeof digits, "%d", i));
        for (int i = 0; i < SPREAD; i++)
            hash[i] = t.item[i].hash;
        ck_assert_msg(passed(hash) < 0.7 * SPREAD, "strings, seed %d: %u", seed, passed(hash));
        for (int i = 0; i < SPREAD; i++)
            hash[i] = (uint32_t)attn_hash_pair(t.seed, 256 + i, 65);
        ck_assert_msg(passed(hash) < 0.7 * SPREAD, "left, seed %d: %u", seed, passed(hash));
        for (int i = 0; i < SPREAD; i++)
            hash[i] = (uint32_t)attn_hash_pair(t.seed, i / 64, i % 64);
        ck_assert_msg(passed(hash) < 0.7 * SPREAD, "both, seed %d: %u", seed, passed(hash));
        attn_strings_free(&t);
    }
}
END_TEST

Suite *suite_base(void)
{
    const TTest *const tests[] = {
        sha256_vectors, sha256_of_a_million_a, sha256_paths_and_pieces_agree, sha256_of_two_at_once,
        crc32_of_pieces_and_wholes,
        utf8_every_code_point, utf8_broken_sequences, utf8_spaces, utf8_widths,
        err_shows_control_bytes, err_cuts_between_characters, err_keeps_the_reason, err_of_errno, err_is_passed_on,
        hashes_spread_with_any_seed,
    };
    Suite *s = suite_create("base");
    TCase *c = tcase_create("base");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(c, tests[i]);
    suite_add_tcase(s, c);
    return s;
}
