/* Byte-level BPE: texts whose ids are known. */
#include "suites.h"
#include "draw.h"

#include "corpus.h"
#include "golden.h"
#include "shared.h"

#include "attn_tools.h"
#include "base/utf8.h"
#include "text/subword.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct attn_tokenizer *open_tokenizer(const char *dir)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    ck_assert_msg(attn_tokenizer_open(&t, dir, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_str_eq(attn_tokenizer_kind(t), "bpe");
    return t;
}

static void expect_same_ids(const struct attn_tokenizer *t, const char *text, size_t len, const int32_t *ids, size_t n)
{
    struct attn_err err = {0};
    int32_t *alone = NULL;
    size_t got;
    ck_assert_msg(attn_encode_ids(&alone, &got, t, text, len, &(struct attn_encode_opts){0}, &err) == ATTN_OK,
                  "%s", err.msg);
    ck_assert_uint_eq(got, n);
    ck_assert(n == 0 || memcmp(alone, ids, n * sizeof *ids) == 0);
    free(alone);
}

/* Expects these ids for the text; also that the tokens cover it and that decoding gives it back. */
static void expect_ids(const struct attn_tokenizer *t, const char *text, size_t len, const cJSON *ids)
{
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    char *back = NULL;
    size_t back_len, at = 0;
    ck_assert_msg(attn_encode(&tokens, t, text, len, &err) == ATTN_OK, "'%s': %s", text, err.msg);
    ck_assert_msg(tokens->n == (size_t)cJSON_GetArraySize(ids), "'%s' has %zu tokens", text, tokens->n);
    int32_t *list = malloc((tokens->n + 1) * sizeof *list);
    const cJSON *id = ids->child;
    for (size_t i = 0; i < tokens->n; i++, id = id->next) {
        const struct attn_token *k = &tokens->tok[i];
        list[i] = k->id;
        ck_assert_msg(k->id == id->valueint, "'%s': token %zu is %d", text, i, (int)k->id);
        ck_assert(k->start == at && k->end - k->start == k->text_len);
        ck_assert_mem_eq(k->text, text + k->start, k->text_len);
        at = k->end;
    }
    ck_assert_uint_eq(at, len);
    expect_same_ids(t, text, len, list, tokens->n);
    ck_assert_msg(attn_decode(&back, &back_len, t, list, tokens->n, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_uint_eq(back_len, len);
    ck_assert_mem_eq(back, text, len);
    free(list);
    free(back);
    attn_tokens_free(tokens);
}

static const char *const checkpoints[] = {
    "gpt2-a", "gpt2-a-prefixed", "gpt2-b", "gpt2-d", "llama-f", "neo-h", "neox-i", "qwen2-j"
};

START_TEST(test_checkpoint)
{
    char dir[128], path[160];
    snprintf(dir, sizeof dir, "tests/golden/checkpoints/%s", checkpoints[_i]);
    snprintf(path, sizeof path, "%s/expected/tokenizer.json", dir);
    struct attn_tokenizer *t = open_tokenizer(dir);
    cJSON *golden = golden_read(path);
    const cJSON *c, *cases = golden_get(golden, "cases");
    ck_assert_int_gt(cJSON_GetArraySize(cases), 3);
    cJSON_ArrayForEach(c, cases) {
        const char *text = golden_string(c, "text");
        expect_ids(t, text, strlen(text), golden_get(c, "ids"));
    }
    cJSON_Delete(golden);
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_public_vectors)
{
    const char *path = shared_path("bpe-vectors/public.jsonl");
    char *line = NULL;
    size_t room = 0, n = 0;
    ssize_t len;
    if (!path)
        return;
    FILE *f = fopen(path, "rb");
    struct attn_tokenizer *t = open_tokenizer(shared_path("gpt2-bpe"));
    while ((len = getline(&line, &room, f)) > 0) {
        cJSON *v = cJSON_ParseWithLength(line, (size_t)len);
        ck_assert_msg(v != NULL, "line %zu is not JSON", n + 1);
        const char *text = golden_string(v, "text");
        expect_ids(t, text, strlen(text), golden_get(v, "ids"));
        cJSON_Delete(v);
        n++;
    }
    ck_assert_uint_eq(n, 400);
    free(line);
    fclose(f);
    attn_tokenizer_close(t);
}
END_TEST

/* ---- merges ---------------------------------------------------------------------------- */

static const char small[] =
    "{\"a\": 0, \"b\": 1, \"c\": 2, \"ab\": 3, \"abc\": 4, \"\u0120\": 5, \"\u0120ab\": 6, \"#\": 7, \"#a\": 8}";

static int read_merges(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_subword *b = NULL;
    struct attn_text_file vocab = {small, sizeof small - 1, "vocab.json"}, merges = {bytes, len, name};
    int rc = attn_subword_read(&b, &(struct attn_merges_files){.vocab = vocab, .merges = merges}, err);
    ck_assert((b != NULL) == (rc == ATTN_OK));
    attn_subword_free(b);
    return rc;
}

START_TEST(test_merges_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_blank_crlf.txt", "line 2, '', is empty, expected two tokens"},
        {"n_blank_line.txt", "line 2, '', is empty"},
        {"n_cr_inside.txt", "line 1: 'a\\x0D' is not in the vocabulary"},
        {"n_header_not_utf8.txt", "it is not UTF-8 at byte 10: found 0xFF"},
        {"n_not_utf8.txt", "it is not UTF-8 at byte 7: found 0xFF"},
        {"n_nul.txt", "line 2: 'c' is not in the vocabulary"},
        {"n_one_part.txt", "line 3, 'ab', has no space"},
        {"n_second_header.txt", "line 2: '#version:' is not in the vocabulary"},
        {"n_space_first.txt", "line 1, ' a b', has more than one space or an empty token"},
        {"n_space_last.txt", "line 1, 'a b ', has more than one space"},
        {"n_tab.txt", "line 1, 'a\\x09b', has no space"},
        {"n_three_parts.txt", "line 3, 'ab c b', has more than one space"},
        {"n_two_faults.txt", "line 41: 'z' is not in the vocabulary"},
        {"n_two_faults_near.txt", "line 6: 'z' is not in the vocabulary"},
        {"n_two_spaces.txt", "line 1, 'a  b', has more than one space"},
        {"n_unknown_left.txt", "line 2: 'z' is not in the vocabulary"},
        {"n_unknown_result.txt", "line 2: what it makes, 'ba' is not in the vocabulary"},
        {"n_unknown_right.txt", "line 2: 'z' is not in the vocabulary"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/merges", faults, read_merges);
}
END_TEST

/* Expects these ids under these merges. */
static void expect_small(const char *merges, const char *text, const int32_t *ids, size_t n)
{
    struct attn_subword *b = NULL;
    struct attn_err err = {0};
    struct attn_encoding spans = {0};
    struct attn_text_file v = {small, sizeof small - 1, "vocab.json"}, m = {merges, strlen(merges), "merges.txt"};
    ck_assert_msg(attn_subword_read(&b, &(struct attn_merges_files){.vocab = v, .merges = m}, &err) == ATTN_OK,
                  "%s", err.msg);
    ck_assert_msg(attn_subword_encode(&spans, b, text, strlen(text), &(struct attn_encode_opts){0}, &err) == ATTN_OK,
                  "%s", err.msg);
    ck_assert_uint_eq(spans.n, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(spans.id[i], ids[i]);
    attn_encoding_free(&spans);
    attn_subword_free(b);
}

START_TEST(test_order_of_rules)
{
    expect_small("#version: 0.2\na b\nab c\n", "abcab", (int32_t[]){4, 3}, 2);
    expect_small("a b\r\nab c\r\n", "abcab", (int32_t[]){4, 3}, 2);
    /* the second rule makes a token that the first one needs */
    expect_small("ab c\na b", "abc", (int32_t[]){4}, 1);
    expect_small("", "ab", (int32_t[]){0, 1}, 2);
    expect_small("a b\n\u0120 ab", "ab ab", (int32_t[]){3, 6}, 2);
    expect_small("#version: 0.2\n# a\n", "#a#", (int32_t[]){7, 0, 7}, 3);       /* pre-tokenization makes two pieces */
}
END_TEST

/* Cases of tests/golden/malformed that concern a tokenizer, with words the message must have; NULL: it
 * must be accepted. */
static const struct { const char *dir, *words[2]; } malformed[] = {
    {"00-valid", {NULL}},
    {"11-vocab-duplicate-id", {"vocab.json", "the same id"}},
    {"12-vocab-string-id", {"vocab.json", "'b'"}},
    {"13-vocab-fractional-id", {"vocab.json", "'b'"}},
    {"14-vocab-empty", {"vocab.json", "empty"}},
    {"15-merges-bad-line", {"merges.txt", "line 3"}},
    {"16-merges-no-header", {NULL}},
};

START_TEST(test_malformed)
{
    char dir[128];
    struct attn_tokenizer *t = NULL;
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    const char *const *words = malformed[_i].words;
    snprintf(dir, sizeof dir, "tests/golden/malformed/%s", malformed[_i].dir);
    if (attn_tokenizer_open(&t, dir, &err)) {
        ck_assert_msg(words[0] && strstr(err.msg, words[0]) && strstr(err.msg, words[1]), "%s", err.msg);
        return;
    }
    ck_assert_msg(!words[0], "%s was accepted", dir);
    ck_assert_msg(!attn_encode(&tokens, t, "ab abc ad", 9, &err), "%s", err.msg);
    /* "a b" is a rule in both, with a version line or without */
    ck_assert_uint_eq(tokens->n, 3);
    ck_assert_str_eq(tokens->tok[0].raw, "ab");
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_byte_that_is_not_there)
{
    struct attn_tokenizer *t = open_tokenizer("tests/golden/checkpoints/gpt2-a");
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_encode(&tokens, t, "a the\xe2\x82\xac", 8, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "the vocabulary has no token for the byte 0xE2 at byte 5 of the text");
    ck_assert_int_eq(attn_encode(&tokens, t, "a \xff", 3, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "the text is not UTF-8 at byte 2: found 0xFF");
    ck_assert_int_eq(attn_encode(&tokens, t, "a\0b", 3, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "the vocabulary has no token for the byte 0x00 at byte 1 of the text");
    ck_assert_ptr_null(tokens);
    attn_tokenizer_close(t);
}
END_TEST

/* ---- against a plain loop -------------------------------------------------------------- */

/* A vocabulary of one-byte tokens and of pairs and triples of them, with merge rules in random order. */
static struct attn_subword *make_random(unsigned seed)
{
    static const char vocab[] = "{\"a\":0,\"b\":1,\"aa\":2,\"ab\":3,\"ba\":4,\"bb\":5,\"aaa\":6,\"aab\":7,\"aba\":8,"
        "\"abab\":9,\"bba\":10,\"bbb\":11,\"aaaa\":12}";
    static const char *const rules[] = {"a a", "a b", "b a", "b b", "aa a", "a ab", "ab a", "ab ab", "b ba", "bb b",
                                        "aa aa", "bb a"};
    char merges[128] = "";
    bool used[12] = {false};
    struct attn_subword *b = NULL;
    struct attn_err err = {0};
    for (int i = 0; i < 12; i++) {
        size_t k = draw_below(&seed, 12);
        while (used[k])
            k = (k + 1) % 12;
        used[k] = true;
        strcat(strcat(merges, rules[k]), "\n");
    }
    struct attn_text_file v = {vocab, sizeof vocab - 1, "vocab.json"}, m = {merges, strlen(merges), "merges.txt"};
    ck_assert_msg(attn_subword_read(&b, &(struct attn_merges_files){.vocab = v, .merges = m}, &err) == ATTN_OK,
                  "%s", err.msg);
    return b;
}

/* The definition: apply the first rule that fits any pair, leftmost pair first, until none fits. */
static size_t merge_plainly(int32_t *id, size_t n, const struct attn_merges *m)
{
    for (;;) {
        struct attn_merge best = {.rank = ATTN_MERGES_NONE};
        size_t at = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            struct attn_merge found = attn_merges_find(m, id[i], id[i + 1]);
            if (found.rank < best.rank) {
                best = found;
                at = i;
            }
        }
        if (best.rank == ATTN_MERGES_NONE)
            return n;
        id[at] = best.id;
        memmove(id + at + 1, id + at + 2, (n - at - 2) * sizeof *id);
        n--;
    }
}

START_TEST(test_heap_is_the_plain_loop)
{
    struct attn_subword *b = make_random((unsigned)_i + 1);
    struct attn_bpe bpe = {.rules = &b->rules};
    unsigned seed = (unsigned)_i;
    for (int round = 0; round < 200; round++) {
        char text[64];
        int32_t id[64];
        const struct attn_piece_token *part;
        size_t n = 1 + (size_t)round % 40, got;
        for (size_t i = 0; i < n; i++) {
            id[i] = (int32_t)draw_below(&seed, 2);
            text[i] = "ab"[id[i]];
        }
        ck_assert_int_eq(attn_bpe_encode(&bpe, text, n, n, &part, &got), ATTN_OK);
        ck_assert_uint_eq(got, merge_plainly(id, n, &b->rules.merges));
        for (size_t i = 0; i < got; i++)
            ck_assert_int_eq(part[i].id, id[i]);
    }
    attn_bpe_free(&bpe);
    attn_subword_free(b);
}
END_TEST

/* Only possible in less than quadratic time, which would be half an hour. */
START_TEST(test_million_letters)
{
    enum { N = 1000000 };
    struct attn_subword *b = make_random(7);
    struct attn_err err = {0};
    struct attn_encoding spans = {0};
    char *text = malloc(N);
    for (size_t i = 0; i < N; i++)
        text[i] = "ab"[i * i % 7 % 2];
    ck_assert_int_eq(attn_subword_encode(&spans, b, text, N, &(struct attn_encode_opts){0}, &err), ATTN_OK);
    ck_assert_uint_gt(spans.n, 0);
    ck_assert_uint_eq(spans.range[spans.n - 1].end, N);
    attn_encoding_free(&spans);
    free(text);
    attn_subword_free(b);
}
END_TEST

/* ---- round trips ----------------------------------------------------------------------- */

static uint32_t any_character(unsigned *seed)
{
    static const uint32_t tops[] = {0x80, 0x80, 0x800, 0x3100, 0x10000, 0x110000};
    uint32_t top = tops[draw_below(seed, 6)], c = (uint32_t)draw_below(seed, top);
    return c >= 0xD800 && c < 0xE000 ? ' ' : c;
}

START_TEST(test_any_text_comes_back)
{
    const char *dir = shared_path("gpt2-bpe");
    unsigned seed = 11;
    if (!dir)
        return;
    struct attn_tokenizer *t = open_tokenizer(dir);
    for (int round = 0; round < 300; round++) {
        char text[512], *back = NULL;
        int32_t ids[512];
        size_t len = 0, at = 0, back_len;
        struct attn_tokens *tokens = NULL;
        struct attn_err err = {0};
        for (int i = 0; i < round % 120; i++)
            len += attn_utf8_put(text + len, any_character(&seed));
        ck_assert_msg(attn_encode(&tokens, t, text, len, &err) == ATTN_OK, "%s", err.msg);
        for (size_t i = 0; i < tokens->n; i++) {
            ck_assert_uint_eq(tokens->tok[i].start, at);
            at = tokens->tok[i].end;
            ids[i] = tokens->tok[i].id;
        }
        expect_same_ids(t, text, len, ids, tokens->n);
        ck_assert_int_eq(attn_decode(&back, &back_len, t, ids, tokens->n, &err), ATTN_OK);
        ck_assert_uint_eq(back_len, len);
        ck_assert_mem_eq(back, text, len);
        free(back);
        attn_tokens_free(tokens);
    }
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(test_special_of_plain_files)
{
    struct attn_tokenizer *t = open_tokenizer("tests/golden/checkpoints/neo-h");
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    struct attn_encode_opts o = {.special = true, .bos = ATTN_BOS_YES};
    ck_assert_msg(attn_encode_with(&tokens, t, "the<|endoftext|>cat", 19, &o, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_int_eq(tokens->tok[0].id, 63);
    ck_assert(tokens->tok[0].start == 0 && tokens->tok[0].end == 0);
    ck_assert_int_eq(tokens->tok[2].id, 63);
    ck_assert(tokens->tok[2].start == 3 && tokens->tok[2].end == 16);
    ck_assert_str_eq(tokens->tok[2].text, "<|endoftext|>");
    ck_assert_str_eq(tokens->tok[1].raw, "the");
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
}
END_TEST

static void *ask_for_all(void *tokenizer)
{
    size_t len, bytes = 0, n = attn_tokenizer_size(tokenizer);
    for (size_t i = 0; i < n; i++)
        if (attn_tokenizer_text(tokenizer, (int32_t)i, &len))
            bytes += len;
    return (void *)(uintptr_t)bytes;
}

/* The table of token texts must be the same whichever of two threads makes it, and agree with decoding tokens one
 * at a time. */
START_TEST(test_readings)
{
    struct attn_tokenizer *t = open_tokenizer("tests/golden/checkpoints/neo-h");
    struct attn_err err = {0};
    pthread_t other;
    void *bytes;
    ck_assert_int_eq(pthread_create(&other, NULL, ask_for_all, t), 0);
    void *mine = ask_for_all(t);
    ck_assert_int_eq(pthread_join(other, &bytes), 0);
    ck_assert(mine == bytes);
    for (int32_t id = 0; id < (int32_t)attn_tokenizer_size(t); id++) {
        char *alone = NULL;
        size_t len, alone_len;
        const char *text = attn_tokenizer_text(t, id, &len);
        ck_assert_msg(attn_decode(&alone, &alone_len, t, &id, 1, &err) == ATTN_OK, "%s", err.msg);
        ck_assert_uint_eq(len, alone_len);
        ck_assert_mem_eq(text, alone, len + 1);
        free(alone);
    }
    size_t len;
    ck_assert_str_eq(attn_tokenizer_text(t, 63, &len), "<|endoftext|>");
    ck_assert_ptr_null(attn_tokenizer_text(t, (int32_t)attn_tokenizer_size(t), &len));
    attn_tokenizer_close(t);
}
END_TEST

/* Piece i, which has 1 to 3 tokens. */
static size_t nth_piece(char text[ATTN_PIECE_MAX], struct attn_piece_token part[ATTN_PIECE_PARTS], size_t i)
{
    size_t len = 6 + i % 11, n = 1 + i % ATTN_PIECE_PARTS, left = len;
    memset(text, 'x', ATTN_PIECE_MAX);
    for (size_t k = 0, rest = i; k < 5; k++, rest /= 26)
        text[len - 1 - k] = (char)('a' + rest % 26);
    for (size_t k = 0; k < n; k++) {
        uint32_t bytes = (uint32_t)(k + 1 < n ? 1 + k : left);
        part[k] = (struct attn_piece_token){(int32_t)(i + k), bytes};
        left -= bytes;
    }
    return len;
}

/* Whether piece i is known; if so, it is what was kept.  Else it is kept. */
static bool ask_for_piece(struct attn_pieces *p, size_t i)
{
    char text[ATTN_PIECE_MAX];
    struct attn_piece_token part[ATTN_PIECE_PARTS], got[ATTN_PIECE_PARTS];
    size_t len = nth_piece(text, part, i), n = 1 + i % ATTN_PIECE_PARTS;
    bool known;
    struct attn_piece_entry *set = attn_pieces_find(p, text, len, i % 2 ? len : sizeof text, &known);
    ck_assert_ptr_nonnull(set);
    if (!known) {
        attn_pieces_keep(p, set, text, len, part, n);
        return false;
    }
    ck_assert_uint_eq(attn_pieces_recall(set, got), n);
    for (size_t k = 0; k < n; k++)
        ck_assert(got[k].id == part[k].id && got[k].len == part[k].len);
    return true;
}

/* The cache becomes larger with the text, up to 2 MB; what it knows is right at any size, and what comes again
 * soon is known. */
START_TEST(pieces_are_remembered)
{
    struct attn_pieces p = {0};
    size_t grown = 0, known = 0, all = 100000, before = 10000;
    for (size_t i = 0; i < all; i++) {
        size_t sets = p.sets;
        ask_for_piece(&p, i);
        ck_assert(ask_for_piece(&p, i) || p.sets > sets);           /* it was emptied in between */
        grown += p.sets > sets;
        known += i >= before && ask_for_piece(&p, i - before);
    }
    ck_assert_uint_eq(grown, 4);
    ck_assert_uint_eq(p.sets * sizeof *p.set, 2 << 20);
    /* others gave way to two of their set, new or known */
    ck_assert_uint_gt(known, (all - before) * 3 / 4);
    attn_pieces_free(&p);
}
END_TEST

Suite *suite_bpe(void)
{
    Suite *s = suite_create("bpe");
    TCase *t = tcase_create("bpe");
    tcase_add_loop_test(t, test_checkpoint, 0, (int)(sizeof checkpoints / sizeof *checkpoints));
    tcase_add_test(t, test_public_vectors);
    tcase_add_test(t, test_merges_corpus);
    tcase_add_test(t, test_order_of_rules);
    tcase_add_loop_test(t, test_malformed, 0, (int)(sizeof malformed / sizeof *malformed));
    tcase_add_test(t, test_byte_that_is_not_there);
    tcase_add_loop_test(t, test_heap_is_the_plain_loop, 0, 20);
    tcase_add_test(t, test_million_letters);
    tcase_add_test(t, pieces_are_remembered);
    tcase_add_test(t, test_any_text_comes_back);
    tcase_add_test(t, test_special_of_plain_files);
    tcase_add_test(t, test_readings);
    suite_add_tcase(s, t);
    return s;
}
