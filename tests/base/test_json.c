#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "corpus.h"
#include "base/json.h"
#include "base/tree.h"

enum { MANY = 1000000 };

static int check_values(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    return attn_json_check(bytes, len, name, MANY, err);
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_above_unicode.json", "column 3: expected UTF-8 in a string (found byte 0xF4)"},
        {"n_bad_escape.json", "column 3: unknown escape"},
        {"n_bad_unicode.json", "column 3: unknown escape"},
        {"n_bom.json", "column 1: expected a value, not a byte order mark"},
        {"n_comment.json", "column 5: expected a value (found '/')"},
        {"n_control.json", "column 4: control character in a string (found byte 0x09)"},
        {"n_cut_utf8.json", "column 3: expected UTF-8"},
        {"n_deep65.json", "column 65: nested deeper than 64 levels"},
        {"n_del_outside.json", "column 1: expected a value (found byte 0x7F)"},
        {"n_duplicate.json", "line 2, column 2: key 'a' for the second time"},
        {"n_duplicate_around.json", "column 21: key 'a' for the second time"},
        {"n_duplicate_empty.json", "column 7: key '' for the second time"},
        {"n_duplicate_escaped.json", "column 8: key 'a' for the second time"},
        {"n_duplicate_inside.json", "column 14: key 'a' for the second time"},
        {"n_empty.json", "column 1: expected a value (the text ends here)"},
        {"n_form_feed.json", "column 4: expected a value (found byte 0x0C)"},
        {"n_hex.json", "column 3: expected ',' or ']' (found 'x')"},
        {"n_high_alone.json", "half of a surrogate pair"},
        {"n_high_twice.json", "half of a surrogate pair"},
        {"n_infinity.json", "column 3: expected a digit (found 'I')"},
        {"n_invalid_utf8.json", "column 3: expected UTF-8 in a string (found byte 0xFF)"},
        {"n_leading_zero.json", "column 3: expected ',' or ']' (found '1')"},
        {"n_literal.json", "column 2: expected a value (found 't')"},
        {"n_literal_case.json", "column 2: expected a value (found 'T')"},
        {"n_literal_cut.json", "column 2: expected a value (found 't')"},
        {"n_literal_long.json", "column 6: expected ',' or ']' (found 'x')"},
        {"n_low_alone.json", "half of a surrogate pair"},
        {"n_minus.json", "column 3: expected a digit (found ']')"},
        {"n_nan.json", "column 2: expected a value (found 'N')"},
        {"n_nbsp.json", "column 4: expected a value (found byte 0xC2)"},
        {"n_no_colon.json", "n_no_colon.json: line 3, column 7: expected ':' after a key (found '2')"},
        {"n_no_comma.json", "column 4: expected ',' or ']' (found '2')"},
        {"n_no_exponent.json", "column 4: expected a digit"},
        {"n_no_fraction.json", "column 4: expected a digit"},
        {"n_no_key.json", "column 2: expected a key in double quotes (found '1')"},
        {"n_no_whole.json", "column 2: expected a value (found '.')"},
        {"n_nul_byte.json", "column 4: control character in a string (found byte 0x00)"},
        {"n_nul_escape.json", "column 11: \\u0000 in a string"},
        {"n_nul_key.json", "column 3: \\u0000 in a string"},
        {"n_nul_tail.json", "column 2: expected nothing after the end of the document"},
        {"n_only_space.json", "line 2, column 1: expected a value (the text ends here)"},
        {"n_open_array.json", "column 3: expected ',' or ']' (the text ends here)"},
        {"n_open_escape.json", "column 4: unknown escape"},
        {"n_open_object.json", "column 7: expected ',' or '}' (the text ends here)"},
        {"n_open_string.json", "column 4: expected the end of a string (the text ends here)"},
        {"n_overlong.json", "column 3: expected UTF-8"},
        {"n_plus.json", "column 2: expected a value (found '+')"},
        {"n_short_unicode.json", "column 3: unknown escape"},
        {"n_single_quotes.json", "column 2: expected a key in double quotes"},
        {"n_surrogate_utf8.json", "column 3: expected UTF-8 in a string (found byte 0xED)"},
        {"n_trailing_comma_array.json", "column 4: expected a value (found ']')"},
        {"n_trailing_comma_object.json", "column 8: expected a key in double quotes (found '}')"},
        {"n_two_values.json", "column 3: expected nothing after the end of the document (found '2')"},
        {"n_value_missing.json", "column 6: expected a value (found '}')"},
        {"n_wrong_close.json", "column 3: expected ',' or ']' (found '}')"},
        {"n_wrong_close_object.json", "column 7: expected ',' or '}' (found ']')"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/json", faults, check_values);
}
END_TEST

/* Writes each event as one letter, each token between bars. */
static void trace(const char *text, char *out)
{
    static const char letters[] = "FD{}[]ksntfz";
    struct attn_json j;
    enum attn_json_event e;
    char plain[64];
    attn_json_start(&j, text, strlen(text), "x.json");
    do {
        e = attn_json_next(&j);
        *out++ = letters[e];
        if (e == ATTN_JSON_KEY || e == ATTN_JSON_STRING || e == ATTN_JSON_NUMBER) {
            size_t n = attn_json_string(&j, plain);
            out += sprintf(out, "|%.*s|", (int)n, plain);
        }
    } while (e != ATTN_JSON_DONE && e != ATTN_JSON_FAILED);
    *out = '\0';
}

START_TEST(test_events)
{
    static const struct { const char *text, *trace; } cases[] = {
        {"{\"a\": [1, -2.5e3, true], \"b\" : {} ,\"c\":null}", "{k|a|[n|1|n|-2.5e3|t]k|b|{}k|c|z}D"},
        {" false ", "fD"},
        {"[[],[ ]]", "[[][]]D"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s|\"\\/\b\f\n\r\t|D"},
        {"\"\\u00e9\\u20AC\\ud83d\\uDE00x\"", "s|\u00e9\u20ac\U0001F600x|D"},
        {"[1,]", "[n|1|F"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[256];
        trace(cases[i].text, out);
        ck_assert_str_eq(out, cases[i].trace);
    }
}
END_TEST

/* Reads a quoted string of n filler characters, with c in place of the one at `at`. */
static void expect_scan(size_t n, size_t at, char filler, char c)
{
    char text[64];
    struct attn_json j;
    memset(text, filler, n + 2);
    text[0] = text[n + 1] = '"';
    text[1 + at] = c;
    attn_json_start(&j, text, n + 2, "x.json");
    enum attn_json_event e = attn_json_next(&j);
    bool broken = (unsigned char)c < 0x20 || c == '\\';
    ck_assert_msg(e == (broken ? ATTN_JSON_FAILED : ATTN_JSON_STRING), "%zu bytes, 0x%02X at %zu", n, (unsigned)c, at);
    ck_assert_uint_eq(broken ? j.at : j.token_len, broken ? 1 + at : c == '"' ? at : n);
}

/* The reader looks at eight bytes at once: special bytes must be found at every place and between any neighbours. */
START_TEST(test_every_byte_everywhere)
{
    static const char fillers[] = "! #[]\x7f";
    for (const char *f = fillers; *f; f++)
        for (size_t n = 2; n < 20; n++)
            /* a backslash at the end would escape the closing quote */
            for (size_t at = 0; at < n - 1; at++)
                for (int c = 0; c < 0x80; c++)
                    expect_scan(n, at, *f, (char)c);
}
END_TEST

START_TEST(test_done_and_failed_stay)
{
    struct attn_json j;
    attn_json_start(&j, "1", 1, "x.json");
    ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_NUMBER);
    ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_DONE);
    ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_DONE);
    attn_json_start(&j, "?", 1, "x.json");
    ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_FAILED);
    ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_FAILED);
}
END_TEST

