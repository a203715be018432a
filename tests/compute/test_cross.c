/* Cross-attention: what it must not change and what it refuses.  test_reference.c checks its numbers. */
#include "suites.h"

#include "keep.h"
#include "made.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

/* A model with every kind of part and grouped heads; the texts are long enough for several bands of queries. */
static const char config[] =
    "{\"model_type\": \"attn-decoder\", \"vocab_size\": 50, \"n_ctx\": 140, \"n_layer\": 2, \"n_head\": 6, "
    "\"n_kv_head\": 3, \"d_model\": 40, \"d_head\": 10, \"d_value\": 7, \"d_mlp\": 30, \"norm\": \"rmsnorm\", \"mlp\": "
    "\"swiglu\", \"residual\": true, \"output_projection\": true, \"unembed\": true, \"tied\": false, "
    "\"position\": \"rope\"}";
enum { T = 110, TK = 130, ALL = T + TK };

static struct attn_model *model;
static int32_t ids[ALL];
static struct keep a, b;

static void setup(void)
{
    scratch_make();
    model = made_open(made_model(config, 3, "F32"));
    for (int t = 0; t < ALL; t++)
        ids[t] = (t * 17 + t / 5) % 50;
    a = b = (struct keep){.only = -1};
}

static void teardown(void)
{
    keep_free(&a);
    keep_free(&b);
    attn_model_close(model);
    scratch_remove();
}

static int run(struct keep *k, const int32_t *from, const struct attn_seq *seq, size_t n, int threads,
               struct attn_err *err)
{
    struct attn_run *r = NULL;
    const struct attn_observer obs = keep_observer(k);
    const struct attn_plan plan = {.rows = 2 * ALL, .seqs = 4, .threads = threads};
    int rc = attn_run_new(&r, model, &plan, &obs, 1, err);
    if (!rc)
        rc = attn_run_forward(r, from, seq, n, err);
    attn_run_free(r);
    return rc;
}

static void ck_run(struct keep *k, const int32_t *from, const struct attn_seq *seq, size_t n, int threads)
{
    struct attn_err err = {0};
    ck_assert_msg(!run(k, from, seq, n, threads, &err), "%s", err.msg);
    ck_assert_uint_eq(k->disorder, 0);
}

static void run_pair(struct keep *k, int threads)
{
    const struct attn_seq seq[] = {{.T = T, .keys = &seq[1]}, {.T = TK}};
    ck_run(k, ids, seq, 2, threads);
}

/* Everything x has of sentence i must equal what y has of sentence j, bit for bit. */
static void expect_sentence(const struct keep *x, size_t i, const struct keep *y, size_t j)
{
    for (size_t n = 0; n < x->n; n++) {
        const struct kept *one = &x->a[n];
        if (one->seq != i)
            continue;
        const struct kept *other = keep_find(y, one->name, j);
        ck_assert_msg(other != NULL, "%s was not told", one->name);
        ck_assert_mem_eq(one->shape, other->shape, sizeof one->shape);
        ck_assert_msg(!memcmp(one->data, other->data, one->n * sizeof(float)), "%s differs", one->name);
    }
}

START_TEST(threads_and_bands_do_not_change_a_bit)
{
    b.flags = _i % 2 ? ATTN_WATCH | ATTN_WHOLE : ATTN_WATCH;
    run_pair(&a, 1);
    run_pair(&b, 1 + _i);
    keep_expect_same(&a, &b);
}
END_TEST

START_TEST(watching_does_not_change_a_bit)
{
    b.only = ATTN_ACT_LOGITS;
    run_pair(&a, 2);
    run_pair(&b, 2);
    ck_assert_uint_eq(b.n, 2);
    expect_sentence(&b, 0, &a, 0);
    expect_sentence(&b, 1, &a, 1);
}
END_TEST

