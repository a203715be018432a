#include "suites.h"
#include "attn_tools.h"
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "text/tokens.h"

static const char life[] = "{\"Life\": 0, \"dessert\": 1, \"eat\": 2, \"first\": 3, \"is\": 4, \"short\": 5}";
static const char sentence[] = "Life is short, eat dessert first";

static struct attn_tokenizer *make(const char *vocab, const struct attn_word_rule *rule)
{
    struct attn_vocab *v = NULL;
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    ck_assert_msg(attn_vocab_read(&v, vocab, strlen(vocab), "vocab.json", &err) == ATTN_OK, "%s", err.msg);
    ck_assert_msg(attn_tokenizer_word(&t, v, rule, "vocab.json", &err) == ATTN_OK, "%s", err.msg);
    return t;
}

static struct attn_tokenizer *make_life(void)
{
    return make(life, &(struct attn_word_rule){.drop = ","});
}

static struct attn_tokens *encode(const struct attn_tokenizer *t, const char *text, size_t len)
{
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    ck_assert_msg(attn_encode(&tokens, t, text, len, &err) == ATTN_OK, "%s", err.msg);
    return tokens;
}

/* Returns the message of an encoding that must fail. */
static const char *refusal(const struct attn_tokenizer *t, const char *text, size_t len)
{
    static struct attn_err err;
    struct attn_tokens *tokens = NULL;
    ck_assert_int_eq(attn_encode(&tokens, t, text, len, &err), ATTN_EFORMAT);
    ck_assert_ptr_null(tokens);
    return err.msg;
}

START_TEST(test_life)
{
    static const int32_t ids[] = {0, 4, 5, 2, 1, 3};
    static const size_t starts[] = {0, 5, 8, 15, 19, 27}, ends[] = {4, 7, 13, 18, 26, 32};
    struct attn_tokenizer *t = make_life();
    struct attn_tokens *tokens = encode(t, sentence, strlen(sentence));
    ck_assert_str_eq(attn_tokenizer_kind(t), "word");
    ck_assert_uint_eq(attn_tokenizer_size(t), 6);
    attn_tokenizer_close(t);                                        /* the tokens own everything they point to */
    ck_assert_uint_eq(tokens->n, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct attn_token *k = &tokens->tok[i];
        ck_assert_int_eq(k->id, ids[i]);
        ck_assert(k->known);
        ck_assert_uint_eq(k->start, starts[i]);
        ck_assert_uint_eq(k->end, ends[i]);
        ck_assert_uint_eq(k->text_len, k->end - k->start);
        ck_assert_mem_eq(k->text, sentence + k->start, k->text_len);
        ck_assert_str_eq(k->raw, k->text);
        ck_assert_uint_eq(k->raw_len, k->text_len);
    }
    attn_tokens_free(tokens);
}
END_TEST

