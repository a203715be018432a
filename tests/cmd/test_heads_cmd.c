/* The command heads, and the tidy form of a batch's summary, which has the same scores. */
#include "suites.h"

#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES "printf 'the cat sat on the mat\\nOne day, Tom saw Tom.\\nA\\n'"

START_TEST(a_table_is_sorted_and_narrow)
{
    expect("$A heads -m tiny -s 'Lily lost her ball' --by duplicate --top 2", 0,
           "\n\nNo head has duplicate: no row of the text can have it; a text said twice can (--repeat 24)\n");
    expect_exactly("$A heads -m tiny -s 'Lily lost' --top 2 --format csv | wc -l", "3\n");
    expect("$A heads -m tiny -s Lily --top 2", 0, "\nNo head has a main role: no share is twice chance");
    expect("$A heads -m tiny --top 2", 0,
           "The first 2 of 24 heads, sorted by main role; means over all rows but the first\n\n"
           "head  main role      prev  self  first  dupl  induct  entropy  spread  dist\nL4H3  previous 0.");
    expect_exactly("$A heads -m tiny --copying | awk 'length($0) > 80' | wc -l", "0\n");
    expect_exactly("$A heads -m tiny --by distance | sed -n '5,28s/.* //p' >$D/x; sort -grs $D/x | cmp - $D/x && wc "
                   "-l <$D/x", "24\n");
    expect("$A heads -m tiny -s 'the cat' --layer 1 --head 2,3", 0, "2 of 2 heads");
    expect("$A heads -m tiny --ids 5", 0, "1 text, 1 token\n");
    expect("$A heads -m tiny --ids 5,6 --layer 1 --head 2 --edit 'pattern = -1e30' --edit 'pattern[key=0] = 3e38'", 0,
           "L1H2  -         3.00e+38 -1.00e+30 3.00e+38    -      - -2.66e+40 -3.83e+40 3.00e+38\n\n"
           "chance              0.50      0.50     0.50    -      -      0.69      1.00     0.50\n"
           "rows                   1         1        1    0      0         1         1        1\n\n"
           "No head has a main role: no share is");
    expect("$A heads -m tiny --repeat 2 --samples 1 --from 'the cat' --edit 'L1H1 = 0'", 0, "2 random ids, twice");
    expect("$A heads -m tiny --ids 5", 0, "L0H0  -             -     -");
    expect_exactly("printf 'the cat\\n\\377\\nA dog\\n' | ends 3 $A heads -m tiny -f - --top 1 2>&1 >/dev/null",
                   "attn-cli heads: standard input: line 2: not UTF-8 at byte 0: found 0xFF\n"
                   "attn-cli heads: 1 of 3 records failed, and do not count\n");
    if (no_terminal())
        return;
    ck_assert_ptr_nonnull(strstr(on_terminal("COLUMNS=120 $A heads -m tiny --head 0 --layer 2 --by self 2>&1", 0),
                                 "L2H0"));
    ck_assert_ptr_nonnull(strstr(on_terminal("stty cols 100; TERM=dumb $A heads -m induction --repeat 12 --samples 1",
                                             0),
        "\nhead  main role                               prev  self  first  dupl  induct  entropy  spread  dist\r\n"
        "L0H0  previous 1.00  ██████████████████████▉  1.00  0.00"));
    const char *bars =
        on_terminal("TERM=dumb $A attribute -m models/stacked -s 'The cat sees' --target moth --top 4", 0);
    ck_assert_msg(strstr(bars,
                         "\nembed          1.0936                   │███████████████████\r\npos_embed      1.0029  ") &&
                  strstr(bars, "\nL0.mlp        -0.9389  ░░░░░░░░░░░░░░░░░│\r\n"), "%s", bars);
}
END_TEST

/* Weights at random: no head does more than one that looks at all keys alike, and the model repeats nothing. */
START_TEST(noise_has_no_label)
{
    succeed("$A init -q -o $D/m --vocab-size 40 --n-layer 2 --n-head 2 --d-model 8 --n-ctx 48 --unembed true "
            "--residual true --output-projection true --seed 3");
    expect_exactly("$A heads -m $D/m --format json | jq -c '[.rows[].label] | unique, .[0]' && "
                   "$A heads -m $D/m --format json | "
                   "jq -c '.loss.repeats, (.rows[0].first_chance * 1000 | floor)'", "[null]\nnull\nfalse\n75\n");
    expect("$A heads -m $D/m", 0, "the model does not repeat the text\n");
    expect_exactly("$A heads -m $D/m | grep -c 'L.H. * -   '", "4\n");
}
END_TEST

