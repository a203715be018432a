/* Metrics: what their texts mean, and their values and derivatives. */
#include "suites.h"

#include "ask/metric.h"
#include "asked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* The metric on `ids`, edited unless `edits` is NULL; the reference of kl is the run of `reference`, of
 * n tokens, too. */
static double measure(const struct asked *a, const char *text, const int32_t *ids, size_t n, const int32_t *reference,
                      const cJSON *edits)
{
    struct attn_err err = {0};
    struct attn_measure x = {.metric = asked_metric(a, text, ids, n, reference)};
    struct attn_plan plan = {.threads = 1};
    struct attn_tokens *t = asked_tokens(ids, n);
    struct asked_editor e = asked_edit_list(a, edits, t, NULL, &plan);
    struct attn_observer obs[] = {attn_measure_observer(&x), {.wants = NULL}};
    if (e.editor)
        obs[1] = attn_editor_observer(e.editor);
    ck_assert_msg(!attn_run_tokens(a->model, &plan, t, NULL, obs, e.editor ? 2 : 1, &err), "%s", err.msg);
    asked_edit_end(&e);
    attn_tokens_free(t);
    attn_metric_free((struct attn_metric *)x.metric);
    return x.value;
}

static void expect_close(const char *what, double got, double want, double float32)
{
    double limit = asked_limit(float32, 1 + fabs(want));
    ck_assert_msg(fabs(got - want) <= limit, "%s: %.9g, expected %.9g within %g", what, got, want, limit);
}

START_TEST(golden_values)
{
    int32_t ids[ASKED_IDS], from[ASKED_IDS];
    const cJSON *row;
    struct asked a = asked_open(asked_checkpoints[_i]);
    cJSON *doc = golden_read(asked_path(asked_checkpoints[_i], "metrics.json"));
    size_t n = asked_ids(ids, golden_get(doc, "ids"));
    ck_assert_uint_eq(asked_ids(from, golden_get(doc, "from")), n);
    cJSON_ArrayForEach(row, golden_get(doc, "rows")) {
        const char *text = golden_string(row, "metric");
        double off = golden_number(row, "float32_max_abs_difference");
        expect_close(text, measure(&a, text, ids, n, ids, NULL), golden_number(row, "text"), off);
        expect_close(text, measure(&a, text, from, n, ids, NULL), golden_number(row, "from"), off);
        expect_close(text, measure(&a, text, ids, n, ids, golden_get(doc, "edits")), golden_number(row, "edited"), off);
    }
    const cJSON *words = golden_get(doc, "with_text");
    n = asked_ids(ids, golden_get(words, "ids"));
    double as_text = measure(&a, golden_string(words, "metric"), ids, n, ids, NULL);
    expect_close("as text", as_text, golden_number(words, "value"), golden_number(words, "float32_max_abs_difference"));
    ck_assert_double_eq(as_text, measure(&a, golden_string(words, "same_as"), ids, n, ids, NULL));
    cJSON_Delete(doc);
    asked_close(&a);
}
END_TEST

/* One pass makes the reference and measures against it, whatever else makes it show every row; another measures the
 * same as against a reference that had a pass of its own. */
