/* Gradients of a metric with respect to activations: recorded ones, and differences for every kind of
 * attention and model. */
#include "suites.h"

#include "asked.h"
#include "checkpoints.h"
#include "keep.h"
#include "made.h"
#include "model/model.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct attn_slopes *slopes_of(const struct attn_model *m, const struct attn_metric *metric,
                                     const struct attn_tokens *t, const char *show, struct attn_slopes_opts o)
{
    struct attn_err err = {0};
    struct attn_select *what = NULL;
    struct attn_slopes *s = NULL;
    ck_assert_msg(!attn_select_new(&what, m, &o.plan.kind, show, NULL, NULL, &err), "%s", err.msg);
    o.metric = metric;
    o.select = what;
    ck_assert_msg(!attn_slopes_new(&s, m, t, &o, &err), "%s", err.msg);
    attn_select_free(what);
    return s;
}

static void keep_slopes(struct keep *k, const struct attn_slopes *s)
{
    struct attn_err err = {0};
    struct attn_observer to = keep_observer(k);
    ck_assert_msg(!attn_slopes_show(s, &to, &err), "%s", err.msg);
    ck_assert_uint_eq(k->disorder, 0);
}

/* ---- recorded ones ---- */

/* Compares gradients with the members ROW/NAME of an archive. */
static void compare(const struct keep *k, const struct attn_dump *archive, int row, const cJSON *want)
{
    struct attn_dump_array a;
    char member[96];
    size_t found = 0;
    for (size_t i = 0; attn_dump_array(archive, i, &a) >= 0; i++) {
        int n = snprintf(member, sizeof member, "%d/", row);
        if (strncmp(a.name, member, (size_t)n) != 0)
            continue;
        const struct kept *got = keep_find(k, a.name + n, 0);
        const cJSON *info = golden_get(golden_get(want, "arrays"), a.name + n);
        double limit = asked_limit(golden_number(info, "float32_max_abs_difference"), golden_number(info, "max_abs"));
        ck_assert_msg(got != NULL, "%s is missing", a.name);
        for (size_t j = 0; j < got->n; j++)
            ck_assert_msg(fabs((double)got->data[j] - (double)a.data[j]) <= limit,
                          "%s[%zu]: %.9g, expected %.9g within %g",
                          a.name, j, (double)got->data[j], (double)a.data[j], limit);
        found++;
    }
    ck_assert_uint_ge(found, 10);
}

START_TEST(golden_gradients_of_activations)
{
    int32_t ids[ASKED_IDS], from_ids[ASKED_IDS];
    int number = 0;
    struct attn_err err = {0};
    struct attn_dump *archive = NULL;
    const cJSON *row;
    const char *path = asked_path(asked_checkpoints[_i], "gradients.npz");
    if (!path)
        return;
    ck_assert_msg(!attn_dump_open(&archive, path, &err), "%s", err.msg);
    struct asked a = asked_open(asked_checkpoints[_i]);
    cJSON *doc = golden_read(asked_path(asked_checkpoints[_i], "gradients.json"));
    size_t n = asked_ids(ids, golden_get(doc, "ids"));
    ck_assert_uint_eq(asked_ids(from_ids, golden_get(doc, "from")), n);
    struct attn_tokens *t = asked_tokens(ids, n), *from = asked_tokens(from_ids, n);
    cJSON_ArrayForEach(row, golden_get(doc, "rows")) {
        struct attn_metric *m = asked_metric(&a, golden_string(row, "metric"), ids, n, ids);
        struct keep k = {.only = -1};
        struct attn_plan plan = {.threads = 1 + number % 2};
        struct asked_editor e = asked_edit_list(&a, golden_get(row, "edits"), t, from, &plan);
        struct attn_slopes *s = slopes_of(a.model, m, t,
                                          "*,result", (struct attn_slopes_opts){.plan = plan, .editor = e.editor});
        double value = golden_number(row, "value"), off = golden_number(row, "float32_max_abs_difference");
        ck_assert_double_eq_tol(attn_slopes_value(s), value, asked_limit(off, 1 + fabs(value)));
        keep_slopes(&k, s);
        compare(&k, archive, number++, row);
        keep_free(&k);
        attn_slopes_free(s);
        asked_edit_end(&e);
        attn_metric_free(m);
    }
    attn_tokens_free(t);
    attn_tokens_free(from);
    cJSON_Delete(doc);
    asked_close(&a);
    attn_dump_free(archive);
}
END_TEST