START_TEST(the_other_text_runs_as_if_nobody_looked)
{
    const struct attn_seq alone = {.T = TK};
    run_pair(&a, 2);
    ck_run(&b, ids + T, &alone, 1, 2);
    expect_sentence(&b, 0, &a, 1);
    ck_assert_ptr_null(keep_find(&a, "blocks.0.attn.k", 0));     /* its own keys are not used */
    ck_assert_ptr_null(keep_find(&a, "blocks.1.attn.v", 0));
}
END_TEST

/* The other text comes first; two sentences attend to it; a third attends to itself in between. */
START_TEST(places_among_the_rows_do_not_change_a_bit)
{
    int32_t order[2 * ALL];
    const struct attn_seq seq[] = {{.T = TK}, {.T = T, .keys = &seq[0]}, {.T = 40}, {.T = T, .keys = &seq[0]}};
    memcpy(order, ids + T, TK * sizeof *ids);
    memcpy(order + TK, ids, T * sizeof *ids);
    memcpy(order + ALL, ids, 40 * sizeof *ids);
    memcpy(order + ALL + 40, ids, T * sizeof *ids);
    run_pair(&a, 1);
    ck_run(&b, order, seq, 4, 2);
    expect_sentence(&a, 0, &b, 1);
    expect_sentence(&a, 0, &b, 3);
    expect_sentence(&a, 1, &b, 0);
}
END_TEST

/* Without a mask, a text that attends to a copy of itself computes what it does alone. */
START_TEST(looking_at_oneself_is_attention_without_a_mask)
{
    static const char unmasked[] =
        "{\"model_type\": \"attn-decoder\", \"vocab_size\": 50, \"n_ctx\": 140, \"n_layer\": 2, "
                                   "\"n_head\": 2, \"n_kv_head\": 1, \"d_model\": 12, \"d_head\": 6, \"d_value\": 5, "
                                   "\"output_projection\": true, \"mask\": \"none\", \"position\": \"learned\", "
                                   "\"unembed\": false}";
    int32_t twice[2 * T];
    memcpy(twice, ids, T * sizeof *ids);
    memcpy(twice + T, ids, T * sizeof *ids);
    const char *dir = made_model(unmasked, 5, "F32");
    keep_run_cross(&a, dir, twice, T, T, 2);
    keep_run(&b, dir, ids, T, 2);
    expect_sentence(&a, 0, &b, 0);
}
END_TEST

/* ---- edits ---- */

static unsigned edit_wants(void *self, int act, int layer)
{
    (void)self;
    return act == ATTN_ACT_PATTERN && layer == 0 ? ATTN_EDIT : 0;
}

/* An edit of the pattern that gives all weight to the last key. */
static int edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    (void)self, (void)err;
    for (size_t h = 0; p->seq == 0 && h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            for (size_t j = 0; j < p->cols; j++)
                data[h * p->ld_head + t * p->ld + j] = j + 1 == p->cols;
    return ATTN_OK;
}

START_TEST(an_edit_of_the_pattern_reaches_the_context)
{
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    const struct attn_seq seq[] = {{.T = T, .keys = &seq[1]}, {.T = TK}};
    const struct attn_observer obs[] = {{.wants = edit_wants, .edit = edit}, keep_observer(&a)};
    const struct attn_plan plan = {.rows = ALL, .seqs = 2, .threads = 2};
    ck_assert(!attn_run_new(&r, model, &plan, obs, 2, &err) && !attn_run_forward(r, ids, seq, 2, &err));
    attn_run_free(r);
    const struct kept *v = keep_find(&a, "blocks.0.attn.v", 1), *context = keep_find(&a, "blocks.0.attn.context", 0);
    for (size_t t = 0; t < T; t++)
        for (size_t h = 0; h < 6; h++)
            ck_assert_mem_eq(context->data + (t * 6 + h) * 7, v->data + (h / 2 * TK + TK - 1) * 7, 7 * sizeof(float));
}
END_TEST

/* ---- what is refused ---- */

static void ck_refused(const struct attn_seq *seq, size_t n, const char *says)
{
    struct attn_err err = {0};
    ck_assert_int_eq(run(&a, ids, seq, n, 1, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, says), "'%s' lacks '%s'", err.msg, says);
}

