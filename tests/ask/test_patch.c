/* Patching: recorded grids, the same bits as whole runs that are edited, and sums that must come out. */
#include "suites.h"

#include "asked.h"
#include "checkpoints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct attn_patch *patch_of(const struct attn_model *m, const struct attn_tokens *t,
                                   const struct attn_tokens *from, struct attn_patch_opts o)
{
    struct attn_err err = {0};
    struct attn_patch *p = NULL;
    o.tokens = t;
    o.from = from;
    ck_assert_msg(!attn_patch_new(&p, m, &o, &err), "%s", err.msg);
    return p;
}

/* ---- recorded grids ---- */

static void compare(const cJSON *grid, const cJSON *doc, const struct attn_patch_result *r)
{
    size_t n;
    const cJSON *off = golden_get(grid, "float32_max_abs_difference");
    float *metric = golden_floats(golden_get(grid, "metric"), &n),
        *effect = golden_floats(golden_get(grid, "effect"), &n);
    ck_assert_uint_eq(n, r->n);
    double limit = asked_limit(golden_number(off, "metric"), 1 + fabs(golden_number(doc, "metric_text")));
    double limit_effect = asked_limit(golden_number(off, "effect"), 1);
    for (size_t i = 0; i < n; i++) {
        const struct attn_patch_cell *c = &r->cell[i];
        const char *how = golden_string(grid, "method"), *what = golden_string(grid, "what");
        ck_assert_msg(fabs(c->metric - (double)metric[i]) <= limit,
                      "%s %s: L%d H%d pos %d: %.9g, expected %.9g within %g",
                      what, how, c->layer, c->head, c->pos, c->metric, (double)metric[i], limit);
        ck_assert_msg(fabs(c->effect - (double)effect[i]) <= limit_effect * (1 + fabs((double)effect[i])),
                      "%s %s: L%d H%d pos %d: effect %.9g, "
                      "expected %.9g", what, how, c->layer, c->head, c->pos, c->effect, (double)effect[i]);
    }
    free(metric);
    free(effect);
}

START_TEST(golden_grids)
{
    int32_t ids[ASKED_IDS], from_ids[ASKED_IDS];
    const cJSON *grid, *axis;
    struct asked a = asked_open(asked_checkpoints[_i]);
    cJSON *doc = golden_read(asked_path(asked_checkpoints[_i], "patch.json"));
    size_t n = asked_ids(ids, golden_get(doc, "ids"));
    ck_assert_uint_eq(asked_ids(from_ids, golden_get(doc, "from")), n);
    struct attn_tokens *t = asked_tokens(ids, n), *from = asked_tokens(from_ids, n);
    struct attn_metric *m = asked_metric(&a, golden_string(doc, "metric"), ids, n, ids);
    double off = golden_number(doc, "float32_max_abs_difference");
    cJSON_ArrayForEach(grid, golden_get(doc, "grids")) {
        char over[32] = "";
        struct attn_patch_result r;
        cJSON_ArrayForEach(axis, golden_get(grid, "over"))
            snprintf(over + strlen(over), sizeof over - strlen(over), "%s%s", *over ? "," : "", axis->valuestring);
        struct attn_patch *p = patch_of(a.model, t, from, (struct attn_patch_opts){
            .what = golden_string(grid, "what"), .over = over, .method = golden_string(grid, "method"), .metric = m,
                .plan.threads = 2});
        attn_patch_get(p, &r);
        double text = golden_number(doc, "metric_text"), other = golden_number(doc, "metric_from");
        ck_assert_double_eq_tol(r.metric_text, text, asked_limit(off, 1 + fabs(text)));
        ck_assert_double_eq_tol(r.metric_from, other, asked_limit(off, 1 + fabs(other)));
        compare(grid, doc, &r);
        attn_patch_free(p);
    }
    attn_metric_free(m);
    attn_tokens_free(t);
    attn_tokens_free(from);
    cJSON_Delete(doc);
    asked_close(&a);
}
END_TEST

/* ---- a cell is a whole run, edited ---- */

/* An editor that puts a piece of another run in place, of whole bands: what patching means, without its shortcuts. */
struct piece { const struct attn_patch_cell *cell; int act; size_t dv; float *from; size_t T; };

static unsigned piece_wants(void *self, int act, int layer)
{
    const struct piece *p = self;
    return act == p->act && layer == p->cell->layer ? ATTN_EDIT | ATTN_WATCH : 0;
}