START_TEST(test_no_words)
{
    static const char *const texts[] = {"", " \t\n", ",", " , ,, ", "\u3000\u00a0"};
    struct attn_tokenizer *t = make_life();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct attn_tokens *tokens = encode(t, texts[i], strlen(texts[i]));
        ck_assert_uint_eq(tokens->n, 0);
        attn_tokens_free(tokens);
    }
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_splitting)
{
    static const struct { const char *text; size_t start, end; } rows[] = {     /* one token "eat" each */
        {"eat", 0, 3}, {",eat,", 1, 4}, {" e,a,,t ", 1, 7}, {"\u3000eat\u3000", 3, 6}, {"\u00a0eat\u2029", 2, 5},
        {"\n\teat\r\n", 2, 5}, {", eat", 2, 5}, {"eat ,", 0, 3}, {"\u20aceat", 3, 6}, {"e\u20acat\u20ac", 0, 6},
    };
    struct attn_tokenizer *t = make(life, &(struct attn_word_rule){.drop = ",\u20ac"});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attn_tokens *tokens = encode(t, rows[i].text, strlen(rows[i].text));
        ck_assert_uint_eq(tokens->n, 1);
        ck_assert_int_eq(tokens->tok[0].id, 2);
        ck_assert_uint_eq(tokens->tok[0].start, rows[i].start);
        ck_assert_uint_eq(tokens->tok[0].end, rows[i].end);
        attn_tokens_free(tokens);
    }
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_not_white_space)
{
    struct attn_tokenizer *t = make_life();                         /* neither has Unicode's White_Space property */
    ck_assert_ptr_nonnull(strstr(refusal(t, "eat\x1c" "is", 6), "unknown word"));
    ck_assert_ptr_nonnull(strstr(refusal(t, "eat\u180eis", 8), "unknown word"));
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_lowercase)
{
    struct attn_tokenizer *t = make("{\"\u00e9a\": 0, \"\u2c65\": 1, \"i\u0307\": 2, \"i\": 3}",
                                    &(struct attn_word_rule){.lowercase = true});
    static const char text[] = "\u00c9A \u023a \u0130";             /* in lower case one grows by a byte, one shrinks */
    struct attn_tokens *tokens = encode(t, text, sizeof text - 1);
    ck_assert_uint_eq(tokens->n, 3);
    ck_assert_int_eq(tokens->tok[0].id, 0);
    ck_assert_int_eq(tokens->tok[1].id, 1);
    ck_assert_int_eq(tokens->tok[2].id, 3);
    ck_assert_uint_eq(tokens->tok[1].end - tokens->tok[1].start, 2);
    ck_assert_uint_eq(tokens->tok[1].text_len, 3);
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_unknown_word)
{
    struct attn_tokenizer *t = make_life();
    ck_assert_str_eq(refusal(t, "Life is shrt", 12),
                     "unknown word 'shrt' at byte 8 of the text; did you mean 'short'? "
                     "(vocab.json has 6 words: 'Life' 'dessert' 'eat' 'first' 'is' 'short')");
    ck_assert_ptr_nonnull(strstr(refusal(t, "it", 2), "did you mean 'is'?"));
    ck_assert_ptr_nonnull(strstr(refusal(t, "\u00e9 zebra", 8), "unknown word '\u00e9' at byte 0 of the text (vocab"));
    attn_tokenizer_close(t);
    t = make("{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"e\":4,\"f\":5,\"g\":6,\"h\":7,\"i\":8,\"j\":9,\"it\":10}",
             &(struct attn_word_rule){0});
    ck_assert_str_eq(refusal(t, "is", 2), "unknown word 'is' at byte 0 of the text; did you mean 'i' or 'it'? "
                     "(vocab.json has 11 words, the first: 'a' 'b' 'c' 'd' 'e' 'f' 'g' 'h' 'i' 'j')");
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_long_unknown_word)
{
    enum { N = 1 << 20 };
    char *text = malloc(N);
    memset(text, 'x', N);
    struct attn_tokenizer *t = make_life();
    ck_assert_ptr_nonnull(strstr(refusal(t, text, N), "xxx' at byte 0 of the text (vocab.json has 6 words"));
    attn_tokenizer_close(t);
    free(text);
}
END_TEST

START_TEST(test_unknown_token)
{
    struct attn_word_rule rule = {.unknown = "is"};
    struct attn_tokenizer *t = make(life, &rule);
    struct attn_tokens *tokens = encode(t, "eat zebras", 10);
    ck_assert_int_eq(tokens->tok[1].id, 4);
    ck_assert_str_eq(tokens->tok[1].text, "is");
    ck_assert_uint_eq(tokens->tok[1].start, 4);
    ck_assert_uint_eq(tokens->tok[1].end, 10);
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);

    struct attn_vocab *v = NULL;
    struct attn_err err = {0};
    rule.unknown = "<unk>";
    t = NULL;
    ck_assert_int_eq(attn_vocab_read(&v, life, strlen(life), "vocab.json", &err), ATTN_OK);
    ck_assert_int_eq(attn_tokenizer_word(&t, v, &rule, "vocab.json", &err), ATTN_EFORMAT);
    ck_assert_ptr_null(t);
    ck_assert_ptr_nonnull(strstr(err.msg, "vocab.json: the token '<unk>' for unknown words"));
}
END_TEST

