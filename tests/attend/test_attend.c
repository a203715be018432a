/* test_attend.c - attention on numbers that are given, in double precision, is that of a run to float32's rounding: of
 * models, of the articles' examples; every kind, shared heads, other keys; and what does not fit together. */
#include "suites.h"
#include "attn_tools.h"

#include "golden.h"
#include "keep.h"
#include "scratch.h"
#include "seed.h"

#include "base/format.h"
#include "base/out.h"
#include "io/dump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct attn_err err;
static struct attn_attend *a;
static struct attn_dump *got;

static void end(void)
{
    attn_attend_close(a);
    attn_dump_free(got);
    a = NULL;
    got = NULL;
    scratch_remove();
}

/* Numbers as text, in lists in lists; the last eight results stay valid. */
static const char *typed_with(const float *x, const double *wide, size_t heads, size_t rows, size_t cols)
{
    static char *text[8];
    static size_t next;
    size_t len = 0;
    struct attn_out *o;
    char **to = &text[next++ % 8];
    free(*to);
    ck_assert_int_eq(attn_out_open_memory(&o, NULL), 0);
    attn_out_str(o, "[");
    for (size_t i = 0; i < heads * rows; i++) {
        attn_out_str(o, i % rows == 0 ? "[[" : "[");
        for (size_t j = 0; j < cols; j++) {
            char number[32];
            attn_snprintf(number, sizeof number, j ? ", %.17g" : "%.17g",
                          wide ? wide[i * cols + j] : (double)x[i * cols + j]);
            attn_out_str(o, number);
        }
        attn_out_str(o, i % rows == rows - 1 ? "]], " : "], ");
    }
    attn_out_str(o, "]");
    ck_assert_int_eq(attn_out_take(o, to, &len, NULL), 0);
    attn_out_close(o);
    return *to;
}

static const char *typed(const float *x, size_t heads, size_t rows, size_t cols)
{
    return typed_with(x, NULL, heads, rows, cols);
}

static void run_it(const struct attn_attend_opts *o, const char *show)
{
    struct attn_select *what;
    struct attn_plan plan = {.threads = 2, .kind = o->kind};
    attn_attend_close(a);
    attn_dump_free(got);
    got = NULL;
    ck_assert_msg(!attn_attend_open(&a, o, &err), "%s", err.msg);
    ck_assert_msg(!attn_select_new(&what, attn_attend_model(a), &o->kind, show, NULL, NULL, &err), "%s", err.msg);
    ck_assert_msg(!attn_dump_run(&got, attn_attend_model(a), attn_attend_tokens(a), attn_attend_keys(a), what,
                                 &plan, NULL, &err), "%s", err.msg);
    attn_select_free(what);
}

static void expect_bits(const char *act, const double *x, size_t n, const char *of)
{
    const struct attn_dumped *d = attn_dump_item(got, printed("blocks.0.attn.%s", act));
    ck_assert_msg(d && d->of.n == n && d->of.f64 && !memcmp(d->of.f64, x, n * sizeof *x), "%s of %s", act, of);
}

/* Each number of a float32 run is off by some units in its last place, of terms that may be larger than it: two units
 * of 1 are 2.4e-7.  What is hidden is the same. */
static void expect_near(const char *act, const float *x, size_t n, const char *of)
{
    const struct attn_dumped *d = attn_dump_item(got, printed("blocks.0.attn.%s", act));
    ck_assert_msg(d && d->of.n == n && d->of.f64, "%s of %s", act, of);
    for (size_t i = 0; i < n; i++) {
        const double is = d->of.f64[i], was = (double)x[i];
        ck_assert_msg(is == was || fabs(is - was) <= 1e-6 + 1e-6 * fabs(was),
                      "%s of %s: number %zu is %.17g, in float32 %.9g", act,
                      of, i, is, was);
        ck_assert_msg(was != 0 || strcmp(act, "pattern") || is == 0, "%s of %s: weight %zu is not hidden", act, of, i);
    }
}

/* ---- the same as a run ---- */

