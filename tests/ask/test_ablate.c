/* What comes next without each head: the same bits as whole runs that are edited, and pages that hold it. */
#include "suites.h"

#include "asked.h"
#include "checkpoints.h"
#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a head is a whole run, edited ------------------------------------------------------ */

enum { N = 9, EDITS = 4 };
static const int32_t ids[N] = {5, 9, 22, 31, 2, 7, 7, 40, 11}, from_ids[N] = {5, 9, 23, 31, 2, 8, 17, 40, 12};
static const char *const edits[EDITS] = {"resid_pre[pos=2] *= 1.5", "L1H0 *= 3", "L0.resid_post += 0.25*from",
                                         "logits[col=3] *= 2"};
static const struct { const char *kind; bool bf16; double dropout; } plans[] = {
    {NULL, false, 0}, {NULL, true, 0}, {"window:3", false, 0.2}, {"full", false, 0}, {"linear", false, 0},
    {"block:2", true, 0},
};
enum { PLANS = sizeof plans / sizeof *plans };

static const char *const metrics[] = {"loss", "logit(3)-2*prob(5,pos=2)", "rank(7)", "kl"};
enum { METRICS = sizeof metrics / sizeof *metrics };
struct whole { struct attn_compared what; double before[METRICS], after[METRICS]; };

static struct whole whole_run(const struct asked *a, const struct attn_plan *plan, const struct attn_tokens *t,
                              const struct attn_tokens *from, size_t n_edits, const char *without,
                              struct attn_ablated_metric metric[METRICS])
{
    struct attn_err err = {0};
    struct attn_compare *c = NULL;
    struct whole result = {.before = {0}};
    struct attn_measure before_of[METRICS], after_of[METRICS];
    const char *list[EDITS + 1];
    for (size_t i = 0; i < n_edits; i++)
        list[i] = edits[i];
    list[n_edits] = without;
    struct asked_editor before = asked_edit(a, list, n_edits, t, from, plan),
        after = asked_edit(a, list, n_edits + 1, t, from, plan);
    ck_assert(!attn_compare_new(&c, a->model, &err));
    const struct attn_observer none = {.wants = NULL};
    struct attn_observer one[2 + METRICS] = {before.editor ? attn_editor_observer(before.editor) : none,
                                             attn_compare_before(c)},
                         two[2 + METRICS] = {attn_editor_observer(after.editor), attn_compare_after(c)};
    for (size_t i = 0; i < METRICS; i++) {
        before_of[i] = after_of[i] = (struct attn_measure){.metric = metric[i].metric};
        one[2 + i] = attn_measure_observer(&before_of[i]);
        two[2 + i] = attn_measure_observer(&after_of[i]);
    }
    ck_assert_msg(!attn_run_tokens(a->model, plan, t, NULL, one, 2 + METRICS, &err) &&
                  !attn_run_tokens(a->model, plan, t, NULL, two, 2 + METRICS, &err) &&
                  !attn_compare_result(c, &result.what, &err), "%s", err.msg);
    for (size_t i = 0; i < METRICS; i++) {
        result.before[i] = before_of[i].value;
        result.after[i] = after_of[i].value;
    }
    asked_edit_end(&before);
    asked_edit_end(&after);
    attn_compare_free(c);
    return result;
}

/* Bound to the text; the reference of kl is its run without any edit. */
static void bind_metrics(struct attn_ablated_metric out[METRICS], const struct asked *a, const struct attn_plan *plan,
                         const struct attn_tokens *t)
{
    struct attn_err err = {0};
    const struct attn_metric_of of = {.model = a->model, .ids = ids, .T = N};
    for (size_t i = 0; i < METRICS; i++) {
        struct attn_metric *m = NULL;
        ck_assert_msg(!attn_metric_new(&m, metrics[i], &err) && !attn_metric_bind(m, &of, &err) &&
                      !attn_metric_refer_to(m, a->model, t, plan, &err), "%s", err.msg);
        out[i] = (struct attn_ablated_metric){.metric = m};
    }
}

