/* The parts of a training: settings, texts, contexts, the optimizer, the curve. */
#include "suites.h"
#include "draw.h"

#include "base/out.h"
#include "base/team.h"
#include "compute/vec.h"
#include "made.h"
#include "picture/png.h"
#include "scratch.h"
#include "train/trainer.h"
#include "worse.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings ------------------------------------------------------------------------------- */

static const struct { const char *json, *says; } bad_settings[] = {
    {"{\"lr\": -1}", "\"lr\" is -1, expected a finite number"},
    {"{\"step\": 1}", "unknown key \"step\", did you mean \"steps\"?"},
    {"{\"steps\": 0}", "\"steps\" is 0, expected a whole number from 1"}, {"{\"batch\": 1.5}", "\"batch\" is 1.5"},
    {"{\"documents\": \"all\"}", "expected \"join\" or \"part\""}, {"{\"keep\": 1}", "expected \"best\" or \"last\""},
    {"{\"dtype\": \"F64\"}", "expected \"F32\", \"F16\" or \"BF16\""}, {"[]", "expected an object"},
    {"{", "train.json"},
    {"{\"beta2\": 0.99999999}", "\"beta2\" is 0.99999999, expected less than 1, in float32, too"},
    {"{\"eps\": 1e-46}", "\"eps\" is 1e-46, expected more"},
    {"{\"beta1\": 1}", "\"beta1\" is 1, expected less than 1"}, {"{\"beta2\": 2}", "\"beta2\" is 2"},
    {"{\"dropout\": 1}", "\"dropout\" is 1"},
    {"{\"held_out\": 100}", "\"held_out\" is 100, expected less than 100"},
    {"{\"also_share\": 1}", "\"also_share\" is 1"},
    {"{\"lr_end\": 1.5}", "\"lr_end\" is 1.5, expected at most 1"}, {"{\"eps\": 0}", "\"eps\" is 0, expected more"},
    {"{\"keep\": \"best\", \"held_out\": 0}", "needs a held-out text"},
};

START_TEST(settings_that_cannot_be)
{
    struct attn_train_settings t = attn_train_settings_defaults;
    struct attn_err err = {0};
    const char *json = bad_settings[_i].json;
    int rc = attn_train_settings_read(&t, json, strlen(json), "train.json", &err);
    ck_assert_int_ne(rc ? rc : attn_train_settings_check(&t, &err), ATTN_OK);
    ck_assert_msg(strstr(err.msg, bad_settings[_i].says), "%s", err.msg);
    attn_train_settings_free(&t);
}
END_TEST

static void *no_memory(size_t size)
{
    (void)size;
    return NULL;
}

/* A fault of the machine is none of the file, nor of what somebody typed. */
START_TEST(settings_without_memory)
{
    struct attn_train_settings t = attn_train_settings_defaults;
    struct attn_err err = {0};
    static const char json[] = "{\"lr\": 0.5}";
    cJSON_InitHooks(&(cJSON_Hooks){no_memory, free});
    int rc = attn_train_settings_read(&t, json, strlen(json), "train.json", &err);
    cJSON_InitHooks(NULL);
    ck_assert_int_eq(rc, ATTN_ENOMEM);
    ck_assert_str_eq(err.msg, "train.json: no memory for it");
    attn_train_settings_free(&t);
}
END_TEST

static char *written(const struct attn_train_settings *t, size_t *len)
{
    struct attn_out *out;
    char *text = NULL;
    ck_assert_int_eq(attn_out_open_memory(&out, NULL), ATTN_OK);
    attn_train_settings_write(out, t);
    ck_assert_int_eq(attn_out_take(out, &text, len, NULL), ATTN_OK);
    attn_out_close(out);
    return text;
}

START_TEST(settings_come_back)
{
    static const char json[] =
        "{\"lr\": 0.003, \"seed\": 7, \"documents\": \"join\", \"dtype\": \"BF16\", \"text\": \"ab\"}";
    struct attn_train_settings t = attn_train_settings_defaults, back = {0};
    size_t len, again;
    ck_assert_int_eq(attn_train_settings_check(&t, NULL), ATTN_OK);
    ck_assert_int_eq(attn_train_settings_read(&t, json, strlen(json), "train.json", NULL), ATTN_OK);
    char *text = written(&t, &len);
    ck_assert_int_eq(attn_train_settings_read(&back, text, len, "train.json", NULL), ATTN_OK);
    char *other = written(&back, &again);
    ck_assert_uint_eq(len, again);
    ck_assert_mem_eq(text, other, len);
    ck_assert(back.lr == 0.003 && back.seed == 7 && back.join && back.dtype == ATTN_STORE_BF16 &&
              back.steps == t.steps);
    ck_assert_str_eq(back.text, "ab");
    ck_assert_ptr_null(back.also);
    attn_train_settings_free(&t);
    attn_train_settings_free(&back);
    free(text);
    free(other);
}
END_TEST