START_TEST(test_is)
{
    static const struct { const char *text, *word; bool is; } cases[] = {
        {"\"abc\"", "abc", true}, {"\"abc\"", "ab", false}, {"\"abc\"", "abcd", false}, {"\"\"", "", true},
        {"\"\\u0061b\"", "ab", true}, {"\"\\u0061b\"", "a", false}, {"\"\\u0061b\"", "abc", false},
        {"\"\\u20ac\"", "\u20ac", true}, {"\"\\u20ac\"", "\xe2", false}, {"\"\\u0000\"", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attn_json j;
        attn_json_start(&j, cases[i].text, strlen(cases[i].text), "x.json");
        ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_STRING);
        ck_assert_msg(attn_json_is(&j, cases[i].word) == cases[i].is, "%s is %s", cases[i].text, cases[i].word);
    }
}
END_TEST

START_TEST(test_skip)
{
    const char *text = "{\"a\":[{\"x\":[1,2]},3],\"b\":7,\"c\":{}}";
    struct attn_json j;
    attn_json_start(&j, text, strlen(text), "x.json");
    ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_OBJECT);
    for (const char *key = "abc"; *key; key++) {
        char name[2] = {*key, 0};
        ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_KEY);
        ck_assert(attn_json_is(&j, name));
        ck_assert(attn_json_skip(&j, attn_json_next(&j)));
    }
    ck_assert_int_eq(attn_json_next(&j), ATTN_JSON_OBJECT_END);
    attn_json_start(&j, "[[1,2}", 6, "x.json");
    ck_assert(!attn_json_skip(&j, attn_json_next(&j)));
}
END_TEST

