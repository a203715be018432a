#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "base/near.h"
#include "text/bytes.h"
#include "text/index.h"
#include "text/vocab.h"
#include "model/source.h"

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

static void map_file(struct attn_map *out, const char *path)
{
    struct attn_err err = {0};
    ck_assert_msg(!attn_map_open(out, path, SIZE_MAX, &err), "%s", err.msg);
}

/* What was indexed when the program was built is what the files say: each word, each rule, and nothing else. */
START_TEST(test_an_index_says_what_the_files_say)
{
    struct attn_source tiny;
    struct attn_map vocab, rules;
    struct attn_vocab *read = NULL;
    struct attn_merges m;
    struct attn_err err = {0};
    ck_assert(!attn_source_find(&tiny, "tiny", NULL, &err) && attn_source_index(&tiny));
    struct attn_text_index x = attn_text_index_of(attn_source_index(&tiny));
    struct attn_vocab *lent = attn_vocab_lend(&x.words, x.id);
    map_file(&vocab, "models/tiny/vocab.json");
    map_file(&rules, "models/tiny/merges.txt");
    ck_assert(lent && !attn_vocab_read(&read, (const char *)vocab.data, vocab.len, "vocab.json", &err));
    ck_assert(!attn_merges_read(&m, read, (const char *)rules.data, rules.len, "merges.txt", &err));
    ck_assert_uint_eq(attn_vocab_size(lent), attn_vocab_size(read));
    ck_assert_uint_eq(attn_vocab_bytes(lent), attn_vocab_bytes(read));
    for (size_t i = 0; i < attn_vocab_size(read); i++) {
        size_t len, lent_len;
        const char *word = attn_vocab_at(read, i, &len), *same = attn_vocab_at(lent, i, &lent_len);
        ck_assert_uint_eq(len, lent_len);
        ck_assert_mem_eq(word, same, len + 1);
        ck_assert_int_eq(attn_vocab_id(lent, word, len), attn_vocab_id(read, word, len));
    }
    ck_assert_int_eq(attn_vocab_id(lent, "no such word", 12), -1);
    ck_assert_uint_eq(x.merges.n, m.n);
    for (size_t i = 0; i < m.n; i++) {
        struct attn_rule r = m.rule[i];
        struct attn_merge a = attn_merges_find(&m, r.left, r.right), b = attn_merges_find(&x.merges, r.left, r.right);
        ck_assert(a.rank == b.rank && a.id == b.id && b.id == r.id);
        a = attn_merges_find(&m, r.right, r.left);
        b = attn_merges_find(&x.merges, r.right, r.left);
        ck_assert(a.rank == b.rank && a.id == b.id);
    }
    size_t specials;
    int32_t *special = attn_merges_special(&m, read, &specials);
    ck_assert(special && specials > 0);
    ck_assert_uint_eq(x.specials, specials);
    ck_assert_mem_eq(x.special, special, specials * sizeof *special);
    free(special);
    int32_t byte[256];
    attn_bytes_find(byte, read);
    ck_assert_mem_eq(x.byte, byte, sizeof byte);
    ck_assert_int_eq(byte['a'], attn_vocab_id(read, "a", 1));
    attn_merges_free(&m);
    attn_merges_free(&x.merges);        /* lent: nothing is freed */
    attn_vocab_free(read);
    attn_vocab_free(lent);
    attn_map_close(&vocab);
    attn_map_close(&rules);
    attn_source_free(&tiny);
}
END_TEST

/* Words are added to a copy: the lender's stay as they are. */
START_TEST(test_a_lent_vocabulary_grows_by_itself)
{
    struct attn_strings words = {0};
    struct attn_err err = {0};
    size_t twice;
    int32_t id[] = {0, 1};
    ck_assert(attn_strings_append(&words, "a", 1) && attn_strings_append(&words, "b", 1) &&
              attn_strings_index(&words, &twice));
    struct attn_vocab *v = attn_vocab_lend(&words, id);
    ck_assert_int_eq(attn_vocab_add(v, (const char *[]){"b", "c"}, (int32_t[]){1, 9}, 2, "added", &err), ATTN_OK);
    ck_assert_uint_eq(attn_vocab_size(v), 3);
    ck_assert_int_eq(attn_vocab_id(v, "a", 1), 0);
    ck_assert_int_eq(attn_vocab_id(v, "c", 1), 9);
    ck_assert_int_eq(attn_vocab_own_id(v, "c", 1), -1);
    ck_assert_int_eq(attn_vocab_top(v), 9);
    ck_assert_int_eq(attn_vocab_add(v, (const char *[]){"a"}, (int32_t[]){3}, 1, "added", &err), ATTN_EFORMAT);
    static const char *const more[] = {"e", "d", "b"};
    ck_assert_int_eq(attn_vocab_add(v, more, (int32_t[]){9, 1, 1}, 3, "added", &err), ATTN_OK);
    ck_assert_int_eq(attn_vocab_add(v, (const char *[]){"f"}, (int32_t[]){4}, 1, "added", &err), ATTN_OK);
    ck_assert_uint_eq(attn_vocab_size(v), 4);
    static const struct { int32_t id; const char *word; } want[] = {{0, "a"}, {1, "b"}, {4, "f"}, {9, "e"}};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(attn_vocab_id_at(v, i), want[i].id);
        ck_assert_uint_eq(attn_vocab_rank(v, want[i].id), i);
        ck_assert_str_eq(attn_vocab_at(v, i, &twice), want[i].word);
    }
    ck_assert_int_eq(attn_vocab_id(v, "d", 1), 1);
    ck_assert_int_eq(attn_vocab_id(v, "c", 1), 9);
    ck_assert_uint_eq(words.n, 2);
    ck_assert_uint_eq(attn_strings_find(&words, "c", 1), ATTN_STRINGS_NONE);
    attn_vocab_free(v);
    ck_assert_uint_eq(attn_strings_find(&words, "b", 1), 1);
    attn_strings_free(&words);
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
    tcase_add_test(t, test_an_index_says_what_the_files_say);
    tcase_add_test(t, test_a_lent_vocabulary_grows_by_itself);
    suite_add_tcase(s, t);
    return s;
}
