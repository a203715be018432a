/* What holds for every model, whatever its numbers: models drawn at random, of every family and native ones of every
 * kind, with every kind of attention, are asked what must have a certain answer.  Other suites have some more of these:
 * that the parts of a logit add up to it (agree.c, for the same models), and that a restarted run has the bits of the
 * whole one (restart). */
#include "suites.h"

#include "asked.h"
#include "drawn.h"
#include "keep.h"
#include "made.h"
#include "sanitized.h"
#include "scratch.h"
#include "worse.h"

#include "trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = SANITIZED ? 2 : 10, LONGEST = ASKED_IDS, MOST_EDITS = 100, EDIT = 100 };

/* ---- a model and two texts ---- */

struct subject {
    const struct agree *of;
    struct asked a; struct attn_info info;
    struct attn_plan plan;
    char kind[ATTN_KIND_TEXT];
    int32_t ids[LONGEST], other_ids[LONGEST]; size_t T;
    struct attn_tokens *text, *other;
    struct keep plain;                  /* the run of the text, with what is derived */
};

static const char *draw_kind(void)
{
    switch (agree_pick(10)) {
    case 0:  return "full";
    case 1:  return "causal";
    case 2:  return "causal-renorm";
    case 3:  return printed("window:%d", 1 + agree_pick(9));
    case 4:  return printed("strided:%d,%d", 1 + agree_pick(4), 1 + agree_pick(4));
    case 5:  return printed("random:%d,%d,%d", 1 + agree_pick(4), agree_pick(4), agree_pick(99));
    case 6:  return "linear";
    case 7:  return printed("block:%d", 1 + agree_pick(9));
    default: return NULL;               /* the model's own */
    }
}

/* Runs the text, edited; `from` in edits is that text. */
static void run(struct keep *k, const struct subject *s, const char *const *edits, size_t n,
                const struct attn_tokens *from, int threads)
{
    struct attn_err err = {0};
    struct attn_plan plan = s->plan;
    plan.threads = threads;
    struct asked_editor e = asked_edit(&s->a, edits, n, s->text, from, &plan);
    struct attn_observer obs[2] = {n ? attn_editor_observer(e.editor) : keep_observer(k), keep_observer(k)};
    ck_assert_msg(!attn_run_tokens(s->a.model, &plan, s->text, NULL, obs, n ? 2 : 1, &err),
                  "%s\n%s", err.msg, s->of->about);
    asked_edit_end(&e);
}

static struct keep nothing(void)
{
    return (struct keep){.only = -1, .flags = ATTN_WATCH | ATTN_DERIVE | (agree_pick(2) ? ATTN_WHOLE : 0)};
}

static struct subject begin(const struct agree *a, int T, const char *kind, bool bf16)
{
    struct subject s = {.of = a, .a.model = made_open(a->dir), .T = (size_t)T < LONGEST ? (size_t)T : LONGEST,
                        .plain = nothing()};
    attn_model_info(s.a.model, &s.info);
    ck_assert(!kind || !attn_kind_parse(&s.plan.kind, kind, NULL));
    attn_kind_text(s.kind, &s.plan.kind);
    s.plan.bf16 = bf16;
    for (size_t t = 0; t < s.T; t++) {
        s.ids[t] = agree_pick((int)s.info.V);
        s.other_ids[t] = agree_pick(2) ? s.ids[t] : agree_pick((int)s.info.V);
    }
    s.text = asked_tokens(s.ids, s.T);
    s.other = asked_tokens(s.other_ids, s.T);
    run(&s.plain, &s, NULL, 0, NULL, 1);
    return s;
}

static void end(struct subject *s)
{
    keep_free(&s->plain);
    attn_tokens_free(s->text);
    attn_tokens_free(s->other);
    attn_model_close(s->a.model);
}

/* ---- edits that change nothing ---- */

/* Linear attention and that by blocks have no pattern unless it is edited: then their contexts are computed from it,
 * and rounded in other places. */
static bool may_be_edited(const struct subject *s, int act)
{
    bool linear = s->plan.kind.form == ATTN_LINEAR, block = s->plan.kind.form == ATTN_BLOCK;
    return !attn_act_derived(act) && !(act == ATTN_ACT_PATTERN && (linear || block)) &&
           !((act == ATTN_ACT_DOTS || act == ATTN_ACT_SCORES) && block);
}