static const char *const kinds[] = {"model", "full", "causal", "causal-renorm", "window:2", "strided:2,2",
                                    "random:2,1,0",
                                    "linear", "block:2"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct {
    const char *model, *layer; bool causal; enum attn_scaling scaling; double dropout; const char *cross;
} runs[] = {
    {"life", "0", true, ATTN_SCALE_MODEL, 0, NULL},
    {"tests/golden/checkpoints/llama-f", "1", true, ATTN_SCALE_MODEL, 0, NULL},
    {"life", "0", true, ATTN_SCALE_VALUE, 0, NULL}, {"models/stacked", "0", true, ATTN_SCALE_SQRT, 0.3, NULL},
    {"models/life-full", "0", false, ATTN_SCALE_MODEL, 0, NULL},
};
enum { RUNS = sizeof runs / sizeof *runs };

static int32_t ids[] = {0, 4, 5, 2, 1, 3, 3}, other[] = {2, 5, 1};

/* What a run of a model has of one layer. */
static struct attn_dump *of_model(const char *name, const char *layer, const struct attn_kind *kind, bool cross)
{
    struct attn_model *m;
    struct attn_tokens *tokens, *keys = NULL;
    struct attn_select *what;
    struct attn_dump *d;
    struct attn_plan plan = {.threads = 1, .kind = *kind};
    const char *show = kind->form == ATTN_LINEAR ? "q,k,v,pattern,context" : "q,k,v,dots,scores,pattern,context";
    ck_assert_msg(!attn_model_open(&m, name, &err), "%s", err.msg);
    ck_assert(!attn_tokens_from_ids(&tokens, ids, sizeof ids / sizeof *ids - 1, &err));
    ck_assert(!cross || !attn_tokens_from_ids(&keys, other, sizeof other / sizeof *other, &err));
    ck_assert_msg(!attn_select_new(&what, m, kind, show, layer, NULL, &err), "%s", err.msg);
    ck_assert_msg(!attn_dump_run(&d, m, tokens, keys, what, &plan, NULL, &err), "%s", err.msg);
    attn_select_free(what);
    attn_tokens_free(tokens);
    attn_tokens_free(keys);
    attn_model_close(m);
    return d;
}

/* q, k and v of a run are given; the rest is that of the run. */
static void expect_same(struct attn_dump *ran, const char *layer, const struct attn_attend_opts *o, const char *of)
{
    static const char *const acts[] = {"dots", "scores", "pattern", "context"};
    struct attn_attend_opts with = *o;
    const struct attn_dumped *x[3];
    for (int i = 0; i < 3; i++) {
        x[i] = attn_dump_item(ran, printed("blocks.%s.attn.%c", layer, "qkv"[i]));
        ck_assert_ptr_nonnull(x[i]);
        with.given[i] = typed(x[i]->of.data, x[i]->of.shape[0], x[i]->of.shape[1], x[i]->of.shape[2]);
    }
    bool linear = o->kind.form == ATTN_LINEAR;
    run_it(&with, linear ? "pattern,context" : "dots,scores,pattern,context");
    for (int i = linear ? 2 : 0; i < 4; i++) {
        const struct attn_dumped *d = attn_dump_item(ran, printed("blocks.%s.attn.%s", layer, acts[i]));
        expect_near(acts[i], d->of.data, d->of.n, of);
    }
}

START_TEST(queries_keys_and_values_of_a_run)
{
    int at = _i % RUNS;
    struct attn_kind kind = {.scaling = runs[at].scaling, .scale = 0.37, .dropout = runs[at].dropout,
                             .dropout_seed = 5};
    ck_assert(!attn_kind_parse(&kind, kinds[_i / RUNS], &err));
    if (kind.form == ATTN_LINEAR)
        kind.scaling = ATTN_SCALE_MODEL;
    struct attn_dump *ran = of_model(runs[at].model, runs[at].layer, &kind, false);
    expect_same(ran, runs[at].layer, &(struct attn_attend_opts){.causal = runs[at].causal, .kind = kind},
                printed("%s, %s", runs[at].model, kinds[_i / RUNS]));
    attn_dump_free(ran);
}
END_TEST

START_TEST(another_text)
{
    static const char *const models[] = {"life", "tests/golden/checkpoints/llama-f"};
    struct attn_kind kind = {.form = ATTN_MODEL};
    struct attn_dump *ran = of_model(models[_i], "0", &kind, true);
    expect_same(ran, "0", &(struct attn_attend_opts){.kind = kind}, models[_i]);
    ck_assert(attn_attend_keys(a)->n == 3 && attn_attend_tokens(a)->n == 6);
    attn_dump_free(ran);
}
END_TEST

/* What ALiBi adds, the slope of a head times the position of the key, is a mask; slopes of four heads are
 * powers of 2. */
static const char *alibi(size_t H, size_t T)
{
    static float mask[4 * 6 * 6];
    for (size_t i = 0; i < H * T * T; i++) {
        size_t h = i / (T * T), q = i / T % T, k = i % T;
        mask[i] = k > q ? -INFINITY : ldexpf((float)k, -2 * (int)(h + 1));
    }
    return typed(mask, H, T, T);
}

START_TEST(alibi_and_soft_caps_of_models)
{
    struct attn_kind kind = {.form = ATTN_MODEL};
    struct attn_dump *bloom = of_model("tests/golden/checkpoints/bloom-a", "0", &kind, false),
                     *gemma = of_model("tests/golden/checkpoints/gemma2-a", "0", &kind, false);
    ck_assert_uint_eq(attn_dump_item(bloom, "blocks.0.attn.q")->of.shape[0], 4);
    expect_same(bloom, "0", &(struct attn_attend_opts){.given = {[ATTN_ATTEND_MASK] = alibi(4, 6)}}, "bloom");
    cJSON *config = golden_read("tests/golden/checkpoints/gemma2-a/config.json");
    struct attn_attend_opts o = {.causal = true, .cap = golden_number(config, "attn_logit_softcapping"),
                                 .kind = {.scaling = ATTN_SCALE_VALUE,
                                          .scale = 1 / sqrt(golden_number(config, "query_pre_attn_scalar"))}};
    expect_same(gemma, "0", &o, "gemma2");
    cJSON_Delete(config);
    attn_dump_free(bloom);
    attn_dump_free(gemma);
}
END_TEST

/* ---- the articles' examples ---- */

static const char *const seeds[] = {"00-03-self-attention", "00-06-causal", "00-07-cross-attention",
                                    "00-05-multi-head-4",
                                    "01-02-mha-bias-3-heads", "02-01-simplified", "02-05-causal-attention-d2",
                                    "03-03-multi-head", "03-04-multi-head-narrow-values",
                                    "04-03-simple-causal-batch-0", "04-05-cross", "04-07-cross-linear"};

/* A mask of the article is a matrix, whose bits are those of the kind that hides the same keys. */
START_TEST(examples_of_articles)
{
    struct seed e;
    seed_open(&e, seeds[_i]);
    const struct attn_attention *s = &e.a;
    size_t n = e.Tq * e.Tk;
    float *mask = seed_zeros(n);
    for (size_t i = 0; i < n; i++)
        mask[i] = e.mask ? e.mask[i] != 0 : s->kind.form != ATTN_CAUSAL || i % e.Tk <= i / e.Tk;
    struct attn_kind kind = {.form = s->kind.form == ATTN_LINEAR ? ATTN_LINEAR : ATTN_FULL, .dropout = s->kind.dropout,
                             .dropout_seed = s->kind.dropout_seed, .scaling = ATTN_SCALE_VALUE,
                             .scale = (double)s->scale};
    if (s->kind.scaling)
        kind.scaling = s->kind.scaling;
    struct attn_attend_opts o = {
        .given = {typed(e.q, s->H, e.Tq, s->dh), typed(e.k, s->Hkv, e.Tk, s->dh), typed(e.v, s->Hkv, e.Tk, s->dv)},
            .kind = kind};
    if (kind.form != ATTN_LINEAR)
        o.given[ATTN_ATTEND_MASK] = typed(mask, 1, e.Tq, e.Tk);
    else
        o.kind.scaling = ATTN_SCALE_MODEL;
    run_it(&o, "pattern,context");
    expect_near("pattern", s->pattern, s->H * n, seeds[_i]);
    expect_near("context", e.joined, s->H * e.Tq * s->dv, seeds[_i]);
    free(mask);
    seed_close(&e);
}
END_TEST

START_TEST(a_query_that_sees_nothing)
{
    struct seed e;
    seed_open(&e, "04-06-mask-with-empty-row");
    float *mask = seed_zeros(e.Tq * e.Tk);
    for (size_t i = 0; i < e.Tq * e.Tk; i++)
        mask[i] = e.mask[i];
    struct attn_attend_opts o = {.given = {[ATTN_ATTEND_Q] = typed(e.q, e.a.H, e.Tq, e.a.dh),
                                           [ATTN_ATTEND_K] = typed(e.k, e.a.Hkv, e.Tk, e.a.dh),
                                           [ATTN_ATTEND_MASK] = typed(mask, 1, e.Tq, e.Tk)}};
    ck_assert_int_eq(attn_attend_open(&a, &o, &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, "sees none of the") && strstr(err.msg, "give it as --hide"), "%s", err.msg);
    free(mask);
    seed_close(&e);
}
END_TEST

/* ---- other ways to give the same ---- */

#define QK .given = {"1 0 2 1; 0 1 1 3; 2 2 0 1", "1 1; 0 2; 3 1", "1 2 3; 4 5 6; 7 8 10"}, .heads = 2
static double pattern[18], context[18];

static void keep(double *to, const char *act, size_t n)
{
    const struct attn_dumped *d = attn_dump_item(got, printed("blocks.0.attn.%s", act));
    ck_assert_uint_eq(d->of.n, n);
    memcpy(to, d->of.f64, n * sizeof *to);
}

static void expect_again(const struct attn_attend_opts *o, const char *of)
{
    run_it(o, "pattern,context");
    expect_bits("pattern", pattern, 18, of);
    expect_bits("context", context, 18, of);
}

START_TEST(the_same_in_other_words)
{
    double scores[18], dots[18];
    run_it(&(struct attn_attend_opts){QK, .kind = {.form = ATTN_CAUSAL}}, "dots,scores,pattern,context");
    keep(pattern, "pattern", 18);
    keep(context, "context", 18);
    keep(scores, "scores", 18);
    keep(dots, "dots", 18);
    expect_again(&(struct attn_attend_opts){QK, .causal = true}, "a causal model");
    struct attn_attend_opts o = {QK};
    o.given[ATTN_ATTEND_MASK] = "1 0 0; 1 1 0; 1 1 1";
    expect_again(&o, "a mask of 0 and 1");
    o.given[ATTN_ATTEND_MASK] = "0 -inf -inf; 0 0 -inf; 0 0 0";
    expect_again(&o, "a mask that is added");
    o.given[ATTN_ATTEND_MASK] = "0 1 1; 0 0 1; 0 0 0";
    o.hides = true;
    expect_again(&o, "a mask that hides");
    /* the values of two heads that share them, once for each */
    expect_again(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_V] = "1 2 3 1 2 3; 4 5 6 4 5 6; 7 8 10 7 8 10",
                                                      [ATTN_ATTEND_SCORES] = typed_with(NULL, scores, 2, 3, 3)}},
                                                      "scores");
    expect_again(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_V] = "1 2 3 1 2 3; 4 5 6 4 5 6; 7 8 10 7 8 10",
                                                      [ATTN_ATTEND_DOTS] = typed_with(NULL, dots, 2, 3, 3)},
                                            .kind = {.form = ATTN_CAUSAL, .scaling = ATTN_SCALE_VALUE,
                                                     .scale = 1 / sqrt(2)}},
                 "dots");
    expect_again(&(struct attn_attend_opts){
        .given = {"[[[1, 0], [0, 1], [2, 2]], [[2, 1], [1, 3], [0, 1]]]", "[[1, 1], [0, 2], [3, 1]]",
                  "1 2 3; 4 5 6; 7 8 10"},
        .kind = {.form = ATTN_CAUSAL}}, "heads as an axis");
}
END_TEST

