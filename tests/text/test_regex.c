/* Regular expressions: what is refused and where, what is too large or takes too long; test_pretoken.c has
 * what they match. */
#include "suites.h"

#include "corpus.h"

#include "base/err.h"
#include "base/utf8.h"
#include "text/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is not known is refused where it is, never taken for something else. */
START_TEST(test_refused)
{
    static const struct { const char *pattern; size_t at; const char *why; } rows[] = {
        {"[", 1, "an empty class"}, {"[]", 1, "an empty class"}, {"[a", 2, "a class without an end"},
        {"[^", 2, "an empty class"},
        {"[a&&]", 4, "an empty class"}, {"[b-a]", 4, "such a range"}, {"[a-\\s]", 5, "such a range"},
        {"[[:alpha:]]", 1, "a class by such a name"},
        {"[[[[[[[[[a]]]]]]]]]", 9, "classes so deep within each other"},
        {"\\p{Klingon}", 11, "such a property"}, {"\\pL", 3, "a property without braces"},
        {"\\p{L", 4, "such a property"},
        {"\\p{}", 3, "such a property"}, {"a\\", 2, "a backslash at the end"}, {"\\1", 1, "such an escape"},
        {"\\R", 1, "such an escape"},
        {"\\X+", 1, "such an escape"}, {"\\x", 2, "such a character"}, {"\\xE9", 4, "a byte beyond ASCII"},
        {"\\x{110000}", 9, "such a character"},
        {"\\uD800", 6, "such a character"}, {"\\x{41", 5, "such a character"},
        {"*a", 0, "a repetition of nothing"}, {"a|+", 2, "a repetition of nothing"},
        {"({2})", 4, "a repetition of nothing"},
        {"a{3,2}", 1, "such a repetition"}, {"a{2}?", 1, "such a repetition"},
        {"(ab)?+", 6, "a possessive repetition of more than one character"},
        {"(a*)*", 5, "an endless repetition of what may be empty"},
        {"(a|b?)+", 7, "an endless repetition of what may be empty"},
        {"(?=a)*", 6, "an endless repetition of what may be empty"}, {"a{2000}", 7, "so many repetitions"},
        {"a{99999}", 8, "so many repetitions"}, {"\\d{1,65535}", 11, "so many repetitions"},
        {"[a&&b&&c&&d&&e&&f&&g&&h&&i&&j&&k&&l&&m&&n&&o&&p&&q]", 47, "what so many classes have in common"},
        {"(a", 2, "a group without an end"}, {"a)", 1, "the end of a group that has no beginning"},
        {"(?>a)", 2, "such a group"},
        {"(?<name>a)", 2, "such a group"}, {"(?m:a)", 2, "such a group"}, {"(?ix:a)", 3, "such an option"},
        {"(?<=a+)b", 6, "looking behind for a length that is not fixed"},
        {"(?=(?=(?=(?=(?=a)))))", 15, "assertions so deep within each other"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attn_regex *r = NULL;
        const char *why = NULL;
        size_t at = SIZE_MAX;
        ck_assert_int_eq(attn_regex_read(&r, rows[i].pattern, &why, &at), ATTN_EFORMAT);
        ck_assert_str_eq(why, rows[i].why);
        ck_assert_msg(at == rows[i].at, "'%s' at %zu, expected %zu", rows[i].pattern, at, rows[i].at);
    }
}
END_TEST

/* A pattern that doubles its length with each group, one that is long, and one of a thousand groups. */
START_TEST(test_large)
{
    char *pattern = malloc(40000), *p = pattern;
    struct attn_regex *r = NULL;
    const char *why;
    size_t at;
    p += sprintf(p, "a");
    for (int i = 0; i < 20; i++) {
        memmove(pattern + 1, pattern, (size_t)(p - pattern));
        pattern[0] = '(';
        p += 1 + sprintf(p + 1, "){2}");
    }
    ck_assert_int_eq(attn_regex_read(&r, pattern, &why, &at), ATTN_EFORMAT);
    ck_assert(strncmp(why, "so ", 3) == 0);
    memset(pattern, 'a', 20000);
    pattern[20000] = '\0';
    ck_assert_int_eq(attn_regex_read(&r, pattern, &why, &at), ATTN_EFORMAT);
    ck_assert_str_eq(why, "so long a pattern");
    memset(pattern, '(', 1000);
    pattern[1000] = '\0';
    ck_assert_int_eq(attn_regex_read(&r, pattern, &why, &at), ATTN_EFORMAT);
    ck_assert_str_eq(why, "groups so deep within each other");
    ck_assert_ptr_null(r);
    free(pattern);
}
END_TEST

/* Looking ahead over the whole text from everywhere ends, and is said; the same of a short text is fine. */
START_TEST(test_tired)
{
    enum { N = 60000 };
    char *text = malloc(N);
    struct attn_regex *r = NULL;
    const char *why;
    size_t at, len;
    ck_assert_int_eq(attn_regex_read(&r, "(?=[^b]*b)c", &why, &at), ATTN_OK);
    memset(text, 'a', N);
    for (size_t n = 1000; n <= N; n += N - 1000) {
        struct attn_regex_effort effort = {0};
        struct attn_regex_walk w = {.regex = r, .s = text, .len = n, .effort = &effort};
        attn_regex_allow(&effort, n);
        ck_assert(!attn_regex_next(&w, &at, &len));
        ck_assert_int_eq(attn_regex_tired(&effort), n == N);
    }
    attn_regex_free(r);
    free(text);
}
END_TEST

/* The first line is the pattern. */
static int read_corpus(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    const char *end = memchr(bytes, '\n', len), *why;
    char *pattern = strndup(bytes, end ? (size_t)(end - bytes) : len);
    struct attn_regex *r = NULL;
    size_t at;
    int rc = attn_regex_read(&r, pattern, &why, &at);
    ck_assert((r != NULL) == (rc == ATTN_OK));
    attn_regex_free(r);
    free(pattern);
    return rc ? attn_fail(err, ATTN_EFORMAT, "%s: %s", name, why) : ATTN_OK;
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_class.txt", "a class without an end"}, {"n_endless.txt", "an endless repetition of what may be empty"},
        {"n_property.txt", "such a property"}, {NULL, NULL}};
    corpus_check("tests/corpus/regex", faults, read_corpus);
}
END_TEST

