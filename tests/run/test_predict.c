/* Choosing the next token, scoring a text, and continuing one with the cache. */
#include "suites.h"

#include "attn.h"
#include "golden.h"
#include "made.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sampler ---- */

enum { DRAWS = 20000, MOST = 64 };

/* Makes `draws` choices with one sampler and counts them by token. */
static void draw(size_t count[MOST], const float *logits, size_t V, struct attn_sampling how, size_t draws)
{
    struct attn_err err = {0};
    struct attn_sampler *s;
    memset(count, 0, MOST * sizeof *count);
    ck_assert_msg(attn_sampler_new(&s, V, &how, &err) == ATTN_OK, "%s", err.msg);
    for (size_t i = 0; i < draws; i++) {
        int32_t id = -1;
        ck_assert_msg(attn_sampler_next(s, &id, logits, &err) == ATTN_OK, "%s", err.msg);
        ck_assert(id >= 0 && (size_t)id < V);
        count[id]++;
    }
    attn_sampler_free(s);
}

/* Logits of the probabilities 1/8, 1/2, 1/8, 1/4. */
static const float eighths[] = {0, 1.3862943611F, 0, 0.6931471806F};

START_TEST(greedy_takes_the_likeliest_and_of_equals_the_first)
{
    const float logits[] = {-1, 3, 2, 3, 3};
    const struct attn_sampling greedy[] = {
        {.top_p = 1}, {.temperature = 1, .top_p = 1, .top_k = 1}, {.temperature = 1, .top_p = 0},
        {.top_p = 0.5, .top_k = 3, .seed = 9},
        {.temperature = 1e6, .top_p = 1e-300}};
    size_t count[MOST];
    draw(count, logits, 5, greedy[_i], 100);
    ck_assert_uint_eq(count[1], 100);
}
END_TEST

START_TEST(draws_follow_the_softmax)
{
    size_t count[MOST];
    const double p[] = {1 / 8.0, 1 / 2.0, 1 / 8.0, 1 / 4.0};
    draw(count, eighths, 4, (struct attn_sampling){.temperature = 1, .top_p = 1, .seed = (uint64_t)_i}, DRAWS);
    for (size_t i = 0; i < 4; i++) {
        double sigma = sqrt(DRAWS * p[i] * (1 - p[i]));
        /* fixed seeds: it does not fail by chance */
        ck_assert_double_le(fabs((double)count[i] - DRAWS * p[i]), 4 * sigma);
    }
}
END_TEST

START_TEST(temperature_sharpens_and_flattens)
{
    size_t cold[MOST], hot[MOST], tiny[MOST];
    draw(cold, eighths, 4, (struct attn_sampling){.temperature = 0.5, .top_p = 1}, DRAWS);
    ck_assert_double_le(fabs((double)cold[1] / DRAWS - 16.0 / 22), 0.015);      /* 4.8 standard deviations */
    draw(hot, eighths, 4, (struct attn_sampling){.temperature = 1e300, .top_p = 1}, DRAWS);
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_le(fabs((double)hot[i] / DRAWS - 0.25), 0.015);
    draw(tiny, eighths, 4, (struct attn_sampling){.temperature = 1e-310, .top_p = 1}, 100);
    ck_assert_uint_eq(tiny[1], 100);
}
END_TEST