/* ---- differences ---- */

#define NATIVE(more) "{\"model_type\": \"attn-decoder\", \"vocab_size\": 31, \"n_ctx\": 60, \"n_layer\": 2, " \
    "\"n_head\": 4, " \
    "\"n_kv_head\": 2, \"d_model\": 24, \"d_head\": 10, \"d_value\": 6, \"unembed\": true, " more "}"
static const char *const configs[] = {
    NATIVE("\"residual\": true, \"output_projection\": true, \"norm\": \"layernorm\", \"position\": "
           "\"learned\", \"mlp\": \"gelu\", \"d_mlp\": 32, \"bias\": true"),
    NATIVE("\"residual\": true, \"output_projection\": true, \"norm\": \"rmsnorm\", \"position\": \"rope\", \"mlp\": "
           "\"swiglu\", \"d_mlp\": 32, \"tied\": false"),
    NATIVE("\"residual\": true, \"output_projection\": true, \"norm\": \"none\", \"position\": \"none\", "
           "\"mlp\": \"none\", \"mask\": \"none\""),
    NATIVE("\"residual\": false, \"output_projection\": false, \"norm\": \"none\", \"position\": \"learned\", "
           "\"mlp\": \"none\""),
    NATIVE("\"residual\": false, \"output_projection\": true, \"norm\": \"layernorm\", \"position\": "
           "\"learned\", \"mlp\": \"gelu_new\", \"d_mlp\": 32"),
};
static const char *const kinds[] = {NULL, "full", "causal", "causal-renorm", "window:3", "strided:2,3",
                                    "random:2,2,5", "block:4"};
static const char *const metrics[] = {"logit(3)-2*logprob(5,pos=4)", "loss"};
enum { CONFIGS = sizeof configs / sizeof *configs, KINDS = sizeof kinds / sizeof *kinds, TOKENS = 13 };

/* An editor that adds a step along a direction to one activation, without touching hidden cells. */
struct step { const float *along; const char *name; float by; };

static unsigned step_wants(void *self, int act, int layer)
{
    (void)self, (void)act, (void)layer;
    return ATTN_EDIT;
}

static int step_edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    (void)err;
    const struct step *s = self;
    size_t T = p->shape[p->ndim - 2];
    if (strcmp(p->name, s->name) != 0)
        return 0;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            for (size_t j = 0; j < p->cols; j++)
                data[h * p->ld_head + t * p->ld + j] += s->by *
                    s->along[((p->head0 + h) * T + p->row0 + t) * p->cols + j];
    return 0;
}

/* What is differentiated: a metric of a text, with edits or without. */
struct question { const struct attn_model *m; struct attn_plan plan; const struct attn_metric *metric;
                  const struct attn_tokens *t;
                  struct attn_editor *editor; float h; double bound; };

static double stepped(const struct question *of, struct step s)
{
    struct attn_err err = {0};
    struct attn_measure x = {.metric = of->metric};
    struct attn_observer obs[3] = {{.wants = step_wants, .edit = step_edit, .self = &s}, attn_measure_observer(&x)};
    size_t n = 2;
    if (of->editor) {                   /* the step is taken from where the edits have led */
        obs[n++] = obs[0];
        obs[0] = attn_editor_observer(of->editor);
    }
    ck_assert_msg(!attn_run_tokens(of->m, &of->plan, of->t, NULL, obs, n, &err), "%s", err.msg);
    return x.value;
}

/* Along its own direction the metric rises by the size of the gradient. */
static void expect_rise(const struct question *of, const struct kept *g)
{
    const float h = of->h > 0 ? of->h : 2e-2F;
    double size = 0, slope;
    float *along = calloc(g->n, sizeof *along);
    ck_assert_ptr_nonnull(along);
    for (size_t i = 0; i < g->n; i++)
        size += (double)g->data[i] * (double)g->data[i];
    size = sqrt(size);
    for (size_t i = 0; i < g->n && size > 0; i++)
        along[i] = (float)((double)g->data[i] / size);
    double v[4];
    for (int i = 0; i < 4; i++)         /* fourth order: the error is that of the runs, about 1e-6 / h */
        v[i] = stepped(of, (struct step){along, g->name, h * (float)(i < 2 ? i + 1 : 1 - i)});
    slope = (8 * (v[0] - v[2]) - (v[1] - v[3])) / (12 * (double)h);
    ck_assert_msg(fabs(slope - size) < (of->bound > 0 ? of->bound : 1e-3) * (1 + size),
                  "%s: slope %.9g, gradient %.9g", g->name, slope, size);
    free(along);
}

