/* attend: numbers that are typed, saved or piped, in every format; what a run dumped comes out
 * again; derivations; nonsense. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <string.h>

#define QKV "--q '1 0; 0 1' --k '1 1; 0 2' --v '1 2 3; 4 5 6'"

/* Softmax over scores 0.7071 and 0: 1 / (1 + exp(-1 / sqrt 2)) = 0.6698. */
START_TEST(typed_numbers_are_printed)
{
    expect_exactly("$A attend " QKV " 2>$D/about",
                   "layer 0, head 0: attention pattern (rows: queries, columns: keys)\nblocks.0.attn.pattern\n"
                   "        0       1\n0  0.6698  0.3302\n1  0.3302  0.6698\n\n"
                   "layer 0: context vectors\nblocks.0.attn.context\n"
                   "        0       1       2\n0  1.9907  2.9907  3.9907\n1  3.0093  4.0093  5.0093\n");
    scratch_expect(scratch_path("about"), "q [2, 2], k [2, 2], v [2, 3]: pattern [1, 2, 2], context [2, 3]\n");
    expect("$A attend " QKV " -q --names 'Life is' --show scores --kind causal 2>&1", 0,
           "Life  0.7071    -inf\nis    0.7071  1.4142\n");
    expect_exactly("$A attend --scores '0 -inf; 1 1' -q --show pattern --format csv", "token,0,1\n0,1,0\n1,0.5,0.5\n");
}
END_TEST

/* A file, a pipe and what is typed are the same numbers. */
START_TEST(numbers_come_from_anywhere)
{
    succeed("printf '1 0\\n0 1\\n' >$D/q.txt; printf ',a,b\\nx,1,1\\ny,0,2\\n' >$D/k.csv; "
            "printf '[[1,2,3],[4,5,6]]' >$D/v.json");
    succeed("$A attend " QKV " --names 'x y' --format json -q >$D/typed.json");
    expect_same("$A attend --q $D/q.txt --k $D/k.csv --v $D/v.json --format json -q", "cat $D/typed.json");
    expect_same("$A attend --q - --k $D/k.csv --v $D/v.json --format json -q <$D/q.txt", "cat $D/typed.json");
    expect("$A attend --q $D/q.txt --k $D/k.csv -q -o $D/k.csv 2>&1", 2, "is the input, and would be written to");
}
END_TEST

/* What run dumps gives what run computed, to float32's rounding, in each format that dumps have. */
START_TEST(dumps_of_run_come_out_again)
{
    static const char *const kinds[] = {"causal", "window:2", "linear", "block:2"},
        *const formats[] = {"npz", "csv", "json", "npy"};
    const char *in = printed("$D/run-%s", formats[_i]);
    succeed(printed("$A run -q -m models/stacked -s 'The cat sees the moth' --attention %s --show "
                    "q,k,v,pattern,context --layer 0 --format %s -o %s", kinds[_i], formats[_i], in));
    succeed(printed("$A attend -q --q %s --k %s:blocks.0.attn.k --v %s --mask causal --kind %s --show "
                    "q,k,v,pattern,context --format %s -o $D/attend", in, in, in, kinds[_i], formats[_i]));
    expect(printed("$A diff $D/attend %s", in), 0, "");
}
END_TEST

/* 1 / (1 + exp(-0.1)) is 0.52497918747894: all digits of float64 are written, and read again. */
START_TEST(digits_are_those_of_float64)
{
    expect_exactly("$A attend --scores '0.1 0.2' -q --format csv", "token,0,1\n0,0.47502081252106,0.52497918747894\n");
    expect("$A attend --scores '0.1 0.2' -q --format json", 0,
           "\"data\":[[[0.47502081252106,0.52497918747894]]],\"nonfinite\":0");
    expect("$A attend --scores '0.1 0.2' -q --format tidy", 0, ",0.52497918747894\n");
    expect("$A attend --scores '0.1 0.2' -q --precision 14", 0, "0.47502081252106  0.52497918747894");
    succeed("$A attend --scores '0.1 0.2; 0.3 -inf' -q --show scores,pattern -o $D/x.npz && "
            "grep -aqF \"'<f8'\" $D/x.npz");
    expect_exactly("$A attend --scores $D/x.npz:blocks.0.attn.scores -q --format csv | head -2",
                   "token,0,1\n0,0.47502081252106,0.52497918747894\n");
    expect("$A diff $D/x.npz $D/x.npz", 0, "");
    expect("$A attend --scores '0.1 0.2' --explain --precision 10", 0,
           "weight = 1.0000000000 / 1.9048374180 = 0.5249791875");
    expect("$A plot $D/x.npz -o $D/x.svg && cat $D/x.svg", 0, "<svg");
    expect("$A attend --q 1 --k '2; 3' --v '1 2; 3 4' --wo '1; 1' --bo 0.5 -q --show blocks.0.attn.out --format csv", 0,
           "token,0\n0,");
}
END_TEST