/* A model of which one head copies; without it the second time is as hard as the first. */
START_TEST(losses_say_whether_a_text_is_repeated)
{
    expect("$A heads -m induction --repeat 24", 0,
           "\n\nchance                0.07  0.07   0.07  0.03    0.03     2.99    1.00  12.00\n"
           "rows                   376   376    376   192     192      376     376    376\n\n"
           "Loss: 4.25 nats per token, then 0.19 the second time: the model repeats the text\n");
    expect("$A heads -m induction --repeat 24 --ablate L1H0", 0, "the model does not repeat the text\n");
    /* of one text, edited or not, what score says */
    expect_exactly("i=$($A heads -m induction --repeat 5 --samples 1 --ablate L0H0 --format json | tee $D/x | "
                   "jq -r '.texts[0] | join(\",\")'); "
                   "$A score -m induction --ids $i --ablate L0H0 --format json --no-compare | "
                   "jq -c '[.tokens[].logprob] | -([.[1:5], .[6:10]] | map(add / 4))[0], -([.[1:5], .[6:10]] | "
                   "map(add / 4))[1]' >$D/y; "
                   "jq -c '.loss.first, .loss.second' $D/x | paste $D/y - | awk '{d = $1 - $2; print (d < 1e-12 && "
                   "d > -1e-12)}'", "1\n1\n");
    expect_exactly("$A heads -m life --repeat 3 --format json | jq .loss; "
                   "$A heads -m tiny -s 'the the' --format json | jq .loss", "null\nnull\n");
}
END_TEST

/* Layers that see different keys have different chances. */
START_TEST(chance_is_that_of_what_a_layer_sees)
{
    expect_exactly("$A heads -m induction --ids 1,2,3,4 --attention window:2 | grep ^chance",
                   "chance           0.50  0.50   0.17     -       -     0.69    1.00  0.50\n");
    expect_exactly("$A heads -m induction --ids 1,2,3,4,5,6 --attention strided:1,2 --format json | jq -c '.rows[0] | "
                   ".self_chance, .first_chance'",
                   "0.5333333373069763\n0.16666666865348817\n");
}
END_TEST

START_TEST(tables_for_programs_are_the_same)
{
    expect_exactly("$A heads -m tiny --copying --format csv | head -1",
                   "layer,head,previous,self,first,duplicate,induction,entropy,spread,distance,copying,punctuation,"
                   "label,previous_chance,self_chance,first_chance,duplicate_chance,induction_chance,entropy_chance,"
                   "spread_chance,distance_chance,punctuation_chance,previous_rows,self_rows,first_rows,duplicate_rows,"
                   "induction_rows,entropy_rows,spread_rows,distance_rows,punctuation_rows\n");
    /* Through jq both, whose versions spell small numbers in two ways. */
    expect_same("$A heads -m tiny --copying --format csv | tail -n +2 | jq -rR 'split(\",\") | map(tonumber? // .) | "
                "@csv' | tr -d '\"'",
                "$A heads -m tiny --copying --format json | jq -r '.rows[] | map(.) | @csv' | tr -d '\"'");
    expect_exactly("$A heads -m tiny -o $D/x.json; jq -c '[.rows | length, .[4].layer, .[4].head], (.texts | "
                   "length)' $D/x.json",
                   "[24,1,0]\n8\n");
    expect_exactly("$A heads -m tiny -s 'the cat' --attention window:1 --format json | "
                   "jq -c '.attention, .rows[0].self, .rows[0].spread, .rows[0].copying'",
                   "\"window:1\"\n1\nnull\nnull\n");
    expect_exactly("for f in png svg html; do $A heads -m tiny --copying -o $D/x.$f; done; head -c 4 $D/x.png | "
                   "tail -c 3; "
                   "grep -c induction $D/x.svg",
                   "PNG1\n");
    expect("$A heads -m tiny --format term", 0, "induction");
    /* the numbers of layers and heads are theirs, whichever were chosen */
    expect_exactly("$A heads -m tiny --layer 2,4 --head 1,3 --format term | sed -n '/^entropy/,/^$/{s/[^0-9 ]//g; "
                   "s/ *$//; p}'",
                   "\n\n   1 3\n2\n4\n\n");
    expect_exactly("$A heads -m tiny -s 'the cat sat' --format term | sed -n 2p; "
                   "$A heads -m tiny --ids 5 --format term | "
                   "grep -c 'duplicate induction'",
                   "   previous  self      first   \n1\n");
}
END_TEST