/* Every prefix of a document must fail, and no byte beyond it may be read (AddressSanitizer). */
START_TEST(test_truncated)
{
    static const char text[] = "{\"a\\u00e9\\ud83d\\ude00\": [1.5e-3, true, \"\u20ac\"], \"b\": null}";
    struct attn_err err;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *cut = malloc(n);
        memcpy(cut, text, n);
        ck_assert_int_eq(attn_json_check(cut, n, "x.json", MANY, &err), ATTN_EFORMAT);
        free(cut);
    }
    ck_assert_int_eq(attn_json_check(text, sizeof text - 1, "x.json", MANY, &err), ATTN_OK);
}
END_TEST

START_TEST(test_place_counts_characters)
{
    static const char text[] = "\"\u00e9\"\n\"\u20ac\u20ac\"x";
    struct attn_json j;
    size_t line, column;
    attn_json_start(&j, text, sizeof text - 1, "x.json");
    attn_json_position(&j, sizeof text - 2, &line, &column);
    ck_assert_uint_eq(line, 2);
    ck_assert_uint_eq(column, 5);
}
END_TEST

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

START_TEST(test_many_values)
{
    size_t len = 20 << 20;
    char *text = malloc(len);
    struct attn_err err;
    for (size_t i = 0; i < len; i++)
        text[i] = i % 2 ? '0' : ',';
    text[0] = '[';
    double start = seconds();
    ck_assert_int_eq(attn_json_check(text, len, "x.json", 4096, &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "more than 4096 values"));
    ck_assert(seconds() - start < 0.1);                             /* takes 0.02 ms, as it reads 8 KB of 20 MB */
    free(text);
}
END_TEST

/* An object with n keys and, if `again`, a second value for the first. */
static char *object_of(size_t n, bool again, size_t *len)
{
    char *text = malloc(24 * (n + 2)), *s = text;
    for (size_t i = 0; i < n; i++)
        s += sprintf(s, "%c\"%zx\":0", i == 0 ? '{' : ',', i);
    s += sprintf(s, "%s}", again ? ",\"0\":0" : "");
    *len = (size_t)(s - text);
    return text;
}

START_TEST(test_many_keys)
{
    size_t len;
    struct attn_err err;
    double start = seconds();
    for (int again = 0; again < 2; again++) {
        char *text = object_of(MANY - 2, again, &len);
        ck_assert_int_eq(attn_json_check(text, len, "x.json", MANY, &err), again ? ATTN_EFORMAT : ATTN_OK);
        free(text);
    }
    /* 0.6 s, 3 s under sanitizers; hours if it were quadratic */
    ck_assert(seconds() - start < 30);
}
END_TEST

/* After a large object, small ones must still be fast to check. */
START_TEST(test_many_objects)
{
    size_t n = 200000, len;
    char *big = object_of(n, false, &len), *text = malloc(2 * len + 16 * n), *s = text;
    struct attn_err err;
    s += sprintf(s, "[%s", big);
    for (size_t i = 0; i < n; i++)
        s += sprintf(s, ",{\"a\":0}");
    *s++ = ']';
    double start = seconds();
    ck_assert_int_eq(attn_json_check(text, (size_t)(s - text), "x.json", MANY, &err), ATTN_OK);
    ck_assert(seconds() - start < 20);                              /* 0.1 s; minutes if it were quadratic */
    free(text);
    free(big);
}
END_TEST

Suite *suite_json(void)
{
    Suite *s = suite_create("json");
    TCase *t = tcase_create("json");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_corpus);
    tcase_add_test(t, test_events);
    tcase_add_test(t, test_every_byte_everywhere);
    tcase_add_test(t, test_done_and_failed_stay);
    tcase_add_test(t, test_is);
    tcase_add_test(t, test_skip);
    tcase_add_test(t, test_truncated);
    tcase_add_test(t, test_place_counts_characters);
    tcase_add_test(t, test_many_values);
    tcase_add_test(t, test_many_keys);
    tcase_add_test(t, test_many_objects);
    suite_add_tcase(s, t);
    return s;
}
