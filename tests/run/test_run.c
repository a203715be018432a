/* Properties of the forward pass: what must not change a bit, and what an edit must change. */

#include "suites.h"

#include "keep.h"
#include "made.h"
#include "scratch.h"
#include "small.h"

#include "compute/gemm.h"
#include "compute/microkernel.h"
#include "compute/bf16.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { T = 150 };

static struct keep a, b;

static void setup_model(int i)
{
    small_open(i);
    a = b = (struct keep){.only = -1};
}

static void teardown(void)
{
    keep_free(&a);
    keep_free(&b);
    small_close();
}

/* Runs one sentence of n ids and keeps everything. */
static void run_all(struct keep *k, size_t n, int threads)
{
    const struct attn_observer obs = keep_observer(k);
    const struct attn_seq seq = {.T = n};
    struct attn_run *r = small_run(n, 1, 0, threads, &obs, 1);
    small_forward(r, small.ids, &seq, 1);
    ck_assert_uint_eq(k->disorder, 0);
    attn_run_free(r);
}

START_TEST(threads_do_not_change_a_bit)
{
    static const int threads[] = {2, 3, 7};
    setup_model(_i);
    run_all(&a, T, 1);
    run_all(&b, T, threads[_i % 3]);
    keep_expect_same(&a, &b);
    teardown();
}
END_TEST

START_TEST(kernels_do_not_change_a_bit)
{
    setup_model(_i);
    ck_assert(attn_microkernel_choose(false));
    run_all(&a, T, 2);
    if (attn_microkernel_choose(true)) {
        run_all(&b, T, 2);
        keep_expect_same(&a, &b);
    }
    teardown();
}
END_TEST

/* A run copies the weights before its first pass, or after some thousand rows, or never: all activations have
 * the same bits. */
START_TEST(copied_weights_do_not_change_a_bit)
{
    const struct attn_observer obs = keep_observer(&b);
    const struct attn_seq seq = {.T = T};
    const enum attn_copies copies = _i / (2 * SMALL_MODELS);
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    setup_model(_i);
    run_all(&a, T, 1);
    const bool none = copies == ATTN_COPY_NEVER || (small.bf16 && attn_bf16_kind() == ATTN_BF16_FLOATS);
    const struct attn_plan p = {.rows = T, .seqs = 1, .threads = 2, .bf16 = small.bf16, .copies = copies};
    ck_assert_msg(!attn_run_new(&r, small.model, &p, &obs, 1, &err), "%s", err.msg);
    for (size_t rows = T; rows < ATTN_RUN_REPAYS + T; rows += T) {
        ck_assert(!r->panels.memory.base == (none || rows == T || copies == ATTN_COPY_REPAID));
        keep_free(&b);
        b.paused = rows < ATTN_RUN_REPAYS;              /* only the last pass is looked at */
        small_forward(r, small.ids, &seq, 1);
    }
    ck_assert(!r->panels.memory.base == none);
    keep_expect_same(&a, &b);
    struct attn_cost cost;
    ck_assert(!attn_run_measure(&cost, small.model, &p, &obs, 1, &err));
    ck_assert_uint_eq(cost.copies, r->panels.memory.size);
    attn_run_free(r);
    struct attn_plan unknown = p;
    unknown.copies = ATTN_COPY_FIRST + 1;
    ck_assert_int_eq(attn_run_new(&r, small.model, &unknown, &obs, 1, &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "attn_plan.copies is 3, but must be one of enum attn_copies");
    teardown();
}
END_TEST

/* The logits [n, 50] of n tokens, one after another; and whether the run has copied the weights at the end. */
static float *decode(int n, enum attn_copies copies, bool *copied)
{
    struct keep k = {.only = ATTN_ACT_LOGITS};
    const struct attn_observer obs = keep_observer(&k);
    const struct attn_plan p = {.rows = 1, .seqs = 1, .keys = (size_t)n, .threads = 2, .bf16 = small.bf16,
                                .copies = copies};
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    struct attn_kv *kv = NULL;
    float *logits = malloc((size_t)n * 50 * sizeof *logits);
    ck_assert(logits && !attn_kv_new(&kv, small.model, (size_t)n, &err) &&
              !attn_run_new(&r, small.model, &p, &obs, 1, &err));
    const struct attn_seq seq = {.T = 1, .kv = kv};
    for (int t = 0; t < n; t++) {
        if (t == ATTN_RUN_REPAYS / ATTN_RUN_LONE)
            ck_assert_ptr_null(r->panels.memory.base);  /* the next token repays them */
        small_forward(r, small.ids + t, &seq, 1);
        memcpy(logits + t * 50, keep_find(&k, "logits", 0)->data, 50 * sizeof *logits);
        keep_free(&k);
        k = (struct keep){.only = ATTN_ACT_LOGITS};
    }
    *copied = r->panels.memory.base;
    attn_kv_free(kv);
    attn_run_free(r);
    return logits;
}

/* One row after another, whose weights are copied after some of them: as they are stored, whatever their type, or
 * rounded in pairs. */
START_TEST(copies_for_one_row_do_not_change_a_bit)
{
    enum { N = ATTN_RUN_REPAYS / ATTN_RUN_LONE + 5 };
    static const char *const types[] = {"F32", "F16", "BF16"};
    setup_model(_i);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        attn_model_close(small.model);
        small.model = made_open(made_model(small_configs[_i % SMALL_MODELS], 12, types[i]));
        bool never, copied;
        float *want = decode(N, ATTN_COPY_NEVER, &never), *got = decode(N, ATTN_COPY_REPAID, &copied);
        ck_assert(!never);
        ck_assert_int_eq(copied, !small.bf16 || attn_bf16_kind() == ATTN_BF16_DOTS);
        ck_assert(memcmp(want, got, N * 50 * sizeof *want) == 0);
        free(want);
        free(got);
    }
    teardown();
}
END_TEST