/* Whatever a run announces has a gradient, but what is derived of it. */
static void expect_all(const struct keep *k, const struct attn_model *m, const struct attn_kind *kind)
{
    const struct attn_hook_points hooks = attn_model_hook_points(m, kind);
    char name[ATTN_NAME_MAX];
    for (int act = 0; act < ATTN_ACT_DERIVED; act++)
        for (int layer = 0; hooks.has[act] && layer < (attn_act_per_layer(act) ? (int)hooks.L : 1); layer++) {
            attn_act_name(name, act, attn_act_per_layer(act) ? layer : -1);
            ck_assert_msg(keep_find(k, name, 0) != NULL, "%s has no gradient", name);
        }
}

static void expect_differences(struct attn_model *m, const char *kind, float h, double bound)
{
    int32_t ids[TOKENS];
    struct attn_err err = {0};
    struct attn_plan plan = {.threads = 2};
    if (kind)
        ck_assert_msg(!attn_kind_parse(&plan.kind, kind, &err), "%s", err.msg);
    for (size_t i = 0; i < TOKENS; i++)
        ids[i] = (int32_t)(i * 17 % 31);
    struct attn_tokens *t = asked_tokens(ids, TOKENS);
    struct asked a = {.model = m};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        struct keep k = {.only = -1};
        struct attn_metric *metric = asked_metric(&a, metrics[i], ids, TOKENS, ids);
        struct attn_slopes *s = slopes_of(m, metric, t, "*", (struct attn_slopes_opts){.plan = plan});
        keep_slopes(&k, s);
        for (size_t j = 0; j < k.n; j++)
            expect_rise(&(struct question){m, plan, metric, t, NULL, h, bound}, &k.a[j]);
        expect_all(&k, m, &plan.kind);
        keep_free(&k);
        attn_slopes_free(s);
        attn_metric_free(metric);
    }
    attn_tokens_free(t);
}

START_TEST(gradients_are_differences)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    ck_assert_msg(!attn_model_open(&m, made_model(configs[_i / KINDS], 7, "F32"), &err), "%s", err.msg);
    expect_differences(m, kinds[_i % KINDS], 0, 0);
    attn_model_close(m);
}
END_TEST

/* Families with more in a block, from beside the repository: see the suite `checkpoints`.  The first ones are older. */
static const char *const further_kinds[] = {NULL, "full", "causal-renorm", "strided:2,3", "random:2,2,5"};
enum { FIRST = 8, FURTHER = CHECKPOINTS - FIRST, FURTHER_KINDS = sizeof further_kinds / sizeof *further_kinds };

START_TEST(further_gradients_are_differences)
{
    struct attn_info info;
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    const char *path = checkpoint_path(checkpoints[FIRST + _i / FURTHER_KINDS].name);
    if (!path)
        return;
    ck_assert_msg(!attn_model_open(&m, path, &err), "%s", err.msg);
    /* Their embeddings are about as small as 2e-2, so steps are shorter, and the runs' own error weighs more:
     * 3e-3.  A step that crosses the corner of a ReLU misses a bit of the slope: steps are shorter still, and the
     * bound is 1e-2. */
    attn_model_info(m, &info);
    bool corners = !strcmp(info.mlp, "relu");
    expect_differences(m, further_kinds[_i % FURTHER_KINDS], corners ? 3e-4F : 2e-3F, corners ? 1e-2 : 3e-3);
    attn_model_close(m);
}
END_TEST

/* BLOOM with "apply_residual_connection_post_layernorm": what a norm gives is read by the branch and goes on
 * as the stream. */
START_TEST(gradients_of_a_stream_from_norms_are_differences)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    const char *path = checkpoint_path("bloom-a");
    ck_assert_msg(!attn_model_open(&m, path, &err), "%s", err.msg);
    m->w.post_norm_residual = true;
    expect_differences(m, further_kinds[_i], 2e-3F, 3e-3);
    attn_model_close(m);
}
END_TEST

