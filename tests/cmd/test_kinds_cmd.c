/* --attention, --scale, --dropout and --seed, as a shell meets them. */
#include "suites.h"

#include "grown.h"
#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <string.h>

#define LIFE "-s 'Life is short, eat dessert first' "
#define RUN "\"$A\" run -q " LIFE
#define STACKED "-m models/stacked -s 'The cat sees the moth' "

/* A dropout leaves out the same weights of the same formula. */
START_TEST(dropout_is_that_of_the_kind)
{
    expect_same("$A run -q -m tiny -s 'Lily lost her ball' --attention block:100 --dropout 0.5 --show context --layer "
                "0 --format csv",
                "$A run -q -m tiny -s 'Lily lost her ball' --attention causal --dropout 0.5 --show context --layer 0 "
                "--format csv");
    expect_same("$A run -q -m tiny -s 'Lily lost her ball' --attention block:100 --dropout 0.5 --show context,pattern "
                "--layer 0 --format json | jq -c '.activations[1].data'",
                "$A run -q -m tiny -s 'Lily lost her ball' --attention block:100 --dropout 0.5 --show context --layer "
                "0 --format json | jq -c '.activations[0].data'");
}
END_TEST

START_TEST(titles_and_documents_tell)
{
    expect(RUN "--attention window:2 --scale 0.5 --dropout 0.25 --seed 9 --format text", 0,
           "layer 0, head 0: attention pattern, window:2, scale 0.5, dropout 0.25 (seed 9) (rows: queries, "
           "columns: keys)\n");
    expect(RUN "--dropout 0.25 --show context", 0, "layer 0: context vectors, dropout 0.25 (seed 0)\n");
    expect(RUN "--dropout 0.25 --format term", 0, "attention pattern, dropout 0.25 (seed 0)");
    expect(RUN "--dropout 0.25 --format svg", 0, "attention pattern, dropout 0.25 (seed 0)");
    expect(RUN "--dropout 0.25 --format html", 0, "attention pattern, dropout 0.25 (seed 0)");
    expect(RUN "--attention causal --scale none --dropout 0.25 --seed 9 --format json", 0,
           "\"attention\":\"causal\",\n\"scale\":\"none\",\n\"dropout\":0.25,\n\"seed\":9,\n\"tokens\"");
    expect(RUN "--scale -0.1 --format json", 0, "\"scale\":-0.1,\n\"tokens\"");
    expect(RUN "--attention random:1,1,7 --dropout 0.5 -o $D/d --format npy && cat $D/d/manifest.json", 0,
           "first' --format npy --attention random:1,1,7 --dropout 0.5\",");
    expect("cat $D/d/manifest.json", 0, "\"head\":null,\"attention\":\"random:1,1,7\",\"dropout\":0.5,\"seed\":0}");
    expect("\"$A\" score " STACKED "--attention window:2 --dropout 0.5 --format json", 0,
           "\"attention\": \"window:2\",\n \"dropout\": 0.5,\n \"seed\": 0,\n \"tokens\"");
    expect("\"$A\" generate -q " STACKED "--attention linear -n 1 --format json", 0,
           "\"attention\": \"linear\",\n \"tokens\"");
}
END_TEST

/* Expects two commands to compute the same bits; what hid keys has another name. */
static void expect_same_numbers(const char *one, const char *other)
{
    expect(printed("\"$A\" run -q %s -o $D/a.npz && \"$A\" run -q %s -o $D/b.npz && "
                   "\"$A\" diff --exact $D/a.npz $D/b.npz", one, other), 0,
           "the same bit for bit");
}

START_TEST(kinds_agree_where_they_are_one)
{
    const char *neo = "-m tests/golden/checkpoints/neo-h --ids 1,2,3,4,5,6,7,8,9,10 ";
    char one[256];
    expect_same_numbers(STACKED "--show '*'", STACKED "--show '*' --attention model");
    expect_same_numbers(STACKED "--show '*' --attention causal", STACKED "--show '*' --attention window:5");
    expect_same_numbers(STACKED "--show '*'", STACKED "--show '*' --attention causal --scale sqrt");
    expect_same_numbers(STACKED "--show '*' --scale none", STACKED "--show '*' --scale 1");
    expect_same_numbers(STACKED "--show '*' --attention linear -t 1", STACKED "--show '*' --attention linear -t 5");
    expect_same_numbers(STACKED "--show logits --attention linear",
                        STACKED "--show logits,pattern --attention linear --show logits");
    expect_same_numbers(STACKED "--show '*' --dropout 0.3 --seed 5 -t 1",
                        STACKED "--show '*' --dropout 0.3 --seed 5 -t 5");
    snprintf(one, sizeof one, "%s --show logits --attention causal", neo);         /* local layers see all keys, too */
    expect_same_numbers(one, printed("%s --show logits --attention window:10", neo));
    expect_exactly(printed("\"$A\" run -q %s --show logits -o $D/c.npz; ends 1 cmp -s $D/a.npz $D/c.npz", neo), "");
}
END_TEST

static const char *const growing[] = {"model", "causal", "window:3", "strided:2,3", "random:2,2,5", "linear", "block:3",
                                      "causal --dropout 0.2 --seed 3", "linear --dropout 0.2",
                                      "random:1,3,1 --scale none"};
enum { GROWING = sizeof growing / sizeof *growing };