START_TEST(whole_or_in_bands_is_the_same)
{
    setup_model(_i);
    run_all(&a, T, 2);
    b.flags = ATTN_WATCH | ATTN_WHOLE;
    run_all(&b, T, 2);
    ck_assert_uint_gt(a.bands, b.bands);
    keep_expect_same(&a, &b);
    teardown();
}
END_TEST

/* Who says how it wants bands, but not what for, gets none, and the passes of many sentences beside are as ever. */
START_TEST(whole_alone_shows_nothing)
{
    enum { N = 30, FIRST = 100 };
    struct attn_seq seq[N] = {{.T = FIRST}};
    struct keep whole = {.only = -1, .flags = ATTN_WHOLE};
    const struct attn_observer watch = keep_observer(&a), both[] = {keep_observer(&b), keep_observer(&whole)};
    setup_model(_i);
    for (size_t i = 1; i < N; i++)
        seq[i].T = 1;
    a.only = b.only = ATTN_ACT_LOGITS;
    struct attn_run *r = small_run(FIRST + N - 1, N, 0, 2, &watch, 1),
        *beside = small_run(FIRST + N - 1, N, 0, 2, both, 2);
    small_forward(r, small.ids, seq, N);
    small_forward(beside, small.ids, seq, N);
    attn_run_free(r);
    attn_run_free(beside);
    ck_assert_uint_eq(whole.bands, 0);
    keep_expect_same(&a, &b);
    keep_free(&whole);
    teardown();
}
END_TEST

