/* test_sidecar.c - the file beside a batch's output: read back, rewritten in place, added up, compared. */
#include "suites.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch/sidecar.h"
#include "corpus.h"
#include "scratch.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define HEAD "{\"records\":3,\"failed\":1,\"next\":9,\"keys\":\"" ZEROS "\",\"bytes\":77,\"sha256\":\"" ZEROS "\"," \
             "\"summary_bytes\":5,\"summary_sha256\":null,\"arrays\":null," \
             "\"synced\":{\"records\":2,\"failed\":0,\"next\":6,\"keys\":\"" ZEROS "\",\"bytes\":50," \
             "\"sha256\":null,\"summary_bytes\":0,\"summary_sha256\":\"" ZEROS "\",\"arrays\":\"" ZEROS "\"}," \
             "\"tokens\":0,\"total\":null,\"complete\":false"
#define MARK(records, failed) "\"records\":" #records ",\"failed\":" #failed ",\"keys\":\"" ZEROS "\",\"bytes\":9"
#define TAIL ",\n\"tool\":\"attn-cli\",\"version\":\"1\",\"format\":\"ndjson\",\"model\":\"sampled:0\"," \
             "\"cpu\":\"avx2\",\"command\":null,\"options\":{\"show\":\"a\\\"b\",\"special\":\"\"}," \
             "\"input\":{\"format\":\"csv\",\"column\":\"text\",\"header\":true}," \
             "\"shard\":{\"index\":1,\"count\":3,\"stride\":true},\"summary\":null}\n"