START_TEST(a_head_has_the_bits_of_an_edited_run)
{
    struct attn_err err = {0};
    struct asked a = asked_open(checkpoints[_i / PLANS].name);
    struct attn_plan plan = {.threads = 1 + _i % 2, .bf16 = plans[_i % PLANS].bf16,
                             .kind = {.dropout = plans[_i % PLANS].dropout, .dropout_seed = 3}}, whole = plan;
    struct attn_select *heads = NULL;
    struct attn_info info;
    attn_model_info(a.model, &info);
    if (info.L < 2) {                   /* the edits are of layer 1, too */
        asked_close(&a);
        return;
    }
    struct attn_tokens *t = asked_tokens(ids, N), *from = asked_tokens(from_ids, N);
    if (plans[_i % PLANS].kind)
        ck_assert(!attn_kind_parse(&plan.kind, plans[_i % PLANS].kind, &err));
    whole.kind = plan.kind;
    whole.threads = 1;
    ck_assert(!attn_select_new(&heads, a.model, &plan.kind, "pattern", NULL, NULL, &err));
    struct attn_ablated_metric measured[METRICS];
    bind_metrics(measured, &a, &whole, t);
    for (size_t n_edits = 0; n_edits <= EDITS; n_edits += EDITS) {
        struct asked_editor own = asked_edit(&a, edits, n_edits, t, from, &whole);
        struct attn_ablate_opts o = {.tokens = t, .heads = heads, .editor = own.editor, .plan = plan,
                                     .metric = measured, .n_metrics = METRICS};
        struct attn_ablated *got = NULL;
        size_t n = 0;
        ck_assert_msg(!attn_ablate_heads(&got, &n, a.model, &o, &err), "%s", err.msg);
        ck_assert_uint_eq(n, info.L * info.H);
        for (size_t i = 0; i < n; i++) {
            char without[64];
            snprintf(without, sizeof without, "L%zuH%zu = 0", i / info.H, i % info.H);
            const struct whole run = whole_run(&a, &whole, t, from, n_edits, without, measured);
            const struct attn_compared want = run.what;
            ck_assert(got[i].layer == i / info.H && got[i].head == i % info.H && got[i].n == want.n_after);
            ck_assert_msg(got[i].kl == want.kl, "%s: %.17g, expected %.17g", without, got[i].kl, want.kl);
            for (size_t k = 0; k < want.n_after; k++)
                ck_assert(got[i].after[k].id == want.after[k].id && got[i].after[k].p == want.after[k].p);
            for (size_t k = 0; k < METRICS; k++)
                ck_assert_msg(measured[k].before == run.before[k] && measured[k].after[i] == run.after[k],
                              "%s: %s: %.17g, %.17g, expected %.17g, %.17g", without, metrics[k], measured[k].before,
                              measured[k].after[i], run.before[k], run.after[k]);
        }
        for (size_t k = 0; k < METRICS; k++)
            free(measured[k].after);
        free(got);
        asked_edit_end(&own);
    }
    for (size_t k = 0; k < METRICS; k++)
        attn_metric_free((struct attn_metric *)measured[k].metric);
    attn_select_free(heads);
    attn_tokens_free(t);
    attn_tokens_free(from);
    asked_close(&a);
}
END_TEST

/* What was not bound to the text, or has no reference, is no number. */
START_TEST(a_metric_must_be_ready)
{
    struct attn_err err = {0};
    struct asked a = asked_open(asked_checkpoints[0]);
    struct attn_tokens *t = asked_tokens(ids, N);
    struct attn_metric *m[2] = {NULL};
    const struct attn_metric_of of = {.model = a.model, .ids = ids, .T = N};
    ck_assert(!attn_metric_new(&m[0], "loss", &err) && !attn_metric_new(&m[1], "kl", &err) &&
              !attn_metric_bind(m[1], &of, &err));
    for (size_t i = 0; i < 2; i++) {
        struct attn_ablated_metric x = {.metric = m[i]};
        const struct attn_ablate_opts o = {.tokens = t, .metric = &x, .n_metrics = 1};
        struct attn_ablated *got = NULL;
        size_t n;
        ck_assert_int_eq(attn_ablate_heads(&got, &n, a.model, &o, &err), ATTN_EUSAGE);
        ck_assert_str_eq(err.msg, i ? "metric 'kl' has no reference" : "metric 'loss' is not bound to a text");
        ck_assert(!got && !n && !x.after);
        attn_metric_free(m[i]);
    }
    attn_tokens_free(t);
    asked_close(&a);
}
END_TEST

/* Heads that nobody chose are all of them. */
START_TEST(all_heads_without_a_selection)
{
    struct attn_err err = {0};
    struct asked a = asked_open(asked_checkpoints[0]);
    struct attn_tokens *t = asked_tokens(ids, N);
    struct attn_select *heads = NULL;
    struct attn_ablated *some = NULL, *all = NULL;
    size_t n_some, n_all;
    ck_assert(!attn_select_new(&heads, a.model, NULL, "pattern", NULL, NULL, &err));
    struct attn_ablate_opts o = {.tokens = t, .heads = heads}, none = {.tokens = t};
    ck_assert(!attn_ablate_heads(&some, &n_some, a.model, &o, &err) &&
              !attn_ablate_heads(&all, &n_all, a.model, &none, &err));
    ck_assert(n_some && n_some == n_all);
    for (size_t i = 0; i < n_all; i++)
        ck_assert(some[i].layer == all[i].layer && some[i].head == all[i].head && some[i].kl == all[i].kl);
    free(some);
    free(all);
    attn_select_free(heads);
    attn_tokens_free(t);
    asked_close(&a);
}
END_TEST