/* x times weights: [in, out], [out, in], a matrix for each head. */
START_TEST(inputs_and_weights)
{
    static const char x[] = "1 0; 0 1; 1 1", wq[] = "1 0 2 1; 0 1 1 3", wk[] = "1 1; 0 2", wv[] = "1 2 3; 4 5 6";
    run_it(&(struct attn_attend_opts){.given = {"1 0 2 1; 0 1 1 3; 1 1 3 4", "1 1; 0 2; 1 3", "1 2 3; 4 5 6; 5 7 9"},
                                      .heads = 2},
           "pattern,context");
    keep(pattern, "pattern", 18);
    keep(context, "context", 18);
    expect_again(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_X] = x, [ATTN_ATTEND_WQ] = wq, [ATTN_ATTEND_WK] = wk,
                                                      [ATTN_ATTEND_WV] = wv}, .heads = 2}, "weights");
    ck_assert_ptr_null(attn_attend_keys(a));
    expect_again(&(struct attn_attend_opts){
        .given = {[ATTN_ATTEND_X] = x, [ATTN_ATTEND_WQ] = "1 0; 0 1; 2 1; 1 3", [ATTN_ATTEND_WK] = "1 0; 1 2",
                  [ATTN_ATTEND_WV] = "1 4; 2 5; 3 6"}, .heads = 2, .transposed = true}, "transposed weights");
    expect_again(&(struct attn_attend_opts){
        .given = {[ATTN_ATTEND_X] = x, [ATTN_ATTEND_WQ] = "[[[1, 0], [0, 1]], [[2, 1], [1, 3]]]",
                  [ATTN_ATTEND_WK] = wk, [ATTN_ATTEND_WV] = wv}}, "weights of each head");
    expect_again(&(struct attn_attend_opts){
        .given = {[ATTN_ATTEND_X] = x, [ATTN_ATTEND_WQ] = wq, [ATTN_ATTEND_K] = "1 1; 0 2; 1 3",
                  [ATTN_ATTEND_CROSS] = x, [ATTN_ATTEND_WV] = wv}, .heads = 2}, "another text");
    ck_assert(attn_attend_keys(a)->n == 3);
}
END_TEST