static char *text_of(const char *path)
{
    static char text[8192];
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void read_text(struct attn_sidecar *s, const char *text)
{
    struct attn_err err = {0};
    scratch_put(scratch_path("in"), text, strlen(text));
    ck_assert_msg(attn_sidecar_read(s, scratch_path("in"), &err) == 0, "%s", err.msg);
}

START_TEST(what_is_read_is_written)
{
    struct attn_sidecar s;
    read_text(&s, HEAD TAIL);
    ck_assert_uint_eq(s.now.next, 9);
    ck_assert_uint_eq(s.synced.stream.bytes, 50);
    ck_assert_uint_eq(s.total, UINT64_MAX);
    ck_assert_str_eq(s.option[0].value, "a\"b");
    ck_assert(s.shard.stride && s.header && !s.complete && !s.summary);
    ck_assert_int_eq(attn_sidecar_write(&s, scratch_path("out"), NULL), 0);
    ck_assert_str_eq(text_of(scratch_path("out")), HEAD TAIL);
    attn_sidecar_free(&s);
}
END_TEST

START_TEST(what_changes_is_rewritten_in_place)
{
    struct attn_sidecar s, back;
    struct attn_err err = {0};
    read_text(&s, HEAD TAIL);
    int fd = open(scratch_path("out"), O_RDWR | O_CREAT, 0600);
    char before[4096];
    memset(before, 'x', sizeof before);         /* none of it must remain */
    ck_assert_int_eq(pwrite(fd, before, sizeof before, 0), sizeof before);
    ck_assert_msg(attn_sidecar_begin(&s, fd, scratch_path("out"), &err) == 0, "%s", err.msg);
    ck_assert_int_eq(attn_sidecar_read(&back, scratch_path("out"), &err), 0);
    attn_sidecar_free(&back);
    size_t len = strlen(text_of(scratch_path("out")));
    uint64_t *const all[] = {&s.now.records, &s.now.failed, &s.now.next, &s.now.stream.bytes, &s.now.summary.bytes,
                             &s.tokens, &s.total};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = 9999999999999999999u; /* the longest number that is read */
    s.synced = s.now;
    s.complete = true;
    ck_assert_int_eq(attn_sidecar_update(&s, fd, scratch_path("out"), &err), 0);
    close(fd);
    ck_assert_uint_eq(strlen(text_of(scratch_path("out"))), len);
    ck_assert_int_eq(attn_sidecar_read(&back, scratch_path("out"), &err), 0);
    ck_assert_uint_eq(back.synced.summary.bytes, 9999999999999999999u);
    ck_assert(back.complete);
    attn_sidecar_free(&back);
    attn_sidecar_free(&s);
}
END_TEST

/* The sum of the parts is that of the whole in any order, modulo 2^256. */
START_TEST(keys_add_up)
{
    struct attn_mark whole = {.keys = ZEROS}, odd = whole, even = whole;
    char most[65];
    for (uint64_t i = 0; i < 9; i++) {
        attn_mark_add_key(&whole, i, "k");
        attn_mark_add_key(i % 2 ? &odd : &even, i, "k");
    }
    ck_assert_str_ne(whole.keys, odd.keys);
    attn_sums_add(odd.keys, even.keys);
    ck_assert_str_eq(whole.keys, odd.keys);
    memset(most, 'f', 64);
    most[64] = '\0';
    attn_sums_add(most, "0000000000000000000000000000000000000000000000000000000000000001");
    ck_assert_str_eq(most, ZEROS);
}
END_TEST

START_TEST(what_is_none_is_refused)
{
    static const struct { const char *text, *why; } rows[] = {
        {"", "line 1, column 1"}, {"[]", "no JSON object"}, {"{}", "no file that a batch left"},
        {"{\"records\":-1}", "\"records\" is not a whole"},
        {"{\"keys\":\"00\"}", "64 hexadecimal digits"}, {"{\"complete\":1}", "true or false"},
        {"{\"format\":7}", "\"format\" is not a string"},
        {"{\"options\":{\"a\":1}}", "\"a\" is not a string"}, {"{\"input\":[]}", "\"input\" is not an object"},
        {HEAD, "line 1"},
        {"{\"format\":\"\\u0000\"}", "u0000"},
        {"{" MARK(3, 4) ",\"synced\":{" MARK(2, 0) "}" TAIL, "says that 4 of 3 records failed"},
        {"{" MARK(3, 1) ",\"synced\":{" MARK(2, 3) "}" TAIL, "says that 3 of 2 records failed"},
        {"{" MARK(10, 1) ",\"synced\":{" MARK(2, 0) "}" TAIL, "says that 10 records are in 9 bytes"},
        {"{" MARK(3, 1) TAIL, "no file that a batch left"},
        {HEAD ",\"version\":\"1\",\"format\":\"npy\",\"model\":\"m\",\"input\":{\"format\":\"csv\"},"
         "\"shard\":{\"index\":3,\"count\":3}}",
         "there is no shard 3/3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attn_sidecar s;
        struct attn_err err = {0};
        scratch_put(scratch_path("in"), rows[i].text, strlen(rows[i].text));
        ck_assert_int_eq(attn_sidecar_read(&s, scratch_path("in"), &err), ATTN_EFORMAT);
        ck_assert_msg(strstr(err.msg, rows[i].why) != NULL, "%s: %s", rows[i].text, err.msg);
    }
}
END_TEST

START_TEST(differences_are_named)
{
    struct attn_sidecar made, asked;
    struct attn_err err = {0};
    read_text(&made, HEAD TAIL);
    read_text(&asked, HEAD TAIL);
    ck_assert_int_eq(attn_sidecar_agree(&made, &asked, "o", &err), 0);
    asked.header = false;
    ck_assert_int_eq(attn_sidecar_agree(&made, &asked, "o", &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "o: was made without --no-header, not with --no-header:"));
    ck_assert_int_eq(attn_sidecar_add_option(&asked, "head", "2", &err), 0);
    ck_assert_int_eq(attn_sidecar_agree(&made, &asked, "o", &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "made without --head, not with --head 2:"));
    ck_assert_int_eq(attn_sidecar_agree(&asked, &made, "o", &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "made with --head 2, not without --head:"));
    attn_sidecar_free(&made);
    attn_sidecar_free(&asked);
}
END_TEST

/* ---- hostile files --------------------------------------------------------------------- */

static const struct corpus_fault faults[] = {
    {"n_more_failed_than_there_are.json", "says that 9000000000000000000 of 2 records failed"},
    {"n_options_many.json", "\"options\" is not as short as that of any batch"},
    {"n_shard_beyond_the_last.json", "there is no shard 9000000000000000000/4"},
    {"n_cut.json", "expected"}, {"n_no_shard.json", "is no file that a batch left"},
    {"n_no_format.json", "is no file that a batch"}, {"n_keys_short.json", "\"keys\" is not 64 hexadecimal digits"},
    {"n_keys_escaped.json", "\"keys\" is not 64"}, {"n_records_text.json", "\"records\" is not a whole number"},
    {"n_records_negative.json", "\"records\" is not a whole number"},
    {"n_options_number.json", "\"show\" is not a string"},
    {"n_options_list.json", "\"options\" is not an object"}, {"n_complete.json", "\"complete\" is not true or false"},
    {"n_nul.json", "\\u0000 in a string is not supported"}, {"n_list.json", "is no JSON object"},
    {"n_nothing.json", "expected a value"}, {"n_two.json", "expected nothing after the end"},
    {"n_shard_text.json", "\"shard\" is not an object"},
    {NULL, NULL}};

static int read_bytes(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_sidecar s;
    scratch_put(scratch_path(name), bytes, len);
    int rc = attn_sidecar_read(&s, scratch_path(name), err);
    attn_sidecar_free(&s);
    return rc;
}

START_TEST(hostile_files_are_refused)
{
    corpus_check("tests/corpus/sidecar", faults, read_bytes);
}
END_TEST

Suite *suite_sidecar(void)
{
    Suite *s = suite_create("sidecar");
    TCase *c = tcase_create("sidecar");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, what_is_read_is_written);
    tcase_add_test(c, what_changes_is_rewritten_in_place);
    tcase_add_test(c, keys_add_up);
    tcase_add_test(c, what_is_none_is_refused);
    tcase_add_test(c, differences_are_named);
    tcase_add_test(c, hostile_files_are_refused);
    suite_add_tcase(s, c);
    return s;
}