/* A large class takes as long as it has ranges, wherever that is: thousands of words share what one text may take. */
START_TEST(test_tired_of_ranges)
{
    char *pattern = malloc(16000), *p = pattern, *text = malloc(60000);
    struct attn_regex *r = NULL;
    struct attn_regex_effort effort = {0};
    const char *why;
    size_t at, len, words = 0;
    *p++ = '[';
    for (uint32_t c = 0; c < 4000; c++)
        p += attn_utf8_put(p, 0x4E00 + 2 * c);
    strcpy(p, "]{200}!");
    ck_assert_int_eq(attn_regex_read(&r, pattern, &why, &at), ATTN_OK);
    for (size_t i = 0; i < 20000; i++)
        attn_utf8_put(text + 3 * i, 0x4E00 + 2 * 3999);
    attn_regex_allow(&effort, 60000);
    for (; !attn_regex_tired(&effort) && words < 60; words++) {
        struct attn_regex_walk w = {.regex = r, .s = text, .len = 900, .effort = &effort};
        ck_assert(!attn_regex_next(&w, &at, &len));
    }
    ck_assert_uint_lt(words, 60);
    attn_regex_free(r);
    free(pattern);
    free(text);
}
END_TEST

Suite *suite_regex(void)
{
    Suite *s = suite_create("regex");
    TCase *t = tcase_create("regex");
    tcase_add_test(t, test_refused);
    tcase_add_test(t, test_large);
    tcase_add_test(t, test_tired);
    tcase_add_test(t, test_tired_of_ranges);
    tcase_add_test(t, test_corpus);
    suite_add_tcase(s, t);
    return s;
}