/* ---- pages -------------------------------------------------------------------------------- */

/* The data of the page that a line writes to $D/p.html. */
static cJSON *page_of(const char *options)
{
    char line[512];
    size_t len;
    snprintf(line, sizeof line, "\"$A\" run -q %s -o $D/p.html", options);
    succeed(line);
    char *page = golden_text(scratch_path("p.html"), &len);
    const char *at = strstr(page, "id=\"data\">");
    ck_assert_ptr_nonnull(at);
    cJSON *data = cJSON_Parse(at + strlen("id=\"data\">"));
    ck_assert_ptr_nonnull(data);
    free(page);
    return data;
}

/* A text so long that the heads of a layer take several passes. */
#define MANY \
    "\"$A\" init -o $D/m --family gpt2 --n-layer 2 --n-head 12 --d-model 96 --n-ctx 128 --vocab-size 40 --seed 1 && "
#define LONG "-m $D/m --ids \"$(seq -s, 1 39),$(seq -s, 1 39),$(seq -s, 1 30)\" "

START_TEST(passes_of_some_heads_each)
{
    succeed(MANY "true");
    cJSON *page = page_of(LONG "--ablations --show pattern --layer 1 --head 2,4-11");
    const cJSON *without = cJSON_GetObjectItem(page, "without"), *head;
    ck_assert_int_eq(cJSON_GetArraySize(without), 9);
    cJSON_ArrayForEach(head, without) {
        char line[512];
        int number = (int)golden_number(head, "head");
        snprintf(line, sizeof line, "\"$A\" run " LONG "--show tokens --format json --ablate L1H%d", number);
        cJSON *run = cJSON_Parse(succeed(line)->text);
        const cJSON *compare = cJSON_GetObjectItem(run, "compare");
        ck_assert_double_eq(golden_number(head, "layer"), 1);
        ck_assert_double_eq(golden_number(head, "kl"), golden_number(compare, "kl"));
        for (int k = 0; k < 5; k++) {
            const cJSON *got = cJSON_GetArrayItem(cJSON_GetObjectItem(head, "next"), k),
                        *want = cJSON_GetArrayItem(cJSON_GetObjectItem(compare, "after"), k);
            ck_assert_double_eq(golden_number(got, "id"), golden_number(want, "id"));
            ck_assert_float_eq((float)golden_number(got, "p"), (float)golden_number(want, "probability"));
        }
        cJSON_Delete(run);
    }
    cJSON_Delete(page);
}
END_TEST

START_TEST(nothing_is_there_that_was_not_asked_for)
{
    cJSON *page = page_of("-m tiny -s 'Lily lost her' --show pattern");
    static const char *const keys[] = {"without", "lens", "noLens", "edits", "noNext"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ck_assert_ptr_null(cJSON_GetObjectItem(page, keys[i]));
    cJSON_Delete(page);
    page = page_of("-m tiny -s 'Lily lost her' --show pattern --ablations --edit 'L0H1  =  0'");
    ck_assert_str_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(page, "edits"), 0)->valuestring, "L0H1 = 0");
    ck_assert_double_eq(golden_number(cJSON_GetArrayItem(cJSON_GetObjectItem(page, "without"), 1), "kl"), 0);
    cJSON_Delete(page);
}
END_TEST

START_TEST(the_lens_of_a_page_is_that_of_the_command)
{
    cJSON *page = page_of("-m tiny -s 'Lily lost her red ball' --show pattern,lens"), *got, *at;
    cJSON *command = cJSON_Parse(succeed("\"$A\" lens -m tiny -s 'Lily lost her red ball' --format json")->text);
    const cJSON *row = cJSON_GetObjectItem(command, "rows")->child;
    const cJSON *sheets = cJSON_GetObjectItem(page, "sheets"), *sheet;
    /* a page has no row of the embedding */
    while (strcmp(golden_string(row, "point"), "blocks.0.resid_post") != 0)
        row = row->next;
    cJSON_ArrayForEach(got, cJSON_GetObjectItem(page, "lens"))
        cJSON_ArrayForEach(at, cJSON_GetObjectItem(got, "at")) {
            ck_assert_double_eq(golden_number(got, "layer"), golden_number(row, "layer"));
            for (int k = 0; k < 5; k++) {
                const cJSON *have = cJSON_GetArrayItem(at, k),
                    *want = cJSON_GetArrayItem(cJSON_GetObjectItem(row, "top"), k);
                ck_assert_double_eq(golden_number(have, "id"), golden_number(want, "id"));
                ck_assert_str_eq(golden_string(have, "text"), golden_string(want, "text"));
                ck_assert_float_eq((float)golden_number(have, "p"), (float)golden_number(want, "probability"));
            }
            row = row->next;
        }
    ck_assert_ptr_null(row);
    cJSON_ArrayForEach(sheet, sheets)
        ck_assert_str_eq(golden_string(sheet, "kind"), "attn.pattern");
    cJSON_Delete(command);
    cJSON_Delete(page);
}
END_TEST