/* Whoever asks for the best gets these, in one order, whatever the format. */
START_TEST(the_best_are_the_same_in_every_format)
{
    static const char *const asks[] = {"--by first --top 3", "--by duplicate", "--top 5"};
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        succeed(printed("\"$A\" heads -m tiny %s | sed -n '5,/^$/s/^L\\([0-9]*\\)H\\([0-9]*\\) .*/\\1,\\2/p' >$D/text; "
                        "test -s $D/text", asks[i]));
        expect_same("cat $D/text", printed("$A heads -m tiny %s --format csv | tail -n +2 | cut -d, -f -2", asks[i]));
        expect_same("cat $D/text", printed("$A heads -m tiny %s --format tidy | tail -n +2 | cut -d, -f -2", asks[i]));
        expect_same("cat $D/text",
                    printed("$A heads -m tiny %s --format ndjson | jq -r '\"\\(.layer),\\(.head)\"'", asks[i]));
        expect_same("cat $D/text",
                    printed("$A heads -m tiny %s --format json | jq -r '.rows[] | \"\\(.layer),\\(.head)\"'", asks[i]));
        expect_same("cat $D/text", printed("$A heads -m tiny %s --format md | tail -n +3 | tr -d ' ' | cut -d '|"
                                           "' -f 2,3 | tr '|' ,", asks[i]));
    }
}
END_TEST

/* A file of texts is what the texts are: pooled rows. */
START_TEST(texts_of_a_file_are_pooled)
{
    expect_same("$A heads -m tiny -s 'the cat sat' --format csv",
                "echo 'the cat sat' | $A heads -m tiny -f - --format csv");
    expect_exactly("printf '{\"ids\":[5,6]}\\n{\"ids\":[7]}\\n{\"ids\":[8,9,8]}\\n' | "
                   "$A heads -m tiny -f - --input ndjson --format json | jq -c .texts",
                   "[[5,6],[7],[8,9,8]]\n");
    expect("printf 'the cat\\n' >$D/in; printf '\\377\\n' >>$D/in; $A heads -m tiny -f $D/in 2>&1", 3,
           "1 of 2 records failed, and do not count");
    expect("printf '\\377\\n' | $A heads -m tiny -f - 2>&1", 1, "has no text that can be run");
    expect_same(LINES " | $A heads -m tiny -f - --format csv -t 1", LINES " | $A heads -m tiny -f - --format csv -t 3");
    expect_same(LINES " | $A heads -m tiny -f - --format csv --compute bf16 -t 1",
                LINES " | $A heads -m tiny -f - --format "
                                                                                         "csv --compute bf16 -t 2");
}
END_TEST

/* Edited weights count as they are, also where they are no shares: here -1 for 1, 2 and 3 tokens back. */
START_TEST(weights_may_be_negative)
{
    expect_exactly("$A heads -m tiny --ids 5,6,7,8 --edit 'pattern = -1' --layer 0 --head 0 --format json | "
                   "jq -c '.rows[0] | "
                   "[.previous, (.distance * 3 | round), .entropy]'", "[-1,-10,0]\n");
}
END_TEST

/* Above a picture of one head there is as little room as a cell takes. */
START_TEST(a_score_has_its_whole_name)
{
    expect("$A heads -m induction --repeat 8 --layer 0 --head 0 --format svg", 0, "duplicate</text>");
}
END_TEST

/* The config says it where there is no tokenizer. */
START_TEST(what_begins_a_text_is_not_repeated)
{
    succeed("cp -r tests/golden/checkpoints/gpt2-a $D/m; chmod -R u+w $D/m; rm $D/m/vocab.json $D/m/merges.txt; "
            "sed -i 's/\"bos_token_id\": 96/\"bos_token_id\": 7/' $D/m/config.json");
    expect_exactly("$A heads -m $D/m --repeat 15 --samples 99 --format json | jq -c '[.texts[][]] | unique | "
                   "map(select(. == 7 or . == 96)), length'",
                   "[]\n95\n");
}
END_TEST

/* Earlier tokens that are punctuation, by the weights that run prints: rows 6 to the last see the full stop, those from
 * 10 on the comma, too.  A text without shows no column. */
START_TEST(punctuation_is_what_stands_before)
{
#define MARKS "-m tiny -s 'Lily lost her red ball. She looked for it, and cried.'"
    succeed("$A run " MARKS " --layer 2 --head 1 --show pattern --format json >$D/run.json");
    cJSON *doc = golden_read(scratch_path("run.json"));
    const cJSON *tokens = golden_get(doc, "tokens"), *matrix = cJSON_GetArrayItem(
        golden_get(cJSON_GetArrayItem(golden_get(doc, "activations"), 0), "data"), 0);
    int T = cJSON_GetArraySize(tokens);
    double sum = 0, rows = 0;
    for (int q = 1; q < T; q++) {
        bool any = false;
        for (int k = 0; k < q; k++) {
            const char *text = golden_string(cJSON_GetArrayItem(tokens, k), "text");
            bool mark = !strcmp(text, ".") || !strcmp(text, ",");
            sum += mark ? (double)(float)cJSON_GetArrayItem(cJSON_GetArrayItem(matrix, q), k)->valuedouble : 0;
            any |= mark;
        }
        rows += any;
    }
    ck_assert_double_ge(rows, 6);
    const char *got = succeed("$A heads " MARKS " --layer 2 --head 1 --format json | jq .rows[0].punctuation")->text;
    ck_assert_msg(fabs(strtod(got, NULL) - sum / rows) <= 1e-12, "%s, expected %.17g", got, sum / rows);
    expect("$A heads " MARKS " --by punctuation", 0, " dist punct\n");
    expect_exactly("$A heads " MARKS " --format json | jq -c '[.rows[].punctuation_chance] | unique | length'", "1\n");
    expect_exactly("$A heads -m tiny -s 'Lily lost her ball.' | grep -c punct || :; "
                   "$A heads -m tiny --repeat 8 --format json | "
                   "jq -c '[.rows[].punctuation] | unique'", "0\n[null]\n");
    expect("$A heads -m tiny -s 'Lily lost' --by punctuation", 0,
           "No head has punctuation: the text has no punctuation before its last");
    cJSON_Delete(doc);
}
END_TEST

