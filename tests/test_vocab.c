#include "suites.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "base/near.h"
#include "text/vocab.h"

static int read_file(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_vocab *v = NULL;
    int rc = attn_vocab_read(&v, bytes, len, name, err);
    ck_assert((v != NULL) == (rc == ATTN_OK));
    attn_vocab_free(v);
    return rc;
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_array.json", "it is [, expected an object"},
        {"n_cut.json", "column 8: expected a key"},
        {"n_duplicate_id.json", "'a' and 'c' have the same id 0"},
        {"n_duplicate_key.json", "key 'a' for the second time"},
        {"n_empty.json", "it is empty, expected at least one token"},
        {"n_fractional_id.json", "the id of 'b' is 1.5, expected a whole number from 0"},
        {"n_huge_id.json", "the id of 'b' is 1e300"},
        {"n_id_above_31_bits.json", "the id of 'b' is 2147483647, expected a whole number from 0 to 2147483646"},
        {"n_long_number.json", "the id of 'b' is 0.00000"},
        {"n_negative_id.json", "the id of 'b' is -1"},
        {"n_not_utf8.json", "column 3: expected UTF-8"},
        {"n_nul_key.json", "\\u0000 in a string"},
        {"n_null_id.json", "the id of 'b' is null"},
        {"n_object_id.json", "the id of 'b' is {, expected"},
        {"n_string_id.json", "the id of 'b' is \"1\", expected a whole number"},
        {"n_trailing.json", "column 9: expected nothing after the end"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/vocab", faults, read_file);
}
END_TEST

static struct attn_vocab *read_text(const char *text)
{
    struct attn_vocab *v = NULL;
    struct attn_err err = {0};
    ck_assert_msg(attn_vocab_read(&v, text, strlen(text), "vocab.json", &err) == ATTN_OK, "%s", err.msg);
    return v;
}

START_TEST(test_lookup)
{
    struct attn_vocab *v = read_text("{\"b\": 7, \"\\u20ac\": 2, \"B\": 0, \"\": 2147483646}");
    static const struct { const char *word; int32_t id; } rows[] = {
        {"B", 0}, {"\u20ac", 2}, {"b", 7}, {"", 2147483646}
    };
    size_t len;
    ck_assert_uint_eq(attn_vocab_size(v), 4);
    ck_assert_int_eq(attn_vocab_top(v), 2147483646);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(attn_vocab_id(v, rows[i].word, strlen(rows[i].word)), rows[i].id);
        ck_assert_str_eq(attn_vocab_word(v, rows[i].id, &len), rows[i].word);
        ck_assert_uint_eq(len, strlen(rows[i].word));
        ck_assert_str_eq(attn_vocab_at(v, i, &len), rows[i].word);
    }
    ck_assert_int_eq(attn_vocab_id(v, "bb", 2), -1);
    ck_assert_ptr_null(attn_vocab_word(v, 1, &len));
    ck_assert_ptr_null(attn_vocab_word(v, -1, &len));
    ck_assert_ptr_null(attn_vocab_word(v, INT32_MIN, &len));
    attn_vocab_free(v);
}
END_TEST

START_TEST(test_every_word_of_many)
{
    enum { N = 50257 };                 /* coprime to 7919, so that all ids below differ */
    char *text = malloc(32 * N), *s = text, word[16];
    size_t len;
    for (int i = 0; i < N; i++)
        s += sprintf(s, "%c\"w%d\":%d", i == 0 ? '{' : ',', i, (int)((i * 7919LL + 11) % N));
    strcpy(s, "}");
    struct attn_vocab *v = read_text(text);
    free(text);
    for (int i = 0; i < N; i++) {
        int n = sprintf(word, "w%d", i);
        int32_t id = attn_vocab_id(v, word, (size_t)n);
        ck_assert_int_eq(id, (int)((i * 7919LL + 11) % N));
        ck_assert_str_eq(attn_vocab_word(v, id, &len), word);
    }
    attn_vocab_free(v);
}
END_TEST

static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len, unsigned below)
{
    struct attn_near n;
    attn_near_start(&n, a, a_len);
    return attn_near(&n, b, b_len, below);
}