START_TEST(a_lens_too_large_for_a_page_is_named)
{
    succeed("\"$A\" init -o $D/deep --family gpt2 --n-layer 40 --n-head 1 --d-model 4 --n-ctx 512 --vocab-size "
            "20 --seed 1");
    cJSON *page = page_of("-m $D/deep --ids \"$(printf '7,%.0s' $(seq 409))7\" --show lens,embed");
    ck_assert_str_eq(golden_string(page, "noLens"),
                     "40 layers at 410 positions are more than the 16384 cells that a page has room for: "
                                                    "choose layers with --layer, or take the command lens");
    ck_assert_ptr_null(cJSON_GetObjectItem(page, "lens"));
    cJSON_Delete(page);
    page = page_of("-m $D/deep --ids \"$(printf '7,%.0s' $(seq 409))7\" --show lens,embed --layer 1-39");
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(page, "lens")), 39);
    cJSON_Delete(page);
}
END_TEST

/* ---- as a table ---- */

#define TABLE "\"$A\" run -m tiny -s 'Lily lost her' --ablations --layer 1,2 --edit 'L0H1 = 0' "
/* Parses the CSV on standard input: one row per head, with what stands in the objects of the document $D/json. */
#define SAME "$PYTHON -c 'import csv, json, sys\n" \
    "rows = json.load(open(sys.argv[1]))[\"rows\"]\n" \
    "cells = list(csv.DictReader(sys.stdin))\n" \
    "assert len(rows) == len(cells)\n" \
    "for row, cell in zip(rows, cells):\n" \
    "    assert all(float(cell[k]) == row[k] for k in (\"layer\", \"head\", \"kl\"))\n" \
    "    for i, t in enumerate(row[\"top\"], 1):\n" \
    "        assert (int(cell[f\"top{i}_id\"]), cell[f\"top{i}_text\"]) == (t[\"id\"], t[\"text\"])\n" \
    "        assert float(cell[f\"top{i}_p\"]) == t[\"probability\"]\n" \
    "print(len(cells))' $D/json"

START_TEST(a_row_a_head)
{
    succeed(TABLE "--format json -o $D/json");
    expect_exactly(TABLE "--format csv | " SAME, "8\n");
    expect_same(TABLE "--format csv", TABLE "--format tidy -o $D/x.tidy && cat $D/x.tidy");
    expect_same(TABLE "--format md", TABLE "-o $D/x.md && cat $D/x.md");
    expect_same(TABLE "--format ndjson", TABLE "-o $D/x.ndjson && cat $D/x.ndjson");
    expect(TABLE, 0, "layer  head      KL  1");
    expect_exactly("jq -r '.edits[0], (.rows[0] | .layer, .head)' $D/json; " TABLE "| wc -l", "L0H1 = 0\n1\n0\n9\n");
    /* What comes next is that of an edited run. */
    expect_same("jq -c '.rows[5].top | map(.id, .probability)' $D/json",
                "\"$A\" run -m tiny -s 'Lily lost her' --edit 'L0H1 = 0' --ablate L2H1 --format json | "
                "jq -c '.compare.after | map(.id, .probability)'");
}
END_TEST

Suite *suite_ablate(void)
{
    Suite *s = suite_create("ablate");
    TCase *c = tcase_create("ablate");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, a_head_has_the_bits_of_an_edited_run, 0, CHECKPOINTS_HERE * PLANS);
    tcase_add_test(c, a_metric_must_be_ready);
    tcase_add_test(c, all_heads_without_a_selection);
    tcase_add_test(c, passes_of_some_heads_each);
    tcase_add_test(c, nothing_is_there_that_was_not_asked_for);
    tcase_add_test(c, the_lens_of_a_page_is_that_of_the_command);
    tcase_add_test(c, a_lens_too_large_for_a_page_is_named);
    tcase_add_test(c, a_row_a_head);
    suite_add_tcase(s, c);
    return s;
}
