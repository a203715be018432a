/* test_bench.c - the command bench, and the stages that tests/bench measures.  What they measure depends on the
 * machine; that it adds up can be tested. */
#include "suites.h"

#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include "compute/bf16.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAGES "\"$(dirname \"$A\")/bench-stages\" "
#define BENCH STAGES "-q --seconds 0.001 "

/* Makes a small model that takes a thousand tokens and predicts the next. */
static void set_up(void)
{
    shell_set_up();
    expect("\"$A\" init -q -o \"$D/m\" --vocab-size 40 --n-ctx 1100 --n-layer 2 --n-head 4 --n-kv-head 2 --d-model 16 "
           "--d-mlp 32 --mlp gelu_new --norm layernorm --position learned --residual true --output-projection true "
           "--unembed true --dtype BF16", 0, "");
}

static cJSON *measure(const char *options)
{
    char line[512];
    snprintf(line, sizeof line, BENCH "--format json %s", options);
    const struct said *s = sh(line);
    cJSON *j = cJSON_ParseWithLength(s->text, s->len);
    ck_assert_msg(s->status == 0 && j, "%s\nended with %d and said:\n%s", line, s->status, s->text);
    return j;
}

static const cJSON *named(const cJSON *list, const char *name)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, list)
        if (!strcmp(golden_string(row, "name"), name))
            return row;
    return NULL;
}

static void ck_row(const cJSON *row)
{
    double limit = golden_number(row, "limit"), ratio = golden_number(row, "ratio"),
        value = golden_number(row, "value");
    ck_assert(value > 0 && limit > 0 && golden_number(row, "seconds") > 0 && golden_number(row, "runs") >= 3);
    ck_assert_double_eq_tol(ratio, value / limit, 1e-9 * ratio);       /* printing and reading back */
    ck_assert_int_ge((int)golden_number(row, "threads"), 1);
    ck_assert_ptr_nonnull(golden_string(row, "unit"));
    const cJSON *share = cJSON_GetObjectItem(row, "libxsmm");
    bool multiplies = strstr(golden_string(row, "name"), ".f32.") || strstr(golden_string(row, "name"), "batch");
    ck_assert(multiplies ? cJSON_IsNumber(share) && share->valuedouble >= 0 && share->valuedouble <= 1 : share != NULL);
}

static const char *const built_in[] = {
    "prefill.f32.T32", "prefill.f32.T32.watched", "batch.100", "tokenize", "csv", "npy", "startup", "startup.sentence",
    "startup.model"};
static const char *const not_built_in[] = {"prefill.f32.T128", "prefill.f32.T1024.watched", "decode.f32.ctx128",
                                           "decode.bf16.ctx900"};

START_TEST(the_built_in_model)
{
    cJSON *j = measure("-t 2");
    const cJSON *stages = golden_get(j, "stages"), *left_out = golden_get(j, "left_out"), *row;
    cJSON_ArrayForEach(row, stages)
        ck_row(row);
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++)
        ck_assert_msg(named(stages, built_in[i]) && !named(left_out, built_in[i]), "%s", built_in[i]);
    for (size_t i = 0; i < sizeof not_built_in / sizeof *not_built_in; i++) {
        row = named(left_out, not_built_in[i]);
        ck_assert_msg(row && !named(stages, not_built_in[i]), "%s", not_built_in[i]);
        ck_assert(*golden_string(row, "reason"));
    }
    cJSON_Delete(j);
}
END_TEST

