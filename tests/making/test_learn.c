/* Learning byte-level BPE: splitting into documents, the rules compared with plain counting, the files, the command. */
#include "suites.h"
#include "attn_tools.h"
#include "draw.h"

#include "text/bytes.h"
#include "text/documents.h"
#include "text/pretoken.h"
#include "making/learn.h"
#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "<|endoftext|>"

/* ---- documents ------------------------------------------------------------------------------ */

static const struct { const char *text, *documents; } parted[] = {  /* documents: each in brackets */
    {"", ""}, {"a", "[a]"}, {"a\n", "[a\n]"}, {MARK, ""}, {MARK "\n" MARK, ""},
    {"a\n" MARK "\nb\n", "[a][b\n]"}, {"a\n\n" MARK "\n\nb", "[a\n][\nb]"}, {MARK "\na", "[a]"}, {"a\n" MARK, "[a]"},
    {"a" MARK "b", "[a][b]"}, {"a\n" MARK "b", "[a\n][b]"}, {"a" MARK "\nb", "[a][\nb]"}, {"a " MARK " b", "[a ][ b]"},
    {"a\r\n" MARK "\r\nb", "[a][b]"}, {"\n" MARK "\n", ""}, {"\r" MARK "\n\nb", "[\r][\n\nb]"},
    {"<|endoftext|", "[<|endoftext|]"},
    {"a\n" MARK "\n" MARK "\nb", "[a][b]"},
};

START_TEST(text_is_parted_at_marks)
{
    char found[64] = "";
    const char *text;
    size_t len, n = 0;
    struct attn_documents d = attn_documents_of(parted[_i].text, strlen(parted[_i].text));
    while (attn_documents_next(&d, &text, &len))
        n += (size_t)snprintf(found + n, sizeof found - n, "[%.*s]", (int)len, text);
    ck_assert_str_eq(found, parted[_i].documents);
    ck_assert(!attn_documents_next(&d, &text, &len));
}
END_TEST

/* ---- the rules ------------------------------------------------------------------------------ */

enum { MOST = 600 };                    /* bytes of text whose pairs are all counted again for each rule */

/* Token ids in sequence; -1 separates pieces. */
struct plain { int32_t id[2 * MOST]; size_t n; };

static void plain_pieces(struct plain *p, const struct attn_learned *l, const char *text, size_t len)
{
    p->n = 0;
    for (size_t at = 0, n; at < len; at += n) {
        n = attn_pretoken_next(ATTN_PRETOKEN_GPT2, text + at, len - at);
        for (size_t i = at; i < at + n; i++)
            p->id[p->n++] = (int32_t)attn_strings_find(&l->token, text + i, 1);
        p->id[p->n++] = -1;
    }
}

static size_t plain_count(const struct plain *p, int32_t left, int32_t right)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < p->n; i++)
        count += p->id[i] == left && p->id[i + 1] == right;
    return count;
}

/* Finds the most frequent pair, of equals the one with the lowest ids; false if none occurs twice. */
static bool plain_best(const struct plain *p, struct attn_rule *best)
{
    size_t most = 1;
    for (size_t i = 0; i + 1 < p->n; i++) {
        int32_t a = p->id[i], b = p->id[i + 1];
        if (a < 0 || b < 0)
            continue;
        size_t count = plain_count(p, a, b);
        bool lower = a != best->left ? a < best->left : b < best->right;
        if (count > most || (count == most && most > 1 && lower)) {
            most = count;
            best->left = a;
            best->right = b;
        }
    }
    return most > 1;
}

static void plain_join(struct plain *p, const struct attn_rule *r)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool both = i + 1 < p->n && p->id[i] == r->left && p->id[i + 1] == r->right;
        p->id[n++] = both ? r->id : p->id[i];
        i += both;
    }
    p->n = n;
}