/* Token by token with the cache, or all at once: the log-probabilities are the same to the last digit. */
START_TEST(generation_is_what_all_at_once_gives)
{
    static const char *const models[] = {"models/stacked", "tests/golden/checkpoints/llama-f",
                                         "tests/golden/checkpoints/neo-h"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        grown_expect_same(printed("$A generate -q -m %s --ids 1,2,3,4,5,6 -n 14 --ignore-eos --attention %s "
                                  "--format json", models[m], growing[_i]),
                          printed("$A score -m %s --attention %s --format json --ids IDS", models[m], growing[_i]), 20);
}
END_TEST

START_TEST(kinds_that_look_ahead_are_refused)
{
    expect("\"$A\" score -q " STACKED "--attention causal-renorm", 0, "perplexity");
    succeed("cp -r models/stacked $D/m && sed -i 's/\"causal\"/\"none\"/' $D/m/config.json");
    expect("\"$A\" generate -m $D/m -s 'the cat' --attention linear 2>&1", 1, "has no mask");
    expect("\"$A\" generate -m $D/m -s 'the cat' --attention block:2 2>&1", 1, "has no mask");
    expect_same("\"$A\" generate -q -m $D/m -s 'the cat' -n 5 --attention causal",
                "\"$A\" generate -q -m models/stacked -s 'the cat' -n 5");
    expect_exactly("\"$A\" run -q " LIFE "--attention linear --show '*' | ends 1 grep 'dots\\|scores'", "");
}
END_TEST

/* The weight that the steps of explain lead to is the one in the run's pattern. */
/* The last word of the last line that has `part` in it. */
static const char *last_word(const char *text, const char *part)
{
    const char *at = NULL;
    for (const char *next = text; (next = strstr(next, part)); next++)
        at = next;
    ck_assert_msg(at != NULL, "'%s' is not in\n%s", part, text);
    const char *end = at + strcspn(at, "\n"), *word = end;
    while (word > at && word[-1] != ' ')
        word--;
    return printed("%.*s", (int)(end - word), word);
}

static void expect_weight_of_pattern(const char *line)
{
    const char *text = succeed(line)->text, *weight = last_word(text, "  weight = "),
        *pattern = last_word(text, "attn.pattern");
    ck_assert_msg(*weight && !strcmp(weight, pattern), "%s: %s and %s", line, weight, pattern);
}

START_TEST(explaining_leads_to_the_pattern)
{
    static const char *const kinds[] = {"model", "full", "causal", "causal-renorm", "window:2", "strided:1,2",
                                        "random:1,2,1", "linear",
                                        "block:2", "causal --scale none", "full --scale -3",
                                        "window:3 --dropout 0.5 --seed 1",
                                        "linear --dropout 0.5 --seed 2", "causal-renorm --dropout 0.4",
                                        "random:1,1,7 --dropout 0.5"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int key = 0; key < 6; key++)
            expect_weight_of_pattern(printed("$A explain -q " LIFE "--query 4 --key %d --attention %s", key, kinds[i]));
}
END_TEST

/* Hidden keys between the first and the last visible one must not appear in the mixture. */
START_TEST(explaining_mixes_only_what_is_seen)
{
    expect_exactly("\"$A\" explain " LIFE "--query 4 --attention strided:2,2 | "
                   "awk '/value of/{t = 1} /context\\[/{t = 0} t && NF {printf \"%s \", $1}'",
                   "value Life short eat dessert context ");
    expect("\"$A\" explain " LIFE "--query 4 --attention random:1,0,0", 0, "  context[0] = 1.0000·0.5605 = 0.5605\n");
    expect("\"$A\" explain -q -m models/stacked --ids 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --attention strided:1,4 | "
           "tr '\\n' ' '", 0,
           "1 more");
}
END_TEST

START_TEST(explaining_tells_what_the_scale_does)
{
    expect("\"$A\" explain " LIFE "--layer 0 --scale none", 0, "  scale             times  largest weight  entropy\n"
           "  of this run      1.0000          0.3580   1.4487\n  sqrt: 1/√d_head  0.7071          0.3102   1.5722\n");
    expect("\"$A\" explain " LIFE "--layer 0", 0,
           "  of this run  0.7071          0.3102   1.5722\n  none         1.0000          0.3580   1.4487\n");
    expect("\"$A\" explain " LIFE "--layer 0 --scale 0", 0, "  of this run      0.0000          0.1667   1.7918\n");
    expect("\"$A\" explain " LIFE "--layer 0 --attention causal-renorm 2>&1 >/dev/null", 0, "no weight is more than");
}
END_TEST

START_TEST(renormalising_is_reported)
{
    expect("\"$A\" run " LIFE "--attention causal-renorm 2>&1 >/dev/null", 0, "no weight is more than");
    expect_exactly("\"$A\" run -q " LIFE "--attention causal-renorm 2>&1 >/dev/null", "");
    expect("\"$A\" run " LIFE "--attention causal-renorm --scale 5000 2>&1 >/dev/null", 0, "were rounded to 0");
    expect_exactly("\"$A\" run -q " LIFE "--attention causal-renorm --scale 5000 --show '*' --format json | "
                   "ends 1 grep '\"nonfinite\":[1-9]'", "");
}
END_TEST

Suite *suite_kinds_cmd(void)
{
    Suite *s = suite_create("kinds_cmd");
    TCase *c = tcase_create("kinds_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, dropout_is_that_of_the_kind);
    tcase_add_test(c, titles_and_documents_tell);
    tcase_add_test(c, kinds_agree_where_they_are_one);
    tcase_add_loop_test(c, generation_is_what_all_at_once_gives, 0, GROWING);
    tcase_add_test(c, kinds_that_look_ahead_are_refused);
    tcase_add_test(c, explaining_leads_to_the_pattern);
    tcase_add_test(c, explaining_mixes_only_what_is_seen);
    tcase_add_test(c, explaining_tells_what_the_scale_does);
    tcase_add_test(c, renormalising_is_reported);
    suite_add_tcase(s, c);
    return s;
}