/* ---- the summary of a batch ---- */

START_TEST(a_tidy_summary_has_the_scores_of_each_record)
{
    expect_exactly(LINES " | $A batch -m tiny -f - --summary $D/s --summary-form tidy; head -1 $D/s; wc -l <$D/s",
                   "record,layer,head,previous,self,first,duplicate,induction,entropy,spread,distance,copying,"
                   "punctuation,id,error\n73\n");
    expect_same("grep ^1, $D/s | cut -d, -f 2-13",
                "$A heads -m tiny -s 'One day, Tom saw Tom.' --format csv | tail -n +2 | cut -d, -f -12");
    expect_exactly("grep ^2,3,1, $D/s", "2,3,1,,,,,,,,,,,,\n");
    expect_same("cat $D/s", LINES " | $A batch -m tiny -f - --format summary --summary-form tidy");
}
END_TEST

START_TEST(a_tidy_summary_has_a_row_on_each_line)
{
    expect_exactly("printf '{\"id\":\"a\\\\nb\\\\\\\\c,\\\\r\",\"text\":\"the cat\"}\\n{\"id\":1}\\n' | "
                   "ends 3 $A batch -q -m tiny -f - --input ndjson "
                   "--format summary --summary-form tidy --layer 1 --head 1 | cut -d, -f 1-3,12- ",
                   "record,layer,head,copying,punctuation,id,error\n0,1,1,,,\"a\\nb\\\\c,\\r\",\n"
                   "1,,,,,1,\"has neither \"\"text\"\" nor \"\"ids\"\"\"\n");
}
END_TEST

START_TEST(a_tidy_summary_is_sharded_and_resumed)
{
    expect_exactly("cd $D; for i in 1 2 3 4 5 6 7; do echo 'the cat'; echo; printf '\\377\\n'; done >in; "
                   "X='-q -m tiny -f in --summary-form tidy'; "
                   "ends 3 $A batch $X --summary one -o one.ndjson; ends 3 $A batch $X --summary alone; cmp one alone; "
                   "for i in 0 1 2; do ends 3 $A batch $X --stride --shard $i/3 --summary s.$i -o p.$i; done; "
                   "$A merge p.0 p.1 p.2 --summary all -o all.ndjson; cmp one all && "
                   "cmp one.ndjson all.ndjson && echo same",
                       "same\n");
    expect("cd $D; $A batch -m tiny -f in --summary-form wide --summary one -o one.ndjson --resume 2>&1", 1,
           "summary-form");
    expect("$A batch -m tiny -f $D/in --summary-form long 2>&1", 2, "unknown value 'long'");
}
END_TEST

Suite *suite_heads_cmd(void)
{
    Suite *s = suite_create("heads_cmd");
    TCase *c = tcase_create("heads_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_table_is_sorted_and_narrow);
    tcase_add_test(c, noise_has_no_label);
    tcase_add_test(c, losses_say_whether_a_text_is_repeated);
    tcase_add_test(c, chance_is_that_of_what_a_layer_sees);
    tcase_add_test(c, tables_for_programs_are_the_same);
    tcase_add_test(c, the_best_are_the_same_in_every_format);
    tcase_add_test(c, punctuation_is_what_stands_before);
    tcase_add_test(c, texts_of_a_file_are_pooled);
    tcase_add_test(c, weights_may_be_negative);
    tcase_add_test(c, a_score_has_its_whole_name);
    tcase_add_test(c, what_begins_a_text_is_not_repeated);
    tcase_add_test(c, a_tidy_summary_has_the_scores_of_each_record);
    tcase_add_test(c, a_tidy_summary_has_a_row_on_each_line);
    tcase_add_test(c, a_tidy_summary_is_sharded_and_resumed);
    suite_add_tcase(s, c);
    return s;
}