START_TEST(test_bad_text)
{
    struct attn_tokenizer *t = make_life();
    ck_assert_str_eq(refusal(t, "eat \xff", 5), "the text is not UTF-8 at byte 4: found 0xFF");
    ck_assert_str_eq(refusal(t, "eat\0eat", 7), "the text has a NUL at byte 3, expected none");
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_decode)
{
    static const int32_t ids[] = {0, 4, 5}, gone[] = {0, 6}, negative[] = {-1};
    struct attn_tokenizer *t = make_life();
    struct attn_err err;
    char *text = NULL;
    size_t len = 7;
    ck_assert_int_eq(attn_decode(&text, &len, t, ids, 3, &err), ATTN_OK);
    ck_assert_str_eq(text, "Life is short");
    ck_assert_uint_eq(len, 13);
    free(text);
    ck_assert_int_eq(attn_decode(&text, &len, t, ids, 0, &err), ATTN_OK);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(len, 0);
    free(text);
    ck_assert_int_eq(attn_decode(&text, &len, t, gone, 2, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "id 6 at position 1 has no token: vocab.json has 6, with ids from 0 to 5");
    ck_assert_int_eq(attn_decode(&text, &len, t, negative, 1, &err), ATTN_EFORMAT);
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_from_ids)
{
    static const int32_t ids[] = {5, 1, 2147483647}, bad[] = {5, -2};
    struct attn_tokens *tokens = NULL;
    struct attn_err err;
    ck_assert_int_eq(attn_tokens_from_ids(&tokens, ids, 3, &err), ATTN_OK);
    ck_assert_uint_eq(tokens->n, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(tokens->tok[i].id, ids[i]);
        ck_assert(!tokens->tok[i].known && tokens->tok[i].text_len == 0 && tokens->tok[i].end == 0);
        ck_assert_str_eq(tokens->tok[i].text, "");
    }
    attn_tokens_free(tokens);
    ck_assert_int_eq(attn_tokens_from_ids(&tokens, bad, 2, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "id -2 at position 1, expected a whole number from 0");
}
END_TEST

/* ---- building a vocabulary ------------------------------------------------------------- */

static char *build(const char *text, size_t text_len, const struct attn_vocab_opts *o, size_t *words)
{
    char *json = NULL;
    size_t len;
    struct attn_err err = {0};
    ck_assert_msg(attn_vocab_build(&json, &len, words, text, text_len, o, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_uint_eq(strlen(json), len);
    return json;
}

START_TEST(test_build)
{
    struct attn_vocab_opts o = {.drop = ","};
    size_t words;
    char *json = build(sentence, strlen(sentence), &o, &words);
    ck_assert_uint_eq(words, 6);
    ck_assert_str_eq(json, "{\n  \"Life\": 0,\n  \"dessert\": 1,\n  \"eat\": 2,\n  \"first\": 3,\n  \"is\": 4,\n"
                           "  \"short\": 5\n}\n");
    free(json);
    static const char odd[] = "b\" \\ \u00e9 Z\x01 \U0001F600 \uffff b\" z/";
    o = (struct attn_vocab_opts){.lowercase = true, .unknown = "<\t>"};
    json = build(odd, sizeof odd - 1, &o, &words);
    ck_assert_uint_eq(words, 8);
    ck_assert_str_eq(json, "{\n  \"\\\\\": 0,\n  \"b\\\"\": 1,\n  \"z\\u0001\": 2,\n  \"z/\": 3,\n  \"\u00e9\": 4,\n"
                           "  \"\uffff\": 5,\n  \"\U0001F600\": 6,\n  \"<\\t>\": 7\n}\n");
    free(json);
}
END_TEST

START_TEST(test_build_refuses)
{
    static const struct { const char *text; struct attn_vocab_opts o; int code; const char *message; } rows[] = {
        {"", {0}, ATTN_EFORMAT, "the text has no words"},
        {" , ", {.drop = ","}, ATTN_EFORMAT, "the text has no words"},
        {"a b", {.unknown = "b"}, ATTN_EUSAGE, "the token 'b' for unknown words is a word of the text"},
        {"a b", {.unknown = ""}, ATTN_EUSAGE, "the token for unknown words is empty"},
        {"a b", {.unknown = "\xff"}, ATTN_EUSAGE, "the token for unknown words is not UTF-8"},
        {"a b", {.drop = "a\xc3"}, ATTN_EUSAGE, "the characters to drop are not UTF-8 at byte 1: found 0xC3"},
        {"a \xc3", {0}, ATTN_EFORMAT, "the text is not UTF-8 at byte 2: found 0xC3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attn_err err;
        char *json = NULL;
        size_t len, words;
        int rc = attn_vocab_build(&json, &len, &words, rows[i].text, strlen(rows[i].text), &rows[i].o, &err);
        ck_assert_int_eq(rc, rows[i].code);
        ck_assert_msg(strstr(err.msg, rows[i].message) != NULL, "%s", err.msg);
        ck_assert_ptr_null(json);
    }
}
END_TEST

/* ---- properties ------------------------------------------------------------------------ */

/* Random text of letters of every UTF-8 length, white space, and characters to drop. */
static size_t random_text(char *out, size_t pieces, uint32_t *state)
{
    static const char *const alphabet[] = {"a", "B", "\u00c9", "\u20ac", "\U0001F600", "\"", "\\", " ", " ", "\n",
                                           "\u3000", ",", "\u00bf"};
    size_t len = 0;
    for (size_t i = 0; i < pieces; i++) {
        const char *s = alphabet[draw_below(state, sizeof alphabet / sizeof *alphabet)];
        memcpy(out + len, s, strlen(s));
        len += strlen(s);
    }
    return len;
}

/* Expects decode(encode(text)) to be the words joined by one space, without dropped characters. */
static void expect_decoded(const struct attn_tokenizer *t, const struct attn_tokens *tokens)
{
    int32_t ids[256];
    char *text = NULL, joined[4096] = "";
    size_t len;
    struct attn_err err;
    for (size_t i = 0; i < tokens->n; i++) {
        ids[i] = tokens->tok[i].id;
        strcat(strcat(joined, i == 0 ? "" : " "), tokens->tok[i].text);
    }
    ck_assert_int_eq(attn_decode(&text, &len, t, ids, tokens->n, &err), ATTN_OK);
    ck_assert_str_eq(text, joined);
    struct attn_tokens *again = encode(t, text, len);
    ck_assert_uint_eq(again->n, tokens->n);
    for (size_t i = 0; i < again->n; i++)
        ck_assert_int_eq(again->tok[i].id, ids[i]);
    attn_tokens_free(again);
    free(text);
}

/* A token's slice of the source is the token, possibly with dropped characters inside.  Slices ascend; between them
 * there is only white space and dropped characters. */
static void expect_slices(const struct attn_tokens *tokens, const char *text, size_t len)
{
    size_t last = 0;
    for (size_t i = 0; i <= tokens->n; i++) {
        size_t start = i < tokens->n ? tokens->tok[i].start : len, n = 0;
        char kept[256];
        for (size_t at = last; at < start; at++)
            ck_assert_ptr_nonnull(memchr(" \n,\u3000\u00bf", text[at], 8));
        if (i == tokens->n)
            break;
        last = tokens->tok[i].end;
        for (size_t at = start; at < last; at++) {
            if (text[at] == ',')
                continue;
            if (last - at >= 2 && memcmp(text + at, "\u00bf", 2) == 0)
                at++;
            else
                kept[n++] = text[at];
        }
        ck_assert_uint_eq(n, tokens->tok[i].text_len);
        ck_assert_mem_eq(kept, tokens->tok[i].text, n);
    }
}

START_TEST(test_properties)
{
    struct attn_vocab_opts o = {.drop = "\u00bf,"};
    struct attn_word_rule rule = {.drop = "\u00bf,"};
    uint32_t state = 1;
    for (int round = 0; round < 300; round++) {
        char text[512] = "x ";
        size_t words, len = 2 + random_text(text + 2, draw_below(&state, 100), &state);
        char *json = build(text, len, &o, &words);
        struct attn_tokenizer *t = make(json, &rule);
        struct attn_tokens *tokens = encode(t, text, len);
        ck_assert_uint_eq(attn_tokenizer_size(t), words);
        ck_assert_uint_ge(tokens->n, words);
        expect_slices(tokens, text, len);
        expect_decoded(t, tokens);
        attn_tokens_free(tokens);
        attn_tokenizer_close(t);
        free(json);
    }
}
END_TEST

/* ---- the set beneath ------------------------------------------------------------------- */

START_TEST(test_strings)
{
    struct attn_strings set = {0};
    char word[16];
    size_t len;
    ck_assert_uint_eq(attn_strings_find(&set, "a", 1), ATTN_STRINGS_NONE);
    for (int round = 0; round < 2; round++) {                       /* the second time in memory already used */
        for (size_t i = 0; i < 1000; i++)
            ck_assert_uint_eq(attn_strings_add(&set, word, (size_t)sprintf(word, "%zu", i)), i);
        for (size_t i = 0; i < 1000; i++) {
            size_t n = (size_t)sprintf(word, "%zu", i);
            ck_assert_uint_eq(attn_strings_add(&set, word, n), i);
            ck_assert_str_eq(attn_strings_at(&set, i, &len), word);
            ck_assert_uint_eq(len, n);
        }
        ck_assert_uint_eq(attn_strings_find(&set, "1000", 4), ATTN_STRINGS_NONE);
        ck_assert_uint_eq(attn_strings_find(&set, "1", 0), ATTN_STRINGS_NONE);
        attn_strings_clear(&set);
        ck_assert_uint_eq(attn_strings_find(&set, "1", 1), ATTN_STRINGS_NONE);
    }
    attn_strings_free(&set);
}
END_TEST

/* Strings appended and then indexed make the same set as strings added one by one; searches find them
 * singly and together. */
START_TEST(test_strings_at_once)
{
    enum { N = 3000 };
    struct attn_strings set = {0};
    char word[N + ATTN_STRINGS_FINDS][24];
    size_t twice, number[ATTN_STRINGS_FINDS];
    /* of 1 to 22 bytes; the last few are not in the set */
    for (size_t i = 0; i < N + ATTN_STRINGS_FINDS; i++)
        sprintf(word[i], "%.*s%zu", (int)(i % 19), "aaaaaaaaaaaaaaaaaaa", i);
    word[7][0] = '\0';
    for (size_t i = 0; i < N; i++)
        ck_assert(attn_strings_append(&set, word[i], strlen(word[i])));
    ck_assert(attn_strings_index(&set, &twice));
    ck_assert_uint_eq(twice, ATTN_STRINGS_NONE);
    for (size_t i = 0; i < N; i += 50) {
        struct attn_str_view s[ATTN_STRINGS_FINDS];
        for (size_t k = 0; k < ATTN_STRINGS_FINDS; k++)
            s[k] = (struct attn_str_view){word[i + k], strlen(word[i + k])};
        attn_strings_find_each(&set, s, ATTN_STRINGS_FINDS, number);
        for (size_t k = 0; k < ATTN_STRINGS_FINDS; k++) {
            ck_assert_uint_eq(number[k], i + k < N ? i + k : ATTN_STRINGS_NONE);
            ck_assert_uint_eq(attn_strings_find(&set, s[k].s, s[k].len), number[k]);
        }
    }
    ck_assert_uint_eq(attn_strings_add(&set, word[N], strlen(word[N])), N);
    ck_assert_uint_eq(attn_strings_add(&set, word[5], strlen(word[5])), 5);
    ck_assert(attn_strings_append(&set, word[9], strlen(word[9])) &&
              attn_strings_append(&set, word[3], strlen(word[3])));
    ck_assert(attn_strings_index(&set, &twice));
    ck_assert_uint_eq(twice, N + 1);
    attn_strings_free(&set);
}
END_TEST

START_TEST(test_shown)
{
    char text[100];
    ck_assert_int_eq(attn_shown("abc", 3), 3);
    for (size_t i = 0; i + 2 < sizeof text; i += 3)
        memcpy(text + i, "\u20ac", 3);
    ck_assert_int_eq(attn_shown(text, 99), 72);
    ck_assert_int_eq(attn_shown(text + 1, 98), 71);                 /* not in the middle of a character */
    ck_assert_int_eq(attn_shown_of(text + 1, 40, 40), 40);          /* all of it */
    ck_assert_int_eq(attn_shown_of(text + 1, 98, 40), 38);
}
END_TEST

Suite *suite_tokens(void)
{
    Suite *s = suite_create("tokens");
    TCase *t = tcase_create("tokens");
    tcase_add_test(t, test_life);
    tcase_add_test(t, test_no_words);
    tcase_add_test(t, test_splitting);
    tcase_add_test(t, test_not_white_space);
    tcase_add_test(t, test_lowercase);
    tcase_add_test(t, test_unknown_word);
    tcase_add_test(t, test_long_unknown_word);
    tcase_add_test(t, test_unknown_token);
    tcase_add_test(t, test_bad_text);
    tcase_add_test(t, test_decode);
    tcase_add_test(t, test_from_ids);
    tcase_add_test(t, test_build);
    tcase_add_test(t, test_build_refuses);
    tcase_add_test(t, test_properties);
    tcase_add_test(t, test_strings);
    tcase_add_test(t, test_strings_at_once);
    tcase_add_test(t, test_shown);
    suite_add_tcase(s, t);
    return s;
}