/* Each activation has the same bits if it is watched alone or with all others; so do the logits beside it. */
START_TEST(watching_does_not_change_a_bit)
{
    setup_model(_i);
    run_all(&a, T, 2);
    for (int act = 0; act < ATTN_ACTS; act++) {
        struct keep one = {.only = act}, logits = {.only = ATTN_ACT_LOGITS};
        const struct attn_observer obs[] = {keep_observer(&one), keep_observer(&logits)};
        const struct attn_seq seq = {.T = T};
        struct attn_run *r = small_run(T, 1, 0, 2, obs, 2);
        small_forward(r, small.ids, &seq, 1);
        attn_run_free(r);
        for (size_t i = 0; i < a.n; i++) {
            bool seen = a.a[i].act == act || a.a[i].act == ATTN_ACT_LOGITS;
            const struct kept *x = keep_find(a.a[i].act == ATTN_ACT_LOGITS ? &logits : &one, a.a[i].name, 0);
            ck_assert_int_eq(x != NULL, seen);
            ck_assert(!x || memcmp(x->data, a.a[i].data, x->n * sizeof(float)) == 0);
        }
        keep_free(&one);
        keep_free(&logits);
    }
    teardown();
}
END_TEST

/* Whether sentence `seq` of a batch has the same numbers as alone. */
static bool same_alone(const struct keep *batch, size_t seq, const struct kept *alone)
{
    const struct kept *x = keep_find(batch, alone->name, seq);
    return x && x->n == alone->n && memcmp(x->data, alone->data, x->n * sizeof(float)) == 0;
}

/* The sentences of a batch share products but have the same bits as alone, and so do logits if nothing
 * else is watched. */
START_TEST(batch_does_not_change_a_bit)
{
    static const size_t lengths[] = {5, 1, 70, 64, 3};
    enum { N = 5, ROWS = 143 };
    struct attn_seq seq[N];
    setup_model(_i);
    struct keep logits = {.only = ATTN_ACT_LOGITS};
    const struct attn_observer obs[] = {keep_observer(&a), keep_observer(&logits)};
    struct attn_run *r;
    for (int i = 0; i < N; i++)
        seq[i] = (struct attn_seq){.T = lengths[i]};
    for (int i = 0; i < 2; i++) {
        r = small_run(ROWS, N, 0, 2, &obs[i], 1);
        small_forward(r, small.ids, seq, N);
        attn_run_free(r);
    }
    size_t row = 0;
    for (size_t i = 0; i < N; row += lengths[i++]) {
        const struct attn_observer alone = keep_observer(&b);
        const struct attn_seq one = {.T = lengths[i]};
        r = small_run(lengths[i], 1, 0, 1, &alone, 1);
        small_forward(r, small.ids + row, &one, 1);
        attn_run_free(r);
        for (size_t k = 0; k < b.n; k++) {
            ck_assert(same_alone(&a, i, &b.a[k]));
            ck_assert(b.a[k].act != ATTN_ACT_LOGITS || same_alone(&logits, i, &b.a[k]));
        }
        keep_free(&b);
        b = (struct keep){.only = -1};
    }
    keep_free(&logits);
    teardown();
}
END_TEST

/* ---- the last rows ---- */

enum { SENTENCES = 40 };                /* more than one band of logits */

/* Keeps the last row of each sentence of two activations, as one of several observers. */
struct ends { int flags[ATTN_ACTS]; float row[2][SENTENCES][50]; size_t told; };

static unsigned ends_want(void *self, int act, int layer)
{
    const struct ends *e = self;
    (void)layer;
    return (unsigned)e->flags[act];
}

static int ends_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct ends *e = self;
    (void)err;
    e->told++;
    if (p->row0 + p->rows == p->shape[0])
        memcpy(e->row[p->act == ATTN_ACT_LOGITS][p->seq], p->data + (p->rows - 1) * p->ld, p->cols * sizeof(float));
    return 0;
}

static void run_ends(struct ends *e, int logits, int norm)
{
    struct attn_seq seq[SENTENCES];
    *e = (struct ends){.flags = {[ATTN_ACT_LOGITS] = logits, [ATTN_ACT_NORM_FINAL] = norm}};
    const struct attn_observer obs = {.wants = ends_want, .watch = ends_watch, .self = e};
    for (size_t i = 0; i < SENTENCES; i++)
        seq[i] = (struct attn_seq){.T = 1 + i % 4};
    struct attn_run *r = small_run(100, SENTENCES, 0, 2, &obs, 1);
    small_forward(r, small.ids, seq, SENTENCES);
    attn_run_free(r);
}

