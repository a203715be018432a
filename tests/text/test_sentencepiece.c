/* tokenizer.model and tokenizer.bin: what is refused, and what of a text they do not show in their vectors. */
#include "suites.h"

#include "corpus.h"
#include "scratch.h"

#include "text/subword.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_with(int (*read)(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err),
                     const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_subword *b = NULL;
    struct attn_text_file file = {bytes, len, name};
    int rc = read(&b, &file, err);
    ck_assert((b != NULL) == (rc == ATTN_OK));
    attn_subword_free(b);
    return rc;
}

static int read_model(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    return read_with(attn_sentencepiece_read, bytes, len, name, err);
}

static int read_bin(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    return read_with(attn_llama2c_read, bytes, len, name, err);
}

START_TEST(test_models)
{
    static const struct corpus_fault faults[] = {
        {"n_byte_spelling.model", "piece 9 is a byte that is not spelled <0xHH>"},
        {"n_bytes_unasked.model", "256 pieces are bytes, expected none since byte_fallback is not set"},
        {"n_char.model", "model_type 4 is not supported, expected 1 (Unigram) or 2 (BPE)"},
        {"n_cut_piece.model", "byte 32: a field is longer than what is left"},
        {"n_cut_varint.model", "a number does not end"},
        {"n_denormalizer.model", "a denormalizer with rules is not supported"},
        {"n_empty.model", "there are no tokens, expected at least one"},
        {"n_huge_count.model", "a field is longer than what is left"},
        {"n_huge_length.model", "a field is longer than what is left"},
        {"n_long_text.model", "piece 9 is empty or has more than 4096 bytes"},
        {"n_long_varint.model", "a number does not end"},
        {"n_missing_bytes.model", "0 pieces are bytes, expected 256 since byte_fallback is set"},
        {"n_no_text.model", "piece 9 is empty or has more than 4096 bytes"},
        {"n_no_unknown.model", "0 pieces are for what is unknown, expected one"},
        {"n_not_utf8.model", "token 9 has a NUL or is not UTF-8"},
        {"n_nul.model", "token 9 has a NUL or is not UTF-8"},
        {"n_piece_inside.model", "byte 4: a field is longer than what is left"},
        {"n_piece_no_message.model", "a number, expected a message"},
        {"n_score_inf.model", "piece 9 has a score that is no finite number"},
        {"n_score_nan.model", "piece 9 has a score that is no finite number"},
        {"n_table_short.model", "its first number is not the size of a table within it"},
        {"n_table_size.model", "its first number is not the size of a table within it"},
        {"n_text.model", "byte 3: a field of an unknown wire type, expected a sentencepiece model"},
        {"n_trainer_no_message.model", "a number, expected a message"},
        {"n_twice.model", "token 9, 'ab', is there twice"},
        {"n_two_unknown.model", "2 pieces are for what is unknown, expected one"},
        {"n_type.model", "piece 9 has an unknown type"},
        {"n_type_zero.model", "piece 9 has an unknown type"},
        {"n_wire.model", "a field of an unknown wire type"},
        {"n_word.model", "model_type 3 is not supported"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/sentencepiece", faults, read_model);
}
END_TEST

START_TEST(test_bins)
{
    static const struct corpus_fault faults[] = {
        {"n_cut.bin", "token 3 ends beyond the file"},
        {"n_cut_head.bin", "token 3 ends beyond the file"},
        {"n_empty.bin", "token 0 is not there"},
        {"n_few_bytes.bin", "token 258 is not <0xFF>"},
        {"n_huge.bin", "token 3 ends beyond the file"},
        {"n_long.bin", "token 3 has no text, more than 4096 bytes"},
        {"n_no_bytes.bin", "token 3 is not <0x00>"},
        {"n_no_text.bin", "token 3 has no text"},
        {"n_not_utf8.bin", "token 3 has a NUL or is not UTF-8"},
        {"n_nothing.bin", "there are no tokens"},
        {"n_nul.bin", "token 3 has a NUL or is not UTF-8"},
        {"n_score.bin", "or a score that is no finite number"},
        {"n_short.bin", "token 0 is not there"},
        {"n_twice.bin", "token 260, 'a', is there twice"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/llama2c", faults, read_bin);
}
END_TEST

/* A file of the corpus, a text, its ids, and the text that they give. */
static const struct { const char *file, *text, *ids, *back; bool special; } rows[] = {
    {"sentencepiece/y_bpe.model", "ab aba", "8 8 4", "ab aba", false},
    {"sentencepiece/y_bpe.model", "  ab   ab ", "3 3 8 3 3 8 3", "  ab   ab ", false},
    {"sentencepiece/y_unused.model", "aba", "8 4", "aba", false},           /* what an unused piece was made of */
    {"sentencepiece/y_user.model", "abab", "6 9 5", "abab", false},         /* the user's piece is cut out first */
    {"sentencepiece/y_suffix.model", "ab", "7 3", "ab ", false},
    {"sentencepiece/y_no_dummy.model", "ab", "7", "ab", false},
    {"sentencepiece/y_surface.model", "axxb", "6 0 5", "a?b", false},
    {"sentencepiece/y_bpe.model", "axxb", "6 0 5", "a \u2047 b", false},
    {"sentencepiece/y_bytes.model", "\u00e9", "3 204 178", "\u00e9", false},
    {"sentencepiece/y_table.model", "Aa", "3 5 4", "ba", false},
    {"sentencepiece/y_table_wild.model", "ab", "8", "ab", false},
    {"sentencepiece/y_bpe.model", "ab<s>", "8 0", "ab \u2047 ", false},     /* control pieces are not found in a text */
    {"sentencepiece/y_bpe.model", "ab<s>", "8 1", "ab", true},              /* unless asked for */
    {"llama2c/y_plain.bin", "ab a", "262 261 262", "ab a", false},
    {"llama2c/y_bytes.bin", "a", "35 100", " a", false},     /* the byte 0x20 is no space in front */
};

static void open_file(struct attn_tokenizer **t, const char *path)
{
    struct attn_err err = {0};
    size_t len;
    char *bytes = corpus_slurp(printed("tests/corpus/%s", path), &len);
    const char *leaf = strstr(path, ".model") ? "tokenizer.model" : "tokenizer.bin";
    scratch_put(scratch_path(leaf), bytes, len);
    free(bytes);
    ck_assert_msg(attn_tokenizer_open(t, printed("%s/", scratch_dir), &err) == ATTN_OK, "%s", err.msg);
}

START_TEST(test_texts)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    struct attn_encode_opts o = {.special = rows[_i].special};
    int32_t *ids = NULL;
    size_t n = 0, len, used = 0;
    char line[128] = "", *back = NULL;
    open_file(&t, rows[_i].file);
    ck_assert_msg(attn_encode_ids(&ids, &n, t, rows[_i].text, strlen(rows[_i].text), &o, &err) == ATTN_OK,
                  "%s", err.msg);
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%d", i ? " " : "", (int)ids[i]);
    ck_assert_str_eq(line, rows[_i].ids);
    ck_assert_msg(attn_decode(&back, &len, t, ids, n, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_str_eq(back, rows[_i].back);
    free(back);
    free(ids);
    attn_tokenizer_close(t);
}
END_TEST

/* Bytes that make no UTF-8 become U+FFFD one by one, here and where tokenizer.json says ByteFallback. */
START_TEST(test_broken_bytes)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    size_t len;
    char *back = NULL;
    open_file(&t, "sentencepiece/y_bytes.model");
    int32_t ids[] = {8, 9 + 0xE4, 9 + 0xB8, 4, 9 + 0xC3, 9 + 0xA9, 9 + 0xFF};
    ck_assert_int_eq(attn_decode(&back, &len, t, ids, sizeof ids / sizeof *ids, &err), ATTN_OK);
    ck_assert_str_eq(back, "ab\ufffd\ufffda\u00e9\ufffd");
    free(back);
    attn_tokenizer_close(t);
}
END_TEST

/* Long texts take linear time and memory: whatever is quadratic would need an hour here. */
START_TEST(test_long)
{
    enum { N = 1 << 19 };
    static const char *const files[] = {"sentencepiece/y_bytes.model", "sentencepiece/y_unigram_bytes.model",
                                        "sentencepiece/y_unused.model", "llama2c/y_plain.bin"};
    static const char *const texts[] = {"a", "ab", " ", "x", "\u00e9", "a "};
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    int32_t *ids = NULL;
    size_t n, len = strlen(texts[_i % 6]), back_len;
    char *text = malloc(N), *back = NULL;
    for (size_t i = 0; i < N; i++)
        text[i] = texts[_i % 6][i % len];
    open_file(&t, files[_i / 6]);
    ck_assert_msg(attn_encode_ids(&ids, &n, t, text, N - N % len, &(struct attn_encode_opts){0}, &err) == ATTN_OK,
                  "%s", err.msg);
    ck_assert_int_eq(attn_decode(&back, &back_len, t, ids, n, &err), ATTN_OK);
    free(back);
    free(ids);
    free(text);
    attn_tokenizer_close(t);
}
END_TEST

/* ---- the tree of pieces ---- */

/* Few letters, NUL among them, so that many strings agree in their beginnings, or altogether; some are very long. */
enum { STRINGS = 3000, LONG = 70000 };

static size_t draw_string(char *s, unsigned *seed)
{
    size_t len = 1 + attn_hash_mix(++*seed, 0x9E3779B97F4A7C15u) % 24;
    len += *seed % 500 == 0 ? LONG : 0;
    for (size_t i = 0; i < len; i++)
        s[i] = "ab\0\xFF"[attn_hash_mix(i < len - 3 && *seed % 2 ? i + 1 : ++*seed, 0xD6E8FEB86659FD93u) >> 32 & 3];
    return len;
}

static int32_t longest(const struct attn_str_view *s, size_t n, const char *text, size_t len, size_t *found)
{
    int32_t best = -1;
    *found = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i].len <= len && s[i].len >= *found && memcmp(s[i].s, text, s[i].len) == 0) {
            best = (int32_t)i;
            *found = s[i].len;
        }
    return best;
}

START_TEST(test_trie)
{
    static const size_t sizes[] = {0, 1, 2, 30, 300, STRINGS};
    size_t n = sizes[_i];
    struct attn_str_view *s = calloc(STRINGS, sizeof *s);
    int32_t *value = calloc(STRINGS, sizeof *value);
    char *text = malloc(LONG + 64);
    unsigned seed = (unsigned)_i;
    struct attn_trie t;
    for (size_t i = 0; i < n; i++) {
        s[i].len = draw_string(text, &seed);
        s[i].s = memcpy(malloc(s[i].len), text, s[i].len);
        value[i] = (int32_t)i;
    }
    ck_assert(attn_trie_make(&t, s, value, n));
    for (size_t i = 0; i < 2000; i++) {
        size_t found = 0, right, len = draw_string(text, &seed);
        if (i < n && i % 2)
            memcpy(text, s[i].s, len = s[i].len - (i % 4 == 1 && s[i].len > 1));
        int32_t want = longest(s, n, text, len, &right);
        ck_assert_int_eq(attn_trie_longest(&t, text, len, &found), want);
        ck_assert_uint_eq(found, right);
    }
    attn_trie_free(&t);
    for (size_t i = 0; i < n; i++)
        free((char *)s[i].s);
    free(s);
    free(value);
    free(text);
}
END_TEST

Suite *suite_sentencepiece(void)
{
    Suite *s = suite_create("sentencepiece");
    TCase *t = tcase_create("sentencepiece");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, test_models);
    tcase_add_test(t, test_bins);
    tcase_add_loop_test(t, test_texts, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(t, test_broken_bytes);
    tcase_add_loop_test(t, test_long, 0, 24);
    tcase_add_loop_test(t, test_trie, 0, 6);
    suite_add_tcase(s, t);
    return s;
}