/* Which of the four remain, as bits. */
static const struct { struct attn_sampling how; unsigned stay; } cuts[] = {
    {{.temperature = 1, .top_p = 1, .top_k = 0}, 15}, {{.temperature = 1, .top_p = 1, .top_k = 4}, 15},
    {{.temperature = 1, .top_p = 1, .top_k = 99}, 15}, {{.temperature = 1, .top_p = 1, .top_k = 2}, 10},
    {{.temperature = 1, .top_p = 1, .top_k = 3}, 11},                           /* of two equals the first remains */
    {{.temperature = 1, .top_p = 0.499}, 2}, {{.temperature = 1, .top_p = 0.501}, 10},
    {{.temperature = 1, .top_p = 0.749}, 10},
    {{.temperature = 1, .top_p = 0.751}, 11}, {{.temperature = 1, .top_p = 0.876}, 15},
    /* 1/2 is two thirds of the 3/4 that top_k leaves */
    {{.temperature = 1, .top_p = 0.66, .top_k = 2}, 2},
    {{.temperature = 1, .top_p = 0.67, .top_k = 2}, 10},
    /* at temperature 1/2 it has 16/22 = 0.727 */
    {{.temperature = 0.5, .top_p = 0.72}, 2},
};

START_TEST(top_k_and_top_p_keep_the_likeliest)
{
    size_t count[MOST];
    draw(count, eighths, 4, cuts[_i].how, 1000);
    for (size_t i = 0; i < 4; i++)
        ck_assert_msg((count[i] > 0) == (cuts[_i].stay >> i & 1), "token %zu came %zu times", i, count[i]);
}
END_TEST

START_TEST(cuts_agree_with_sorting)
{
    float logits[MOST];
    for (size_t i = 0; i < MOST; i++)
        logits[i] = (float)((i * 37) % 16) / 4;                     /* each value four times */
    for (size_t k = 1; k < MOST; k++) {
        size_t count[MOST], better;
        draw(count, logits, MOST, (struct attn_sampling){.temperature = 100, .top_p = 1, .top_k = k}, 3000);
        for (size_t i = 0; i < MOST; i++) {
            better = 0;
            for (size_t j = 0; j < MOST; j++)
                better += logits[j] > logits[i] || (logits[j] == logits[i] && j < i);
            ck_assert_msg((count[i] > 0) == (better < k), "k %zu: token %zu came %zu times", k, i, count[i]);
        }
    }
}
END_TEST

static void sequence(int32_t ids[100], struct attn_sampling how)
{
    struct attn_sampler *s;
    ck_assert_int_eq(attn_sampler_new(&s, 4, &how, NULL), ATTN_OK);
    for (size_t i = 0; i < 100; i++)
        ck_assert_int_eq(attn_sampler_next(s, &ids[i], eighths, NULL), ATTN_OK);
    attn_sampler_free(s);
}

START_TEST(a_seed_is_a_sequence)
{
    int32_t a[100], b[100];
    sequence(a, (struct attn_sampling){.temperature = 1, .top_p = 1, .seed = 5});
    sequence(b, (struct attn_sampling){.temperature = 1, .top_p = 1, .seed = 5});
    ck_assert_mem_eq(a, b, sizeof a);
    /* these cut nothing */
    sequence(b, (struct attn_sampling){.temperature = 1, .top_p = 0.9999, .top_k = 4, .seed = 5});
    ck_assert_mem_eq(a, b, sizeof a);
    sequence(b, (struct attn_sampling){.temperature = 1, .top_p = 1, .seed = 6});
    ck_assert_mem_ne(a, b, sizeof a);
}
END_TEST

START_TEST(wild_logits_are_errors)
{
    const float wild[] = {NAN, INFINITY, -INFINITY};
    const char *const names[] = {"token 2 is nan", "token 2 is inf", "token 0 is -inf"};
    /* -inf is one if all are */
    const float all = wild[_i] < 0 ? wild[_i] : 1, logits[] = {all, all, wild[_i], all};
    for (int temperature = 0; temperature < 2; temperature++) {
        struct attn_err err = {0};
        struct attn_sampler *s;
        struct attn_sampling how = {.temperature = temperature, .top_p = 1};
        int32_t id;
        double p;
        ck_assert_int_eq(attn_sampler_new(&s, 4, &how, &err), ATTN_OK);
        ck_assert_int_eq(attn_sampler_next(s, &id, logits, &err), ATTN_EFORMAT);
        ck_assert_ptr_nonnull(strstr(err.msg, names[_i]));
        attn_sampler_free(s);
        ck_assert_int_eq(attn_logprob(&p, logits, 4, 0, &err), ATTN_EFORMAT);
    }
}
END_TEST