/* An observer that wants last rows only gets no others, and they have the bits of a run that gives all rows. */
START_TEST(last_rows_are_those_of_all)
{
    enum { LAST = ATTN_WATCH | ATTN_LAST };
    static struct ends all, some;
    setup_model(_i);
    run_ends(&all, ATTN_WATCH, ATTN_WATCH);
    run_ends(&some, LAST, LAST);
    ck_assert_uint_eq(some.told, 2 * SENTENCES);
    ck_assert(memcmp(all.row, some.row, sizeof all.row) == 0);
    run_ends(&some, LAST, ATTN_WATCH);
    ck_assert(memcmp(all.row, some.row, sizeof all.row) == 0);
    run_ends(&some, ATTN_WATCH, LAST);
    ck_assert(memcmp(all.row, some.row, sizeof all.row) == 0);
    run_ends(&some, LAST, 0);
    ck_assert(memcmp(all.row[1], some.row[1], sizeof all.row[1]) == 0);
    run_ends(&some, 0, LAST);
    ck_assert(memcmp(all.row[0], some.row[0], sizeof all.row[0]) == 0);
    teardown();
}
END_TEST

/* Compares the rows of an activation for a text with those for a longer one. */
static void expect_prefix(const struct kept *x, const struct kept *y)
{
    size_t rx = x->shape[x->ndim - 2], ry = y->shape[y->ndim - 2], cx = x->shape[x->ndim - 1],
        cy = y->shape[y->ndim - 1];
    size_t heads = x->ndim == 3 ? x->shape[0] : 1, cols = cx < cy ? cx : cy;
    for (size_t h = 0; h < heads; h++)
        for (size_t t = 0; t < rx; t++) {
            const float *p = x->data + (h * rx + t) * cx, *q = y->data + (h * ry + t) * cy;
            ck_assert_msg(memcmp(p, q, cols * sizeof *p) == 0, "%s, head %zu, row %zu", x->name, h, t);
        }
}

START_TEST(more_text_changes_no_earlier_row)
{
    setup_model(_i);
    run_all(&a, (size_t)(60 + _i), 2);
    run_all(&b, T, 2);
    for (size_t i = 0; i < a.n; i++)
        expect_prefix(&a.a[i], keep_find(&b, a.a[i].name, 0));
    teardown();
}
END_TEST

/* Token by token with the cache, in pieces, or all at once: the logits have the same bits. */
START_TEST(cache_does_not_change_a_bit)
{
    static const size_t pieces[] = {1, 64, 1, 1, 20, 33, 1, 29};
    struct attn_kv *kv = NULL;
    struct attn_err err = {0};
    setup_model(_i);
    a.only = ATTN_ACT_LOGITS;
    run_all(&a, T, 1);
    const struct kept *all = keep_find(&a, "logits", 0);
    ck_assert(!attn_kv_new(&kv, small.model, 200, &err));
    struct keep step = {.only = ATTN_ACT_LOGITS};
    const struct attn_observer obs = keep_observer(&step);
    struct attn_run *r = small_run(64, 1, 200, 2, &obs, 1);
    size_t done = 0;
    for (int i = 0; i < 8; done += pieces[i++]) {
        const struct attn_seq seq = {.T = pieces[i], .kv = kv};
        ck_assert_uint_eq(attn_kv_length(kv), done);
        small_forward(r, small.ids + done, &seq, 1);
        const struct kept *x = keep_find(&step, "logits", 0);
        ck_assert_uint_eq(x->shape[0], pieces[i]);
        ck_assert(memcmp(x->data, all->data + done * 50, pieces[i] * 50 * sizeof(float)) == 0);
        keep_free(&step);
    }
    ck_assert_uint_eq(done, T);
    attn_run_free(r);
    attn_kv_free(kv);
    teardown();
}
END_TEST