START_TEST(a_reference_of_the_pass_that_is_measured)
{
    enum { T = 5 };
    static const int32_t ids[T] = {4, 7, 2, 9, 9}, other[T] = {4, 7, 3, 9, 1};
    struct attn_err err = {0};
    struct asked a = asked_open("gpt2-a");
    struct attn_plan plan = {.threads = 1};
    struct attn_tokens *t = asked_tokens(ids, T), *u = asked_tokens(other, T);
    struct attn_metric *kl = NULL, *loss = asked_metric(&a, "loss", ids, T, ids);
    const struct attn_metric_of of = {.model = a.model, .ids = ids, .T = T};
    ck_assert(!attn_metric_new(&kl, "kl", &err) && !attn_metric_bind(kl, &of, &err));
    struct attn_measure x = {.metric = kl}, y = {.metric = loss};
    struct attn_observer obs[] = {attn_measure_observer(&x), attn_measure_observer(&y), attn_metric_refer_observer(kl)};
    ck_assert_int_eq(attn_run_tokens(a.model, &plan, t, NULL, obs, 2, &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "metric 'kl' is not bound to a text of this model, or has no reference");
    obs[0] = obs[2];
    obs[2] = attn_measure_observer(&x);
    ck_assert_msg(!attn_run_tokens(a.model, &plan, t, NULL, obs, 3, &err), "%s", err.msg);
    ck_assert_double_eq(x.value, 0);
    obs[0] = attn_measure_observer(&x);
    ck_assert(!attn_run_tokens(a.model, &plan, u, NULL, obs, 1, &err));
    ck_assert_double_gt(x.value, 0);
    ck_assert_double_eq(x.value, measure(&a, "kl", other, T, ids, NULL));
    attn_metric_free(kl);
    attn_metric_free(loss);
    attn_tokens_free(t);
    attn_tokens_free(u);
    asked_close(&a);
}
END_TEST

/* ---- derivatives ---- */

static const char *const smooth[] = {"logit(3)-logit(5)", "logprob(7)",
                                     "2*prob(7)-0.5*logprob(7,pos=1)+prob(2)", "loss",
                                     "kl", "prob(0,pos=-2)"};

START_TEST(slopes_are_central_differences)
{
    enum { T = 3, V = 11 };
    const double h = 1 / 1024.0;        /* a power of two: z + h and z - h are exact */
    struct attn_err err = {0};
    struct attn_metric *m = NULL;
    struct asked a = asked_open("gpt2-a");
    int32_t ids[T] = {4, 7, 2};
    float z[T][V], slope[V], reference[V];
    struct attn_metric_of of = {.model = a.model, .ids = ids, .T = T};
    ck_assert_msg(!attn_metric_new(&m, smooth[_i], &err) && !attn_metric_bind(m, &of, &err), "%s", err.msg);
    m->V = V;
    for (size_t j = 0; j < V; j++) {
        reference[j] = (float)((j * 5 % 7) / 2.0);
        for (size_t t = 0; t < T; t++)
            z[t][j] = (float)((j * 37 + t * 11) % 16 / 4.0 - 1);
    }
    ck_assert(!attn_metric_refer(m, reference, &err));
    for (size_t t = 0; t < T; t++) {
        if (!attn_metric_reads(m, t))
            continue;
        attn_metric_gradient(m, slope, t, z[t]);
        for (size_t j = 0; j < V; j++) {
            float here = z[t][j];
            z[t][j] = here + (float)h;
            double up = attn_metric_part(m, t, z[t]);
            z[t][j] = here - (float)h;
            double down = attn_metric_part(m, t, z[t]);
            z[t][j] = here;
            /* h^2 times third derivatives, below 2 */
            ck_assert_double_eq_tol((up - down) / (2 * h), (double)slope[j], 2e-6);
        }
    }
    attn_metric_free(m);
    asked_close(&a);
}
END_TEST

/* Where a token is almost certain, the derivative of its log-probability is the small rest, not a rounding error. */
START_TEST(slope_of_a_certain_token_is_exact)
{
    struct attn_err err = {0};
    struct attn_metric *m = NULL;
    struct asked a = asked_open("gpt2-a");
    int32_t id = 1;
    float z[] = {0, 18, 1}, slope[3];
    struct attn_metric_of of = {.model = a.model, .ids = &id, .T = 1};
    ck_assert(!attn_metric_new(&m, "logprob(1)", &err) && !attn_metric_bind(m, &of, &err));
    m->V = 3;
    attn_metric_gradient(m, slope, 0, z);
    double rest = (1 + exp(1)) / (1 + exp(1) + exp(18));
    ck_assert_double_eq_tol((double)slope[1], rest, rest * 1e-6);
    attn_metric_free(m);
    asked_close(&a);
}
END_TEST

/* ---- what is refused ---- */

static const struct { const char *text, *part; } wrong[] = {
    {"", "column 1: expected loss, kl, or terms"}, {"logit", "column 6: expected ( and a token"},
    {"logit(", "column 7: expected a token"}, {"logit(3", "column 8: expected ) or ,pos=P"},
    {"logit(3))", "column 9: expected + or - and another term"}, {"logit(3)+", "column 10: expected logit(TOKEN)"},
    {"logit(3)+loss", "loss and kl stand alone"}, {"kl-logit(3)", "column 1: expected loss, kl, logit(TOKEN)"},
    {"log(3)", "column 1: expected loss, kl, logit(TOKEN)"},
    {"1e301*logit(3)", "column 1: expected a factor up to 1e300"},
    {"logit(\"a)", "column 7: expected a closing quote"}, {"logit(\"\"", "column 9: expected ) or ,pos=P"},
    {"logit(\"\\q\")", "with the escapes of JSON"}, {"logit(3,4)", "column 9: expected pos=P"},
    {"logit(3,pos=x)", "column 13: expected a position"}, {"logit(3,pos=-0)", "expected a position"},
    {"logit(99999999999)", "column 7: expected a token"}, {"2logit(3)", "column 2: expected * after this number"},
    {"1e999*logit(3)", "column 1: expected"}, {"logit({})", "the name of a record's field"},
    {"logit(97)", "column 7: token id 97: model gpt2-a has ids 0 to 96 (vocab_size 97)"},
    {"logit(3,pos=4)", "pos=4, but the text has 4 tokens: 0 to 3, or -1 to -4"},
    {"logit(3,pos=-5)", "pos=-5, but the text has 4 tokens"},
        {"logit({answer})", "the metric names {answer}: there is no such field; fields are those of a batch's records"},
    {"logit(\"Every head\")",
     "column 7: \"Every head\" is 2 tokens: \"Every\" (83), \" head\" (69); expected a text that is "
     "one token"},
};

START_TEST(wrong_texts_are_refused_with_their_place)
{
    struct attn_err err = {0};
    struct attn_metric *m = NULL;
    struct asked a = asked_open("gpt2-a");
    int32_t ids[] = {1, 2, 3, 4};
    struct attn_metric_of of = {.model = a.model, .tokenizer = a.tokenizer, .ids = ids, .T = 4};
    int rc = attn_metric_new(&m, wrong[_i].text, &err) || attn_metric_bind(m, &of, &err);
    ck_assert_msg(rc && strstr(err.msg, wrong[_i].part), "'%s': %s", wrong[_i].text, err.msg);
    attn_metric_free(m);
    asked_close(&a);
}
END_TEST

START_TEST(blanks_fields_and_escapes_are_read)
{
    struct attn_err err = {0};
    struct attn_metric *m = NULL;
    struct asked a = asked_open("gpt2-a");
    int32_t ids[] = {1, 2, 3, 4};
    const struct attn_metric_field field[] = {{.name = "foil", .id = 5}, {.name = "answer", .text = " head", .len = 5}};
    struct attn_metric_of of = {.model = a.model, .tokenizer = a.tokenizer, .ids = ids, .T = 4, .field = field,
                                .n_fields = 2};
    const char *text = " - logit( {foil} ) +1.5e-1 * prob(\"\\u0020head\" , pos=-2)+rank({answer}) ";
    ck_assert_msg(!attn_metric_new(&m, text, &err) && !attn_metric_bind(m, &of, &err), "%s", err.msg);
    ck_assert_uint_eq(m->n, 3);
    ck_assert(m->term[0].id == 5 && m->term[0].factor == -1 && m->term[0].row == 3);
    ck_assert(m->term[1].id == 69 && m->term[1].factor == 0.15 && m->term[1].row == 2);
    ck_assert(m->term[2].id == 69 && attn_metric_has_fields(m) && attn_metric_has_words(m) &&
              !attn_metric_is_smooth(m));
    attn_metric_free(m);
    asked_close(&a);
}
END_TEST

/* What is not a number is above nothing, and nothing is above it. */
START_TEST(a_rank_among_nan_is_nan)
{
    struct attn_err err = {0};
    struct attn_metric *m = NULL;
    struct asked a = asked_open("gpt2-a");
    int32_t id = 1;
    struct attn_metric_of of = {.model = a.model, .ids = &id, .T = 1};
    float logits[97];
    for (int i = 0; i < 97; i++)
        logits[i] = (float)i;
    ck_assert(!attn_metric_new(&m, "rank(90)", &err) && !attn_metric_bind(m, &of, &err));
    ck_assert_uint_eq(m->V, sizeof logits / sizeof *logits);
    ck_assert_double_eq(attn_metric_part(m, 0, logits), 7);
    logits[_i] = NAN;
    ck_assert(isnan(attn_metric_part(m, 0, logits)));
    attn_metric_free(m);
    asked_close(&a);
}
END_TEST

/* ---- programs that forget a step are told ---- */

static void expect_told(int rc, const struct attn_err *err, const char *part)
{
    ck_assert_msg(rc && strstr(err->msg, part), "expected '%s': %d, %s", part, rc, err->msg);
}

START_TEST(what_was_not_prepared_is_said)
{
    struct attn_err err = {0};
    struct asked a = asked_open("gpt2-a");
    int32_t ids[] = {1, 2, 3, 4};
    struct attn_tokens *t = asked_tokens(ids, 4), *shorter = asked_tokens(ids, 3);
    struct attn_metric *m = NULL, *kl = NULL;
    struct attn_plan plan = {.threads = 1};
    ck_assert(!attn_metric_new(&m, "logit(5)", &err) && !attn_metric_new(&kl, "kl", &err));

    struct attn_measure x = {.metric = m}, y = {.metric = kl};
    struct attn_observer measures[] = {attn_measure_observer(&x), attn_measure_observer(&y)};
    expect_told(attn_run_tokens(a.model, &plan, t, NULL, &measures[0], 1, &err), &err,
                "metric 'logit(5)' is not bound to a text");
    struct attn_metric_of of = {.model = a.model, .ids = ids, .T = 4};
    ck_assert(!attn_metric_bind(kl, &of, &err) && !attn_metric_bind(m, &of, &err));
    expect_told(attn_run_tokens(a.model, &plan, t, NULL, &measures[1], 1, &err), &err, "has no reference");

    struct attn_patch *grid = NULL;
    struct attn_patch_opts opts = {.tokens = shorter, .from = shorter, .what = "v", .over = "layer", .metric = m,
                                   .plan = plan};
    expect_told(attn_patch_new(&grid, a.model, &opts, &err), &err, "is bound to a text of 4 tokens");
    struct attn_slopes *slopes = NULL;
    struct attn_slopes_opts back = {.metric = kl, .plan = plan};
    ck_assert(!attn_select_new((struct attn_select **)&back.select, a.model, &plan.kind, "v", NULL, NULL, &err));
    expect_told(attn_slopes_new(&slopes, a.model, t, &back, &err), &err, "has no reference");

    int32_t none = 97;
    struct attn_lens_opts lens = {.target = &none, .threads = 1};
    expect_told(attn_lens(a.model, t, &lens, &err), &err, "token id 97");
    struct attn_attribute_opts parts = {.foil = &none, .pos = -1, .threads = 1};
    expect_told(attn_attribute(a.model, t, &parts, &err), &err, "token id 97");

    attn_select_free((struct attn_select *)back.select);
    attn_metric_free(m);
    attn_metric_free(kl);
    attn_tokens_free(t);
    attn_tokens_free(shorter);
    asked_close(&a);
}
END_TEST

START_TEST(an_editor_says_what_it_was_not_told)
{
    struct attn_err err = {0};
    struct asked a = asked_open("gpt2-a");
    int32_t ids[] = {1, 2, 3, 4};
    struct attn_tokens *t = asked_tokens(ids, 4);
    struct attn_plan plan = {.threads = 1};
    struct attn_edits *list = NULL;
    struct attn_editor *e = NULL, *empty = NULL;
    ck_assert(!attn_edits_parse(&list, "L0H1 = from", &err));
    struct attn_editor_opts o = {.edits = list, .model = a.model, .from = t, .plan = plan};
    ck_assert(!attn_editor_new(&e, &o, &err) && !attn_editor_text(e, 0, ids, 4, false, &err));
    struct attn_observer observer = attn_editor_observer(e);
    expect_told(attn_run_tokens(a.model, &plan, t, NULL, &observer, 1, &err), &err,
                "edit 'L0H1 = from': the editor was not started");
    expect_told(attn_editor_text(e, SIZE_MAX, ids, 4, false, &err), &err, "no memory");
    ck_assert(!attn_editor_start(e, &err) && !attn_run_tokens(a.model, &plan, t, NULL, &observer, 1, &err));
    expect_told(attn_editor_touches(e, 1, &(struct attn_touch_watch){0}, &err), &err,
                "the editor was not told the text of sentence 1");

    o.edits = NULL;
    ck_assert(!attn_editor_new(&empty, &o, &err) && !attn_editor_text(empty, 0, ids, 4, false, &err));
    observer = attn_editor_observer(empty);
    ck_assert(!attn_run_tokens(a.model, &plan, t, NULL, &observer, 1, &err));
    attn_editor_free(e);
    attn_editor_free(empty);
    attn_edits_free(list);
    attn_tokens_free(t);
    asked_close(&a);
}
END_TEST

Suite *suite_metric(void)
{
    Suite *s = suite_create("metric");
    TCase *c = tcase_create("metric");
    attn_test_add_rows(c, golden_values, ASKED_CHECKPOINTS, asked_name);
    tcase_add_test(c, a_reference_of_the_pass_that_is_measured);
    tcase_add_loop_test(c, slopes_are_central_differences, 0, sizeof smooth / sizeof *smooth);
    tcase_add_test(c, slope_of_a_certain_token_is_exact);
    tcase_add_loop_test(c, wrong_texts_are_refused_with_their_place, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(c, blanks_fields_and_escapes_are_read);
    tcase_add_loop_test(c, a_rank_among_nan_is_nan, 89, 92);
    tcase_add_test(c, what_was_not_prepared_is_said);
    tcase_add_test(c, an_editor_says_what_it_was_not_told);
    suite_add_tcase(s, c);
    return s;
}
