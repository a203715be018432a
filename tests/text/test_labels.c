/* What tokens given as ids are called: --labels, in every command that takes ids. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdlib.h>
#include <string.h>

#include "attn_tools.h"

#define IDS "--ids 634,1085,324,723 "
#define WITHOUT_BYTES " | sed 's/ *[0-9]*-[0-9]*$//; s/token  bytes/token/'"
#define LILY "-s 'Lily lost her red' "

static void set_up(void)
{
    shell_set_up();
    setenv("ATTN_MODEL", "tiny", 1);
    succeed("printf 'un\\ndeux\\n\\nquatre\\n' > $D/four; printf '\\xEF\\xBB\\xBFA\\r\\nB\\r\\nC\\r\\nD\\r\\nE\\r\\nF' "
            "> $D/six; seq 8192 > $D/all");
}

/* With the tokenizer's own words, what is shown is what the text itself shows. */
START_TEST(test_auto)
{
    expect_same("$A run " IDS "--labels auto --layer 0 --head 0 --show pattern ",
                "$A run " LILY "--layer 0 --head 0 --show pattern" WITHOUT_BYTES);
    expect_same("$A run " IDS "--labels auto --show pattern --layer 1 --head 1 --format csv",
                "$A run " LILY "--show pattern --layer 1 --head 1 --format csv");
    expect_same("$A run " IDS "--labels auto --show pattern --format tidy",
                "$A run " LILY "--show pattern --format tidy");
    expect_same("$A score " IDS "--labels auto", "$A score " LILY);
    expect_same("$A explain " IDS "--labels auto --query red --key ' lost' | sed '/run/d'",
                "$A explain " LILY "--query red --key ' lost' | sed '/run/d'");
    expect_same("$A lens " IDS "--labels auto", "$A lens " LILY);
    expect_same("$A attribute " IDS "--labels auto --target 13", "$A attribute " LILY "--target 13");
    expect_same("$A heads " IDS "--labels auto", "$A heads " LILY);
    expect("$A variants --kinds full " IDS "--format svg", 0, "\302\267lost");
    expect_same("$A patch " IDS "--from-ids 634,1085,324,500 --labels auto --what embed --over pos --metric loss",
                "$A patch " LILY "--from 'Lily lost her ball' --what embed --over pos --metric loss");
    expect_same("ends 1 $A diff -m tiny --with tiny --ablate L0H1 " IDS "--labels auto",
                "ends 1 $A diff -m tiny --with tiny --ablate L0H1 " LILY);
    expect_same("$A run -m life --ids 0,4 --cross-ids 5,2 --labels auto --show pattern",
                "$A run -m life -s 'Life is' --cross 'short eat' --show pattern"
                WITHOUT_BYTES);
}
END_TEST

/* A document says where a token is in the text; a label is in none. */
START_TEST(test_documents)
{
    expect("$A run " IDS "--labels auto --show tokens --format json", 0,
           "{\"id\":1085,\"text\":\" lost\",\"raw\":\"\304\240lost\",\"start\":null,\"end\":null}");
    expect("$A run " IDS "--labels $D/four --show tokens --format json", 0,
           "{\"id\":324,\"text\":null,\"raw\":null,\"start\":null,\"end\":null}");
    expect("$A run " IDS "--labels $D/four --show tokens --format csv -o -", 0,
           "1,1085,deux,,\n2,324,,,\n3,723,quatre,,\n");
    expect("$A score " IDS "--labels auto --format json", 0, "\"text\": \" her\"");
    expect("$A generate --ids 634 -n 1 --format json", 0, "\"text\": \"Lily\"");
}
END_TEST