/* Weights that are not a softmax; a mask that comes last; the output. */
START_TEST(other_ways_are_derived)
{
    expect("$A attend --scores '0.5 1.5' --weights sum --explain", 0, "weight = 1.5000 / 2.0000 = 0.7500");
    expect("$A attend --scores '1 1; 1 1' --mask causal --mask-weights --explain --query 0 --key 1", 0,
           "Key 1 is hidden from query 0.\n\n  weight = 0.0000");
    expect("$A attend --q 1 --k 1 --v '2 3' --wo '1 0; 0 2' --bo '1 1' --explain", 0,
           "out[1] = 2.0000\xC2\xB7" "0.0000 + 3.0000\xC2\xB7" "2.0000 + 1.0000 = 7.0000");
    expect("$A attend --x '1 2' --wq '3; 4' --bq 0.5 --wk '1; 1' --explain", 0,
           "q[0] = 1.0000\xC2\xB7" "3.0000 + 2.0000\xC2\xB7" "4.0000 + 0.5000 = 11.5000");
}
END_TEST

/* Tables as spreadsheets write them where a comma is the point of a number. */
START_TEST(semicolons_separate_fields)
{
    succeed("printf ';x;y\\nLife;0,5;1\\nis;2;0,25\\n' >$D/s.csv; "
            "printf '\"id\";\"text\"\\n\"1\";\"Life is short\"\\n' >$D/t.csv");
    expect_same("$A attend --scores $D/s.csv -q --format csv",
                "$A attend --scores '0.5 1; 2 0.25' --names 'Life is' --key-names 'x y' -q --format csv");
    expect("$A plot $D/s.csv -o $D/s.svg && cat $D/s.svg", 0, "Life");
    expect("$A batch -m life -f $D/t.csv --format ndjson 2>&1", 0, "Life is short");
}
END_TEST