/* There are no files to save or to put into a page. */
START_TEST(no_model_to_keep)
{
    ck_assert(!attn_attend_open(&a, &(struct attn_attend_opts){.given = {"1 0; 0 1", "1 1; 0 2"}}, &err));
    ck_assert_int_eq(attn_model_save(attn_attend_model(a), scratch_path("m"), NULL, NULL, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, "made of numbers that were given"), "%s", err.msg);
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

START_TEST(rows_alone)
{
    static const char x[] = "1 0 2; 0 1 1; 1 1 0", y[] = "1 1 1; 2 0 1";
    struct attn_kind none = {.scaling = ATTN_SCALE_NONE};
    run_it(&(struct attn_attend_opts){.given = {x, x, x}, .kind = none}, "pattern,context");
    keep(pattern, "pattern", 9);
    keep(context, "context", 9);
    run_it(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_X] = x}, .kind = none}, "embed,pattern,context");
    expect_bits("pattern", pattern, 9, "x");
    expect_bits("context", context, 9, "x");
    ck_assert_str_eq(attn_attend_about(a), "x [3, 3]: pattern [1, 3, 3], context [3, 3]");
    run_it(&(struct attn_attend_opts){.given = {x, y, y}, .kind = none}, "pattern");
    keep(pattern, "pattern", 6);
    run_it(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_X] = x, [ATTN_ATTEND_CROSS] = y}, .kind = none},
           "pattern");
    expect_bits("pattern", pattern, 6, "x and another text");
}
END_TEST

