/* The command lens: its numbers against recorded results of five families, its formats against each other. */
#include "suites.h"

#include "asked.h"
#include "base/utf8.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"gpt2-a", "llama-f", "neo-h", "neox-i", "qwen2-j"};
enum { NAMES = sizeof names / sizeof *names };

#define LILY "-s 'Lily lost her red ball in the park'"

static cJSON *document(const char *options)
{
    char line[1024];
    snprintf(line, sizeof line, "\"$A\" lens --format json %s", options);
    cJSON *doc = cJSON_Parse(succeed(line)->text);
    ck_assert_msg(doc != NULL, "%s\ngave no JSON", line);
    return doc;
}

/* ---- recorded results ---- */

static void near(double got, double want, double float32, const char *what, const cJSON *row)
{
    double bound = asked_limit(float32, 1 + fabs(want));
    ck_assert_msg(fabs(got - want) <= bound, "%s at %s, position %g: %.9g, expected %.9g (bound %g)", what,
                  golden_string(row, "point"), golden_number(row, "pos"), got, want, bound);
}

/* Closer logits than this may change places in float32. */
static const double DECIDED = 1e-4;

static void compare_row(const cJSON *got, const cJSON *want, const cJSON *lost)
{
    static const char *const numbers[] = {"logit", "logprob", "kl", "entropy"};
    const cJSON *top = golden_get(got, "top"), *likeliest = golden_get(want, "top");
    ck_assert_str_eq(golden_string(got, "point"), golden_string(want, "point"));
    ck_assert_double_eq(golden_number(got, "pos"), golden_number(want, "pos"));
    ck_assert_int_eq(cJSON_GetArraySize(top), 5);
    for (int k = 0; k < 5; k++) {
        if (golden_number(want, "margin") >= DECIDED)
            ck_assert_double_eq(golden_number(cJSON_GetArrayItem(top, k), "id"),
                                cJSON_GetArrayItem(golden_get(likeliest, "ids"), k)->valuedouble);
        near(golden_number(cJSON_GetArrayItem(top, k), "probability"),
             cJSON_GetArrayItem(golden_get(likeliest, "probabilities"), k)->valuedouble,
             golden_number(lost, "probabilities"),
             "a probability", want);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        near(golden_number(got, numbers[i]), golden_number(want, numbers[i]), golden_number(lost, numbers[i]),
             numbers[i], want);
    if (golden_number(want, "rank_margin") >= DECIDED)
        ck_assert_double_eq(golden_number(got, "rank"), golden_number(want, "rank"));
}

START_TEST(recorded_results)
{
    char options[512];
    cJSON *want = golden_read(asked_path(names[_i], "lens.json"));
    int n = snprintf(options, sizeof options,
                     "-m tests/golden/checkpoints/%s --points all --target %d --ids ", names[_i],
                     (int)golden_number(want, "target"));
    const cJSON *id;
    cJSON_ArrayForEach(id, golden_get(want, "ids"))
        n += snprintf(options + n, sizeof options - (size_t)n,
                      "%s%d", id->prev && id != golden_get(want, "ids")->child ? "," : "",
                      (int)id->valuedouble);
    cJSON *got = document(options);
    const cJSON *rows = golden_get(got, "rows"), *recorded = golden_get(want, "rows");
    ck_assert_int_eq(cJSON_GetArraySize(rows), cJSON_GetArraySize(recorded));
    const cJSON *a = rows->child;
    for (const cJSON *b = recorded->child; b; a = a->next, b = b->next)
        compare_row(a, b, golden_get(want, "float32_max_abs_difference"));
    cJSON_Delete(got);
    cJSON_Delete(want);
}
END_TEST

/* ---- what must hold for any model ---- */

static const char *const ways[] = {
    "-m tiny " LILY, "-m tiny " LILY " --compute bf16", "-m tiny " LILY " --attention window:2",
    "-m tiny " LILY " --attention linear",
    "-m tiny " LILY " --dropout 0.3 --seed 4", "-m tests/golden/checkpoints/neox-i --ids 1,2,3,4,5,6",
    "-m tiny " LILY " -t 3"};

/* After the last layer it is what the model predicts: score and generate say the same. */
START_TEST(the_last_point_is_the_prediction)
{
    cJSON *doc = document(ways[_i]);
    struct attn_info info = {0};
    struct attn_model *m = NULL;
    ck_assert(!attn_model_open(&m, strstr(ways[_i], "neox") ? "tests/golden/checkpoints/neox-i" : "tiny", NULL));
    attn_model_info(m, &info);
    int last = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, golden_get(doc, "rows")) {
        ck_assert_double_ge(golden_number(row, "kl"), 0);
        ck_assert_double_ge(golden_number(row, "entropy"), 0);
        ck_assert_double_le(golden_number(row, "entropy"), log((double)info.V) + 1e-9);
        if (golden_number(row, "layer") < (double)info.L - 1)
            continue;
        ck_assert_double_eq(golden_number(row, "kl"), 0);       /* the same bits */
        last++;
    }
    ck_assert_int_eq(last, cJSON_GetArraySize(golden_get(doc, "tokens")));
    attn_model_close(m);
    cJSON_Delete(doc);
}
END_TEST