/* What scripts read stays as it is; what people look at has words. */
START_TEST(test_default)
{
    expect("$A run " IDS "--show tokens", 0, "index    id\n    0   634\n");
    expect("$A run " IDS "--show tokens --format json", 0, "\"text\":null");
    expect("$A score " IDS, 0, "index      id    logprob\n");
    expect_same("$A run " IDS "--show tokens", "$A run " IDS "--show tokens --labels none");
    expect("$A run " IDS "--layer 0 --format svg", 0, "Lily");
    expect("$A run " IDS "--layer 0 --format html", 0, "\"text\":\" lost\"");
    ck_assert_ptr_null(strstr(succeed("$A run " IDS "--layer 0 --format svg --labels none")->text, "Lily"));
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strstr(on_terminal("$A run " IDS "--show tokens", 0), "Lily"));
    ck_assert_ptr_nonnull(strstr(on_terminal("$A score " IDS, 0), "Lily"));
    ck_assert_ptr_null(strstr(on_terminal("$A score " IDS "--labels none", 0), "Lily"));
    ck_assert_ptr_null(strstr(on_terminal("$A run " IDS "--show tokens --format json", 0), "Lily"));
}
END_TEST

static const struct { const char *line; int status; const char *says; } files[] = {
    {"$A run " IDS "--labels $D/four --show tokens", 0, "    1  1085  deux\n    2   324\n    3   723  quatre\n"},
    {"$A run " IDS "--labels $D/all --show tokens", 0, "    0   634  635\n"},
    {"$A run " IDS "--labels $D/six 2>&1", 1,
     "six: found 6 lines, expected 8192, a label for each entry of the model's vocabulary, or 4, "
     "one for each id of the input"},
    {"$A run -m life --ids 5,0 --labels $D/six --show tokens", 0, "    0   5  F\n    1   0  A\n"},
    {"$A run -m life --ids 5,0,1,2,3,4 --labels $D/six --show tokens 2>&1", 0,
     "six has a line for each entry of the vocabulary, and as many"},
    {"$A run -m life --ids 5,0 --cross-ids 1,2,3 --labels $D/six --show tokens 2>&1", 0, "    2   3  D\n"},
    {"$A run -s Lily --labels $D/four 2>&1", 2, "four names ids, and the input is a text"},
    {"$A run " IDS "--labels $D/none 2>&1", 1, "none: cannot open"},
    {"$A run " IDS "--labels /dev/null 2>&1", 1, "/dev/null: found 0 lines, expected 8192"},
    {"printf 'a\\nb\\n\\xff\\nd' | $A run " IDS "--labels - 2>&1", 1,
     "standard input: line 3: the label is invalid UTF-8 (0xFF); convert with: iconv -f LATIN1 -t UTF-8"},
    {"printf 'a\\nb\\nc\\nd' | $A heads " IDS "--labels -", 0, "4 tokens: a b c d\n"},
    {"$A heads --labels $D/four 2>&1", 2, "four names ids, and the input is a text"},
    {"$A diff a b --labels $D/four 2>&1", 2, "--labels names the ids that two models run"},
    {"$A run " IDS "--layer 0 --head 0 --show pattern -o $D/p.npy; $A plot $D/p.npy --labels $D/four", 0, "\nquatre  "},
    {"$A run " IDS "--layer 0 --show pattern -o $D/p.json; $A plot $D/p.json --labels $D/four --format svg",
     0, ">deux<"},
    {"$A run " IDS "--layer 0 --show pattern -o $D/p.json; $A plot $D/p.json --labels $D/six 2>&1", 1,
     "p.json: there are 6 labels, expected 4, one for each token or row"},
    {"$A run " IDS "--layer 0 --head 0 --show pattern -o $D/p.npy; $A plot $D/p.npy --labels $D/six 2>&1", 1,
     "there are 6 labels, expected 4"},
    {"$A generate -m life --ids 5,0 --labels $D/six -n 2 2>&1", 1, "no output layer"},
    {"$A generate -m tiny --ids 634,1085 --labels $D/all -n 1", 0, "635 1086 325\n"},
    {"$A generate -m tiny --ids 634,1085 --labels $D/four -n 1 2>&1", 1, "four: found 4 lines, expected 8192"},
    {"$A generate -m tiny --ids 634,1085 --labels none -n 1", 0, "634 1085 324\n"},
    {"$A generate -m tiny --ids 634,1085 --labels none --stop x 2>&1", 1,
     "--stop searches the text, and there is none"},
    {"echo '{\"ids\":[634,1085]}' | $A batch -f - --input ndjson --labels $D/all --show tokens", 0,
     "{\"id\":1085,\"text\":\"1086\""},
    {"echo '{\"ids\":[634,1085]}' | $A batch -f - --input ndjson --labels auto --show tokens", 0,
     "{\"id\":1085,\"text\":\" lost\""},
    {"echo '{\"ids\":[634,1085]}' | $A batch -f - --input ndjson --show tokens", 0, "{\"id\":1085,\"text\":null"},
    {"echo '{\"ids\":[634,1085]}' | $A batch -f - --input ndjson --labels $D/four 2>&1", 1,
     "four: found 4 lines, expected 8192"},
};
enum { FILES = sizeof files / sizeof *files };