START_TEST(pattern_is_a_distribution)
{
    setup_model(_i);
    run_all(&a, T, 1);
    for (size_t i = 0; i < a.n; i++) {
        if (a.a[i].act != ATTN_ACT_PATTERN)
            continue;
        for (size_t row = 0; row < a.a[i].shape[0] * T; row++) {
            const float *p = a.a[i].data + row * T;
            double sum = 0;
            for (size_t j = 0; j < T; j++) {
                ck_assert(p[j] >= 0 && p[j] <= 1);
                ck_assert(j <= row % T || p[j] == 0);
                sum += p[j];
            }
            ck_assert_double_le(fabs(sum - 1), 2e-7 + 1e-9 * T);    /* each weight is rounded once */
        }
    }
    teardown();
}
END_TEST

/* ---- editing ---- */

struct edit { int act, layer; size_t head; float set; };

static unsigned edit_wants(void *self, int act, int layer)
{
    const struct edit *e = self;
    return act == e->act && layer == e->layer ? ATTN_EDIT : 0;
}

static int edit_head(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    const struct edit *e = self;
    (void)err;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows && p->head0 + h == e->head; t++)
            for (size_t j = 0; j < p->cols; j++)
                data[h * p->ld_head + t * p->ld + j] = e->set;
    return 0;
}

static void run_edited(struct keep *k, struct edit *e)
{
    const struct attn_observer obs[] = {keep_observer(k), {.wants = edit_wants, .edit = edit_head, .self = e}};
    const struct attn_seq seq = {.T = T};
    struct attn_run *r = small_run(T, 1, 0, 2, obs, 2);
    small_forward(r, small.ids, &seq, 1);
    attn_run_free(r);
}

static bool same(const char *name)
{
    const struct kept *x = keep_find(&a, name, 0), *y = keep_find(&b, name, 0);
    return memcmp(x->data, y->data, x->n * sizeof(float)) == 0;
}

/* If the pattern of a head is set to zero its context becomes zero.  Earlier activations do not change, and watchers
 * see the pattern as edited. */
START_TEST(zeroing_a_head_reaches_the_context)
{
    struct edit e = {.act = ATTN_ACT_PATTERN, .layer = 1, .head = 4, .set = 0};
    setup_model(_i);
    b.flags = _i / SMALL_MODELS ? ATTN_WATCH | ATTN_WHOLE : ATTN_WATCH;
    run_all(&a, T, 1);
    run_edited(&b, &e);
    ck_assert(same("blocks.0.resid_post") && same("blocks.1.attn.scores"));
    ck_assert(!same("blocks.1.attn.pattern") && !same("blocks.1.attn.context") && !same("logits"));
    const struct kept *x = keep_find(&a, "blocks.1.attn.context", 0), *y = keep_find(&b, "blocks.1.attn.context", 0);
    const size_t wide = x->n / T, dv = wide / 6;
    for (size_t t = 0; t < T; t++)
        for (size_t j = 0; j < wide; j++) {
            float want = j / dv == 4 ? 0 : x->data[t * wide + j];
            ck_assert(y->data[t * wide + j] == want);
        }
    const struct kept *p = keep_find(&b, "blocks.1.attn.pattern", 0);
    for (size_t i = 4 * T * T; i < 5 * T * T; i++)
        ck_assert(p->data[i] == 0);
    teardown();
}
END_TEST

/* If a pattern is replaced by 1/T everywhere, hidden keys count as well: every row is the mean of v. */
START_TEST(replaced_pattern_may_look_anywhere)
{
    struct edit e = {.act = ATTN_ACT_PATTERN, .layer = 0, .head = 0, .set = 1.0f / T};
    setup_model(_i);
    run_edited(&b, &e);
    const struct kept *v = keep_find(&b, "blocks.0.attn.v", 0), *c = keep_find(&b, "blocks.0.attn.context", 0);
    const size_t wide = c->n / T, dv = wide / 6;
    for (size_t j = 0; j < dv; j++) {
        double mean = 0;
        for (size_t t = 0; t < T; t++)
            mean += v->data[t * dv + j] / (double)T;
        for (size_t t = 0; t < T; t++)          /* 150 products of numbers of order 1, rounded */
            ck_assert_double_le(fabs(c->data[t * wide + j] - mean), 1e-5);
    }
    teardown();
}
END_TEST