START_TEST(a_logit_of_minus_inf_rules_its_token_out)
{
    const float logits[] = {1, 3, -INFINITY, 2};
    double p, sum = 0;
    for (int temperature = 0; temperature < 3; temperature++) {
        struct attn_sampler *s;
        struct attn_sampling how = {.temperature = temperature, .top_p = 1};
        int32_t id;
        ck_assert_int_eq(attn_sampler_new(&s, 4, &how, NULL), ATTN_OK);
        for (int i = 0; i < 1000; i++) {
            ck_assert_int_eq(attn_sampler_next(s, &id, logits, NULL), ATTN_OK);
            ck_assert_int_ne(id, 2);
        }
        attn_sampler_free(s);
    }
    for (int32_t id = 0; id < 4; id++) {
        ck_assert_int_eq(attn_logprob(&p, logits, 4, id, NULL), ATTN_OK);
        sum += exp(p);
    }
    ck_assert_double_eq_tol(sum, 1, 1e-15 * 4);             /* rounding of four terms */
}
END_TEST

START_TEST(impossible_sampling_is_refused)
{
    const struct attn_sampling bad[] = {
        {.temperature = -1, .top_p = 1}, {.temperature = NAN, .top_p = 1}, {.temperature = INFINITY, .top_p = 1},
        {.top_p = -0.1},
        {.top_p = 1.1}, {.top_p = NAN}};
    struct attn_sampler *s;
    ck_assert_int_eq(attn_sampler_new(&s, 4, &bad[_i], NULL), ATTN_EUSAGE);
    ck_assert_ptr_null(s);
}
END_TEST

START_TEST(logarithms_of_the_softmax)
{
    double p;
    const float huge[] = {1e38F, -1e38F}, level[] = {-1e30F, -1e30F, -1e30F};
    ck_assert_int_eq(attn_logprob(&p, eighths, 4, 1, NULL), ATTN_OK);
    ck_assert_double_le(fabs(p - log(0.5)), 1e-7);      /* the logits are rounded to float32 */
    ck_assert_int_eq(attn_logprob(&p, huge, 2, 0, NULL), ATTN_OK);
    ck_assert(p == 0);
    ck_assert_int_eq(attn_logprob(&p, huge, 2, 1, NULL), ATTN_OK);
    ck_assert_double_le(fabs(p / -2e38 - 1), 1e-6);     /* 1e38 is rounded to float32 */
    ck_assert_int_eq(attn_logprob(&p, level, 3, 3, NULL), ATTN_EUSAGE);
    ck_assert_int_eq(attn_logprob(&p, level, 3, -1, NULL), ATTN_EUSAGE);
    ck_assert_int_eq(attn_logprob(&p, level, 3, 2, NULL), ATTN_OK);
    ck_assert_double_le(fabs(p + log(3)), 1e-15);   /* all in double */
}
END_TEST

/* ---- what of a text can be shown ---- */

/* With bytes coming one at a time, what is shown never changes and consists of whole characters. */
START_TEST(characters_are_shown_whole)
{
    static const char text[] = "aé注意力😀\xEF\xBF\xBDz";
    size_t shown = 0, steps = 0;
    bool stopped;
    for (size_t len = 1; len < sizeof text; len++) {
        size_t n = attn_text_ready(text + shown, len - shown, NULL, &stopped);
        ck_assert(!stopped && shown + n <= len);
        shown += n;
        steps += n > 0;
        ck_assert((text[shown] & 0xC0) != 0x80);
    }
    ck_assert_uint_eq(shown, sizeof text - 1);
    ck_assert_uint_eq(steps, 8);
}
END_TEST