START_TEST(test_files)
{
    expect(files[_i].line, files[_i].status, files[_i].says);
}
END_TEST

/* Ids need no tokenizer: where there is none, or a broken one, they are shown as they are. */
START_TEST(test_without)
{
    succeed("cp -r tests/golden/checkpoints/gpt2-a $D/m; chmod -R u+w $D/m; rm $D/m/vocab.json $D/m/merges.txt");
    expect_same("$A run -m $D/m --ids 1,2 --format svg 2>&1",
                "$A run -m $D/m --ids 1,2 --format svg --labels none 2>&1");
    expect("$A run -m $D/m --ids 1,2 --labels auto --show tokens 2>&1", 0, "no labels: ");
    succeed("echo '{' > $D/m/tokenizer.json");
    expect("$A run -m $D/m --ids 1,2 --format svg 2>&1 >/dev/null", 0, "no labels: ");
    expect_exactly("$A run -m $D/m --ids 1,2 --show tokens 2>&1 | head -3", "tokens\nindex  id\n    0   1\n");
}
END_TEST

/* Line ends, a mark and blank lines, straight from the library. */
START_TEST(test_lines)
{
    static const char lines[] = "one\r\n\ntwo\nthree";
    /* without a NUL, and nothing after it to be read */
    char *text = memcpy(malloc(sizeof lines - 1), lines, sizeof lines - 1);
    struct attn_err err = {0};
    struct attn_labels *l = NULL;
    struct attn_tokens *t = NULL;
    int32_t ids[] = {9, 8, 7, 6};
    size_t len;
    ck_assert_msg(!attn_labels_read(&l, text, sizeof lines - 1, "f", 4, &err), "%s", err.msg);
    ck_assert(attn_labels_by_id(l) && attn_labels_count(l) == 4);
    ck_assert_str_eq(attn_labels_text(l, 0, &len), "one");
    ck_assert(len == 3 && !attn_labels_text(l, 1, &len) && !len && !attn_labels_text(l, 4, &len) &&
              !attn_labels_text(l, INT32_MAX, &len));
    ck_assert_str_eq(attn_labels_text(l, 3, &len), "three");
    attn_labels_free(l);
    ck_assert(!attn_labels_read(&l, text, sizeof lines - 1, "f", 5, &err) && !attn_labels_by_id(l));
    ck_assert(!attn_tokens_from_ids(&t, ids, 4, &err) && !attn_tokens_label(t, l, &err));
    ck_assert(t->tok[0].named && t->tok[0].id == 9 && !t->tok[1].known && t->tok[2].text_len == 3);
    ck_assert_str_eq(t->tok[3].text, "three");
    attn_tokens_free(t);
    ck_assert(!attn_tokens_from_ids(&t, ids, 3, &err) && attn_tokens_label(t, l, &err) == ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "f: found 4 lines, expected 5, a label for each entry of the model's vocabulary, or 3, "
                     "one for each id of the input");
    attn_tokens_free(t);
    attn_labels_free(l);
    free(text);
}
END_TEST

Suite *suite_labels(void)
{
    Suite *s = suite_create("labels");
    TCase *tc = tcase_create("labels");
    tcase_add_checked_fixture(tc, set_up, scratch_remove);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_auto);
    tcase_add_test(tc, test_documents);
    tcase_add_test(tc, test_default);
    tcase_add_loop_test(tc, test_files, 0, FILES);
    tcase_add_test(tc, test_without);
    tcase_add_test(tc, test_lines);
    suite_add_tcase(s, tc);
    return s;
}