/* Positions count from 0 in both: query 1 of 2 sees keys 0 and 1 of 4. */
START_TEST(kinds_with_other_keys)
{
    struct attn_attend_opts o = {.given = {"1 0; 0 1", "1 1; 0 2; 3 1; 1 0", "1; 2; 4; 8"},
                                 .kind = {.form = ATTN_CAUSAL}};
    run_it(&o, "pattern");
    const float *p = attn_dump_item(got, "blocks.0.attn.pattern")->of.data;
    ck_assert(p[0] == 1 && p[1] == 0 && p[4] > 0 && p[5] > 0 && p[6] == 0 && p[7] == 0);
    float weights[8], mixed[2];
    struct attn_attention plain = {.batch = 1, .H = 1, .Hkv = 1, .Tq = 2, .Tk = 4, .dh = 2, .dv = 1, .pattern = weights,
                                   .scale = (float)(1 / sqrt(2)), .threads = 1, .kind = {.causal = true}};
    static const float q[] = {1, 0, 0, 1}, k[] = {1, 1, 0, 2, 3, 1, 1, 0}, v[] = {1, 2, 4, 8};
    for (int i = 1; i < KINDS; i++) {
        ck_assert(!attn_kind_parse(&plain.kind, kinds[i], &err));
        o.kind = plain.kind;
        o.causal = true;
        run_it(&o, "pattern,context");
        ck_assert_msg(!attn_attention(mixed, q, k, v, &plain, &err), "%s", err.msg);
        expect_near("pattern", weights, 8, kinds[i]);
        expect_near("context", mixed, 2, kinds[i]);
    }
}
END_TEST

/* A soft cap, and what ALiBi adds as a mask: as the definition has it, within double precision's rounding. */
START_TEST(soft_caps_and_added_scores)
{
    run_it(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_DOTS] = "3 1; -2 5", [ATTN_ATTEND_MASK] = "0 0.5; 0 -inf"},
                                      .kind = {.scaling = ATTN_SCALE_NONE}, .cap = 2}, "scores");
    const double *s = attn_dump_item(got, "blocks.0.attn.scores")->of.f64;
    const double expected[] = {2 * tanh(1.5), 2 * tanh(0.5) + 0.5, 2 * tanh(-1)};
    for (int i = 0; i < 3; i++)
        ck_assert_double_le(fabs(s[i] - expected[i]), 1e-15);
    ck_assert(s[3] == -INFINITY);
}
END_TEST

START_TEST(names_of_rows)
{
    struct attn_attend_opts o = {.given = {"1 0; 0 1", "1 1; 0 2"}, .names = " Life  is "};
    run_it(&o, "pattern");
    const struct attn_tokens *t = attn_attend_tokens(a);
    ck_assert(t->n == 2 && t->tok[1].text_len == 2 && !memcmp(t->tok[1].text, "is", 2) && !attn_attend_keys(a));
    ck_assert_str_eq(attn_attend_about(a), "q [2, 2], k [2, 2]: pattern [1, 2, 2]");
    o.key_names = "a b";
    run_it(&o, "pattern");
    ck_assert(attn_attend_keys(a) && attn_attend_keys(a)->tok[1].text[0] == 'b');
    scratch_put(scratch_path("q.csv"), ",0,1\nx,1,0\ny,0,1\n", 17);
    o = (struct attn_attend_opts){.given = {scratch_path("q.csv"), "1 1; 0 2"}};
    run_it(&o, "pattern");
    ck_assert(attn_attend_tokens(a)->tok[1].text[0] == 'y' && !attn_attend_keys(a));
}
END_TEST

/* ---- what does not fit ---- */

