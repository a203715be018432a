/* attn-cli run --metric: what a metric is for a text, before edits and after them, or without each head. */
#include "suites.h"

#include "asked.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LILY "-m tiny -s 'Lily lost her red' "
#define TERMS "--metric 'logit(\" ball\")-2*prob(\" dress\",pos=2)' "
#define GPT2 "-m tests/golden/checkpoints/gpt2-a --ids 83,69,74,32,68,95,56,44,42,93,2,72 "

/* ---- values ---- */

/* Adds an option for each of a list, quoted for the shell. */
static void add_each(char *line, size_t size, const char *option, const cJSON *list, const char *key)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
        snprintf(line + strlen(line), size - strlen(line), " %s '%s'", option,
                 key ? golden_string(item, key) : item->valuestring);
}

static void expect_near(const cJSON *row, const char *key, double want, double float32)
{
    double limit = asked_limit(float32, 1 + fabs(want)), got = golden_number(row, key);
    ck_assert_msg(fabs(got - want) <= limit, "%s: %s: %.9g, expected %.9g within %g", golden_string(row, "metric"), key,
                  got, want, limit);
}

/* A line that runs the recorded text. */
static void begin(char *line, size_t size, const char *checkpoint, const cJSON *doc)
{
    int32_t ids[ASKED_IDS];
    size_t n = asked_ids(ids, golden_get(doc, "ids"));
    snprintf(line, size, "\"$A\" run -m tests/golden/checkpoints/%s --format json --ids ", checkpoint);
    for (size_t i = 0; i < n; i++)
        snprintf(line + strlen(line), size - strlen(line), "%s%d", i ? "," : "", (int)ids[i]);
}

/* Both columns against the double-precision reference, and their difference is that of these numbers. */
START_TEST(recorded_values)
{
    char line[2048];
    cJSON *doc = golden_read(asked_path(asked_checkpoints[_i], "metrics.json"));
    const cJSON *want = golden_get(doc, "rows");
    begin(line, sizeof line, asked_checkpoints[_i], doc);
    add_each(line, sizeof line, "--metric", want, "metric");
    add_each(line, sizeof line, "--edit", golden_get(doc, "edits"), NULL);
    cJSON *said = cJSON_Parse(succeed(line)->text);
    const cJSON *rows = golden_get(said, "rows");
    ck_assert_int_eq(cJSON_GetArraySize(rows), cJSON_GetArraySize(want));
    for (int i = 0; i < cJSON_GetArraySize(want); i++) {
        const cJSON *got = cJSON_GetArrayItem(rows, i), *is = cJSON_GetArrayItem(want, i);
        double off = golden_number(is, "float32_max_abs_difference");
        ck_assert_str_eq(golden_string(got, "metric"), golden_string(is, "metric"));
        expect_near(got, "before", golden_number(is, "text"), off);
        expect_near(got, "after", golden_number(is, "edited"), off);
        ck_assert_double_eq(golden_number(got, "difference"),
                            golden_number(got, "after") - golden_number(got, "before"));
    }
    cJSON_Delete(said);
    cJSON_Delete(doc);
}
END_TEST

START_TEST(recorded_heads)
{
    char line[2048];
    cJSON *doc = golden_read(asked_path(asked_checkpoints[_i], "edits.json"));
    const cJSON *heads = golden_get(doc, "single_heads"), *want = golden_get(heads, "cases"), *row;
    const double off = golden_number(heads, "float32_max_abs_difference");
    begin(line, sizeof line, asked_checkpoints[_i], doc);
    cJSON *said = cJSON_Parse(succeed(strcat(line, " --ablations --metric kl --metric loss"))->text);
    int i = 0;
    cJSON_ArrayForEach(row, golden_get(said, "rows")) {
        const cJSON *is = cJSON_GetArrayItem(want, i / 2);
        ck_assert_double_eq(golden_number(row, "layer"), golden_number(is, "layer"));
        ck_assert_double_eq(golden_number(row, "head"), golden_number(is, "head"));
        ck_assert_str_eq(golden_string(row, "metric"), i % 2 ? "loss" : "kl");
        expect_near(row, "before", i % 2 ? golden_number(doc, "loss") : 0, off);
        expect_near(row, "after", golden_number(is, i % 2 ? "loss" : "kl"), off);
        i++;
    }
    ck_assert_int_eq(i, 2 * cJSON_GetArraySize(want));
    cJSON_Delete(said);
    cJSON_Delete(doc);
}
END_TEST