static int piece_keep(void *self, const struct attn_probe *b, struct attn_err *err)
{
    (void)err;
    struct piece *p = self;
    if (!p->from)
        p->from = calloc(b->shape[0] * b->shape[1] * (b->ndim == 3 ? b->shape[2] : 1), sizeof *p->from);
    ck_assert_ptr_nonnull(p->from);
    attn_probe_copy(p->from, b);
    return 0;
}

static int piece_edit(void *self, const struct attn_probe *b, float *data, struct attn_err *err)
{
    (void)err;
    const struct piece *p = self;
    for (size_t h = 0; h < b->heads; h++)
        for (size_t t = 0; t < b->rows; t++)
            for (size_t j = 0; j < b->cols; j++) {
                size_t head = p->act == ATTN_ACT_CONTEXT ? j / p->dv : b->head0 + h, row = b->row0 + t;
                if ((p->cell->head < 0 || (size_t)p->cell->head == head) &&
                    (p->cell->pos < 0 || (size_t)p->cell->pos == row))
                    data[h * b->ld_head + t * b->ld + j] = p->from[((b->head0 + h) * p->T + row) * b->cols + j];
            }
    return 0;
}

static double edited(const struct attn_model *m, const struct attn_plan *plan, const struct attn_metric *metric,
                     const struct attn_tokens *t, const struct attn_tokens *from, int act,
                     const struct attn_patch_cell *cell, struct attn_editor *editor)
{
    struct attn_err err = {0};
    struct attn_info info;
    attn_model_info(m, &info);
    struct piece piece = {.cell = cell, .act = act, .dv = info.dv, .T = t->n};
    struct attn_measure x = {.metric = metric};
    struct attn_observer keeper = {.wants = piece_wants, .watch = piece_keep, .self = &piece};
    struct attn_observer obs[] = {{.wants = piece_wants, .edit = piece_edit, .self = &piece}, attn_measure_observer(&x),
                                  {.wants = NULL}};
    if (editor) {                       /* which comes before the patch */
        obs[2] = obs[1];
        obs[1] = obs[0];
        obs[0] = attn_editor_observer(editor);
    }
    ck_assert_msg(!attn_run_tokens(m, plan, from, NULL, &keeper, 1, &err) &&
                  !attn_run_tokens(m, plan, t, NULL, obs, 3, &err),
                  "%s", err.msg);
    free(piece.from);
    return x.value;
}

static const struct { const char *what, *over; int act; } grids[] = {
    {"context", "layer,head", ATTN_ACT_CONTEXT}, {"resid_pre", "layer,pos", ATTN_ACT_RESID_PRE},
        {"resid_post", "layer,pos", ATTN_ACT_RESID_POST},
    {"resid_post", "layer", ATTN_ACT_RESID_POST}, {"scores", "layer,head", ATTN_ACT_SCORES},
        {"pattern", "layer,head,pos", ATTN_ACT_PATTERN},
    {"v", "layer,head,pos", ATTN_ACT_V}, {"mlp.out", "layer", ATTN_ACT_MLP_OUT},
    {"post", "layer,pos", ATTN_ACT_MLP_POST},
    {"embed", "pos", ATTN_ACT_EMBED}, {"norm_final", "pos", ATTN_ACT_NORM_FINAL}, {"logits", "pos", ATTN_ACT_LOGITS},
};
static const struct { const char *kind; bool bf16; } plans[] = {
    {NULL, false}, {NULL, true}, {"window:3", false}, {"full", false}, {"causal-renorm", false}, {"linear", false},
        {"random:2,2,7", false}, {"block:4", false},
};
enum { GRIDS = sizeof grids / sizeof *grids, PLANS = sizeof plans / sizeof *plans };

/* Where the stream is normalised after each addition, there is no norm at the end. */
static bool lacks(const struct asked *a, int act)
{
    return act == ATTN_ACT_NORM_FINAL && (strstr(a->dir, "opt-post") || strstr(a->dir, "gpt1"));
}