/* The same bits for any number of threads. */
START_TEST(threads_change_nothing)
{
    expect_same("\"$A\" lens -m tiny " LILY " --target ' ball' --points all --format csv -t 1",
                "\"$A\" lens -m tiny " LILY " --target ' ball' --points all --format csv -t 3");
}
END_TEST

START_TEST(a_target_is_followed)
{
    enum { TOP = 60 };
    int found = 0;
    cJSON *doc = document("-m tiny " LILY " --target ' park' --top 60");
    const cJSON *row, *token;
    int32_t id = (int32_t)golden_number(golden_get(doc, "target"), "id");
    ck_assert_str_eq(golden_string(golden_get(doc, "target"), "text"), " park");
    cJSON_ArrayForEach(row, golden_get(doc, "rows")) {
        int rank = 1;
        double larger = -1, p = -1;
        cJSON_ArrayForEach(token, golden_get(row, "top")) {
            if ((int32_t)golden_number(token, "id") == id) {
                p = golden_number(token, "probability");
                break;
            }
            larger = golden_number(token, "probability");
            rank++;
        }
        if (p < 0) {
            ck_assert_double_gt(golden_number(row, "rank"), TOP);
            continue;
        }
        found++;
        /* both in double */
        ck_assert_double_le(fabs(log(p) - golden_number(row, "logprob")), 1e-12 * fabs(log(p)) + 1e-12);
        ck_assert(golden_number(row, "rank") == rank || larger == p);   /* equal logits have one rank */
    }
    ck_assert_int_gt(found, 4);
    cJSON_Delete(doc);
}
END_TEST

/* ---- formats ---- */

START_TEST(csv_has_the_numbers_of_json)
{
    expect_exactly("\"$A\" lens -m tiny -s 'Lily lost' --top 2 --format csv | head -1",
                   "point,layer,pos,top1_id,top1_text,top1_p,top2_id,top2_text,top2_p,logit,logprob,rank,kl,entropy\n");
    expect_same("\"$A\" lens -m tiny " LILY " --format csv", "\"$A\" lens -m tiny " LILY " --format tidy");
    expect("\"$A\" lens -m tiny " LILY " --top 1 --target 500 -o $D/x.json && \"$A\" lens -m tiny " LILY
           " --top 1 --target 500 -o $D/x.csv && grep -o '\"kl\":[^,]*,\"entropy\":[^}]*' $D/x.json | "
           "sed 's/\"[a-z]*\"://g' > $D/a && tail -n +2 $D/x.csv | sed 's/.*,\\([^,]*,[^,]*\\)$/\\1/' > $D/b && "
           "cmp $D/a $D/b && wc -l < $D/a", 0, "56");
    expect("\"$A\" lens -m tiny -s 'Lily lost' --format csv --top 1 | sed -n 3p", 0, "blocks.0.resid_pre,0,1,");
}
END_TEST

static void ck_narrow(const char *line)
{
    const char *at = succeed(line)->text;
    for (const char *end; *at && (end = strchr(at, '\n')); at = end + 1)
        ck_assert_msg(attn_utf8_width(at, (size_t)(end - at)) <= 80,
                      "%s\nis wider than 80 columns: %.*s", line, (int)(end - at), at);
}