/* What an edit lets through, and what it mixes: a component is taken out of all columns, hidden dots among them. */
static const char *const through[] = {
    "dots -= proj(from)", "L1.dots[head=0,2] -= proj(from)", "scores -= proj(from)", "pattern -= proj(from)",
    "context -= proj(from)",
    "L0H1 -= proj(from)", "q[pos=2-8,col=1-3] -= proj(from)", "pattern = uniform", "scores[key=0,3] = -inf",
    "dots *= 0.5",
    "L0.resid_post[pos=3] = from", "v *= 0.5",
};

START_TEST(gradients_pass_through_edits)
{
    int32_t ids[TOKENS], other[TOKENS];
    struct asked a = asked_open("llama-f");
    for (size_t i = 0; i < TOKENS; i++) {
        ids[i] = (int32_t)(i * 17 % 101);
        other[i] = (int32_t)(i * 29 % 101 + i % 3);
    }
    struct attn_tokens *t = asked_tokens(ids, TOKENS), *from = asked_tokens(other, TOKENS);
    struct attn_metric *metric = asked_metric(&a, metrics[0], ids, TOKENS, ids);
    struct question of = {.m = a.model, .plan.threads = 2, .metric = metric, .t = t};
    struct asked_editor e = asked_edit(&a, &through[_i], 1, t, from, &of.plan);
    struct keep k = {.only = -1};
    of.editor = e.editor;
    struct attn_slopes *s = slopes_of(a.model, metric, t,
                                      "*", (struct attn_slopes_opts){.plan = of.plan, .editor = e.editor});
    keep_slopes(&k, s);
    for (size_t j = 0; j < k.n; j++)
        expect_rise(&of, &k.a[j]);
    keep_free(&k);
    attn_slopes_free(s);
    asked_edit_end(&e);
    attn_metric_free(metric);
    attn_tokens_free(t);
    attn_tokens_free(from);
    asked_close(&a);
}
END_TEST

/* The same under a soft cap, whose slope depends on what edits of dots have made of the scores, but not on
 * edits of these. */
static const char *const capped[][2] = {
    {"dots -= proj(from)", NULL}, {"L1.dots[head=0,2] -= proj(from)", NULL}, {"dots *= 3", NULL},
    {"dots += 2", "scores *= 0.7"},
    {"L0.dots[key=0,3] = 1.5", "L1.scores -= proj(from)"}, {"scores *= 2", "pattern *= 0.5"},
};

START_TEST(gradients_pass_through_edits_under_a_cap)
{
    int32_t ids[TOKENS], other[TOKENS];
    const char *path = checkpoint_path("gemma2-a");
    if (!path)
        return;
    struct asked a = {.model = made_open(path)};
    for (size_t i = 0; i < TOKENS; i++) {
        ids[i] = (int32_t)(i * 17 % 61);
        other[i] = (int32_t)(i * 29 % 61 + i % 3);
    }
    struct attn_tokens *t = asked_tokens(ids, TOKENS), *from = asked_tokens(other, TOKENS);
    struct attn_metric *metric = asked_metric(&a, metrics[0], ids, TOKENS, ids);
    /* as above */
    struct question of = {.m = a.model, .plan.threads = 2, .metric = metric, .t = t, .h = 2e-3F, .bound = 3e-3};
    struct asked_editor e = asked_edit(&a, capped[_i], capped[_i][1] ? 2 : 1, t, from, &of.plan);
    struct keep k = {.only = -1};
    of.editor = e.editor;
    struct attn_slopes *s = slopes_of(a.model, metric, t,
                                      "*", (struct attn_slopes_opts){.plan = of.plan, .editor = e.editor});
    keep_slopes(&k, s);
    for (size_t j = 0; j < k.n; j++)
        expect_rise(&of, &k.a[j]);
    ck_assert_uint_gt(k.n, 10);
    keep_free(&k);
    attn_slopes_free(s);
    asked_edit_end(&e);
    attn_metric_free(metric);
    attn_tokens_free(t);
    attn_tokens_free(from);
    attn_model_close(a.model);
}
END_TEST

/* ---- what does not matter, and what is refused ---- */