START_TEST(the_machine)
{
    cJSON *j = measure("-t 1 --stage batch.100,csv");
    const cJSON *machine = golden_get(j, "machine"), *limits = golden_get(machine, "limits");
    ck_assert(*golden_string(machine, "cpu") && *golden_string(machine, "target"));
    ck_assert(golden_number(machine, "threads") >= 1 && golden_number(machine, "buffer") > 0);
    golden_number(machine, "caches");
    ck_assert_int_eq(cJSON_GetArraySize(limits), 1);
    const cJSON *one = cJSON_GetArrayItem(limits, 0);
    ck_assert(golden_number(one, "threads") == 1 && golden_number(one, "f32") > 0 &&
              golden_number(one, "products") > 0 && golden_number(one, "write") > 0);
    ck_assert(golden_number(one, "read") > 0);
    ck_assert_ptr_null(golden_find(one, "bf16"));       /* no stage that was measured is compared with it */
    ck_assert_ptr_null(golden_find(one, "bf16_products"));
    cJSON_Delete(j);
}
END_TEST

/* The roof of a pass is what its arithmetic or its memory allows.  A model of 3 KB is read from the nearest cache, so
 * for 1024 tokens only arithmetic counts; as its heads are small, the softmax takes up to 20 times as long as the
 * products.  In bf16 all but the layers' products is the same, so that the roof is as high at least.  Tolerance: limits
 * are measured twice, on a machine that others use, such as the suite that runs beside this one.  That only makes them
 * lower: so a pair that is too far apart is measured again. */
START_TEST(a_roof_is_made_of_limits)
{
    enum { TRIES = 5 };
    cJSON *j = NULL;
    for (int i = 0; i < TRIES; i++) {
        cJSON_Delete(j);
        j = measure("-m \"$D/m\" -t 1 --stage 'prefill.f32.T1024,prefill.bf16.T1024'");
        const cJSON *s = golden_get(j, "stages");
        if (golden_number(named(s, "prefill.bf16.T1024"),
                          "limit") > golden_number(named(s, "prefill.f32.T1024"), "limit") / 3)
            break;
    }
    const cJSON *stages = golden_get(j, "stages"),
        *one = cJSON_GetArrayItem(golden_get(golden_get(j, "machine"), "limits"), 0);
    double f32 = golden_number(named(stages, "prefill.f32.T1024"), "limit"), products = golden_number(one, "products");
    double bf16 = golden_number(named(stages, "prefill.bf16.T1024"), "limit"),
        pairs = golden_number(one, "bf16_products");
    ck_assert_msg(f32 > 0.01 * products && f32 < 3 * products, "%g of %g", f32, products);
    ck_assert_msg(bf16 > f32 / 3 && bf16 < 3 * pairs, "%g, in float32 %g, of %g", bf16, f32, pairs);
    cJSON_Delete(j);
}
END_TEST

/* value * seconds is the amount of work.  Tolerance: the median of a quantity times that of its inverse is only close
 * to it, when the median is the mean of two samples. */
static void ck_amount(const cJSON *stages, const char *name, double scale, double expected)
{
    const cJSON *row = named(stages, name);
    ck_assert_msg(row, "%s", name);
    ck_row(row);
    double amount = scale * golden_number(row, "value") * golden_number(row, "seconds");
    ck_assert_msg(fabs(amount / expected - 1) < 0.2, "%s: %g done, expected %g", name, amount, expected);
}