static void learn_text(struct attn_learned *l, const char *text, size_t len, size_t tokens)
{
    struct attn_tally tally = {0};
    struct attn_err err = {0};
    ck_assert_int_eq(attn_tally_add(&tally, text, len, &err), ATTN_OK);
    ck_assert_msg(attn_learn(l, &tally, tokens, &err) == ATTN_OK, "%s", err.msg);
    attn_tally_free(&tally);
}

static void expect_plain_rules(const char *text, size_t len, size_t tokens)
{
    struct attn_learned l;
    struct plain p;
    learn_text(&l, text, len, tokens);
    plain_pieces(&p, &l, text, len);
    size_t n = 0;
    for (struct attn_rule best; n < l.n; n++) {
        ck_assert(plain_best(&p, &best));
        ck_assert_msg(best.left == l.rule[n].left && best.right == l.rule[n].right,
                      "rule %zu of '%.40s': %d %d, not %d %d", n, text,
                      l.rule[n].left, l.rule[n].right, best.left, best.right);
        plain_join(&p, &l.rule[n]);
    }
    ck_assert(l.token.n == tokens || !plain_best(&p, &(struct attn_rule){0}));
    attn_learned_free(&l);
}

static const char *const texts[] = {
    "", "a", "aa", "aaa aaa", "aaaaaaaaaaa", "aaaa aaaaa aaaaaa b aaaaaaa", "abab abab ababab",
    "the cat sat on the mat, the cat sat",
    "low low low low lower lower newest newest newest newest newest newest widest widest widest",
    "\u20ac\u20ac \u20ac \u00e9t\u00e9 \u00e9t\u00e9s", "  \n\n  \n  x \n\n", "abcabc abc bc bc bc ab ab ab aabc aabc",
};

START_TEST(rules_are_those_of_plain_counting)
{
    expect_plain_rules(texts[_i], strlen(texts[_i]), 400);
    expect_plain_rules(texts[_i], strlen(texts[_i]), 258);
}
END_TEST

START_TEST(rules_of_random_texts)
{
    char text[MOST];
    uint32_t state = (uint32_t)_i * 2654435761u + 1;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "ab ab,c1"[draw_below(&state, 2 + (size_t)_i % 7)];
    expect_plain_rules(text, sizeof text, 400);
}
END_TEST

START_TEST(no_token_is_longer_than_allowed)
{
    struct attn_learned l;
    char *text = malloc(1 << 16);
    memset(text, 'a', 1 << 16);
    learn_text(&l, text, 1 << 16, 400);
    size_t len, longest = 0;
    for (size_t i = 0; i < l.token.n; i++) {
        attn_strings_at(&l.token, i, &len);
        longest = len > longest ? len : longest;
    }
    ck_assert_uint_eq(longest, ATTN_LEARN_LONGEST);
    attn_learned_free(&l);
    free(text);
}
END_TEST

/* ---- the files ------------------------------------------------------------------------------ */

static struct attn_tokenizer *learned(const char *text, size_t len, size_t size)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    size_t tokens;
    ck_assert_msg(!attn_bpe_learn(scratch_dir, &tokens, text, len, size, &err), "%s", err.msg);
    ck_assert_msg(!attn_tokenizer_open(&t, scratch_dir, &err), "%s", err.msg);
    ck_assert_uint_eq(tokens, attn_tokenizer_size(t));
    ck_assert_uint_le(tokens, size);
    return t;
}

static void expect_round_trip(const struct attn_tokenizer *t, const char *text, size_t len, size_t most)
{
    int32_t *ids;
    char *back;
    size_t n, back_len;
    struct attn_err err = {0};
    ck_assert_msg(!attn_encode_ids(&ids, &n, t, text, len, &(struct attn_encode_opts){0}, &err), "%s", err.msg);
    ck_assert_uint_le(n, most);
    ck_assert_msg(!attn_decode(&back, &back_len, t, ids, n, &err), "%s", err.msg);
    ck_assert_uint_eq(back_len, len);
    ck_assert_mem_eq(back, text, len);
    free(ids);
    free(back);
}

