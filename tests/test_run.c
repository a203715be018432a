/* Properties of the forward pass: what must not change a bit, and what an edit must change. */

#include "suites.h"

#include "keep.h"
#include "made.h"
#include "scratch.h"

#include "compute/gemm.h"
#include "compute/pairs.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Some layers with every kind of part; n_ctx allows for several bands of queries.  In bf16 the heads of the last one round their
 * contexts, as their values have a width of whole steps. */
#define SIZES "\"model_type\": \"attn-decoder\", \"vocab_size\": 50, \"n_ctx\": 200, \"n_layer\": 3, \"n_head\": 6, \"n_kv_head\": 3, " \
              "\"d_model\": 40, \"d_head\": 10, \"d_value\": 7, \"d_mlp\": 90, \"norm\": \"rmsnorm\", \"mlp\": \"swiglu\", " \
              "\"residual\": true, \"output_projection\": true, \"unembed\": true, \"tied\": false"
static const char *const CONFIGS[] = {
    "{" SIZES ", \"position\": \"rope\"}",
    "{" SIZES ", \"position\": \"learned\", \"bias\": true, \"scale\": \"none\"}",
    "{\"model_type\": \"attn-decoder\", \"vocab_size\": 50, \"n_ctx\": 200, \"n_layer\": 2, \"n_head\": 6, \"n_kv_head\": 3, "
    "\"d_model\": 48, \"d_head\": 16, \"d_value\": 32, \"d_mlp\": 70, \"norm\": \"layernorm\", \"mlp\": \"gelu\", \"bias\": true, "
    "\"residual\": true, \"output_projection\": true, \"unembed\": true, \"tied\": true, \"position\": \"learned\"}",
};
enum { T = 150, MODELS = 3 };

static struct attn_model *model;
static bool bf16;
static int32_t ids[200];
static struct keep a, b;

/* Model i % MODELS, in float32 and bf16 by turns. */
static void setup_model(int i)
{
    bf16 = i / MODELS % 2;
    model = made_open(made_model(CONFIGS[i % MODELS], 11, "F32"));
    for (int t = 0; t < 200; t++)
        ids[t] = (t * 31 + t / 7) % 50;
    a = b = (struct keep){.only = -1};
}

static void teardown(void)
{
    keep_free(&a);
    keep_free(&b);
    attn_model_close(model);
    model = NULL;
}

static struct attn_run *plan(size_t rows, size_t seqs, size_t keys, int threads, const struct attn_observer *obs, size_t n)
{
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    const struct attn_plan p = {.rows = rows, .seqs = seqs, .keys = keys, .threads = threads, .bf16 = bf16};
    ck_assert_msg(!attn_run_new(&r, model, &p, obs, n, &err), "%s", err.msg);
    return r;
}

static void forward(struct attn_run *r, const int32_t *from, const struct attn_seq *seq, size_t n)
{
    struct attn_err err = {0};
    ck_assert_msg(!attn_run_forward(r, from, seq, n, &err), "%s", err.msg);
}

/* Runs one sentence of n ids and keeps everything. */
static void run_all(struct keep *k, size_t n, int threads)
{
    const struct attn_observer obs = keep_observer(k);
    const struct attn_seq seq = {.T = n};
    struct attn_run *r = plan(n, 1, 0, threads, &obs, 1);
    forward(r, ids, &seq, 1);
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
    ck_assert(attn_kernel_choose(ATTN_KERNEL_OWN));
    run_all(&a, T, 2);
    if (attn_kernel_choose(ATTN_KERNEL_LIBXSMM)) {
        run_all(&b, T, 2);
        keep_expect_same(&a, &b);
    }
    teardown();
}
END_TEST