static void expect_unchanged(const struct subject *s, const char *how)
{
    static char edit[MOST_EDITS][EDIT];
    const char *list[MOST_EDITS];
    struct keep k = nothing();
    size_t n = 0;
    for (size_t i = 0; i < s->plain.n; i++)
        if (may_be_edited(s, s->plain.a[i].act)) {
            ck_assert_uint_lt(n, MOST_EDITS);
            snprintf(edit[n], EDIT, "%s %s", s->plain.a[i].name, how);
            list[n] = edit[n];
            n++;
        }
    run(&k, s, list, n, s->text, 1 + agree_pick(3));
    keep_expect_same(&s->plain, &k);
    keep_free(&k);
}

static void check_what_changes_nothing(const struct agree *a, int T)
{
    struct subject s = begin(a, T, draw_kind(), agree_pick(3) == 0);
    expect_unchanged(&s, "= from");
    expect_unchanged(&s, "*= 1");
    end(&s);
}

/* ---- sums ---- */

static const struct kept *find(const struct keep *k, size_t layer, const char *tail)
{
    return keep_find(k, printed("blocks.%zu.%s", layer, tail), 0);
}

/* The output bias, NULL: there is none.  Weights are stored in types that a float32 holds. */
static const double *bias_of(const struct subject *s, size_t layer)
{
    return s->of->weight(s->of->weights, printed("blocks.%zu.attn.o.bias", layer));
}

/* Without any head, the output of attention is its bias, to the bit. */
static void expect_bias_alone(const struct subject *s)
{
    static const char *const edit[] = {"L*H* = 0"};
    struct keep k = nothing();
    run(&k, s, edit, 1, NULL, 1 + agree_pick(3));
    for (size_t layer = 0; layer < s->info.L; layer++) {
        const struct kept *out = find(&k, layer, "attn.out");
        const double *bias = bias_of(s, layer);
        size_t differ = 0;
        for (size_t i = 0; out && i < out->n; i++)
            differ += !((double)out->data[i] == (bias ? bias[i % s->info.d] : 0));
        ck_assert_msg(!differ, "layer %zu: %zu numbers are not the bias (%s)\n%s", layer, differ, s->kind,
                      s->of->about);
    }
    keep_free(&k);
}

/* What the heads add, and the bias, make the output: sums of up to 180 products, rounded to 24 bits after each. */
static void expect_sum_of_heads(const struct subject *s, size_t layer)
{
    const struct kept *out = find(&s->plain, layer, "attn.out"), *part = find(&s->plain, layer, "attn.result");
    const double *bias = bias_of(s, layer);
    double worst = 0;
    ck_assert(!out == !part);
    for (size_t i = 0; out && i < out->n; i++) {
        double sum = bias ? bias[i % s->info.d] : 0, size = 1 + fabs(sum);
        for (size_t h = 0; h < s->info.H; h++) {
            sum += (double)part->data[h * out->n + i];
            size += fabs((double)part->data[h * out->n + i]);
        }
        worst = worse(worst, fabs((double)out->data[i] - sum) / size);
    }
    ck_assert_msg(worst <= 4e-6, "layer %zu: the output is %g off what its heads make (%s)\n%s", layer, worst, s->kind,
                  s->of->about);
}

/* Each factor of a rollout has rows that sum to 1 but for the rounding of a softmax. */
static void expect_shares(const struct subject *s, size_t layer)
{
    const struct kept *r = find(&s->plain, layer, "rollout");
    double worst = 0;
    for (size_t q = 0; q < s->T; q++) {
        double sum = 0;
        for (size_t k = 0; k < s->T; k++)
            sum += (double)r->data[q * s->T + k];
        worst = worse(worst, fabs(sum - 1));
    }
    ck_assert_msg(worst <= 4e-6, "%s: rows are %g off 1 (%s)\n%s", r->name, worst, s->kind, s->of->about);
}

static void check_sums(const struct agree *a, int T)
{
    struct subject s = begin(a, T, draw_kind(), false);
    expect_bias_alone(&s);
    for (size_t layer = 0; layer < s.info.L; layer++) {
        expect_sum_of_heads(&s, layer);
        /* in these a row may be lost */
        if (s.plan.kind.form != ATTN_CAUSAL_RENORM && s.plan.kind.form != ATTN_LINEAR)
            expect_shares(&s, layer);
    }
    end(&s);
}

/* ---- threads ---- */

static const char *draw_edit(const struct subject *s)
{
    static const char *const how[] = {"= from", "+= 0.5*from", "*= -0.5", "+= noise(0.1,3)", "-= proj(from)", "= 0.25"};
    const struct kept *x;
    do
        x = &s->plain.a[agree_pick((int)s->plain.n)];
    while (attn_act_derived(x->act));
    const char *where = agree_pick(2) ? "" : agree_pick(2) ? "[pos=-1]" : printed("[pos=%d]", agree_pick((int)s->T));
    return printed("%s%s %s", x->name, where, how[agree_pick(6)]);
}