START_TEST(decoding_gives_the_text_back)
{
    static const char strange[] = "\0\x01 \u20ac\u3042\U0001F600 <|endoftext|> <|im|>\r\n\t\x7f";
    size_t len;
    char *readme = golden_text("cmd/README.md", &len);
    struct attn_tokenizer *t = learned(readme, len, 1000);
    ck_assert_uint_eq(attn_tokenizer_size(t), 1000);
    expect_round_trip(t, readme, len, len / 2);
    expect_round_trip(t, strange, sizeof strange, sizeof strange);
    free(readme);
    attn_tokenizer_close(t);
}
END_TEST

START_TEST(the_mark_is_the_last_token)
{
    static const char text[] = "a b\n" MARK "\na b a b";
    struct attn_tokenizer *t = learned(text, strlen(text), 1000);
    struct attn_err err = {0};
    int32_t *ids;
    size_t n, len;
    ck_assert_int_eq(attn_encode_ids(&ids, &n, t,
                                     "a" MARK, 1 + strlen(MARK), &(struct attn_encode_opts){.special = true}, &err), 0);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(ids[1], (int32_t)attn_tokenizer_size(t) - 1);
    ck_assert_str_eq(attn_tokenizer_raw(t, ids[1], &len), MARK);
    free(ids);
    attn_tokenizer_close(t);
    /* it occurs three times; " a" only once */
    scratch_expect(scratch_path("merges.txt"), "#version: 0.2\n\u0120 b\n");
}
END_TEST

START_TEST(learning_again_gives_the_same_bytes)
{
    size_t len, n[4];
    char *readme = golden_text("cmd/README.md", &len), *file[4];
    for (int i = 0; i < 2; i++) {
        attn_tokenizer_close(learned(readme, len, 2000));
        file[2 * i] = golden_text(scratch_path("vocab.json"), &n[2 * i]);
        file[2 * i + 1] = golden_text(scratch_path("merges.txt"), &n[2 * i + 1]);
    }
    ck_assert(n[0] == n[2] && n[1] == n[3]);
    ck_assert_mem_eq(file[0], file[2], n[0]);
    ck_assert_mem_eq(file[1], file[3], n[1]);
    for (int i = 0; i < 4; i++)
        free(file[i]);
    free(readme);
}
END_TEST