START_TEST(threads_change_no_bit_and_times_multiplies)
{
    int32_t ids[] = {4, 9, 1, 30, 12, 4, 8, 33, 60, 2, 7, 11, 5, 6, 19, 20, 21, 22};
    enum { N = sizeof ids / sizeof *ids };
    struct asked a = asked_open(checkpoints[_i].name);
    struct attn_tokens *t = asked_tokens(ids, N);
    struct attn_metric *m = asked_metric(&a, "loss", ids, N, ids);
    struct keep one = {.only = -1}, three = {.only = -1}, times = {.only = -1}, run = {.only = -1};
    struct attn_slopes *s = slopes_of(a.model, m, t, "*", (struct attn_slopes_opts){.plan.threads = 1});
    keep_slopes(&one, s);
    attn_slopes_free(s);
    s = slopes_of(a.model, m, t, "*", (struct attn_slopes_opts){.plan.threads = 3});
    keep_slopes(&three, s);
    attn_slopes_free(s);
    keep_expect_same(&one, &three);
    s = slopes_of(a.model, m, t, "*", (struct attn_slopes_opts){.plan.threads = 1, .times = true});
    keep_slopes(&times, s);
    attn_slopes_free(s);
    keep_run(&run, a.dir, ids, N, 1);
    for (size_t i = 0; i < run.n; i++) {
        const struct kept *g = keep_find(&one, run.a[i].name, 0), *x = keep_find(&times, run.a[i].name, 0);
        for (size_t j = 0; j < g->n; j++)
            ck_assert(x->data[j] == (g->data[j] == 0 ? 0 : g->data[j] * run.a[i].data[j]));
    }
    keep_free(&one), keep_free(&three), keep_free(&times), keep_free(&run);
    attn_metric_free(m);
    attn_tokens_free(t);
    asked_close(&a);
}
END_TEST

static const struct { const char *metric, *kind; double dropout; bool bf16; const char *part; } refused[] = {
    {"rank(3)", NULL, 0, false, "a rank moves in steps"},
    {"loss", "linear", 0, false, "linear attention has no backward pass"},
    {"loss", NULL, 0.5, false, "dropout"}, {"loss", NULL, 0, true, "in float32, not in bf16"},
};

START_TEST(what_has_no_gradient_is_refused)
{
    int32_t ids[] = {1, 2, 3};
    struct attn_err err = {0};
    struct asked a = asked_open("gpt2-a");
    struct attn_tokens *t = asked_tokens(ids, 3);
    struct attn_metric *m = asked_metric(&a, refused[_i].metric, ids, 3, ids);
    struct attn_select *what = NULL;
    struct attn_slopes *s = NULL;
    struct attn_slopes_opts o = {.metric = m, .plan = {.bf16 = refused[_i].bf16, .kind.dropout = refused[_i].dropout}};
    ck_assert(!refused[_i].kind || !attn_kind_parse(&o.plan.kind, refused[_i].kind, &err));
    ck_assert(!attn_select_new(&what, a.model, NULL, "embed", NULL, NULL, &err));
    o.select = what;
    ck_assert_msg(attn_slopes_new(&s, a.model, t, &o, &err) && !s && strstr(err.msg, refused[_i].part), "%s", err.msg);
    attn_select_free(what);
    attn_metric_free(m);
    attn_tokens_free(t);
    asked_close(&a);
}
END_TEST

Suite *suite_slopes(void)
{
    Suite *s = suite_create("slopes");
    TCase *c = tcase_create("slopes");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    attn_test_add_rows(c, golden_gradients_of_activations, ASKED_CHECKPOINTS, asked_name);
    tcase_add_loop_test(c, gradients_are_differences, 0, CONFIGS * KINDS);
    tcase_add_loop_test(c, further_gradients_are_differences, 0, FURTHER * FURTHER_KINDS);
    tcase_add_loop_test(c, gradients_of_a_stream_from_norms_are_differences, 0, FURTHER_KINDS);
    tcase_add_loop_test(c, gradients_pass_through_edits, 0, sizeof through / sizeof *through);
    tcase_add_loop_test(c, gradients_pass_through_edits_under_a_cap, 0, sizeof capped / sizeof *capped);
    attn_test_add_rows(c, threads_change_no_bit_and_times_multiplies, CHECKPOINTS_HERE, checkpoint_name);
    tcase_add_loop_test(c, what_has_no_gradient_is_refused, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(s, c);
    return s;
}
