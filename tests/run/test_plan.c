/* Plans of a run: the memory they take, what does not fit them, and runs that end early or overflow. */

#include "suites.h"

#include "keep.h"
#include "made.h"
#include "scratch.h"
#include "small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- memory ---- */

#define WITHOUT_CTX \
    "\"model_type\": \"attn-decoder\", \"vocab_size\": 50, \"n_layer\": 1, \"n_head\": 4, \"n_kv_head\": 2, " \
    "\"d_model\": 16, \"d_head\": 8, \"d_value\": 4, \"d_mlp\": 64, \"norm\": \"rmsnorm\", \"mlp\": \"swiglu\", " \
    "\"residual\": true, \"output_projection\": true, \"unembed\": true, \"tied\": true, \"position\": \"rope\""
#define LONG "{" WITHOUT_CTX ", \"n_ctx\": 16384}"

static uint64_t memory(const char *show, size_t rows)
{
    struct attn_err err = {0};
    struct attn_select *what = NULL;
    struct attn_cost cost;
    const struct attn_plan p = {.rows = rows, .seqs = 1, .threads = 2};
    ck_assert_msg(!attn_select_new(&what, small.model, NULL, show, NULL, NULL, &err), "%s", err.msg);
    ck_assert_msg(!attn_cost_of(&cost, small.model, what, &p, &err), "%s", err.msg);
    attn_select_free(what);
    return cost.memory;
}

/* Twice the text takes twice the memory; a text that is watched in bands takes a constant more. */
START_TEST(memory_is_linear_in_the_text)
{
    const uint64_t waves = 8 << 20;
    small.model = made_open(made_model(LONG, 11, "F32"));
    uint64_t once = memory("logits", 4096), twice = memory("logits", 8192), four = memory("logits", 16384);
    ck_assert_uint_eq(four - twice, 2 * (twice - once));
    ck_assert_uint_le(memory("dots,scores,pattern", 16384), four + waves);
    attn_model_close(small.model);
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
        small.model =
            made_open(made_model(printed("{" WITHOUT_CTX ", \"n_ctx\": %d}", i ? 2000000000 : 100), 11, "F32"));
        ck_assert(!attn_select_new(&what, small.model, &p.kind, "logits", NULL, NULL, &err));
        ck_assert_msg(!attn_cost_of(&cost[i], small.model, what, &p, &err), "%s", err.msg);
        attn_select_free(what);
        attn_model_close(small.model);
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
    struct keep a = {.only = -1}, b = {.only = -1};
    struct attn_plan p = {.rows = ALL, .seqs = 1, .threads = 2};
    struct attn_seq seq = {.T = ALL};
    small_open(0);
    ck_assert_msg(!attn_kind_parse(&p.kind, kinds[_i], &err) && !attn_kv_new(&kv, small.model, ALL, &err),
                  "%s", err.msg);
    for (int growing = 0; growing < 2; growing++) {
        struct keep *k = growing ? &b : &a;
        const struct attn_observer obs = keep_observer(k);
        struct attn_run *r = NULL;
        ck_assert_msg(!attn_run_new(&r, small.model, &p, &obs, 1, &err), "%s", err.msg);
        for (size_t t = 0; t < (growing ? ALL / 3 : 1); t++) {
            keep_free(k);
            k->only = ATTN_ACT_LOGITS;
            small_forward(r, small.ids + t * seq.T, &seq, 1);
        }
        attn_run_free(r);
        p.rows = seq.T = 3;
        p.keys = ALL;
        seq.kv = kv;
    }
    const float *last = keep_find(&a, "logits", 0)->data + (ALL - 3) * 50;
    ck_assert_mem_eq(keep_find(&b, "logits", 0)->data, last, 3 * 50 * sizeof *last);
    attn_kv_free(kv);
    keep_free(&a);
    keep_free(&b);
    small_close();
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
    small_open(0);
    const struct attn_observer obs = {.wants = watch_all, .watch = _i < 8 ? fail_watch : mute_watch, .self = &left};
    const struct attn_seq seq = {.T = 10};
    struct attn_run *r = small_run(10, 1, 0, 1, &obs, 1);
    ck_assert_int_ne(attn_run_forward(r, small.ids, &seq, 1, &err), 0);
    ck_assert_str_eq(err.msg, _i < 8 ? "the disk is full" : "an observer failed without a message");
    left = 100000;                      /* and the run can be used again */
    if (_i < 8)
        small_forward(r, small.ids, &seq, 1);
    attn_run_free(r);
    small_close();
}
END_TEST