static const struct { struct attn_attend_opts o; enum attn_status code; const char *why; } misfits[] = {
    {{.kind = {.dropout = 0}}, ATTN_EUSAGE, "attention of what? give --q and --k"},
    {{.given = {"1 0"}}, ATTN_EUSAGE, "there are queries and no keys: give --k, or --x and --wk"},
    {{.given = {NULL, "1 0"}}, ATTN_EUSAGE, "there are keys and no queries: give --q"},
    {{.given = {"1 0; 0 1", "1 2 3"}}, ATTN_EFORMAT,
     "--k [1, 3] has vectors of 3 numbers, and --q [2, 2] of 2: q·k needs as many"},
    {{.given = {"1 0 1; 0 1 1", "1 2"}, .heads = 2}, ATTN_EFORMAT,
     "--q [2, 3]: its 3 columns cannot be divided among 2 heads"},
    {{.given = {"1 0 1 0 1 0", "1 2 1 2", NULL}, .heads = 3}, ATTN_EFORMAT,
     "--k [1, 4]: 3 query heads cannot share 2 heads of keys and values evenly"},
    {{.given = {"[[[1, 0]], [[1, 0]]]", "1 2"}, .heads = 3}, ATTN_EFORMAT,
     "--q [2, 1, 2]: expected 3 heads, as --heads says"},
    {{.given = {"1 0", "1 2; 3 4", "1 2 3"}}, ATTN_EFORMAT, "--v [1, 3]: there is 1 value, and 2 keys by --k [2, 2]"},
    {{.given = {"1 0", "1 2; 3 4", "[[[1], [2]], [[1], [2]]]"}}, ATTN_EFORMAT, "--v [2, 2, 1]: expected 1 head"},
    {{.given = {"1 0", "1 2; 3 4", NULL, NULL, NULL, "1 1 1"}}, ATTN_EFORMAT,
     "--mask [1, 3]: there are 1 query and 2 keys: expected [1, 2]"},
    {{.given = {"1 0; 0 1", "1 2; 3 4", NULL, NULL, NULL, "1 1; 0 0"}}, ATTN_EFORMAT,
     "--mask [2, 2]: query 1 of head 0 sees none of the 2 keys"},
    {{.given = {"1 0; 0 1", "1 2; 3 4", NULL, NULL, NULL, "0 1; 1 1"}, .kind = {.form = ATTN_CAUSAL}}, ATTN_EFORMAT,
     "--mask [2, 2]: query 0 of head 0 sees none"},
    {{.given = {"1; 1; 1", "1"}, .kind = {.form = ATTN_WINDOW, .w = 1}}, ATTN_EFORMAT,
     "query 1 of head 0 sees none of the 1 key"},
    {{.given = {[ATTN_ATTEND_SCORES] = "1 2; -inf -inf"}}, ATTN_EFORMAT,
     "--scores [2, 2]: query 1 of head 0 sees none"},
    {{.given = {"1 nan", "1 2"}}, ATTN_EFORMAT, "--q [1, 2]: row 0, column 1 is nan: expected a finite number"},
    {{.given = {"1 -inf", "1 2"}}, ATTN_EFORMAT, "row 0, column 1 is -inf"},
    {{.given = {"1 1e309", "1 2"}}, ATTN_EFORMAT, "row 0, column 1 is inf"},
    {{.given = {[ATTN_ATTEND_SCORES] = "1 inf"}}, ATTN_EFORMAT, "is inf: expected a finite number, or -inf"},
    {{.given = {"[[[[1]]], [[[2]]]]", "1"}}, ATTN_EFORMAT,
     "--q [2, 1, 1, 1]: expected rows, [T, n], or those of each head"},
    {{.given = {"1", "2", NULL, NULL, "3"}}, ATTN_EUSAGE, "--scores and --q: scores are q·k, scaled, already"},
    {{.given = {"1", [ATTN_ATTEND_WQ] = "1"}}, ATTN_EUSAGE, "--q and --wq: both give the queries"},
    {{.given = {[ATTN_ATTEND_WQ] = "1", [ATTN_ATTEND_WK] = "1"}}, ATTN_EUSAGE,
     "--wq multiplies the rows of a text: give them with"},
    {{.given = {[ATTN_ATTEND_X] = "1 0 1; 0 1 1", [ATTN_ATTEND_WQ] = "1 0 0; 0 1 1",
                [ATTN_ATTEND_WK] = "1 0 1; 0 1 1"}},
     ATTN_EFORMAT, "--wq [2, 3] takes rows of 2 numbers, and those of --x [2, 3] have 3; if it is [out, in]"},
    {{.given = {[ATTN_ATTEND_X] = "1 0", [ATTN_ATTEND_CROSS] = "1 0 1", [ATTN_ATTEND_WQ] = "1; 0",
                [ATTN_ATTEND_WK] = "1; 0"}},
     ATTN_EFORMAT, "--cross [1, 3]: expected rows of 2 numbers, as --x [1, 2] has"},
    {{.given = {[ATTN_ATTEND_X] = "1 0", [ATTN_ATTEND_CROSS] = "1 0", [ATTN_ATTEND_SCORES] = "1"}}, ATTN_EUSAGE,
     "--cross gives the rows that keys and values are made of"},
    {{.given = {[ATTN_ATTEND_DOTS] = "1 2"}}, ATTN_EUSAGE, "--dots do not tell how wide queries and keys are"},
    {{.given = {[ATTN_ATTEND_SCORES] = "1 2"}, .kind = {.scaling = ATTN_SCALE_NONE}}, ATTN_EUSAGE,
     "--scores are what the softmax reads, after the scale"},
    {{.given = {[ATTN_ATTEND_SCORES] = "1 2; 3 4"}, .heads = 2}, ATTN_EFORMAT,
     "expected [2, queries, keys], a matrix for each head"},
    {{.given = {"1", "2", NULL, NULL, NULL, "1"}, .kind = {.form = ATTN_LINEAR}}, ATTN_EUSAGE,
     "--mask with linear attention, which has no scores"},
    {{.given = {"1", "2", NULL, NULL, NULL, "0.5"}, .hides = true}, ATTN_EFORMAT, "--hide [1, 1]: expected 0 and 1"},
    {{.given = {"1 0", "1 2"}, .names = "a b"}, ATTN_EFORMAT, "--names: found 2 words, expected 1, one for each row"},
    {{.given = {"-", "-"}}, ATTN_EUSAGE, "--q and --k: only one can be standard input"},
    {{.given = {"1", "2", "1 2", [ATTN_ATTEND_WO] = "1"}}, ATTN_EFORMAT,
     "--wo [1, 1] takes rows of 1 numbers, and context vectors have 2"},
    {{.given = {"1", "2", [ATTN_ATTEND_WO] = "1"}}, ATTN_EUSAGE,
     "--wo multiplies context vectors, for which there are no values"},
    {{.given = {"1", "2", "3", [ATTN_ATTEND_BO] = "1"}}, ATTN_EUSAGE,
     "--bo is added to the products with --wo: give that, too"},
    {{.given = {"1", "2", "3", [ATTN_ATTEND_BQ] = "1"}}, ATTN_EUSAGE,
     "--bq is added to the products with --wq: give that, too"},
    {{.given = {"1", "2", "3", [ATTN_ATTEND_WO] = "1 2", [ATTN_ATTEND_BO] = "1"}}, ATTN_EFORMAT,
     "--bo [1, 1]: expected 2 numbers"},
    {{.given = {"1", "2"}, .late = true, .kind = {.form = ATTN_LINEAR}}, ATTN_EUSAGE,
     "linear attention has no softmax"},
    {{.given = {"1", "2"}, .late = true, .kind = {.form = ATTN_CAUSAL_RENORM}}, ATTN_EUSAGE,
     "--mask-weights leaves weights undivided"},
    {{.given = {"1", "2", NULL, NULL, NULL, "0.5"}, .late = true}, ATTN_EFORMAT,
     "with --mask-weights expected 0 and 1"},
};

