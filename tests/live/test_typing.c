/* What is typed, deleted and edited at random has the bits of whole passes, whatever was kept of the text before. */
#include "suites.h"

#include "answered.h"
#include "attn_ask.h"
#include "checkpoints.h"
#include "draw.h"
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 40, STEPS = 10, LIST = 4096 };

/* All that earlier rows of a longer text keep. */
static const char most[] = "embed,resid_pre,q,k,v,scores,pattern,context,resid_post,logits";
static const struct { const char *kind, *more; bool grows; } kinds[] = {
    {"", "", true}, {"window:3", "", true}, {"strided:2,3", "", true}, {"random:2,2,5", "", true},
    {"block:4", "", true},
    {"causal", ",'dropout':0.3,'seed':'7'", true}, {"linear", "", true}, {"full", "", false},
    {"causal-renorm", "", false},
    {"", ",'scale':'none'", true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Edits of what many models have; where one has it not, both refuse it. */
static const char *const edits[] = {
    "L0H0 = 0", "L1H0 *= 0.5", "L0.attn.out[pos=-1] *= 2", "resid_pre[pos=0] += 0.25", "embed *= 1.5", "L1.mlp.out = 0",
    "L1.pattern[key=0] *= 0.5", "L0.scores[pos=-1,key=0] -= 3", "L1H0.v += noise(0.1,3)", "logits += 0.5",
    "L1.resid_post += mean(ids(1,2,3))", "norm_final *= 0.5", "L0.attn.out += ids(2)"};
enum { EDITS = sizeof edits / sizeof *edits };

struct walk {
    struct attn_model *model;
    struct attn_info info;
    int kind;
    uint32_t seed;
    int32_t ids[LONGEST]; size_t T;
    const char *edit[3]; size_t edits;  /* NULL at their end */
    char list[LIST];                    /* of the names that can be kept */
};

/* ---- one step ---------------------------------------------------------------------------- */

static void type(struct walk *w, size_t n)
{
    for (size_t i = 0; i < n && w->T < LONGEST && w->T < w->info.n_ctx; i++)
        w->ids[w->T++] = (int32_t)draw_below(&w->seed, w->info.V);
}

static void move(struct walk *w)
{
    switch (draw_below(&w->seed, 6)) {
    case 0: w->T -= draw_below(&w->seed, w->T); break;
    case 1: w->ids[draw_below(&w->seed, w->T)] = (int32_t)draw_below(&w->seed, w->info.V); break;
    case 2: type(w, 1 + draw_below(&w->seed, 6)); break;
    case 3:
        w->edits = draw_below(&w->seed, 3);
        for (size_t i = 0; i < w->edits; i++)
            w->edit[i] = edits[draw_below(&w->seed, EDITS)];
        w->edit[w->edits] = NULL;
        break;
    default: type(w, 1);
    }
}

static const char *ids_of(const struct walk *w)
{
    static char text[LONGEST * 12];
    int n = 0;
    for (size_t i = 0; i < w->T; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", i ? "," : "", (int)w->ids[i]);
    return text;
}

static const cJSON *ask(const struct walk *w, int *code)
{
    static char question[LIST * 2];
    int n = snprintf(question, sizeof question,
                     "{'ask':'run','ids':'%s','attention':'%s'%s,'keep':['%s'],'edits':[", ids_of(w),
                     kinds[w->kind].kind, kinds[w->kind].more, w->list);
    for (size_t i = 0; i < w->edits; i++)
        n += snprintf(question + n, sizeof question - (size_t)n, "%s'%s'", i ? "," : "", w->edit[i]);
    n += snprintf(question + n, sizeof question - (size_t)n, "]}");
    for (char *at = question; (at = strchr(at, '\'')); )
        *at = '"';
    return asked_of(code, question, (size_t)n);
}

/* ---- the same as a whole pass ------------------------------------------------------------ */

static const char *plan_of(const struct walk *w)
{
    static char plan[128];
    const char *more = kinds[w->kind].more;
    snprintf(plan, sizeof plan, "threads=1%s%s%s", *kinds[w->kind].kind ? ",kind=" : "", kinds[w->kind].kind,
             strstr(more, "dropout") ? ",dropout=0.3,seed=7" : *more ? ",scale=none" : "");
    return plan;
}

static void compare_sheet(const cJSON *sheet, const struct attn_dump *whole, const char *about)
{
    struct attn_dump_array a;
    size_t n;
    const char *name = golden_string(sheet, "name");
    const float *x = answered_array(sheet, "array", &n);
    ck_assert_msg(attn_dump_find(whole, name, &a), "%s: %s is in no whole pass", about, name);
    const size_t cols = (size_t)golden_number(sheet, "cols"), rows = (size_t)golden_number(sheet, "rows");
    ck_assert_msg(rows * cols <= n, "%s", name);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(!memcmp(&x[i], &a.data[i], sizeof *x),
                      "%s: %s: row %zu, column %zu of %zu: %.9g, expected %.9g", about, name,
                      i / cols % rows, i % cols, cols, (double)x[i], (double)a.data[i]);
}

static void compare_step(const struct walk *w, const char *name)
{
    struct attn_err err = {0};
    struct attn_dump *whole = NULL;
    const struct attn_question q = {.model = w->model, .text = {.ids = w->ids, .n = w->T}, .plan = plan_of(w),
                                    .edits = w->edits ? w->edit : NULL};
    char about[256];
    int code, rc = attn_ask_run(&whole, &q, w->list, &err);
    const cJSON *answer = ask(w, &code), *sheet;
    snprintf(about, sizeof about,
             "%s, %s, %zu tokens, edits '%s' '%s'", name, kinds[w->kind].kind, w->T, w->edits ? w->edit[0] : "",
             w->edits > 1 ? w->edit[1] : "");
    if (rc) {
        ck_assert_msg(code == rc && !strcmp(golden_string(answer, "error"), err.msg), "%s: '%s', expected '%s'", about,
                      code ? golden_string(answer, "error") : "", err.msg);
        return;
    }
    ck_assert_msg(!code, "%s: %s", about, code ? golden_string(answer, "error") : "");
    cJSON_ArrayForEach(sheet, golden_get(answer, "sheets"))
        compare_sheet(sheet, whole, about);
    attn_dump_free(whole);
}

/* ---- walks ------------------------------------------------------------------------------- */

/* The names that this model has with this kind of attention. */
static void list_names(struct walk *w)
{
    struct attn_plan plan = {0};
    char *list = strdup(most), *rest = list, *name;
    size_t n = 0;
    ck_assert(!attn_plan_parse(&plan, plan_of(w), NULL));
    *w->list = '\0';
    while ((name = strsep(&rest, ","))) {
        struct attn_select *s = NULL;
        if (!attn_select_new(&s, w->model, &plan.kind, name, NULL, NULL, NULL))
            n += (size_t)snprintf(w->list + n, sizeof w->list - n, "%s%s", n ? "," : "", name);
        attn_select_free(s);
    }
    free(list);
}

static void walk_over(const char *path, const char *name, int kind, uint32_t seed)
{
    struct walk w = {.kind = kind, .seed = seed};
    struct attn_err err = {0};
    ck_assert_msg(!attn_model_open(&w.model, path, &err), "%s", err.msg);
    attn_model_info(w.model, &w.info);
    list_names(&w);
    answered("{'ask':'open','model':'%s'}", path);
    type(&w, 5);
    for (int i = 0; i < STEPS; i++) {
        compare_step(&w, name);
        move(&w);
    }
    attn_model_close(w.model);
    answered_end();
}

START_TEST(a_walk_has_the_bits_of_whole_passes)
{
    for (size_t i = 0; i < CHECKPOINTS; i++) {
        const char *path = checkpoint_path(checkpoints[i].name);
        if (path)
            walk_over(path, checkpoints[i].name, _i, (uint32_t)(i * 31 + (size_t)_i));
    }
}
END_TEST

static const char *const built_in[] = {"life", "journey", "journey-causal", "stacked", "induction",
                                       "life-4-heads", "tiny"};

START_TEST(a_walk_over_a_built_in_model)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t seed = 0; seed < 3; seed++)
            walk_over(built_in[_i], built_in[_i], kind, seed + 100 * (uint32_t)kind);
}
END_TEST

/* ---- what is computed -------------------------------------------------------------------- */

static void expect_rows(const cJSON *answer, size_t rows, bool whole)
{
    ck_assert_uint_eq((size_t)golden_number(answer, "rows"), rows);
    ck_assert(cJSON_IsTrue(golden_get(answer, "whole")) == whole);
}

START_TEST(a_key_at_the_end_computes_its_rows)
{
    static const char kept[] = "'keep':['pattern','resid_post']";
    answered("{'ask':'open','model':'tiny'}");
    expect_rows(answered("{'ask':'run','text':'Tom and Lily went to',%s}", kept), 5, true);
    expect_rows(answered("{'ask':'run','text':'Tom and Lily went to the park',%s}", kept), 2, false);
    expect_rows(answered("{'ask':'run','text':'Tom and Lily went to the park',%s}", kept), 0, false);
    expect_rows(answered("{'ask':'run','text':'Tom and Lily went',%s}", kept), 1, false);
    expect_rows(answered("{'ask':'run','text':'Tom and Tom went',%s}", kept), 2, false);
    expect_rows(answered("{'ask':'run','text':'Tom and Tom went','edits':['L3H0 = 0'],%s}", kept), 0, false);
    expect_rows(answered("{'ask':'run','text':'Tom and Tom went home','edits':['L3H0 = 0'],%s}", kept), 1, false);
    expect_rows(answered("{'ask':'run','text':'Tom and Tom went home','attention':'full',%s}", kept), 5, true);
    expect_rows(answered("{'ask':'run','text':'Tom and Tom went home.','attention':'full',%s}", kept), 6, true);
    expect_rows(answered("{'ask':'run','text':'Tom and Tom went home.','keep':['dots']}"), 6, true);
    expect_rows(answered("{'ask':'run','text':'Tom and Tom went home. Tom','keep':['dots']}"), 7, true);
    expect_rows(answered("{'ask':'run','text':'Tom and Tom went home. Tom','keep':['rollout']}"), 7, true);
    answered_end();
}
END_TEST

/* A cache that has no more room is copied to a larger one. */
START_TEST(a_text_outgrows_its_cache)
{
    char text[1024] = "1";
    struct attn_model *m = NULL;
    ck_assert(!attn_model_open(&m, "tiny", NULL));
    answered("{'ask':'open','model':'tiny'}");
    answered("{'ask':'run','ids':'%s','keep':['logits']}", text);
    for (size_t T = 2; T < 200; T++) {
        char *more = strdup(text);
        snprintf(text, sizeof text, "%s,%zu", more, T * 37 % 8191);
        free(more);
        expect_rows(answered("{'ask':'run','ids':'%s','keep':['logits']}", text), 1, false);
    }
    const cJSON *answer = answered("{'ask':'run','ids':'%s','keep':['logits']}", text);
    struct attn_dump *whole = NULL;
    int32_t *ids;
    size_t n;
    ck_assert(!attn_ids_parse(&ids, &n, text, NULL));
    ck_assert(!attn_ask_run(&whole, &(struct attn_question){.model = m, .text = {.ids = ids, .n = n},
                                                            .plan = "threads=1"}, "logits", NULL));
    compare_sheet(cJSON_GetArrayItem(golden_get(answer, "sheets"), 0), whole, "a long text");
    attn_dump_free(whole);
    attn_model_close(m);
    free(ids);
    answered_end();
}
END_TEST

Suite *suite_typing(void)
{
    Suite *s = suite_create("typing");
    TCase *t = tcase_create("typing");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_walk_has_the_bits_of_whole_passes, 0, KINDS);
    tcase_add_loop_test(t, a_walk_over_a_built_in_model, 0, (int)(sizeof built_in / sizeof *built_in));
    tcase_add_test(t, a_key_at_the_end_computes_its_rows);
    tcase_add_test(t, a_text_outgrows_its_cache);
    suite_add_tcase(s, t);
    return s;
}