/* The threads are the parent's. */
START_TEST(a_run_is_of_its_process)
{
    struct attn_err err = {0};
    const struct attn_seq seq = {.T = 10};
    int status;
    small_open(0);
    struct attn_run *r = small_run(10, 1, 0, 4, NULL, 0);
    small_forward(r, small.ids, &seq, 1);
    pid_t child = fork();
    if (child == 0) {
        int rc = attn_run_forward(r, small.ids, &seq, 1, &err);
        attn_run_free(r);
        struct attn_run *own = small_run(10, 1, 0, 2, NULL, 0);
        small_forward(own, small.ids, &seq, 1);
        attn_run_free(own);
        _exit(rc == ATTN_EUSAGE && strstr(err.msg, "this run belongs to process ") ? 0 : 1);
    }
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    small_forward(r, small.ids, &seq, 1);
    attn_run_free(r);
    small_close();
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

/* The one row whose dots overflow is named, at any thread count, cached or not; and no edit of scores is taken
 * for an overflow. */
START_TEST(dots_that_overflow_are_told_of_by_runs)
{
    struct attn_lost told = {0}, lost;
    const struct attn_observer obs[] = {{.wants = edit_q_and_k, .edit = make_huge},
                                        {.self = &told, .overflow = note_overflow}};
    const struct attn_seq seq[] = {{.T = 10}, {.T = 60}, {.T = 5}};
    small_open(0);
    struct attn_run *r = small_run(75, 3, 0, _i + 1, obs, 2);
    enormous = 1e18f;
    small_forward(r, small.ids, seq, 3);
    ck_assert_uint_eq(attn_run_overflow(r).rows + told.rows, 0);
    enormous = 1e30f;
    small_forward(r, small.ids, seq, 3);
    lost = attn_run_overflow(r);
    ck_assert(lost.rows == 1 && lost.layer == 2 && lost.seq == 1 && lost.head == 1 && lost.row == 3);
    ck_assert(!memcmp(&told, &lost, sizeof lost));
    ck_assert(!attn_run_overflowed(r, 0) && attn_run_overflowed(r, 1) && !attn_run_overflowed(r, 2));
    ck_assert_uint_eq(attn_run_lost(r).rows, 0);
    attn_run_free(r);
    const struct attn_observer hide = {.wants = edit_scores, .edit = hide_all};
    r = small_run(75, 3, 0, _i + 1, &hide, 1);
    small_forward(r, small.ids, seq, 3);
    ck_assert_uint_eq(attn_run_overflow(r).rows, 0);
    ck_assert_uint_gt(attn_run_lost(r).rows, 0);
    attn_run_free(r);
    small_close();
}
END_TEST

static void expect_refusal(const struct attn_plan *p, const struct attn_seq *seq, size_t n, const int32_t *from,
                           const char *words)
{
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    int rc = attn_run_new(&r, small.model, p, NULL, 0, &err);
    if (!rc)
        rc = attn_run_forward(r, from, seq, n, &err);
    ck_assert_int_ne(rc, 0);
    ck_assert_msg(strstr(err.msg, words) != NULL, "'%s' lacks '%s'", err.msg, words);
    attn_run_free(r);
}

START_TEST(what_does_not_fit_is_refused)
{
    static const int32_t high[] = {0, 50}, negative[] = {-1};
    small_open(0);
    const struct attn_plan ten = {.rows = 10, .seqs = 1}, two = {.rows = 10, .seqs = 2},
        huge = {.rows = 201, .seqs = 1};
    const struct attn_seq one[] = {{.T = 2}, {.T = 9}}, none = {.T = 0}, long_one = {.T = 201};
    expect_refusal(&(struct attn_plan){0}, one, 1, small.ids, "no tokens");
    expect_refusal(&ten, &none, 1, small.ids, "no tokens");
    expect_refusal(&huge, &long_one, 1, small.ids, "201 tokens");
    expect_refusal(&(struct attn_plan){.rows = 400, .seqs = 2}, &long_one, 1, small.ids, "n_ctx");
    expect_refusal(&ten, one, 2, small.ids, "2 sentences");
    expect_refusal(&ten, one, 0, small.ids, "0 sentences");
    expect_refusal(&two, one, 2, small.ids, "8 of the 10");
    expect_refusal(&ten, one, 1, high, "token 1 has id 50");
    expect_refusal(&ten, one, 1, negative, "id -1");
    static const struct { struct attn_kind kind; const char *says; } kinds[] = {
        {{.form = ATTN_MASKED}, "masks are for attn_attention"},
        {{.form = (enum attn_form)99}, "there is no kind of attention 99"},
        {{.form = ATTN_WINDOW}, "its numbers begin at 1"},
        {{.scaling = ATTN_SCALE_VALUE, .scale = INFINITY}, "expected a finite number"},
        {{.dropout = 1}, "dropout 1, expected"}, {{.dropout = -0.5}, "dropout -0.5, expected"},
        {{.dropout = NAN}, "from 0 to below 1"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        expect_refusal(&(struct attn_plan){.rows = 10, .seqs = 1, .kind = kinds[i].kind}, one, 1, small.ids,
                       kinds[i].says);
    small_close();
}
END_TEST

START_TEST(caches_that_do_not_fit_are_refused)
{
    struct attn_err err = {0};
    struct attn_kv *kv = NULL;
    small_open(0);
    ck_assert(!attn_kv_new(&kv, small.model, 12, &err));
    const struct attn_plan p = {.rows = 10, .seqs = 1, .keys = 200};
    struct attn_seq seq = {.T = 10, .kv = kv};
    struct attn_run *r = NULL;
    ck_assert(!attn_run_new(&r, small.model, &p, NULL, 0, &err));
    ck_assert(!attn_run_forward(r, small.ids, &seq, 1, &err));
    seq.T = 3;
    ck_assert_int_eq(attn_run_forward(r, small.ids, &seq, 1, &err), ATTN_EUSAGE);
    ck_assert_uint_eq(attn_kv_length(kv), 10);
    struct attn_model *other = made_open("life");
    attn_run_free(r);
    ck_assert(!attn_run_new(&r, other, &p, NULL, 0, &err));
    ck_assert_int_eq(attn_run_forward(r, small.ids, &seq, 1, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "another model"));
    attn_run_free(r);
    attn_model_close(other);
    attn_kv_free(kv);
    small_close();
}
END_TEST

/* Two sentences cannot write to one cache.  After this and any other error the cache can be used again. */
START_TEST(a_cache_is_of_one_sentence)
{
    static const int32_t high[] = {1, 2, 50, 3};
    struct attn_err err = {0};
    struct attn_kv *kv = NULL, *other = NULL;
    small_open(0);
    ck_assert(!attn_kv_new(&kv, small.model, 12, &err) && !attn_kv_new(&other, small.model, 12, &err));
    struct attn_seq seq[] = {{.T = 2, .kv = kv}, {.T = 1}, {.T = 1, .kv = kv}};
    struct attn_run *r = small_run(10, 3, 12, 1, NULL, 0);
    ck_assert_int_eq(attn_run_forward(r, small.ids, seq, 3, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "the cache of sentence 2 is that of another one"));
    seq[2].kv = other;
    ck_assert_int_eq(attn_run_forward(r, high, seq, 3, &err), ATTN_EFORMAT);
    ck_assert_uint_eq(attn_kv_length(kv), 0);
    small_forward(r, small.ids, seq, 3);
    small_forward(r, small.ids, seq, 3);
    ck_assert_uint_eq(attn_kv_length(kv), 4);
    ck_assert_uint_eq(attn_kv_length(other), 2);
    attn_kv_free(kv);                   /* the run does not access it any more */
    attn_kv_free(other);
    ck_assert_int_eq(attn_run_forward(r, small.ids, seq, 4, &err), ATTN_EUSAGE);
    attn_run_free(r);
    small_close();
}
END_TEST

Suite *suite_plan(void)
{
    Suite *s = suite_create("plan");
    TCase *c = tcase_create("plan");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_set_timeout(c, 120);
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
