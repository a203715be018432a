/* The built-in model `induction`: one head looks at the previous word, one at what came after the same word before, and
 * without either of them nothing is repeated.
 *
 * `make test` begins its training again; with ATTN_SLOW set (make test-train) all of it is repeated, which takes half a
 * minute, and the result has to be such a model, too. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 24, IDS = 16 * 2 * HALF };

static cJSON *document(const char *line)
{
    cJSON *json = cJSON_Parse(succeed(line)->text);
    ck_assert_msg(json != NULL, "%s prints no JSON", line);
    return json;
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(object, name);
    ck_assert_msg(cJSON_IsNumber(n), "%s is no number", name);
    return n->valuedouble;
}

/* What heads says of random words said twice. */
static cJSON *heads(const char *model, int seed)
{
    return document(printed("\"$A\" heads -m %s --repeat %d --seed %d --format json", model, HALF, seed));
}

static void expect_both_heads(const char *model, int seed)
{
    cJSON *json = heads(model, seed);
    const cJSON *rows = cJSON_GetObjectItem(json, "rows");
    ck_assert_int_eq(cJSON_GetArraySize(rows), 2);
    double previous = number(cJSON_GetArrayItem(rows, 0), "previous"),
        induction = number(cJSON_GetArrayItem(rows, 1), "induction");
    ck_assert_msg(previous > 0.9, "seed %d: the head of layer 0 gives the previous word only %g", seed, previous);
    ck_assert_msg(induction > 0.9, "seed %d: the head of layer 1 gives what came after the same word only %g",
                  seed, induction);
    cJSON_Delete(json);
}

/* Adds up -log p in each half of one text: of all words but the first of each half, which nothing foretells. */
static void add_losses(double loss[2], const char *model, const cJSON *text, const char *without)
{
    char ids[IDS] = "";
    const cJSON *id;
    cJSON_ArrayForEach(id, text)
        sprintf(ids + strlen(ids), "%s%d", *ids ? "," : "", id->valueint);
    cJSON *json = document(printed("\"$A\" score -m %s --ids %s %s --no-compare --format json", model, ids, without));
    const cJSON *tokens = cJSON_GetObjectItem(json, "tokens");
    ck_assert_int_eq(cJSON_GetArraySize(tokens), 2 * HALF);
    for (int i = 0; i < 2 * HALF; i++)
        if (i % HALF)
            loss[i / HALF] -= number(cJSON_GetArrayItem(tokens, i), "logprob");
    cJSON_Delete(json);
}

/* The mean loss of each half of the texts that heads draws. */
static void mean_losses(double loss[2], const char *model, const char *without)
{
    cJSON *json = heads(model, 0);
    const cJSON *texts = cJSON_GetObjectItem(json, "texts"), *text;
    int n = cJSON_GetArraySize(texts) * (HALF - 1);
    ck_assert_int_gt(n, 0);
    loss[0] = loss[1] = 0;
    cJSON_ArrayForEach(text, texts)
        add_losses(loss, model, text, without);
    loss[0] /= n;
    loss[1] /= n;
    cJSON_Delete(json);
}

static void expect_both_needed(const char *model)
{
    static const char *const head[] = {"L0H0", "L1H0"};
    double whole[2], without[2];
    mean_losses(whole, model, "");
    ck_assert_msg(whole[0] > log(64) - 0.1, "nothing foretells the first half, but its loss is %g", whole[0]);
    ck_assert_msg(whole[1] < 0.1 * whole[0], "the second half repeats the first, but its loss is %g", whole[1]);
    for (int h = 0; h < 2; h++) {
        mean_losses(without, model, printed("--ablate %s", head[h]));
        ck_assert_msg(without[1] >= 0.8 * without[0] && without[1] >= 0.8 * whole[0],
                      "without %s the loss is %g in the first half and %g in the second", head[h], without[0],
                      without[1]);
    }
}

START_TEST(one_head_looks_back_and_one_repeats)
{
    expect_both_heads("induction", _i);
}
END_TEST

START_TEST(without_either_nothing_is_repeated)
{
    expect_both_needed("induction");
}
END_TEST

/* The first five losses of its training. */
static const double begun[] = {4.181297700926755, 4.191439695221977, 4.189398611744704, 4.195203908128721,
                               4.182862537629986};

START_TEST(its_training_begins_as_it_did)
{
    enum { STEPS = sizeof begun / sizeof *begun };
    succeed(printed("models/induction/make.sh $D/m -q -t 1 --steps %d", STEPS));
    expect_same("cat $D/m/vocab.json $D/m/config.json", "cat models/induction/vocab.json models/induction/config.json");
    const char *line = succeed("cut -d, -f1,4 $D/m/loss.csv")->text;
    for (int i = 0; i < STEPS; i++) {
        int step = 0;
        double loss = 0;
        line = strchr(line, '\n') + 1;
        ck_assert_int_eq(sscanf(line, "%d,%lf", &step, &loss), 2);
        ck_assert_int_eq(step, i + 1);
        /* Here the digits are the same; exp and the like differ by some 1e-7 on another kind of processor, in each of a
         * few thousand terms whose mean this is. */
        ck_assert_msg(fabs(loss - begun[i]) < 1e-5,
                      "the loss of step %d is %.15g, and was %.15g", step, loss, begun[i]);
    }
}
END_TEST

START_TEST(its_training_gives_such_a_model)
{
    succeed("models/induction/make.sh $D/m -q");
    expect_both_heads("$D/m", 0);
    expect_both_needed("$D/m");
}
END_TEST

Suite *suite_repeats(void)
{
    Suite *s = suite_create("repeats");
    TCase *tc = tcase_create("repeats");
    tcase_add_checked_fixture(tc, shell_set_up, scratch_remove);
    tcase_add_loop_test(tc, one_head_looks_back_and_one_repeats, 0, 5);
    tcase_add_test(tc, without_either_nothing_is_repeated);
    tcase_add_test(tc, its_training_begins_as_it_did);
    if (getenv("ATTN_SLOW")) {
        tcase_set_timeout(tc, 240);     /* times CK_TIMEOUT_MULTIPLIER */
        tcase_add_test(tc, its_training_gives_such_a_model);
    }
    suite_add_tcase(s, tc);
    return s;
}