static const struct { const char *text, *stop; size_t ready; bool stopped; } pieces[] = {
    {"", NULL, 0, false}, {"ab", NULL, 2, false}, {"ab", "", 2, false}, {"ab", "b", 1, true}, {"abc", "b", 1, true},
    {"ab", "bc", 1, false}, {"aab", "ab", 1, true}, {"aaa", "aab", 1, false}, {"aaa", "aaaa", 0, false},
    {"a", "abc", 0, false},
    {"xaba", "abac", 1, false}, {"xabab", "abac", 3, false}, {"stop stop", "stop", 0, true}, {"\n", "\n\n", 0, false},
    {"\xC3", NULL, 0, false}, {"\xC3\xA9", NULL, 2, false}, {"\xC3\xA9", "\xC3\xA9!", 0, false},
    {"a\xE6\xB3", "x", 1, false},
    {"\xE6\xB3" "a", NULL, 3, false},                               /* broken: nothing to wait for */
    {"\xE6\x20", NULL, 2, false}, {"\xE0\x80", NULL, 2, false}, {"\xFF", NULL, 1, false},
    {"\x80\x80\x80\x80", NULL, 4, false},
    {"\xF0\x9F\x98", NULL, 0, false}, {"\xF5\x80", NULL, 2, false}, {"\xED\xA0", NULL, 2, false},
    {"\xC1", NULL, 1, false},
};

START_TEST(nothing_is_shown_that_may_be_the_stop_text)
{
    bool stopped;
    size_t ready = attn_text_ready(pieces[_i].text, strlen(pieces[_i].text), pieces[_i].stop, &stopped);
    ck_assert_uint_eq(ready, pieces[_i].ready);
    ck_assert_int_eq(stopped, pieces[_i].stopped);
}
END_TEST

/* ---- scores ---- */

struct last { float *row; size_t V; };

static unsigned last_wants(void *self, int act, int layer)
{
    (void)self;
    (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH | ATTN_LAST : 0;
}

static int last_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct last *l = self;
    (void)err;
    memcpy(l->row, p->data, l->V * sizeof(float));
    return ATTN_OK;
}

static size_t vocabulary(const struct attn_model *m)
{
    struct attn_info info;
    attn_model_info(m, &info);
    return info.V;
}

/* The logits after n ids, computed from scratch. */
static void after(float *row, const struct attn_model *m, const int32_t *ids, size_t n)
{
    struct attn_err err = {0};
    struct last l = {row, vocabulary(m)};
    struct attn_observer last = {.wants = last_wants, .watch = last_watch, .self = &l};
    struct attn_plan plan = {.rows = n, .seqs = 1, .threads = 1};
    struct attn_seq seq = {.T = n};
    struct attn_run *run = NULL;
    int rc = attn_run_new(&run, m, &plan, &last, 1, &err);
    if (!rc)
        rc = attn_run_forward(run, ids, &seq, 1, &err);
    ck_assert_msg(rc == 0, "%s", err.msg);
    attn_run_free(run);
}

enum { TEXT = 100, STACKED_CTX = 32, STACKED_V = 22 };
static const size_t strides[] = {1, 5, 16, 31};

/* Each token must score as in a pass of its own with the context that its window gives it. */
START_TEST(windows_score_as_single_passes_do)
{
    struct attn_model *m = made_open("models/stacked");
    size_t stride = strides[_i];
    int32_t ids[TEXT];
    double got[TEXT], want;
    float row[STACKED_V];
    for (size_t i = 0; i < TEXT; i++)
        ids[i] = (int32_t)((i * i + 3 * i) % STACKED_V);
    for (int threads = 1; threads <= 3; threads += 2) {
        ck_assert_int_eq(attn_score(got, m, ids, TEXT, &(struct attn_score_opts){.stride = stride, .threads = threads},
                                    NULL), ATTN_OK);
        ck_assert(got[0] == 0);
        for (size_t i = 1, start = 0; i < TEXT; i++) {
            while (i >= start + STACKED_CTX)
                start += stride;
            if (start)
                ck_assert_uint_ge(i - start, STACKED_CTX - stride);
            after(row, m, ids + start, i - start);
            ck_assert_int_eq(attn_logprob(&want, row, STACKED_V, ids[i], NULL), ATTN_OK);
            ck_assert_msg(got[i] == want, "token %zu: %.17g, expected %.17g", i, got[i], want);
        }
    }
    attn_model_close(m);
}
END_TEST