/* What goes wrong only with the numbers. */
START_TEST(numbers_that_lead_nowhere)
{
    static const struct { struct attn_attend_opts o; const char *why; } all[] = {
        {{.given = {"1e200", "1e200"}}, "a dot product is larger than double precision holds"},
        {{.given = {[ATTN_ATTEND_SCORES] = "1 -1"}, .weights = ATTN_WEIGHTS_SUM}, "its scores add up to 0"}};
    for (int i = 0; i < 2; i++) {
        struct attn_plan plan = {.threads = 1};
        struct attn_select *what;
        ck_assert(!attn_attend_open(&a, &all[i].o, &err));
        ck_assert(!attn_select_new(&what, attn_attend_model(a), &plan.kind, "pattern", NULL, NULL, &err));
        ck_assert_int_eq(attn_dump_run(&got, attn_attend_model(a), attn_attend_tokens(a), attn_attend_keys(a), what,
                                       &plan, NULL, &err),
                         ATTN_EFORMAT);
        ck_assert_msg(strstr(err.msg, all[i].why), "%s", err.msg);
        attn_select_free(what);
        attn_attend_close(a);
        a = NULL;
    }
}
END_TEST

/* Weights in other ways: scores divided by their sum, 0.5 of 2 among them; masks that come last; outputs and biases. */
START_TEST(weights_in_other_ways)
{
    run_it(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_SCORES] = "0.5 1.5; 3 -inf"}, .weights = ATTN_WEIGHTS_SUM},
           "pattern");
    expect_bits("pattern", (const double[]){0.25, 0.75, 1, 0}, 4, "scores");
    run_it(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_SCORES] = "1 1; 2 2"}, .causal = true, .late = true},
           "scores,pattern");
    expect_bits("scores", (const double[]){1, 1, 2, 2}, 4, "a late mask");
    expect_bits("pattern", (const double[]){0.5, 0, 0.5, 0.5}, 4, "a late mask");
    run_it(&(struct attn_attend_opts){.given = {[ATTN_ATTEND_X] = "1 0; 0 1", [ATTN_ATTEND_WQ] = "0 0; 0 0",
                                                [ATTN_ATTEND_WK] = "1; 1",
                                                [ATTN_ATTEND_WV] = "2; 4", [ATTN_ATTEND_WO] = "1 10; 100 1000",
                                                [ATTN_ATTEND_BK] = "7", [ATTN_ATTEND_BV] = "1",
                                                [ATTN_ATTEND_BO] = "0.5 -0.5"},
                                      .heads = 2}, "k,v,context,blocks.0.attn.out");
    expect_bits("k", (const double[]){8, 8}, 2, "a bias");
    expect_bits("v", (const double[]){3, 5}, 2, "a bias");
    expect_bits("context", (const double[]){4, 4, 4, 4}, 4, "two heads");
    expect_bits("out", (const double[]){404.5, 4039.5, 404.5, 4039.5}, 4, "two heads");
    run_it(&(struct attn_attend_opts){.given = {"0", "0; 0", "2; 4", [ATTN_ATTEND_WO] = "1; 10"}, .transposed = true},
           "blocks.0.attn.out");
    expect_bits("out", (const double[]){3, 30}, 2, "transposed weights");
}
END_TEST