START_TEST(exact_cells_are_edited_runs_bit_for_bit)
{
    enum { N = 9 };
    const int32_t ids[N] = {5, 9, 22, 31, 2, 7, 7, 40, 11}, from_ids[N] = {5, 9, 23, 31, 2, 8, 17, 40, 12};
    struct attn_err err = {0};
    struct attn_plan plan = {.threads = 1 + _i % 2, .bf16 = plans[_i % PLANS].bf16};
    if (plans[_i % PLANS].kind)
        ck_assert(!attn_kind_parse(&plan.kind, plans[_i % PLANS].kind, &err));
    struct asked a = asked_open(checkpoints[_i / PLANS].name);
    struct attn_info info;
    attn_model_info(a.model, &info);
    if (info.L < 2) {                   /* the edits are of layer 1, too */
        asked_close(&a);
        return;
    }
    struct attn_tokens *t = asked_tokens(ids, N), *from = asked_tokens(from_ids, N);
    static const char *const edits[] = {"resid_pre[pos=2] *= 1.5", "L1.mlp.out *= 0.5", "L0.resid_post += 0.25*from",
                                        "logits[col=3] *= 2"};
    const char *const metrics[] = {"logit(3)-logit(5)", "logprob(4,pos=3)+prob(9,pos=7)", "loss", "rank(3)", "kl"};
    for (size_t g = 0; g < GRIDS; g++) {
        if ((plan.kind.form == ATTN_LINEAR && grids[g].act == ATTN_ACT_SCORES) || lacks(&a, grids[g].act))
            continue;
        struct attn_metric *m = asked_metric(&a, metrics[g % 5], ids, N, ids);
        struct attn_patch_result r;
        struct attn_plan whole = {.threads = 1, .bf16 = plan.bf16, .kind = plan.kind};
        size_t n_edits = g % 2 ? sizeof edits / sizeof *edits : 0;
        struct asked_editor own = asked_edit(&a, edits, n_edits, t, from, &whole),
            theirs = asked_edit(&a, edits, n_edits, t, from, &whole);
        struct attn_patch *p = patch_of(a.model, t, from, (struct attn_patch_opts){
            .what = grids[g].what, .over = grids[g].over, .metric = m, .plan = plan, .editor = own.editor});
        attn_patch_get(p, &r);
        ck_assert_uint_gt(r.n, 0);
        ck_assert(!attn_metric_refer_to(m, a.model, t, &whole, &err));
        for (size_t i = 0; i < r.n; i++) {
            double want = edited(a.model, &whole, m, t, from, grids[g].act, &r.cell[i], theirs.editor);
            ck_assert_msg(r.cell[i].metric == want,
                          "%s over %s, %s: L%d H%d pos %d: %.17g, expected %.17g", grids[g].what,
                          grids[g].over,
                          metrics[g % 5], r.cell[i].layer, r.cell[i].head, r.cell[i].pos, r.cell[i].metric, want);
        }
        attn_patch_free(p);
        asked_edit_end(&own);
        asked_edit_end(&theirs);
        attn_metric_free(m);
    }
    attn_tokens_free(t);
    attn_tokens_free(from);
    asked_close(&a);
}
END_TEST

/* ---- what must come out ---- */

START_TEST(a_text_patched_with_itself_is_itself)
{
    const int32_t ids[] = {5, 9, 22, 31, 2, 7};
    struct asked a = asked_open(checkpoints[_i].name);
    struct attn_tokens *t = asked_tokens(ids, 6);
    struct attn_metric *m = asked_metric(&a, "logprob(3)", ids, 6, ids);
    for (size_t g = 0; g < GRIDS; g++) {
        if (lacks(&a, grids[g].act))
            continue;
        struct attn_patch_result r;
        struct attn_patch *p = patch_of(a.model, t, t,
                                        (struct attn_patch_opts){.what = grids[g].what, .over = grids[g].over,
                                                                                .metric = m});
        attn_patch_get(p, &r);
        for (size_t i = 0; i < r.n; i++)
            ck_assert(r.cell[i].metric == r.metric_text && isnan(r.cell[i].effect));
        ck_assert(r.metric_text == r.metric_from);
        attn_patch_free(p);
    }
    attn_metric_free(m);
    attn_tokens_free(t);
    asked_close(&a);
}
END_TEST

/* The sum over all of the embedding is the whole difference but for an error that shrinks with the square of the steps:
 * 16 times as many leave a 256th, or at the corners of a ReLU a 16th.  A quarter or a half of that will do, and 2e-5 is
 * what float32 leaves of two logits and their gradients. */