/* Equal scores, including those of hidden keys, give a uniform pattern. */
START_TEST(edited_scores_unmask)
{
    struct edit e = {.act = ATTN_ACT_SCORES, .layer = 0, .head = 2, .set = 0.25f};
    setup_model(_i);
    run_edited(&b, &e);
    const struct kept *p = keep_find(&b, "blocks.0.attn.pattern", 0);
    for (size_t i = 2 * T * T; i < 3 * T * T; i++)
        ck_assert(p->data[i] == 1.0f / T);
    teardown();
}
END_TEST

/* A row whose scores are all -inf gives zeros, not NaN. */
START_TEST(row_without_keys_is_zeros)
{
    struct edit e = {.act = ATTN_ACT_SCORES, .layer = 0, .head = 2, .set = -INFINITY};
    setup_model(_i);
    run_edited(&b, &e);
    const struct kept *p = keep_find(&b, "blocks.0.attn.pattern", 0);
    for (size_t i = 2 * T * T; i < 3 * T * T; i++)
        ck_assert(p->data[i] == 0);
    teardown();
}
END_TEST

/* An edit of any activation that exists must change the logits: none is lost. */
START_TEST(every_edit_flows_on)
{
    setup_model(_i);
    int act = _i / SMALL_MODELS;
    struct edit e = {.act = act,
                     .layer = act == ATTN_ACT_EMBED || act == ATTN_ACT_POS_EMBED || act >= ATTN_ACT_NORM_FINAL ? -1 : 1,
                     .set = 0.125f};
    run_all(&a, T, 1);
    run_edited(&b, &e);
    bool there = false;
    for (size_t i = 0; i < a.n; i++)
        there = there || (a.a[i].act == act && a.a[i].layer == e.layer);
    ck_assert_int_eq(!same("logits"), there);
    teardown();
}
END_TEST

Suite *suite_run(void)
{
    Suite *s = suite_create("run");
    TCase *c = tcase_create("run");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, threads_do_not_change_a_bit, 0, 12);
    tcase_add_loop_test(c, kernels_do_not_change_a_bit, 0, 2 * SMALL_MODELS);
    tcase_add_loop_test(c, copied_weights_do_not_change_a_bit, 0, 3 * 2 * SMALL_MODELS);
    tcase_add_loop_test(c, copies_for_one_row_do_not_change_a_bit, 0, 2 * SMALL_MODELS);
    tcase_add_loop_test(c, whole_or_in_bands_is_the_same, 0, 2 * SMALL_MODELS);
    tcase_add_loop_test(c, whole_alone_shows_nothing, 0, SMALL_MODELS);
    tcase_add_loop_test(c, watching_does_not_change_a_bit, 0, 2 * SMALL_MODELS);
    tcase_add_loop_test(c, batch_does_not_change_a_bit, 0, 2 * SMALL_MODELS);
    tcase_add_loop_test(c, last_rows_are_those_of_all, 0, 2 * SMALL_MODELS);
    tcase_add_loop_test(c, more_text_changes_no_earlier_row, 0, 8);
    tcase_add_loop_test(c, cache_does_not_change_a_bit, 0, 2 * SMALL_MODELS);
    tcase_add_loop_test(c, pattern_is_a_distribution, 0, SMALL_MODELS);
    tcase_add_loop_test(c, zeroing_a_head_reaches_the_context, 0, 2 * SMALL_MODELS);
    tcase_add_loop_test(c, replaced_pattern_may_look_anywhere, 0, SMALL_MODELS);
    tcase_add_loop_test(c, edited_scores_unmask, 0, SMALL_MODELS);
    tcase_add_loop_test(c, row_without_keys_is_zeros, 0, SMALL_MODELS);
    tcase_add_loop_test(c, every_edit_flows_on, 0, ATTN_ACTS * SMALL_MODELS);
    suite_add_tcase(s, c);
    return s;
}