START_TEST(faults_of_the_library)
{
    static const struct { const char *text; size_t size; const char *says; } rows[] = {
        {"", 300, "the text is empty"}, {MARK "\n" MARK, 300, "the text is empty"},
        {"ab\xff", 300, "not UTF-8 at byte 2: found 0xFF"},
        {"ab", 256, "256 tokens, expected 257 to"}, {"ab", SIZE_MAX, "expected 257 to"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attn_err err = {0};
        size_t tokens;
        ck_assert_int_ne(attn_bpe_learn(scratch_dir, &tokens, rows[i].text, strlen(rows[i].text), rows[i].size,
                                        &err), ATTN_OK);
        ck_assert_msg(strstr(err.msg, rows[i].says), "%s", err.msg);
        ck_assert_int_eq(scratch_count(), 0);
    }
}
END_TEST

/* ---- the command ---------------------------------------------------------------------------- */

static const struct { const char *line; int status; const char *says; } lines[] = {
    {"\"$A\" vocab --bpe --size 300 -f cmd/README.md -o $D/v 2>&1 && ls $D/v", 0,
     "300 tokens\nmerges.txt\nvocab.json\n"},
    {"\"$A\" vocab --bpe -s 'ab ab' -o $D/v 2>&1", 0, "258 tokens: the text gives no more"},
    {"\"$A\" vocab --bpe -f cmd/README.md -o $D/v -q && \"$A\" tokenize -m $D/v -s 'attention heads' --format ids", 0,
     " "},
    {"\"$A\" vocab -q -s 'a b' -o $D/v.json && \"$A\" init --vocab $D/v.json --n-layer 1 --n-head 1 --d-model 4 "
     "-o $D/m -q; "
     "ends 2 \"$A\" vocab --bpe -s 'ab ab' -o $D/m 2>&1; ends 2 \"$A\" vocab -s 'a c' -o $D/m/vocab.json 2>&1; "
     "cat $D/m/vocab.json; ls $D/m", 0,
     "/m/: holds a model, whose vocab.json this would replace: choose another place, or remove that file first\n"
     "try 'attn-cli help vocab'\n{\n  \"a\": 0,\n  \"b\": 1\n}\nconfig.json\nmodel.safetensors\nvocab.json\n"},
    {"\"$A\" vocab --chars -s 'ba b\u00E9,' --drop , -o $D/v.json 2>&1", 0, "4 characters\n"},
    {"\"$A\" vocab --chars -q -s 'ba b\u00E9\n' -o $D/v.json && "
     "\"$A\" init --chars --vocab $D/v.json --n-layer 1 --n-head 1 --d-model 4 -o $D/m -q && \"$A\" tokenize -m $D/m "
     "-s \"$(printf '\u00E9 ab\n ')\" --format ids && ends 1 \"$A\" tokenize -m $D/m -s abc 2>&1",
     0, "4 1 2 3 0 1\n"},
    {"\"$A\" vocab --bpe --chars -s a -o $D/v 2>&1", 2, "--bpe and --chars do not go together"},
    {"\"$A\" vocab --bpe -s a 2>&1", 2, "give a directory with -o DIR"},
    {"\"$A\" vocab --bpe -s a -o - 2>&1", 2, "give a directory with -o DIR"},
    {"\"$A\" vocab --bpe --drop , -s a -o $D/v 2>&1", 2, "--bpe and --drop do not go together"},
    {"\"$A\" vocab --size 300 -s a 2>&1", 2, "--size is for --bpe"},
    {"\"$A\" vocab --bpe --size 256 -s a -o $D/v 2>&1", 2, "256"},
    {"ends 1 \"$A\" vocab --bpe -s '' -o $D/v 2>&1; test ! -e $D/v", 0,
     "the text is empty, expected something to learn tokens from\n"},
    {"printf 'a\\377' | \"$A\" vocab --bpe -f - -o $D/v 2>&1", 1, "invalid UTF-8 at byte 1 (0xFF)"},
    {"\"$A\" vocab --bpe -s ab -o cmd/README.md 2>&1", 1, "README.md/vocab.json: cannot"},
    {"\"$A\" vocab --bpe -s ab -o cmd/README.md/no/where 2>&1", 1, "no/where: cannot make this directory"},
};

START_TEST(the_command)
{
    expect(lines[_i].line, lines[_i].status, lines[_i].says);
}
END_TEST

Suite *suite_learn(void)
{
    Suite *s = suite_create("learn");
    TCase *tc = tcase_create("learn");
    tcase_add_loop_test(tc, text_is_parted_at_marks, 0, sizeof parted / sizeof *parted);
    tcase_add_loop_test(tc, rules_are_those_of_plain_counting, 0, sizeof texts / sizeof *texts);
    tcase_add_loop_test(tc, rules_of_random_texts, 0, 14);
    tcase_add_test(tc, no_token_is_longer_than_allowed);
    suite_add_tcase(s, tc);

    tc = tcase_create("files");
    tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
    tcase_add_test(tc, decoding_gives_the_text_back);
    tcase_add_test(tc, the_mark_is_the_last_token);
    tcase_add_test(tc, learning_again_gives_the_same_bytes);
    tcase_add_test(tc, faults_of_the_library);
    suite_add_tcase(s, tc);

    tc = tcase_create("command");
    tcase_add_checked_fixture(tc, shell_set_up, scratch_remove);
    tcase_add_loop_test(tc, the_command, 0, sizeof lines / sizeof *lines);
    suite_add_tcase(s, tc);
    return s;
}