START_TEST(scores_that_cannot_be)
{
    struct attn_err err = {0};
    int32_t ids[STACKED_CTX + 1] = {0};
    double out[STACKED_CTX + 1];
    struct attn_model *m = made_open("models/stacked"), *none = made_open("life");
    ck_assert_int_eq(attn_score(out, m, ids, 1, &(struct attn_score_opts){.stride = 1, .threads = 1}, &err), ATTN_OK);
    /* one window */
    ck_assert_int_eq(attn_score(out, m, ids, STACKED_CTX, &(struct attn_score_opts){.stride = STACKED_CTX},
                                &err), ATTN_OK);
    double defaults[STACKED_CTX + 1];
    ck_assert_int_eq(attn_score(defaults, m, ids, STACKED_CTX + 1, NULL, &err), ATTN_OK);
    ck_assert_int_eq(attn_score(out, m, ids, STACKED_CTX + 1, &(struct attn_score_opts){.stride = STACKED_CTX / 2},
                                &err), ATTN_OK);
    ck_assert_mem_eq(defaults, out, sizeof out);
    ck_assert_int_eq(attn_score(out, m, ids, STACKED_CTX + 1,
                                &(struct attn_score_opts){.stride = STACKED_CTX, .threads = 1}, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "1 to 31"));
    ck_assert_int_eq(attn_score(out, m, ids, 0, &(struct attn_score_opts){.stride = 1, .threads = 1}, &err),
                     ATTN_EFORMAT);
    ids[STACKED_CTX] = STACKED_V;
    ck_assert_int_eq(attn_score(out, m, ids, STACKED_CTX + 1, &(struct attn_score_opts){.stride = 1, .threads = 1},
                                &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "token 32 has id 22"));
    ck_assert_int_eq(attn_score(out, none, ids, 1, &(struct attn_score_opts){.stride = 1, .threads = 1}, &err),
                     ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "no output layer"));
    attn_model_close(none);
    attn_model_close(m);
}
END_TEST

/* ---- continuing a text ---- */

static const char *const names[] = {"gpt2-a", "gpt2-a-prefixed", "gpt2-b", "gpt2-d", "llama-f", "neo-h",
                                    "neox-i", "qwen2-j"};
enum { NAMES = sizeof names / sizeof *names, LONGEST = 128 };

static size_t read_ids(int32_t ids[LONGEST], const cJSON *list)
{
    size_t n = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, list) {
        ck_assert_uint_lt(n, LONGEST);
        ids[n++] = (int32_t)v->valuedouble;
    }
    return n;
}

struct grown { struct attn_kv *kv; struct attn_run *run; struct last last; };