START_TEST(what_is_counted)
{
    cJSON *j = measure("-m \"$D/m\" -t 1 --stage 'prefill.f32.T*,decode.*,train.16'");
    const cJSON *stages = golden_get(j, "stages");
    /* later: than attention */
    double later = 16 * 16 + 2 * 16 * 32, block = 16 * 16 + 2 * 16 * 8 + later, logits = 16 * 40;
    static const int T[] = {32, 128, 512, 1024};
    for (size_t i = 0; i < sizeof T / sizeof *T; i++) {
        double flops = 2.0 * T[i] * 2 * block - 2 * (T[i] - 1) * later + 8.0 * 4 * 2 * T[i] * (T[i] + 1) + 2 * logits;
        ck_amount(stages, printed("prefill.f32.T%d", T[i]), 1e9, flops);
        ck_amount(stages, printed("prefill.f32.T%d.watched", T[i]), 1e9, flops);
    }
    ck_amount(stages, "train.16", 1e9, 3 * 16 * (2.0 * 256 * (2 * block + logits) + 8.0 * 4 * 2 * 256 * 257));
    double weights = 2 * (2 * block + logits), token = 2 * 2 * (4 + 4) * 4;      /* bytes; of 2 heads in 2 layers */
    ck_amount(stages, "decode.bf16.ctx128", 1e9, weights + 131 * token);
    ck_amount(stages, "decode.bf16.ctx900", 1e9, weights + 903 * token);
    ck_assert(named(golden_get(j, "left_out"), "decode.f32.ctx128"));
    cJSON_Delete(j);
    /* 3 layers of 4 heads, 2 for keys and values, each 12 wide, and an MLP of three matrices; two with a window
     * of 6 keys */
    double after = 48 * 32 + 3 * 48 * 32, gated = 3 * (32 * (4 * 12 + 2 * 24) + after), pairs = 528 + 2 * (21 + 26 * 6);
    j = measure("-m tests/golden/checkpoints/gemma2-a -t 1 --stage prefill.f32.T32");
    const cJSON *row = named(golden_get(j, "stages"), "prefill.f32.T32");
    double flops = 2 * 32 * gated - 2 * 31 * after + 2 * 24 * 4 * pairs + 2 * 32 * 64;
    ck_assert_double_eq_tol(1e9 * golden_number(row, "value") * golden_number(row, "seconds"), flops, 1);
    cJSON_Delete(j);
}
END_TEST

/* Numbers of 16 bits are copied for products in bf16 alone, and not on every machine; float32 is. */
START_TEST(copied_weights)
{
    static const char *const names[] = {"prefill.f32.T32.copied", "prefill.f32.T128.copied", "prefill.f32.T512.copied",
                                        "prefill.f32.T1024.copied", "prefill.bf16.T32.copied",
                                        "prefill.bf16.T128.copied",
                                        "prefill.bf16.T512.copied", "prefill.bf16.T1024.copied"};
    cJSON *j = measure("-m \"$D/m\" -t 1 --stage 'prefill.*.copied'");
    const cJSON *stages = golden_get(j, "stages"), *left_out = golden_get(j, "left_out");
    const size_t count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++) {
        const cJSON *row = named(left_out, names[i]);
        if (i < count / 2 || attn_bf16_kind() == ATTN_BF16_FLOATS)
            ck_assert_str_eq(golden_string(row, "reason"), "a run does not copy these weights on this machine");
        else
            ck_assert(!row);
        ck_assert(!row == !!named(stages, names[i]));
    }
    cJSON_Delete(j);
    expect("\"$A\" init -q -o \"$D/f32\" --vocab-size 40 --n-ctx 128 --n-layer 1 --n-head 2 --d-model 16", 0, "");
    j = measure("-m \"$D/f32\" -t 1 --stage 'prefill.f32.*.copied'");
    ck_row(named(golden_get(j, "stages"), "prefill.f32.T128.copied"));
    ck_assert_str_eq(golden_string(named(golden_get(j, "left_out"), "prefill.f32.T512.copied"), "reason"),
                     "the model takes fewer tokens (n_ctx)");
    cJSON_Delete(j);
}
END_TEST

START_TEST(a_table)
{
    expect(BENCH "-t 1 --stage batch.100", 0, "GFLOP/s");
    expect(STAGES "--seconds 0.001 -t 1 --stage 'prefill.f32.T128*' 2>&1 | grep '^left out'", 0,
           "left out, the model takes fewer tokens (n_ctx): prefill.f32.T128, prefill.f32.T128.watched, "
           "prefill.f32.T128.copied\n");
    expect_exactly(BENCH "-t 1 --stage startup 2>&1 >/dev/null", "");  /* progress is only shown on a terminal */
}
END_TEST