static struct attn_metric *draw_metric(const struct subject *s)
{
    int V = (int)s->info.V, T = (int)s->T;
    const char *const some[] = {"kl",
                                printed("logit(%d,pos=%d)-2*logprob(%d)", agree_pick(V), agree_pick(T), agree_pick(V)),
                                printed("prob(%d)", agree_pick(V)), "loss"};
    struct attn_metric *m = asked_metric(&s->a, some[agree_pick(T > 1 ? 4 : 3)], s->ids, s->T, s->ids);
    ck_assert(!attn_metric_refer_to(m, s->a.model, s->text, &s->plan, NULL));           /* of this kind of attention */
    return m;
}

static void keep_slopes(struct keep *k, const struct subject *s, const char *const *edits, size_t n,
                        const struct attn_metric *metric, int threads)
{
    struct attn_err err = {0};
    struct attn_select *what = NULL;
    struct attn_slopes *slopes = NULL;
    struct attn_plan plan = s->plan;
    struct attn_observer to = keep_observer(k);
    plan.threads = threads;
    struct asked_editor e = asked_edit(&s->a, edits, n, s->text, s->other, &plan);
    int rc = attn_select_new(&what, s->a.model, &plan.kind, "*", NULL, NULL, &err);
    if (!rc)
        rc = attn_slopes_new(&slopes, s->a.model, s->text,
                             &(struct attn_slopes_opts){.metric = metric, .select = what, .plan = plan,
                                                                                      .editor = e.editor}, &err);
    ck_assert_msg(!rc && !attn_slopes_show(slopes, &to, &err), "%s\n%s", err.msg, s->of->about);
    attn_slopes_free(slopes);
    attn_select_free(what);
    asked_edit_end(&e);
}

static void check_threads(const struct agree *a, int T)
{
    struct subject s = begin(a, T, draw_kind(), agree_pick(3) == 0);
    const char *edits[4];
    size_t n = 1 + (size_t)agree_pick(4);
    for (size_t i = 0; i < n; i++)
        edits[i] = draw_edit(&s);
    struct keep one = nothing(), two = nothing();
    run(&one, &s, edits, n, s.other, 1);
    run(&two, &s, edits, n, s.other, 2);
    keep_expect_same(&one, &two);
    keep_free(&one);
    keep_free(&two);
    if (a->config->unembed && !s.plan.bf16 && s.plan.kind.form != ATTN_LINEAR) {
        struct attn_metric *m = draw_metric(&s);
        keep_slopes(&one, &s, edits, n, m, 1);
        keep_slopes(&two, &s, edits, n, m, 2);
        keep_expect_same(&one, &two);
        keep_free(&one);
        keep_free(&two);
        attn_metric_free(m);
    }
    end(&s);
}

/* ---- patching ---- */

/* The edit that a cell of a grid stands for: a head of k or v is that of all query heads which it serves. */
static const char *edit_of(const struct subject *s, const char *what, const struct attn_patch_cell *c, bool shared)
{
    size_t group = shared ? s->info.H / s->info.Hkv : 1, head = (size_t)c->head * group;
    const char *place = c->layer < 0 ? what : printed("blocks.%d.%s", c->layer, what);
    const char *heads = c->head < 0 ? "" : printed("[head=%zu-%zu%s", head, head + group - 1, c->pos < 0 ? "]" : "");
    const char *pos = c->pos < 0 ? "" : printed("%spos=%d]", c->head < 0 ? "[" : ",", c->pos);
    return printed("%s%s%s = from", place, heads, pos);
}

static double measured(const struct subject *s, const char *edit, const struct attn_metric *m)
{
    struct attn_err err = {0};
    struct attn_measure x = {.metric = m};
    struct asked_editor e = asked_edit(&s->a, &edit, 1, s->text, s->other, &s->plan);
    struct attn_observer obs[] = {attn_editor_observer(e.editor), attn_measure_observer(&x)};
    ck_assert_msg(!attn_run_tokens(s->a.model, &s->plan, s->text, NULL, obs, 2, &err),
                  "%s: %s\n%s", edit, err.msg, s->of->about);
    asked_edit_end(&e);
    return x.value;
}

static struct attn_patch *patch(const struct subject *s, const char *what, const char *over, const char *method,
                                const struct attn_metric *m)
{
    struct attn_err err = {0};
    struct attn_patch *p = NULL;
    struct attn_patch_opts o = {.tokens = s->text, .from = s->other, .what = what, .over = over, .method = method,
                                .metric = m, .plan = s->plan};
    ck_assert_msg(!attn_patch_new(&p, s->a.model, &o, &err), "%s over %s: %s\n%s", what, over, err.msg, s->of->about);
    return p;
}