/* The bits are those of all who measure the same. */
START_TEST(other_commands_measure_the_same)
{
#define TWO LILY TERMS "--from 'Lily lost his red' --format json "
    expect_same("\"$A\" patch " TWO "--what context --over layer,head | jq -c '.metric_text, (.rows[] | .metric)'",
                "\"$A\" run " LILY TERMS "--format json | jq -c '.rows[0].value'; for l in {0..5}; do for h in {0..3}; "
                                         "do \"$A\" run " TWO "--patch L${l}H$h | jq -c '.rows[0].after'; done; done");
    succeed("printf '{\"text\":\"Lily lost her red\",\"from\":\"Lily lost his red\"}\\n' >$D/in.ndjson");
    expect_same("\"$A\" batch -m tiny -f $D/in.ndjson --patch context --over layer,head " TERMS
                "| jq -c '.metric_text, .rows[20].metric'",
                "\"$A\" run " TWO "--patch L5H0 | jq -c '.rows[0] | .before, .after'");
    expect_same("\"$A\" run " LILY "--gradient loss --show embed --edit 'L0H0 *= 0.5' --format json | jq -c .value",
                "\"$A\" run " LILY "--metric loss --edit 'L0H0 *= 0.5' --no-compare --format json | jq -c "
                                   ".rows[0].value");
    expect_same("\"$A\" run " LILY "--ablate L2H0 --show tokens --format json | jq -c .compare.kl",
                "\"$A\" run " LILY "--ablate L2H0 --metric loss --metric kl --format json | jq -c .rows[1].after");
    /* A sum of the same terms in another order. */
    expect_exactly("{ \"$A\" score " LILY "--ablate L2H0 --format json | jq '-.logprob / .n'; \"$A\" run " LILY
                   "--ablate L2H0 --metric loss --format json | jq .rows[0].after; } | jq -s '(.[0] - .[1]) / .[0] | "
                   "fabs < 1e-12'",
                   "true\n");
}
END_TEST

/* What else is measured or how, and a run with and without edits beside it, change no bit. */
START_TEST(neighbours_change_nothing)
{
    expect_same("\"$A\" run " GPT2 "--metric kl --metric loss --metric 'logit(34)' --edit 'L0H0 = 0' --format csv -t 1 "
                                   "| sed 1d | sort",
                "for m in kl loss 'logit(34)'; do \"$A\" run " GPT2 "--metric $m --edit 'L0H0 = 0' --format csv -t 3 | "
                                                                    "sed 1d; done | sort");
    expect_same("\"$A\" run " GPT2 "--metric kl --metric loss --edit 'L0H0 = 0' --format json | jq -c '.rows[] | "
                                   ".after'",
                "\"$A\" run " GPT2 "--metric kl --metric loss --edit 'L0H0 = 0' --format json --no-compare | jq -c "
                                   "'.rows[] | .value'");
    expect_same("\"$A\" run " GPT2 "--metric loss --metric 'rank(3)' --format json | jq -c '.rows[] | .value'",
                "\"$A\" run " GPT2 "--metric loss --metric 'rank(3)' --edit 'L0H0 *= 1' --format json | jq -c '.rows[] "
                                   "| .after'");
}
END_TEST

/* With another text's keys, of which the reference of kl has the same. */
START_TEST(another_text_provides_the_keys)
{
    expect_exactly("\"$A\" run " LILY "--cross 'big dog' --metric kl --metric loss --ablate L1H1 --format json | "
                   "jq -c '.context_text, (.context_tokens | length), .rows[0].before, .rows[0].after > 0'",
                   "\"big dog\"\n2\n0\ntrue\n");
    expect_same("\"$A\" run " LILY "--cross 'big dog' --metric kl --ablate L1H1 --format json | jq -c .rows[0].after",
                "\"$A\" run " LILY "--cross 'big dog' --ablate L1H1 --show tokens --format json | jq -c .compare.kl");
}
END_TEST

