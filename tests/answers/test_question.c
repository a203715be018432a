/* One call for one question: the same answers as by all the calls that it stands for. */
#include "suites.h"

#include "attn_ask.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "Tom and Lily went to the park. Tom gave the ball to";
static struct attn_model *model;
static struct attn_err err;
static struct attn_question asked;

static void set_up(void)
{
    shell_set_up();
    err = (struct attn_err){0};
    ck_assert_msg(!attn_model_open(&model, "tiny", &err), "%s", err.msg);
    asked = (struct attn_question){.model = model, .text = {.text = text}};
}

static void tear_down(void)
{
    attn_model_close(model);
    scratch_remove();
}

#define OK(call) ck_assert_msg((call) == ATTN_OK, "%s", err.msg)

/* ---- what the calls together give ---- */

static struct attn_tokens *encoded(const char *s)
{
    struct attn_tokenizer *t;
    struct attn_tokens *tokens;
    OK(attn_model_tokenizer(&t, model, &err));
    OK(attn_encode(&tokens, t, s, strlen(s), &err));
    attn_tokenizer_close(t);
    return tokens;
}

static struct attn_dump *run_by_hand(const char *edit, struct attn_plan plan)
{
    struct attn_tokens *tokens = encoded(text);
    struct attn_edits *edits = NULL;
    struct attn_editor *editor;
    struct attn_select *select;
    struct attn_dump *d;
    int32_t *ids;
    OK(attn_edits_parse(&edits, edit, &err));
    OK(attn_editor_new(&editor, &(struct attn_editor_opts){.edits = edits, .model = model}, &err));
    OK(attn_tokens_to_ids(&ids, tokens, &err));
    OK(attn_editor_text(editor, 0, ids, tokens->n, false, &err));
    OK(attn_editor_start(editor, &err));
    OK(attn_select_new(&select, model, &plan.kind, "*", NULL, NULL, &err));
    const struct attn_observer observer = attn_editor_observer(editor);
    OK(attn_dump_run(&d, model, tokens, NULL, select, &plan, &observer, &err));
    attn_select_free(select);
    attn_editor_free(editor);
    attn_edits_free(edits);
    attn_tokens_free(tokens);
    free(ids);
    return d;
}

static size_t numbers(const struct attn_dump_array *a, int ndim)
{
    size_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= a->shape[i];
    return n;
}

static size_t expect_same_arrays(const struct attn_dump *a, const struct attn_dump *b)
{
    struct attn_dump_array x, y;
    size_t i = 0;
    for (int ndim; (ndim = attn_dump_array(a, i, &x)) >= 0; i++) {
        ck_assert_int_eq(attn_dump_find(b, x.name, &y), ndim);
        ck_assert_mem_eq(x.shape, y.shape, sizeof x.shape);
        ck_assert_mem_eq(x.data, y.data, numbers(&x, ndim) * sizeof *x.data);
    }
    ck_assert_int_eq(attn_dump_array(b, i, &y), -1);
    ck_assert_int_eq(attn_dump_find(b, "nonsense", &y), -1);
    return i;
}