START_TEST(text_fits_80_columns)
{
    ck_narrow("\"$A\" lens -m tiny " LILY " --points all --target ' park' --top 3");
    ck_narrow("\"$A\" lens -m tests/golden/checkpoints/qwen2-j --ids 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
    expect("\"$A\" lens -m tiny " LILY " --target ' ball'", 0, "rank of ·ball (id 500)\n");
    expect("\"$A\" lens -m tiny " LILY " --target ball 2>&1 >$D/x", 0, "\"ball\" is another token than \" ball\"");
    expect_exactly("\"$A\" lens -m tiny " LILY
                   " --target ' ball' 2>&1 >$D/x; \"$A\" lens -m induction -s dog --target dog 2>&1 >$D/x", "");
    expect("\"$A\" lens -m tiny " LILY, 0, "KL divergence of this prediction from the final one, in nats\n");
}
END_TEST

START_TEST(pictures)
{
    expect("\"$A\" lens -m tiny " LILY " -o $D/x.svg && grep -c '·park</text>' $D/x.svg", 0, "");
    expect("\"$A\" lens -m tiny " LILY " -o $D/x.png && head -c 4 $D/x.png", 0, "PNG");
    expect("\"$A\" lens -m tiny " LILY
           " --target 500 -o $D/x.html && grep -c '<th scope=\"row\">L3.resid_post' $D/x.html", 0, "1");
    expect_same("\"$A\" lens -m tiny " LILY " --target 500 --format html | grep -o '<small>[^<]*' | sed 's/.*>//'",
                "\"$A\" lens -m tiny " LILY
                " --target 500 --format csv | awk -F, 'NR > 1 { printf \"%.2g\\n\", exp($(NF - 3)) }'");
    expect("\"$A\" lens -m tiny " LILY " --target 500 --format svg", 0, "coloured by the probability of ·ball (rows: ");
    expect("\"$A\" lens -m tiny " LILY " --target ' the' --format html", 0,
           "; colour and number are the probability of ·the.</p>");
    expect("\"$A\" lens -m tiny " LILY " --target 500 --format svg --annotate | grep -c '>·park 0[.][0-9]*</text>'", 0,
           "");
    expect("\"$A\" lens -m tiny " LILY " --target 500 --format svg --annotate", 0,
           "likeliest next token; colour and number: the probability of ·ball (");
    /* a page has the colours of a figure, under each scale */
    for (const char *const *scale = (const char *const[]){"linear", "log", "row", NULL}; *scale; scale++)
        succeed(printed("set -- lens -m tiny " LILY
                        " --color-scale %s; \"$A\" \"$@\" -o $D/x.svg && \"$A\" \"$@\" -o $D/x.html && "
                        "grep -o 'height=\"20\" fill=\"#[^\"]*' $D/x.svg | sed 's/.*#//' >$D/svg && test -s $D/svg && "
                        "grep -o '<td style=\"background:#[^;]*' $D/x.html | sed 's/.*#//' | cmp - $D/svg", *scale));
    expect("\"$A\" lens -m tiny " LILY " -o $D/x.pdf && head -c 5 $D/x.pdf", 0, "%PDF-");
    expect("\"$A\" lens -m tiny -s '<b>&' -o $D/y.html && grep -c '<b>' $D/y.html", 1, "0");
}
END_TEST

/* Past the largest float32 there is no prediction, so no number tells of it, nor of how far others are from it. */
START_TEST(what_is_no_number_is_said)
{
    static const char line[] = "$A lens -m models/stacked -s 'the cat' --target 3 --edit 'L1.resid_post[pos=1] = 3e38' "
                               "--edit 'L2.resid_post[pos=1] *= 1e10' ";
    expect_exactly(printed("%s --format csv --top 1 | tail -1", line), "blocks.2.resid_post,2,1,,,,,,,,\n");
    expect_exactly(printed("%s --format csv --top 1 | cut -d, -f3,10 | grep -c '^1,$'", line), "4\n");
    expect_exactly(printed("%s --format html | grep -o 'title=\"no prediction[^\"]*' | uniq -c | sed 's/^ *//'", line),
                   "1 title=\"no prediction: a logit is NaN or infinite\n");
    expect(printed("%s | tail -1", line), 0, "nan");
}
END_TEST

START_TEST(what_is_refused)
{
    expect("\"$A\" lens -m tiny -s Lily -o $D/wide.svg --width 9999 2>&1", 2,
           "a width of 9999 mm: expected 20 to 2000");
}
END_TEST

Suite *suite_lens(void)
{
    Suite *s = suite_create("lens");
    TCase *c = tcase_create("lens");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, recorded_results, 0, NAMES);
    tcase_add_loop_test(c, the_last_point_is_the_prediction, 0, sizeof ways / sizeof *ways);
    tcase_add_test(c, threads_change_nothing);
    tcase_add_test(c, a_target_is_followed);
    tcase_add_test(c, csv_has_the_numbers_of_json);
    tcase_add_test(c, text_fits_80_columns);
    tcase_add_test(c, pictures);
    tcase_add_test(c, what_is_no_number_is_said);
    tcase_add_test(c, what_is_refused);
    suite_add_tcase(s, c);
    return s;
}