/* ---- what is held out ----------------------------------------------------------------------- */

#define MARK "<|endoftext|>"
static const struct { const char *text; double percent; const char *held; } cuts[] = {
    {"aaaa\n" MARK "\nbbbb\n" MARK "\ncccc\n", 10, "ccc\n"},
    {"aaaa\n" MARK "\nbbbb\n" MARK "\ncccc\n", 50, "cccc\n"},
    {"aaaa\n" MARK "\nbbbb\n" MARK "\ncccc\n", 80, "bbbb\n" MARK "\ncccc\n"},
    {"aaaa\n" MARK "\nbbbb\n" MARK "\ncccc\n", 0, ""}, {"", 5, ""},
    {"one\ntwo\nthree\nfour\n", 50, "four\n"}, {"no line ends here", 20, "ere"},
    {"\u20ac\u20ac\u20ac\u20ac", 40, "\u20ac"},
};

START_TEST(the_end_of_a_text_is_held_out)
{
    const char *text = cuts[_i].text;
    size_t len = strlen(text), cut = attn_corpus_cut(text, len, cuts[_i].percent);
    ck_assert_uint_le(cut, len);
    ck_assert_str_eq(text + cut, cuts[_i].held);
}
END_TEST

/* ---- contexts ------------------------------------------------------------------------------- */

/* Documents of these lengths; each token's id is its place in the corpus. */
static struct attn_corpus corpus_of(const size_t *length, size_t documents)
{
    struct attn_corpus c = {.documents = documents, .end = calloc(documents, sizeof(size_t))};
    for (size_t d = 0; d < documents; d++)
        c.end[d] = c.n += length[d];
    c.ids = calloc(c.n, sizeof *c.ids);
    for (size_t i = 0; i < c.n; i++)
        c.ids[i] = (int32_t)i;
    return c;
}

static const size_t lengths[] = {1, 5, 8, 9, 13, 16, 17, 2, 100, 8, 31, 24};
enum { DOCUMENTS = sizeof lengths / sizeof *lengths, LENGTH = 8, EPOCHS = 5 };

START_TEST(an_epoch_reads_each_token_once)
{
    struct attn_corpus c = corpus_of(lengths, DOCUMENTS);
    struct attn_deck d;
    bool join = _i == 1;
    ck_assert_int_eq(attn_deck_new(&d, &c, LENGTH, join, 3, "it", NULL), ATTN_OK);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        int *seen = calloc(c.n, sizeof *seen);
        for (uint64_t i = 0; i < d.count; i++) {
            struct attn_token_range s = attn_deck_at(&d, epoch * d.count + i);
            ck_assert(s.n >= 1 && s.n <= LENGTH && s.at + s.n <= c.n);
            ck_assert(join || attn_corpus_document(&c, s.at) == attn_corpus_document(&c, s.at + s.n - 1));
            for (size_t k = 0; k < s.n; k++)
                seen[s.at + k]++;
        }
        for (size_t i = 0; i < c.n; i++)
            ck_assert_int_eq(seen[i], 1);
        free(seen);
    }
    attn_deck_free(&d);
    attn_corpus_free(&c);
}
END_TEST

START_TEST(contexts_follow_from_seed_and_number)
{
    struct attn_corpus c = corpus_of(lengths, DOCUMENTS);
    struct attn_deck a, b, other;
    size_t moved = 0, differ = 0;
    ck_assert_int_eq(attn_deck_new(&a, &c, LENGTH, false, 3, "it", NULL), ATTN_OK);
    ck_assert_int_eq(attn_deck_new(&b, &c, LENGTH, false, 3, "it", NULL), ATTN_OK);
    ck_assert_int_eq(attn_deck_new(&other, &c, LENGTH, false, 4, "it", NULL), ATTN_OK);
    for (uint64_t i = EPOCHS * a.count; i-- > 0;) {
        struct attn_token_range x = attn_deck_at(&a, i), y = attn_deck_at(&b, EPOCHS * a.count - 1 - i),
            z = attn_deck_at(&other, i);
        moved += x.at != y.at;
        differ += x.at != z.at;
        y = attn_deck_at(&b, i);
        ck_assert(x.at == y.at && x.n == y.n);
    }
    ck_assert_uint_gt(moved, 3 * a.count);              /* epochs differ */
    ck_assert_uint_gt(differ, 3 * a.count);
    attn_deck_free(&a);
    attn_deck_free(&b);
    attn_deck_free(&other);
    attn_corpus_free(&c);
}
END_TEST