/* ---- the table ---- */

START_TEST(columns_follow_the_question)
{
    expect_exactly("\"$A\" run " LILY "--metric 'rank(\" ball\")'", "metric          value\nrank(\" ball\")  2.0000\n");
    expect_exactly("\"$A\" run " LILY "--metric 'rank(\" ball\")' --precision 0 --ablate L2H0",
                   "metric         before  after  difference\nrank(\" ball\")       2      2           0\n");
    expect_exactly("\"$A\" run " LILY "--metric 'rank(\" ball\")' --no-compare --ablate L2H0 --format csv",
                   "metric,value\n\"rank(\"\" ball\"\")\",2\n");
    expect("\"$A\" run " LILY "--metric 'logprob(\"ball\")' 2>&1 >$D/x", 0, "\"ball\" is another token than \" ball\"");
    expect_exactly("\"$A\" run " LILY "--metric 'logprob(\" ball\")+prob(3)' 2>&1 >$D/x", "");
    expect_exactly("\"$A\" run " LILY "--metric 'logprob(500)' --edit 'logits[col=500] = -inf' --format json | jq -c "
                                      "'.edits, .rows[0].after'",
                   "[\"logits[col=500] = -inf\"]\nnull\n");
    expect_exactly("\"$A\" run " LILY "--metric 'logprob(500)' --edit 'logits[col=500] = -inf' --format csv | cut -d, "
                                      "-f3-4",
                   "after,difference\n-inf,-inf\n");
    expect_same("\"$A\" run " LILY "--metric loss -o $D/x.ndjson && cat $D/x.ndjson",
                "\"$A\" run " LILY "--metric loss --format ndjson");
    expect("\"$A\" run " LILY "--metric kl 2>&1 >/dev/null", 0, "without edits kl is 0");
    expect_exactly("\"$A\" run " LILY "--metric loss --ablate L0H0 --dry-run | head -1", "L0H0 = 0\n");
    if (!no_terminal())
        ck_assert_ptr_nonnull(strstr(on_terminal("\"$A\" run " LILY "--metric loss", 0), "metric   value"));
}
END_TEST

#define GRID "\"$A\" run " LILY "--ablations --metric kl " TERMS "--edit 'L0H0 *= 0.5' "

/* One command makes the grid that a run for each head makes. */
START_TEST(a_grid_of_heads)
{
    expect_exactly("\"$A\" run " LILY "--ablations --metric loss --layer 2 --head 1 --format csv | head -1",
                   "layer,head,metric,before,after,difference\n");
    expect_exactly(GRID "--format csv | wc -l", "49\n");
    expect_same(GRID "--layer 3 --format json | jq -c '.edits[0], (.rows[] | .before, .after)'",
                "echo '\"L0H0 *= 0.5\"'; "
                "\"$A\" run " LILY "--metric kl " TERMS "--edit 'L0H0 *= 0.5' --format json | "
                "jq -c '.rows[] | .after' >$D/before; "
                "for h in {0..3}; do \"$A\" run " LILY "--metric kl " TERMS
                "--edit 'L0H0 *= 0.5' --ablate L3H$h --format json | "
                "jq -c '.rows[] | .after' | paste -d '\\n' $D/before -; done");
    expect_same("\"$A\" run " LILY "--ablations --metric kl --format json | jq -c '.rows[] | .after'",
                "\"$A\" run " LILY "--ablations --format json | jq -c '.rows[] | .kl'");
}
END_TEST

Suite *suite_metrics_cmd(void)
{
    Suite *s = suite_create("metrics_cmd");
    TCase *c = tcase_create("metrics_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 60);
    attn_test_add_rows(c, recorded_values, ASKED_CHECKPOINTS, asked_name);
    attn_test_add_rows(c, recorded_heads, ASKED_CHECKPOINTS, asked_name);
    tcase_add_test(c, other_commands_measure_the_same);
    tcase_add_test(c, neighbours_change_nothing);
    tcase_add_test(c, another_text_provides_the_keys);
    tcase_add_test(c, columns_follow_the_question);
    tcase_add_test(c, a_grid_of_heads);
    suite_add_tcase(s, c);
    return s;
}