START_TEST(test_near)
{
    static const struct { const char *a, *b; unsigned distance; } rows[] = {    /* in half edits */
        {"short", "short", 0}, {"shrt", "short", 2}, {"life", "Life", 1}, {"Lief", "Life", 2}, {"eats", "eat", 2},
        {"dezzert", "dessert", 4}, {"caf\u00e9", "caf\u00c9", 1}, {"caf\u00e9", "cafe", 2}, {"dog", "eat", ATTN_FAR},
        {"a", "b", ATTN_FAR}, {"a", "A", 1}, {"", "", 0}, {"", "ab", ATTN_FAR}, {"is", "it", 2},
    };
    char long_word[100];
    memset(long_word, 'a', sizeof long_word);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t a = strlen(rows[i].a), b = strlen(rows[i].b);
        unsigned d = rows[i].distance;
        ck_assert_msg(distance(rows[i].a, a, rows[i].b, b, ATTN_FAR) == d, "%s, %s", rows[i].a, rows[i].b);
        ck_assert_uint_eq(distance(rows[i].b, b, rows[i].a, a, ATTN_FAR), d);
        ck_assert_uint_eq(distance(rows[i].a, a, rows[i].b, b, d), ATTN_FAR);
        if (d != ATTN_FAR)
            ck_assert_uint_eq(distance(rows[i].a, a, rows[i].b, b, d + 1), d);
    }
    ck_assert_uint_eq(distance(long_word, 100, long_word, 100, ATTN_FAR), ATTN_FAR);
    ck_assert_uint_eq(distance(long_word, 64, long_word, 64, ATTN_FAR), 0);
}
END_TEST

/* The limit of a search through a vocabulary counts this work. */
START_TEST(test_near_counts_its_work)
{
    struct attn_near n;
    char x[60], y[60];
    memset(x, 'x', sizeof x);
    memset(y, 'y', sizeof y);
    attn_near_start(&n, x, sizeof x);
    ck_assert_uint_eq(attn_near(&n, x, sizeof x, ATTN_FAR), 0);
    ck_assert_uint_eq(n.work, 60 + 60 * 60);
    ck_assert_uint_eq(attn_near(&n, y, sizeof y, 4), ATTN_FAR);     /* certain after a few rows */
    ck_assert_uint_lt(n.work, 60 + 60 * 60 + 60 + 6 * 60);
}
END_TEST

START_TEST(test_nearest)
{
    struct attn_vocab *v = read_text("{\"cart\":0,\"cat\":1,\"Cat\":2,\"act\":3,\"dog\":4,\"bat\":5}");
    const char *near[3];
    size_t len[3];
    ck_assert_uint_eq(attn_vocab_nearest(v, "cat", 3, near, len, 3), 3);
    ck_assert_str_eq(near[0], "cat");
    ck_assert_str_eq(near[1], "Cat");
    ck_assert_str_eq(near[2], "cart");                              /* as near as act and bat: the lowest id wins */
    ck_assert_uint_eq(len[2], 4);
    ck_assert_uint_eq(attn_vocab_nearest(v, "cat", 3, near, len, 1), 1);
    ck_assert_str_eq(near[0], "cat");
    ck_assert_uint_eq(attn_vocab_nearest(v, "zzzzzz", 6, near, len, 3), 0);
    attn_vocab_free(v);
}
END_TEST

Suite *suite_vocab(void)
{
    Suite *s = suite_create("vocab");
    TCase *t = tcase_create("vocab");
    tcase_add_test(t, test_corpus);
    tcase_add_test(t, test_lookup);
    tcase_add_test(t, test_every_word_of_many);
    tcase_add_test(t, test_near);
    tcase_add_test(t, test_near_counts_its_work);
    tcase_add_test(t, test_nearest);
    suite_add_tcase(s, t);
    return s;
}