/* A run copies the weights before its first pass, or after some thousand rows, or never: all activations have the same bits. */
START_TEST(copied_weights_do_not_change_a_bit)
{
    const struct attn_observer obs = keep_observer(&b);
    const struct attn_seq seq = {.T = T};
    const enum attn_copies copies = _i / (2 * MODELS);
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    setup_model(_i);
    run_all(&a, T, 1);
    const bool none = copies == ATTN_COPY_NEVER || (bf16 && attn_pairs_kind() == ATTN_BF16_FLOATS);
    const struct attn_plan p = {.rows = T, .seqs = 1, .threads = 2, .bf16 = bf16, .copies = copies};
    ck_assert_msg(!attn_run_new(&r, model, &p, &obs, 1, &err), "%s", err.msg);
    for (size_t rows = T; rows < ATTN_RUN_REPAYS + T; rows += T) {
        ck_assert(!r->panels.memory.base == (none || rows == T || copies == ATTN_COPY_REPAID));
        keep_free(&b);
        forward(r, ids, &seq, 1);
    }
    ck_assert(!r->panels.memory.base == none);
    keep_expect_same(&a, &b);
    struct attn_cost cost;
    ck_assert(!attn_run_measure(&cost, model, &p, &obs, 1, &err));
    ck_assert_uint_eq(cost.copies, r->panels.memory.size);
    attn_run_free(r);
    struct attn_plan unknown = p;
    unknown.copies = ATTN_COPY_FIRST + 1;
    ck_assert_int_eq(attn_run_new(&r, model, &unknown, &obs, 1, &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "attn_plan.copies is 3, but must be one of enum attn_copies");
    teardown();
}
END_TEST

static float *decode(int n, enum attn_copies copies, bool *copied)
{
    struct keep k = {.only = ATTN_ACT_LOGITS};
    const struct attn_observer obs = keep_observer(&k);
    const struct attn_plan p = {.rows = 1, .seqs = 1, .keys = (size_t)n, .threads = 2, .bf16 = bf16, .copies = copies};
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    struct attn_kv *kv = NULL;
    float *logits = malloc((size_t)n * 50 * sizeof *logits);
    ck_assert(logits && !attn_kv_new(&kv, model, (size_t)n, &err) && !attn_run_new(&r, model, &p, &obs, 1, &err));
    const struct attn_seq seq = {.T = 1, .kv = kv};
    for (int t = 0; t < n; t++) {
        if (t == ATTN_RUN_REPAYS / ATTN_RUN_LONE)
            ck_assert_ptr_null(r->panels.memory.base);  /* the next token repays them */
        forward(r, ids + t, &seq, 1);
        memcpy(logits + t * 50, keep_find(&k, "logits", 0)->data, 50 * sizeof *logits);
        keep_free(&k);
        k = (struct keep){.only = ATTN_ACT_LOGITS};
    }
    *copied = r->panels.memory.base;
    attn_kv_free(kv);
    attn_run_free(r);
    return logits;
}

/* One row after another, whose weights are copied after some of them: as they are stored, whatever their type, or rounded in pairs. */
START_TEST(copies_for_one_row_do_not_change_a_bit)
{
    enum { N = ATTN_RUN_REPAYS / ATTN_RUN_LONE + 5 };
    static const char *const types[] = {"F32", "F16", "BF16"};
    setup_model(_i);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        attn_model_close(model);
        model = made_open(made_model(CONFIGS[_i % MODELS], 12, types[i]));
        bool never = true, copied = !bf16 || attn_pairs_kind() == ATTN_BF16_DOTS;
        float *want = decode(N, ATTN_COPY_NEVER, &never), *got = decode(N, ATTN_COPY_REPAID, &copied);
        ck_assert(!never && copied == (!bf16 || attn_pairs_kind() == ATTN_BF16_DOTS));
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

/* Each activation has the same bits if it is watched alone or with all others; so do the logits beside it. */
START_TEST(watching_does_not_change_a_bit)
{
    setup_model(_i);
    run_all(&a, T, 2);
    for (int act = 0; act < ATTN_ACTS; act++) {
        struct keep one = {.only = act}, logits = {.only = ATTN_ACT_LOGITS};
        const struct attn_observer obs[] = {keep_observer(&one), keep_observer(&logits)};
        const struct attn_seq seq = {.T = T};
        struct attn_run *r = plan(T, 1, 0, 2, obs, 2);
        forward(r, ids, &seq, 1);
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

/* The sentences of a batch share products but have the same bits as alone, and so do logits if nothing else is watched. */
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
        r = plan(ROWS, N, 0, 2, &obs[i], 1);
        forward(r, ids, seq, N);
        attn_run_free(r);
    }
    size_t row = 0;
    for (size_t i = 0; i < N; row += lengths[i++]) {
        const struct attn_observer alone = keep_observer(&b);
        const struct attn_seq one = {.T = lengths[i]};
        r = plan(lengths[i], 1, 0, 1, &alone, 1);
        forward(r, ids + row, &one, 1);
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
    struct attn_run *r = plan(100, SENTENCES, 0, 2, &obs, 1);
    forward(r, ids, seq, SENTENCES);
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
    size_t rx = x->shape[x->ndim - 2], ry = y->shape[y->ndim - 2], cx = x->shape[x->ndim - 1], cy = y->shape[y->ndim - 1];
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
    ck_assert(!attn_kv_new(&kv, model, 200, &err));
    struct keep step = {.only = ATTN_ACT_LOGITS};
    const struct attn_observer obs = keep_observer(&step);
    struct attn_run *r = plan(64, 1, 200, 2, &obs, 1);
    size_t done = 0;
    for (int i = 0; i < 8; done += pieces[i++]) {
        const struct attn_seq seq = {.T = pieces[i], .kv = kv};
        ck_assert_uint_eq(attn_kv_length(kv), done);
        forward(r, ids + done, &seq, 1);
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
    struct attn_run *r = plan(T, 1, 0, 2, obs, 2);
    forward(r, ids, &seq, 1);
    attn_run_free(r);
}

static bool same(const char *name)
{
    const struct kept *x = keep_find(&a, name, 0), *y = keep_find(&b, name, 0);
    return memcmp(x->data, y->data, x->n * sizeof(float)) == 0;
}

/* If the pattern of a head is set to zero its context becomes zero.  Earlier activations do not change, and watchers see the
 * edited pattern. */
START_TEST(zeroing_a_head_reaches_the_context)
{
    struct edit e = {.act = ATTN_ACT_PATTERN, .layer = 1, .head = 4, .set = 0};
    setup_model(_i);
    b.flags = _i / MODELS ? ATTN_WATCH | ATTN_WHOLE : ATTN_WATCH;
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
    int act = _i / MODELS;
    struct edit e = {.act = act, .layer = act == ATTN_ACT_EMBED || act == ATTN_ACT_POS_EMBED || act >= ATTN_ACT_NORM_FINAL ? -1 : 1,
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

/* ---- memory ---- */

#define WITHOUT_CTX "\"model_type\": \"attn-decoder\", \"vocab_size\": 50, \"n_layer\": 1, \"n_head\": 4, \"n_kv_head\": 2, " \
                    "\"d_model\": 16, \"d_head\": 8, \"d_value\": 4, \"d_mlp\": 64, \"norm\": \"rmsnorm\", \"mlp\": \"swiglu\", " \
                    "\"residual\": true, \"output_projection\": true, \"unembed\": true, \"tied\": true, \"position\": \"rope\""
#define LONG "{" WITHOUT_CTX ", \"n_ctx\": 16384}"

static uint64_t memory(const char *show, size_t rows)
{
    struct attn_err err = {0};
    struct attn_select *what = NULL;
    struct attn_cost cost;
    const struct attn_plan p = {.rows = rows, .seqs = 1, .threads = 2};
    ck_assert_msg(!attn_select_new(&what, model, NULL, show, NULL, NULL, &err), "%s", err.msg);
    ck_assert_msg(!attn_cost_of(&cost, model, what, &p, &err), "%s", err.msg);
    attn_select_free(what);
    return cost.memory;
}

/* Twice the text takes twice the memory; a text that is watched in bands takes a constant more. */
START_TEST(memory_is_linear_in_the_text)
{
    const uint64_t waves = 8 << 20;
    model = made_open(made_model(LONG, 11, "F32"));
    uint64_t once = memory("logits", 4096), twice = memory("logits", 8192), four = memory("logits", 16384);
    ck_assert_uint_eq(four - twice, 2 * (twice - once));
    ck_assert_uint_le(memory("dots,scores,pattern", 16384), four + waves);
    attn_model_close(model);
}
END_TEST

/* A plan's memory depends on the keys that it may see, not on how many the model could. */
START_TEST(memory_is_of_the_plan)
{
    static const char *const kinds[] = {"causal", "strided:2,2", "random:2,2,1", "linear", "block:2"};
    struct attn_err err = {0};
    struct attn_plan p = {.rows = 3, .seqs = 1, .threads = 2};
    struct attn_cost cost[2];
    ck_assert_msg(!attn_kind_parse(&p.kind, kinds[_i], &err), "%s", err.msg);
    for (int i = 0; i < 2; i++) {
        struct attn_select *what = NULL;
        model = made_open(made_model(printed("{" WITHOUT_CTX ", \"n_ctx\": %d}", i ? 2000000000 : 100), 11, "F32"));
        ck_assert(!attn_select_new(&what, model, &p.kind, "logits", NULL, NULL, &err));
        ck_assert_msg(!attn_cost_of(&cost[i], model, what, &p, &err), "%s", err.msg);
        attn_select_free(what);
        attn_model_close(model);
    }
    ck_assert_uint_eq(cost[0].memory, cost[1].memory);
}
END_TEST

/* The cache grows up to the last key that the plan may see; the logits must be those of all tokens at once. */
START_TEST(picking_kinds_grow_to_the_end_of_their_plan)
{
    static const char *const kinds[] = {"strided:1,1", "strided:2,3", "random:2,1,1", "random:1,12,5"};
    enum { ALL = 12 };
    struct attn_err err = {0};
    struct attn_kv *kv = NULL;
    struct attn_plan p = {.rows = ALL, .seqs = 1, .threads = 2};
    struct attn_seq seq = {.T = ALL};
    setup_model(0);
    ck_assert_msg(!attn_kind_parse(&p.kind, kinds[_i], &err) && !attn_kv_new(&kv, model, ALL, &err), "%s", err.msg);
    for (int growing = 0; growing < 2; growing++) {
        struct keep *k = growing ? &b : &a;
        const struct attn_observer obs = keep_observer(k);
        struct attn_run *r = NULL;
        ck_assert_msg(!attn_run_new(&r, model, &p, &obs, 1, &err), "%s", err.msg);
        for (size_t t = 0; t < (growing ? ALL / 3 : 1); t++) {
            keep_free(k);
            k->only = ATTN_ACT_LOGITS;
            forward(r, ids + t * seq.T, &seq, 1);
        }
        attn_run_free(r);
        p.rows = seq.T = 3;
        p.keys = ALL;
        seq.kv = kv;
    }
    const float *last = keep_find(&a, "logits", 0)->data + (ALL - 3) * 50;
    ck_assert_mem_eq(keep_find(&b, "logits", 0)->data, last, 3 * 50 * sizeof *last);
    attn_kv_free(kv);
    teardown();
}
END_TEST

/* ---- observers that fail, plans that do not fit ---- */

static int fail_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    int *left = self;
    (void)p;
    if ((*left)--)
        return 0;
    err->code = ATTN_EIO;
    strcpy(err->msg, "the disk is full");
    return ATTN_EIO;
}

static int mute_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)self, (void)p, (void)err;
    return 1;
}

static unsigned watch_all(void *self, int act, int layer)
{
    (void)self, (void)act, (void)layer;
    return ATTN_WATCH;
}

START_TEST(failed_observer_ends_the_run)
{
    struct attn_err err = {0};
    int left = _i * 5;
    setup_model(0);
    const struct attn_observer obs = {.wants = watch_all, .watch = _i < 8 ? fail_watch : mute_watch, .self = &left};
    const struct attn_seq seq = {.T = 10};
    struct attn_run *r = plan(10, 1, 0, 1, &obs, 1);
    ck_assert_int_ne(attn_run_forward(r, ids, &seq, 1, &err), 0);
    ck_assert_str_eq(err.msg, _i < 8 ? "the disk is full" : "an observer failed without a message");
    left = 100000;                      /* and the run can be used again */
    if (_i < 8)
        forward(r, ids, &seq, 1);
    attn_run_free(r);
    teardown();
}
END_TEST

/* The threads are the parent's. */
START_TEST(a_run_is_of_its_process)
{
    struct attn_err err = {0};
    const struct attn_seq seq = {.T = 10};
    int status;
    setup_model(0);
    struct attn_run *r = plan(10, 1, 0, 4, NULL, 0);
    forward(r, ids, &seq, 1);
    pid_t child = fork();
    if (child == 0) {
        int rc = attn_run_forward(r, ids, &seq, 1, &err);
        attn_run_free(r);
        struct attn_run *own = plan(10, 1, 0, 2, NULL, 0);
        forward(own, ids, &seq, 1);
        attn_run_free(own);
        _exit(rc == ATTN_EUSAGE && strstr(err.msg, "this run belongs to process ") ? 0 : 1);
    }
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    forward(r, ids, &seq, 1);
    attn_run_free(r);
    teardown();
}
END_TEST

static float enormous;                  /* what observers turn q and k into */

static unsigned edit_q_and_k(void *self, int act, int layer)
{
    (void)self;
    return layer == 2 && (act == ATTN_ACT_Q || act == ATTN_ACT_K) ? ATTN_EDIT : 0;
}

/* Row 3 of head 1 of sentence 1, and all keys. */
static int make_huge(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    (void)self, (void)err;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            for (size_t i = 0; i < p->cols; i++)
                if (p->act == ATTN_ACT_K || (p->seq == 1 && p->head0 + h == 1 && p->row0 + t == 3))
                    data[h * p->ld_head + t * p->ld + i] = enormous;
    return ATTN_OK;
}

static void note_overflow(void *self, const struct attn_lost *rows)
{
    *(struct attn_lost *)self = *rows;
}

static unsigned edit_scores(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_SCORES ? ATTN_EDIT : 0;
}

static int hide_all(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    (void)self, (void)err;
    for (size_t t = 0; t < p->rows; t++)
        for (size_t j = 0; j < p->cols; j++)
            data[t * p->ld + j] = -INFINITY;
    return ATTN_OK;
}

/* The one row whose dots overflow is named, at any thread count, cached or not; and no edit of scores is taken for an overflow. */
START_TEST(dots_that_overflow_are_told_of_by_runs)
{
    struct attn_lost told = {0}, lost;
    const struct attn_observer obs[] = {{.wants = edit_q_and_k, .edit = make_huge}, {.self = &told, .overflow = note_overflow}};
    const struct attn_seq seq[] = {{.T = 10}, {.T = 60}, {.T = 5}};
    setup_model(0);
    struct attn_run *r = plan(75, 3, 0, _i + 1, obs, 2);
    enormous = 1e18f;
    forward(r, ids, seq, 3);
    ck_assert_uint_eq(attn_run_overflow(r).rows + told.rows, 0);
    enormous = 1e30f;
    forward(r, ids, seq, 3);
    lost = attn_run_overflow(r);
    ck_assert(lost.rows == 1 && lost.layer == 2 && lost.seq == 1 && lost.head == 1 && lost.row == 3);
    ck_assert(!memcmp(&told, &lost, sizeof lost));
    ck_assert(!attn_run_overflowed(r, 0) && attn_run_overflowed(r, 1) && !attn_run_overflowed(r, 2));
    ck_assert_uint_eq(attn_run_lost(r).rows, 0);
    attn_run_free(r);
    const struct attn_observer hide = {.wants = edit_scores, .edit = hide_all};
    r = plan(75, 3, 0, _i + 1, &hide, 1);
    forward(r, ids, seq, 3);
    ck_assert_uint_eq(attn_run_overflow(r).rows, 0);
    ck_assert_uint_gt(attn_run_lost(r).rows, 0);
    attn_run_free(r);
    teardown();
}
END_TEST

static void expect_refusal(const struct attn_plan *p, const struct attn_seq *seq, size_t n, const int32_t *from, const char *words)
{
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    int rc = attn_run_new(&r, model, p, NULL, 0, &err);
    if (!rc)
        rc = attn_run_forward(r, from, seq, n, &err);
    ck_assert_int_ne(rc, 0);
    ck_assert_msg(strstr(err.msg, words) != NULL, "'%s' lacks '%s'", err.msg, words);
    attn_run_free(r);
}

START_TEST(what_does_not_fit_is_refused)
{
    static const int32_t high[] = {0, 50}, negative[] = {-1};
    setup_model(0);
    const struct attn_plan ten = {.rows = 10, .seqs = 1}, two = {.rows = 10, .seqs = 2}, huge = {.rows = 201, .seqs = 1};
    const struct attn_seq one[] = {{.T = 2}, {.T = 9}}, none = {.T = 0}, long_one = {.T = 201};
    expect_refusal(&(struct attn_plan){0}, one, 1, ids, "no tokens");
    expect_refusal(&ten, &none, 1, ids, "no tokens");
    expect_refusal(&huge, &long_one, 1, ids, "201 tokens");
    expect_refusal(&(struct attn_plan){.rows = 400, .seqs = 2}, &long_one, 1, ids, "n_ctx");
    expect_refusal(&ten, one, 2, ids, "2 sentences");
    expect_refusal(&ten, one, 0, ids, "0 sentences");
    expect_refusal(&two, one, 2, ids, "8 of the 10");
    expect_refusal(&ten, one, 1, high, "token 1 has id 50");
    expect_refusal(&ten, one, 1, negative, "id -1");
    static const struct { struct attn_kind kind; const char *says; } kinds[] = {
        {{.form = ATTN_MASKED}, "masks are for attn_attention"}, {{.form = (enum attn_form)99}, "there is no kind of attention 99"},
        {{.form = ATTN_WINDOW}, "its numbers begin at 1"}, {{.scaling = ATTN_SCALE_VALUE, .scale = INFINITY}, "expected a finite number"},
        {{.dropout = 1}, "dropout 1, expected"}, {{.dropout = -0.5}, "dropout -0.5, expected"}, {{.dropout = NAN}, "from 0 to below 1"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        expect_refusal(&(struct attn_plan){.rows = 10, .seqs = 1, .kind = kinds[i].kind}, one, 1, ids, kinds[i].says);
    teardown();
}
END_TEST

START_TEST(caches_that_do_not_fit_are_refused)
{
    struct attn_err err = {0};
    struct attn_kv *kv = NULL;
    setup_model(0);
    ck_assert(!attn_kv_new(&kv, model, 12, &err));
    const struct attn_plan p = {.rows = 10, .seqs = 1, .keys = 200};
    struct attn_seq seq = {.T = 10, .kv = kv};
    struct attn_run *r = NULL;
    ck_assert(!attn_run_new(&r, model, &p, NULL, 0, &err));
    ck_assert(!attn_run_forward(r, ids, &seq, 1, &err));
    seq.T = 3;
    ck_assert_int_eq(attn_run_forward(r, ids, &seq, 1, &err), ATTN_EUSAGE);
    ck_assert_uint_eq(attn_kv_length(kv), 10);
    struct attn_model *other = made_open("life");
    attn_run_free(r);
    ck_assert(!attn_run_new(&r, other, &p, NULL, 0, &err));
    ck_assert_int_eq(attn_run_forward(r, ids, &seq, 1, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "another model"));
    attn_run_free(r);
    attn_model_close(other);
    attn_kv_free(kv);
    teardown();
}
END_TEST

/* Two sentences cannot write to one cache.  After this and any other error the cache can be used again. */
START_TEST(a_cache_is_of_one_sentence)
{
    static const int32_t high[] = {1, 2, 50, 3};
    struct attn_err err = {0};
    struct attn_kv *kv = NULL, *other = NULL;
    setup_model(0);
    ck_assert(!attn_kv_new(&kv, model, 12, &err) && !attn_kv_new(&other, model, 12, &err));
    struct attn_seq seq[] = {{.T = 2, .kv = kv}, {.T = 1}, {.T = 1, .kv = kv}};
    struct attn_run *r = plan(10, 3, 12, 1, NULL, 0);
    ck_assert_int_eq(attn_run_forward(r, ids, seq, 3, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "the cache of sentence 2 is that of another one"));
    seq[2].kv = other;
    ck_assert_int_eq(attn_run_forward(r, high, seq, 3, &err), ATTN_EFORMAT);
    ck_assert_uint_eq(attn_kv_length(kv), 0);
    forward(r, ids, seq, 3);
    forward(r, ids, seq, 3);
    ck_assert_uint_eq(attn_kv_length(kv), 4);
    ck_assert_uint_eq(attn_kv_length(other), 2);
    attn_kv_free(kv);                   /* the run does not access it any more */
    attn_kv_free(other);
    ck_assert_int_eq(attn_run_forward(r, ids, seq, 4, &err), ATTN_EUSAGE);
    attn_run_free(r);
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
    tcase_add_loop_test(c, kernels_do_not_change_a_bit, 0, 2 * MODELS);
    tcase_add_loop_test(c, copied_weights_do_not_change_a_bit, 0, 3 * 2 * MODELS);
    tcase_add_loop_test(c, copies_for_one_row_do_not_change_a_bit, 0, 2 * MODELS);
    tcase_add_loop_test(c, whole_or_in_bands_is_the_same, 0, 2 * MODELS);
    tcase_add_loop_test(c, watching_does_not_change_a_bit, 0, 2 * MODELS);
    tcase_add_loop_test(c, batch_does_not_change_a_bit, 0, 2 * MODELS);
    tcase_add_loop_test(c, last_rows_are_those_of_all, 0, 2 * MODELS);
    tcase_add_loop_test(c, more_text_changes_no_earlier_row, 0, 8);
    tcase_add_loop_test(c, cache_does_not_change_a_bit, 0, 2 * MODELS);
    tcase_add_loop_test(c, pattern_is_a_distribution, 0, MODELS);
    tcase_add_loop_test(c, zeroing_a_head_reaches_the_context, 0, 2 * MODELS);
    tcase_add_loop_test(c, replaced_pattern_may_look_anywhere, 0, MODELS);
    tcase_add_loop_test(c, edited_scores_unmask, 0, MODELS);
    tcase_add_loop_test(c, row_without_keys_is_zeros, 0, MODELS);
    tcase_add_loop_test(c, every_edit_flows_on, 0, ATTN_ACTS * MODELS);
    tcase_add_test(c, memory_is_linear_in_the_text);
    tcase_add_loop_test(c, memory_is_of_the_plan, 0, 5);
    tcase_add_loop_test(c, picking_kinds_grow_to_the_end_of_their_plan, 0, 4);
    tcase_add_loop_test(c, failed_observer_ends_the_run, 0, 9);
    tcase_add_test(c, a_run_is_of_its_process);
    tcase_add_loop_test(c, dots_that_overflow_are_told_of_by_runs, 0, 3);
    tcase_add_test(c, what_does_not_fit_is_refused);
    tcase_add_test(c, caches_that_do_not_fit_are_refused);
    tcase_add_test(c, a_cache_is_of_one_sentence);
    suite_add_tcase(s, c);
    return s;
}