static void grow_open(struct grown *g, const struct attn_model *m, size_t rows, size_t keys)
{
    struct attn_err err = {0};
    struct attn_plan plan = {.rows = rows, .seqs = 1, .keys = keys, .threads = 2};
    struct attn_observer last = {.wants = last_wants, .watch = last_watch, .self = &g->last};
    g->last.V = vocabulary(m);
    g->last.row = calloc(g->last.V, sizeof(float));
    ck_assert_msg(attn_run_new(&g->run, m, &plan, &last, 1, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_msg(attn_kv_new(&g->kv, m, keys, &err) == ATTN_OK, "%s", err.msg);
}

static void grow_close(struct grown *g)
{
    attn_run_free(g->run);
    attn_kv_free(g->kv);
    free(g->last.row);
}

/* Continues with the cache and, for each step, computes the whole text from scratch: the bits must be the same. */
static void continue_greedily(int32_t ids[LONGEST], size_t n, size_t more, const struct attn_model *m)
{
    struct attn_sampler *s;
    struct attn_sampling greedy = {.top_p = 1};
    struct grown g = {0};
    float *fresh = calloc(vocabulary(m), sizeof *fresh);
    grow_open(&g, m, n, n + more);
    ck_assert_int_eq(attn_sampler_new(&s, g.last.V, &greedy, NULL), ATTN_OK);
    for (size_t seen = 0; more--; n++) {
        struct attn_seq seq = {.T = n - seen, .kv = g.kv};
        ck_assert_int_eq(attn_run_forward(g.run, ids + seen, &seq, 1, NULL), ATTN_OK);
        seen = n;
        after(fresh, m, ids, n);
        ck_assert_mem_eq(fresh, g.last.row, g.last.V * sizeof *fresh);
        ck_assert_int_eq(attn_sampler_next(s, &ids[n], g.last.row, NULL), ATTN_OK);
    }
    attn_sampler_free(s);
    free(fresh);
    grow_close(&g);
}

START_TEST(the_cache_changes_no_bit_and_the_choices_are_known)
{
    int32_t ids[LONGEST], want[LONGEST];
    cJSON *expected = golden_read(printed("tests/golden/checkpoints/%s/expected/expected.json", names[_i]));
    size_t n = read_ids(ids, golden_get(expected, "ids")),
        more = read_ids(want, golden_get(golden_get(expected, "greedy"), "ids"));
    ck_assert_uint_le(n + more, LONGEST);
    struct attn_model *m = made_open(printed("tests/golden/checkpoints/%s", names[_i]));
    continue_greedily(ids, n, more, m);
    ck_assert_mem_eq(ids + n, want, more * sizeof *ids);
    ck_assert(attn_model_ends(m, (int32_t)vocabulary(m) - 1));      /* the last id in all of them */
    ck_assert(!attn_model_ends(m, ids[0]));
    attn_model_close(m);
    cJSON_Delete(expected);
}
END_TEST

START_TEST(our_own_format_continues_as_well)
{
    struct attn_model *m = made_open("models/stacked");
    int32_t ids[LONGEST] = {16, 3, 12};
    continue_greedily(ids, 3, STACKED_CTX - 3, m);
    ck_assert_int_eq(ids[3], 12);
    ck_assert(!attn_model_ends(m, 12));
    attn_model_close(m);
}
END_TEST

Suite *suite_predict(void)
{
#define ROWS(list) (int)(sizeof list / sizeof *list)
    const struct { const TTest *test; int rows; } tests[] = {
        {greedy_takes_the_likeliest_and_of_equals_the_first, 5}, {draws_follow_the_softmax, 3},
        {temperature_sharpens_and_flattens, 1}, {top_k_and_top_p_keep_the_likeliest, ROWS(cuts)},
        {cuts_agree_with_sorting, 1},
        {a_seed_is_a_sequence, 1}, {wild_logits_are_errors, 3}, {a_logit_of_minus_inf_rules_its_token_out, 1},
        {impossible_sampling_is_refused, 6},
        {logarithms_of_the_softmax, 1}, {characters_are_shown_whole, 1},
        {nothing_is_shown_that_may_be_the_stop_text, ROWS(pieces)}, {windows_score_as_single_passes_do, ROWS(strides)},
        {scores_that_cannot_be, 1}, {the_cache_changes_no_bit_and_the_choices_are_known, NAMES},
        {our_own_format_continues_as_well, 1},
    };
    Suite *s = suite_create("predict");
    TCase *c = tcase_create("predict");
    tcase_set_timeout(c, 60);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_loop_test(c, tests[i].test, 0, tests[i].rows);
    suite_add_tcase(s, c);
    return s;
}