START_TEST(keys_that_cannot_be_are_refused)
{
    struct attn_err err = {0};
    struct attn_kv *kv;
    ck_assert(!attn_kv_new(&kv, model, 40, &err));
    const struct attn_seq stranger = {.T = 4}, itself[] = {{.T = 4, .keys = &itself[0]}};
    const struct attn_seq outside[] = {{.T = 4, .keys = &stranger}, {.T = 4}};
    const struct attn_seq chain[] = {{.T = 4, .keys = &chain[1]}, {.T = 4, .keys = &chain[2]}, {.T = 4}};
    const struct attn_seq cached[] = {{.T = 4, .keys = &cached[1]}, {.T = 4, .kv = kv}};
    const struct attn_seq caching[] = {{.T = 4, .keys = &caching[1], .kv = kv}, {.T = 4}};
    ck_refused(itself, 1, "no other of the 1");
    ck_refused(outside, 2, "no other of the 2");
    ck_refused(chain, 3, "none of its own");
    ck_refused(cached, 2, "cache");
    ck_refused(caching, 2, "cache");
    ck_assert_uint_eq(attn_kv_length(kv), 0);
    attn_kv_free(kv);
}
END_TEST

static void ck_lengths(size_t n, size_t n_other, int rc, const char *says)
{
    struct attn_err err = {0};
    struct attn_tokens *first, *other;
    const struct attn_plan how = {.threads = 1};
    ck_assert(!attn_tokens_from_ids(&first, ids, n, &err) && !attn_tokens_from_ids(&other, ids, n_other, &err));
    ck_assert_int_eq(attn_run_tokens(model, &how, first, other, NULL, 0, &err), rc);
    ck_assert_msg(strstr(err.msg, says), "'%s' lacks '%s'", err.msg, says);
    attn_tokens_free(first);
    attn_tokens_free(other);
}

START_TEST(no_kind_goes_with_it)
{
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    const struct attn_seq seq[] = {{.T = 4, .keys = &seq[1]}, {.T = 4}};
    const struct attn_plan plan = {.rows = 8, .seqs = 2, .kind = {.form = ATTN_LINEAR}};
    ck_assert(!attn_run_new(&r, model, &plan, NULL, 0, &err));
    ck_assert_int_eq(attn_run_forward(r, ids, seq, 2, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, "goes with no other kind"), "%s", err.msg);
    attn_run_free(r);
}
END_TEST

START_TEST(both_lengths_are_checked)
{
    ck_lengths(140, 140, ATTN_OK, "");
    ck_lengths(1, 1, ATTN_OK, "");
    ck_lengths(0, 3, ATTN_EFORMAT, "the text has no tokens");
    ck_lengths(3, 0, ATTN_EFORMAT, "the other text, whose keys the first looks at, has no tokens");
    ck_lengths(141, 3, ATTN_EFORMAT, "the text has 141 tokens, but model model takes at most 140");
    ck_lengths(3, 141, ATTN_EFORMAT,
               "the other text, whose keys the first looks at, has 141 tokens, but model model takes at most 140");
}
END_TEST

Suite *suite_cross(void)
{
    Suite *s = suite_create("cross");
    TCase *c = tcase_create("cross");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, threads_and_bands_do_not_change_a_bit, 0, 3);
    tcase_add_test(c, watching_does_not_change_a_bit);
    tcase_add_test(c, the_other_text_runs_as_if_nobody_looked);
    tcase_add_test(c, places_among_the_rows_do_not_change_a_bit);
    tcase_add_test(c, looking_at_oneself_is_attention_without_a_mask);
    tcase_add_test(c, an_edit_of_the_pattern_reaches_the_context);
    tcase_add_test(c, keys_that_cannot_be_are_refused);
    tcase_add_test(c, no_kind_goes_with_it);
    tcase_add_test(c, both_lengths_are_checked);
    suite_add_tcase(s, c);
    return s;
}