START_TEST(a_run_has_the_bits_of_one_by_hand)
{
    struct attn_dump *a, *b = run_by_hand("L3H0 = 0", (struct attn_plan){.kind = {.form = ATTN_WINDOW, .w = 4}});
    asked.edits = (const char *const[]){"L3H0 = 0", NULL};
    asked.plan = "kind=window:4,threads=1";
    OK(attn_ask_run(&a, &asked, "*", &err));
    ck_assert_uint_gt(expect_same_arrays(a, b), 50);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

/* By ids, by a length, by a tokenizer of the caller's. */
START_TEST(a_text_is_said_in_several_ways)
{
    struct attn_tokens *tokens = encoded(text);
    struct attn_tokenizer *t;
    struct attn_dump *a, *b;
    int32_t *ids;
    OK(attn_ask_run(&a, &asked, "logits", &err));
    OK(attn_tokens_to_ids(&ids, tokens, &err));
    OK(attn_tokenizer_open(&t, "tiny", &err));
    const struct attn_input said[] = {{.ids = ids, .n = tokens->n}, {.text = text, .len = strlen(text)},
                                      {.text = text}};
    for (size_t i = 0; i < 3; i++) {
        asked.text = said[i];
        asked.tokenizer = i == 2 ? t : NULL;
        OK(attn_ask_run(&b, &asked, "logits", &err));
        ck_assert_uint_eq(expect_same_arrays(a, b), 1);
        attn_dump_free(b);
    }
    attn_dump_free(a);
    attn_tokenizer_close(t);
    attn_tokens_free(tokens);
    free(ids);
}
END_TEST

static unsigned wants(void *self, int act, int layer)
{
    (void)self;
    return act == ATTN_ACT_CONTEXT && layer == 3 ? ATTN_EDIT : 0;
}

static int drop(void *self, const struct attn_probe *p, float *data, struct attn_err *why)
{
    (void)why;
    for (size_t t = 0; t < p->rows; t++)
        memset(data + t * p->ld, 0, *(const size_t *)self * sizeof *data);
    return ATTN_OK;
}

START_TEST(what_an_observer_edits_is_recorded)
{
    struct attn_info info;
    struct attn_dump *a, *b = run_by_hand("L3H0 = 0", (struct attn_plan){0});
    attn_model_info(model, &info);
    struct attn_observer observer = {.wants = wants, .edit = drop, .self = &info.dv};
    asked.observers = &observer;
    asked.n_observers = 1;
    OK(attn_ask_run(&a, &asked, "*", &err));
    ck_assert_uint_gt(expect_same_arrays(a, b), 50);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

/* ---- numbers ---- */

START_TEST(a_metric)
{
    double with, without, kl;
    OK(attn_ask_metric(&with, &asked, "logit(\" Lily\")-logit(\" Tom\")", &err));
    asked.edits = (const char *const[]){"L3H0 = 0", NULL};
    OK(attn_ask_metric(&without, &asked, "logit(\" Lily\")-logit(\" Tom\")", &err));
    OK(attn_ask_metric(&kl, &asked, "kl", &err));
    expect_exactly(printed("\"$A\" run -m tiny -s '%s' --metric 'logit(\" Lily\")-logit(\" Tom\")' --metric kl --edit "
                           "'L3H0 = 0' --format json | "
                           "jq -c '[.rows[0].before == %.17g, .rows[0].after == %.17g, .rows[1].after == %.17g]'",
                           text, with, without, kl), "[true,true,true]\n");
    ck_assert(with > 0 && without < 0 && kl > 0);
}
END_TEST

START_TEST(scores)
{
    struct attn_tokens *tokens = encoded(text);
    double *by_hand = calloc(tokens->n, sizeof *by_hand), *score;
    int32_t *ids;
    size_t n;
    OK(attn_tokens_to_ids(&ids, tokens, &err));
    OK(attn_score(by_hand, model, ids, tokens->n, NULL, &err));
    OK(attn_ask_score(&score, &n, &asked, &err));
    ck_assert_uint_eq(n, tokens->n);
    ck_assert_mem_eq(score, by_hand, n * sizeof *score);
    free(score);
    free(by_hand);
    free(ids);
    attn_tokens_free(tokens);
}
END_TEST

static void expect_ids(const struct attn_sampling *how, size_t most, const char *options)
{
    char list[1024] = "";
    int32_t *ids;
    size_t n;
    OK(attn_ask_generate(&ids, &n, &asked, most, how, &err));
    for (size_t i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", i ? "," : "", ids[i]);
    free(ids);
    expect_exactly(printed("\"$A\" generate -q -m tiny -s '%s' -n %zu --format json %s | jq -r '[.tokens[].id] | "
                           "map(tostring) | join(\",\")'",
                           text, most, options), printed("%s\n", list));
}

START_TEST(a_continuation)
{
    expect_ids(NULL, 6, "");
    expect_ids(&(struct attn_sampling){.temperature = 0.9, .top_p = 0.8, .top_k = 30, .seed = 4}, 9,
               "--temperature 0.9 --top-p 0.8 --top-k 30 --seed 4");
    asked.edits = (const char *const[]){"L3H0 = 0", "L1.mlp.out *= 0.5", NULL};
    expect_ids(NULL, 5, "--edit 'L3H0 = 0' --edit 'L1.mlp.out *= 0.5'");
    expect_ids(NULL, 0, "--edit 'L3H0 = 0' --edit 'L1.mlp.out *= 0.5'");
}
END_TEST

/* It ends where the model takes no more. */
START_TEST(a_continuation_has_an_end)
{
    struct attn_info info;
    int32_t *ids;
    size_t n;
    attn_model_close(model);
    OK(attn_model_open(&model, "induction", &err));
    attn_model_info(model, &info);
    asked = (struct attn_question){.model = model, .text = {.ids = (const int32_t[]){3, 4, 3}, .n = 3}};
    OK(attn_ask_generate(&ids, &n, &asked, SIZE_MAX, NULL, &err));
    ck_assert_msg(n == info.n_ctx || attn_model_ends(model, ids[n - 1]), "%zu", n);
    free(ids);
}
END_TEST

START_TEST(a_grid_of_patches)
{
    struct attn_patch *patch;
    struct attn_patch_result r;
    asked.text.text = "Lily lost her red";
    asked.from.text = "Lily lost her big";
    OK(attn_ask_patch(&patch, &asked, "resid_pre", "layer,pos", NULL, "logit(\" ball\")", &err));
    attn_patch_get(patch, &r);
    ck_assert_uint_eq(r.n, r.grid[0] * r.grid[2]);
    ck_assert_double_eq(r.cell[0].effect, 0);           /* the texts begin alike */
    ck_assert_double_eq_tol(r.cell[r.grid[2] - 1].effect, 1, 1e-12);   /* of sums in another order */
    attn_patch_free(patch);
}
END_TEST

/* ---- documents ---- */

static const struct { const char *what, *edits[3], *options[5], *line; } documents[] = {
    {"run", {"L0H1 = 0"}, {"show=pattern,tokens", "layer=0", "head=1"},
     "run --edit 'L0H1 = 0' --show pattern,tokens --layer 0 --head 1 --format json"},
    {"run", {NULL}, {"format=tidy", "show=pattern", "layer=0", "head=1"},
     "run --show pattern --layer 0 --head 1 --format tidy"},
    {"lens", {NULL}, {"target= Lily", "points=all", "top=2"},
     "lens --target ' Lily' --points all --top 2 --format json"},
    {"lens", {NULL}, {"format=svg", "width=60cm", "title=x"}, "lens --format svg --width 600mm --title x"},
    {"attribute", {"L0H1 = 0", "L2H2 *= 2"}, {"target= Lily", "foil= Tom", "pos=-2", "neurons=3"},
     "attribute --edit 'L0H1 = 0' --edit 'L2H2 *= 2' --target ' Lily' --foil ' Tom' --pos -2 --neurons 3 "
     "--format json"},
    {"heads", {"L0H1 = 0"}, {"by=first", "top=3", "copying"},
     "heads --edit 'L0H1 = 0' --by first --top 3 --copying --format json"},
    {"heads", {NULL}, {"format=png", "palette=gray"}, "heads --format png --palette gray"},
};

START_TEST(documents_are_those_of_the_commands)
{
    const char *path = scratch_path("answer");
    asked.edits = documents[_i].edits;
    OK(attn_ask_write(&asked, documents[_i].what, documents[_i].options, path, &err));
    succeed(printed("\"$A\" %s -m tiny -s '%s' >$D/wanted && cmp $D/answer $D/wanted", documents[_i].line, text));
}
END_TEST

START_TEST(a_dump_is_drawn)
{
    struct attn_dump *d;
    OK(attn_ask_run(&d, &asked, "pattern", &err));
    OK(attn_dump_draw(d, (const char *const[]){"layer=1", "figure=grid", "title=heads", NULL},
                      scratch_path("a.svg"), &err));
    succeed(printed("\"$A\" run -m tiny -s '%s' --show pattern -o $D/a.npz && "
                    "\"$A\" plot $D/a.npz --layer 1 --figure grid --title heads -o $D/b.svg && cmp $D/a.svg $D/b.svg",
                    text));
    attn_dump_free(d);
}
END_TEST

/* ---- faults ---- */

static const struct { struct attn_question q; const char *what,
                      *option; enum attn_status code; const char *message; } faults[] = {
    {{.text = {.text = NULL}}, "run", NULL, ATTN_EUSAGE, "there is neither a text nor token ids"},
    {{.text = {.text = ""}}, "run", NULL, ATTN_EFORMAT, "the text is empty: there is no token to run"},
    {{.text = {.text = "a", .ids = (const int32_t[]){1}, .n = 1}}, "run", NULL, ATTN_EUSAGE,
     "a text and token ids are both given"},
    {{.text = {.text = "a"}, .plan = "kind=window"}, "run", NULL, ATTN_EUSAGE,
     "attention 'window' is not of the form window:W"},
    {{.text = {.text = "a"}, .edits = (const char *const[]){"L0H0 = ", NULL}}, "run", NULL, ATTN_EUSAGE, "L0H0 ="},
    {{.text = {.text = "a"}}, "walk", NULL, ATTN_EUSAGE,
     "there is no answer 'walk', expected one of run, lens, attribute, heads, patch"},
    {{.text = {.text = "a"}}, "lens", "tpo=3", ATTN_EUSAGE,
     "lens: unknown option 'tpo', expected one of format, target, top, points"},
    {{.text = {.text = "a"}}, "lens", "top=three", ATTN_EUSAGE, "lens: top: found three, expected a whole number"},
    {{.text = {.text = "a"}}, "lens", "target", ATTN_EUSAGE, "lens: target has no value, expected target=VALUE"},
    {{.text = {.text = "a"}}, "lens", "points=some", ATTN_EUSAGE,
     "lens: points: found some, expected resid_post or all"},
    {{.text = {.text = "a"}}, "lens", "width=0mm", ATTN_EUSAGE, "expected a width on paper"},
    {{.text = {.text = "a"}}, "heads", "copying=yes", ATTN_EUSAGE, "heads: copying: found yes, expected no value"},
    {{.text = {.text = "a"}}, "heads", "repeat=3", ATTN_EUSAGE, "repeat, samples and seed are for random texts"},
    {{.text = {.text = "a"}}, "attribute", NULL, ATTN_EUSAGE, "attribute: target is missing"},
    {{.text = {.text = "a"}}, "attribute", "pos=-", ATTN_EUSAGE, "expected a position such as 3"},
    {{.text = {.text = "a"}, .plan = "compute=bf16"}, "attribute", "target= a", ATTN_EUSAGE,
     "rounded products do not add up"},
    {{.text = {.text = "a"}}, "patch", "what=v", ATTN_EUSAGE,
     "patch: expected from, the other text, and what, over and metric"},
    {{.text = {.text = "a"}}, "run", "format=parquet", ATTN_EUSAGE, "parquet"},
    {{.text = {.text = "a"}}, "run", "precision=18", ATTN_EUSAGE, "expected digits after the point"},
};

START_TEST(faults_are_named)
{
    struct attn_question q = faults[_i].q;
    const char *const options[] = {faults[_i].option, NULL};
    q.model = model;
    ck_assert_int_ne(attn_ask_write(&q, faults[_i].what, options, scratch_path("x"), &err), ATTN_OK);
    ck_assert_msg(strstr(err.msg, faults[_i].message), "%s", err.msg);
    ck_assert_msg(err.code == faults[_i].code, "%s", err.msg);
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

START_TEST(a_text_that_grows_has_room)
{
    struct attn_tokens *tokens = encoded("Tom"), none = {0};
    struct attn_growth *g;
    const float *logits;
    size_t n;
    OK(attn_growth_new(&g, model, &(struct attn_growth_opts){.prompt = tokens, .room = 2, .logprobs = true}, &err));
    OK(attn_growth_logits(g, &logits, &err));
    OK(attn_growth_add(g, 266, &err));
    ck_assert_int_eq(attn_growth_ids(g, &n)[1], 266);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(attn_growth_seen(g), 1);
    ck_assert_double_lt(attn_growth_logprobs(g)[1], 0);
    ck_assert_int_eq(attn_growth_add(g, 266, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "as many as there is room for"));
    attn_growth_free(g);
    ck_assert_int_eq(attn_growth_new(&g, model, &(struct attn_growth_opts){.prompt = &none, .room = 2}, &err),
                     ATTN_EFORMAT);
    attn_tokens_free(tokens);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

Suite *suite_question(void)
{
    Suite *s = suite_create("question");
    TCase *t = tcase_create("question");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, a_run_has_the_bits_of_one_by_hand);
    tcase_add_test(t, a_text_is_said_in_several_ways);
    tcase_add_test(t, what_an_observer_edits_is_recorded);
    tcase_add_test(t, a_metric);
    tcase_add_test(t, scores);
    tcase_add_test(t, a_continuation);
    tcase_add_test(t, a_continuation_has_an_end);
    tcase_add_test(t, a_grid_of_patches);
    tcase_add_loop_test(t, documents_are_those_of_the_commands, 0, COUNT(documents));
    tcase_add_test(t, a_dump_is_drawn);
    tcase_add_loop_test(t, faults_are_named, 0, COUNT(faults));
    tcase_add_test(t, a_text_that_grows_has_room);
    suite_add_tcase(s, t);
    return s;
}