/* Every format of a run writes it. */
START_TEST(formats_are_those_of_run)
{
    static const char *const endings[] = {"json", "tidy", "npz", "png", "svg", "pdf", "html"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        succeed(printed("$A attend " QKV " --names 'a b' -q -o $D/x.%s && test -s $D/x.%s", endings[i], endings[i]));
    expect("$A attend " QKV " --format term -q", 0, "");
    expect("$A attend " QKV " --mask '1 1; 0 1' -q -o $D/masked.svg && cat $D/masked.svg", 0, "hidden by the mask");
    expect("$A attend " QKV " --format screen -q", 0, "attend: 1 layer of 1 head, 2 tokens");
    expect("$A attend " QKV " -q -o $D/tables/ && cat $D/tables/manifest.json", 0, "\"digest\":\"sha256:");
    expect("$A attend " QKV " --key-names 'c d' --names 'a b' -q --format json", 0,
           "\"context_tokens\":[\n{\"id\":2,\"text\":\"c\"");
}
END_TEST

START_TEST(weights_are_derived)
{
    expect("$A attend " QKV " --names 'cat dog' --kind causal --explain --query dog --key cat", 0,
           "How \"dog\" (query 1) attends to \"cat\" (key 0)");
    expect("$A attend " QKV " --explain --query 0 --key 1", 0,
           "How query 0 attends to key 1\n\nGiven are q [2, 2], k [2, 2], v [2, 3]; all");
    expect("$A attend " QKV " --explain --query 0 --key 1", 0, "\n2. The key of row 1\n");
    expect("$A attend " QKV " --explain --query 0 --key 1", 0, "weight = 0.4931 / 1.4931 = 0.3302");
    expect("$A attend " QKV " --explain --query 0 --key 1", 0,
           "context[0] = 0.6698\xC2\xB7" "1.0000 + 0.3302\xC2\xB7" "4.0000 = 1.9907");
    expect("$A attend " QKV " --mask '1 1; 1 0' --explain --key 1", 0,
           "The mask that is given hides key 1 from query 1");
    expect("$A attend --scores '1 2' --mask '0 0.5' --explain --key 1", 0,
           "The mask that is given adds 0.5000 to the score.");
    expect("$A attend --x '1 2' --wq '3; 4' --wk '1; 1' --explain", 0,
           "q[0] = 1.0000\xC2\xB7" "3.0000 + 2.0000\xC2\xB7" "4.0000 = 11.0000");
    expect("$A attend --x '1 2; 0 1' --scale none --explain", 0, "There are no weights: it is row 1 itself.");
    expect("$A attend --q '1 0 2 0' --k '3 1' --heads 2 --head 1 --explain", 0,
           "dots     head 1, row 0, column 0  6.0000");
    succeed("for f in md html pdf; do $A attend " QKV " --explain -o $D/x.$f; test -s $D/x.$f; done");
    expect("head -c 2 $D/x.md", 0, "# ");
}
END_TEST

/* It begins with what is given: how many boxes it has, and what stands in it. */
static const struct { const char *args, *boxes, *says; } diagrams[] = {
    {QKV, "7\n", "q [2,2]              "}, {QKV, "7\n", "context [2,3]"},
    {QKV " --kind linear", "0\n", "Linear attention"},
    {"--q '1 0; 0 1' --k '1 1; 0 2' --mask '1 0; 1 1'", "5\n", "\xC3\x97 0.7071, mask"},
    {"--scores '1 2; 3 4'", "2\n", "one row: of query"}, {"--scores '1 2; 3 4' --v '1; 2'", "4\n", "v [2,1]"},
    {"--dots '1 2; 3 4' --scale 0.5 --softcap 3 --kind causal", "3\n", "\xC3\x97 0.5000, soft cap, mask"},
    {"--x '1 2; 0 1' --names 'a b'", "8\n", "\xE2\x94\x82 = x "},
    {"--x '1 2; 0 1' --wq '1; 1' --wk '2; 3'", "6\n", "\xC2\xB7W_k"},
    {"--x '1 2; 0 1' --wq '1; 1' --wk '2; 3' --wv '1 0; 0 1' --cross '1 1; 2 2; 3 3'", "9\n", "k [3,1]"},
    {"--x '1 2; 0 1' --wq '1; 1' --k '1; 2; 3'", "6\n", "x [2,2]"},
    {"--x '1 2; 0 1' --cross '1 1; 2 2; 3 3'", "9\n", "= y"}};

START_TEST(the_way_is_drawn)
{
    const char *args = diagrams[_i].args;
    expect_exactly(printed("$A attend %s --explain --format html | grep -c '<rect ' || true", args),
                   diagrams[_i].boxes);
    expect(printed("$A attend %s --explain", args), 0, diagrams[_i].says);
    expect_exactly(printed("$A attend %s --explain | LC_ALL=C.UTF-8 grep -v '^    attn-cli' | "
                           "LC_ALL=C.UTF-8 grep -cP '^.{81,}' || true", args), "0\n");
}
END_TEST

/* cos(45 degrees) = 0.7071; a row of zeros has no direction. */
START_TEST(cosines_of_rows)
{
    expect_exactly("$A attend --x '1 0; 1 1; 0 2' --names 'a b b' --cosines x",
                   "row       a       b   b (2)\na    1.0000  0.7071  0.0000\nb    0.7071  1.0000  0.7071\n"
                   "b    0.0000  0.7071  1.0000\n");
    expect_exactly("$A attend --q '1 0 0 1' --k '1 1' --heads 2 --cosines q --format csv",
                   "head,row,0\n0,0,1\n1,0,1\n");
    expect_exactly("$A attend --x '0 0; 3 4' --cosines x --format ndjson",
                   "{\"row\": \"0\", \"0\": null, \"1\": null}\n"
                   "{\"row\": \"1\", \"0\": null, \"1\": 1}\n");
    expect_exactly("$A attend --x '1 0; 0 1' --wq '1; 1' --cosines q --format md", "| row | 0 | 1 |\n|:---|---:|---:|\n"
                   "| 0 | 1.0000 | 1.0000 |\n| 1 | 1.0000 | 1.0000 |\n");
}
END_TEST

static const struct { const char *line; int status; const char *why; } nonsense[] = {
    {"", 2, "attention of what? give --q and --k"},
    {"--q '1 2' --k '1 2 3'", 1, "--k [1, 3] has vectors of 3 numbers, and --q [1, 2] of 2"},
    {"--q '1 2; 3' --k '1 2'", 1, "--q: row 1 has 1 number, row 0 has 2"},
    {"--q '1 two' --k '1 2'", 1, "found 'two', expected a number"},
    {"--q 'nan 1' --k '1 2'", 1, "row 0, column 0 is nan"},
    {"--q nothing.npy --k 1", 1, "--q: there is no file 'nothing.npy'"},
    {"--q 1 --k '1; 2' --mask '0 0'", 1, "--mask [1, 2]: query 0 of head 0 sees none of the 2 keys"},
    {"--q 1 --k '1; 2' --hide '1 1'", 1, "--hide [1, 2]: query 0 of head 0 sees none of the 2 keys"},
    {"--q 1 --k 1 --mask 1 --hide 0", 2, "--mask and --hide: both say which keys are seen"},
    {"--q 1 --k 1 --softcap 0", 2, "--softcap: 0 is not above 0"},
    {"--q 1 --k 1 --kind windows:2", 2, "'windows:2' is unknown"},
    {"--q 1 --k 1 --show context", 1, "has no 'context'"}, {"--q 1 --k 1 --head 1", 1, "has 1 head"},
    {"--q 1 --k 1 --explain --format json", 2, "a derivation is text, md, html or pdf, not json"},
    {"--q 1 --k 1 --explain --show dots", 2, "--explain and --show"},
    {"--q 1 --k 1 --key 0", 2, "--key is of a derivation"},
    {"--q 1 --k 1 --explain --cosines q", 2, "each writes something else"},
    {"--q 1 --k 1 --format md", 2, "is for a table"},
    {"--q 1 --k 1 --explain --query 1", 2, "there is no token 1"},
    {"--q 1 --k 1 --explain --head 0-1", 2, "--explain is of one head"},
    {"--q 1 --k 1 --names 'a b'", 1, "--names: found 2 words, expected 1, one for each row, with blanks between them"},
    {"-q '1 0' -k 1", 2, "unexpected argument '1 0': numbers go after --q, --k, --v and so on, in quotes"},
    {"--q 1 --k 1 --mask tril", 1, "; the causal mask is --mask causal"},
    {"--q 1 --k 1 --explain --lang cn", 2, "--lang cn: its code is zh"},
    {"--q 1 --k 1 --lang zh", 0, "--lang is the language of --explain: tables stay as they are"},
    {"--q '1；2' --k '1 2' --names '我　爱'", 1, "--k [1, 2] has vectors of 2 numbers, and --q [2, 1] of 1"},
    {"--q '1；2' --k '1；2' --names '我　爱'", 0, "\n爱 "},
    {"--q '1；2' --k '1；2' --explain --scale 2 --softcap 3", 0,
     "4. The scale\n\nDot products are multiplied by the scale of --scale.\n"},
    {"--q '1；2' --k '1；2' --explain --softcap 3", 0, "A soft cap (--softcap) keeps scores between -3 and 3"},
};

START_TEST(nonsense_is_refused)
{
    expect(printed("$A attend %s 2>&1", nonsense[_i].line), nonsense[_i].status, nonsense[_i].why);
}
END_TEST

Suite *suite_attend_cmd(void)
{
    Suite *s = suite_create("attend_cmd");
    TCase *c = tcase_create("attend_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_test(c, typed_numbers_are_printed);
    tcase_add_test(c, numbers_come_from_anywhere);
    tcase_add_loop_test(c, dumps_of_run_come_out_again, 0, 4);
    tcase_add_test(c, digits_are_those_of_float64);
    tcase_add_test(c, other_ways_are_derived);
    tcase_add_test(c, semicolons_separate_fields);
    tcase_add_test(c, formats_are_those_of_run);
    tcase_add_test(c, weights_are_derived);
    tcase_add_loop_test(c, the_way_is_drawn, 0, sizeof diagrams / sizeof *diagrams);
    tcase_add_test(c, cosines_of_rows);
    tcase_add_loop_test(c, nonsense_is_refused, 0, sizeof nonsense / sizeof *nonsense);
    suite_add_tcase(s, c);
    return s;
}