/* Of four tokens that come again the last is a target, wherever they came before. */
START_TEST(what_is_said_again_is_unlikely)
{
    static const int32_t ids[] = {1, 2, 3, 4, 9, 1, 2, 3, 4, 5, 2, 3, 4, 5, 9, 2, 3, 4, 7, 7, 7, 7, 7, 7, 1, 2, 3, 4};
    static const size_t again[] = {7, 12, 21, 22, 26}, first = 10, all = sizeof ids / sizeof *ids;
    struct attn_corpus c = corpus_of(&all, 1);
    struct attn_contexts x;
    size_t n = 0;
    memcpy(c.ids, ids, sizeof ids);
    ck_assert_int_eq(attn_contexts_new(&x, 64, NULL), ATTN_OK);
    attn_contexts_add_against(&x, &c, &(struct attn_token_range){first, all - first});     /* from 2, 3, 4, 5, 9 on */
    ck_assert_uint_eq(x.N, 2);
    attn_contexts_add_against(&x, &c, &(struct attn_token_range){0, all});
    ck_assert(x.N == 7 && x.seqs == 2 && x.n == 2 * all - first && x.T[0] == all - first && x.T[1] == all);
    for (size_t i = 0; i < all; i++) {
        bool unlikely = n < 5 && again[n] == i;
        n += unlikely;
        ck_assert_int_eq(x.ids[all - first + i], ids[i]);
        ck_assert_int_eq(x.targets[all - first + i], unlikely ? attn_unlikely(ids[i + 1]) : -1);
    }
    ck_assert_uint_eq(n, 5);
    attn_contexts_free(&x);
    attn_corpus_free(&c);
}
END_TEST

START_TEST(targets_are_the_next_tokens)
{
    static const size_t two[] = {3, 4};
    static const struct { struct attn_token_range s; bool join; int32_t last; } rows[] = {
        {{0, 2}, false, 2}, {{0, 3}, false, -1}, {{0, 3}, true, 3}, {{3, 4}, false, -1}, {{3, 4}, true, -1},
        {{4, 2}, false, 6}};
    struct attn_corpus c = corpus_of(two, 2);
    struct attn_contexts x;
    ck_assert_int_eq(attn_contexts_new(&x, 32, NULL), ATTN_OK);
    size_t n = 0, targets = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        attn_contexts_add(&x, &c, &rows[i].s, rows[i].join);
        ck_assert_uint_eq(x.T[i], rows[i].s.n);
        for (size_t k = 0; k < rows[i].s.n; k++) {
            ck_assert_int_eq(x.ids[n + k], (int32_t)(rows[i].s.at + k));
            ck_assert_int_eq(x.targets[n + k], k + 1 < rows[i].s.n ? (int32_t)(rows[i].s.at + k + 1) : rows[i].last);
        }
        n += rows[i].s.n;
        targets += rows[i].s.n - (rows[i].last < 0);
    }
    ck_assert_uint_eq(x.n, n);
    ck_assert_uint_eq(x.N, targets);
    attn_contexts_free(&x);
    attn_corpus_free(&c);
}
END_TEST

START_TEST(a_text_may_be_too_short)
{
    static const size_t one[] = {8};
    struct attn_corpus c = corpus_of(one, 1);
    struct attn_deck d;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_deck_new(&d, &c, 8, false, 0, "it", &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, "8 tokens to train on, expected at least 9"), "%s", err.msg);
    ck_assert_int_eq(attn_deck_new(&d, &c, 7, false, 0, "it", &err), ATTN_OK);
    attn_deck_free(&d);
    attn_corpus_free(&c);
}
END_TEST

/* ---- the optimizer -------------------------------------------------------------------------- */