/* Each cell of a grid has the bits of a whole run with that edit. */
static void check_cells(const struct agree *a, int T)
{
    static const char *const axes[] = {"layer", "layer,pos", "layer,head", "layer,head,pos"};
    if (!a->config->unembed)
        return;
    struct subject s = begin(a, T < 6 ? T : 6, draw_kind(), agree_pick(3) == 0);
    const struct kept *x;
    do
        x = &s.plain.a[agree_pick((int)s.plain.n)];
    while (attn_act_derived(x->act));
    const char *what = x->layer < 0 ? x->name : strchr(x->name + strlen("blocks."), '.') + 1;
    bool heads = x->ndim == 3 || x->act == ATTN_ACT_CONTEXT;
    const char *over = x->layer < 0 ? "pos" : axes[agree_pick(heads ? 4 : 2)];
    struct attn_metric *m = draw_metric(&s);
    struct attn_patch *p = patch(&s, what, over, NULL, m);
    struct attn_patch_result r;
    attn_patch_get(p, &r);
    ck_assert_uint_gt(r.n, 0);
    for (size_t i = 0; i < r.n; i++) {
        const char *edit = edit_of(&s, what, &r.cell[i], x->act == ATTN_ACT_K || x->act == ATTN_ACT_V);
        double want = measured(&s, edit, m);
        ck_assert_msg(memcmp(&r.cell[i].metric, &want, sizeof want) == 0,
                      "%s over %s: %s gives %.17g, the cell %.17g (%s)\n%s", what,
                      over, edit, want, r.cell[i].metric, s.kind, a->about);
    }
    attn_patch_free(p);
    attn_metric_free(m);
    end(&s);
}

/* The shares of the embeddings make the whole difference, but for the error of the midpoint rule: with 64 steps that
 * was below 3e-4 (1 + |difference|) in each of 1000 models of the older families, and 1.2e-3 in one of OLMo 3's; four
 * times as many make it a sixteenth.  Each corner of a ReLU, or of a clamp, which has two, that a step crosses adds one
 * of its own: more steps. */
static void check_path(const struct agree *a, int T)
{
    struct subject s = begin(a, T < 6 ? T : 6, NULL, false);
    struct attn_metric *m = asked_metric(&s.a, printed("logit(%d)", agree_pick((int)s.info.V)), s.ids, s.T, s.ids);
    bool corners = !strcmp(a->config->mlp, "relu");
    const char *method = a->config->clip > 0 ? "ig:4096" : corners ? "ig:1024" : "ig:256";
    struct attn_patch *p = patch(&s, "embed", "pos", method, m);
    struct attn_patch_result r;
    double sum = 0;
    attn_patch_get(p, &r);
    for (size_t i = 0; i < r.n; i++)
        sum += r.cell[i].metric - r.metric_text;
    double whole = r.metric_from - r.metric_text;
    ck_assert_msg(fabs(sum - whole) <= 1e-3 * (1 + fabs(whole)),
                  "the shares sum to %g, the difference is %g\n%s", sum, whole, a->about);
    attn_patch_free(p);
    attn_metric_free(m);
    end(&s);
}

/* ---- for models of every kind ---- */

static void (*const checks[])(const struct agree *a, int T) = {check_what_changes_nothing, check_sums, check_threads,
                                                               check_cells, check_path};
enum { CHECKS = sizeof checks / sizeof *checks };

START_TEST(of_families)
{
    agree_seed = (unsigned)_i * 6151u + 7;
    for (int round = 0; round < ROUNDS; round++)
        drawn_family(_i % drawn_families(), round, checks[_i / drawn_families()]);
}
END_TEST

static void (*native_check)(const struct agree *a, int T);

static void check_native(const struct agree *a, int T, int Tk)
{
    (void)Tk;
    native_check(a, T);
}

START_TEST(of_native_models)
{
    static const char *const dtypes[] = {"F32", "F16", "BF16"};
    agree_seed = (unsigned)_i * 6131u + 5;
    native_check = checks[_i];
    for (int round = 0; round < 3 * ROUNDS; round++) {
        struct ref_config c = drawn_native();
        drawn_native_use(&c, dtypes[agree_pick(3)], 1 + agree_pick(c.n_ctx), 0, check_native);
    }
}
END_TEST

Suite *suite_identities(void)
{
    Suite *s = suite_create("identities");
    TCase *c = tcase_create("identities");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_loop_test(c, of_families, 0, CHECKS * drawn_families());
    /* sharp ones, without norms, take too many steps on a path */
    tcase_add_loop_test(c, of_native_models, 0, CHECKS - 1);
    suite_add_tcase(s, c);
    return s;
}