/* An edit would be one of numbers that somebody gives. */
static unsigned edits(void *self, int act, int layer)
{
    (void)self;
    return act == ATTN_ACT_Q && layer == 0 ? ATTN_EDIT : 0;
}
START_TEST(given_numbers_are_not_edited)
{
    struct attn_observer o = {.wants = edits};
    struct attn_plan plan = {.threads = 1, .rows = 1, .seqs = 1};
    struct attn_run *run;
    ck_assert(!attn_attend_open(&a, &(struct attn_attend_opts){.given = {"1", "2"}}, &err));
    ck_assert_int_eq(attn_run_tokens(attn_attend_model(a), &plan, attn_attend_tokens(a), NULL, &o, 1, &err),
                     ATTN_EUSAGE);
    ck_assert_int_eq(attn_run_new(&run, attn_attend_model(a), &plan, NULL, 0, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, "attn_run_tokens"), "%s", err.msg);
}
END_TEST

START_TEST(numbers_that_do_not_fit)
{
    int rc = attn_attend_open(&a, &misfits[_i].o, &err);
    ck_assert_ptr_null(a);
    ck_assert_msg(rc == (int)misfits[_i].code && strstr(err.msg, misfits[_i].why), "%d '%s' lacks '%s'", rc, err.msg,
                  misfits[_i].why);
}
END_TEST

/* What the numbers are of is no text of that length. */
START_TEST(other_tokens_are_refused)
{
    struct attn_tokens *t;
    struct attn_plan plan = {.threads = 1};
    ck_assert(!attn_attend_open(&a, &(struct attn_attend_opts){.given = {"1 0; 0 1", "1 1; 0 2; 1 0"}}, &err));
    ck_assert(!attn_tokens_from_ids(&t, ids, 1, &err));
    ck_assert_int_eq(attn_run_tokens(attn_attend_model(a), &plan, t, NULL, NULL, 0, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, "numbers of 2 queries and 3 keys"), "%s", err.msg);
    attn_tokens_free(t);
}
END_TEST

Suite *suite_attend(void)
{
    Suite *s = suite_create("attend");
    TCase *c = tcase_create("attend");
    tcase_add_checked_fixture(c, scratch_make, end);
    tcase_add_loop_test(c, queries_keys_and_values_of_a_run, 0, KINDS * RUNS);
    tcase_add_loop_test(c, another_text, 0, 2);
    tcase_add_test(c, alibi_and_soft_caps_of_models);
    tcase_add_loop_test(c, examples_of_articles, 0, sizeof seeds / sizeof *seeds);
    tcase_add_test(c, a_query_that_sees_nothing);
    tcase_add_test(c, the_same_in_other_words);
    tcase_add_test(c, inputs_and_weights);
    tcase_add_test(c, no_model_to_keep);
    tcase_add_test(c, rows_alone);
    tcase_add_test(c, kinds_with_other_keys);
    tcase_add_test(c, soft_caps_and_added_scores);
    tcase_add_test(c, names_of_rows);
    tcase_add_loop_test(c, numbers_that_do_not_fit, 0, sizeof misfits / sizeof *misfits);
    tcase_add_test(c, other_tokens_are_refused);
    tcase_add_test(c, numbers_that_lead_nowhere);
    tcase_add_test(c, weights_in_other_ways);
    tcase_add_test(c, given_numbers_are_not_edited);
    suite_add_tcase(s, c);
    return s;
}