START_TEST(wrong_usage)
{
    expect(BENCH "--stage prefil.f32.T32 2>&1", 2, "no stage 'prefil.f32.T32', the nearest is 'prefill.f32.T32'");
    expect(BENCH "--stage 'csv,' 2>&1", 2, "no stage ''");
    expect(BENCH "--seconds -1 2>&1", 2, "--seconds: -1 is below 0");
    expect(BENCH "--seconds x 2>&1", 2, "'x' is not a number");
    expect(BENCH "-t 0 2>&1", 2, "--threads: 0 is not in 1..1024");
    expect(BENCH "--format csv 2>&1", 2, "unknown value 'csv'");
    expect(BENCH "-s hello 2>&1", 2, "unknown option '-s'");
    expect(BENCH "-m ./nowhere 2>&1", 1, "nowhere");
}
END_TEST

/* When it is stopped in the middle, it removes its files and ends by the signal. */
START_TEST(a_signal_leaves_nothing)
{
    expect_exactly(STAGES "-q --seconds 20 --stage npy >/dev/null & p=$!;"
                   "there() { set -- {/dev/shm,${TMPDIR:-/tmp}}/attn-bench-$p-*; test -d \"$1\" || test -d \"$2\"; };"
                   "until there; do sleep 0.01; done; kill -TERM $p; ends 143 wait $p 2>/dev/null; ends 1 there", "");
}
END_TEST

/* ---- the command ------------------------------------------------------------------------- */

/* What there is no room for is left out, as are the next tokens of a model that predicts none. */
START_TEST(what_a_model_can)
{
    static const char *const all[] = {
        "a text of 32 tokens", "a text of 128 tokens", "a text of 512 tokens", "a text of 1024 tokens",
        "a text of 32 tokens", "a text of 128 tokens", "a text of 512 tokens", "a text of 1024 tokens",
        "the next token after 128", "the next token after 900", "100 sentences"};
    static const int tokens[] = {32, 128, 512, 1024, 32, 128, 512, 1024, 1, 1, 2000};
    const struct said *s = sh("\"$A\" bench -q -m \"$D/m\" -t 1 --seconds 0 --format json");
    cJSON *j = cJSON_ParseWithLength(s->text, s->len);
    const cJSON *rows = golden_get(j, "rows");
    ck_assert_int_eq(cJSON_GetArraySize(rows), (int)(sizeof all / sizeof *all));
    for (int i = 0; i < cJSON_GetArraySize(rows); i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, i);
        ck_assert_str_eq(golden_string(row, "work"), all[i]);
        ck_assert_str_eq(golden_string(row, "compute"), i / 4 == 1 ? "bf16" : "f32");
        ck_assert_int_eq((int)golden_number(row, "threads"), 1);
        ck_assert_int_eq((int)golden_number(row, "tokens"), tokens[i]);
        ck_assert_int_eq((int)golden_number(row, "runs"), 3);
        double expected = 1e3 * tokens[i] / golden_number(row, "milliseconds");
        ck_assert_double_eq_tol(golden_number(row, "tokens_per_second"), expected, 1e-6 * expected);
    }
    cJSON_Delete(j);
    expect_exactly("\"$A\" bench -q -m life -t 2 --seconds 0 --format csv 2>&1 | cut -d, -f1-4",
                   "work,compute,threads,tokens\na text of 32 tokens,f32,2,32\na text of 32 tokens,bf16,2,32\n"
                   "100 sentences,f32,2,2000\n");
}
END_TEST

Suite *suite_bench(void)
{
    Suite *s = suite_create("bench");
    TCase *t = tcase_create("bench");
    tcase_add_checked_fixture(t, set_up, scratch_remove);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, the_built_in_model);
    tcase_add_test(t, the_machine);
    tcase_add_test(t, a_roof_is_made_of_limits);
    tcase_add_test(t, what_is_counted);
    tcase_add_test(t, copied_weights);
    tcase_add_test(t, a_table);
    tcase_add_test(t, wrong_usage);
    tcase_add_test(t, a_signal_leaves_nothing);
    tcase_add_test(t, what_a_model_can);
    suite_add_tcase(s, t);
    return s;
}