START_TEST(rates_rise_and_fall)
{
    struct attn_train_settings t = attn_train_settings_defaults;
    t.steps = 101;
    t.warmup = 10;
    t.lr = 2;
    t.lr_end = 0.25;
    ck_assert(fabs(attn_optimizer_rate(&t, 0) - 0.2) < 1e-12);   /* rounded in double */
    ck_assert(fabs(attn_optimizer_rate(&t, 9) - 2) < 1e-12);
    ck_assert(fabs(attn_optimizer_rate(&t, 10) - 2) < 1e-12);
    ck_assert(fabs(attn_optimizer_rate(&t, 55) - 1.25) < 1e-12);     /* half way down a cosine */
    ck_assert(fabs(attn_optimizer_rate(&t, 100) - 0.5) < 1e-12);
    t.warmup = 1000;
    ck_assert(fabs(attn_optimizer_rate(&t, 100) - 0.202) < 1e-12);
}
END_TEST

enum { NUMBERS = 40000 };                 /* several pieces for threads, of which the last is not whole */
struct plain { double x[NUMBERS], m[NUMBERS], v[NUMBERS]; };

/* The definition, in double precision. */
static void plain_step(struct plain *p, const float *g, const struct attn_train_settings *t, double scale, bool decays,
                       size_t step)
{
    double lr = attn_optimizer_rate(t, step), c1 = 1 - pow(t->beta1, (double)step + 1),
        c2 = 1 - pow(t->beta2, (double)step + 1);
    for (size_t i = 0; i < NUMBERS; i++) {
        double grad = g[i] * scale;
        p->m[i] = t->beta1 * p->m[i] + (1 - t->beta1) * grad;
        p->v[i] = t->beta2 * p->v[i] + (1 - t->beta2) * grad * grad;
        p->x[i] -= decays ? lr * t->weight_decay * p->x[i] : 0;
        p->x[i] -= lr * (p->m[i] / c1) / (sqrt(p->v[i] / c2) + t->eps);
    }
}

/* Two parameters; only the first decays. */
static struct attn_params two_params(struct attn_param *param, float *value, float *grad)
{
    for (size_t i = 0; i < 2; i++)
        param[i] = (struct attn_param){.name = i ? "b" : "a", .at = i * NUMBERS, .count = NUMBERS, .decays = i == 0};
    return (struct attn_params){.param = param, .n = 2, .value = value, .grad = grad, .count = 2 * NUMBERS};
}

START_TEST(steps_are_those_of_the_definition)
{
    static struct plain plain[2];
    static float value[2 * NUMBERS], grad[2 * NUMBERS];
    struct attn_param param[2];
    struct attn_params p = two_params(param, value, grad);
    struct attn_train_settings t = attn_train_settings_defaults;
    struct attn_optimizer o;
    uint32_t state = 1;
    t.steps = 20;
    t.warmup = 3;
    t.clip = _i ? 1 : 0;
    ck_assert_int_eq(attn_optimizer_new(&o, &p, &t, NULL), ATTN_OK);
    for (size_t i = 0; i < 2 * NUMBERS; i++)
        plain[i / NUMBERS].x[i % NUMBERS] = value[i] = draw_number(&state);
    for (size_t step = 0; step < 20; step++) {
        double norm, squares = 0;
        for (size_t i = 0; i < 2 * NUMBERS; i++) {
            grad[i] = draw_number(&state);
            squares += (double)grad[i] * (double)grad[i];
        }
        ck_assert_int_eq(attn_optimizer_step(&o, step, &norm, NULL, NULL), ATTN_OK);
        ck_assert(fabs(norm - sqrt(squares)) < 1e-9 * norm);    /* a sum in double, in another order */
        for (int k = 0; k < 2; k++)
            plain_step(&plain[k], grad + k * NUMBERS, &t, _i ? 1 / norm : 1, k == 0, step);
    }
    /* one check at the end, because each check costs a message to the test runner */
    double worst = 0;
    for (size_t i = 0; i < 2 * NUMBERS; i++) {
        double off = fabs(value[i] - plain[i / NUMBERS].x[i % NUMBERS]);
        worst = worse(worst, off);
    }
    ck_assert(worst < 20 * 4 * 6e-8);   /* 20 steps, each rounded in float32 a few times */
    attn_optimizer_free(&o);
}
END_TEST

