/* The shipped models: every activation compared with double precision, and those of the articles' models also with
 * their examples in tests/golden/seeds. */
#include "suites.h"

#include "attn.h"
#include "golden.h"
#include "made.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *model, *seed; } models[] = {
    {"life", "00-06-causal"}, {"life-full", "00-03-self-attention"}, {"life-4-heads", "00-05-multi-head-4"},
    {"journey", "02-01-simplified"}, {"journey-causal", "02-05-causal-attention-d2"}, {"journey-multi-head", NULL},
    {"stacked", NULL},
};
enum { MODELS = sizeof models / sizeof *models };

/* Compares what a run announces, in order, with the golden file. */
struct watcher {
    const cJSON *next;                  /* next entry of "activations" */
    double rtol;
    cJSON *told;                        /* name: flat array of numbers */
};

static unsigned wants_all(void *self, int act, int layer)
{
    (void)self, (void)act, (void)layer;
    return ATTN_WATCH | ATTN_WHOLE;
}

static float element(const struct attn_probe *p, size_t i)
{
    size_t h = i / (p->rows * p->cols), t = i / p->cols % p->rows;
    return p->data[h * p->ld_head + t * p->ld + i % p->cols];
}

/* float32 against double precision: a few roundings in each of a dozen steps per block, of numbers up to about 10. */
static bool near(float got, float want, double rtol)
{
    return isinf(want) ? got == want : fabs((double)got - (double)want) <= rtol * (1 + fabs((double)want));
}

static int compare(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct watcher *w = self;
    size_t n;
    (void)err;
    ck_assert_msg(w->next != NULL, "%s is one too many", p->name);
    ck_assert_str_eq(p->name, w->next->string);
    float *want = golden_floats(w->next, &n);
    ck_assert_uint_eq(n, p->heads * p->rows * p->cols);
    cJSON *flat = cJSON_AddArrayToObject(w->told, p->name);
    for (size_t i = 0; i < n; i++) {
        float x = element(p, i);
        ck_assert_msg(near(x, want[i], w->rtol),
                      "%s[%zu] is %.9g, expected %.9g", p->name, i, (double)x, (double)want[i]);
        cJSON_AddItemToArray(flat,
                             isinf(x) ? cJSON_CreateString(x < 0 ? "-inf" : "inf") : cJSON_CreateNumber((double)x));
    }
    free(want);
    w->next = w->next->next;
    return ATTN_OK;
}

/* Encodes the golden file's text and runs it; `w` watches. */
static void run(const char *directory, const cJSON *doc, struct watcher *w)
{
    struct attn_err err = {0};
    struct attn_model *m = made_open(directory);
    struct attn_tokenizer *t = NULL;
    struct attn_tokens *tokens = NULL;
    struct attn_run *r = NULL;
    const char *text = golden_string(doc, "text");
    const cJSON *want = golden_get(doc, "ids");
    int32_t ids[64];
    ck_assert_msg(attn_tokenizer_open(&t, directory, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_msg(attn_encode(&tokens, t, text, strlen(text), &err) == ATTN_OK, "%s", err.msg);
    ck_assert_uint_eq(tokens->n, (size_t)cJSON_GetArraySize(want));
    for (size_t i = 0; i < tokens->n; i++) {
        ids[i] = tokens->tok[i].id;
        ck_assert_int_eq(ids[i], (int)cJSON_GetArrayItem(want, (int)i)->valuedouble);
    }
    struct attn_plan plan = {.rows = tokens->n, .seqs = 1, .threads = 2};
    struct attn_observer observer = {.wants = wants_all, .watch = compare, .self = w};
    struct attn_seq seq = {.T = tokens->n};
    ck_assert_msg(attn_run_new(&r, m, &plan, &observer, 1, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_msg(attn_run_forward(r, ids, &seq, 1, &err) == ATTN_OK, "%s", err.msg);
    attn_run_free(r);
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
    attn_model_close(m);
}

/* Compares head h of an announced activation with an article's example. */
static void check_head(const cJSON *told, const char *name, size_t h, const cJSON *expected, double tolerance)
{
    size_t all, n;
    float *got = golden_floats(golden_get(told, name), &all), *want = golden_floats(expected, &n);
    ck_assert_uint_le((h + 1) * n, all);
    for (size_t i = 0; i < n; i++) {
        float x = got[h * n + i];
        bool ok = isinf(want[i]) ? x == want[i] : fabs((double)x - (double)want[i]) <= tolerance;
        ck_assert_msg(ok, "%s head %zu [%zu] is %.9g, expected %.9g", name, h, i, (double)x, (double)want[i]);
    }
    free(got);
    free(want);
}

static void check_seed(const cJSON *told, const char *seed)
{
    static const struct { const char *name, *key; } same[] = {
        {"blocks.0.attn.q", "q"}, {"blocks.0.attn.k", "k"}, {"blocks.0.attn.v", "v"}, {"blocks.0.attn.dots", "scores"},
        {"blocks.0.attn.scores", "scaled_masked_scores"}, {"blocks.0.attn.pattern", "weights"},
    };
    size_t h = 0;
    cJSON *doc = golden_read(printed("tests/golden/seeds/%s.json", seed));
    const cJSON *head, *expected = golden_get(doc, "expected");
    double tolerance = 4 * golden_number(doc, "float32_max_abs_difference");    /* as in test_seeds.c */
    check_head(told, "embed", 0, golden_get(doc, "inputs"), 0);
    cJSON_ArrayForEach(head, golden_get(expected, "heads")) {
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            check_head(told, same[i].name, h, golden_get(head, same[i].key), tolerance);
        h++;
    }
    check_head(told, "blocks.0.attn.context", 0, golden_get(expected, "context"), tolerance);
    cJSON_Delete(doc);
}

START_TEST(every_activation)
{
    cJSON *doc = golden_read(printed("tests/golden/models/%s.json", models[_i].model));
    struct watcher w = {.next = golden_get(doc, "activations")->child, .told = cJSON_CreateObject(), .rtol = 2e-6};
    run(printed("models/%s", models[_i].model), doc, &w);
    ck_assert_msg(w.next == NULL, "%s was not told", w.next->string);
    if (models[_i].seed)
        check_seed(w.told, models[_i].seed);
    cJSON_Delete(w.told);
    cJSON_Delete(doc);
}
END_TEST

/* Opening one does not look. */
START_TEST(builtin_weights_are_finite)
{
    struct attn_err err = {0};
    for (const char *const *name = attn_model_builtin(); *name; name++) {
        struct attn_model *m = NULL;
        ck_assert_msg(!attn_model_open(&m, *name, &err) && !attn_model_check(m, &err), "%s", err.msg);
        attn_model_close(m);
    }
}
END_TEST

static const char *model_of(int i) { return models[i].model; }

Suite *suite_models(void)
{
    Suite *s = suite_create("models");
    TCase *t = tcase_create("shipped");
    attn_test_add_rows(t, every_activation, MODELS, model_of);
    tcase_add_test(t, builtin_weights_are_finite);
    suite_add_tcase(s, t);
    return s;
}