START_TEST(integrated_gradients_are_complete)
{
    const int32_t ids[] = {5, 9, 22, 31, 2, 7}, from_ids[] = {5, 8, 22, 30, 2, 7};
    static const char *const usual[] = {"ig:4", "ig:64"}, *const fine[] = {"ig:64", "ig:1024"};
    double left[2];
    struct asked a = asked_open(checkpoints[_i].name);
    /* whose softmaxes turn so fast along the path that the error changes its sign up to 64 steps, and shrinks
     * so from there */
    const char *const *methods = strstr(a.dir, "gemma3-wrapped") ? fine : usual;
    struct attn_tokens *t = asked_tokens(ids, 6), *from = asked_tokens(from_ids, 6);
    struct attn_metric *m = asked_metric(&a, "logit(3)-logit(20)", ids, 6, ids);
    for (size_t k = 0; k < 2; k++) {
        struct attn_patch_result r;
        struct attn_patch *p = patch_of(a.model, t, from, (struct attn_patch_opts){.what = "embed", .over = "pos",
                                                                                   .method = methods[k], .metric = m});
        double sum = 0;
        attn_patch_get(p, &r);
        for (size_t i = 0; i < r.n; i++)
            sum += r.cell[i].metric - r.metric_text;
        left[k] = fabs(sum - (r.metric_from - r.metric_text));
        attn_patch_free(p);
    }
    double fewer = strstr(a.dir, "opt-") ? 8 : 64;
    ck_assert_msg(left[1] < left[0] / fewer + 2e-5,
                  "%g after %s, %g after %s", left[0], methods[0], left[1], methods[1]);
    attn_metric_free(m);
    attn_tokens_free(t);
    attn_tokens_free(from);
    asked_close(&a);
}
END_TEST

/* ---- what is refused ---- */

static const struct { const char *what, *over, *method, *metric; size_t from; const char *part; } refused[] = {
    {"context", "layer", NULL, "loss", 2, "the texts have 3 and 2 tokens, and differ from token 2 on: '5|9|22', '5|9'"},
    {"context", "layers", NULL, "loss", 3, "--over 'layers': expected layer"},
    {"context", "layer,layer", NULL, "loss", 3, "--over 'layer,layer'"},
    {"context", "", NULL, "loss", 3, "--over ''"},
    {"context", "head", NULL, "loss", 3, "attn.context is in every layer"},
    {"embed", "layer,pos", NULL, "loss", 3, "embed is outside of the layers: expected --over pos"},
    {"resid_pre", "layer,head", NULL, "loss", 3, "resid_pre has no heads"}, {"out", "layer", NULL, "loss", 3, "out"},
    {"context", "layer", "exactly", "loss", 3, "--method 'exactly'"},
    {"context", "layer", "ig:0", "loss", 3, "--method 'ig:0'"},
    {"*", "layer", NULL, "loss", 3, "expected one activation"},
    {"context", "layer", "gradient", "rank(3)", 3, "a rank moves in steps"},
};

START_TEST(what_makes_no_grid_is_refused)
{
    const int32_t ids[] = {5, 9, 22};
    struct attn_err err = {0};
    struct asked a = asked_open("gpt2-a");
    struct attn_tokens *t = asked_tokens(ids, 3), *from = asked_tokens(ids, refused[_i].from);
    struct attn_metric *m = asked_metric(&a, refused[_i].metric, ids, 3, ids);
    struct attn_patch *p = NULL;
    struct attn_patch_opts o = {.tokens = t, .from = from, .what = refused[_i].what, .over = refused[_i].over,
                                .method = refused[_i].method, .metric = m};
    ck_assert_msg(attn_patch_new(&p, a.model, &o, &err) && !p && strstr(err.msg, refused[_i].part), "%s", err.msg);
    attn_metric_free(m);
    attn_tokens_free(t);
    attn_tokens_free(from);
    asked_close(&a);
}
END_TEST

Suite *suite_patch(void)
{
    Suite *s = suite_create("patch");
    TCase *c = tcase_create("patch");
    tcase_set_timeout(c, 60);
    attn_test_add_rows(c, golden_grids, ASKED_CHECKPOINTS, asked_name);
    tcase_add_loop_test(c, exact_cells_are_edited_runs_bit_for_bit, 0, CHECKPOINTS_HERE * PLANS);
    attn_test_add_rows(c, a_text_patched_with_itself_is_itself, CHECKPOINTS_HERE, checkpoint_name);
    attn_test_add_rows(c, integrated_gradients_are_complete, CHECKPOINTS_HERE, checkpoint_name);
    tcase_add_loop_test(c, what_makes_no_grid_is_refused, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(s, c);
    return s;
}