START_TEST(no_step_where_the_gradient_is_not_finite)
{
    static float value[2 * NUMBERS] = {1}, grad[2 * NUMBERS];
    struct attn_param param[2];
    struct attn_params p = two_params(param, value, grad);
    struct attn_train_settings t = attn_train_settings_defaults;
    struct attn_optimizer o;
    struct attn_err err = {0};
    double norm;
    grad[NUMBERS + 7] = _i ? NAN : INFINITY;
    ck_assert_int_eq(attn_optimizer_new(&o, &p, &t, NULL), ATTN_OK);
    ck_assert_int_eq(attn_optimizer_step(&o, 0, &norm, NULL, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "the gradient is not finite");
    ck_assert(value[0] == 1 && o.m[0] == 0);
    attn_optimizer_free(&o);
}
END_TEST

/* ---- the curve ------------------------------------------------------------------------------ */

static char *taken(struct attn_out *out, size_t *len)
{
    char *text = NULL;
    ck_assert_int_eq(attn_out_take(out, &text, len, NULL), ATTN_OK);
    attn_out_close(out);
    return text;
}

START_TEST(curves_as_csv)
{
    struct attn_curve c = {0};
    struct attn_out *out;
    size_t len;
    ck_assert(attn_curve_best(&c) == INFINITY);
    ck_assert(attn_curve_add(&c, &(struct attn_point){1, 512, 0.5, 2.25, 1, NAN, NAN}));
    ck_assert(attn_curve_add(&c, &(struct attn_point){2, 1024, 0.1, 2, 0.5, 1.75, 0.875}));
    ck_assert(attn_curve_best(&c) == 1.75);
    ck_assert_int_eq(attn_out_open_memory(&out, NULL), ATTN_OK);
    attn_curve_write(out, &c);
    char *text = taken(out, &len);
    ck_assert_str_eq(text, "step,tokens,lr,loss,gradient,held_out,bits_per_byte\n1,512,0.5,2.25,1,,\n"
                     "2,1024,0.1,2,0.5,1.75,0.875\n");
    free(text);
    attn_curve_free(&c);
}
END_TEST

static const double xs[] = {1, 2, 3, 4, 5, 1000}, ys[] = {3, 2, 2.5, 1, 1, 0.5}, same[] = {2, 2, 2, 2, 2, 2};
/* Losses that weights of 1e8 have, or a changed checkpoint. */
static const double vast[] = {1e17, 1e17, 1e17, 1e17, 1e17, 1e17},
wild[] = {1e308, -1e308, INFINITY, 1, -INFINITY, NAN},
                    none[] = {NAN, NAN, NAN, NAN, NAN, NAN};
static const struct { const double *y; size_t n; } charts[] = {{ys, 6}, {ys, 1}, {ys, 0}, {same, 6}, {vast, 6},
                                                               {wild, 6}, {none, 6}};

START_TEST(charts_of_any_number_of_points)
{
    struct attn_chart_curve curve[] = {{"a", xs, charts[_i].y, charts[_i].n, false},
                                       {"b", xs, charts[_i].y, charts[_i].n, true}};
    struct attn_chart chart = {"title", "steps", curve, 2};
    struct attn_out *out;
    size_t len;
    ck_assert_int_eq(attn_out_open_memory(&out, NULL), ATTN_OK);
    ck_assert_int_eq(attn_chart_write(out, &chart, NULL), ATTN_OK);
    char *png = taken(out, &len);
    ck_assert_uint_gt(len, 1000);
    ck_assert_mem_eq(png, "\x89PNG\r\n\x1a\n", 8);
    free(png);
}
END_TEST

Suite *suite_training(void)
{
    Suite *s = suite_create("training");
    TCase *tc = tcase_create("training");
    tcase_add_loop_test(tc, settings_that_cannot_be, 0, sizeof bad_settings / sizeof *bad_settings);
    tcase_add_test(tc, settings_without_memory);
    tcase_add_test(tc, settings_come_back);
    tcase_add_loop_test(tc, the_end_of_a_text_is_held_out, 0, sizeof cuts / sizeof *cuts);
    tcase_add_loop_test(tc, an_epoch_reads_each_token_once, 0, 2);
    tcase_add_test(tc, contexts_follow_from_seed_and_number);
    tcase_add_test(tc, targets_are_the_next_tokens);
    tcase_add_test(tc, what_is_said_again_is_unlikely);
    tcase_add_test(tc, a_text_may_be_too_short);
    tcase_add_test(tc, rates_rise_and_fall);
    tcase_add_loop_test(tc, steps_are_those_of_the_definition, 0, 2);
    tcase_add_loop_test(tc, no_step_where_the_gradient_is_not_finite, 0, 2);
    tcase_add_test(tc, curves_as_csv);
    tcase_add_loop_test(tc, charts_of_any_number_of_points, 0, sizeof charts / sizeof *charts);
    suite_add_tcase(s, tc);
    return s;
}
